//! What a result tells of its suite, agent, recordings and runs, and of why a case fails.

use serde::{Deserialize, Serialize};

use mcptest_trace::text::shorten;

/// The suite of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SuiteFacts {
    /// Its name: the beginning of its cases' names.
    pub name: String,
    /// Its file, from the package's folder, `/` between segments.
    pub file: String,
    /// The digest of the file's text; results of other texts are no results of this suite.
    pub digest: String,
}

/// The agent test of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentFacts {
    /// The agent's name as the suite writes it.
    pub name: String,
    /// The model's identifier.
    pub model: String,
    /// The full name of the agent's own case.
    pub case: String,
    /// The stem of its recordings.
    pub stem: String,
}

/// A place in a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A recorded run that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recording {
    /// The file, from the package's folder, `/` between segments.
    pub path: String,
    /// The line, from 1, in a file of one run a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The digest of the run's bytes: of the file, or of its line.
    pub digest: String,
}

/// Why a case fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureFacts {
    /// The whole text, as `cargo test` prints it without colours.
    pub text: String,
    /// Why the case fails, on one line: without where and why.
    pub summary: String,
    /// The command that runs the case alone; absent where nothing of it could be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What does not hold, each with its place; empty where only the text is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingFacts>,
    /// What shows all of them together, each as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FindingFacts {
    /// What is wrong.
    pub message: String,
    /// Where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Position>,
    /// What was found instead, as words on one line: `found 3`; absent where the message says it, and where the runs
    /// differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Facts that explain it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helps: Vec<String>,
    /// What shows it, each as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunFacts {
    /// Whether the recording says that it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Why it stopped, where that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The names of the tools, call by call.
    pub tools: Vec<String>,
    /// A digest of each call: name and canonical arguments.
    pub calls: Vec<String>,
    /// How many results are errors.
    pub errors: u64,
    /// Tokens of the run; absent where none were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Model calls, where they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// How many milliseconds the run took, where that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// What the run cost in US dollars, where the suite has the prices and the run its tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The machine that recorded the run, where the recording says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_on: Option<String>,
    /// The digest of the prompt; [`CaseResult::prompts`](super::CaseResult::prompts) has its text.
    pub prompt: String,
    /// The digest of the system prompt; [`CaseResult::prompts`](super::CaseResult::prompts) has its text.
    pub system_prompt: String,
}

impl SuiteFacts {
    pub(crate) fn new(name: &str, file: &str, digest: String) -> Self {
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            digest,
        }
    }
}

impl FailureFacts {
    /// A failure of which there is only the text.
    pub(crate) fn from_text(text: &str) -> Self {
        let first = text.lines().find(|line| !line.trim().is_empty());
        let first = first.unwrap_or_default().trim_start_matches("error: ");
        Self {
            text: text.to_owned(),
            summary: shorten(first, 200),
            command: None,
            findings: Vec::new(),
            evidence: Vec::new(),
        }
    }
}
