//! One run of an agent's own code against a recording.

use std::path::PathBuf;
use std::sync::Arc;

use mcptest_trace::eval::{Divergence, PlaybackReport};
use mcptest_trace::record::environment::variables as own_variables;
use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

use super::keys::{of_aws, placeholders};
use super::options::PlayOptions;
use super::own_tools;
use super::player::Player;
use super::recording::Recording;
use super::servers::RecordedServer;
use crate::door::{self, Door};
use crate::driver::{AgentCommand, CommandOutcome};
use crate::endpoint::{Endpoint, Place, Provider};
use crate::environment;
use crate::mcp::{ConfigFile, path_of};
use crate::mode::Mode;
use crate::record::{RunError, RunOptions, redact};

/// One run of an agent's own code, whose model is a recording. Nothing is passed on.
///
/// ```no_run
/// use mcptest_session::driver;
/// use mcptest_session::play::{PlayOptions, PlaySession, Recording};
/// use mcptest_session::record::RunOptions;
/// use mcptest_trace::eval::PlaybackOptions;
///
/// # async fn example(cassette: serde_json::Value) -> Result<(), Box<dyn std::error::Error>> {
/// let options = PlayOptions::new(PlaybackOptions::suite_default())?;
/// let session = PlaySession::start(Recording::from_cassette(&cassette)?, options, ["Refund order 7.".to_owned()]).await?;
/// let ended = driver::run(&session.command(["python", "agent.py"], ".")).await?;
/// for divergence in session.finish_command(&ended, RunOptions::default(), None).report.divergences {
///     println!("{divergence}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PlaySession {
    player: Player,
    endpoint: Endpoint,
    turns: Vec<String>,
    recorded_at: Option<String>,
    /// The MCP servers, each with its address.
    servers: Vec<(String, String)>,
    config: Option<ConfigFile>,
}

/// What came of playing a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlayedRun {
    /// What the code does otherwise; no gate is asked.
    pub report: PlaybackReport,
    /// The run that the code made, or why it made none.
    pub cassette: Result<Value, RunError>,
    /// How many requests reached the address.
    pub requests: usize,
    /// How many requests came to the port and named another path or host.
    pub strangers: usize,
}

impl PlaySession {
    /// Begins to play a recording. To call in a runtime of tokio with its drivers on.
    ///
    /// # Errors
    ///
    /// No port can be listened at, or the file for MCP clients cannot be written.
    pub async fn start(
        recording: Recording,
        options: PlayOptions,
        turns: impl IntoIterator<Item = String>,
    ) -> std::io::Result<Self> {
        Self::start_at(&Place::new().await?, recording, options, turns)
    }

    /// The same at an address that another session had before.
    ///
    /// # Errors
    ///
    /// The address cannot be listened at, or the file for MCP clients cannot be written.
    pub fn start_at(
        place: &Place,
        mut recording: Recording,
        options: PlayOptions,
        turns: impl IntoIterator<Item = String>,
    ) -> std::io::Result<Self> {
        // A server of the suite that nobody called when the run was recorded is there all the same.
        for name in &options.servers {
            if !recording.mcp.iter().any(|server| server.name == *name) {
                recording.mcp.push(RecordedServer::without_calls(name));
            }
        }
        let names: Vec<String> = recording
            .mcp
            .iter()
            .map(|server| server.name.clone())
            .collect();
        let recorded_at = recording.recorded_at().map(str::to_owned);
        let player = Player::new(recording, options);
        let endpoint = Endpoint::start_at(place, Arc::new(player.clone()))?;
        let servers: Vec<(String, String)> = names
            .into_iter()
            .map(|name| {
                let url = format!("{}{}", endpoint.url(), path_of(&name));
                (name, url)
            })
            .collect();
        let config = if servers.is_empty() {
            None
        } else {
            Some(ConfigFile::new(place.file(), servers.iter().cloned())?)
        };
        Ok(Self {
            servers,
            config,
            player,
            endpoint,
            turns: turns.into_iter().collect(),
            recorded_at,
        })
    }

    /// What the user asks, all turns in order.
    #[must_use]
    pub fn turns(&self) -> &[String] {
        &self.turns
    }

    /// The address of a provider, as its clients take it.
    #[must_use]
    pub fn url(&self, provider: &Provider) -> String {
        provider.at(&self.endpoint.url())
    }

    /// The tools of an agent that is a function.
    pub(crate) fn door(&self) -> &Door {
        self.player.door()
    }

    /// The address at which tools of the agent's own tell what they do.
    #[must_use]
    pub fn tools_url(&self) -> String {
        format!("{}{}", self.endpoint.url(), door::PATH)
    }

    /// The MCP servers, each with its address.
    pub(crate) fn mcp_servers(&self) -> &[(String, String)] {
        &self.servers
    }

    /// The address of an MCP server, by its name.
    #[must_use]
    pub fn mcp_url(&self, server: &str) -> Option<&str> {
        let found = self.servers.iter().find(|(name, _)| name == server);
        found.map(|(_, url)| url.as_str())
    }

    /// The environment variables that an agent is given: those of a session that records, when the run was recorded
    /// (`MCPTEST_RECORDED_AT`), and placeholders for the keys of providers.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let prompt = self.turns.first().map_or("", String::as_str);
        let addresses = Provider::all().map(|provider| (provider, self.url(provider)));
        let mut environment = environment::variables(
            Mode::Play,
            prompt,
            addresses,
            &self.servers,
            self.config.as_ref().map(ConfigFile::path),
            self.tools_url(),
        );
        environment.extend(placeholders(own_variables().map(|(name, _)| name)));
        let recording = &self.player.0.recording;
        if recording.asks_aws() {
            environment.extend(of_aws(recording.region()));
        }
        if let Some(at) = &self.recorded_at {
            environment.push(("MCPTEST_RECORDED_AT".to_owned(), at.clone()));
        }
        environment
    }

    /// A command that is given the address: with the session's environment and turns.
    #[must_use]
    pub fn command(
        &self,
        command: impl IntoIterator<Item = impl Into<String>>,
        folder: impl Into<PathBuf>,
    ) -> AgentCommand {
        let agent = AgentCommand::new(command, folder, "");
        let config = self.config.as_ref().map(ConfigFile::path);
        self.player.set_folder(&agent.folder);
        AgentCommand {
            stop: Some(self.player.stop()),
            ..agent.in_session(self.environment(), &self.turns, config)
        }
    }

    /// Waits until the code has asked too often what was not recorded: then whoever runs a function ends it. A command of the
    /// session is ended already.
    pub async fn stopped(&self) {
        self.player.stop().notified().await;
    }

    /// Ends the session of a command that ended.
    #[must_use]
    pub fn finish_command(
        self,
        ended: &CommandOutcome,
        run: RunOptions,
        redactor: Option<&Redactor>,
    ) -> PlayedRun {
        let stopped = match ended.is_success() {
            true => None,
            false if ended.has_timed_out() => Some("time_budget"),
            false => Some("error"),
        };
        let exit = exit_status(ended);
        self.finish(exit, stopped, run, redactor)
    }

    /// Ends the session. `exit`: 0 for a function that returned, 1 for one that failed, 124 for what took too long;
    /// `stopped`: why the run stopped, where it did not end by itself.
    #[must_use]
    pub fn finish(
        self,
        exit: i64,
        stopped: Option<&str>,
        mut run: RunOptions,
        redactor: Option<&Redactor>,
    ) -> PlayedRun {
        self.endpoint.close();
        self.door().end();
        run.stopped = stopped.map(str::to_owned);
        if run.turns.is_empty() {
            run.turns.clone_from(&self.turns);
        }
        let printed = run.closing.iter_mut().chain(&mut run.said);
        for text in printed {
            *text = self.player.with_recorded_folders(text);
        }
        let played = self.player.played();
        let mut report = PlaybackReport::default();
        report.divergences = played.divergences;
        own_tools::insert_own_tools(self.player.own_tool_divergences(), &mut report.divergences);
        report
            .divergences
            .extend(self.player.closing_divergences(&run));
        report.unasked = played.unasked;
        if let Some(redactor) = redactor {
            for one in report.divergences.iter_mut().chain(&mut report.unasked) {
                without_secrets(redactor, one);
            }
        }
        report.model_calls = played.model_calls;
        report.exit_status = exit;
        let cassette = self.player.run(&run).map(|mut cassette| {
            if let Some(redactor) = redactor {
                redact(redactor, &mut cassette);
            }
            cassette
        });
        PlayedRun {
            report,
            cassette,
            requests: self.endpoint.requests(),
            strangers: self.endpoint.strangers(),
        }
    }
}

/// What differs is printed and kept, as a recorded run is.
fn without_secrets(redactor: &Redactor, one: &mut Divergence) {
    for value in [&mut one.recorded, &mut one.played].into_iter().flatten() {
        redactor.redact(value);
    }
    one.message = redactor.redact_text(&one.message).into_owned();
}

/// How a program ended, as a number.
fn exit_status(ended: &CommandOutcome) -> i64 {
    let Some(status) = ended.status else {
        // As `timeout` says it.
        return 124;
    };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return 128 + i64::from(signal);
        }
    }
    match status.code() {
        // It ended well, and was not asked all that it should have been.
        Some(0) if ended.unasked.is_some() => 1,
        Some(code) => i64::from(code),
        None => 1,
    }
}
