//! The turns of a run as model calls.
//!
//! One answer of a model can hold text and several tool calls, and each stands as a turn of its own.
//! An assistant turn and the `tool_use` turns right after it count as one model call, unless the
//! recording says that the calls behind two `tool_use` turns were made one after the other:
//!
//! 1. the calls carry `step`, and theirs differ; or
//! 2. there are exactly as many `steps` as there are model calls when every `tool_use` turn is one
//!    of its own, and fewer when they are put together; or as many as there are assistant turns.

//!
//! Calls that have no turn are of the model call that their `step` names. Where there are more steps than answers,
//! each such step is an answer without a turn, before the closing.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Trace, Turn};

/// One answer of the model, or what stands between two answers.
pub(crate) struct Exchange<'a> {
    /// None for an answer of which only its calls were recorded.
    pub(crate) turns: &'a [Turn],
    /// The calls that it made, as indices of the trace's, as far as the recording tells.
    pub(crate) calls: Vec<usize>,
    /// Index into `steps` of the model call, where a tool call in it says so.
    pub(crate) step: Option<usize>,
}

impl Exchange<'_> {
    /// Whether it is a model call.
    pub(crate) fn is_model_call(&self) -> bool {
        self.turns.first().is_none_or(Turn::is_assistant)
    }
}

/// The turns in order: those of one model call together, every other one alone.
pub(crate) fn exchanges(trace: &Trace) -> Vec<Exchange<'_>> {
    let turns = &trace.conversation.turns;
    let calls = turn_calls(trace);
    let step = |call: &Option<usize>| call_step(trace, (*call)?);
    let steps: Vec<Option<usize>> = calls.iter().map(step).collect();
    let apart = is_call_per_turn(turns, trace.conversation.steps.len());
    // As many steps as turns: each turn is an answer of its own, text before a call too.
    let assistant = turns.iter().filter(|turn| turn.is_assistant()).count();
    let each = assistant == trace.conversation.steps.len();
    let belongs = |index: usize| -> bool {
        let Some([left, right]) = turns.get(index - 1..=index) else {
            return false;
        };
        if !(left.is_assistant() && right.is_tool_use()) {
            return false;
        }
        match (steps.get(index - 1), steps.get(index)) {
            (Some(Some(left)), Some(Some(right))) => left == right,
            _ => !(each || apart && left.is_tool_use()),
        }
    };
    let mut found = Vec::new();
    let mut start = 0;
    for index in 1..=turns.len() {
        if index == turns.len() || !belongs(index) {
            found.push(exchange(turns, &calls, &steps, start..index));
            start = index;
        }
    }
    add_calls_without_turn(trace, &calls, &mut found);
    found
}

fn exchange<'a>(
    turns: &'a [Turn],
    calls: &[Option<usize>],
    steps: &[Option<usize>],
    range: Range<usize>,
) -> Exchange<'a> {
    Exchange {
        calls: calls[range.clone()].iter().copied().flatten().collect(),
        step: steps[range.clone()].iter().copied().flatten().next(),
        turns: &turns[range],
    }
}

/// The step of a call.
fn call_step(trace: &Trace, call: usize) -> Option<usize> {
    usize::try_from(trace.tool_calls.get(call)?.step?).ok()
}

/// The call behind each turn, where it is a `tool_use` turn: the next one, or where turns and calls are not as many,
/// the next one of the tool that the turn names.
fn turn_calls(trace: &Trace) -> Vec<Option<usize>> {
    let turns = &trace.conversation.turns;
    let tool_use = turns.iter().filter(|turn| turn.is_tool_use()).count();
    let all = tool_use == trace.tool_calls.len();
    let mut next = 0;
    let call = |turn: &Turn| {
        let named = turn
            .is_tool_use()
            .then(|| turn.content.strip_prefix("tool_use "))??;
        let tool = named.split_once(" with ").map_or(named, |(tool, _)| tool);
        let mut calls = trace.tool_calls.iter().enumerate().skip(next);
        let own = |name: &str| {
            let server = tool.strip_suffix(name);
            server.is_some_and(|server| server.is_empty() || server.ends_with("::"))
        };
        let (at, _) = calls.find(|(_, call)| all || own(&call.name))?;
        next = at + 1;
        Some(at)
    };
    turns.iter().map(call).collect()
}

/// Gives the calls without a turn to the answer of their step.
fn add_calls_without_turn(
    trace: &Trace,
    of_turns: &[Option<usize>],
    found: &mut Vec<Exchange<'_>>,
) {
    let told: BTreeSet<usize> = of_turns.iter().copied().flatten().collect();
    let mut alone: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for call in (0..trace.tool_calls.len()).filter(|call| !told.contains(call)) {
        if let Some(step) = call_step(trace, call) {
            alone.entry(step).or_default().push(call);
        }
    }
    let Some((last, _)) = alone.last_key_value() else {
        return;
    };
    // As many answers as steps: each step is one of them.
    let answers: Vec<usize> = (0..found.len())
        .filter(|at| found[*at].is_model_call())
        .collect();
    let each = answers.len() > *last;
    let steps = found.iter().enumerate().rev();
    let steps: BTreeMap<usize, usize> = steps.filter_map(|(at, it)| Some((it.step?, at))).collect();
    let mut more = Vec::new();
    for (step, calls) in alone {
        let own = steps.get(&step).copied();
        match own.or_else(|| answers.get(step).copied().filter(|_| each)) {
            Some(at) => found[at].calls.extend(calls),
            None => more.push(Exchange {
                turns: &[],
                calls,
                step: Some(step),
            }),
        }
    }
    let closing = found
        .last()
        .is_some_and(|last| last.is_model_call() && last.step.is_none());
    let at = found.len() - usize::from(closing);
    found.splice(at..at, more);
}

/// Whether the number of steps says that every `tool_use` turn that follows one is a model call.
fn is_call_per_turn(turns: &[Turn], steps: usize) -> bool {
    let follows_text = |pair: &&[Turn]| {
        let [left, right] = pair else { return false };
        left.is_assistant() && !left.is_tool_use() && right.is_tool_use()
    };
    let follows_tool_use = |pair: &&[Turn]| pair.iter().all(Turn::is_tool_use);
    let assistant = turns.iter().filter(|turn| turn.is_assistant()).count();
    let apart = assistant - turns.windows(2).filter(follows_text).count();
    steps == apart && turns.windows(2).any(|pair| follows_tool_use(&pair))
}

/// How many model calls a run made; [`Trace::model_calls`] says how they are counted.
pub(super) fn model_calls(trace: &Trace) -> u64 {
    let conversation = &trace.conversation;
    let steps = trace.tool_calls.iter().filter_map(|call| call.step);
    let last = steps.max();
    if !conversation.steps.is_empty() {
        // A call may tell of a later step than those that were written down.
        let told = last.map_or(0, |last| last.saturating_add(1));
        return told.max(conversation.steps.len() as u64);
    }
    let by_calls = last.map_or(0, |last| {
        // What was said after the last call is an answer of its own.
        let turns = &conversation.turns;
        let after = turns
            .iter()
            .rposition(Turn::is_tool_use)
            .map_or(turns.as_slice(), |at| &turns[at + 1..]);
        let said = after.iter().filter(|turn| turn.is_assistant()).count() as u64;
        let closing = u64::from(turns.is_empty() && trace.closing().is_some());
        last.saturating_add(1)
            .saturating_add(said)
            .saturating_add(closing)
    });
    let by_turns = exchanges(trace)
        .iter()
        .filter(|exchange| exchange.is_model_call())
        .count() as u64;
    // Each may have been recorded in part, and no call was made that is not there.
    by_calls.max(by_turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn trace(turns: &[&str], steps: &[Option<u64>], recorded: usize) -> Trace {
        let turns = turns.iter().map(|text| match *text {
            "user" | "tool" => json!({ "role": text, "content": "x" }),
            text => json!({ "role": "assistant", "content": text }),
        });
        let calls = steps
            .iter()
            .map(|step| json!({ "name": "a", "step": step }));
        Trace::from_envelope(&json!({
            "tool_calls": calls.collect::<Vec<_>>(),
            "conversation": {
                "turns": turns.collect::<Vec<_>>(),
                "steps": vec![json!({ "prompt": 1 }); recorded],
            },
        }))
    }

    fn lengths(trace: &Trace) -> Vec<usize> {
        exchanges(trace)
            .iter()
            .map(|exchange| exchange.turns.len())
            .collect()
    }

    const SPIRAL: [&str; 5] = ["user", "tool_use a", "tool_use a", "tool_use a", "done"];

    #[test]
    fn tool_use_turns_in_a_row_are_apart_where_the_recording_says_so() {
        assert_eq!(lengths(&trace(&SPIRAL, &[None; 3], 0)), [1, 3, 1]);
        assert_eq!(lengths(&trace(&SPIRAL, &[None; 3], 2)), [1, 3, 1]);
        assert_eq!(lengths(&trace(&SPIRAL, &[None; 3], 4)), [1, 1, 1, 1, 1]);
        let steps = [Some(0), Some(0), Some(1)];
        assert_eq!(lengths(&trace(&SPIRAL, &steps, 0)), [1, 2, 1, 1]);
        // With fewer calls than turns, a turn is of the next call of its tool.
        assert_eq!(lengths(&trace(&SPIRAL, &steps[1..], 0)), [1, 1, 2, 1]);
    }

    #[test]
    fn a_call_without_a_turn_is_of_the_answer_that_its_step_names() {
        let steps: Vec<Option<u64>> = (0..7).map(Some).collect();
        let run = trace(&["user", "done"], &steps, 0);
        assert_eq!(lengths(&run), [1, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(run.model_calls(), 8);
        let run = trace(
            &["user", "looking", "looking", "done"],
            &[Some(0), Some(1), Some(1)],
            0,
        );
        assert_eq!(lengths(&run), [1, 1, 1, 1]);
        assert_eq!(exchanges(&run)[2].calls, [1, 2]);
        // Nothing says when it was made.
        assert_eq!(lengths(&trace(&["user", "done"], &[None; 3], 0)), [1, 1]);
    }

    #[test]
    fn text_belongs_to_the_calls_after_it() {
        let turns = ["user", "wait", "tool_use a", "more", "tool_use a", "done"];
        let run = trace(&turns, &[Some(0), Some(1)], 0);
        assert_eq!(lengths(&run), [1, 2, 2, 1]);
        assert_eq!(exchanges(&run)[2].step, Some(1));
    }

    #[test]
    fn as_many_steps_as_turns_make_each_turn_an_answer() {
        let turns = [
            "Looking.",
            "tool_use s::a with {}",
            "tool_use s::a with {}",
            "Done.",
        ];
        assert_eq!(exchanges(&trace(&turns, &[None; 2], 4)).len(), 4);
        assert_eq!(exchanges(&trace(&turns, &[None; 2], 2)).len(), 2);
    }

    #[test]
    fn model_calls_are_steps_or_steps_of_calls_or_turns() {
        assert_eq!(trace(&SPIRAL, &[None; 3], 7).model_calls(), 7);
        assert_eq!(trace(&SPIRAL, &[None; 3], 0).model_calls(), 2);
        let steps = [Some(0), Some(1), Some(2)];
        assert_eq!(trace(&SPIRAL, &steps, 0).model_calls(), 4);
        assert_eq!(trace(&SPIRAL, &steps, 1).model_calls(), 3);
        assert_eq!(trace(&[], &steps, 0).model_calls(), 3);
        assert_eq!(Trace::from_envelope(&Value::Null).model_calls(), 0);
    }
}
