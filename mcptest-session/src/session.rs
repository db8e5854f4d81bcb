//! One run of an agent, from the address that it is given to its cassette.

mod begin_error;
mod error;
mod finished;
mod options;
mod router;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mcptest_trace::record::environment::{provider_secrets, secrets_by_name, variables};
use mcptest_trace::record::recorded_on;
use mcptest_trace::record::redact::Redactor;

use crate::door::{self, Door};
use crate::driver::{AgentCommand, CommandOutcome};
use crate::endpoint::{Endpoint, Provider, Upstream};
use crate::environment;
use crate::folders::{self, Folder, spellings};
use crate::mcp::{CallOrder, ConfigFile, McpServer, ServerFailure, Servers};
use crate::record::{Cap, RecordedRun, Relay, RunOptions, redact};

pub use crate::mode::Mode;
pub use begin_error::BeginError;
pub use error::SessionError;
pub use finished::FinishedRun;
pub use options::SessionOptions;
use router::Router;

/// How long the end of an answer may take to be seen.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// One run of an agent's own code.
///
/// ```no_run
/// use mcptest_session::session::{Session, SessionOptions};
///
/// # async fn answer(_url: String, _prompt: &str) -> Result<(), std::io::Error> { Ok(()) }
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::record(SessionOptions::new("Refund agent", "Refund order 7.")).await?;
/// answer(session.openai_url(), session.prompt()).await?;
/// session.finish().await?.add_to("suites/cassettes/Refund_agent__gpt-5")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    options: SessionOptions,
    endpoint: Endpoint,
    relay: Relay,
    servers: Arc<Servers>,
    /// Where clients read the addresses of the servers.
    config: Option<ConfigFile>,
    door: Door,
    began: Instant,
    recorded_at: Timestamp,
    mode: Mode,
    /// Where its command runs.
    folder: OnceLock<PathBuf>,
}

impl Session {
    /// Begins a session in which the real model is asked. To call in a runtime of tokio with its drivers on.
    ///
    /// # Errors
    ///
    /// No port can be listened at, or the address of a provider is none.
    pub async fn record(options: SessionOptions) -> Result<Self, SessionError> {
        if let Some(variable) = environment::address_without_text() {
            return Err(BeginError::AddressNotUnicode { variable }.into());
        }
        let given = options.upstreams.clone();
        let is_given = |upstream: &Upstream| {
            given
                .iter()
                .any(|own| own.provider() == upstream.provider())
        };
        let variable = |name: &str| {
            // What is given counts, whatever the environment holds.
            let of_given = |own: &Upstream| own.provider().variables.contains(&name);
            std::env::var(name)
                .ok()
                .filter(|_| !given.iter().any(of_given))
        };
        let mut upstreams = Upstream::from_environment(variable).map_err(BeginError::Upstream)?;
        upstreams.retain(|upstream| !is_given(upstream));
        upstreams.extend(given.iter().cloned());
        let relay = Relay::new(upstreams, options.untouched).map_err(BeginError::Relay)?;
        let relay = relay.with_limits(options.limits.clone());
        let (faults, most) = (options.faults.clone(), options.limits.tool_calls);
        let has_faults = faults.is_some();
        let is_ordered = has_faults || most.is_some();
        let order = is_ordered.then(|| CallOrder::new(relay.log().clone(), faults, most));
        let (began, client) = (relay.began(), relay.client());
        let has_servers = !options.mcp_servers.is_empty();
        let config = has_servers.then(ConfigFile::planned).transpose();
        let config = config.map_err(BeginError::ConfigFile)?;
        let file = config.as_ref().map(ConfigFile::path);
        let servers = Servers::start(
            &options.mcp_servers,
            (began, relay.log().ticks().clone()),
            client,
            file,
            order,
        );
        let servers = Arc::new(servers.map_err(SessionError::ServerStart)?);
        let ticks = relay.log().ticks().clone();
        let door = if has_faults {
            Door::recording_with_faults(began, ticks, servers.watch())
        } else {
            Door::recording_since(began, ticks)
        };
        let door = door.with_answers(options.answers.clone());
        let place = Router {
            relay: relay.clone(),
            door: door.clone(),
            servers: Arc::clone(&servers),
        };
        let endpoint = Endpoint::start(Arc::new(place))
            .await
            .map_err(BeginError::Port)?;
        let named = options.mcp_servers.iter();
        let named = named.map(|server| {
            (
                server.name.clone(),
                format!("{}{}", endpoint.url(), server.path()),
            )
        });
        if let Some(config) = &config {
            config.write(named).map_err(BeginError::ConfigFile)?;
        }
        Ok(Self {
            options,
            endpoint,
            relay,
            servers,
            config,
            door,
            began: Instant::now(),
            recorded_at: Timestamp::now(),
            mode: Mode::Record,
            folder: OnceLock::new(),
        })
    }

    /// What the session does.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The tools of an agent that is a function.
    pub(crate) fn door(&self) -> &Door {
        &self.door
    }

    /// The address at which tools of the agent's own tell what they do.
    #[must_use]
    pub fn tools_url(&self) -> String {
        format!("{}{}", self.endpoint.url(), door::PATH)
    }

    /// What the user asks first.
    #[must_use]
    pub fn prompt(&self) -> &str {
        self.options.turns.first().map_or("", String::as_str)
    }

    /// What the user asks, all turns in order.
    #[must_use]
    pub fn turns(&self) -> &[String] {
        &self.options.turns
    }

    /// The address of a provider, as its clients take it.
    #[must_use]
    pub fn url(&self, provider: &Provider) -> String {
        provider.at(&self.endpoint.url())
    }

    /// The base URL for clients of `OpenAI` and of all that speak its format, with `/v1`.
    #[must_use]
    pub fn openai_url(&self) -> String {
        self.url_by_name("openai")
    }

    /// The base URL for clients of Anthropic.
    #[must_use]
    pub fn anthropic_url(&self) -> String {
        self.url_by_name("anthropic")
    }

    /// The base URL for clients of Gemini.
    #[must_use]
    pub fn gemini_url(&self) -> String {
        self.url_by_name("gemini")
    }

    fn url_by_name(&self, name: &str) -> String {
        let provider = Provider::named(name);
        provider.map_or_else(String::new, |provider| self.url(provider))
    }

    /// The address of an MCP server, by the name that the suite has for it.
    #[must_use]
    pub fn mcp_url(&self, server: &str) -> Option<String> {
        let mut servers = self.options.mcp_servers.iter();
        let found = servers.find(|own| own.name == server)?;
        Some(format!("{}{}", self.endpoint.url(), found.path()))
    }

    /// The MCP servers that the agent reaches through the session.
    #[must_use]
    pub fn mcp_servers(&self) -> &[McpServer] {
        &self.options.mcp_servers
    }

    /// The file that tells MCP clients where the servers are; none where there are no servers.
    #[must_use]
    pub fn mcp_config(&self) -> Option<&Path> {
        self.config.as_ref().map(ConfigFile::path)
    }

    /// The environment variables that an agent is given. `MCPTEST_PROMPT` is among them unless the prompt is longer
    /// than a system lets a variable be.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        // Where nobody says where a provider is, its variable would lead nowhere.
        let known = Provider::all().filter(|provider| self.relay.has_provider(provider));
        let addresses = known.map(|provider| (provider, self.url(provider)));
        let servers = self.options.mcp_servers.iter();
        let servers = servers.map(|server| {
            let url = self.mcp_url(&server.name).unwrap_or_default();
            (server.name.clone(), url)
        });
        let servers: Vec<(String, String)> = servers.collect();
        environment::variables(
            self.mode,
            self.prompt(),
            addresses,
            &servers,
            self.mcp_config(),
            self.tools_url(),
        )
    }

    /// A command that is given the address: with the session's environment and turns.
    #[must_use]
    pub fn command(
        &self,
        command: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> AgentCommand {
        let agent = AgentCommand::new(command, folder, "");
        self.folder.get_or_init(|| agent.folder.clone());
        agent.in_session(self.environment(), &self.options.turns, self.mcp_config())
    }

    /// Whether a model call was refused, as the run had taken as much as it may.
    #[must_use]
    pub fn is_capped(&self) -> bool {
        self.reached_cap().is_some()
    }

    /// The cap that was reached.
    fn reached_cap(&self) -> Option<Cap> {
        let of_calls = || self.servers.has_refused().then_some(Cap::ToolCalls);
        self.relay.cap().or_else(of_calls)
    }

    /// The MCP server that gave no answer, where one did not: no run is known then.
    #[must_use]
    pub fn server_failure(&self) -> Option<ServerFailure> {
        self.servers.failure()
    }

    /// What an MCP server that is a program said till now on its standard streams that is no message of MCP.
    #[must_use]
    pub fn server_output(&self, server: &str) -> Option<String> {
        self.servers.other_output(server)
    }

    /// How many requests reached the address.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.endpoint.requests()
    }

    /// How many requests came to the port and named another path or host.
    #[must_use]
    pub fn strangers(&self) -> usize {
        self.endpoint.strangers()
    }

    /// Why the last model call reached no provider, or with what error it was answered, with the provider's address.
    #[must_use]
    pub fn upstream_failure(&self) -> Option<String> {
        self.relay.upstream_failure()
    }

    /// Ends the session of a function that returned.
    ///
    /// # Errors
    ///
    /// No run can be made of what went by.
    pub async fn finish(self) -> Result<FinishedRun, SessionError> {
        self.end(None, None).await
    }

    /// Ends the session of a function that failed: the run is not completed.
    ///
    /// # Errors
    ///
    /// No run can be made of what went by.
    pub async fn finish_failed(self) -> Result<FinishedRun, SessionError> {
        self.end(Some("error"), None).await
    }

    /// Ends the session of a function that took longer than it may.
    ///
    /// # Errors
    ///
    /// No run can be made of what went by.
    pub async fn finish_late(self) -> Result<FinishedRun, SessionError> {
        self.end(Some("time_budget"), None).await
    }

    /// Ends the session of a command that ended.
    ///
    /// # Errors
    ///
    /// No run can be made of what went by; with how the command ended.
    pub async fn finish_command(self, ended: &CommandOutcome) -> Result<FinishedRun, SessionError> {
        let stopped = match ended.is_success() {
            true => None,
            false if ended.has_timed_out() => Some("time_budget"),
            false => Some("error"),
        };
        let stdout = ended.said.last().unwrap_or(&ended.stdout).clone();
        let printed = self.options.closing_is_stdout.then(|| Printed {
            closing: stdout,
            said: ended.said.clone(),
        });
        let is_silent = printed
            .as_ref()
            .is_some_and(|printed| printed.closing.trim().is_empty());
        let is_over = stopped.is_none() && !self.is_capped() && self.requests() > 0;
        if is_silent && is_over && self.server_failure().is_none() {
            return Err(SessionError::Silent);
        }
        let finished = self.end(stopped, printed).await;
        finished.map_err(|error| match error {
            SessionError::Run { error, strangers } => SessionError::Command {
                error,
                strangers,
                ended: ended.to_line(),
            },
            other => other,
        })
    }

    async fn end(
        mut self,
        stopped: Option<&str>,
        printed: Option<Printed>,
    ) -> Result<FinishedRun, SessionError> {
        self.endpoint.close();
        self.door.end();
        // While there is still somebody who removes it after a kill.
        self.config = None;
        // A client may leave a stream whose last event it has before its end is seen here.
        self.relay.log().wait_until_idle(LAST_WORDS).await;
        let failure = self.servers.failure();
        self.servers.end().await;
        if let Some(failure) = failure {
            return Err(SessionError::Server(failure));
        }
        if let Some((fault, tool)) = self.servers.missed_fault() {
            return Err(SessionError::Fault { fault, tool });
        }
        if let Some((tool, why)) = self.door.unkept() {
            return Err(SessionError::Unkept { tool, why });
        }
        let duration = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut run = RunOptions::default();
        run.agent.clone_from(&self.options.agent);
        run.model.clone_from(&self.options.model);
        run.turns.clone_from(&self.options.turns);
        run.servers.clone_from(&self.options.servers);
        run.recorded_at = Some(format!("{:.3}", self.recorded_at));
        run.recorded_on = recorded_on();
        run.duration_ms = Some(duration);
        if let Some(printed) = printed {
            run.closing = Some(printed.closing);
            run.said = printed.said;
        }
        run.mcp = self.servers.traffic();
        run.own_calls = self.door.calls();
        run.max_tool_calls = self.options.limits.tool_calls;
        let stopped = self.reached_cap().map(Cap::as_str).or(stopped);
        run.stopped = stopped.map(str::to_owned);
        let observed = self.relay.log().observed();
        let RecordedRun {
            mut cassette,
            notes,
            asked_model,
        } = RecordedRun::from_observed(&observed, &run).map_err(|error| SessionError::Run {
            error,
            strangers: self.endpoint.strangers(),
        })?;
        let logins = self
            .relay
            .credentials()
            .into_iter()
            .chain(self.servers.credentials());
        let secrets = provider_secrets()
            .chain(self.options.secrets)
            .chain(secrets_by_name(variables()))
            .chain(logins.map(|value| ("key of a client".to_owned(), value)));
        let redactor = Redactor::new(secrets, self.options.patterns)
            .map_err(SessionError::Secrets)?
            .with_shapes();
        let redactor = if self.options.keep_named {
            redactor
        } else {
            redactor.with_secret_keys()
        };
        // What the suite says is compared with the recording, and a text of the suite is no secret.
        let redactor = redactor.with_kept_texts(run.turns).learning_from(&cassette);
        let redacted = redact(&redactor, &mut cassette);
        let own = self
            .folder
            .get()
            .map(|own| (Folder::Command, spellings(own)));
        let all = own
            .into_iter()
            .chain([(Folder::Current, spellings(Path::new(".")))]);
        if let Some(folders) = folders::write_folders(&all.collect::<Vec<_>>(), &cassette) {
            cassette["session"]["folders"] = folders;
        }
        if let Some(region) = self.relay.region() {
            cassette["session"]["region"] = region.into();
        }
        Ok(FinishedRun {
            cassette,
            redacted,
            notes,
            asked_model,
            answers: self.door.answers(),
        })
    }
}

/// What a program printed, where that is what the user reads.
struct Printed {
    closing: String,
    /// What it said to each turn, where it was asked in JSON lines.
    said: Vec<String>,
}
