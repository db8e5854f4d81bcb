//! How an answer looks.

use serde_json::{Value, json};

use crate::{
    exchange::{Answer, Arguments},
    script::Stop,
};

/// The body of an answer.
pub(crate) fn render_body(answer: &Answer) -> Value {
    let mut content = Vec::new();
    if !answer.text.is_empty() {
        content.push(json!({ "type": "text", "text": answer.text }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use",
            "id": format!("toolu_{}_{index}", answer.id),
            "name": call.name,
            "input": match &call.arguments {
                Arguments::Json(args) => args.clone(),
                Arguments::Raw(raw) => Value::from(raw.as_str()),
            },
        }));
    }
    let stop_reason = match answer.stop {
        Some(Stop::MaxTokens) => "max_tokens",
        Some(Stop::Refusal) => "refusal",
        None if answer.calls.is_empty() => "end_turn",
        None => "tool_use",
    };
    let mut body = json!({
        "id": format!("msg_{}", answer.id),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {
            "input_tokens": answer.usage.prompt - answer.usage.cached,
            "output_tokens": answer.usage.completion,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": answer.usage.cached,
            "service_tier": "standard",
        },
    });
    // Told of answers that were thought about alone.
    if answer.usage.reasoning > 0 {
        body["usage"]["output_tokens_details"] =
            json!({ "thinking_tokens": answer.usage.reasoning });
    }
    body
}
