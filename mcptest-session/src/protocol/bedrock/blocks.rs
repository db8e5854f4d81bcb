//! Blocks of content, in the form in which the other formats have them.

use serde_json::{Value, json};

use super::super::content::text_of;
use crate::json::{member, non_null, text};

/// Where an answer that is read keeps the text of a call's input, beside the input.
pub(super) const INPUT_TEXT: &str = "mcptest_input_text";

/// Fields of the vendor of the model.
pub(super) const FIELDS: &str = "additionalModelResponseFields";

/// What a block is, and what it holds: a block is an object of one member.
pub(super) fn kind_of(block: &Value) -> Option<(&str, &Value)> {
    let (kind, inner) = block.as_object()?.iter().next()?;
    Some((kind.as_str(), inner))
}

/// A block as other formats have it. One that says nothing, such as a mark for the cache, is none.
pub(super) fn plain(block: &Value) -> Vec<Value> {
    let Some((kind, inner)) = kind_of(block) else {
        return Vec::new();
    };
    match kind {
        "text" => vec![json!({ "type": "text", "text": inner })],
        "json" => vec![json!({ "type": "json", "json": inner })],
        "cachePoint" => Vec::new(),
        "image" | "video" | "audio" | "document" => media(kind, inner),
        "guardContent" => match guarded(inner) {
            Some(block) => plain(&block),
            None => vec![other(kind, inner)],
        },
        _ => vec![other(kind, inner)],
    }
}

/// The text of a list of blocks.
pub(super) fn words(blocks: &[Value]) -> String {
    let plain = blocks.iter().flat_map(plain);
    plain.map(|block| text_of(Some(&block))).collect()
}

/// What a tool answered. One block of JSON is the value itself, and one of text is the text, as in formats without blocks.
pub(super) fn result(blocks: &[Value]) -> Value {
    let mut plain: Vec<Value> = blocks.iter().flat_map(plain).collect();
    match plain.as_mut_slice() {
        [one] if one["type"] == "json" => one["json"].take(),
        [one] if one["type"] == "text" => one["text"].take(),
        _ => Value::Array(plain),
    }
}

/// The block that a guardrail is told to look at, unless it is told how.
fn guarded(inner: &Value) -> Option<Value> {
    let has_qualifiers =
        |text: &Value| non_null(text, "qualifiers").is_some_and(|it| *it != json!([]));
    if let Some(text) = non_null(inner, "text") {
        return (!has_qualifiers(text)).then(|| json!({ "text": member(text, "text") }));
    }
    non_null(inner, "image").map(|image| json!({ "image": image }))
}

/// A picture, a sound, a document: its bytes, its text, or where it lies. The model reads the name of a document, too.
fn media(kind: &str, inner: &Value) -> Vec<Value> {
    let format = text(inner, "format").unwrap_or_default();
    let source = member(inner, "source");
    let mut blocks = Vec::new();
    for key in ["name", "context"] {
        if let Some(name) = text(inner, key) {
            blocks.push(json!({ "type": "text", "text": format!("{name} ") }));
        }
    }
    let uri = source.pointer("/s3Location/uri");
    if let Some(bytes) = non_null(&source, "bytes") {
        blocks.push(json!({ "type": kind, "mimeType": mime_type(kind, format), "data": bytes }));
    } else if let Some(said) = text(&source, "text") {
        blocks.push(json!({ "type": "text", "text": said }));
    } else if let Some(Value::Array(parts)) = source.get("content") {
        blocks.extend(parts.iter().flat_map(plain));
    } else if let Some(uri) = uri {
        blocks.push(json!({ "type": kind, "mimeType": mime_type(kind, format), "uri": uri }));
    } else {
        blocks.push(other(kind, inner));
    }
    blocks
}

fn mime_type(kind: &str, format: &str) -> String {
    let known = match format {
        "csv" => "text/csv",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "html" => "text/html",
        "md" => "text/markdown",
        "pdf" => "application/pdf",
        "three_gp" => "video/3gpp",
        "txt" => "text/plain",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => return format!("{kind}/{format}"),
    };
    known.to_owned()
}

fn other(kind: &str, inner: &Value) -> Value {
    match inner {
        Value::Object(map) if !map.contains_key("type") => {
            let mut block = inner.clone();
            block["type"] = kind.into();
            block
        }
        _ => json!({ "type": kind, "value": inner }),
    }
}
