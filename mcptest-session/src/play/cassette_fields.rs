//! What a cassette keeps of answers, of calls, and of what asks no model.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcptest_trace::trace::{StepTokens, Trace};
use serde_json::{Value, json};

use super::matching::texts_match;
use super::model_calls::Shape;
use crate::exchange::{AnswerItem, CallTokens, ModelResponse, Part, Stop};
use crate::json::{count, list, nonempty_string, text};
use crate::record::BROKE_OFF;

/// A call of the trace, and what came back.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedCall {
    pub(super) name: String,
    pub(super) result: Option<Value>,
    pub(super) is_error: Option<bool>,
    pub(super) told: ToldResult,
}

/// What is known of that which the model was told of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct ToldResult {
    /// What it was told, where that is not the result.
    pub(super) value: Option<Value>,
    /// Whether it was told that the call failed. The outer `None`: that is not known.
    pub(super) is_error: Option<Option<bool>>,
    /// The result is what a server said; the recording does not say in which words the model was told it.
    pub(super) is_of_server: bool,
}

/// What was answered to a request that asks no model.
#[derive(Debug, Clone, Default)]
pub(super) struct OtherRequest {
    /// Its place among them all.
    pub(super) number: usize,
    /// The method and the path.
    pub(super) request: String,
    /// It only reads, such as a list of models.
    pub(super) reads: bool,
    pub(super) status: u16,
    pub(super) media_type: Option<String>,
    pub(super) body: Vec<u8>,
}

pub(super) fn read_shape(answer: &Value) -> Shape {
    let ids = list(answer, "call_ids").len();
    let parts = read_parts(answer);
    let calls = parts.as_ref().map(|parts| {
        let calls = parts.iter().filter(|part| matches!(part, Part::Call(_)));
        calls.count()
    });
    let texts = answer["texts"]
        .as_u64()
        .and_then(|texts| usize::try_from(texts).ok());
    let calls = calls.unwrap_or(ids).saturating_sub(left_out(answer));
    Shape {
        texts: texts.unwrap_or_else(|| usize::from(ids == 0)),
        calls,
        parts,
    }
}

/// How many calls of an answer are not in the trace.
pub(super) fn left_out(answer: &Value) -> usize {
    let left_out = answer["left_out"].as_u64();
    left_out
        .and_then(|left_out| usize::try_from(left_out).ok())
        .unwrap_or_default()
}

pub(super) fn read_parts(answer: &Value) -> Option<Vec<Part>> {
    serde_json::from_value(answer.get("parts")?.clone()).ok()
}

/// An answer of the model, from what is kept of it.
pub(super) fn read_response(
    answer: &Value,
    mut parts: Vec<Part>,
    tokens: Option<CallTokens>,
) -> ModelResponse {
    let texts = list(answer, "arguments").iter().map(Value::as_str);
    let ids = list(answer, "call_ids").iter().map(Value::as_str);
    let own = parts.iter_mut().filter_map(|part| match part {
        Part::Call(call) if call.native.is_none() => Some(call),
        _ => None,
    });
    let texts = texts.chain(std::iter::repeat(None));
    for ((call, id), text) in own.zip(ids).zip(texts) {
        call.id = call.id.take().or_else(|| id.map(str::to_owned));
        call.text = call.text.take().or_else(|| text.map(str::to_owned));
    }
    let waits = parts
        .iter()
        .any(|part| matches!(part, Part::Call(call) if call.native.is_none()));
    let stop = answer
        .get("stop")
        .cloned()
        .and_then(|stop| serde_json::from_value(stop).ok());
    let guessed = || if waits { Stop::Calls } else { Stop::End };
    let items = answer.get("items").cloned();
    let items: Option<Vec<AnswerItem>> = items.and_then(|items| serde_json::from_value(items).ok());
    ModelResponse {
        id: nonempty_string(answer, "id"),
        model: nonempty_string(answer, "model"),
        items: items.unwrap_or_default(),
        stop: stop.or_else(|| answer.get("broken").is_none().then(guessed)),
        tokens,
        others: 0,
        error: read_error(answer).map(Box::new),
        parts,
    }
}

/// The error that ended an answer. An older recording has the words of it alone.
fn read_error(answer: &Value) -> Option<Value> {
    // A short key may have been taken out of our own words.
    let words = || {
        let (begin, words) = text(answer, "broken")?.split_once("off: ")?;
        texts_match(&format!("{begin}off: "), BROKE_OFF, &[]).then_some(words)
    };
    let error = answer.get("error").cloned();
    error.or_else(|| Some(json!({ "message": words()? })))
}

pub(super) fn step_tokens(step: &StepTokens) -> Option<CallTokens> {
    Some(CallTokens {
        prompt: step.prompt?,
        completion: step.completion?,
        cached: step.cached,
        written: None,
        reasoning: step.reasoning,
    })
}

/// The tokens of an answer that is not of the agent's own conversation.
pub(super) fn read_tokens(answer: &Value) -> Option<CallTokens> {
    let tokens = answer.get("tokens")?;
    Some(CallTokens {
        prompt: count(tokens, "prompt")?,
        completion: count(tokens, "completion")?,
        cached: count(tokens, "cached"),
        written: None,
        reasoning: count(tokens, "reasoning"),
    })
}

pub(super) fn read_calls(trace: &Trace, field: &Value) -> Vec<RecordedCall> {
    let results = trace.results_by_call();
    let calls = trace.tool_calls.iter().zip(results);
    let unknown = trace.errors_unknown() > 0;
    let mut calls: Vec<RecordedCall> = calls
        .map(|(call, result)| RecordedCall {
            name: call.name.clone(),
            result: result.map(|result| Value::clone(&result.result)),
            is_error: result.and_then(|result| {
                let known = result.error_known || !unknown;
                known.then_some(result.is_error)
            }),
            told: ToldResult {
                is_of_server: field.is_null() && !call.server.is_empty(),
                ..ToldResult::default()
            },
        })
        .collect();
    let index = |value: &Value| usize::try_from(count(value, "call_index")?).ok();
    if records_told_results(field) {
        for call in &mut calls {
            call.told.is_error = Some(call.is_error);
        }
        for one in list(field, "told") {
            let Some(call) = index(one).and_then(|index| calls.get_mut(index)) else {
                continue;
            };
            call.told.value = one.get("value").cloned();
            if let Some(flag) = one.get("is_error") {
                call.told.is_error = Some(flag.as_bool());
            }
        }
    } else {
        let servers = list(field, "mcp").iter();
        for one in servers.flat_map(|server| list(server, "calls")) {
            // Of others the trace has what the model was told.
            if let (Some(call), None) =
                (index(one).and_then(|it| calls.get_mut(it)), one.get("name"))
            {
                call.told.is_of_server = true;
            }
        }
    }
    calls
}

/// Whether a session says what the model was told where the trace has something else: from version 1.2 on.
fn records_told_results(field: &Value) -> bool {
    let version = text(field, "version").and_then(|version| version.strip_prefix("1."));
    version.is_some_and(|minor| minor.parse::<u32>().is_ok_and(|minor| minor >= 2))
}

pub(super) fn read_other_requests(field: &Value) -> HashMap<String, Vec<OtherRequest>> {
    let mut others: HashMap<String, Vec<OtherRequest>> = HashMap::new();
    for (number, other) in list(field, "others").iter().enumerate() {
        let Some(digest) = nonempty_string(other, "digest") else {
            continue;
        };
        let encoded = text(other, "body_base64").and_then(|body| STANDARD.decode(body).ok());
        let body = encoded.or_else(|| text(other, "body").map(|body| body.as_bytes().to_vec()));
        let status = other["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok());
        let method = text(other, "method").unwrap_or_default();
        let path = text(other, "path").unwrap_or_default();
        others.entry(digest).or_default().push(OtherRequest {
            number,
            request: format!("{method} {path}"),
            reads: ["GET", "HEAD", "OPTIONS"].contains(&method),
            status: status.unwrap_or(200),
            media_type: nonempty_string(other, "media_type"),
            body: body.unwrap_or_default(),
        });
    }
    others
}
