//! Results of tools, as recordings have them.

use serde_json::{Value, json};

/// A result in MCP's form, and whether it had that form in the source.
#[must_use]
pub fn payload(value: Value) -> (Value, bool) {
    match value {
        Value::Null => (json!({ "content": [] }), false),
        Value::String(text) => match mcp_result(&text) {
            Some(result) => (result, true),
            None => (
                json!({ "content": [{ "type": "text", "text": text }] }),
                false,
            ),
        },
        Value::Array(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => {
            (json!({ "content": blocks }), false)
        }
        other => {
            let is_mcp = is_mcp(&other);
            (other, is_mcp)
        }
    }
}

fn is_block(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
}

/// A text that is wholly one MCP result.
fn mcp_result(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok().filter(is_mcp)
}

fn is_mcp(value: &Value) -> bool {
    let blocks = value["content"].as_array();
    blocks.is_some_and(|blocks| blocks.iter().all(is_block))
        && (flag(&value["isError"]).is_some() || value.get("structuredContent").is_some())
}

/// A flag in the spellings of those who keep it as a text or a number; nothing where it says neither.
#[must_use]
pub fn flag(value: &Value) -> Option<bool> {
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
        assert_eq!(payload(json!("done")), (text("done"), false));
        assert_eq!(payload(Value::Null), (json!({ "content": [] }), false));
        let mcp = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
        assert_eq!(payload(mcp.to_string().into()), (mcp.clone(), true));
        assert_eq!(payload(mcp.clone()), (mcp, true));
        let other = json!({ "content": 1 });
        assert_eq!(
            payload(other.to_string().into()),
            (text(&other.to_string()), false)
        );
        assert_eq!(payload(other.clone()), (other, false));
    }
}
