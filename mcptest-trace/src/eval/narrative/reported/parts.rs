//! What of a result is looked at.

use std::borrow::Cow;

use serde_json::Value;

/// What of a result is looked at, and whether it is the top: the text blocks of an MCP result and its
/// structured content, a text that is JSON as JSON, and what stands right below `result`, `data` and the like.
pub(in crate::eval::narrative) fn parts(result: &Value) -> Vec<(Cow<'_, Value>, bool)> {
    const BLOCKS: usize = 64;
    let fields = result.as_object();
    let blocks = fields.and_then(|fields| fields.get("content")?.as_array());
    let Some(blocks) = blocks.filter(|blocks| blocks.iter().all(Value::is_object)) else {
        let mut parts = vec![(opened(result), true)];
        let below = fields
            .into_iter()
            .flatten()
            .filter(|(key, _)| WRAPS.contains(&key.as_str()));
        parts.extend(below.map(|(_, inner)| (opened(inner), false)));
        parts.retain(|(part, is_top)| *is_top || part.is_object());
        return parts;
    };
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text"))
        .take(BLOCKS);
    let structured = fields.and_then(|fields| fields.get("structuredContent"));
    let parts = structured.into_iter().chain(texts);
    parts.map(|part| (opened(part), true)).collect()
}

/// Keys under which a result stands.
const WRAPS: [&str; 6] = ["body", "data", "output", "response", "result", "value"];

fn opened(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[', '"']) => {
            let json: Option<Value> = serde_json::from_str(text).ok();
            json.map_or(Cow::Borrowed(value), |json| {
                Cow::Owned(opened(&json).into_owned())
            })
        }
        Value::Object(fields) => match fields.iter().next() {
            Some((key, inner @ (Value::Object(_) | Value::Array(_))))
                if fields.len() == 1 && WRAPS.contains(&key.as_str()) =>
            {
                opened(inner)
            }
            _ => Cow::Borrowed(value),
        },
        other => Cow::Borrowed(other),
    }
}
