//! A plan of the state-changing calls, made from the passing runs.

use mcptest::eval::KnownTools;
use mcptest::trace::{Run, canonical_json};
use mcptest_trace::trace::reads_by_name;

use super::judging::Bench;
use crate::outcome;

/// What a run changes: each call with its arguments, and whether it failed.
type Writes = Vec<(String, String, Option<bool>)>;

/// A block for each agent whose passing runs change the same things, to paste below it.
pub(super) fn plans(bench: &Bench<'_>) -> String {
    let mut text = "plans of the state-changing calls, from the passing runs:\n".to_owned();
    for tested in &bench.agents {
        let passing = tested
            .runs
            .iter()
            .filter(|run| outcome::recorded(run) != Some(false));
        let writes: Vec<Writes> = passing.map(writes).collect();
        let case = tested.test.case();
        let agree = match writes.len() {
            1 => "of the one passing run".to_owned(),
            many => format!("{many} passing runs agree"),
        };
        text.push_str(&match writes.as_slice() {
            [] => format!("\n# {case}: no run passes\n"),
            [first, rest @ ..] if rest.iter().any(|other| other != first) => {
                format!("\n# {case}: its passing runs change different things; a plan of one would fail the others\n")
            }
            [first, ..] if first.is_empty() => format!("\n# {case}: {agree}: nothing changes\n{}", forbidden(tested.runs)),
            [first, ..] => format!("\n# {case}: {agree}\n{}", plan(first)),
        });
    }
    text
}

fn writes(run: &Run) -> Writes {
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let writes = calls.filter(|(call, _)| !reads_by_name(&call.name));
    writes
        .map(|(call, result)| {
            let arguments = if call.args.is_null() {
                "{}".to_owned()
            } else {
                canonical_json(&call.args)
            };
            (
                call.name.clone(),
                arguments,
                result.map(|result| result.is_error),
            )
        })
        .collect()
}

/// No tool that changes something, of those that the runs know.
fn forbidden(runs: &[Run]) -> String {
    let known = KnownTools::of_runs(runs);
    let writing: Vec<&str> = known.names().filter(|name| !reads_by_name(name)).collect();
    if writing.is_empty() {
        return "# and no tool that could change something is known\n".to_owned();
    }
    format!(
        "trajectory: {{ forbid: {} }}\n",
        serde_json::Value::from(writing)
    )
}

fn plan(writes: &Writes) -> String {
    let mut text = "trajectory:\n  over: writes\n  mode: strict\n  calls:\n".to_owned();
    for (name, arguments, is_error) in writes {
        let failed =
            is_error.map_or_else(String::new, |is_error| format!(", is_error: {is_error}"));
        // JSON is YAML; a variable in it must stay text.
        let arguments = arguments.replace("${", "$${");
        let name = serde_json::Value::from(name.as_str());
        text.push_str(&format!(
            "    - {{ name: {name}, args: {{ exact: {arguments} }}{failed} }}\n"
        ));
    }
    text
}
