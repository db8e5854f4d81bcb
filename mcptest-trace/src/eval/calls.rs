//! `calls`: how much did a run take?

mod money;
mod prices;

use serde::Serialize;

use super::measure::{Measure, Unit};
use super::metrics::metrics;
use crate::number::to_f64;
use crate::trace::{AsTrace, ToolCall, ToolResult, Trace};

pub use money::{UnknownCost, cost_of_run};
pub use prices::{ModelPrice, Prices};

/// What a run may take at most; what is absent is not limited.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallLimits {
    /// Tool calls.
    pub max: Option<u64>,
    /// Tool calls that end in an error.
    pub max_errors: Option<u64>,
    /// Model calls.
    pub max_steps: Option<u64>,
    /// Tokens.
    pub max_tokens: Option<u64>,
    /// Milliseconds of the whole run.
    pub max_ms: Option<u64>,
    /// Milliseconds of any one tool call.
    pub max_call_ms: Option<u64>,
    /// US dollars of the whole run.
    pub max_usd: Option<f64>,
    /// What models cost; without them nobody knows what a run cost.
    pub prices: Prices,
}

/// What a run took.
///
/// Source: spec 5, and spec 13 for time and money. Tool calls, results that are errors, model calls, tokens
/// and times are as they were recorded, and money is what the recorded tokens cost ([`cost_of_run`]). What was not
/// recorded has no number, so that a limit on it is not met by silence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CallCounts {
    /// Tool calls.
    pub count: u64,
    /// Tool calls that ended in an error; nothing where no result tells whether it is one, or a call has
    /// no result. A tool of the agent's own that control flow ended has not failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Tool calls that are known to have ended in an error: at least so many did.
    #[serde(skip)]
    pub known_errors: u64,
    /// Model calls; nothing where none was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Tokens; nothing where none were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Milliseconds of the whole run; nothing where they were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Milliseconds of the slowest tool call, 0 where there is none; nothing where the time of some call was not
    /// recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowest_ms: Option<u64>,
    /// US dollars of the whole run; nothing where a price is not stated or tokens were not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

metrics! { CallCounts as counts {
    Measure::new("calls.count", Unit::Count).lower_is_better("tool calls") => counts.count,
    Measure::new("calls.errors", Unit::Count)
        .lower_is_better(
            "tool calls that ended in an error, if the recording marks errors and has a \
             result of each call",
        )
        .optional() => counts.errors,
    Measure::new("calls.steps", Unit::Count)
        .lower_is_better("model calls, where they were recorded")
        .at_least(1.0)
        .optional() => counts.steps,
    Measure::new("calls.tokens", Unit::Tokens)
        .lower_is_better("tokens of the whole run, where they were recorded")
        .optional() => counts.tokens,
    Measure::new("calls.ms", Unit::Milliseconds)
        .lower_is_better("the duration of the whole run, where it was recorded")
        .optional() => counts.ms,
    Measure::new("calls.slowest_ms", Unit::Milliseconds)
        .lower_is_better("the duration of the slowest tool call, where the duration of each call was recorded")
        .optional() => counts.slowest_ms,
    Measure::new("calls.usd", Unit::Dollars)
        .lower_is_better(
            "the cost of the whole run, where the suite states the prices and the tokens of each model call were recorded",
        )
        .optional() => counts.usd,
} }

/// Counts what a run took, without what it cost: see [`count_calls_with`].
///
/// ```
/// use mcptest_trace::eval::count_calls;
/// use serde_json::json;
///
/// let counts = count_calls(&json!({
///     "tool_calls": [{ "name": "search" }, { "name": "fetch" }],
///     "tool_results": [
///         { "call_index": 0, "is_error": false, "result": "three pages" },
///         { "call_index": 1, "is_error": true, "result": "no such page" },
///     ],
///     "conversation": { "steps": [{ "prompt": 900, "completion": 20 }, { "prompt": 1400, "completion": 60 }] },
/// }));
/// assert_eq!((counts.count, counts.errors, counts.steps, counts.tokens), (2, Some(1), Some(2), Some(2380)));
/// ```
#[must_use]
pub fn count_calls(run: &(impl AsTrace + ?Sized)) -> CallCounts {
    let trace = run.as_trace();
    let results = trace.results_by_call();
    let errors = results.iter().flatten().filter(|result| result.is_error);
    let errors = errors.count() as u64;
    let mut calls = trace.tool_calls.iter().zip(&results);
    let is_partial = trace.errors_unknown() > 0;
    let is_unknown = calls.any(|(call, result)| is_error_unknown(call, *result, is_partial));
    let recorded = |count: u64| Some(count).filter(|count| *count > 0);
    CallCounts {
        count: trace.tool_calls.len() as u64,
        errors: (!is_unknown).then_some(errors),
        known_errors: errors,
        steps: recorded(trace.model_calls()),
        tokens: trace.tokens_taken(),
        ms: trace.conversation.duration_ms,
        slowest_ms: slowest(&trace),
        usd: None,
    }
}

/// Whether nobody knows if a call ended in an error. `is_partial`: results without a flag may be errors.
fn is_error_unknown(call: &ToolCall, result: Option<&ToolResult>, is_partial: bool) -> bool {
    let is_left = call.own.as_ref().is_some_and(|own| own.left);
    !is_left && result.is_none_or(|result| is_partial && !result.error_known)
}

/// Counts what a run took, and what it cost. `model` is the run's model.
///
/// ```
/// use mcptest_trace::eval::{ModelPrice, Prices, count_calls_with};
/// use serde_json::json;
///
/// let prices: Prices = [("gpt-5", ModelPrice::new(1.25, 10.0))].into_iter().collect();
/// let run = json!({ "conversation": { "steps": [{ "prompt": 900, "completion": 20 }] } });
/// assert_eq!(count_calls_with(&run, "gpt-5", &prices).usd, Some(0.001325));
/// ```
#[must_use]
pub fn count_calls_with(run: &(impl AsTrace + ?Sized), model: &str, prices: &Prices) -> CallCounts {
    let trace = run.as_trace();
    CallCounts {
        usd: cost_of_run(&*trace, model, prices).ok(),
        ..count_calls(&*trace)
    }
}

/// The longest time of a tool call, where each has one.
fn slowest(trace: &Trace) -> Option<u64> {
    let answered = trace.results_by_call().iter().all(Option::is_some);
    let mut times = trace.tool_results.iter().map(|result| result.duration_ms);
    let longest = times.try_fold(0, |longest, time| Some(time?.max(longest)));
    longest.filter(|_| answered)
}

impl CallLimits {
    /// Each limit that is stated: its name, the limit, and what a run took of it.
    #[must_use]
    pub fn against(&self, counts: &CallCounts) -> Vec<(&'static str, f64, Option<f64>)> {
        // What is not known cannot make them fewer.
        let too_many = Some(counts.known_errors);
        let too_many = too_many.filter(|errors| self.max_errors.is_some_and(|most| *errors > most));
        let counted = [
            ("max", self.max, Some(counts.count)),
            ("max_errors", self.max_errors, counts.errors.or(too_many)),
            ("max_steps", self.max_steps, counts.steps),
            ("max_tokens", self.max_tokens, counts.tokens),
            ("max_ms", self.max_ms, counts.ms),
            ("max_call_ms", self.max_call_ms, counts.slowest_ms),
        ];
        let counted =
            counted.map(|(name, limit, taken)| (name, limit.map(to_f64), taken.map(to_f64)));
        let all = counted
            .into_iter()
            .chain([("max_usd", self.max_usd, counts.usd)]);
        all.filter_map(|(name, limit, taken)| Some((name, limit?, taken)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::eval::Metrics;

    #[test]
    fn what_was_not_recorded_has_no_number() {
        let counts = count_calls(&json!({
            "tool_calls": [{ "name": "a" }],
            "tool_results": [{ "call_index": 0, "result": "Error: no" }],
        }));
        assert_eq!(counts.metrics(), json!({ "calls": { "count": 1 } }));
        let unanswered = count_calls(&json!({
            "tool_calls": [{ "name": "a" }, { "name": "b" }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": "" }],
        }));
        assert_eq!(unanswered.metrics(), json!({ "calls": { "count": 2 } }));
        let nothing = count_calls(&json!({}));
        assert_eq!(
            nothing.metrics(),
            json!({ "calls": { "count": 0, "errors": 0, "slowest_ms": 0 } })
        );
    }

    #[test]
    fn known_errors_break_a_limit_and_a_call_that_control_flow_ended_is_none() {
        let run = |left: bool, failed: bool| {
            count_calls(&json!({
                "tool_calls": [{ "name": "a" }, { "name": "b", "own": { "left": left } }],
                "tool_results": [{ "call_index": 0, "is_error": failed, "result": "" }],
            }))
        };
        let limits = CallLimits {
            max_errors: Some(0),
            ..CallLimits::default()
        };
        let taken = |left, failed| limits.against(&run(left, failed))[0].2;
        assert_eq!((taken(false, false), taken(false, true)), (None, Some(1.0)));
        assert_eq!(
            (taken(true, false), taken(true, true)),
            (Some(0.0), Some(1.0))
        );
        assert_eq!(run(false, true).errors, None);
    }

    #[test]
    fn time_is_known_where_all_of_it_was_recorded() {
        let run = |times: &[Option<u64>], answered: usize| {
            let calls = times.iter().map(|_| json!({ "name": "a" }));
            let results = times.iter().enumerate().take(answered);
            let results = results.map(|(call, time)| match time {
                Some(time) => json!({ "call_index": call, "is_error": false, "duration_ms": time }),
                None => json!({ "call_index": call, "is_error": false }),
            });
            count_calls(&json!({
                "tool_calls": calls.collect::<Vec<_>>(),
                "tool_results": results.collect::<Vec<_>>(),
                "conversation": { "duration_ms": 0 },
            }))
        };
        let known = run(&[Some(40), Some(900), Some(0)], 3);
        assert_eq!((known.ms, known.slowest_ms), (Some(0), Some(900)));
        assert_eq!(run(&[Some(40), None], 2).slowest_ms, None);
        assert_eq!(run(&[Some(40), Some(50)], 1).slowest_ms, None);
        assert_eq!(count_calls(&json!({})).ms, None);
        let limits = CallLimits {
            max_ms: Some(5),
            max_call_ms: Some(800),
            ..CallLimits::default()
        };
        let against = limits.against(&known);
        assert_eq!(
            against,
            [
                ("max_ms", 5.0, Some(0.0)),
                ("max_call_ms", 800.0, Some(900.0))
            ]
        );
    }

    #[test]
    fn a_call_with_several_results_is_one_error() {
        let counts = count_calls(&json!({
            "tool_calls": [{ "name": "a" }, { "name": "a" }],
            "tool_results": [
                { "call_index": 0, "is_error": true, "result": "slow" },
                { "call_index": 0, "is_error": true, "result": "slow again" },
                { "call_index": 1, "result": { "isError": true, "content": [] } },
            ],
        }));
        assert_eq!(counts.errors, Some(2));
    }

    #[test]
    fn only_stated_limits_are_looked_at() {
        let counts = count_calls(&json!({ "tool_calls": [{ "name": "a" }] }));
        let limits = CallLimits {
            max: Some(0),
            max_tokens: Some(5),
            max_usd: Some(0.5),
            ..CallLimits::default()
        };
        let against = limits.against(&counts);
        let expected = [
            ("max", 0.0, Some(1.0)),
            ("max_tokens", 5.0, None),
            ("max_usd", 0.5, None),
        ];
        assert_eq!(against, expected);
    }

    proptest! {
        #[test]
        fn one_more_failing_call_is_one_more_of_both(failing in prop::collection::vec(any::<bool>(), 0..12)) {
            let run = |failing: &[bool]| {
                let calls = failing.iter().map(|_| json!({ "name": "a" }));
                let results = failing.iter().enumerate();
                let results = results.map(|(call, failed)| json!({ "call_index": call, "is_error": failed, "result": "" }));
                count_calls(&json!({
                    "tool_calls": calls.collect::<Vec<_>>(),
                    "tool_results": results.collect::<Vec<_>>(),
                }))
            };
            let before = run(&failing);
            let more: Vec<bool> = failing.iter().copied().chain([true]).collect();
            let after = run(&more);
            prop_assert_eq!(after.count, before.count + 1);
            prop_assert_eq!(after.errors, before.errors.map(|errors| errors + 1));
        }
    }
}
