//! One reader for envelopes: the typed trace of a recorded value.

use serde_json::{Number, json};

use super::conversation::sum;
use super::fields;
use super::json::{Json, Object};
use super::location::is_object;
use super::own;
use super::reader::{Problem, Reader, whole_number};
use super::score;
use super::{
    Conversation, Outcome, PerTurn, Signals, StepTokens, StopReason, Tokens, ToolCall, ToolResult,
    Trace, Turn,
};

pub(super) fn trace(envelope: Json<'_>, problems: &mut Vec<Problem>) -> Trace {
    let mut at = Reader::new(problems);
    match envelope {
        Json::Object(map) => trace_of(map, &mut at),
        other => {
            at.note_expected("an object", &other);
            Trace::default()
        }
    }
}

pub(super) fn trace_of(mut map: Object<'_>, at: &mut Reader<'_>) -> Trace {
    at.check_keys(&map, &fields::TRACE);
    let map = &mut map;
    let tool_calls = at.list(map, "tool_calls", |map, _, at| tool_call(map, at));
    let calls = tool_calls.len();
    let told = tool_calls.iter().filter_map(|call| call.step).max();
    let told = told.map_or(0, |step| step.saturating_add(1));
    let mut tool_results = at.list(map, "tool_results", |map, index, at| {
        tool_result(map, index, calls, at)
    });
    // In the order of the calls, as in the envelope; several of one call stay in theirs.
    tool_results.sort_by_key(|result| result.call_index);
    Trace {
        tool_results,
        tool_calls,
        final_response: at.text(map, "final_response"),
        scores: at.list(map, "scores", |map, _, at| score::score(map, at)),
        flags_are_partial: false,
        conversation: at
            .object(map, "conversation", |map, at| {
                conversation(map, calls, told, at)
            })
            .unwrap_or_default(),
    }
}

fn tool_call(mut map: Object<'_>, at: &mut Reader<'_>) -> ToolCall {
    at.check_keys(&map, &fields::CALL);
    let map = &mut map;
    // A call that tells none is one with none, the same in every reading.
    let args = map.take("args").filter(|args| !args.is_null());
    if args.as_ref().and_then(Json::as_str).is_some_and(is_object) {
        at.at("args")
            .problem("this is JSON in a string; write the object itself");
    }
    ToolCall {
        name: at.required_text(map, "name"),
        server: at.text(map, "server").unwrap_or_default(),
        args: args.map_or_else(|| json!({}).into(), Json::into_lazy),
        hop_index: at.count(map, "hop_index"),
        step: at.count(map, "step"),
        caller: map
            .take("caller")
            .filter(|caller| !caller.is_null())
            .map(Json::into_value),
        agent_id: at.text(map, "agent_id"),
        inputs_digest: at.text(map, "inputs_digest"),
        own: at.object(map, "own", own::read_side).map(Box::new),
    }
}

fn tool_result(mut map: Object<'_>, index: usize, calls: usize, at: &mut Reader<'_>) -> ToolResult {
    at.check_keys(&map, &fields::RESULT);
    let map = &mut map;
    at.require(map, "call_index");
    let recorded = at.count(map, "call_index");
    let call_index = recorded.map_or(index, |recorded| {
        usize::try_from(recorded).unwrap_or(usize::MAX)
    });
    if recorded.is_some() && call_index >= calls {
        at.at("call_index").problem(format!(
            "there is no call {call_index}; {calls} were recorded"
        ));
    }
    let synthesized = own::read_synthesized(map, at);
    let (is_error, error_known) = is_error(map, synthesized.is_some(), at);
    ToolResult {
        call_index,
        server: at.text(map, "server").unwrap_or_default(),
        is_error,
        error_known,
        result: map.take("result").unwrap_or_default().into_lazy(),
        synthesized,
        duration_ms: at.count(map, "duration_ms"),
    }
}

/// Whether a result is an error, and whether it says so or the contrary: by `is_error`, or by MCP's
/// own `isError` inside the result. What contradicts itself is a problem, and counts as an error.
fn is_error(map: &mut Object<'_>, synthesized: bool, at: &mut Reader<'_>) -> (bool, bool) {
    let stated = at.flag(map, "is_error");
    let told = map.get("result").and_then(|result| match result {
        Json::Later(later) => later.is_error,
        result => result.as_object()?.get("isError")?.as_bool(),
    });
    let known = stated.is_some() || told.is_some();
    if stated == Some(false) && told == Some(true) {
        at.at("is_error")
            .problem("is false, but `result.isError` is true; make the two equal");
    } else if synthesized && !stated.or(told).unwrap_or_default() {
        let says = match stated.or(told) {
            Some(_) => "is false",
            None => "is missing",
        };
        at.at("is_error").problem(format!(
            "{says}, but an injected fault answered (`synthesized`); such a result is an error: write `\"is_error\": true`"
        ));
    }
    (
        stated == Some(true) || told == Some(true) || synthesized,
        known || synthesized,
    )
}

/// `calls` were made, which tell of the first `told` steps.
fn conversation(mut map: Object<'_>, calls: usize, told: u64, at: &mut Reader<'_>) -> Conversation {
    at.check_keys(&map, &fields::CONVERSATION);
    let map = &mut map;
    let steps = at.list(map, "steps", |mut map, _, at| {
        at.check_keys(&map, &fields::STEP);
        let tokens = StepTokens {
            prompt: at.count(&mut map, "prompt"),
            completion: at.count(&mut map, "completion"),
            cached: at.count(&mut map, "cached"),
            reasoning: at.count(&mut map, "reasoning"),
            duration_ms: at.count(&mut map, "duration_ms"),
            stated_total: at.count(&mut map, "total"),
        };
        let model = at.text(&mut map, "model");
        (tokens, model.filter(|model| !model.is_empty()))
    });
    let (steps, mut step_models): (Vec<StepTokens>, Vec<_>) = steps.into_iter().unzip();
    if step_models.iter().all(Option::is_none) {
        step_models.clear();
    }
    let tokens = at.object(map, "tokens", |map, at| {
        let (tokens, all_parts) = tokens(map, at);
        // What is in steps that are not there, or say nothing, is in the total alone.
        let whole =
            told <= steps.len() as u64 && steps.iter().all(|step| step.sum_of_parts() > Some(0));
        if !all_parts || sum(tokens.prompt, tokens.completion) == tokens.total {
            contradiction(tokens, all_parts && whole, &steps, at);
        }
        tokens
    });
    let tokens = tokens.unwrap_or_default();
    Conversation {
        // Some recorders write zeros for what they do not know.
        tokens: if tokens.total.unwrap_or_default() == 0 && told.max(1) <= steps.len() as u64 {
            let of_steps = Tokens::from_steps(&steps);
            if of_steps.total.is_some() {
                of_steps
            } else {
                tokens
            }
        } else {
            tokens
        },
        duration_ms: at.count(map, "duration_ms"),
        message_count: at.count(map, "message_count"),
        stop_reason: at
            .text(map, "stop_reason")
            .map(|text| StopReason::from_text(&text)),
        turns: at.list(map, "turns", |mut map, _, at| {
            at.check_keys(&map, &fields::TURN);
            Turn {
                role: at.required_text(&mut map, "role"),
                content: at.text(&mut map, "content").unwrap_or_default(),
            }
        }),
        per_turn: at.list(map, "per_turn", |map, _, at| per_turn(map, calls, at)),
        steps,
        step_models,
    }
}

/// Notes a total that is not that of the steps. It is never less than what they took together. It may be
/// more, as some providers count reasoning in it alone, but not where `all_parts` say the same of it as steps do.
fn contradiction(tokens: Tokens, all_parts: bool, steps: &[StepTokens], at: &mut Reader<'_>) {
    let known = steps.iter().filter_map(|step| step.sum_of_parts());
    let sum = known.fold(0, u64::saturating_add);
    let count = steps.len();
    let total = tokens.total.unwrap_or_default();
    if total > 0 && sum > 0 && (total < sum || all_parts && total > sum) {
        at.at("total").problem(format!(
            "is {total}, but the {count} `steps` took {sum} together; one of the two is wrong"
        ));
    }
    if tokens.total.is_some() {
        return;
    }
    let of_steps = Tokens::from_steps(steps);
    let parts = [
        ("prompt", tokens.prompt, of_steps.prompt),
        ("completion", tokens.completion, of_steps.completion),
    ];
    for (key, stated, taken) in parts {
        if let (Some(stated), Some(taken)) = (stated.filter(|count| *count > 0), taken)
            && stated < taken
        {
            at.at(key).problem(format!(
                "is {stated}, but the {count} `steps` took {taken} together; one of the two is wrong"
            ));
        }
    }
}

/// The tokens, and whether both parts of the total are stated.
fn tokens(mut map: Object<'_>, at: &mut Reader<'_>) -> (Tokens, bool) {
    at.check_keys(&map, &fields::TOKENS);
    let map = &mut map;
    let (prompt, completion) = (at.count(map, "prompt"), at.count(map, "completion"));
    let stated = at.count(map, "total");
    let sum = sum(prompt, completion);
    if let (Some(prompt), Some(completion), Some(total), Some(sum)) =
        (prompt, completion, stated, sum)
        && total != sum
    {
        at.at("total").problem(format!(
            "is {total}, but `prompt` {prompt} and `completion` {completion} make {sum}"
        ));
    }
    let tokens = Tokens {
        prompt,
        completion,
        total: stated.or(sum),
        cached: at.count(map, "cached"),
        reasoning: at.count(map, "reasoning"),
    };
    (tokens, prompt.is_some() && completion.is_some())
}

fn per_turn(mut map: Object<'_>, calls: usize, at: &mut Reader<'_>) -> PerTurn {
    at.check_keys(&map, &fields::PER_TURN);
    let map = &mut map;
    PerTurn {
        calls: at.field(map, "calls", |value, at| {
            let bounds = value.as_list().unwrap_or_default();
            let bound = |index| {
                let bound = bounds.get(index).and_then(whole_number);
                bound.and_then(|bound| usize::try_from(bound).ok())
            };
            match (bounds.len(), bound(0), bound(1)) {
                (2, Some(from), Some(to)) if from <= to && to <= calls => Some((from, to)),
                _ => {
                    at.problem(format!(
                        "expected [from, to) within the {calls} recorded calls"
                    ));
                    None
                }
            }
        }),
        response: at.text(map, "response"),
        signals: at.object(map, "signals", signals),
    }
}

pub(super) fn signals(mut map: Object<'_>, at: &mut Reader<'_>) -> Signals {
    at.declared(&fields::SIGNALS);
    let known = |name: &str| fields::SIGNALS.get(name).is_some();
    for (name, _) in map.iter().filter(|(name, _)| !known(name)) {
        let known = fields::SIGNALS.keys().map(|key| format!("`{key}`"));
        let known = known.collect::<Vec<_>>().join(", ");
        at.problem(format!("`{name}` is not a signal; there are {known}"));
    }
    let mut signal = |name: &str| {
        at.typed_field(&mut map, name, "a number from 0 to 1", |value, _| {
            let share = value.as_number().and_then(Number::as_f64);
            let share = share.filter(|share| (0.0..=1.0).contains(share));
            share.ok_or(value)
        })
    };
    Signals {
        confidence: signal("confidence"),
        loop_detection: signal("loop_detection"),
        tool_correctness: signal("tool_correctness"),
        coherence: signal("coherence"),
    }
}

pub(super) fn outcome(mut map: Object<'_>, at: &mut Reader<'_>) -> Outcome {
    at.check_keys(&map, &fields::OUTCOME);
    let map = &mut map;
    Outcome {
        passed: at.flag(map, "passed"),
        reward: at.typed_field(map, "reward", "a number", |value, _| {
            let reward = value.as_number().and_then(Number::as_f64);
            reward.ok_or(value)
        }),
    }
}
