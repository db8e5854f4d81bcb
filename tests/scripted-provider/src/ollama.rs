//! Ollama's own chat: what a request must be, and how an answer looks.

use serde_json::{Value, json};

use crate::{
    api::ApiError,
    exchange::{Answer, Arguments, Exchange, PastCall, Turn},
    script::Stop,
};

/// A moment in 2025: the answers are the same at any time.
const CREATED: &str = "2025-06-15T15:06:40.000000Z";

/// Checks a request. The server checks little: a result needs no identifier and no name.
pub(crate) fn read(body: &Value) -> Result<Exchange, ApiError> {
    let model = body["model"].as_str().filter(|model| !model.is_empty());
    let model = model.ok_or_else(|| ApiError::invalid("model is required"))?;
    let mut exchange = Exchange {
        model: model.to_owned(),
        ..Exchange::default()
    };
    let mut open: Vec<PastCall> = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let text = message["content"].as_str().unwrap_or_default().to_owned();
        match message["role"].as_str() {
            Some("system") => exchange.system.push_str(&text),
            Some("user") => exchange.turns.push(Turn::User(text)),
            Some("assistant") => {
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                let calls: Vec<PastCall> = calls.map(call).collect::<Result<_, _>>()?;
                open.clone_from(&calls);
                exchange.turns.push(Turn::Assistant { text, calls });
            }
            Some("tool") => {
                let place = open.iter().position(|call| answers(message, call));
                let call_id = place.map_or_else(String::new, |place| open.remove(place).id);
                exchange.turns.push(Turn::Result { call_id, text });
            }
            role => return Err(ApiError::invalid(format!("invalid role: {role:?}"))),
        }
    }
    Ok(exchange)
}

/// A call of a message. The server takes no arguments that are text.
fn call(call: &Value) -> Result<PastCall, ApiError> {
    let function = &call["function"];
    if !function["arguments"].is_object() {
        return Err(ApiError::invalid(
            "json: cannot unmarshal string into Go struct field .arguments",
        ));
    }
    Ok(PastCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: function["name"].as_str().unwrap_or_default().to_owned(),
        arguments: function["arguments"].to_string(),
    })
}

fn answers(message: &Value, call: &PastCall) -> bool {
    match (
        message["tool_call_id"].as_str(),
        message["tool_name"].as_str(),
    ) {
        (Some(id), _) => call.id == id,
        (None, Some(name)) => call.name == name,
        (None, None) => true,
    }
}

/// The body of an answer.
pub(crate) fn body(answer: &Answer) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text });
    let calls = answer.calls.iter().enumerate().map(|(index, call)| {
        let args = match &call.arguments {
            Arguments::Json(args) => args.clone(),
            Arguments::Raw(raw) => json!({ "raw": raw }),
        };
        let function = json!({ "index": index, "name": call.name, "arguments": args });
        json!({ "id": format!("call_{}_{index}", answer.id), "function": function })
    });
    if !answer.calls.is_empty() {
        message["tool_calls"] = calls.collect();
    }
    let reason = match answer.stop {
        Some(Stop::MaxTokens) => "length",
        Some(Stop::Refusal) | None => "stop",
    };
    json!({
        "model": answer.model,
        "created_at": CREATED,
        "message": message,
        "done": true,
        "done_reason": reason,
        "total_duration": 700_000_000,
        "load_duration": 50_000_000,
        "prompt_eval_count": answer.usage.prompt,
        "prompt_eval_duration": 100_000_000,
        "eval_count": answer.usage.completion,
        "eval_duration": 500_000_000,
    })
}
