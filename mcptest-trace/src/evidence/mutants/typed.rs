//! A change of the typed trace: all that most metrics look at, and the quick half of a mutant.

use crate::trace::{Conversation, StopReason, ToolResult, Trace};

use super::change::{Change, failed};
use super::turns::{anchors, is_permutation};

/// Where the parts of a changed run come from: their places in the original.
pub(super) struct Sources {
    pub(super) calls: Vec<usize>,
    pub(super) results: Vec<usize>,
    pub(super) turns: Vec<usize>,
}

/// Applies a change to a trace. Returns the trace, and where its parts come from.
pub(super) fn changed_trace(before: &Trace, change: &Change) -> (Trace, Sources) {
    let (all, order) = (before.tool_calls.len(), change.order());
    let calls: Vec<usize> = order.clone().unwrap_or_else(|| (0..all).collect());
    // Each result with the call that it answers now.
    let answered = || before.tool_results.iter().map(|result| result.call_index);
    let results = (0..).zip(answered());
    let (results, answers): (Vec<usize>, Vec<usize>) = match (&order, change) {
        (Some(order), _) => {
            let mut of_call: Vec<Vec<usize>> = vec![Vec::new(); all];
            for (result, call) in results {
                if let Some(own) = of_call.get_mut(call) {
                    own.push(result);
                }
            }
            let moved = order.iter().enumerate().flat_map(|(place, call)| {
                let own = of_call[*call].iter();
                own.map(move |result| (*result, place))
            });
            moved.unzip()
        }
        (None, Change::DropResult(call)) => results.filter(|(_, of)| of != call).unzip(),
        _ => results.unzip(),
    };
    let (turns, said) = change.turns(before).into_iter().unzip();
    // A new field: a mutant has it as its run has it. If it tells of calls by their indices, or is a text that `edit`
    // must change with the calls, change it here as `recorded.rs` does. A test holds both against each other.
    let Trace {
        tool_calls,
        tool_results,
        final_response,
        conversation,
        scores,
        flags_are_partial,
    } = before;
    let Conversation {
        tokens,
        duration_ms,
        message_count,
        stop_reason,
        turns: _,
        per_turn,
        steps,
        step_models,
    } = conversation;
    let mut trace = Trace {
        tool_calls: calls.iter().map(|call| tool_calls[*call].clone()).collect(),
        tool_results: results
            .iter()
            .zip(answers)
            .map(|(result, call_index)| ToolResult {
                call_index,
                ..tool_results[*result].clone()
            })
            .collect(),
        final_response: final_response.clone(),
        conversation: Conversation {
            tokens: *tokens,
            duration_ms: *duration_ms,
            message_count: *message_count,
            stop_reason: stop_reason.clone(),
            turns: said,
            per_turn: per_turn.clone(),
            steps: steps.clone(),
            step_models: step_models.clone(),
        },
        scores: scores.clone(),
        flags_are_partial: *flags_are_partial,
    };
    if let Some(order) = order.filter(|order| !is_permutation(order, all)) {
        move_bounds(&mut trace.conversation, &anchors(&order));
    }
    edit(&mut trace, change);
    let from = Sources {
        calls,
        results,
        turns,
    };
    (trace, from)
}

/// Everything of a change but what is left out and where the rest goes.
fn edit(trace: &mut Trace, change: &Change) {
    match change {
        Change::Tool { call, .. } | Change::Args { call, .. } => {
            let call = &mut trace.tool_calls[*call];
            let (name, args) = change.apply_to_call(call);
            let (name, args) = (name.to_owned(), args.into_owned());
            (call.name, call.args) = (name, args.into());
            call.own = None;
        }
        Change::FailResult(call) => {
            let results = trace.tool_results.iter_mut();
            for result in results.filter(|result| result.call_index == *call) {
                (result.is_error, result.error_known) = (true, true);
                result.result = failed().into();
            }
            trace.tool_calls[*call].own = None;
        }
        Change::Claim(claim) => {
            let before = trace.closing().unwrap_or_default();
            trace.final_response = Some(format!("{before}{claim}"));
        }
        Change::DropClosing | Change::Truncate(_) => trace.final_response = Some(String::new()),
        Change::GrowTokens(from) => grow_tokens(&mut trace.conversation, *from),
        Change::DropResult(call) => trace.tool_calls[*call].own = None,
        Change::Order(_) | Change::StopReason => {}
    }
    if change.is_cap() {
        trace.conversation.stop_reason = Some(StopReason::TurnBudget);
    }
}

/// Moves the ranges of calls of the user turns; where calls only changed places they stay.
fn move_bounds(conversation: &mut Conversation, anchors: &[usize]) {
    let mut anchors = anchors.to_vec();
    anchors.sort_unstable();
    let moved = |bound| anchors.partition_point(|anchor| *anchor < bound);
    for turn in &mut conversation.per_turn {
        turn.calls = turn.calls.map(|(from, to)| (moved(from), moved(to)));
    }
}

/// Triples the prompt tokens of each step from this one on, and adapts those of the whole run.
fn grow_tokens(conversation: &mut Conversation, from: usize) {
    let mut more = 0;
    for step in conversation.steps.iter_mut().skip(from) {
        if let Some(prompt) = &mut step.prompt {
            more += 2 * *prompt;
            *prompt *= 3;
        }
    }
    let tokens = &mut conversation.tokens;
    for count in [&mut tokens.prompt, &mut tokens.total] {
        *count = count.map(|count| count + more);
    }
}
