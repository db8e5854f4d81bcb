//! What is asked of an agent that is recorded, and who answers.

use std::time::Duration;

use mcptest_suite::Span;
use mcptest_suite::model::{Agent, Model, Prompt, Suite};

use super::{Progress, Recorder, fingerprint};

/// What an agent is asked in one run that is recorded: what the suite says of it.
///
/// Given to the loop that [`Harness::record_with`](crate::Harness::record_with) registers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunRequest {
    /// The agent's name.
    pub agent: String,
    /// The model's identifier.
    pub model: String,
    /// The model's provider, where the suite names one.
    pub provider: Option<String>,
    /// The servers whose tools the agent may use.
    pub servers: Vec<String>,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// What the user says, turn after turn; never empty.
    pub user_turns: Vec<String>,
    /// The number of this run, from 1.
    pub run: usize,
    /// How many runs the suite declares.
    pub runs: usize,
    /// Most model calls; 10 where the suite does not say.
    pub max_turns: u64,
    /// Most tokens of one model answer; 1,024 where the suite does not say.
    pub max_tokens: u64,
    /// Most tokens of the whole run.
    pub token_budget: Option<u64>,
    /// Most tool calls.
    pub max_tool_calls: Option<u64>,
    /// Most time.
    pub time_budget: Option<Duration>,
}

impl RunRequest {
    pub(crate) fn new(agent: &Agent, model: &Model, run: usize) -> Self {
        let caps = &agent.caps;
        let user_turns = match &agent.prompt {
            Prompt::Single(text) => vec![text.value.clone()],
            Prompt::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect(),
        };
        Self {
            agent: agent.name.value.clone(),
            model: model.id.clone(),
            provider: model.provider.clone(),
            servers: agent
                .servers
                .iter()
                .map(|name| name.value.clone())
                .collect(),
            system_prompt: agent.system_prompt.as_ref().map(|text| text.value.clone()),
            user_turns,
            run,
            runs: agent.runs.value,
            max_turns: caps.max_turns.as_ref().map_or(10, |cap| cap.value),
            max_tokens: caps.max_tokens.as_ref().map_or(1_024, |cap| cap.value),
            token_budget: caps.token_budget.as_ref().map(|cap| cap.value),
            max_tool_calls: caps.max_tool_calls.as_ref().map(|cap| cap.value),
            time_budget: caps
                .time_budget
                .as_ref()
                .map(|cap| Duration::from_secs(cap.value)),
        }
    }
}

/// What tells one thing asked of an agent from another, in 16 hex digits: its turns and prompts, its
/// servers, the faults and the caps. The number of runs is no part of it.
pub(crate) fn request_fingerprint(suite: &Suite, agent: &Agent, model: usize) -> String {
    let request = RunRequest {
        runs: 0,
        ..RunRequest::new(agent, &agent.models[model].value, 0)
    };
    let servers = suite
        .servers
        .iter()
        .filter(|server| request.servers.contains(&server.name.value));
    let servers: Vec<_> = servers
        .map(|server| (&server.name.value, &server.transport))
        .collect();
    let faults = agent.inject.iter().map(|index| {
        let fault = &suite.faults[index.value];
        (&fault.name.value, &fault.tool, &fault.server, fault.kind)
    });
    let faults: Vec<_> = faults.collect();
    fingerprint(&format!("{request:?} {servers:?} {faults:?}"))
}

/// Why something could not be recorded, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) problem: String,
    /// Where in the suite; the agent's name when absent.
    pub(crate) at: Option<Span>,
    /// What it shows: output of a server, an answer of a provider.
    pub(crate) shown: Option<String>,
    /// What one should know.
    pub(crate) note: Option<String>,
    /// What to do.
    pub(crate) help: Option<String>,
}

impl Trouble {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            at: None,
            shown: None,
            note: None,
            help: None,
        }
    }

    #[cfg(feature = "record")]
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.at = Some(span);
        self
    }

    pub(crate) fn show(mut self, shown: impl Into<String>) -> Self {
        self.shown = Some(shown.into());
        self
    }

    #[cfg(feature = "record")]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An agent that can be run live.
pub(crate) trait Live: Send + Sync {
    /// Finds what stands in the way before anything is spent: an unknown model, a missing key, a
    /// server that the suite does not declare.
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), Trouble>;

    /// Runs the agent once. What it does goes to the recorder.
    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        request: &RunRequest,
        recorder: &mut Recorder,
        progress: &Progress,
    ) -> Result<(), Trouble>;
}
