//! Arguments and results as texts of the page.

use serde_json::Value;

/// The longest argument or result that the file holds, in bytes.
const LONGEST: usize = 100_000;

/// What a tool said, where MCP's envelope holds texts alone: the texts, each as the JSON that it is.
pub(super) fn unwrap_result(result: &Value) -> Value {
    let content = result.get("content").and_then(Value::as_array);
    let texts: Option<Vec<&str>> = content.and_then(|content| {
        let texts = content.iter().map(|part| {
            let only_text = part.get("type").is_some_and(|kind| kind == "text");
            part.get("text")
                .and_then(Value::as_str)
                .filter(|_| only_text)
        });
        texts.collect()
    });
    match texts.as_deref() {
        None | Some([]) => result.clone(),
        Some([text]) => serde_json::from_str(text).unwrap_or_else(|_| (*text).into()),
        Some(texts) => texts.join("\n").into(),
    }
}

/// A value as text; a very long one is cut, and says so.
pub(super) fn display_value(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => mcptest_trace::trace::pretty_json(value),
    };
    if text.len() <= LONGEST {
        return text;
    }
    let end = text.floor_char_boundary(LONGEST);
    let more = text.len() - end;
    format!("{}\n… {more} bytes more in the recording", &text[..end])
}
