//! What a model is told of a tool's result.

use serde_json::Value;

use crate::trace::canonical_json;

/// The text of a result; structured content where there is no text.
pub(super) fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts = blocks.map(|block| match (block["type"].as_str(), &block["text"]) {
        (Some("text"), Value::String(text)) => text.clone(),
        // A model that reads text is told that there was something else, not megabytes of it.
        (Some(kind @ ("image" | "audio")), _) => {
            format!(
                "[{kind}: {}]",
                block["mimeType"].as_str().unwrap_or("unknown")
            )
        }
        _ => canonical_json(block),
    });
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if text.is_empty() && !result["structuredContent"].is_null() {
        text = canonical_json(&result["structuredContent"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_told_the_text_of_a_result() {
        let text = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] });
        assert_eq!(text_of(&text), "a\nb");
        let image =
            json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "AAAA" }] });
        assert_eq!(text_of(&image), "[image: image/png]");
        let structured = json!({ "content": [], "structuredContent": { "b": 1, "a": 2 } });
        assert_eq!(text_of(&structured), r#"{"a":2,"b":1}"#);
        assert_eq!(text_of(&json!({ "content": [] })), "");
    }
}
