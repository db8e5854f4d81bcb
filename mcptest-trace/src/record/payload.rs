//! Results of tools, as recordings have them.

use serde_json::{Value, json};

use super::lossless::{Change, Parsed, parse};

/// A result as recordings have it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Payload {
    /// The result, in MCP's form where it has one.
    pub result: Value,
    /// Whether it had that form in the source.
    pub is_mcp: bool,
    /// What was read otherwise than it is written.
    pub changes: Vec<Change>,
}

impl Payload {
    /// Reads a result as its source has it: a text that is wholly one MCP result is this result.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        let plain = |result: Value, is_mcp| Self {
            result,
            is_mcp,
            changes: Vec::new(),
        };
        match value {
            Value::Null => plain(json!({ "content": [] }), false),
            Value::String(text) => mcp_result(&text).unwrap_or_else(|| {
                plain(
                    json!({ "content": [{ "type": "text", "text": text }] }),
                    false,
                )
            }),
            Value::Array(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => {
                plain(json!({ "content": blocks }), false)
            }
            other => {
                let is_mcp = is_mcp(&other);
                plain(other, is_mcp)
            }
        }
    }
}

/// A result in MCP's form, and whether it had that form in the source.
#[must_use]
pub fn to_mcp_payload(value: Value) -> (Value, bool) {
    let Payload { result, is_mcp, .. } = Payload::from_value(value);
    (result, is_mcp)
}

fn is_block(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
}

/// A text that is wholly one MCP result.
fn mcp_result(text: &str) -> Option<Payload> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') {
        return None;
    }
    let Parsed { value, changes } = parse(text.as_bytes()).ok()?;
    is_mcp(&value).then_some(Payload {
        result: value,
        is_mcp: true,
        changes,
    })
}

fn is_mcp(value: &Value) -> bool {
    let blocks = value["content"].as_array();
    blocks.is_some_and(|blocks| blocks.iter().all(is_block))
        && (parse_flag(&value["isError"]).is_some() || value.get("structuredContent").is_some())
}

/// A flag in the spellings of those who keep it as a text or a number; nothing where it says neither.
#[must_use]
pub fn parse_flag(value: &Value) -> Option<bool> {
    let spelt = match value {
        Value::String(text) => text.to_lowercase(),
        other => other.to_string(),
    };
    match spelt.as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_in_the_form_of_mcp_where_it_has_one() {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        assert_eq!(to_mcp_payload(json!("done")), (text("done"), false));
        assert_eq!(
            to_mcp_payload(Value::Null),
            (json!({ "content": [] }), false)
        );
        let mcp = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
        assert_eq!(to_mcp_payload(mcp.to_string().into()), (mcp.clone(), true));
        assert_eq!(to_mcp_payload(mcp.clone()), (mcp, true));
        let other = json!({ "content": 1 });
        assert_eq!(
            to_mcp_payload(other.to_string().into()),
            (text(&other.to_string()), false)
        );
        assert_eq!(to_mcp_payload(other.clone()), (other, false));
    }

    #[test]
    fn a_result_in_a_text_loses_neither_its_flag_nor_its_digits() {
        let of = |text: &str| Payload::from_value(text.into());
        let half = of(r#"{"content":[{"type":"text","text":"half \ud83d"}],"isError":true}"#);
        assert!(half.is_mcp);
        assert_eq!(half.result["isError"], true);
        assert_eq!(half.result["content"][0]["text"], "half \u{fffd}");
        assert_eq!(half.changes, [Change::Half]);
        let long = of(
            r#"{"content":[],"structuredContent":{"id":123456789012345678901234567890,"v":NaN}}"#,
        );
        assert_eq!(
            long.result["structuredContent"],
            json!({ "id": "123456789012345678901234567890", "v": null })
        );
        assert_eq!(long.changes, [Change::Word, Change::Number]);
        let marked = of("\u{feff} {\"content\":[],\"isError\":true}");
        assert_eq!(marked.result["isError"], true);
        // What is no result of MCP stays the text that it is.
        let other = r#"{"v":NaN}"#;
        assert_eq!(of(other).result["content"][0]["text"], other);
        assert!(of(other).changes.is_empty());
    }
}
