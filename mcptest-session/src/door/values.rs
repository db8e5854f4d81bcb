//! Values of tools: what can be kept of them, and what of that an agent gets.

use std::error::Error;
use std::fmt::{self, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a call of a tool gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure(String);

impl Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolFailure {}

impl ToolFailure {
    /// A failure with the words of the tool.
    pub(crate) fn new(words: impl Into<String>) -> Self {
        Self(words.into())
    }

    /// A failure with words of this crate, which begin with `mcptest:`.
    pub(crate) fn internal(words: &str) -> Self {
        Self(format!("mcptest: {words}"))
    }

    /// How a tool failed. `{:#}` shows the causes of errors that have them.
    pub(crate) fn from_error(error: &impl Display) -> Self {
        Self(format!("{error:#}"))
    }
}

/// Why a value cannot be kept.
#[derive(Debug)]
pub(crate) struct ValueError {
    /// The type of the value.
    kind: &'static str,
    cause: ValueCause,
}

#[derive(Debug)]
enum ValueCause {
    /// It cannot be written.
    Write(serde_json::Error),
    /// What is written cannot be read.
    Read(serde_json::Error),
    /// What is read is another value.
    Changed,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, cause } = self;
        write!(f, "its value of the type `{kind}` ")?;
        match cause {
            ValueCause::Write(error) => write!(f, "cannot be written: {error}"),
            ValueCause::Read(error) => write!(f, "cannot be read again: {error}"),
            ValueCause::Changed => f.write_str("is another one when it is read again"),
        }
    }
}

impl Error for ValueError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            ValueCause::Write(error) | ValueCause::Read(error) => Some(error),
            ValueCause::Changed => None,
        }
    }
}

/// A value as JSON, if reading that JSON gives the value again. The error says why it does not.
pub(crate) fn encode_value<T: Serialize + DeserializeOwned>(
    value: &T,
) -> Result<Value, ValueError> {
    let kind = std::any::type_name::<T>();
    let refused = |cause| ValueError { kind, cause };
    let written = serde_json::to_value(value).map_err(|error| refused(ValueCause::Write(error)))?;
    let read: T = serde_json::from_value(written.clone())
        .map_err(|error| refused(ValueCause::Read(error)))?;
    let again = serde_json::to_value(read).ok();
    if again.as_ref() == Some(&written) {
        Ok(written)
    } else {
        Err(refused(ValueCause::Changed))
    }
}

/// A recorded result as the type that the code wants; why it is none. What the model was told is a text, of JSON or of words.
pub(crate) fn decode_value<T: DeserializeOwned>(
    value: Value,
    is_told: bool,
) -> Result<T, serde_json::Error> {
    match &value {
        Value::String(words) if is_told => serde_json::from_str(words)
            .or_else(|error| serde_json::from_value(value.clone()).map_err(|_| error)),
        _ => serde_json::from_value(value),
    }
}

/// What is said of a recorded result that is no value of the type that the code wants.
pub(crate) fn unusable_message(name: &str, why: &str, is_told: bool) -> String {
    let found = if is_told {
        format!(
            "the recording has only what the model was told of `{name}`, and the code cannot use that as a result: {why}"
        )
    } else {
        format!("the code cannot use the recorded result of `{name}`: {why}")
    };
    format!("{found}; record the run again, or let the tool run: `playback: {{ run: [{name}] }}`")
}
