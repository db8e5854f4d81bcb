//! The `trajectory` gate: the right calls, with the right arguments, in the right order.

use std::sync::Arc;

use mcptest_suite::gates::{ArgumentShape, MatchMode, Trajectory};
use mcptest_suite::model::{Agent, GateKind, GateOptions};
use serde_json::{Value, json};

use super::{Breach, Cause, Input, PerRun, Scored, Threshold};
use crate::check::{Compiler, difference};
use crate::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, Schema, TrajectoryReport, validate_trace,
};
use crate::render::{Evidence, cut, short_json, shorten};
use crate::trace::{Run, canonical_json};

/// The compiled schema of each expected call that has one.
pub(crate) type Shapes = Vec<Option<Arc<Schema>>>;

/// Compiles the schemas of an agent's expected calls; problems are noted by the compiler.
pub(super) fn compile_shapes(agent: &Agent, compiler: &mut Compiler) -> Shapes {
    let Some(GateOptions::Trajectory(gate)) =
        agent.gate(GateKind::Trajectory).map(|gate| &gate.options)
    else {
        return Shapes::new();
    };
    let shapes = gate.calls.iter().map(|call| match &call.args {
        ArgumentShape::Schema(schema) => compiler.schema(schema),
        _ => None,
    });
    shapes.collect()
}

impl PerRun for Trajectory {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 1] = [Threshold::at_least("trajectory.passed", 1.0)];
        &DEFAULT
    }

    fn score(&self, input: &Input<'_>, run: &Run) -> Scored {
        match validate_trace(&run.trace, &plan(self, input)) {
            Ok(report) => Scored::of(report.metrics()),
            // Refused when the suite loaded; never a pass.
            Err(malformed) => Scored {
                metrics: json!({}),
                breaches: vec![Breach::new(
                    Cause::Option(malformed.to_string()),
                    "nothing to compare with",
                )],
                not_judged: true,
            },
        }
    }

    fn explain(&self, input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        let plan = plan(self, input);
        let Ok(report) = validate_trace(&run.trace, &plan) else {
            return Vec::new();
        };
        let diff = side_by_side(self, run, &report);
        let mut reasons = Vec::new();
        for mismatch in &report.mismatches {
            reasons.push(format!("- {}", mismatch.reason));
            for diff in &mismatch.arg_diffs {
                let line = match diff.expected.as_ref().and_then(|value| value.get("schema")) {
                    Some(Value::String(violation)) => violation.clone(),
                    _ => difference(diff),
                };
                reasons.push(format!("    {line}"));
            }
        }
        vec![Evidence::Text(diff), Evidence::Text(shorten(&reasons))]
    }
}

fn plan(gate: &Trajectory, input: &Input<'_>) -> ExpectedTrace<Arc<Schema>> {
    let compiled = input.checks.shapes.iter().chain(std::iter::repeat(&None));
    let calls = gate
        .calls
        .iter()
        .zip(compiled)
        .map(|(call, schema)| ExpectedCall {
            name: call.name.value.clone(),
            args: match (&call.args, schema) {
                (ArgumentShape::Ignore, _) => ArgsShape::Ignore,
                (ArgumentShape::Exact(value), _) => ArgsShape::Exact(value.clone()),
                (ArgumentShape::Subset(value), _) => ArgsShape::Subset(value.clone()),
                // A schema that did not compile was refused when the suite loaded.
                (ArgumentShape::Schema(_), Some(schema)) => ArgsShape::Schema(Arc::clone(schema)),
                (ArgumentShape::Any | ArgumentShape::Schema(_), _) => ArgsShape::Any,
            },
            is_error: call.is_error,
        });
    ExpectedTrace {
        mode: gate.mode,
        calls: calls.collect(),
        parallel_unordered: gate.parallel_unordered,
    }
}

/// The expected plan against the recorded calls as a diff: `-` was expected and is missing, `+` was
/// called and is not allowed, `·` was called and may be; the first divergence is marked.
fn side_by_side(gate: &Trajectory, run: &Run, report: &TrajectoryReport) -> String {
    let surplus_allowed = !matches!(gate.mode, MatchMode::Strict | MatchMode::Subset);
    let missing_allowed = gate.mode == MatchMode::Subset;
    let mut marked = false;
    let mut lines = vec![format!(
        "--- expected ({})\n+++ recorded",
        gate.mode.as_str()
    )];
    for (expected, recorded) in &report.alignment {
        let (sign, text) = match (expected, recorded) {
            (Some(_), Some(recorded)) => (' ', recorded_call(run, *recorded)),
            (Some(expected), None) if missing_allowed => ('·', expected_call(gate, *expected)),
            (Some(expected), None) => ('-', expected_call(gate, *expected)),
            (None, Some(recorded)) if surplus_allowed => ('·', recorded_call(run, *recorded)),
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
    shorten(&lines)
}

fn expected_call(gate: &Trajectory, index: usize) -> String {
    let call = &gate.calls[index];
    let args = match &call.args {
        ArgumentShape::Any | ArgumentShape::Ignore => String::new(),
        ArgumentShape::Exact(value) => format!(" exactly {}", short_json(value)),
        ArgumentShape::Subset(value) => format!(" with {}", short_json(value)),
        ArgumentShape::Schema(schema) => format!(" valid against {}", short_json(&schema.value)),
    };
    let result = match call.is_error {
        Some(true) => " (an error)",
        Some(false) => " (no error)",
        None => "",
    };
    format!("{}{args}{result}", call.name.value)
}

fn recorded_call(run: &Run, index: usize) -> String {
    let call = &run.trace.tool_calls[index];
    let args = if call.args.is_null() {
        String::new()
    } else {
        format!(" {}", canonical_json(&call.args))
    };
    cut(&format!("{}{args}", call.name), 140)
}
