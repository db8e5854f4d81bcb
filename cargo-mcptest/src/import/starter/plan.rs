//! The plan of what an agent changes.

use std::collections::BTreeMap;

use mcptest::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, MatchMode, Over, Schema, ToolPattern,
    validate_trace_with,
};
use mcptest::trace::Run;

use super::gate::Gate;
use super::order::of_one_step;
use super::shape::shape;
use super::text::{common, flow, quoted};
use super::writes::Write;

/// A call of a plan.
type Expected = ExpectedCall<Schema>;

/// How the writes of runs line up with what is expected of all: strict where the runs agree; else what they
/// share in their order; where they share nothing, no more than they do. What was asked for at once has no
/// order.
fn lined_up(good: &[&Run], all: &[Vec<Write<'_>>]) -> Option<(MatchMode, Vec<Expected>)> {
    let first = all.first()?;
    let together = good.iter().any(|run| changes_at_once(run));
    if all.iter().all(|calls| names(calls) == names(first)) {
        let at = |place: usize| all.iter().map(|calls| &calls[place]).collect::<Vec<_>>();
        let mode = if together {
            MatchMode::ExactUnordered
        } else {
            MatchMode::Strict
        };
        let calls = (0..first.len()).map(|place| agreed(&at(place)));
        return Some((mode, calls.collect()));
    }
    Some(match shared(all) {
        shared if shared.is_empty() => (MatchMode::Subset, seen(all)),
        shared if together => (MatchMode::Superset, shared),
        shared => (MatchMode::Subsequence, shared),
    })
}

/// The most calls of each write that a good run makes, where the plan would let a run make more.
pub(super) fn most_calls(good: &[&Run], all: &[Vec<Write<'_>>]) -> BTreeMap<String, usize> {
    let Some((mode, calls)) = lined_up(good, all) else {
        return BTreeMap::new();
    };
    let count = |calls: &[Write<'_>], name: &str| {
        calls.iter().filter(|write| write.call.name == name).count()
    };
    let mut most = BTreeMap::new();
    for Write { call, .. } in all.iter().flatten() {
        let of_runs = all.iter().map(|calls| count(calls, &call.name));
        most.insert(call.name.clone(), of_runs.max().unwrap_or_default());
    }
    most.retain(|name, most| {
        let planned = calls.iter().filter(|call| call.name == *name).count();
        match mode {
            MatchMode::Subsequence | MatchMode::Superset => true,
            _ => planned > *most,
        }
    });
    most
}

/// The plan of what is changed.
pub(super) fn trajectory<'a>(
    good: &[&Run],
    all: &[Vec<Write<'_>>],
    changing: &[&str],
) -> Option<Gate<'a>> {
    let (mode, calls) = lined_up(good, all)?;
    if calls.is_empty() {
        return nothing_changes(changing);
    }
    let mut text = format!(
        "    trajectory:\n      over: writes\n      mode: {}\n      calls:\n",
        mode.as_str()
    );
    text.extend(calls.iter().map(line));
    let mut plan = ExpectedTrace::new(mode, calls);
    plan.over = Over::Writes;
    // What is left open is not left to tools that no good run needed.
    if matches!(mode, MatchMode::Subsequence | MatchMode::Superset) {
        let called = |name: &&str| all.iter().flatten().any(|write| write.call.name == *name);
        let unused = changing
            .iter()
            .filter(|name| !name.contains('*') && !called(name));
        plan.forbid = unused.map(|name| ToolPattern::new(*name)).collect();
    }
    if !plan.forbid.is_empty() {
        let names = plan.forbid.iter().map(|tool| quoted(tool.as_str()));
        let names = names.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("      forbid: [{names}]\n"));
    }
    Some(plan_gate(text, plan))
}

/// Whether a run asks for two changes in one message, one right after the other.
fn changes_at_once(run: &Run) -> bool {
    let reads = run.read_only_tools();
    run.trace.tool_calls.windows(2).any(|calls| {
        of_one_step(&calls[0], &calls[1]) && calls.iter().all(|call| !reads.reads(&call.name))
    })
}

fn line(call: &Expected) -> String {
    let args = match &call.args {
        ArgsShape::Exact(args) => format!(", args: {{ exact: {} }}", flow(args)),
        ArgsShape::Schema(schema) => format!(", args: {{ schema: {} }}", flow(schema.value())),
        _ => String::new(),
    };
    let is_error = call
        .is_error
        .map_or_else(String::new, |is_error| format!(", is_error: {is_error}"));
    format!(
        "        - {{ name: {}{args}{is_error} }}\n",
        quoted(&call.name)
    )
}

fn plan_gate<'a>(text: String, plan: ExpectedTrace<Schema>) -> Gate<'a> {
    Gate {
        name: "trajectory",
        text,
        holds: Box::new(move |run| {
            validate_trace_with(&run.trace, &plan, &run.read_only_tools())
                .is_ok_and(|report| report.passed)
        }),
    }
}

fn names(calls: &[Write<'_>]) -> Vec<String> {
    calls.iter().map(|write| write.call.name.clone()).collect()
}

/// The call that all runs make at a place: what stays of its arguments, and whether it fails, where all
/// agree.
fn agreed(calls: &[&Write<'_>]) -> Expected {
    let first = calls[0];
    let mut expected = ExpectedCall::new(&first.call.name, shape(calls));
    let agree = calls.iter().all(|write| write.failed == first.failed);
    expected.is_error = first.failed.filter(|_| agree);
    expected
}

/// The calls that all runs make, in their order: by what stays of their arguments, or by their names where
/// that finds more.
fn shared(all: &[Vec<Write<'_>>]) -> Vec<Expected> {
    let in_all = |of: &dyn Fn(&Write<'_>) -> String| {
        let lists = all.iter().map(|calls| calls.iter().map(of).collect());
        let shared = lists.reduce(|shared: Vec<String>, other| common(&shared, &other));
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
        agreed(&calls.collect::<Vec<_>>())
    });
    each.collect()
}

/// Every call that some run makes, as often as the run that makes it most.
fn seen(all: &[Vec<Write<'_>>]) -> Vec<Expected> {
    let mut union: Vec<&Write<'_>> = Vec::new();
    for calls in all {
        let mut left = union.clone();
        for write in calls {
            match left.iter().position(|other| other.key == write.key) {
                Some(place) => _ = left.remove(place),
                None => union.push(write),
            }
        }
    }
    union.into_iter().map(|write| agreed(&[write])).collect()
}

/// No tool that changes something, of those that are known.
fn nothing_changes<'a>(changing: &[&str]) -> Option<Gate<'a>> {
    if changing.is_empty() || changing.iter().any(|name| name.contains('*')) {
        return None;
    }
    let names: Vec<String> = changing.iter().map(|name| quoted(name)).collect();
    let text = format!("    trajectory:\n      forbid: [{}]\n", names.join(", "));
    let mut plan = ExpectedTrace::new(MatchMode::Subsequence, Vec::new());
    plan.forbid = changing
        .iter()
        .map(|name| ToolPattern::new(*name))
        .collect();
    Some(plan_gate(text, plan))
}
