//! The run that the agent's own code made of a recording, beside the recorded one.

use mcptest::result::{CaseResult, DivergenceFacts, PlayedCall, PlayedFacts};
use mcptest_trace::trace::{Run, canonical_json};
use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::value::{display_value, unwrap_result};

/// A played run that is not as recorded.
#[derive(Debug, Serialize)]
pub(super) struct PlayedView {
    /// How the code ended, where it did not end well.
    ended: Option<String>,
    exit_status: i64,
    model_calls: u64,
    divergences: Vec<DivergenceView>,
    turned: Vec<String>,
    calls: Vec<PlayedCallView>,
    /// The places of the recorded calls that the code does not make.
    unmade: Vec<usize>,
    closing: Option<String>,
    /// Whether the closing is another one than the recorded one.
    closing_differs: bool,
    stderr: Vec<String>,
}

/// A difference.
#[derive(Debug, Serialize)]
struct DivergenceView {
    message: String,
    path: String,
    /// Where in the run: `model call 2 of 3`.
    place: String,
    recorded: Option<String>,
    played: Option<String>,
}

/// A call of a played run.
#[derive(Debug, Serialize)]
struct PlayedCallView {
    name: String,
    server: String,
    args: String,
    result: Option<String>,
    error: bool,
    /// What is not as recorded, in words.
    differs: Option<&'static str>,
}

/// The played run of a recorded one, where it is not as recorded.
pub(super) fn played_view(results: &[&CaseResult], number: usize, run: &Run) -> Option<PlayedView> {
    let mut facts = results.iter().flat_map(|result| &result.played);
    let facts = facts.find(|facts| facts.run == number + 1)?;
    let holds = facts.divergences.is_empty() && facts.turned.is_empty() && facts.exit_status == 0;
    (!holds).then(|| build_view(facts, run))
}

fn build_view(facts: &PlayedFacts, run: &Run) -> PlayedView {
    let recorded = &run.trace.tool_calls;
    let key = |name: &str, args: &Value| format!("{name} {}", canonical_json(args));
    let old: Vec<String> = recorded
        .iter()
        .map(|call| key(&call.name, &call.args))
        .collect();
    let new: Vec<String> = facts
        .calls
        .iter()
        .map(|call| key(&call.name, &call.args))
        .collect();
    let results = run.trace.results_by_call();
    let mut calls: Vec<PlayedCallView> = facts.calls.iter().map(call_view).collect();
    let mut unmade = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        for change in operation.iter_changes(&old, &new) {
            match (change.tag(), change.old_index(), change.new_index()) {
                (ChangeTag::Delete, Some(place), _) => unmade.push(place),
                (ChangeTag::Insert, _, Some(place)) => {
                    calls[place].differs = Some("differs from the recording");
                }
                (ChangeTag::Equal, Some(recorded), Some(place)) => {
                    let known = results[recorded]
                        .map(|it| (display_value(&unwrap_result(&it.result)), it.is_error));
                    let known = known.as_ref();
                    let now = &mut calls[place];
                    let is_same = known.map(|(text, _)| text) == now.result.as_ref()
                        && known.is_none_or(|(_, error)| *error == now.error);
                    if !is_same {
                        now.differs = Some("another result");
                    }
                }
                _ => {}
            }
        }
    }
    let recorded_closing = run.trace.final_response.as_deref();
    PlayedView {
        ended: facts.ended.clone(),
        exit_status: facts.exit_status,
        model_calls: facts.model_calls,
        divergences: facts.divergences.iter().map(divergence_view).collect(),
        turned: facts.turned.clone(),
        calls,
        unmade,
        closing_differs: recorded_closing.filter(|text| !text.is_empty())
            != facts.closing.as_deref(),
        closing: facts.closing.clone(),
        stderr: facts.stderr.clone(),
    }
}

fn call_view(call: &PlayedCall) -> PlayedCallView {
    PlayedCallView {
        name: call.name.clone(),
        server: call.server.clone(),
        args: display_value(&call.args),
        result: call
            .result
            .as_ref()
            .map(|result| display_value(&unwrap_result(result))),
        error: call.is_error,
        differs: None,
    }
}

fn divergence_view(one: &DivergenceFacts) -> DivergenceView {
    let place = match (one.call, &one.conversation) {
        (0, _) => "before the first model call".to_owned(),
        (call, None) => format!("model call {call} of {}", one.of),
        (call, Some(name)) => format!("model call {call} of {} of {name}", one.of),
    };
    DivergenceView {
        message: one.message.clone(),
        path: one.path.clone(),
        place,
        recorded: one.recorded.as_ref().map(display_value),
        played: one.played.as_ref().map(display_value),
    }
}
