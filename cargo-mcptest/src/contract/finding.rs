//! What differs between a server and the recordings of it.

use serde::Serialize;

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) kind: FindingKind,
    pub(super) tool: String,
    /// The argument that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) argument: Option<String>,
    /// What it is, in a sentence.
    pub(super) text: String,
    /// What it was and what it is, line by line: the first character is `-` or `+`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) diff: Vec<String>,
    /// The recorded calls that it breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<BrokenCall>,
}

/// What kind of difference it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingKind {
    /// The server does not have the tool any more.
    Removed,
    /// An argument is required.
    Required,
    /// The schema refuses what was called.
    Refused,
    /// The tool is new.
    Added,
    /// The description is another.
    Description,
    /// The arguments are described otherwise.
    Arguments,
    /// What the server says of the tool besides.
    Annotations,
}

/// A recorded call that the server would not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BrokenCall {
    pub(super) file: String,
    /// Its place in the run's `tool_calls`.
    pub(super) call: usize,
    /// Why, where it is another reason for each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

impl Finding {
    pub(super) fn new(kind: FindingKind, tool: &str, text: impl Into<String>) -> Self {
        Self {
            kind,
            tool: tool.to_owned(),
            argument: None,
            text: text.into(),
            diff: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Whether recorded calls are broken by it.
    pub(super) fn breaks(&self) -> bool {
        !self.calls.is_empty()
    }
}

impl BrokenCall {
    /// Adds a reason why the call is refused.
    pub(super) fn add_reason(&mut self, reason: Option<String>) {
        self.reason = match (self.reason.take(), reason) {
            (Some(one), Some(other)) if one != other => Some(format!("{one}; {other}")),
            (one, other) => one.or(other),
        };
    }
}
