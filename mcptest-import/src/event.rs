//! What happened in a foreign run, in order, whatever format it was kept in.
//!
//! A reader makes a [`ForeignRun`]; [`cassette`](crate::cassette) makes the recording of it. No
//! reader builds a recording itself, so all formats end up in the same shape.

use std::collections::{BTreeSet, HashSet};

use mcptest_session::exchange;
use mcptest_trace::trace::{OfferedTool, Score, StepTokens, Tokens};
use serde_json::{Number, Value, json};

use crate::distinct::Distinct;
use crate::loss::{LossReason, Lost};

/// What one model call took: tokens, and time. What the source does not say is absent, and no zero.
pub(crate) type CallTokens = StepTokens;

/// What several model calls took together, where each says what it was sent and wrote.
pub(crate) fn sum_steps(steps: &[CallTokens]) -> Option<CallTokens> {
    let sum = Tokens::from_steps(steps);
    let mut taken = CallTokens::new(sum.prompt?, sum.completion?);
    (taken.cached, taken.reasoning) = (sum.cached, sum.reasoning);
    Some(taken)
}

/// One run, as its source tells it. What the source does not tell is absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForeignRun {
    /// The format's own identifier of the run.
    pub id: Option<String>,
    /// The agent's name in the source.
    pub agent: Option<String>,
    /// The model that was asked for, and those that answered, in order.
    pub asked: Option<String>,
    pub answered: Distinct,
    /// The task that the run is a trial of.
    pub task: Option<String>,
    /// The number of the trial.
    pub order: Option<i64>,
    /// The task's own text, where a simulated user speaks for it.
    pub prompt: Option<String>,
    pub system_prompt: Option<String>,
    /// The version of the program that wrote the source.
    pub version: Option<String>,
    /// Milliseconds since 1970: the earliest and the latest time of the source.
    pub times: Option<(i64, i64)>,
    /// The format's own totals of the main agent.
    pub totals: Option<CallTokens>,
    /// What may say how the run came out.
    pub scores: Vec<(String, ReportedScore)>,
    /// What judges thought of the run, as its recording keeps it.
    pub judged: Vec<Score>,
    /// The judges' scores as JSON texts, to find a score that is there already.
    pub judged_texts: HashSet<String>,
    pub tools: Vec<OfferedTool>,
    pub temperature: Option<Number>,
    pub max_tokens: Option<u64>,
    pub stop: Option<Stop>,
    pub refused: bool,
    pub events: Vec<Event>,
    /// Whether a user has spoken.
    pub has_user: bool,
    /// The identifiers of the calls among the first events, and how many events these are.
    pub calls: (HashSet<String>, usize),
    /// What the format cannot tell.
    pub unknown: BTreeSet<&'static str>,
    /// What was left out on purpose.
    pub notes: Distinct,
    /// What is said of the run and is no part of its recording.
    pub hints: Vec<String>,
    /// What is lost, and is reported.
    pub lost: Vec<Lost>,
    /// The runs of sub-agents, whose calls stand among the events with their `agent_id` as well. Their
    /// names are those of their kinds.
    pub subagents: Vec<ForeignRun>,
    /// A recording that is one already.
    pub ready: Option<Value>,
}

/// The texts of system messages, as long as nobody else has spoken: they are the system prompt.
pub(crate) struct SystemPreamble {
    texts: Vec<String>,
    is_open: bool,
}

impl SystemPreamble {
    /// After what is the system prompt already.
    pub(crate) fn new(run: &mut ForeignRun, is_open: bool) -> Self {
        let texts = Vec::from_iter(run.system_prompt.take());
        Self { texts, is_open }
    }

    /// Takes what a system message says, if nobody else has spoken.
    pub(crate) fn try_take(&mut self, is_system: bool, said: &str) -> bool {
        self.is_open &= is_system;
        if self.is_open && !said.is_empty() {
            self.texts.push(said.to_owned());
        }
        self.is_open
    }

    pub(crate) fn apply_to(self, run: &mut ForeignRun) {
        run.system_prompt = (!self.texts.is_empty()).then(|| self.texts.join("\n\n"));
    }
}

/// A verdict in the source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReportedScore {
    Passed(bool),
    Reward(Number),
    /// A benchmark's reward: the run passed when it is 1.
    OneOrNothing(Number),
}

impl ReportedScore {
    /// A number, or a verdict.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(passed) => Some(Self::Passed(*passed)),
            Value::Number(reward) => Some(Self::Reward(reward.clone())),
            _ => None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The reason as the source spells it.
    Spelt(String),
    /// The reason as recordings spell it.
    Known(&'static str),
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// The user said something.
    User(String),
    /// A turn that is neither the user's nor the agent's, such as a later system message.
    Turn {
        role: String,
        text: String,
    },
    /// A model call; what the model asked for and said in it follows.
    Step(CallTokens),
    /// The agent said something.
    Said(String),
    Call(Call),
    Answer(Answer),
}

impl Event {
    /// A call or a result of a sub-agent, as one among those of the run that called it; nothing else of
    /// a sub-agent stands there.
    pub(crate) fn as_subagent_event(&self, agent: &str) -> Option<Self> {
        self.as_invocation_event(agent, agent)
    }

    /// A call or a result of a sub-agent that may run several times. `invoked` names this run of it, `agent` the
    /// agent.
    pub(crate) fn as_invocation_event(&self, invoked: &str, agent: &str) -> Option<Self> {
        let own = |id: &Option<String>| id.as_ref().map(|id| format!("{invoked}/{id}"));
        match self {
            Self::Call(call) => Some(Self::Call(Call {
                id: own(&call.id),
                agent_id: Some(agent.to_owned()),
                ..call.clone()
            })),
            Self::Answer(answer) => Some(Self::Answer(Answer {
                id: own(&answer.id),
                ..answer.clone()
            })),
            _ => None,
        }
    }
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Call {
    pub id: Option<String>,
    /// The name as the model saw it, unless `server` is there.
    pub name: String,
    pub server: Option<String>,
    pub args: Value,
    /// The sub-agent that called.
    pub agent_id: Option<String>,
    pub caller: Option<Value>,
}

impl Call {
    pub(crate) fn new(id: Option<String>, name: Option<&str>, args: Value) -> Self {
        Self {
            id,
            name: name.unwrap_or_default().to_owned(),
            args,
            ..Self::default()
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    pub id: Option<String>,
    /// The tool that is said to have answered, by which a result without an identifier finds its call.
    pub name: Option<String>,
    pub value: Value,
    /// What the format's own flag says, where it has one.
    pub is_error: Option<bool>,
    /// How long the call took, in milliseconds, where the source says it.
    pub duration_ms: Option<u64>,
}

impl From<exchange::Call> for Call {
    fn from(call: exchange::Call) -> Self {
        Self {
            id: call.id,
            name: call.name,
            server: call.server,
            args: call.args,
            agent_id: None,
            caller: call.caller,
        }
    }
}

impl From<exchange::ToolResult> for Answer {
    fn from(result: exchange::ToolResult) -> Self {
        Self {
            id: result.id,
            name: result.name,
            value: result.value,
            is_error: result.is_error,
            duration_ms: None,
        }
    }
}

impl ForeignRun {
    pub(crate) fn push(&mut self, event: Event) {
        self.has_user |= matches!(event, Event::User(_));
        self.events.push(event);
    }

    /// The user said something, unless it is nothing.
    pub(crate) fn push_user(&mut self, text: String) {
        if !text.is_empty() {
            self.push(Event::User(text));
        }
    }

    /// The agent said something, unless it is nothing.
    pub(crate) fn push_assistant(&mut self, text: String) {
        if !text.is_empty() {
            self.push(Event::Said(text));
        }
    }

    pub(crate) fn push_turn(&mut self, role: &str, text: String) {
        if !text.is_empty() {
            let role = role.to_owned();
            self.push(Event::Turn { role, text });
        }
    }

    pub(crate) fn push_call(&mut self, call: Call) {
        self.push(Event::Call(call));
    }

    /// Whether a call has an identifier.
    pub(crate) fn has_call(&mut self, id: &str) -> bool {
        let (ids, known) = &mut self.calls;
        let new = self.events[*known..]
            .iter()
            .filter_map(|event| match event {
                Event::Call(call) => call.id.clone(),
                _ => None,
            });
        ids.extend(new);
        *known = self.events.len();
        ids.contains(id)
    }

    pub(crate) fn push_answer(&mut self, id: Option<String>, value: Value, is_error: Option<bool>) {
        self.push(Event::Answer(Answer {
            id,
            value,
            is_error,
            ..Answer::default()
        }));
    }

    pub(crate) fn push_step(&mut self, taken: Option<CallTokens>) {
        self.push(Event::Step(taken.unwrap_or_default()));
    }

    /// Adds a model call with its duration in milliseconds, where the source knows it.
    pub(crate) fn push_timed_step(&mut self, taken: Option<CallTokens>, duration_ms: Option<u64>) {
        let mut taken = taken.unwrap_or_default();
        taken.duration_ms = duration_ms;
        self.push(Event::Step(taken));
    }

    /// A score of a judge. What is no number and no verdict is noted.
    pub(crate) fn push_score(&mut self, name: &str, score: Option<Score>) {
        match score {
            Some(score) => {
                if self.judged_texts.insert(json!(score).to_string()) {
                    self.judged.push(score);
                }
            }
            None => self.note(format!("score `{name}` is no number and no verdict")),
        }
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.add(note);
    }

    pub(crate) fn report_lost(&mut self, reason: LossReason, detail: impl Into<String>) {
        self.lost.push(Lost::new(reason, detail));
    }

    pub(crate) fn add_model(&mut self, model: &str) {
        if !model.is_empty() {
            self.answered.add(model);
        }
    }

    /// Extends the time span of the run to a time of the source, in milliseconds since 1970.
    pub(crate) fn add_time(&mut self, milliseconds: Option<i64>) {
        if let Some(at) = milliseconds {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
        }
    }

    /// The first user message.
    pub(crate) fn first_user_text(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match event {
            Event::User(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

impl ForeignRun {
    /// The run with what happened in it.
    pub(crate) fn with_events<T>(mut self, stamped: Vec<(T, Event)>) -> Self {
        self.events = stamped.into_iter().map(|(_, event)| event).collect();
        self
    }

    /// Takes the calls of sub-agents, and their results, out of the events.
    pub(crate) fn remove_subagents(&mut self) {
        let of_subagents = self.events.iter().filter_map(|event| match event {
            Event::Call(call) if call.agent_id.is_some() => call.id.clone(),
            _ => None,
        });
        let of_subagents: HashSet<String> = of_subagents.collect();
        let other = |id: &Option<String>| !id.as_ref().is_some_and(|id| of_subagents.contains(id));
        self.events.retain(|event| match event {
            Event::Call(call) => call.agent_id.is_none(),
            Event::Answer(answer) => other(&answer.id),
            _ => true,
        });
    }
}
