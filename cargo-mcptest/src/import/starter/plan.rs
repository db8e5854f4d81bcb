//! The plan of what an agent changes.

use std::collections::BTreeMap;

use mcptest::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, KnownTools, MatchMode, Over, Schema, ToolPattern,
    validate_trace_with,
};
use mcptest::trace::{Run, ToolCall, canonical_json};
use serde_json::{Value, json};

use super::order::of_one_step;
use super::recipe::{Gate, flow};
use super::{common, quoted};

/// The most arguments of a call that are told apart.
const VARIANTS: usize = 4;

/// A call of a plan.
type Expected = ExpectedCall<Schema>;

/// A call that changes something, with whether its result is an error.
type Write<'a> = (&'a ToolCall, Option<bool>);

/// The calls of a run that change something, each with whether its result is an error.
fn writes(run: &Run) -> Vec<Write<'_>> {
    let reads = run.read_only_tools();
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let writes = calls.filter(|(call, _)| !reads.reads(&call.name));
    writes
        .map(|(call, result)| {
            (
                call,
                result
                    .filter(|result| result.error_known)
                    .map(|result| result.is_error),
            )
        })
        .collect()
}

/// How the writes of runs line up with what is expected of all: strict where the runs agree; else what they
/// share in their order; where they share nothing, no more than they do. What was asked for at once has no
/// order.
fn lined_up(good: &[&Run], all: &[Vec<Write<'_>>]) -> Option<(MatchMode, Vec<Expected>)> {
    let first = all.first()?;
    let together = good.iter().any(|run| changes_at_once(run));
    if all.iter().all(|calls| names(calls) == names(first)) {
        let at = |place: usize| all.iter().map(|calls| calls[place]).collect::<Vec<_>>();
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
pub(super) fn most_calls(good: &[&Run]) -> BTreeMap<String, usize> {
    let all: Vec<Vec<Write<'_>>> = good.iter().map(|run| writes(run)).collect();
    let Some((mode, calls)) = lined_up(good, &all) else {
        return BTreeMap::new();
    };
    let count = |calls: &[Write<'_>], name: &str| {
        calls.iter().filter(|(call, _)| call.name == name).count()
    };
    let mut most = BTreeMap::new();
    for (call, _) in all.iter().flatten() {
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
pub(super) fn trajectory<'a>(good: &[&'a Run], tools: &KnownTools) -> Option<Gate<'a>> {
    let all: Vec<Vec<Write<'_>>> = good.iter().map(|run| writes(run)).collect();
    let (mode, calls) = lined_up(good, &all)?;
    if calls.is_empty() {
        return nothing_changes(tools);
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
        let called = |name: &&str| all.iter().flatten().any(|(call, _)| call.name == *name);
        let unused = changing(tools).filter(|name| !name.contains('*') && !called(name));
        plan.forbid = unused.map(ToolPattern::new).collect();
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
    calls.iter().map(|(call, _)| call.name.clone()).collect()
}

/// The call that all runs make at a place: its arguments, or the few that there were, and whether it
/// fails, where all agree.
fn agreed(calls: &[Write<'_>]) -> Expected {
    let (first, failed) = calls[0];
    let mut seen: Vec<&Value> = Vec::new();
    for (call, _) in calls {
        if !seen.contains(&&call.args) {
            seen.push(&call.args);
        }
    }
    let args = match seen.as_slice() {
        seen if !seen.iter().all(|args| args.is_object()) => ArgsShape::Any,
        [args] => ArgsShape::Exact((*args).clone()),
        seen if seen.len() <= VARIANTS => ArgsShape::Schema(Schema::new(json!({ "enum": seen }))),
        _ => ArgsShape::Any,
    };
    let mut expected = ExpectedCall::new(&first.name, args);
    expected.is_error = failed.filter(|_| calls.iter().all(|(_, other)| *other == failed));
    expected
}

/// The calls that all runs make with the same arguments, in their order; where there are none, the names
/// that they share.
fn shared(all: &[Vec<Write<'_>>]) -> Vec<Expected> {
    let whole = |calls: &Vec<Write<'_>>| -> Vec<String> {
        calls
            .iter()
            .map(|(call, _)| format!("{} {}", call.name, canonical_json(&call.args)))
            .collect()
    };
    let in_all = |lists: Vec<Vec<String>>| {
        lists
            .into_iter()
            .reduce(|shared, other| common(&shared, &other))
            .unwrap_or_default()
    };
    let same = in_all(all.iter().map(whole).collect());
    let of = |key: &String| {
        let calls: Vec<Write<'_>> = all
            .iter()
            .filter_map(|calls| {
                let place = whole(calls).iter().position(|other| other == key)?;
                Some(calls[place])
            })
            .collect();
        agreed(&calls)
    };
    if !same.is_empty() {
        return same.iter().map(of).collect();
    }
    let names = in_all(all.iter().map(|calls| names(calls)).collect());
    names
        .into_iter()
        .map(|name| ExpectedCall::new(name, ArgsShape::Any))
        .collect()
}

/// Every call that some run makes, as often as the run that makes it most.
fn seen(all: &[Vec<Write<'_>>]) -> Vec<Expected> {
    let mut union: Vec<Write<'_>> = Vec::new();
    for calls in all {
        let mut left = union.clone();
        for write in calls {
            match left
                .iter()
                .position(|(call, _)| call.name == write.0.name && call.args == write.0.args)
            {
                Some(place) => _ = left.remove(place),
                None => union.push(*write),
            }
        }
    }
    union.into_iter().map(|write| agreed(&[write])).collect()
}

/// The known tools that change something, by their names.
fn changing(tools: &KnownTools) -> impl Iterator<Item = &str> {
    let names = tools.names();
    names.filter(|name| !mcptest_trace::trace::reads_by_name(name))
}

/// No tool that changes something, of those that are known.
fn nothing_changes<'a>(tools: &KnownTools) -> Option<Gate<'a>> {
    let writing: Vec<&str> = changing(tools).collect();
    let is_name = |name: &&str| !name.contains('*');
    if writing.is_empty() || !writing.iter().all(is_name) {
        return None;
    }
    let names: Vec<String> = writing.iter().map(|name| quoted(name)).collect();
    let text = format!("    trajectory:\n      forbid: [{}]\n", names.join(", "));
    let mut plan = ExpectedTrace::new(MatchMode::Subsequence, Vec::new());
    plan.forbid = writing.into_iter().map(ToolPattern::new).collect();
    Some(plan_gate(text, plan))
}
