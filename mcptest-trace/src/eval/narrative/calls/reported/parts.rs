//! What of a result is looked at.

use std::borrow::Cow;

use serde_json::Value;

/// What of a result is looked at, and whether it is the top: the blocks of an MCP result and its structured content, a
/// text that is JSON as JSON, and what stands right below `result`, `data` and the like.
pub(crate) fn parts(result: &Value) -> Vec<(Cow<'_, Value>, bool)> {
    const BLOCKS: usize = 64;
    let fields = result.as_object();
    let Some(texts) = blocks(result) else {
        let mut parts = vec![(opened(result), true)];
        let below = fields
            .into_iter()
            .flatten()
            .filter(|(key, _)| WRAPS.contains(&key.as_str()));
        parts.extend(below.map(|(_, inner)| (opened(inner), false)));
        parts.retain(|(part, is_top)| *is_top || part.is_object() || is_records(part));
        return parts;
    };
    let structured = fields.and_then(|fields| fields.get("structuredContent"));
    let parts = structured.into_iter().chain(texts.into_iter().take(BLOCKS));
    parts.map(|part| (opened(part), true)).collect()
}

/// The texts of the blocks of a result: `{ content: [{ type: text, text: … }] }`, or those blocks alone.
fn blocks(result: &Value) -> Option<Vec<&Value>> {
    fn text(block: &Value) -> Option<&Value> {
        let inner = || block.get("resource")?.get("text");
        block.get("text").or_else(inner)
    }
    let is_block = |block: &Value| block.get("type").is_some() && text(block).is_some();
    match (result, result.get("content")) {
        (Value::Array(blocks), _) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            Some(blocks.iter().filter_map(text).collect())
        }
        (_, Some(Value::Array(blocks))) if blocks.iter().all(Value::is_object) => {
            Some(blocks.iter().filter_map(text).collect())
        }
        (_, Some(Value::Array(texts))) if texts.iter().all(Value::is_string) => {
            Some(texts.iter().collect())
        }
        (_, Some(block)) if is_block(block) => Some(text(block).into_iter().collect()),
        _ => None,
    }
}

fn is_records(part: &Value) -> bool {
    let items = part.as_array().filter(|items| !items.is_empty());
    items.is_some_and(|items| items.iter().all(Value::is_object))
}

/// Keys under which a result stands.
const WRAPS: [&str; 8] = [
    "body", "content", "data", "output", "response", "result", "results", "value",
];

/// What a value is once it is opened: JSON in a text, what alone stands in an object; its fields as what they spell.
fn opened(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) => {
            let json = json(text.trim());
            json.map_or(Cow::Borrowed(value), |json| {
                Cow::Owned(opened(&json).into_owned())
            })
        }
        Value::Object(fields) => match fields.iter().next() {
            Some((key, inner @ (Value::Object(_) | Value::Array(_))))
                if fields.len() == 1 && WRAPS.contains(&key.as_str()) =>
            {
                opened(only(inner))
            }
            _ if fields.values().any(|field| plain(field).is_some()) => {
                let fields = fields.iter().map(|(key, field)| {
                    let field = plain(field).unwrap_or_else(|| field.clone());
                    (key.clone(), field)
                });
                Cow::Owned(Value::Object(fields.collect()))
            }
            _ => Cow::Borrowed(value),
        },
        other => Cow::Borrowed(other),
    }
}

/// The one object in an object: `data: { deleteFile: { … } }`.
fn only(value: &Value) -> &Value {
    match value
        .as_object()
        .map(|fields| fields.values().collect::<Vec<_>>())
    {
        Some(fields) if fields.len() == 1 && fields[0].is_object() => fields[0],
        _ => value,
    }
}

/// The JSON that a text is: in a fence, after a label (`Result: {…}`), or as Python prints it.
fn json(text: &str) -> Option<Value> {
    const LABEL: usize = 20;
    let fenced = text
        .strip_prefix("```")
        .and_then(|text| text.trim_end().strip_suffix("```"));
    let text = fenced.map_or(text, |text| text.trim_start_matches("json").trim());
    let label = text.split_once(':').filter(|(label, rest)| {
        let words = label.len() < LABEL && label.chars().all(|c| c.is_alphabetic() || c == ' ');
        words && rest.trim_start().starts_with(['{', '['])
    });
    let text = label.map_or(text, |(_, rest)| rest.trim_start());
    if !text.starts_with(['{', '[', '"']) {
        return None;
    }
    let python = || {
        let printed = text.starts_with("{'") || text.starts_with("[{'");
        let json = text.replace('\'', "\"");
        let json = json.replace("False", "false").replace("True", "true");
        printed.then(|| json.replace("None", "null"))
    };
    let read = |text: &str| serde_json::from_str(text).ok();
    read(text).or_else(|| read(&python()?))
}

/// The boolean or the number that a text spells: `"false"`, `"402"`.
pub(super) fn plain(value: &Value) -> Option<Value> {
    const LONGEST: usize = 12;
    let text = value.as_str()?.trim();
    if text.len() > LONGEST {
        return None;
    }
    match text {
        flag if flag.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        flag if flag.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        // *007* is a code.
        digits if digits == "0" || digits.starts_with(|c: char| ('1'..='9').contains(&c)) => {
            digits.parse::<u64>().ok().map(Value::from)
        }
        _ => None,
    }
}
