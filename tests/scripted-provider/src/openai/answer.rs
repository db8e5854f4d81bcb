//! How an answer looks.

use serde_json::{Value, json};

use crate::{
    exchange::{Answer, Arguments},
    script::Stop,
};

/// A moment in 2025: the answers are the same at any time.
const CREATED: u64 = 1_750_000_000;

/// The body of an answer.
pub(crate) fn render_body(answer: &Answer) -> Value {
    let refused = answer.stop == Some(Stop::Refusal);
    let text = (!answer.text.is_empty() || answer.calls.is_empty()).then_some(&answer.text);
    let mut message = json!({
        "role": "assistant",
        "content": text.filter(|_| !refused),
        "refusal": text.filter(|_| refused),
        "annotations": [],
    });
    if !answer.calls.is_empty() {
        message["tool_calls"] = tool_calls(answer);
    }
    let finish_reason = match answer.stop {
        Some(Stop::MaxTokens) => "length",
        None if !answer.calls.is_empty() => "tool_calls",
        Some(Stop::Refusal) | None => "stop",
    };
    json!({
        "id": format!("chatcmpl-{}", answer.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish_reason,
        }],
        "usage": {
            "prompt_tokens": answer.usage.prompt,
            "completion_tokens": answer.usage.completion,
            "total_tokens": answer.usage.prompt + answer.usage.completion,
            "prompt_tokens_details": { "cached_tokens": answer.usage.cached, "audio_tokens": 0 },
            "completion_tokens_details": {
                "reasoning_tokens": answer.usage.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": null,
    })
}

fn tool_calls(answer: &Answer) -> Value {
    let call = |(index, call): (usize, &crate::exchange::AnsweredCall)| {
        let arguments = match &call.arguments {
            Arguments::Json(args) => args.to_string(),
            Arguments::Raw(raw) => raw.clone(),
        };
        json!({
            "id": format!("call_{}_{index}", answer.id),
            "type": "function",
            "function": { "name": call.name, "arguments": arguments },
        })
    };
    answer.calls.iter().enumerate().map(call).collect()
}
