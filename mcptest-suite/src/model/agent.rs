//! One agent test.

use std::path::PathBuf;

use serde_json::Value;

use super::{AgentRegression, Assertion, Gate, GateKind, OwnAnswer, Unsupported};
use crate::{Span, Spanned, cassette_slug, segment};

/// One agent test: who ran, what was asked, and what must hold of every recorded run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Agent {
    /// Its name.
    pub name: Spanned<String>,
    /// Its segment of the case names.
    pub segment: String,
    /// The models it ran with; never empty.
    pub models: Vec<Spanned<Model>>,
    /// The servers whose tools it was offered.
    pub servers: Vec<Spanned<String>>,
    /// What it was asked.
    pub prompt: Prompt,
    /// Its system prompt.
    pub system_prompt: Option<Spanned<String>>,
    /// How many runs are recorded; at least 1.
    pub runs: Spanned<usize>,
    /// Caps on one run.
    pub caps: Caps,
    /// Why it is skipped.
    pub skip: Option<Spanned<String>>,
    /// Where it is marked as the only one to run.
    pub only: Option<Span>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The injected faults, as indices into [`Suite::faults`](super::Suite::faults), in order.
    pub inject: Vec<Spanned<usize>>,
    /// What stands in the place of its own tools while it is recorded, in order.
    pub answers: Vec<Spanned<OwnAnswer>>,
    /// What must hold of every run; empty when there is no `expect:`. Matchers that need a model
    /// are among them.
    pub expect: Vec<Assertion>,
    /// The gates, in the order of [`GateKind::ALL`].
    pub gates: Vec<Gate>,
    /// Options for checks written in Rust, by the check's name.
    pub checks: Vec<CheckOptions>,
    /// Where its runs lie, when it says so itself.
    pub cassette: Option<Spanned<String>>,
    /// Keys and matchers that are recognised but not run here.
    pub unsupported: Vec<Unsupported>,
    /// What it says of its comparison with the suite's baseline.
    pub regression: Option<AgentRegression>,
    /// Its own program, where a command is what runs it.
    pub command: Option<AgentCommand>,
}

/// An agent's own program: what runs it when it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCommand {
    /// The program and its arguments; never empty. It runs without a shell.
    pub command: Vec<String>,
    /// Where it is written.
    pub span: Span,
    /// Whether what the program prints is what the user reads; else what the model said last.
    pub closing_is_stdout: bool,
    /// The program that sets everything back before each run; it runs in the suite's folder.
    pub before: Option<Vec<String>>,
    /// Where it runs, from the suite's folder; the suite's folder where nothing stands.
    pub cwd: Option<Spanned<String>>,
    /// Where it runs, where a person names it beside the suites.
    pub folder: Option<PathBuf>,
}

impl AgentCommand {
    /// A program with its arguments, written nowhere in a suite.
    #[must_use]
    pub fn new(command: Vec<String>, folder: impl Into<PathBuf>) -> Self {
        Self {
            command,
            span: Span::default(),
            closing_is_stdout: false,
            before: None,
            cwd: None,
            folder: Some(folder.into()),
        }
    }
}

impl Agent {
    /// The gate of a kind, if the agent has it.
    #[must_use]
    pub fn gate(&self, kind: GateKind) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.kind == kind)
    }

    /// The stem of the agent's cassette files for a model.
    #[must_use]
    pub fn cassette_stem(&self, model: &Model) -> String {
        let agent = cassette_slug(&self.name.value);
        let id = cassette_slug(&model.id);
        match &model.provider {
            Some(provider) => format!("{agent}__{}__{id}", cassette_slug(provider)),
            None => format!("{agent}__{id}"),
        }
    }

    /// The stems its files may have: with the provider, where the suite names one, or without.
    #[must_use]
    pub fn cassette_stems(&self, model: &Model) -> Vec<String> {
        let without = Model {
            provider: None,
            id: model.id.clone(),
        };
        let mut stems = vec![self.cassette_stem(model), self.cassette_stem(&without)];
        stems.dedup();
        // Without the provider, the models of several providers would share their runs.
        if self
            .models
            .iter()
            .filter(|other| other.value.id == model.id)
            .count()
            > 1
        {
            stems.truncate(1);
        }
        stems
    }
}

/// Options for a check written in Rust.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The check's name, a segment of case names.
    pub name: Spanned<String>,
    /// What the suite writes below it.
    pub options: Value,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The provider, when the suite names it.
    pub provider: Option<String>,
    /// The model's identifier.
    pub id: String,
}

impl Model {
    /// Its segment of the case names, if an identifier can be made of it.
    #[must_use]
    pub fn segment(&self) -> Option<String> {
        match &self.provider {
            Some(provider) => segment(&format!("{provider} {}", self.id)),
            None => segment(&self.id),
        }
    }

    /// The stem of the cassette files of an agent with this model.
    pub(crate) fn cassette_stem(&self, agent: &str) -> String {
        let (agent, id) = (cassette_slug(agent), cassette_slug(&self.id));
        match &self.provider {
            Some(provider) => format!("{agent}__{}__{id}", cassette_slug(provider)),
            None => format!("{agent}__{id}"),
        }
    }
}

/// What the agent was asked.
///
/// A closed set: whoever records, judges or imports runs must know each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// One user message.
    Single(Spanned<String>),
    /// Scripted user turns; never empty.
    Turns(Vec<Spanned<String>>),
}

impl Prompt {
    /// The first user message.
    #[must_use]
    pub fn first(&self) -> &Spanned<String> {
        match self {
            Self::Single(text) => text,
            // Loading refuses an empty list.
            Self::Turns(turns) => &turns[0],
        }
    }
}

/// Caps on one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most model calls.
    pub max_turns: Option<Spanned<u64>>,
    /// Most tokens of one model answer; used when recording.
    pub max_tokens: Option<Spanned<u64>>,
    /// Most tokens of the whole run.
    pub token_budget: Option<Spanned<u64>>,
    /// Most tool calls.
    pub max_tool_calls: Option<Spanned<u64>>,
    /// Most seconds of the whole run; used when recording.
    pub time_budget: Option<Spanned<u64>>,
}
