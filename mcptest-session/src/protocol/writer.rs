//! Requests, written: for an agent that has no client library.

use serde_json::{Map, Value, json};

use super::{Protocol, arguments};
use crate::exchange::{ModelRequest, Tool, ToolResult};

/// A wire format whose requests are written too.
///
/// ```
/// use mcptest_session::exchange::{ModelRequest, Item};
/// use mcptest_session::protocol::{Chat, Protocol as _, RequestWriter as _, Route};
///
/// let asked = ModelRequest {
///     model: Some("gpt-5".to_owned()),
///     items: vec![Item::User("Refund order 7.".to_owned())],
///     ..ModelRequest::default()
/// };
/// let body = serde_json::from_str(&Chat.request(&asked)).unwrap();
/// assert_eq!(Chat.parse_request(&Route::default(), &body), asked);
/// ```
pub trait RequestWriter: Protocol {
    /// The path of a request, as clients add it to the address of the provider.
    fn path(&self, model: &str) -> String;

    /// A request as a value. The arguments of earlier calls may be JSON in a text.
    #[doc(hidden)]
    fn request_value(&self, asked: &ModelRequest) -> Value;

    /// Writes a request for an answer that is not streamed. The arguments of earlier calls stand there as the model wrote
    /// them, and what only another provider understands is left out.
    fn request(&self, asked: &ModelRequest) -> String {
        let mut body = self.request_value(asked);
        for (key, value) in &asked.parameters {
            body[key] = value.clone();
        }
        arguments::written(&body)
    }
}

/// What a result says, as a text.
pub(super) fn result_text(result: &ToolResult) -> String {
    match &result.value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A tool, with the name that a format has for its schema.
pub(super) fn tool(tool: &Tool, schema_key: &str) -> Map<String, Value> {
    let mut written = Map::new();
    written.insert("name".to_owned(), tool.name.as_str().into());
    if let Some(description) = &tool.description {
        written.insert("description".to_owned(), description.as_str().into());
    }
    let schema = tool.schema.clone();
    let schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
    written.insert(schema_key.to_owned(), schema);
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Call, Item, Opaque, Part};
    use crate::protocol::{Anthropic, Chat, Gemini};

    fn call(id: &str, text: &str) -> Part {
        Part::Call(arguments::of_call(Call {
            id: Some(id.to_owned()),
            name: "desk__find".to_owned(),
            args: text.into(),
            ..Call::default()
        }))
    }

    fn result(id: &str, is_error: Option<bool>) -> Item {
        Item::Result(ToolResult {
            id: Some(id.to_owned()),
            name: Some("desk__find".to_owned()),
            value: "no order 7".into(),
            is_error,
            native: None,
        })
    }

    fn talk(own: &str, thinking: Value) -> ModelRequest {
        let thinking = Opaque {
            protocol: own.to_owned(),
            value: thinking,
        };
        let other = Opaque {
            protocol: "another".to_owned(),
            value: json!({ "signature": "x" }),
        };
        ModelRequest {
            model: Some("m".to_owned()),
            system: Some("Be brief.".to_owned()),
            items: vec![
                Item::User("Find 7 and 8.".to_owned()),
                Item::Answer(vec![
                    Part::Opaque(other),
                    Part::Opaque(thinking),
                    Part::Text("I look.".to_owned()),
                    call("a", r#"{"order": 1180591620717411303424, "b": 1.0}"#),
                    call("b", "{}"),
                ]),
                result("a", Some(true)),
                result("b", Some(false)),
                Item::Answer(Vec::new()),
                Item::User("Thank you.".to_owned()),
            ],
            tools: vec![Tool {
                name: "desk__find".to_owned(),
                description: Some("Finds.".to_owned()),
                schema: Some(json!({ "type": "object" })),
                strict: None,
            }],
            parameters: Map::from_iter([("temperature".to_owned(), json!(0.5))]),
            ..ModelRequest::default()
        }
    }

    /// The request, read again; its calls are written byte for byte.
    fn read_again(writer: &dyn RequestWriter, asked: &ModelRequest) -> ModelRequest {
        let body = writer.request(asked);
        let digits = r#"order\": 1180591620717411303424, \"b\": 1.0"#;
        let has = |text: &str| body.contains(text);
        assert!(has(digits) || has(&digits.replace('\\', "")), "{body}");
        assert!(!has("signature"), "{body}");
        let route = writer.route(&writer.path("m")).unwrap();
        let body = crate::lossless::parse(body.as_bytes()).unwrap().value;
        writer.parse_request(&route, &body)
    }

    /// What a format cannot say of results, and answers that say nothing.
    fn without(asked: &ModelRequest, flags: bool, names: bool) -> ModelRequest {
        let mut asked = asked.clone();
        asked.items.retain(|item| *item != Item::Answer(Vec::new()));
        for item in &mut asked.items {
            match item {
                Item::Result(result) => {
                    result.is_error = result.is_error.filter(|_| flags);
                    result.name = result.name.take().filter(|_| names);
                }
                Item::Answer(parts) => {
                    parts.retain(
                        |part| !matches!(part, Part::Opaque(one) if one.protocol == "another"),
                    );
                    // A reader of JSON keeps no other form of the arguments.
                    for part in parts {
                        if let Part::Call(call) = part {
                            call.text = call.text.take().filter(|_| !flags && !names);
                        }
                    }
                }
                _ => {}
            }
        }
        asked
    }

    #[test]
    fn a_request_is_read_as_it_was_meant_in_each_format() {
        let chat = talk("openai_chat", json!({ "reasoning_content": "hm" }));
        let mut meant = without(&chat, false, false);
        // The format has no answer that says nothing but an empty one.
        meant.items.insert(4, Item::Answer(Vec::new()));
        assert_eq!(read_again(&Chat, &chat), meant);
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signed": "s" });
        let anthropic = talk("anthropic_messages", thinking);
        let meant = without(&anthropic, true, false);
        assert_eq!(read_again(&Anthropic, &anthropic), meant);
        let gemini = talk(
            "gemini",
            json!({ "part": { "thought": true, "text": "hm" } }),
        );
        let mut meant = without(&gemini, false, true);
        for (place, key) in [(2, "error"), (3, "result")] {
            if let Item::Result(result) = &mut meant.items[place] {
                result.value = json!({ key: "no order 7" });
            }
        }
        assert_eq!(read_again(&Gemini, &gemini), meant);
    }
}
