//! What makes a message the same message, however a client spells it when it sends the message back.

use mcptest_session::protocol::parts;
use serde_json::{Value, json};

use crate::cassette::arguments;
use crate::content::text_of;
use crate::json::{list, text};

/// What a call is given, by value: JSON in a text is the object that it is, and nothing is the empty object.
pub(crate) fn comparable_args(args: Option<&Value>) -> Value {
    arguments(args.cloned().unwrap_or_default(), &mut Vec::new())
}

/// What a content says. Clients cut off the white space at its end.
pub(crate) fn comparable_text(content: Option<&Value>) -> String {
    text_of(content).trim_end().to_owned()
}

/// What a tool gave back: its text, if it is a text or a list of texts.
pub(crate) fn comparable_result(result: Option<&Value>) -> Value {
    let is_text = |part: &Value| part.is_string() || text(part, "text").is_some();
    match result {
        Some(Value::Array(parts)) if !parts.iter().all(is_text) => json!(parts),
        Some(Value::Array(_) | Value::String(_)) | None => json!(comparable_text(result)),
        Some(other) => other.clone(),
    }
}

/// The calls that a message has beside its content: identifiers, names, arguments.
pub(crate) fn comparable_calls(message: &Value) -> Vec<Value> {
    let call = |call: &Value| {
        let call = parts::tool_call(call);
        json!([call.id, call.name, comparable_args(Some(&call.args))])
    };
    list(message, "tool_calls").iter().map(call).collect()
}
