//! A change of the typed trace: all that most metrics look at, and the quick half of a mutant.

use crate::trace::{Conversation, StopReason, ToolCall, ToolResult, Trace};

use super::change::{Change, failed, moved_bound};

/// The trace with this change.
pub(super) fn changed(before: &Trace, change: &Change) -> Trace {
    let order = change.order();
    let mut trace = Trace {
        tool_calls: calls(before, change, order.as_deref()),
        tool_results: results(before, change, order.as_deref()),
        final_response: match change {
            Change::Closing(text) => Some(text.clone()),
            Change::DropClosing | Change::Truncate(_) => Some(String::new()),
            _ => before.final_response.clone(),
        },
        conversation: conversation(before, change, order.as_deref()),
    };
    match change {
        Change::Truncate(_) | Change::StopReason => {
            trace.conversation.stop_reason = Some(StopReason::TurnBudget);
        }
        Change::GrowTokens(from) => grow(&mut trace.conversation, *from),
        _ => {}
    }
    trace
}

fn calls(before: &Trace, change: &Change, order: Option<&[usize]>) -> Vec<ToolCall> {
    let calls = &before.tool_calls;
    if let Some(order) = order {
        return order.iter().map(|call| calls[*call].clone()).collect();
    }
    let mut calls = calls.clone();
    if let Change::Call { call, name, args } = change {
        calls[*call].name.clone_from(name);
        calls[*call].args = args.clone().into();
    }
    calls
}

fn results(before: &Trace, change: &Change, order: Option<&[usize]>) -> Vec<ToolResult> {
    let results = &before.tool_results;
    if let Some(order) = order {
        let placed = order.iter().enumerate().flat_map(|(place, call)| {
            let own = results.iter().filter(|result| result.call_index == *call);
            own.map(move |result| ToolResult {
                call_index: place,
                ..result.clone()
            })
        });
        return placed.collect();
    }
    match change {
        Change::DropResult(call) => {
            let kept = results.iter().filter(|result| result.call_index != *call);
            kept.cloned().collect()
        }
        Change::FailResult(call) => {
            let fail = |result: &ToolResult| ToolResult {
                is_error: true,
                error_known: true,
                result: failed().into(),
                ..result.clone()
            };
            let changed = results.iter().map(|result| {
                if result.call_index == *call {
                    fail(result)
                } else {
                    result.clone()
                }
            });
            changed.collect()
        }
        _ => results.clone(),
    }
}

fn conversation(before: &Trace, change: &Change, order: Option<&[usize]>) -> Conversation {
    let calls = before.tool_calls.len();
    let mut conversation = before.conversation.clone();
    let turns = std::mem::take(&mut conversation.turns);
    conversation.turns = change.turns(turns, calls, change.before(before));
    if let Some(order) = order {
        for turn in &mut conversation.per_turn {
            let moved = |bound| moved_bound(order, calls, bound);
            turn.calls = turn.calls.map(|(from, to)| (moved(from), moved(to)));
        }
    }
    conversation
}

fn grow(conversation: &mut Conversation, from: usize) {
    let mut more = 0;
    for step in conversation.steps.iter_mut().skip(from) {
        more += 2 * step.prompt;
        step.prompt *= 3;
    }
    conversation.tokens.prompt += more;
    conversation.tokens.total += more;
}
