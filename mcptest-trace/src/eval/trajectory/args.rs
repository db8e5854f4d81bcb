//! What the arguments of an expected call may be.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::arg_diff::{ArgDiff, exact_diffs};
use super::super::contains::{contains, contains_diffs};
use super::super::subset::{subset, subset_diffs};
use crate::trace::json_eq;

/// Something recorded arguments can be checked against, such as a compiled JSON Schema.
///
/// A check is pure: equal arguments get equal answers.
pub trait ArgsCheck {
    /// Where the arguments are not as they should be; empty when they are. Paths start at the
    /// arguments themselves, which have the empty path.
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff>;

    /// Whether the arguments are as they should be.
    fn accepts(&self, recorded: &Value) -> bool {
        self.diffs(recorded).is_empty()
    }

    /// What is wrong with the check itself, if anything is.
    fn malformed(&self) -> Option<&MalformedSchema> {
        None
    }
}

impl<T: ArgsCheck + ?Sized> ArgsCheck for Arc<T> {
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff> {
        (**self).diffs(recorded)
    }

    fn accepts(&self, recorded: &Value) -> bool {
        (**self).accepts(recorded)
    }

    fn malformed(&self) -> Option<&MalformedSchema> {
        (**self).malformed()
    }
}

/// The checks of a plan that has none.
///
/// A closed set: it is empty, and stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NoSchema {}

impl ArgsCheck for NoSchema {
    fn diffs(&self, _recorded: &Value) -> Vec<ArgDiff> {
        match *self {}
    }
}

/// Why a schema does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MalformedSchema {
    /// JSON pointer to the part of the schema that is wrong.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

impl MalformedSchema {
    /// What is wrong, and where: a JSON pointer.
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for MalformedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, message } = self;
        match pointer.as_str() {
            "" => write!(f, "malformed JSON Schema: {message}"),
            pointer => write!(f, "malformed JSON Schema at `{pointer}`: {message}"),
        }
    }
}

impl std::error::Error for MalformedSchema {}

/// What the arguments of an expected call may be. A call without arguments counts as one with `{}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArgsShape<S = NoSchema> {
    /// Anything, also nothing.
    #[default]
    Any,
    /// Deliberately not looked at.
    Ignore,
    /// Equal to this value; numbers compare by value.
    Exact(Value),
    /// Every expected part by its value, as [`subset`] says.
    Subset(Value),
    /// Containing this value, parts of texts too, as [`contains`] says.
    Contains(Value),
    /// Valid under a schema.
    Schema(S),
}

/// Arguments as an object: none are `{}`.
fn as_object(args: &Value) -> Cow<'_, Value> {
    if args.is_null() {
        Cow::Owned(json!({}))
    } else {
        Cow::Borrowed(args)
    }
}

impl<S: ArgsCheck> ArgsCheck for ArgsShape<S> {
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff> {
        match self {
            Self::Any | Self::Ignore => Vec::new(),
            _ if self.accepts(recorded) => Vec::new(),
            Self::Exact(expected) => exact_diffs(expected, recorded),
            Self::Subset(expected) => subset_diffs(expected, recorded),
            Self::Contains(expected) => contains_diffs(expected, recorded),
            Self::Schema(schema) => schema.diffs(as_object(recorded).as_ref()),
        }
    }

    fn accepts(&self, recorded: &Value) -> bool {
        match self {
            Self::Any | Self::Ignore => true,
            Self::Exact(expected) => json_eq(&as_object(expected), &as_object(recorded)),
            Self::Subset(expected) => subset(&as_object(expected), &as_object(recorded)),
            Self::Contains(expected) => contains(&as_object(expected), &as_object(recorded)),
            Self::Schema(schema) => schema.accepts(as_object(recorded).as_ref()),
        }
    }

    fn malformed(&self) -> Option<&MalformedSchema> {
        match self {
            Self::Schema(schema) => schema.malformed(),
            _ => None,
        }
    }
}
