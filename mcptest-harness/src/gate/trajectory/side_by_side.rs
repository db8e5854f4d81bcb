//! A plan beside the calls that were made.

use std::collections::BTreeSet;

use super::{Plan, allows_no_surplus};
use crate::eval::{ArgsShape, MatchMode, Over, TrajectoryReport};
use crate::trace::{Run, canonical_json};
use mcptest_trace::text::{escape_outer_spaces, short_json, shorten, truncate_lines};

/// The expected plan against the recorded calls as a diff: `-` was expected and is missing, `+` was
/// called and is not allowed, `·` was called and may be; the first divergence is marked.
pub(super) fn side_by_side(plan: &Plan, run: &Run, report: &TrajectoryReport) -> String {
    let surplus_allowed = !allows_no_surplus(plan.mode);
    let surplus = report.mismatches.iter();
    let surplus = surplus.filter(|mismatch| mismatch.expected_index.is_none());
    let surplus: BTreeSet<usize> = surplus.filter_map(|it| it.recorded_index).collect();
    let may_be_made = |call: usize| surplus_allowed && !surplus.contains(&call);
    let missing_allowed = plan.mode == MatchMode::Subset;
    let mut marked = false;
    let plan_is = match (plan.calls.is_empty(), plan.over) {
        (true, Over::Calls) => String::new(),
        (true, _) => " (no state-changing call)".to_owned(),
        (false, Over::Calls) => format!(" ({})", plan.mode.as_str()),
        (false, over) => format!(" ({}, over {})", plan.mode.as_str(), over.as_str()),
    };
    let mut lines = vec![format!("--- expected{plan_is}\n+++ recorded")];
    for (expected, recorded) in &report.alignment {
        let (sign, text) = match (expected, recorded) {
            (Some(_), Some(recorded)) => (' ', recorded_call(run, *recorded)),
            (Some(expected), None) if missing_allowed => ('·', expected_call(plan, *expected)),
            (Some(expected), None) => ('-', expected_call(plan, *expected)),
            (None, Some(recorded)) if may_be_made(*recorded) => {
                ('·', recorded_call(run, *recorded))
            }
            (None, Some(recorded)) => ('+', recorded_call(run, *recorded)),
            (None, None) => continue,
        };
        let mark = if matches!(sign, '-' | '+') && !marked {
            "   <- first divergence"
        } else {
            ""
        };
        marked |= !mark.is_empty();
        lines.push(format!("{sign} {text}{mark}"));
    }
    truncate_lines(&lines)
}

fn expected_call(plan: &Plan, index: usize) -> String {
    let call = &plan.calls[index];
    let args = match &call.args {
        ArgsShape::Exact(value) => format!(" exactly {}", short_json(value)),
        ArgsShape::Subset(value) => format!(" with {}", short_json(value)),
        ArgsShape::Contains(value) => format!(" containing {}", short_json(value)),
        ArgsShape::Schema(schema) => format!(" valid against {}", short_json(schema.value())),
        _ => String::new(),
    };
    let result = match call.is_error {
        Some(true) => " (an error)",
        Some(false) => " (no error)",
        None => "",
    };
    let server = call.server.as_ref().map(|server| format!(" of `{server}`"));
    let (name, server) = (escape_outer_spaces(&call.name), server.unwrap_or_default());
    format!("{name}{server}{args}{result}")
}

fn recorded_call(run: &Run, index: usize) -> String {
    let call = &run.trace.tool_calls[index];
    let args = if call.args.is_null() {
        String::new()
    } else {
        format!(" {}", canonical_json(&call.args))
    };
    shorten(&format!("{}{args}", escape_outer_spaces(&call.name)), 140)
}
