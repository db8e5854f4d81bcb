//! A call of a tool of the agent's own, as the door knows it.

use serde_json::Value;

/// A call of a tool of the agent's own.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OwnCall {
    /// The tool, as the code names it.
    pub name: String,
    /// The arguments, as the code called it.
    pub args: Value,
    /// The identifier of the model's call, where the code knows it.
    pub call_id: Option<String>,
    /// The call inside of which it was made, as the code says it: its place among all.
    pub inside: Option<usize>,
    /// When the call began: its place among all events of the session.
    pub began: u64,
    /// When the call ended: its place among all events of the session.
    pub ended: Option<u64>,
    /// When it began, in milliseconds since the session did.
    pub began_at: u64,
    /// When it ended.
    pub ended_at: Option<u64>,
    /// How it ended.
    pub ending: Ending,
    /// The JSON of its result as the code wrote it, where that is more than the value: the order of keys, and all digits.
    pub text: Option<String>,
    /// What answered in its place.
    pub by: Option<AnsweredBy>,
    /// The recorded call that was given back for it.
    pub(crate) recorded: Option<usize>,
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Ending {
    /// Nobody said.
    #[default]
    Unreported,
    /// It gave a value.
    Result(Value),
    /// It failed.
    Error(RaisedError),
    /// Control flow ended it.
    Left,
}

/// What a tool raised.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RaisedError {
    /// The name of its type.
    pub kind: String,
    /// Where that type is defined.
    pub module: Option<String>,
    /// The message of the error.
    pub text: String,
    /// The arguments that the error was made with, where these are plain JSON.
    pub args: Option<Vec<Value>>,
    /// What a generator gave before it failed.
    pub items: Option<Vec<Value>>,
}

/// What answered in the place of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum AnsweredBy {
    /// The suite.
    Suite,
    /// A fault of the suite, with its mark.
    Fault(Value),
}

impl OwnCall {
    /// A call that begins.
    #[cfg(any(test, feature = "play", feature = "record"))]
    pub(crate) fn new(name: impl Into<String>, args: Value) -> Self {
        Self {
            name: name.into(),
            args,
            ..Self::default()
        }
    }

    /// The mark of the fault that answered in its place.
    #[must_use]
    pub fn fault(&self) -> Option<&Value> {
        match &self.by {
            Some(AnsweredBy::Fault(mark)) => Some(mark),
            _ => None,
        }
    }

    /// How long it took, in milliseconds.
    #[must_use]
    pub fn duration_ms(&self) -> Option<u64> {
        Some(self.ended_at?.saturating_sub(self.began_at))
    }
}

impl Ending {
    /// Whether the tool failed; nothing where it is not known, or where control flow ended it.
    #[must_use]
    pub fn is_error(&self) -> Option<bool> {
        match self {
            Self::Result(_) => Some(false),
            Self::Error(_) => Some(true),
            Self::Left | Self::Unreported => None,
        }
    }
}

impl RaisedError {
    /// An error with a type and a text.
    pub(crate) fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            text: text.into(),
            ..Self::default()
        }
    }
}
