//! Caps that the suite states, against what the recorded runs took.

use mcptest_suite::model::Agent;
use mcptest_suite::{Diagnostic, Spanned};

use crate::gate::{runs_note, scope};
use crate::render::{Finding, thousands};
use crate::trace::{Run, Trace};

/// A cap: its key, its unit, what the suite states, what a run took (nothing where that was not
/// recorded), and where it would be recorded.
struct Cap<'a> {
    key: &'a str,
    unit: &'a str,
    stated: Option<&'a Spanned<u64>>,
    taken: fn(&Trace) -> Option<u64>,
    recorded_in: &'a str,
}

/// Caps that the suite states and a recorded run exceeds, or that nothing recorded can be held
/// against. Reaching a cap is not exceeding it.
pub(crate) fn exceeded_caps(agent: &Agent, runs: &[Run]) -> Vec<Finding> {
    let caps = [
        Cap {
            key: "max_turns",
            unit: "model calls",
            stated: agent.caps.max_turns.as_ref(),
            taken: model_calls,
            recorded_in: "`conversation.steps`, `step` of the calls or `conversation.turns`",
        },
        Cap {
            key: "token_budget",
            unit: "tokens",
            stated: agent.caps.token_budget.as_ref(),
            taken: tokens,
            recorded_in: "`conversation.tokens` or `conversation.steps`",
        },
        Cap {
            key: "max_tool_calls",
            unit: "tool calls",
            stated: agent.caps.max_tool_calls.as_ref(),
            taken: |trace| Some(trace.tool_calls.len() as u64),
            recorded_in: "`tool_calls`",
        },
    ];
    caps.iter()
        .flat_map(|cap| [exceeded(cap, runs), unknown(cap, runs)])
        .flatten()
        .collect()
}

fn exceeded(cap: &Cap<'_>, runs: &[Run]) -> Option<Finding> {
    let Cap {
        key, unit, taken, ..
    } = cap;
    let stated = cap.stated?;
    let over = |run: &usize| taken(&runs[*run].trace).is_some_and(|taken| taken > stated.value);
    let over: Vec<usize> = (0..runs.len()).filter(over).collect();
    let most = over
        .iter()
        .filter_map(|run| taken(&runs[*run].trace))
        .max()?;
    let message = format!(
        "`{key}` is exceeded{}: up to {} {unit}, the cap is {}",
        scope(over.len(), runs.len()),
        thousands(most),
        thousands(stated.value)
    );
    let problem = Diagnostic::at(stated.span, message)
        .note(runs_note(runs, &over))
        .help("record the runs again under this cap, or raise it");
    Some(Finding::new(problem))
}

fn unknown(cap: &Cap<'_>, runs: &[Run]) -> Option<Finding> {
    let Cap {
        key, unit, taken, ..
    } = cap;
    let stated = cap.stated?;
    let unknown = |run: &usize| taken(&runs[*run].trace).is_none();
    let unknown: Vec<usize> = (0..runs.len()).filter(unknown).collect();
    if unknown.is_empty() {
        return None;
    }
    let message = format!(
        "`{key}` cannot be judged{}: no {unit} are recorded",
        scope(unknown.len(), runs.len())
    );
    let problem = Diagnostic::at(stated.span, message)
        .note(runs_note(runs, &unknown).replacen("broken by", "not recorded in", 1))
        .help(format!(
            "record the runs with {}, or take the cap away",
            cap.recorded_in
        ));
    Some(Finding::new(problem))
}

/// The tokens of a run: as stated, else those of its model calls together.
fn tokens(trace: &Trace) -> Option<u64> {
    let conversation = &trace.conversation;
    let of_steps = || {
        let steps = conversation.steps.iter().map(|step| step.total());
        steps.fold(0, u64::saturating_add)
    };
    let stated = Some(conversation.tokens.total).filter(|total| *total > 0);
    stated.or_else(|| Some(of_steps()).filter(|total| *total > 0))
}

/// Model calls of a run: its steps; where they were not recorded those that made tool calls and the
/// one that closed it; else its assistant turns, with a run of tool-use turns as one.
fn model_calls(trace: &Trace) -> Option<u64> {
    let conversation = &trace.conversation;
    if !conversation.steps.is_empty() {
        return Some(conversation.steps.len() as u64);
    }
    let last = trace.tool_calls.iter().filter_map(|call| call.step).max();
    let made_calls = last.map(|last| {
        let closing = u64::from(trace.closing().is_some());
        last.saturating_add(1).saturating_add(closing)
    });
    let mut turns = 0;
    let mut in_tool_use = false;
    for turn in &conversation.turns {
        let tool_use = turn.is_tool_use();
        turns += u64::from(turn.is_assistant() && !(tool_use && in_tool_use));
        in_tool_use = tool_use;
    }
    let turns = Some(turns).filter(|turns| *turns > 0);
    made_calls.max(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_run_of_tool_use_turns_is_one_model_call() {
        let turn = |role: &str, content: &str| json!({ "role": role, "content": content });
        let trace = Trace::from_envelope(&json!({ "conversation": { "turns": [
            turn("user", "hi"),
            turn("assistant", "tool_use a::b with {}"),
            turn("assistant", "tool_use a::c with {}"),
            turn("assistant", "done"),
            turn("user", "and?"),
            turn("assistant", "tool_use a::d with {}"),
            turn("assistant", "bye"),
        ] } }));
        assert_eq!(model_calls(&trace), Some(4));
    }

    #[test]
    fn the_steps_of_calls_count_where_steps_are_not_recorded() {
        let calls = json!([{ "name": "a", "step": 0 }, { "name": "b", "step": 0 }, { "name": "c", "step": 2 }]);
        let mut run = json!({ "tool_calls": calls });
        assert_eq!(model_calls(&Trace::from_envelope(&run)), Some(3));
        run["final_response"] = json!("Done.");
        assert_eq!(model_calls(&Trace::from_envelope(&run)), Some(4));
        assert_eq!(
            model_calls(&Trace::from_envelope(
                &json!({ "tool_calls": [{ "name": "a" }] })
            )),
            None
        );
    }

    #[test]
    fn the_tokens_of_the_steps_count_where_no_sum_is_recorded() {
        let steps = json!([{ "prompt": 10, "completion": 2 }, { "prompt": 20 }]);
        let run = |tokens: serde_json::Value| {
            Trace::from_envelope(&json!({ "conversation": { "steps": steps, "tokens": tokens } }))
        };
        assert_eq!(tokens(&run(json!(null))), Some(32));
        assert_eq!(tokens(&run(json!({ "total": 0 }))), Some(32));
        assert_eq!(tokens(&run(json!({ "total": 40 }))), Some(40));
        assert_eq!(tokens(&Trace::default()), None);
    }
}
