//! `trajectory_axes`: do the orders hold that must hold, whatever else the agent did?

mod sources;
mod words;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

use super::measure::{Measure, Unit};
use super::metrics::metrics;
use super::narrative::failed;
use crate::setters::setters;
use crate::trace::{AsTrace, Trace, for_each_scalar};
use sources::Sources;

/// A consumer that must run after the producer whose output it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dependency {
    /// Name of the tool that produces.
    pub producer: String,
    /// Name of the tool that consumes.
    pub consumer: String,
    /// The consumer's argument that must carry the produced value.
    pub arg: Option<String>,
}

impl Dependency {
    /// Some argument of the consumer carries what the producer gave.
    pub fn new(producer: impl Into<String>, consumer: impl Into<String>) -> Self {
        Self {
            producer: producer.into(),
            consumer: consumer.into(),
            arg: None,
        }
    }
}

setters! {
    Dependency {
        with_arg(arg: impl Into<String>) => Some(arg.into());
    }
}

/// A call that must precede another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Order {
    /// Name of the tool that comes first.
    pub first: String,
    /// Name of the tool that comes second.
    pub second: String,
    /// Whether the same must hold of their last calls: no call of `first` without a later one of
    /// `second`.
    pub last: bool,
}

impl Order {
    /// A pair whose first calls decide.
    ///
    /// ```
    /// use mcptest_trace::eval::{Axes, Order, score_trajectory_axes};
    /// use serde_json::json;
    ///
    /// let order = Order::new("edit", "test").with_last(true);
    /// let axes = Axes::default().with_order(vec![order]);
    /// let score = |names: &[&str]| {
    ///     let calls: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    ///     score_trajectory_axes(&json!({ "tool_calls": calls }), &axes).order_satisfaction
    /// };
    /// assert_eq!(score(&["edit", "test", "edit", "test"]), 100);
    /// assert_eq!(score(&["edit", "test", "edit"]), 0);
    /// ```
    pub fn new(first: impl Into<String>, second: impl Into<String>) -> Self {
        Self {
            first: first.into(),
            second: second.into(),
            last: false,
        }
    }
}

setters! {
    Order {
        with_last(last: bool);
    }
}

/// The declared constraints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Axes {
    /// Scored as `dependency_satisfaction`.
    pub dependencies: Vec<Dependency>,
    /// Scored as `order_satisfaction`.
    pub order: Vec<Order>,
}

setters! {
    Axes {
        with_dependencies(dependencies: Vec<Dependency>);
        with_order(order: Vec<Order>);
    }
}

/// The list of [`Axes`] a broken edge was declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Axis {
    /// [`Axes::dependencies`].
    Dependencies,
    /// [`Axes::order`].
    Order,
}

/// A constraint that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BrokenEdge {
    /// The list it was declared in.
    pub axis: Axis,
    /// Its place in that list.
    pub index: usize,
    /// First call of the producer, or of the tool that comes first; its last where the last calls
    /// are out of order.
    pub first_call: Option<usize>,
    /// The offending call of the consumer, or of the tool that comes second: its first call (its last
    /// where the last calls are out of order), or the one whose argument has no source.
    pub second_call: Option<usize>,
    /// One line for a reader; `tool_calls[n]` is a call of the run.
    pub reason: String,
}

/// How far the constraints hold.
///
/// Source: seed 3, "Offline trace validation", and spec 3, `trajectory_axes`. A dependency
/// (producer, consumer) or an order (first, second) holds when the first call of the one comes
/// before the first call of the other; if either is never called it does not hold. Calls of one step
/// were made in parallel and hold no order. A producer whose call failed, or has no result, produced
/// nothing: of a dependency the first call that succeeded counts. An order that
/// looks at the last calls too ([`Order::last`]) also wants the last call of the one before the last
/// call of the other: an edit is tested, and so is the edit after that. Each axis
/// scores `floor(100 · held / declared)`, and 100 when nothing is declared.
///
/// A dependency that names an argument (`url`, or `page.url` inside an object) also asks for data
/// flow: in every consumer call the value of that argument must occur, as a scalar or inside a
/// string, in the recorded result of an earlier producer call. A failed result, and one that an
/// injected fault gave, is no source. A call made in the same step as the consumer is not earlier:
/// the model had not seen its result. In a list or an object, every scalar must occur. A text must stand
/// there as a whole, not as a part of a longer word, address or identifier: `user_1` does not occur in
/// `"user_12"`. Numbers and
/// booleans inside a string must stand as words of their own: `1` does not occur in `"10"`, in `"-1"` nor
/// in `"A-1"`, and `1250` does in `"1,250"`. A text that spells a number counts as one.
///
/// A dependency of a tool on itself with an argument (the next page) asks that of each call after
/// the first; one call alone has nothing to carry on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AxesReport {
    /// Share of dependencies that hold, `0..=100`, rounded down.
    pub dependency_satisfaction: usize,
    /// Share of orders that hold, `0..=100`, rounded down.
    pub order_satisfaction: usize,
    /// Those that do not, as declared, dependencies first.
    pub broken: Vec<BrokenEdge>,
}

metrics! { AxesReport as report {
    Measure::new("trajectory.dependency_satisfaction", Unit::Percent)
        .higher_is_better("dependencies that hold; 100 when none is declared") => report.dependency_satisfaction,
    Measure::new("trajectory.order_satisfaction", Unit::Percent)
        .higher_is_better("pairs in order; 100 when none is declared") => report.order_satisfaction,
} }

/// Scores both axes of a run.
///
/// ```
/// use mcptest_trace::eval::{Axes, Dependency, score_trajectory_axes};
/// use serde_json::json;
///
/// let dependency = Dependency::new("search", "fetch_page").with_arg("url");
/// let axes = Axes::default().with_dependencies(vec![dependency]);
/// let run = json!({
///     "tool_calls": [
///         { "name": "search" },
///         { "name": "fetch_page", "args": { "url": "https://a.example/1" } },
///     ],
///     "tool_results": [{ "call_index": 0, "result": { "text": "1. https://a.example/1" } }],
/// });
/// assert_eq!(score_trajectory_axes(&run, &axes).dependency_satisfaction, 100);
/// ```
#[must_use]
pub fn score_trajectory_axes(run: &(impl AsTrace + ?Sized), axes: &Axes) -> AxesReport {
    let trace = run.as_trace();
    let edge = |axis, index, (first_call, second_call, reason): Unplaced| BrokenEdge {
        axis,
        index,
        first_call,
        second_call,
        reason,
    };
    let mut broken = Vec::new();
    for (index, wanted) in axes.dependencies.iter().enumerate() {
        let Dependency {
            producer, consumer, ..
        } = wanted;
        let flaw = if wanted.arg.is_some() && producer == consumer {
            find_never_called(&trace, producer)
        } else {
            find_order_break(&trace, producer, consumer)
                .or_else(|| find_unproduced(&trace, producer, consumer))
        };
        let flaw = flaw.or_else(|| find_sourceless(&trace, wanted, wanted.arg.as_deref()?));
        broken.extend(flaw.map(|flaw| edge(Axis::Dependencies, index, flaw)));
    }
    let broken_dependencies = broken.len();
    for (index, wanted) in axes.order.iter().enumerate() {
        let (first, second) = (wanted.first.as_str(), wanted.second.as_str());
        let flaw = find_order_break(&trace, first, second);
        let flaw = flaw.or_else(|| {
            wanted
                .last
                .then(|| find_last_order_break(&trace, first, second))?
        });
        broken.extend(flaw.map(|flaw| edge(Axis::Order, index, flaw)));
    }
    let broken_orders = broken.len() - broken_dependencies;
    AxesReport {
        dependency_satisfaction: percent_held(axes.dependencies.len(), broken_dependencies),
        order_satisfaction: percent_held(axes.order.len(), broken_orders),
        broken,
    }
}

fn percent_held(declared: usize, broken: usize) -> usize {
    (100 * (declared - broken))
        .checked_div(declared)
        .unwrap_or(100)
}

/// A broken edge that does not know yet where it was declared: both calls and the reason.
type Unplaced = (Option<usize>, Option<usize>, String);

/// Finds what breaks a dependency on a tool that was never called.
fn find_never_called(trace: &Trace, name: &str) -> Option<Unplaced> {
    let called = trace.tool_calls.iter().any(|call| call.name == name);
    (!called).then(|| (None, None, format!("`{name}` is never called")))
}

/// What breaks "the first call of `first` comes before the first call of `second`", if anything.
fn find_order_break(trace: &Trace, first: &str, second: &str) -> Option<Unplaced> {
    let first_of = |name: &str| trace.tool_calls.iter().position(|call| call.name == name);
    let (first_call, second_call) = (first_of(first), first_of(second));
    let reason = match (first_call, second_call) {
        (Some(earlier), Some(later)) if in_one_step(trace, earlier, later) => format!(
            "`{first}` must come before `{second}`, but `tool_calls[{earlier}]` and \
             `tool_calls[{later}]` are made in one step"
        ),
        (Some(earlier), Some(later)) if earlier < later => return None,
        (Some(earlier), Some(later)) => format!(
            "`{first}` must come before `{second}`, but is first called at `tool_calls[{earlier}]`, \
             and `{second}` is first called at `tool_calls[{later}]`"
        ),
        (None, Some(_)) => format!("`{first}` must come before `{second}`, but is never called"),
        (Some(_), None) => format!("`{second}` must come after `{first}`, but is never called"),
        (None, None) => format!("neither `{first}` nor `{second}` is ever called"),
    };
    Some((first_call, second_call, reason))
}

/// Whether two calls were made in parallel: by one answer of the model, which knew the result of neither.
fn in_one_step(trace: &Trace, one: usize, other: usize) -> bool {
    let [one, other] = [one, other].map(|call| trace.tool_calls[call].step);
    one.is_some() && one == other
}

/// What breaks "a call of `producer` that produced something comes before the first call of `consumer`", if
/// anything; both are called.
fn find_unproduced(trace: &Trace, producer: &str, consumer: &str) -> Option<Unplaced> {
    let calls = || trace.tool_calls.iter().enumerate();
    let (later, _) = calls().find(|(_, call)| call.name == consumer)?;
    let results = trace.results_by_call();
    let earlier: Vec<usize> = calls()
        .take(later)
        .filter(|(_, call)| call.name == producer)
        .map(|(index, _)| index)
        .collect();
    let gave = |index: &usize| {
        let result = results[*index].filter(|result| result.synthesized.is_none());
        let call = &trace.tool_calls[*index];
        result.is_some_and(|result| !failed(call, result)) && !in_one_step(trace, *index, later)
    };
    if earlier.iter().any(gave) {
        return None;
    }
    let first = earlier.first().copied();
    let ended = match first.and_then(|first| results[first]) {
        Some(_) => "failed",
        None => "has no result",
    };
    let place = first.unwrap_or_default();
    let reason = format!(
        "`{consumer}` needs a result of `{producer}`, but `tool_calls[{place}]` {ended} and no other \
         `{producer}` succeeded before `tool_calls[{later}]`"
    );
    Some((first, Some(later), reason))
}

/// What breaks "the last call of `first` comes before the last call of `second`", if anything; both
/// are called.
fn find_last_order_break(trace: &Trace, first: &str, second: &str) -> Option<Unplaced> {
    let last_of = |name: &str| trace.tool_calls.iter().rposition(|call| call.name == name);
    let (earlier, later) = (last_of(first)?, last_of(second)?);
    let parallel = in_one_step(trace, earlier, later);
    (earlier >= later || parallel).then(|| {
        let how = if parallel { ", in one step" } else { "" };
        let reason = format!(
            "the last `{first}` must come before the last `{second}`, but is `tool_calls[{earlier}]`, \
             and the last `{second}` is `tool_calls[{later}]`{how}"
        );
        (Some(earlier), Some(later), reason)
    })
}

/// The first consumer call whose argument no earlier producer result carries, if any.
fn find_sourceless(trace: &Trace, edge: &Dependency, arg: &str) -> Option<Unplaced> {
    let calls = || trace.tool_calls.iter().enumerate();
    let producer_calls = || calls().filter(|(_, call)| call.name == edge.producer);
    let mut sources = Sources::new(trace, producer_calls());
    let first = usize::from(edge.producer == edge.consumer);
    calls()
        .filter(|(_, call)| call.name == edge.consumer)
        .skip(first)
        .find_map(|(index, consumer)| {
            let source = format!("the result of an earlier `{}` call", edge.producer);
            let mut scalars = Vec::new();
            for_each_scalar(words::argument(&consumer.args, arg), &mut |scalar| {
                // `null` and empty text carry nothing.
                let is_blank = |text: &str| text.trim().is_empty();
                if !scalar.is_null() && !scalar.as_str().is_some_and(is_blank) {
                    scalars.push(scalar);
                }
            });
            let mut numbered = scalars.iter().enumerate();
            let reason = if scalars.is_empty() {
                format!("`tool_calls[{index}]` has no value in `args.{arg}`, so no value comes from {source}")
            } else {
                let missing = |(which, scalar): &(usize, &&Value)| {
                    !sources.contain(scalar, *which, index, consumer)
                };
                let (_, scalar) = numbered.find(missing)?;
                format!("`args.{arg}` of `tool_calls[{index}]` is not in {source}: {scalar}")
            };
            let first_call = producer_calls().next().map(|(producer, _)| producer);
            Some((first_call, Some(index), reason))
        })
}
