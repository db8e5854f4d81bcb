//! `trajectory`: did the agent call the right tools, with the right arguments, in the right order?
//!
//! Source: seed 3, "Offline trace validation", and spec 3, "trajectory". The expected calls are
//! lined up with the recorded ones under a [`MatchMode`]:
//!
//! | mode | holds when | `mismatch_count` |
//! |---|---|---|
//! | `strict` | position by position the same calls | positions that differ + expected calls missing + 1 for a surplus |
//! | `subsequence` | the longest in-order alignment takes every expected call | expected calls left over |
//! | `unordered`, `superset` | a maximum matching takes every expected call | expected calls left over |
//! | `subset` | a maximum matching takes every recorded call | recorded calls left over |
//!
//! No expected call at all is trivially satisfied (seed 3), except under `subset`, where it allows
//! no call.
//!
//! Cost for `e` expected and `r` recorded calls: arguments are checked once for each expected call
//! and each distinct recorded call of its name; the matching is Hopcroft and Karp's,
//! `O(e · r · √(e + r))` at worst; the alignment is `O(e · r · log e)`. Calls of one name with
//! equal arguments are grouped first, so 1,000 × 1,000 calls stay interactive.

mod compare;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::arg_diff::{ArgDiff, exact_diffs};
use super::contains::{contains, contains_diffs};
use super::measure::{Better, Measure};
use crate::trace::{AsTrace, ToolCall, json_eq};
use compare::Comparison;

/// The targets of the metric.
pub const TARGETS: &[Measure] = &[
    Measure::flag(
        "trajectory.passed",
        Better::Higher,
        "1 when the calls fit the plan",
    ),
    Measure::count(
        "trajectory.mismatch_count",
        Better::Lower,
        "calls that do not fit under the best alignment",
    ),
];

/// How expected and recorded calls line up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchMode {
    /// One for one, in order, nothing more (also `exact-sequence`).
    Strict,
    /// Every expected call in order; other calls may come between.
    Subsequence,
    /// Every expected call on a call of its own, in any order; other calls are fine.
    Unordered,
    /// At least the expected calls, in any order.
    Superset,
    /// At most the expected calls, in any order.
    Subset,
}

impl MatchMode {
    /// The mode as it stands in a suite.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Subsequence => "subsequence",
            Self::Unordered => "unordered",
            Self::Superset => "superset",
            Self::Subset => "subset",
        }
    }
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NoSchema {}

impl ArgsCheck for NoSchema {
    fn diffs(&self, _recorded: &Value) -> Vec<ArgDiff> {
        match *self {}
    }
}

/// Why a schema does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedSchema {
    /// JSON pointer to the part of the schema that is wrong.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
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
pub enum ArgsShape<S = NoSchema> {
    /// Anything, also nothing.
    #[default]
    Any,
    /// Deliberately not looked at.
    Ignore,
    /// Equal to this value; numbers compare by value.
    Exact(Value),
    /// Containing this value, as [`contains`] says.
    Subset(Value),
    /// Valid under a schema.
    Schema(S),
}

/// The arguments that were given: none are `{}`.
fn given(recorded: &Value) -> Cow<'_, Value> {
    if recorded.is_null() {
        Cow::Owned(json!({}))
    } else {
        Cow::Borrowed(recorded)
    }
}

impl<S: ArgsCheck> ArgsCheck for ArgsShape<S> {
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff> {
        match self {
            Self::Any | Self::Ignore => Vec::new(),
            _ if self.accepts(recorded) => Vec::new(),
            Self::Exact(expected) => exact_diffs(expected, recorded),
            Self::Subset(expected) => contains_diffs(expected, recorded),
            Self::Schema(schema) => schema.diffs(given(recorded).as_ref()),
        }
    }

    fn accepts(&self, recorded: &Value) -> bool {
        match self {
            Self::Any | Self::Ignore => true,
            Self::Exact(expected) => {
                json_eq(expected, recorded) || json_eq(expected, given(recorded).as_ref())
            }
            Self::Subset(expected) => {
                contains(expected, recorded) || contains(expected, given(recorded).as_ref())
            }
            Self::Schema(schema) => schema.accepts(given(recorded).as_ref()),
        }
    }

    fn malformed(&self) -> Option<&MalformedSchema> {
        match self {
            Self::Schema(schema) => schema.malformed(),
            _ => None,
        }
    }
}

/// One call of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedCall<S = NoSchema> {
    /// The tool's name, without any `<server>__` prefix.
    pub name: String,
    /// What its arguments may be.
    pub args: ArgsShape<S>,
    /// Whether its result must be an error; a call without a recorded result is neither.
    pub is_error: Option<bool>,
}

impl<S> ExpectedCall<S> {
    /// A call of `name` with arguments of a shape, whatever its result.
    pub fn new(name: impl Into<String>, args: ArgsShape<S>) -> Self {
        Self {
            name: name.into(),
            args,
            is_error: None,
        }
    }
}

/// The plan a run is held against.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedTrace<S = NoSchema> {
    /// How the calls line up.
    pub mode: MatchMode,
    /// The expected calls.
    pub calls: Vec<ExpectedCall<S>>,
    /// Whether calls that one model response made together may match in any order in the ordered
    /// modes. Together are consecutive calls with the same recorded `step`.
    pub parallel_unordered: bool,
}

impl<S> ExpectedTrace<S> {
    /// A plan whose parallel calls are held to their recorded order.
    #[must_use]
    pub fn new(mode: MatchMode, calls: Vec<ExpectedCall<S>>) -> Self {
        Self {
            mode,
            calls,
            parallel_unordered: false,
        }
    }
}

/// One thing that does not line up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mismatch {
    /// The expected call; `None` for a recorded call that resembles none.
    pub expected_index: Option<usize>,
    /// The recorded call it was compared with; `None` when there was none left.
    pub recorded_index: Option<usize>,
    /// Where the arguments of the two differ; paths start with `args`.
    pub arg_diffs: Vec<ArgDiff>,
    /// One line for a reader; `calls[n]` is the plan, `tool_calls[n]` the run.
    pub reason: String,
}

/// How a run compares with a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrajectoryReport {
    /// Whether the run holds.
    pub passed: bool,
    /// Number of mismatches.
    pub mismatch_count: usize,
    /// Every mismatch, in the order of the plan (under `subset`, of the run).
    pub mismatches: Vec<Mismatch>,
    /// Plan beside run, for drawing a diff: `(expected, recorded)`. Every call of both stands in
    /// it once, recorded calls in their order. Two indices together are a match; in the ordered
    /// modes, `strict` among them, the longest in-order alignment is drawn.
    pub alignment: Vec<(Option<usize>, Option<usize>)>,
}

impl TrajectoryReport {
    /// The targets `trajectory.passed` (0 or 1) and `trajectory.mismatch_count`.
    #[must_use]
    pub fn metrics(&self) -> Value {
        json!({ "trajectory": {
            "passed": u8::from(self.passed),
            "mismatch_count": self.mismatch_count,
        }})
    }
}

/// The recorded calls of a run, in order.
///
/// ```
/// use mcptest_trace::eval::tool_calls_from_envelope;
/// use serde_json::json;
///
/// let calls = tool_calls_from_envelope(&json!({ "tool_calls": [{ "name": "search" }] }));
/// assert_eq!(calls[0].name, "search");
/// ```
#[must_use]
pub fn tool_calls_from_envelope(run: &(impl AsTrace + ?Sized)) -> Vec<ToolCall> {
    run.as_trace().into_owned().tool_calls
}

/// Holds a run against a plan; the [module](self) says by which rules.
///
/// # Errors
///
/// A schema of the plan is malformed. A run that does not fit is no error but a report that says so.
///
/// ```
/// use mcptest_trace::eval::{ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, validate_trace};
/// use serde_json::json;
///
/// let plan: ExpectedTrace = ExpectedTrace::new(
///     MatchMode::Subsequence,
///     vec![ExpectedCall::new("get_weather", ArgsShape::Subset(json!({ "city": "Sacramento" })))],
/// );
/// let run = json!({ "tool_calls": [
///     { "name": "geocode" },
///     { "name": "get_weather", "args": { "city": "Sacramento", "units": "C" } },
/// ]});
/// let report = validate_trace(&run, &plan)?;
/// assert!(report.passed);
/// assert_eq!(report.alignment, [(None, Some(0)), (Some(0), Some(1))]);
/// # Ok::<(), mcptest_trace::eval::MalformedSchema>(())
/// ```
pub fn validate_trace<S: ArgsCheck>(
    run: &(impl AsTrace + ?Sized),
    expected: &ExpectedTrace<S>,
) -> Result<TrajectoryReport, MalformedSchema> {
    if let Some(malformed) = expected.calls.iter().find_map(|call| call.args.malformed()) {
        return Err(malformed.clone());
    }
    let trace = run.as_trace();
    let comparison = Comparison::new(&trace, expected);
    let partners = comparison.partners();
    let mismatches = comparison.mismatches(&partners);
    Ok(TrajectoryReport {
        passed: mismatches.is_empty(),
        mismatch_count: mismatches.len(),
        alignment: comparison.alignment(&partners),
        mismatches,
    })
}
