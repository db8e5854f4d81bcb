//! What is asked of an agent that is recorded, and who answers.

use std::time::Duration;

use mcptest_suite::model::{Agent, Inherit, Model, Prompt, Suite, Transport};
use mcptest_suite::{Span, Spanned};
use serde_json::{Value, json};

use mcptest_trace::record::{Recorder, fingerprint};

use regex::Regex;

use super::Progress;
use crate::eval::{Fault, PlaybackOptions, PlaybackReport};
use crate::trace::{Origin, Run, canonical_json};

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
        let cap = |cap: &Option<Spanned<u64>>| cap.as_ref().map(|cap| cap.value);
        let user_turns = match &agent.prompt {
            Prompt::Single(text) => vec![text.value.clone()],
            Prompt::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect(),
        };
        let servers = agent.servers.iter().map(|name| name.value.clone());
        Self {
            agent: agent.name.value.clone(),
            model: model.id.clone(),
            provider: model.provider.clone(),
            servers: servers.collect(),
            system_prompt: agent.system_prompt.as_ref().map(|text| text.value.clone()),
            user_turns,
            run,
            runs: agent.runs.value,
            max_turns: cap(&caps.max_turns).unwrap_or(10),
            max_tokens: cap(&caps.max_tokens).unwrap_or(1_024),
            token_budget: cap(&caps.token_budget),
            max_tool_calls: cap(&caps.max_tool_calls),
            time_budget: cap(&caps.time_budget).map(Duration::from_secs),
        }
    }
}

/// The version of the form that requests are told apart by. Changing the form without need makes
/// people pay again for runs that an interrupted recording has kept.
const REQUEST_FORM: u8 = 1;

/// What tells one thing asked of an agent from another, in 16 hex digits: its turns and prompts, its
/// servers, the faults and the caps. The number of runs is no part of it.
pub(crate) fn request_fingerprint(suite: &Suite, agent: &Agent, model: usize) -> String {
    fingerprint(&canonical_request(suite, agent, model))
}

/// What tells the `answers:` of an agent from others; nothing where it has none.
pub(crate) fn answers_fingerprint(agent: &Agent) -> Option<String> {
    let entries: Vec<_> = agent.answers.iter().map(|entry| &entry.value).collect();
    (!entries.is_empty()).then(|| fingerprint(&canonical_json(&json!(entries))))
}

/// The faults that an agent injects.
pub(crate) fn agent_faults<'s>(
    suite: &'s Suite,
    agent: &'s Agent,
) -> impl Iterator<Item = &'s Fault> {
    let injected = agent.inject.iter();
    injected.map(|index| &suite.faults[index.value].value)
}

fn fault_form(fault: &Fault) -> Value {
    json!({
        "name": fault.name, "tool": fault.tool, "server": fault.server, "kind": fault.kind.name(),
        "delay_ms": fault.kind.delay_ms(), "failures": fault.kind.failures(),
    })
}

/// What tells the faults of an agent from others; nothing where it has none.
pub(crate) fn faults_fingerprint<'f>(
    faults: impl IntoIterator<Item = &'f Fault>,
) -> Option<String> {
    let forms: Vec<Value> = faults.into_iter().map(fault_form).collect();
    (!forms.is_empty()).then(|| fingerprint(&canonical_json(&json!(forms))))
}

/// What is asked of an agent as canonical JSON: the same bytes in every version that knows this form.
fn canonical_request(suite: &Suite, agent: &Agent, model: usize) -> String {
    let request = RunRequest::new(agent, &agent.models[model].value, 0);
    let servers = suite
        .servers
        .iter()
        .filter(|server| request.servers.contains(&server.name.value));
    let servers = servers.map(|server| match &server.transport {
        Transport::Stdio {
            command,
            env,
            inherit_env,
            cwd,
        } => json!({
            "name": server.name.value, "stdio": {
                "command": command, "env": env, "cwd": cwd,
                "inherit_env": match inherit_env {
                    Inherit::Names(names) => json!(names),
                    Inherit::All => json!("all"),
                },
            },
        }),
        Transport::Http {
            url,
            bearer_token_env,
        } => json!({
            "name": server.name.value,
            "http": { "url": url, "bearer_token_env": bearer_token_env },
        }),
    });
    let faults = agent_faults(suite, agent).map(fault_form);
    let answers: Vec<_> = agent.answers.iter().map(|entry| &entry.value).collect();
    let command = agent.command.as_ref();
    let command = command.map(|own| {
        let mut form = json!({
            "command": own.command, "before": own.before, "closing_is_stdout": own.closing_is_stdout,
        });
        // Requests that have none keep the bytes of their form.
        if let Some(cwd) = &own.cwd {
            form["cwd"] = cwd.value.as_str().into();
        }
        form
    });
    let RunRequest {
        agent,
        model,
        provider,
        servers: offered,
        system_prompt,
        user_turns,
        run: _,
        runs: _,
        max_turns,
        max_tokens,
        token_budget,
        max_tool_calls,
        time_budget,
    } = &request;
    let mut form = json!({
        "version": REQUEST_FORM,
        "agent": agent,
        "model": model,
        "provider": provider,
        "system_prompt": system_prompt,
        "user_turns": user_turns,
        "offered": offered,
        "servers": servers.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
        "max_turns": max_turns,
        "max_tokens": max_tokens,
        "token_budget": token_budget,
        "max_tool_calls": max_tool_calls,
        "time_budget_seconds": time_budget.map(|time| time.as_secs()),
    });
    if let Some(command) = command {
        form["command"] = command;
    }
    if !answers.is_empty() {
        form["answers"] = json!(answers);
    }
    canonical_json(&form)
}

/// Why something could not be recorded, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LiveError {
    pub(crate) problem: String,
    /// Where in the suite; the agent's name when absent.
    pub(crate) at: Option<Span>,
    /// What it shows: output of a server, an answer of a provider.
    pub(crate) shown: Option<String>,
    /// What one should know.
    pub(crate) note: Option<Box<str>>,
    /// What to do.
    pub(crate) help: Option<String>,
    /// It is about a recording that cannot be played, and not about the code.
    pub(crate) of_recording: bool,
}

impl LiveError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            at: None,
            shown: None,
            note: None,
            help: None,
            of_recording: false,
        }
    }

    /// Marks the error as one of a recording that cannot be played.
    pub(crate) fn for_recording(mut self) -> Self {
        self.of_recording = true;
        self
    }

    #[cfg(feature = "session")]
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.at = Some(span);
        self
    }

    /// Sets the place in the suite, unless the error has one.
    #[cfg(feature = "session")]
    pub(crate) fn or_at(mut self, span: Span) -> Self {
        self.at.get_or_insert(span);
        self
    }

    pub(crate) fn show(mut self, shown: impl Into<String>) -> Self {
        self.shown = Some(shown.into());
        self
    }

    #[cfg(feature = "session")]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        let note: String = note.into();
        self.note = Some(note.into_boxed_str());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A recorded run that is to be played to its agent's own code.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "session"),
    expect(dead_code, reason = "only a session plays")
)]
pub(crate) struct PlayRequest<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) agent: &'a Agent,
    /// Which of its models.
    pub(crate) model: usize,
    /// The recording, as it was read.
    pub(crate) cassette: &'a Value,
    pub(crate) origin: &'a Origin,
    /// What `redact:` says.
    pub(crate) redact: &'a [Regex],
    pub(crate) options: &'a PlaybackOptions,
}

/// What the agent's code did when a recording was played to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlayedRun {
    pub(crate) report: PlaybackReport,
    /// The run that it made; nothing where it made none.
    pub(crate) run: Option<Run>,
    /// How the program ended, where it did not end well.
    pub(crate) ended: Option<String>,
    /// The last lines of what it printed on its standard error.
    pub(crate) stderr: Vec<String>,
}

/// Code of an agent's own, which recordings can be played to.
pub(crate) trait Playable: Sync {
    /// Runs the code once against a recording.
    fn play(&self, request: &PlayRequest<'_>) -> Result<PlayedRun, LiveError>;

    /// Whether only one run may be played at a time, as something is set back before each.
    fn one_by_one(&self, agent: &Agent) -> bool;

    /// Why the program is started anew for each run, although it would be one process for all.
    fn hindrance(&self) -> Option<String> {
        None
    }
}

/// An agent that can be run live.
pub(crate) trait Live: Send + Sync {
    /// Finds what stands in the way before anything is spent: an unknown model, a missing key, a
    /// server that the suite does not declare.
    fn prepare(&self, suite: &Suite, agent: &Agent, model: usize) -> Result<(), LiveError>;

    /// The agent's own code for the runs of one agent, where that is what runs; nothing for a loop of ours.
    fn playable(&self) -> Option<Box<dyn Playable + '_>> {
        None
    }

    /// Runs the agent once. What it does goes to the recorder; of an agent that is watched from outside, what it did
    /// is given back as a cassette.
    fn run(
        &self,
        suite: &Suite,
        agent: &Agent,
        model: usize,
        request: &RunRequest,
        recorder: &mut Recorder,
        progress: &Progress,
    ) -> Result<Option<Value>, LiveError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::Source;

    const SUITE: &str = "
servers:
  desk: { command: [desk, --quiet], env: { LEVEL: high } }
  far: { url: 'https://far.example/mcp', auth: { bearer_token_env: FAR } }
  other: { command: [other] }
faults:
- { name: late, target: { tool: find }, kind: slow, delay_ms: 40 }
- { name: flaky, target: { server: desk }, kind: recover_after, failures: 2 }
agents:
- name: Clerk
  model: { provider: openai, id: gpt-5 }
  servers: [desk, far]
  system_prompt: Be brief.
  turns: [Find A-1., Thanks.]
  runs: 3
  max_turns: 6
  time_budget: 30
  inject: [late, flaky]
  golden_path: { calls: [find] }
";

    fn canonical(suite: &str) -> String {
        let suite = Suite::parse(Source::new("a.yml", "a.yml", suite)).unwrap();
        canonical_request(&suite, &suite.agents[0], 0)
    }

    #[test]
    fn the_canonical_form_of_a_request_keeps_its_bytes() {
        assert_eq!(
            canonical(SUITE),
            concat!(
                r#"{"agent":"Clerk","faults":[{"delay_ms":40,"failures":null,"kind":"slow","name":"late","server":null,"tool":"find"},"#,
                r#"{"delay_ms":null,"failures":2,"kind":"recover_after","name":"flaky","server":"desk","tool":null}],"#,
                r#""max_tokens":1024,"max_tool_calls":null,"max_turns":6,"model":"gpt-5","offered":["desk","far"],"provider":"openai","#,
                r#""servers":[{"name":"desk","stdio":{"command":["desk","--quiet"],"cwd":null,"env":[["LEVEL","high"]],"inherit_env":[]}},"#,
                r#"{"http":{"bearer_token_env":"FAR","url":"https://far.example/mcp"},"name":"far"}],"#,
                r#""system_prompt":"Be brief.","time_budget_seconds":30,"token_budget":null,"#,
                r#""user_turns":["Find A-1.","Thanks."],"version":1}"#
            )
        );
    }

    #[test]
    fn only_what_is_asked_tells_requests_apart() {
        let asked = canonical(SUITE);
        assert_eq!(canonical(&SUITE.replace("runs: 3", "runs: 9")), asked);
        for (from, to) in [
            ("Thanks.", "Thank you."),
            ("delay_ms: 40", "delay_ms: 50"),
            ("--quiet", "--loud"),
            ("max_turns: 6", "max_turns: 7"),
            (
                "  inject:",
                "  answers: [{ tool: refund, result: 1 }]\n  inject:",
            ),
        ] {
            assert_ne!(canonical(&SUITE.replace(from, to)), asked, "{to}");
        }
    }
}
