//! An agent that is a command: its own code runs, and an address on loopback stands in place of its model's API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcptest_session::driver::{self, AgentCommand as Program, Ended};
use mcptest_session::endpoint::Upstream;
use mcptest_session::session::{FinishedRun, Session, SessionOptions};
use mcptest_suite::model::{Agent, AgentCommand, Suite};
use mcptest_trace::record::{Recorder, say};
use serde_json::Value;

use super::{Live, LiveError, Progress, RunRequest, Spent};

/// How long a program may take that sets everything back.
const BEFORE: Duration = Duration::from_mins(5);

/// Runs agents by their `command:`.
#[derive(Debug, Default)]
pub(crate) struct Commands;

impl Live for Commands {
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError> {
        let command = command_of(agent)?;
        if let Some(fault) = agent.inject.first() {
            return Err(LiveError::new(
                "faults cannot be injected into the tools of an agent's own program",
            )
            .at(fault.span)
            .help("leave `inject:` out, or let the built-in agent record this test without `command:`"));
        }
        no_budget(suite)?;
        let provider = agent.models[model].value.provider.as_deref();
        if let Some(provider) = provider
            && upstream(suite, provider).is_none()
            && spoken(provider).is_none()
        {
            let problem = format!("nobody knows where the provider `{provider}` is");
            return Err(LiveError::new(problem)
                .at(agent.models[model].span)
                .help(format!(
                    "say it: `providers: {{ {provider}: {{ base_url: … }} }}`"
                )));
        }
        program(command, suite, &command.command).map(drop)
    }

    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        request: &RunRequest,
        _: &mut Recorder,
        progress: &Progress,
    ) -> Result<Option<Value>, LiveError> {
        let command = command_of(agent)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LiveError::new(format!("no runtime could be started: {error}")))?;
        let run = runtime.block_on(async {
            if let Some(before) = &command.before {
                set_back(command, suite, before).await?;
            }
            let mut options = options(suite, agent, model, request)?;
            options.closing_is_stdout = command.closing_is_stdout;
            let session = Session::record(options)
                .await
                .map_err(|error| LiveError::new(error.to_string()).at(command.span))?;
            let mut program =
                session.command(command.command.iter().cloned(), folder(command, suite));
            program.time_limit = request.time_budget;
            let ended = driver::run(&program)
                .await
                .map_err(|error| LiveError::new(error.to_string()).at(command.span))?;
            // A program that failed did not do what it does: such a run takes no other's place. One that a cap ended
            // did.
            if !ended.is_success()
                && !ended.is_too_late()
                && !session.is_capped()
                && session.requests() > 0
            {
                let (problem, said) = failed(&ended);
                return Err(LiveError::new(problem).at(command.span).show(said));
            }
            session
                .finish_command(&ended)
                .await
                .map_err(|error| LiveError::new(error.to_string()).at(command.span))
        })?;
        told(run, request, progress).map(Some)
    }
}

/// A budget that nobody would keep is refused before anything is spent.
pub(super) fn no_budget(suite: &Suite) -> Result<(), LiveError> {
    suite.per_suite_usd_cents.as_ref().map_or(Ok(()), |cents| {
        let problem = "`budget:` cannot be kept for an agent whose own code asks the model";
        Err(LiveError::new(problem)
            .at(cents.span)
            .help("leave `per_suite_usd_cents` out, and say `max_turns`; the provider's own limits hold too"))
    })
}

/// What a session is told of a run.
pub(super) fn options(
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
    // A loop of one's own has a cap of its own; the suite's holds where it says one.
    options.max_model_calls = agent.caps.max_turns.as_ref().map(|most| most.value);
    let provider = agent.models[model].value.provider.as_deref();
    if let Some(given) = provider.and_then(|provider| upstream(suite, provider)) {
        options.upstreams.push(given?);
    }
    Ok(options)
}

/// The cassette of a run, after what is to be said of it. A run of another model is none of this agent.
pub(super) fn told(
    run: FinishedRun,
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
    for note in &run.notes {
        say(&format!(
            "note: run {} of `{}`: {note}",
            request.run, request.agent
        ));
    }
    let total = run.cassette["trace"]["conversation"]["tokens"]["total"].as_u64();
    progress.spend(Spent {
        tokens: total.unwrap_or_default(),
        micro_usd: None,
    });
    Ok(run.cassette)
}

/// What is said of a program that failed, and the last that it said itself.
fn failed(ended: &Ended) -> (String, String) {
    let said = ended.to_string();
    let (problem, said) = said
        .split_once("; on standard error:\n")
        .unwrap_or((&said, ""));
    (problem.to_owned(), said.to_owned())
}

fn command_of(agent: &Agent) -> Result<&AgentCommand, LiveError> {
    let command = agent.command.as_ref();
    command.ok_or_else(|| LiveError::new("this agent has no `command`"))
}

/// Where its programs run.
fn folder(command: &AgentCommand, suite: &Suite) -> PathBuf {
    if let Some(folder) = &command.folder {
        return folder.clone();
    }
    let folder = suite.source.path().parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// The format that a provider is known to speak, by the name that suites have for it.
fn spoken(provider: &str) -> Option<&'static str> {
    let name = match provider {
        "google" => "gemini",
        other => other,
    };
    Some(mcptest_session::endpoint::Provider::named(name)?.name)
}

/// Where the suite says that a provider is.
fn upstream(suite: &Suite, provider: &str) -> Option<Result<Upstream, LiveError>> {
    let named = suite
        .providers
        .iter()
        .find(|known| known.name.value == provider)?;
    let format = match mcptest_session::endpoint::Provider::named(provider) {
        Some(known) => known.name,
        // A provider that only the suite knows speaks OpenAI's format.
        None => "openai",
    };
    Some(Upstream::new(format, &named.base_url).map_err(|error| LiveError::new(error.to_string())))
}

/// A program of the suite, looked for before anything is spent.
fn program(command: &AgentCommand, suite: &Suite, words: &[String]) -> Result<Program, LiveError> {
    let name = words.first().map_or("", String::as_str);
    let path = Path::new(name);
    if path.components().count() > 1 && !folder(command, suite).join(path).is_file() {
        let problem = format!("there is no program `{name}` in the folder that it is started in");
        return Err(LiveError::new(problem).at(command.span).help(
            "a path is looked for from the folder of the suite; a name alone is looked for on `PATH`",
        ));
    }
    Ok(Program::new(
        words.iter().cloned(),
        folder(command, suite),
        "",
    ))
}

/// Runs the program that sets everything back. A run after it failed would be of another state.
async fn set_back(
    command: &AgentCommand,
    suite: &Suite,
    before: &[String],
) -> Result<(), LiveError> {
    let mut program = program(command, suite, before)?;
    program.time_limit = Some(BEFORE);
    let failed = |error: String| {
        LiveError::new("`before` failed, so the run was not begun")
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
