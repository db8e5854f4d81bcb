//! What a model gives a tool: as it is written down, and as the server gets it.
//!
//! A [`Value`] rounds numbers beyond 64 bits, so they are texts in it: their digits in a recording, as
//! `cargo mcptest import` writes them, and marked ones on their way to the server, where `exact` puts the
//! number back.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::exact::Mark;
use crate::text::truncate;
use crate::trace::without_rounding;

/// From here on a float may have been a whole number beyond 64 bits: 2^63.
const ROUNDED: f64 = 9_223_372_036_854_775_808.0;

/// The longest number that is shown, in characters.
const SHOWN: usize = 40;

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arguments {
    /// As they are written down.
    pub(super) recorded: Value,
    sent: Sent,
}

/// What of the arguments a server gets.
#[derive(Debug, Clone, PartialEq)]
enum Sent {
    /// What is written down.
    Recorded,
    /// An object with numbers that no [`Value`] holds, as the model spelt it, and the last such number.
    Spelt { text: String, number: String },
    /// Nothing, for a reason.
    Nothing(String),
}

impl Arguments {
    /// Of a model that writes its arguments as text. Nothing at all means no arguments.
    pub(super) fn written(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::none();
        }
        let mut number = None;
        let quoted = without_rounding(text, |literal| number.insert(literal.to_owned()).clone());
        match serde_json::from_str::<Value>(quoted.as_deref().unwrap_or(text)) {
            Ok(Value::Null) => Self::none(),
            Ok(recorded @ Value::Object(_)) => Self {
                recorded,
                sent: match number {
                    Some(number) => Sent::Spelt {
                        text: text.to_owned(),
                        number,
                    },
                    None => Sent::Recorded,
                },
            },
            // Some models write the text of an object as a text once more.
            Ok(Value::String(inner)) if number.is_none() => match Self::written(&inner) {
                Self {
                    sent: Sent::Nothing(_),
                    ..
                } => Self::no_object(inner.into()),
                arguments => arguments,
            },
            Ok(recorded) => Self::no_object(recorded),
            Err(error) => Self {
                recorded: text.into(),
                sent: Sent::Nothing(format!("the arguments are not JSON: {error}")),
            },
        }
    }

    /// Of a model whose provider gives arguments as JSON, which was read before.
    pub(super) fn read(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::written(text),
            Value::Null => Self::none(),
            Value::Object(args) => Self {
                recorded: value.clone(),
                sent: match rounded(args) {
                    Some(problem) => Sent::Nothing(problem),
                    None => Sent::Recorded,
                },
            },
            other => Self::no_object(other.clone()),
        }
    }

    fn none() -> Self {
        Self {
            recorded: Map::new().into(),
            sent: Sent::Recorded,
        }
    }

    fn no_object(recorded: Value) -> Self {
        Self {
            recorded,
            sent: Sent::Nothing("the arguments must be a JSON object".to_owned()),
        }
    }

    /// What a server gets, or why it gets nothing; `mark` where numbers can be marked on their way to it.
    pub(super) fn for_server(&self, mark: Option<&Mark>) -> Result<JsonObject, String> {
        let args = match (&self.sent, mark) {
            (Sent::Recorded, _) => self.recorded.clone(),
            (Sent::Nothing(problem), _) => return Err(problem.clone()),
            (Sent::Spelt { number, .. }, None) => {
                return Err(not_made(number, "sent over HTTP"));
            }
            (Sent::Spelt { text, .. }, Some(mark)) => {
                let marked = without_rounding(text, |number| mark.on(number));
                let read = serde_json::from_str(marked.as_deref().unwrap_or(text));
                read.map_err(|error| format!("the arguments are not JSON: {error}"))?
            }
        };
        match args {
            Value::Object(args) => Ok(args),
            _ => Err("the arguments must be a JSON object".to_owned()),
        }
    }
}

/// What is wrong with a number that would not arrive as the model wrote it.
fn not_made(number: &str, when: &str) -> String {
    format!(
        "the call was not made: the number {} has more digits than a number can have that is {when}; write it as text",
        truncate(number, SHOWN)
    )
}

/// What is wrong where a number may not be what the model wrote.
fn rounded(args: &JsonObject) -> Option<String> {
    fn number(value: &Value) -> Option<String> {
        match value {
            Value::Number(number) => {
                let may_be =
                    number.is_f64() && number.as_f64().is_some_and(|it| it.abs() >= ROUNDED);
                may_be.then(|| number.to_string())
            }
            Value::Array(items) => items.iter().find_map(number),
            Value::Object(map) => map.values().find_map(number),
            _ => None,
        }
    }
    let found = args.values().find_map(number)?;
    Some(not_made(&found, "read from this provider"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LONG: &str = r#"{"k": "z", "n": [1180591620717411303424, 1]}"#;

    fn problem(arguments: &Arguments) -> String {
        arguments.for_server(Some(&Mark::new())).unwrap_err()
    }

    #[test]
    fn a_call_gives_an_object_or_is_refused() {
        for (text, recorded) in [
            (r#"{"a": 1}"#, json!({ "a": 1 })),
            ("", json!({})),
            (" \n", json!({})),
            ("null", json!({})),
            (r#""""#, json!({})),
            (r#""{\"a\": 1}""#, json!({ "a": 1 })),
        ] {
            let arguments = Arguments::written(text);
            assert_eq!(arguments.recorded, recorded, "{text}");
            let sent = Value::Object(arguments.for_server(None).unwrap());
            assert_eq!(sent, recorded, "{text}");
            assert_eq!(Arguments::read(&json!(text)), arguments);
        }
        assert_eq!(Arguments::read(&Value::Null).recorded, json!({}));
        for (wrong, recorded) in [
            ("[1]", json!([1])),
            ("3", json!(3)),
            (r#""find it""#, json!("find it")),
            ("12345678901234567890123", json!("12345678901234567890123")),
        ] {
            let arguments = Arguments::written(wrong);
            assert_eq!(arguments.recorded, recorded);
            assert_eq!(problem(&arguments), "the arguments must be a JSON object");
        }
        let arguments = Arguments::written("{not json");
        assert_eq!(arguments.recorded, json!("{not json"));
        let error = problem(&arguments);
        assert!(error.starts_with("the arguments are not JSON: "), "{error}");
    }

    #[test]
    fn a_number_beyond_64_bits_is_written_down_and_sent_as_it_was_or_not_at_all() {
        let arguments = Arguments::written(LONG);
        assert_eq!(
            arguments.recorded,
            json!({ "k": "z", "n": ["1180591620717411303424", 1] })
        );
        let mark = Mark::new();
        let sent = Value::Object(arguments.for_server(Some(&mark)).unwrap()).to_string();
        let line = mark.lifted(sent.into_bytes());
        assert_eq!(
            String::from_utf8(line).unwrap(),
            r#"{"k":"z","n":[1180591620717411303424,1]}"#
        );
        assert_eq!(
            arguments.for_server(None).unwrap_err(),
            "the call was not made: the number 1180591620717411303424 has more digits than a number can have that is sent over HTTP; write it as text"
        );
        // The same digits as a text are a text.
        let text = Arguments::written(r#"{"n": "1180591620717411303424"}"#);
        assert_eq!(
            text.for_server(None).unwrap()["n"],
            "1180591620717411303424"
        );
    }

    #[test]
    fn a_number_that_was_rounded_before_is_not_sent() {
        let value: Value = serde_json::from_str(LONG).unwrap();
        let error = problem(&Arguments::read(&value));
        assert!(error.contains("read from this provider"), "{error}");
        for kept in [
            json!({ "n": u64::MAX }),
            json!({ "n": 1.5e18 }),
            json!({ "n": i64::MIN }),
        ] {
            let arguments = Arguments::read(&kept);
            assert_eq!(Value::Object(arguments.for_server(None).unwrap()), kept);
        }
    }
}
