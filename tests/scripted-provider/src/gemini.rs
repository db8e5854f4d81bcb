//! Gemini's content: what a request must be, and how an answer looks.

use serde_json::{Value, json};

use crate::{
    api::ApiError,
    exchange::{Answer, Arguments, Exchange, PastCall, Turn},
    script::Stop,
    vertex,
};

/// The model that a path asks, and whether it asks for a stream.
pub(crate) fn parse_model_path(path: &str) -> Option<(&str, bool)> {
    let versions = ["/v1beta1", "/v1beta", "/v1alpha", "/v1"];
    let path = versions.iter().find_map(|it| path.strip_prefix(it))?;
    let path = vertex::publisher(path, "google").unwrap_or(path);
    let (model, method) = path.strip_prefix("/models/")?.split_once(':')?;
    match method {
        "generateContent" => Some((model, false)),
        "streamGenerateContent" => Some((model, true)),
        _ => None,
    }
}

/// Checks a request.
pub(crate) fn read(path: &str, body: &Value) -> Result<Exchange, ApiError> {
    let (model, _) =
        parse_model_path(path).ok_or_else(|| ApiError::new(404, format!("Not found: {path}")))?;
    let mut exchange = Exchange {
        model: model.to_owned(),
        system: join_texts(&body["systemInstruction"]),
        ..Exchange::default()
    };
    let contents = body["contents"].as_array().filter(|all| !all.is_empty());
    let contents = contents.ok_or_else(|| {
        ApiError::invalid("* GenerateContentRequest.contents: contents is not specified")
    })?;
    let mut open: Vec<PastCall> = Vec::new();
    for content in contents {
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        if parts.is_empty() {
            return Err(ApiError::invalid(
                "* GenerateContentRequest.contents: contents.parts must not be empty.",
            ));
        }
        if content["role"] == "model" {
            let calls = parts.iter().filter(|part| part["functionCall"].is_object());
            let calls: Vec<PastCall> = calls.map(parse_call).collect();
            open.extend(calls.iter().cloned());
            add_answer(&mut exchange, &join_texts(content), calls);
            continue;
        }
        for part in parts {
            let response = &part["functionResponse"];
            if let Some(text) = part["text"].as_str() {
                exchange.turns.push(Turn::User(text.to_owned()));
            } else if response.is_object() {
                // By its identifier; without one by its name, in the order of the calls.
                let is_of = |call: &PastCall| match response["id"].as_str() {
                    Some(id) => call.id == id,
                    None => response["name"] == call.name.as_str(),
                };
                let Some(place) = open.iter().position(is_of) else {
                    return Err(ApiError::invalid(
                        "Please ensure that function response turn comes immediately after a function call turn.",
                    ));
                };
                let call_id = open.remove(place).id;
                let text = response["response"].to_string();
                exchange.turns.push(Turn::Result { call_id, text });
            }
        }
    }
    if open.is_empty() {
        Ok(exchange)
    } else {
        Err(ApiError::invalid(
            "Please ensure that the number of function response parts is equal to the number of function call parts.",
        ))
    }
}

/// The model says or calls something. Clients send back what was streamed as several messages: they are one answer.
fn add_answer(exchange: &mut Exchange, said: &str, called: Vec<PastCall>) {
    if let Some(Turn::Assistant { text, calls }) = exchange.turns.last_mut() {
        text.push_str(said);
        calls.extend(called);
        return;
    }
    let text = said.to_owned();
    exchange.turns.push(Turn::Assistant {
        text,
        calls: called,
    });
}

fn parse_call(part: &Value) -> PastCall {
    let call = &part["functionCall"];
    PastCall {
        id: call["id"].as_str().unwrap_or_default().to_owned(),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        arguments: call["args"].to_string(),
    }
}

/// The texts of a content.
fn join_texts(content: &Value) -> String {
    let parts = content["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// The body of an answer.
pub(crate) fn render_body(answer: &Answer) -> Value {
    let mut parts = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        parts.push(json!({ "text": answer.text }));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let args = match &call.arguments {
            Arguments::Json(args) => args.clone(),
            Arguments::Raw(raw) => json!({ "raw": raw }),
        };
        parts.push(json!({ "functionCall": {
            "id": format!("fc_{}_{index}", answer.id), "name": call.name, "args": args,
        } }));
    }
    let reason = match answer.stop {
        Some(Stop::MaxTokens) => "MAX_TOKENS",
        Some(Stop::Refusal) => "SAFETY",
        None => "STOP",
    };
    let mut usage = json!({
        "promptTokenCount": answer.usage.prompt,
        "candidatesTokenCount": answer.usage.completion - answer.usage.reasoning,
        "totalTokenCount": answer.usage.prompt + answer.usage.completion,
    });
    // A count of nothing is left out.
    for (key, count) in [
        ("cachedContentTokenCount", answer.usage.cached),
        ("thoughtsTokenCount", answer.usage.reasoning),
    ] {
        if count > 0 {
            usage[key] = count.into();
        }
    }
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": parts },
            "finishReason": reason,
            "index": 0,
        }],
        "usageMetadata": usage,
        "modelVersion": answer.model,
        "responseId": answer.id,
    })
}
