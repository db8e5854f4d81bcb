//! An agent that is a command: its own code runs, and an address on loopback stands in place of its model's API.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcptest_session::driver::{self, AgentCommand as Program, CommandOutcome};
use mcptest_session::endpoint::{Provider, Upstream};
use mcptest_session::mcp::{McpServer, McpTransport};
use mcptest_session::record::Spending;
use mcptest_session::session::{FinishedRun, Session, SessionError, SessionOptions};
use mcptest_suite::model::{Agent, AgentCommand, Suite, Transport};
use mcptest_trace::eval::OwnAnswers;
use mcptest_trace::record::store::Lock;
use mcptest_trace::record::{Recorder, say};
use serde_json::{Value, json};

use super::budget::Budget;
use super::declared::{find_servers, reserve};
use super::environment::inherited_variables;
use super::no_model_call::{program_error, with_upstream_error};
use super::playing_command::PlayingCommand;
use super::request::agent_faults;
use super::spending::SuiteSpending;
use super::{
    Live, LiveError, Playable, Progress, RunRequest, Spent, answers_fingerprint, faults_fingerprint,
};

/// How long a program may take that sets everything back.
const BEFORE: Duration = Duration::from_mins(5);

/// Runs agents by their `command:`.
#[derive(Debug, Default)]
pub(crate) struct Commands;

impl Live for Commands {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        let command = agent_command(agent)?;
        check_ready(suite, agent, model)?;
        check_variables(suite, agent)?;
        let provider = agent.models[model].value.provider.as_deref();
        if let Some(provider) = provider
            && suite_upstream(suite, provider).is_none()
            && Provider::known_as(provider).is_none()
        {
            let problem = format!("the address of the provider `{provider}` is not known");
            return Err(LiveError::new(problem)
                .at(agent.models[model].span)
                .help(format!(
                    "add it to the suite: `providers: {{ {provider}: {{ base_url: … }} }}`"
                )));
        }
        // What sets everything back may make the folder.
        if command.before.is_some() && !program_folder(command, suite).is_dir() {
            return Ok(());
        }
        existing_folder(command, suite)
            .and_then(|folder| find_program(command, folder, &command.command).map(drop))
    }

    fn playable(&self) -> Option<Box<dyn Playable + '_>> {
        Some(Box::<PlayingCommand>::default())
    }

    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        request: &RunRequest,
        recorder: &mut Recorder,
        progress: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        let command = agent_command(agent)?;
        let spending = spending(suite, agent, model, request)?;
        let _reserved = reserve_servers(suite, agent)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        let run = runtime.block_on(async {
            if let Some(before) = &command.before {
                run_before(command, suite, before).await?;
            }
            let mut options = session_options(suite, agent, model, request)?;
            options.closing_is_stdout = command.closing_is_stdout;
            options.faults = recorder.injected().cloned();
            options.limits.spending = spending.as_ref().map(to_spending);
            let begun = Session::record(options).await;
            let session =
                begun.map_err(|error| session_failure(error, agent).or_at(command.span))?;
            let words = command.command.iter().cloned();
            let mut program = session.command(words, existing_folder(command, suite)?);
            program.time_limit = request.time_budget;
            let ended = driver::run(&program)
                .await
                .map_err(|error| LiveError::new(error.to_string()).at(command.span))?;
            if let Some(stopped) = spending.as_ref().and_then(SuiteSpending::stopped) {
                return Err(stopped);
            }
            // A program that failed did not do what it does: such a run takes no other's place. One that a cap ended
            // did.
            if !session.is_capped() && session.server_failure().is_none() {
                let unasked = (session.requests() == 0)
                    .then(|| program_error(&ended, session.strangers(), "time_budget"));
                if let Some(error) = unasked.flatten() {
                    return Err(error.at(command.span));
                }
                if !ended.is_success() && !ended.has_timed_out() {
                    let (problem, said) = failure_texts(&ended);
                    let error = LiveError::new(problem).at(command.span).show(said);
                    return Err(with_upstream_error(&session, error));
                }
            }
            let finished = session.finish_command(&ended).await;
            finished.map_err(|error| session_failure(error, agent).or_at(command.span))
        })?;
        finish_run(run, suite, agent, model, request, progress).map(Some)
    }
}

/// What must hold before anything is spent: servers that can be reached, faults that can be put in somewhere, prices.
pub(super) fn check_ready(suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
    let servers = mcp_servers(suite, agent)?;
    // A fault without a server also means a tool of the agent's own.
    let mut of_servers = agent.inject.iter().filter_map(|fault| {
        let server = suite.faults.get(fault.value)?.value.server.as_ref()?;
        Some((fault.span, server))
    });
    if let (Some((span, server)), []) = (of_servers.next(), servers.as_slice()) {
        let problem = format!(
            "a fault is for the MCP server `{server}`, and the suite declares no server of this agent"
        );
        return Err(LiveError::new(problem).at(span).help(
            "declare the agent's servers, `servers: { desk: { command: [program, argument] } }`, name them in \
             the agent's `servers:`, and let its client take their addresses from MCPTEST_MCP_CONFIG; if the fault is \
             for a tool of the agent's own code, leave out `server:` of its target",
        ));
    }
    Budget::for_model(suite, &agent.models[model]).map(drop)
}

/// The MCP servers that stand behind the address. A suite that declares none names those that the agent reaches itself.
fn mcp_servers(suite: &Suite, agent: &Agent) -> Result<Vec<McpServer>, LiveError> {
    if suite.servers.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = find_servers(suite, agent)?.into_iter();
    let servers = wanted.map(|wanted| {
        let place = match &wanted.server.transport {
            Transport::Stdio {
                command,
                env,
                inherit_env,
                cwd,
            } => {
                let own = env.iter().map(|(name, value)| (name.into(), value.into()));
                McpTransport::Command {
                    command: command.clone(),
                    folder: wanted.folder(cwd.as_deref())?,
                    environment: inherited_variables(inherit_env).chain(own).collect(),
                }
            }
            Transport::Http { url, .. } => McpTransport::Url {
                url: url.clone(),
                bearer: wanted.bearer.clone(),
            },
        };
        Ok(McpServer::new(&wanted.server.name.value, place))
    });
    servers.collect()
}

/// Each server has a variable of its own. The suite is looked at when it is loaded, unless its program stands in a
/// command.
fn check_variables(suite: &Suite, agent: &Agent) -> Result<(), LiveError> {
    let servers = mcp_servers(suite, agent)?;
    for (place, server) in servers.iter().enumerate() {
        let variable = server.variable();
        let mut before = servers[..place].iter();
        if let Some(first) = before.find(|other| other.variable() == variable) {
            let problem = format!(
                "the servers `{}` and `{}` would share one variable: {variable}",
                first.name, server.name
            );
            return Err(LiveError::new(problem).help(
                "rename one of them: the program takes the address of each from its variable",
            ));
        }
    }
    Ok(())
}

/// Waits until the servers are for this run.
pub(super) fn reserve_servers(suite: &Suite, agent: &Agent) -> Result<Vec<Lock>, LiveError> {
    if suite.servers.is_empty() {
        return Ok(Vec::new());
    }
    reserve(&find_servers(suite, agent)?)
}

/// What the model calls of a run may cost, where the suite says so.
pub(super) fn spending(
    suite: &Suite,
    agent: &Agent,
    model: usize,
    request: &RunRequest,
) -> Result<Option<SuiteSpending>, LiveError> {
    let budget = Budget::for_model(suite, &agent.models[model])?;
    let is_capped = budget.is_capped();
    let spending = || SuiteSpending::new(budget, &request.model, request.max_tokens);
    Ok(is_capped.then(spending))
}

/// The spending of a run, as a session takes it.
pub(super) fn to_spending(spending: &SuiteSpending) -> Arc<dyn Spending> {
    Arc::new(spending.clone())
}

/// Why a session gives no run, as a failure of its agent.
pub(super) fn session_failure(error: SessionError, agent: &Agent) -> LiveError {
    let (failure, help) = match error {
        SessionError::ServerStart(failure) => (
            failure,
            "name a program on the PATH, or a path to one from the suite's folder",
        ),
        SessionError::Server(failure) => (
            failure,
            "the run is not recorded; correct the server and record again",
        ),
        other => return LiveError::new(other.to_string()),
    };
    let mut named = agent.servers.iter();
    let named = named.find(|name| name.value == failure.server);
    let error = LiveError::new(failure.problem).help(help);
    LiveError {
        at: named.map(|name| name.span),
        shown: failure.shown,
        ..error
    }
}

/// What a session is told of a run.
pub(super) fn session_options(
    suite: &Suite,
    agent: &Agent,
    model: usize,
    request: &RunRequest,
) -> Result<SessionOptions, LiveError> {
    let mut options = SessionOptions::default();
    options.agent.clone_from(&request.agent);
    options.model = Some(request.model.clone());
    options.turns.clone_from(&request.user_turns);
    options.servers.clone_from(&request.servers);
    options.mcp_servers = mcp_servers(suite, agent)?;
    let answers = agent.answers.iter().map(|entry| entry.value.clone());
    options.answers = OwnAnswers::new(answers.collect());
    // A loop of one's own has a cap of its own; the suite's holds where it says one.
    options.limits.model_calls = agent.caps.max_turns.as_ref().map(|most| most.value);
    options.limits.tool_calls = request.max_tool_calls;
    options.limits.tokens = request.token_budget;
    let provider = agent.models[model].value.provider.as_deref();
    if let Some(given) = provider.and_then(|provider| suite_upstream(suite, provider)) {
        options.upstreams.push(given?);
    }
    Ok(options)
}

/// The cassette of a run, after what is to be said of it. A run of another model is none of this agent.
pub(super) fn finish_run(
    run: FinishedRun,
    suite: &Suite,
    agent: &Agent,
    model: usize,
    request: &RunRequest,
    progress: &Progress,
) -> Result<Value, LiveError> {
    if let Some(asked) = run
        .asked_model
        .as_deref()
        .filter(|asked| *asked != request.model)
    {
        let problem = format!(
            "the agent asked the model `{asked}`, and the suite says `{}`",
            request.model
        );
        return Err(LiveError::new(problem).help(format!(
            "write `model: {asked}` in the suite, or let the agent ask the suite's model"
        )));
    }
    let sent = run.cassette["system_prompt"].as_str().unwrap_or_default();
    if let Some(own) = request.system_prompt.as_deref().filter(|own| *own != sent) {
        let problem = if sent.is_empty() {
            "the agent's own code sends no system prompt, and the suite has one"
        } else {
            "the agent's own code sends another system prompt than the suite has"
        };
        let span = agent.system_prompt.as_ref().map(|text| text.span);
        let error = LiveError::new(problem)
            .show(format!("the suite's: {own}\nthe agent's: {sent}"))
            .help("leave `system_prompt:` out of the suite: the agent's own code has its own");
        return Err(LiveError { at: span, ..error });
    }
    for note in &run.notes {
        say(&format!(
            "note: run {} of `{}`: {note}",
            request.run, request.agent
        ));
    }
    let tokens = &run.cassette["trace"]["conversation"]["tokens"];
    let taken = |key: &str| tokens[key].as_u64();
    let budget = Budget::for_model(suite, &agent.models[model])?;
    progress.spend(Spent {
        tokens: taken("total").unwrap_or_default(),
        unknown: taken("total").is_none(),
        micro_usd: taken("prompt")
            .zip(taken("completion"))
            .and_then(|(prompt, completion)| budget.cost(prompt, completion)),
    });
    let mut cassette = run.cassette;
    if let Some(declared) = answers_fingerprint(agent) {
        cassette["session"]["answers"] =
            json!({ "fingerprint": declared, "used": run.answers.used() });
    }
    if let Some(declared) = faults_fingerprint(agent_faults(suite, agent)) {
        cassette["session"]["faults"] = declared.into();
    }
    Ok(cassette)
}

/// What is said of a program that failed, and the last that it said itself.
fn failure_texts(ended: &CommandOutcome) -> (String, String) {
    let said = ended.to_string();
    let (problem, said) = said
        .split_once("; on standard error:\n")
        .unwrap_or((&said, ""));
    (problem.to_owned(), said.to_owned())
}

pub(super) fn agent_command(agent: &Agent) -> Result<&AgentCommand, LiveError> {
    let command = agent.command.as_ref();
    command.ok_or_else(|| LiveError::new("this agent has no `command`"))
}

/// The suite's folder.
fn suite_folder(suite: &Suite) -> PathBuf {
    let folder = suite.source.path().parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Where the program runs.
pub(super) fn program_folder(command: &AgentCommand, suite: &Suite) -> PathBuf {
    match (&command.folder, &command.cwd) {
        (Some(folder), _) => folder.clone(),
        (None, Some(cwd)) => suite_folder(suite).join(&cwd.value),
        (None, None) => suite_folder(suite),
    }
}

/// The folder where the program runs. An error says why it cannot start there.
pub(super) fn existing_folder(command: &AgentCommand, suite: &Suite) -> Result<PathBuf, LiveError> {
    let folder = program_folder(command, suite);
    match &command.cwd {
        Some(cwd) if !folder.is_dir() => {
            let what = if folder.exists() {
                "no folder"
            } else {
                "not there"
            };
            let problem = format!("the program cannot start in `{}`: it is {what}", cwd.value);
            Err(LiveError::new(problem).at(cwd.span).help(
                "`cwd` is a path from the suite's folder; make the folder, or let `before:` make it",
            ))
        }
        _ => Ok(folder),
    }
}

/// Where the suite says that a provider is.
fn suite_upstream(suite: &Suite, provider: &str) -> Option<Result<Upstream, LiveError>> {
    let named = suite
        .providers
        .iter()
        .find(|known| known.name.value == provider)?;
    let known = Provider::known_as(provider).map(|known| known.asked_at(&named.base_url));
    // A provider that only the suite knows speaks OpenAI's format.
    let format = known.map_or("openai", |known| known.name);
    Some(Upstream::new(format, &named.base_url).map_err(|error| LiveError::new(error.to_string())))
}

/// A program of the suite that starts in a folder, looked for before anything is spent.
fn find_program(
    command: &AgentCommand,
    folder: PathBuf,
    words: &[String],
) -> Result<Program, LiveError> {
    let name = words.first().map_or("", String::as_str);
    let path = Path::new(name);
    if path.components().count() > 1 && !folder.join(path).is_file() {
        let problem = format!("there is no program `{name}` in the folder where it starts");
        return Err(LiveError::new(problem).at(command.span).help(
            "write a path relative to this folder, which is the suite's unless `cwd` names another, or the name of a program on `PATH`",
        ));
    }
    Ok(Program::new(words.iter().cloned(), folder, ""))
}

/// Runs the program that sets everything back. A run after it failed would be of another state.
pub(super) async fn run_before(
    command: &AgentCommand,
    suite: &Suite,
    before: &[String],
) -> Result<(), LiveError> {
    let mut program = find_program(command, suite_folder(suite), before)?;
    program.time_limit = Some(BEFORE);
    let failed = |error: String| {
        LiveError::new("`before` failed, so the run was not started")
            .at(command.span)
            .show(error)
    };
    let ended = driver::run(&program)
        .await
        .map_err(|error| failed(error.to_string()))?;
    if ended.is_success() {
        Ok(())
    } else {
        Err(failed(ended.to_string()))
    }
}
