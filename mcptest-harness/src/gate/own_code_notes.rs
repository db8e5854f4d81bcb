//! Notes on what the agent's own code did with calls of its tools, where a gate judges what the model asked.

use mcptest_suite::model::GateKind;

use super::missing_data::runs_phrase;
use super::some_runs::run_places;
use crate::eval::changed_by_code;
use crate::trace::{Run, ToolCall};
use mcptest_trace::text::short_json;

/// Whether a gate judges the arguments of calls.
pub(super) fn judges_arguments(kind: GateKind) -> bool {
    matches!(
        kind,
        GateKind::Trajectory | GateKind::TrajectoryAxes | GateKind::Flow | GateKind::Narrative
    )
}

/// Says in which runs the code called a tool with something else than the model asked.
pub(crate) fn note_other_arguments(runs: &[Run]) -> Option<String> {
    let differs = |call: &ToolCall| changed_by_code(call).into_iter().next();
    let calls = |run: &Run| {
        run.trace
            .tool_calls
            .iter()
            .filter(|call| differs(call).is_some())
            .count()
    };
    let differing = run_places(runs, |run| calls(run) > 0);
    let first = runs.get(*differing.first()?)?;
    let mut all = first.trace.tool_calls.iter().enumerate();
    let (place, call, diff) = all.find_map(|(place, call)| Some((place, call, differs(call)?)))?;
    let shown = |value: &Option<serde_json::Value>| {
        value
            .as_ref()
            .map_or_else(|| "nothing".to_owned(), short_json)
    };
    Some(format!(
        "the code called a tool with something else than the model asked, in {}: in `tool_calls[{place}]` of run {}, `{}` of `{}` is {}, \
         and the model asked for {}; the model's arguments are judged",
        runs_phrase(&differing, runs),
        differing.first()? + 1,
        diff.path,
        call.name,
        shown(&diff.recorded),
        shown(&diff.expected),
    ))
}

/// Says how often the code tried calls, where it tried some more than once.
pub(crate) fn note_attempts(runs: &[Run]) -> Option<String> {
    let tried = |call: &ToolCall| call.own.as_ref().map_or(0, |own| own.attempts.len());
    let is_tried = |call: &&ToolCall| tried(call) > 1;
    let trying = run_places(runs, |run| {
        run.trace.tool_calls.iter().any(|call| is_tried(&call))
    });
    trying.first()?;
    let calls = runs
        .iter()
        .flat_map(|run| &run.trace.tool_calls)
        .filter(is_tried);
    let (calls, ran) = calls.fold((0, 0), |(calls, ran), call| (calls + 1, ran + tried(call)));
    let calls = if calls == 1 {
        "a call".to_owned()
    } else {
        format!("{calls} calls")
    };
    let twice = runs.iter().flat_map(|run| &run.trace.tool_calls);
    let twice = twice.filter(|call| {
        let attempts = call.own.iter().flat_map(|own| &own.attempts);
        attempts.filter(|attempt| attempt.result.is_some()).count() > 1
    });
    let twice = match twice.map(|call| &call.name).next() {
        Some(tool) => format!("; `{tool}` ran to its end more than once for one call of the model"),
        None => String::new(),
    };
    Some(format!(
        "the code made {ran} attempts at {calls} in {}; each of these calls counts as one, with the result of its last attempt{twice}",
        runs_phrase(&trying, runs)
    ))
}

/// Says which runs, recorded by a session, have no call but that of an output tool, were offered no other tools, and told
/// the session of none.
pub(crate) fn note_text_agents(runs: &[Run]) -> Option<String> {
    let silent = run_places(runs, |run| {
        run.own_tools.is_known
            && run.own_tools.calls.is_empty()
            && (run.trace.tool_calls.is_empty() && run.tools.as_ref().is_none_or(Vec::is_empty)
                || only_ends_by_a_call(run))
    });
    silent.first()?;
    if silent
        .iter()
        .any(|place| only_ends_by_a_call(&runs[*place]))
    {
        return Some(format!(
            "no call but the one that ends the run is recorded in {}: the model was offered no other tools, and no tool told the session \
             of a call. The agent may act in text; docs/own-tools.md says what to do",
            runs_phrase(&silent, runs)
        ));
    }
    Some(format!(
        "no call is recorded in {}: the model was offered no tools, and no tool told the session of a call. The agent may act in \
         text; docs/own-tools.md says what to do",
        runs_phrase(&silent, runs)
    ))
}

/// Whether a run has one call, of the only tool that was offered, and this call has no result: it ended the run.
fn only_ends_by_a_call(run: &Run) -> bool {
    let (Some([tool]), [call]) = (run.tools.as_deref(), run.trace.tool_calls.as_slice()) else {
        return false;
    };
    tool.name == call.name && run.trace.tool_results.is_empty() && !run.trace.truncated()
}
