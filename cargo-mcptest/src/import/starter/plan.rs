//! The plan of what an agent changes.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use mcptest::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, Over, Schema, ToolPattern,
    validate_trace_with,
};
use mcptest::trace::{ReadOnlyTools, Run};

use super::gate::ProposedGate;
use super::order::is_same_step;
use super::shape::argument_shape;
use super::text::{longest_common, quote, yaml_flow, yaml_list};
use super::writes::{Changes, Write};

/// A call of a plan.
type Expected = ExpectedCall<Schema>;

/// How the writes of runs line up with what is expected of all: strict where the runs agree; else what they
/// share in their order; where they share nothing, no more than they do. What was asked for at once, or is
/// done in different orders, has none. A call that failed changed nothing: it may be made again, and need
/// not be.
fn align_writes(
    good: &[&Run],
    changes: &Changes<'_>,
    reads: &ReadOnlyTools,
) -> Option<(MatchMode, Vec<Expected>)> {
    let together = good.iter().any(|run| changes_at_once(run, reads));
    changes.made.first()?;
    let same = identical_calls(&changes.made);
    let failed = all_calls(&changes.failed).map(|write| {
        // What differs between the runs in those that succeed may differ here.
        let made = changes.made.iter().filter(|_| good.len() > 1).flatten();
        let made = made.filter(|made| made.call.name == write.call.name);
        let alike: Vec<_> = std::iter::once(write).chain(made).collect();
        ExpectedCall::new(&write.call.name, argument_shape(&alike)).with_is_error(true)
    });
    if let Some((places, ordered)) = same {
        let ordered = ordered && !together;
        let planned = places.iter().map(|calls| agreed_call(calls));
        return Some(match (changes.any_failed(), ordered) {
            // Nothing else may fail, and how often the others are made is bounded below. The order of
            // one run tells nothing.
            (true, ordered) if !ordered || places.len() < 2 || good.len() < 2 => {
                (MatchMode::Subset, planned.chain(failed).collect())
            }
            (true, _) => (MatchMode::Subsequence, planned.collect()),
            (false, true) => (MatchMode::Strict, planned.collect()),
            (false, false) => (MatchMode::ExactUnordered, planned.collect()),
        });
    }
    Some(match common_calls(&changes.made) {
        shared if shared.is_empty() => {
            let made = all_calls(&changes.made).map(|write| agreed_call(&[write]));
            (MatchMode::Subset, made.chain(failed).collect())
        }
        shared if together => (MatchMode::Superset, shared),
        shared => (MatchMode::Subsequence, shared),
    })
}

/// How often a tool is called.
pub(super) struct CallCounts<'a> {
    pub(super) tool: &'a str,
    pub(super) least: usize,
    pub(super) most: Option<usize>,
    /// Calls that fail do not count.
    only_successes: bool,
}

/// How often a run calls each tool, and how often each with success.
fn count_calls(run: &Run) -> HashMap<&str, (usize, usize)> {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    for (call, result) in calls {
        let (all, successes) = counts.entry(&call.name).or_default();
        *all += 1;
        *successes += usize::from(result.is_some_and(|result| !result.is_error));
    }
    counts
}

impl CallCounts<'_> {
    pub(super) fn target(&self) -> &'static str {
        if self.only_successes {
            "successful_tool_names"
        } else {
            "tool_names"
        }
    }

    fn count(&self, of_run: &HashMap<&str, (usize, usize)>) -> usize {
        let (all, successes) = of_run.get(self.tool).copied().unwrap_or_default();
        if self.only_successes { successes } else { all }
    }

    pub(super) fn holds(&self, run: &Run) -> bool {
        let count = self.count(&count_calls(run));
        count >= self.least && self.most.is_none_or(|most| count <= most)
    }
}

/// How often each tool is called that changes something: no more often than in any good run, and not less
/// often than in each, where the plan would let a run.
pub(super) fn propose_call_counts<'a>(
    good: &[&Run],
    changes: &Changes<'a>,
    reads: &ReadOnlyTools,
) -> Vec<CallCounts<'a>> {
    let Some((mode, calls)) = align_writes(good, changes, reads) else {
        return Vec::new();
    };
    let tools = changes.iter().map(|write| write.call.name.as_str());
    let tools: BTreeSet<&str> = tools.collect();
    let failed = changes.failed.iter().flatten();
    let failed: HashSet<&str> = failed.map(|write| write.call.name.as_str()).collect();
    let of_runs: Vec<HashMap<&str, (usize, usize)>> =
        good.iter().map(|run| count_calls(run)).collect();
    let mut planned: HashMap<&str, usize> = HashMap::new();
    for call in calls.iter().filter(|call| call.is_error != Some(true)) {
        *planned.entry(&call.name).or_default() += 1;
    }
    let of_tool = |tool: &'a str| {
        let mut times = CallCounts {
            tool,
            least: 0,
            most: None,
            only_successes: failed.contains(tool),
        };
        let counts = || of_runs.iter().map(|of_run| times.count(of_run));
        let (least, most) = (counts().min()?, counts().max()?);
        let planned = planned.get(tool).copied().unwrap_or_default();
        let is_open = matches!(mode, MatchMode::Subsequence | MatchMode::Superset);
        if mode == MatchMode::Subset {
            times.least = least;
        }
        times.most = (is_open || planned > most).then_some(most);
        (times.least > 0 || times.most.is_some()).then_some(times)
    };
    tools.into_iter().filter_map(of_tool).collect()
}

/// The plan of what is changed.
pub(super) fn propose_trajectory<'a>(
    good: &[&Run],
    changes: &Changes<'_>,
    reads: &'a ReadOnlyTools,
) -> Option<ProposedGate<'a>> {
    let (mode, calls) = align_writes(good, changes, reads)?;
    if calls.is_empty() {
        let nothing = ExpectedTrace::new(MatchMode::ExactUnordered, calls).with_over(Over::Writes);
        let text = "    trajectory: { over: writes, mode: strict, calls: [] }\n";
        return Some(plan_gate(text.to_owned(), nothing, reads));
    }
    let mut text = format!(
        "    trajectory:\n      over: writes\n      mode: {}\n",
        mode.as_str()
    );
    if calls.iter().any(|call| call.is_error == Some(true)) {
        text.push_str(
            "      # Calls that fail need not be made; `expect` asks for the calls that succeed.\n",
        );
    }
    text.push_str("      calls:\n");
    text.extend(calls.iter().map(call_line));
    let mut plan = ExpectedTrace::new(mode, calls);
    plan.over = Over::Writes;
    if matches!(mode, MatchMode::Subsequence | MatchMode::Superset) {
        // What is left open is not left to tools that no good run needed.
        let tools: BTreeSet<&String> = changes.iter().map(|write| &write.call.name).collect();
        let tools: Vec<String> = tools.into_iter().cloned().collect();
        text.push_str(&format!("      allow: {}\n", yaml_list(&tools)));
        plan.allow = Some(tools.into_iter().map(ToolPattern::new).collect());
    }
    Some(plan_gate(text, plan, reads))
}

/// Whether a run asks for two changes in one message, one right after the other.
fn changes_at_once(run: &Run, reads: &ReadOnlyTools) -> bool {
    run.trace.tool_calls.windows(2).any(|calls| {
        is_same_step(&calls[0], &calls[1])
            && calls.iter().all(|call| !reads.is_read_only(&call.name))
    })
}

fn call_line(call: &Expected) -> String {
    let args = match &call.args {
        ArgsShape::Exact(args) => format!(", args: {{ exact: {} }}", yaml_flow(args)),
        ArgsShape::Schema(schema) => format!(", args: {{ schema: {} }}", yaml_flow(schema.value())),
        _ => String::new(),
    };
    let is_error = call
        .is_error
        .map(|is_error| format!(", is_error: {is_error}"));
    let (name, is_error) = (quote(&call.name), is_error.unwrap_or_default());
    format!("        - {{ name: {name}{args}{is_error} }}\n")
}

fn plan_gate(text: String, plan: ExpectedTrace<Schema>, reads: &ReadOnlyTools) -> ProposedGate<'_> {
    ProposedGate {
        name: "trajectory",
        text,
        holds: Box::new(move |run| {
            validate_trace_with(&run.trace, &plan, reads).is_ok_and(|report| report.passed)
        }),
    }
}

/// The calls that all runs make, place by place, where all make the same, and whether they make them in
/// one order: by what stays of their arguments, or else by their names in their order.
fn identical_calls<'s, 'a>(made: &'s [Vec<Write<'a>>]) -> Option<(Vec<Vec<&'s Write<'a>>>, bool)> {
    let first = made.first()?;
    // As the first run has them.
    let lined_up = |calls: &'s Vec<Write<'a>>| {
        let mut left = group_by_key(calls);
        let lined_up = first
            .iter()
            .map(|write| left.get_mut(write.key.as_str())?.pop_front());
        let lined_up = lined_up.collect::<Option<Vec<_>>>()?;
        left.values().all(VecDeque::is_empty).then_some(lined_up)
    };
    let by_name = |calls: &'s Vec<Write<'a>>| {
        let names = |calls: &'s [Write<'a>]| calls.iter().map(|write| &write.call.name);
        names(calls)
            .eq(names(first))
            .then(|| calls.iter().collect())
    };
    let alike: Option<Vec<Vec<_>>> = made.iter().map(lined_up).collect();
    let keys = |calls: &'s [Write<'a>]| calls.iter().map(|write| &write.key);
    let ordered = alike.is_none() || made.iter().all(|calls| keys(calls).eq(keys(first)));
    let runs = alike.or_else(|| made.iter().map(by_name).collect())?;
    let place = |place: usize| runs.iter().map(|calls| calls[place]).collect();
    Some(((0..first.len()).map(place).collect(), ordered))
}

/// The call that all runs make at a place: what stays of its arguments, and that it succeeds, where all
/// tell.
fn agreed_call(calls: &[&Write<'_>]) -> Expected {
    let first = calls[0];
    let mut expected = ExpectedCall::new(&first.call.name, argument_shape(calls));
    let all_tell = calls.iter().all(|write| write.failed == Some(false));
    expected.is_error = all_tell.then_some(false);
    expected
}

/// The calls that all runs make, in their order: by what stays of their arguments, or by their names where
/// that finds more.
fn common_calls(all: &[Vec<Write<'_>>]) -> Vec<Expected> {
    let in_all = |of: &dyn Fn(&Write<'_>) -> String| {
        let lists = all.iter().map(|calls| calls.iter().map(of).collect());
        let shared = lists.reduce(|shared: Vec<String>, other| longest_common(&shared, &other));
        shared.unwrap_or_default()
    };
    let key = |write: &Write<'_>| write.key.clone();
    let name = |write: &Write<'_>| write.call.name.clone();
    let (by_key, by_name) = (in_all(&key), in_all(&name));
    let (wanted, of): (_, &dyn Fn(&Write<'_>) -> String) = if by_key.len() < by_name.len() {
        (by_name, &name)
    } else {
        (by_key, &key)
    };
    let mut rest: Vec<_> = all.iter().map(|calls| calls.iter()).collect();
    let each = wanted.iter().map(|wanted| {
        let of_runs = rest.iter_mut();
        let calls = of_runs.filter_map(|calls| calls.find(|write| of(write) == *wanted));
        agreed_call(&calls.collect::<Vec<_>>())
    });
    each.collect()
}

/// Every call that some run makes, as often as the run that makes it most.
fn all_calls<'s, 'a>(runs: &'s [Vec<Write<'a>>]) -> impl Iterator<Item = &'s Write<'a>> {
    let mut union: Vec<&Write<'_>> = Vec::new();
    let mut most: HashMap<&str, usize> = HashMap::new();
    for calls in runs {
        let mut of_run: HashMap<&str, usize> = HashMap::new();
        for write in calls {
            let of_run = of_run.entry(&write.key).or_default();
            let most = most.entry(&write.key).or_default();
            *of_run += 1;
            if *of_run > *most {
                *most += 1;
                union.push(write);
            }
        }
    }
    union.into_iter()
}

/// Calls by what they have in common with the same call of another run, in their order.
fn group_by_key<'s, 'a>(calls: &'s [Write<'a>]) -> HashMap<&'s str, VecDeque<&'s Write<'a>>> {
    let mut by_key: HashMap<&str, VecDeque<&Write<'_>>> = HashMap::new();
    for write in calls {
        by_key.entry(&write.key).or_default().push_back(write);
    }
    by_key
}
