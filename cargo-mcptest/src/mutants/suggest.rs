//! A plan of the state-changing calls, made from the passing runs.

use mcptest::trace::{ReadOnlyTools, Run};

use super::judging::{Bench, TestedAgent};
use crate::outcome;

/// What a run changes: each call with its arguments, and whether it failed.
type Writes = Vec<(String, String, Option<bool>)>;

/// The plan of an agent that changes nothing.
const NOTHING: &str = "trajectory: { over: writes, mode: strict, calls: [] }\n";

/// A block for each agent whose passing runs change the same things, to paste below it.
pub(super) fn plans(bench: &Bench<'_>) -> String {
    let mut text = "plans of the state-changing calls, from the passing runs:\n".to_owned();
    for tested in &bench.agents {
        let passing = tested
            .runs
            .iter()
            .filter(|run| outcome::recorded_outcome(run) != Some(false));
        let writes: Vec<Writes> = passing.map(|run| writes(tested, run)).collect();
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
            [first, ..] if first.is_empty() => format!("\n# {case}: {agree}: nothing changes\n{NOTHING}"),
            [first, ..] => format!("\n# {case}: {agree}\n{}", plan(first)),
        });
    }
    text
}

/// The tools that only read, as a plan of writes has it: by what the runs and the agent's gates say.
fn read_only(tested: &TestedAgent<'_>, runs: &[Run]) -> ReadOnlyTools {
    let [mutating, readonly] = tested.test.tool_lists();
    let offered = runs.iter().flat_map(|run| run.tools.iter().flatten());
    ReadOnlyTools::new(offered, mutating, readonly)
}

fn writes(tested: &TestedAgent<'_>, run: &Run) -> Writes {
    let read_only = read_only(tested, std::slice::from_ref(run));
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let writes = calls.filter(|(call, _)| !read_only.is_read_only(&call.name));
    writes
        .map(|(call, result)| {
            (
                call.name.clone(),
                call.arguments_json(),
                result.map(|result| result.is_error),
            )
        })
        .collect()
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
