//! When two values are the same: by value, with what was taken out of the recording standing for anything, and with
//! what the masks match blanked on both sides.

use mcptest_trace::trace::json_eq;
use regex::Regex;
use serde_json::{Map, Value};

use crate::protocol::blob;
use crate::record::payload::payload;

/// What stands in a recording in place of a secret.
const MARKER: &str = "[redacted";

/// Whether a value now is the recorded one.
pub(super) fn same(recorded: &Value, played: &Value, masks: &[Regex]) -> bool {
    match (recorded, played) {
        (Value::String(recorded), Value::String(played)) => same_text(recorded, played, masks),
        // A whole value that was taken out may have been of any type.
        (Value::String(recorded), _) if only_marker(recorded) => true,
        (Value::Array(recorded), Value::Array(played)) => {
            let mut pairs = recorded.iter().zip(played);
            recorded.len() == played.len() && pairs.all(|(old, new)| same(old, new, masks))
        }
        (Value::Object(recorded), Value::Object(played)) => same_members(recorded, played, masks),
        _ => json_eq(recorded, played),
    }
}

fn same_members(
    recorded: &Map<String, Value>,
    played: &Map<String, Value>,
    masks: &[Regex],
) -> bool {
    recorded.len() == played.len()
        && recorded.iter().all(|(key, old)| match played.get(key) {
            Some(new) => same(old, new, masks),
            None => key.contains(MARKER),
        })
}

/// Whether a text now is the recorded one.
pub(super) fn same_text(recorded: &str, played: &str, masks: &[Regex]) -> bool {
    if recorded == played {
        return true;
    }
    let recorded = blanked(recorded, masks);
    let played = blanked(played, masks);
    recorded == played || fits(&recorded, &played)
}

fn blanked(text: &str, masks: &[Regex]) -> String {
    let mut text = text.to_owned();
    for mask in masks {
        // A mark that no text has by itself, so that a blank is no match of another text.
        text = mask.replace_all(&text, "\u{0}").into_owned();
    }
    text
}

fn only_marker(text: &str) -> bool {
    text.starts_with(MARKER) && text.find(']') == Some(text.len() - 1)
}

/// Whether a text is a recorded one with anything where something was taken out of that.
fn fits(recorded: &str, played: &str) -> bool {
    let mut pieces = Vec::new();
    let mut rest = recorded;
    while let Some(at) = rest.find(MARKER) {
        let Some(end) = rest[at..].find(']') else {
            break;
        };
        pieces.push(&rest[..at]);
        rest = &rest[at + end + 1..];
    }
    let Some(first) = pieces.first() else {
        return false;
    };
    let (Some(mut left), last) = (played.strip_prefix(first), rest) else {
        return false;
    };
    for piece in &pieces[1..] {
        let Some(at) = left.find(piece) else {
            return false;
        };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

/// What a result says: the JSON of its text, its text, or its blocks; and its structured content, where it has that.
/// Gemini's clients wrap a result, as that format takes objects alone: `{"output": …}`, `{"result": …}`, and genai's
/// for Rust `{"name": …, "content": …}`.
pub(super) fn forms(result: &Value, wrapped: bool) -> Vec<Value> {
    let (mut result, _) = payload(result.clone());
    blob::condense(&mut result);
    let mut forms = Vec::new();
    match result.get("content").and_then(Value::as_array) {
        Some(blocks) => match texts(blocks) {
            Some(text) => forms.push(serde_json::from_str(&text).unwrap_or(Value::String(text))),
            None => forms.push(Value::Array(blocks.clone())),
        },
        None => forms.push(match &result {
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| result.clone()),
            _ => result.clone(),
        }),
    }
    if let Some(structured) = result.get("structuredContent") {
        forms.push(structured.clone());
    }
    if wrapped {
        let inner: Vec<Value> = forms.iter().filter_map(unwrapped).collect();
        forms.extend(inner);
    }
    forms
}

fn unwrapped(form: &Value) -> Option<Value> {
    let form = form.as_object()?;
    let inner = match form.len() {
        1 => form.get("output").or_else(|| form.get("result")),
        2 => form.get("content").filter(|_| form.contains_key("name")),
        _ => None,
    }?;
    Some(match inner {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| inner.clone()),
        other => other.clone(),
    })
}

fn texts(blocks: &[Value]) -> Option<String> {
    let text = |block: &Value| {
        let is_text = block["type"] == "text"
            || block["type"] == "input_text"
            || block["type"] == "output_text";
        block["text"]
            .as_str()
            .filter(|_| is_text)
            .map(str::to_owned)
    };
    let texts: Option<Vec<String>> = blocks.iter().map(text).collect();
    texts.map(|texts| texts.join("\n"))
}
