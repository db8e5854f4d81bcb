//! `trajectory`: did the agent call the right tools, with the right arguments, in the right order?

mod args;
mod compare;
mod describe;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::arg_diff::ArgDiff;
use super::measure::{Measure, Unit};
use super::metrics::metrics;
use super::tool_pattern::{PatternMatch, ToolPattern};
use crate::setters::setters;
use crate::trace::{AsTrace, ReadOnlyTools, ToolCall, Trace};
use crate::words::words;
pub use args::{ArgsCheck, ArgsShape, MalformedSchema, NoSchema};
use compare::PlanComparison;

words! {
    /// How expected and recorded calls line up.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum MatchMode {
        /// One for one, in order, nothing more (also `exact-sequence`).
        Strict = "strict",
        /// Every expected call in order; other calls may come between.
        Subsequence = "subsequence",
        /// Every expected call on a call of its own, in any order; other calls are fine.
        Unordered = "unordered",
        /// At least the expected calls, in any order.
        Superset = "superset",
        /// At most the expected calls, in any order.
        Subset = "subset",
        /// The expected calls and no others, in any order.
        ExactUnordered = "exact_unordered",
    }
}

words! {
    /// Which recorded calls a plan is held against.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Over {
        /// All.
        #[default]
        Calls = "calls",
        /// Those that change something, as [`ReadOnlyTools`] tells.
        Writes = "writes",
    }
}

/// One call of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExpectedCall<S = NoSchema> {
    /// The tool's name, without any `<server>__` prefix.
    pub name: String,
    /// The server that the tool must be of; a call whose server nothing tells does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
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
            server: None,
            args,
            is_error: None,
        }
    }
}

setters! {
    impl [S] ExpectedCall<S> {
        with_is_error(is_error: bool) => Some(is_error);
        with_server(server: impl Into<String>) => Some(server.into());
    }
}

/// The plan a run is held against.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExpectedTrace<S = NoSchema> {
    /// How the calls line up.
    pub mode: MatchMode,
    /// The expected calls.
    pub calls: Vec<ExpectedCall<S>>,
    /// Whether calls that one model response made together may match in any order in the ordered
    /// modes. Together are consecutive calls with the same recorded `step`.
    pub parallel_unordered: bool,
    /// Which recorded calls are judged.
    pub over: Over,
    /// Tools that may not be called.
    pub forbid: Vec<ToolPattern>,
    /// Tools that judged calls beside the expected ones may be of; any where it is absent.
    pub allow: Option<Vec<ToolPattern>>,
}

impl<S> ExpectedTrace<S> {
    /// A plan for all calls of a run, whose parallel calls are held to their recorded order.
    #[must_use]
    pub fn new(mode: MatchMode, calls: Vec<ExpectedCall<S>>) -> Self {
        Self {
            mode,
            calls,
            parallel_unordered: false,
            over: Over::Calls,
            forbid: Vec::new(),
            allow: None,
        }
    }
}

setters! {
    impl [S] ExpectedTrace<S> {
        with_over(over: Over);
    }
}

/// One thing that does not line up.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
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

impl Mismatch {
    /// Of these calls, whose arguments are not compared.
    fn new(expected_index: Option<usize>, recorded_index: Option<usize>, reason: String) -> Self {
        Self {
            expected_index,
            recorded_index,
            arg_diffs: Vec::new(),
            reason,
        }
    }
}

/// How a run compares with a plan.
///
/// Source: seed 3, "Offline trace validation", and spec 3, "trajectory". The expected calls are
/// lined up with the recorded ones under a [`MatchMode`]:
///
/// | mode | holds when | `mismatch_count` |
/// |---|---|---|
/// | `strict` | position by position the same calls | positions that differ + expected calls missing + 1 for a surplus |
/// | `subsequence` | the longest in-order alignment takes every expected call | expected calls left over |
/// | `unordered`, `superset` | a maximum matching takes every expected call | expected calls left over |
/// | `subset` | a maximum matching takes every recorded call | recorded calls left over |
/// | `exact_unordered` | a maximum matching takes every call of both | calls left over; an expected and a recorded one of the same tool count once |
///
/// No expected call at all is trivially satisfied (seed 3), except under `subset` and
/// `exact_unordered`, where it allows no call.
///
/// Three things stand beside the mode. [`Over::Writes`] judges the state-changing calls alone, as if
/// the run had made no other: a strict plan of what must happen leaves the agent free in how it looks
/// things up. `forbid` names tools that may not be called in any mode; each call of one is a mismatch,
/// also where it reads and the plan is over writes, and it stays a call that the plan is held against.
/// `allow` names the tools that other judged calls may be of where the mode lets them be made; each one of
/// another tool is a mismatch, but for calls of planned tools that failed: a planned call may be tried
/// again until it succeeds.
///
/// Cost for `e` expected and `r` recorded calls: arguments are checked once for each expected call
/// and each distinct recorded call of its name; the matching is Hopcroft and Karp's,
/// `O(e · r · √(e + r))` at worst; the alignment is `O(e · r · log e)`. Calls of one name with
/// equal arguments are grouped first, so 1,000 × 1,000 calls stay interactive.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrajectoryReport {
    /// Whether the run holds.
    pub passed: bool,
    /// Number of mismatches.
    pub mismatch_count: usize,
    /// Every mismatch, in the order of the plan (under `subset`, of the run); what is left of the run
    /// under `exact_unordered` and the calls of forbidden tools come last, in the order of the run.
    pub mismatches: Vec<Mismatch>,
    /// Plan beside run, for drawing a diff: `(expected, recorded)`. Every expected and every judged
    /// call stands in it once, recorded calls in their order. Two indices together are a match; in the ordered
    /// modes, `strict` among them, the longest in-order alignment is drawn.
    pub alignment: Vec<(Option<usize>, Option<usize>)>,
}

metrics! { TrajectoryReport as report {
    Measure::new("trajectory.passed", Unit::Flag).higher_is_better("1 when the calls fit the plan") => report.passed,
    Measure::new("trajectory.mismatch_count", Unit::Count)
        .lower_is_better("calls that do not fit under the best alignment") => report.mismatch_count,
} }

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

/// Holds a run against a plan; [`TrajectoryReport`] says by which rules.
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
    validate_trace_with(run, expected, &ReadOnlyTools::default())
}

/// [`validate_trace`] where more than their names is known of the tools: which of them only read
/// matters to a plan over [`Over::Writes`].
///
/// # Errors
///
/// A schema of the plan is malformed.
///
/// ```
/// use mcptest_trace::eval::{
///     ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, Over, validate_trace_with,
/// };
/// use mcptest_trace::trace::ReadOnlyTools;
/// use serde_json::json;
///
/// let plan: ExpectedTrace = ExpectedTrace::new(
///     MatchMode::Strict,
///     vec![ExpectedCall::new("cancel_order", ArgsShape::Any)],
/// )
/// .with_over(Over::Writes);
/// let run = json!({ "tool_calls": [
///     { "name": "get_order" }, { "name": "audit" }, { "name": "cancel_order" },
/// ]});
/// let tools = ReadOnlyTools::new([], [], &["audit".to_owned()]);
/// assert!(validate_trace_with(&run, &plan, &tools)?.passed);
/// assert!(!validate_trace_with(&run, &plan, &ReadOnlyTools::default())?.passed);
/// # Ok::<(), mcptest_trace::eval::MalformedSchema>(())
/// ```
pub fn validate_trace_with<S: ArgsCheck>(
    run: &(impl AsTrace + ?Sized),
    expected: &ExpectedTrace<S>,
    tools: &ReadOnlyTools,
) -> Result<TrajectoryReport, MalformedSchema> {
    if let Some(malformed) = expected.calls.iter().find_map(|call| call.args.malformed()) {
        return Err(malformed.clone());
    }
    let trace = run.as_trace();
    let comparison = PlanComparison::new(&trace, expected, tools);
    let partners = comparison.partners();
    let mut mismatches = comparison.mismatches(&partners);
    mismatches.extend(comparison.not_allowed(&partners));
    mismatches.extend(forbidden(&trace, &expected.forbid, &comparison.servers));
    Ok(TrajectoryReport {
        passed: mismatches.is_empty(),
        mismatch_count: mismatches.len(),
        alignment: comparison.alignment(&partners),
        mismatches,
    })
}

/// The calls of tools that may not be called. One that only its server could clear is one of them.
fn forbidden(trace: &Trace, forbid: &[ToolPattern], servers: &[&str]) -> Vec<Mismatch> {
    let broken = |(index, call): (usize, &ToolCall)| {
        let fits = |pattern: &&ToolPattern| pattern.match_call(call, servers) != PatternMatch::No;
        let pattern = forbid.iter().find(fits)?;
        let name = &call.name;
        let by = if pattern.as_str() == name && pattern.server().is_none() {
            String::new()
        } else {
            format!(" by `{}`", pattern.as_str())
        };
        let of = match (pattern.server(), pattern.match_call(call, servers)) {
            (Some(server), PatternMatch::ServerUnknown) => {
                format!(
                    " of `{server}`, and the recording does not say of which server the tool is"
                )
            }
            (Some(server), _) => format!(" of `{server}`"),
            (None, _) => String::new(),
        };
        let reason = format!("`tool_calls[{index}]` `{name}`: forbidden{by}{of}");
        Some(Mismatch::new(None, Some(index), reason))
    };
    let calls = trace.tool_calls.iter().enumerate();
    calls.filter_map(broken).collect()
}
