//! Parts of a message.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::super::arguments;
use super::super::numbered::numbered;
use super::super::request::parameters;
use super::NAME;
use super::texts::ARGS_TEXT;
use crate::exchange::{Call, Opaque, Part, ToolResult};
use crate::json::{identifier, member, non_null, nonempty_string, text};

/// Fields of a part that are read.
const OF_PART: [&str; 4] = ["text", "functionCall", "functionResponse", "thought"];

/// Identifiers of calls. Many calls have none: a result is then that of the call of its name whose turn it
/// is, so that such calls are told apart by name and number.
#[derive(Default)]
pub(super) struct Names {
    called: HashMap<String, usize>,
    answered: HashMap<String, usize>,
}

impl Names {
    pub(super) fn call(&mut self, parts: &mut [Part]) {
        for part in parts {
            if let Part::Call(call) = part
                && call.id.is_none()
            {
                let number = self.called.entry(call.name.clone()).or_default();
                call.id = Some(numbered(&call.name, *number));
                *number += 1;
            }
        }
    }

    pub(super) fn answer(&mut self, result: &mut ToolResult) {
        if result.id.is_none()
            && let Some(name) = &result.name
        {
            let number = self.answered.entry(name.clone()).or_default();
            result.id = Some(numbered(name, *number));
            *number += 1;
        }
    }
}

pub(super) fn response_of(part: &Value) -> Option<&Value> {
    non_null(part, "functionResponse").or_else(|| non_null(part, "function_response"))
}

/// The format has no flag for errors: nothing is known of them.
pub(super) fn result(response: &Value) -> ToolResult {
    ToolResult {
        id: identifier(response, "id"),
        name: nonempty_string(response, "name"),
        value: member(response, "response"),
        ..ToolResult::default()
    }
}

fn opaque(value: Value) -> Part {
    Part::Opaque(Opaque {
        protocol: NAME.to_owned(),
        value,
    })
}

/// What an answer says. What stands beside a part, such as a signature, goes before it as a part of its own.
pub(super) fn parts(own: &[Value]) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in own {
        let call = non_null(part, "functionCall").or_else(|| non_null(part, "function_call"));
        let said = text(part, "text");
        if part["thought"] == true || call.is_none() && said.is_none() {
            parts.push(opaque(json!({ "part": part })));
            continue;
        }
        let beside = parameters(part, &[&OF_PART[..], &["function_call"]].concat());
        if !beside.is_empty() {
            parts.push(opaque(json!({ "beside": beside })));
        }
        if let Some(call) = call {
            parts.push(Part::Call(arguments::of_call(Call {
                id: identifier(call, "id"),
                name: text(call, "name").unwrap_or_default().to_owned(),
                args: member(call, "args"),
                text: nonempty_string(call, ARGS_TEXT),
                ..Call::default()
            })));
        } else if let Some(said) = said {
            parts.push(Part::Text(said.to_owned()));
        }
    }
    parts
}

/// The parts of an answer. What another provider made is left out; a refusal is text.
pub(super) fn written(parts: &[Part]) -> Vec<Value> {
    let mut written = Vec::new();
    let mut beside = Map::new();
    let mut names = Names::default();
    for part in parts {
        let mut value = match part {
            Part::Text(text) | Part::Refusal(text) => json!({ "text": text }),
            Part::Call(call) if call.native.is_none() => {
                let mut value = json!({
                    "name": call.name,
                    "args": arguments::object(call),
                });
                // An identifier that stands for none is none.
                let number = names.called.entry(call.name.clone()).or_default();
                let stands_for_none = numbered(&call.name, *number);
                match &call.id {
                    Some(id) if *id == stands_for_none => *number += 1,
                    Some(id) => value["id"] = id.as_str().into(),
                    None => {}
                }
                json!({ "functionCall": value })
            }
            Part::Opaque(opaque) if opaque.protocol == NAME => {
                if let Some(part) = opaque.value.get("part") {
                    written.push(part.clone());
                } else if let Some(more) = opaque.value.get("beside").and_then(Value::as_object) {
                    beside.clone_from(more);
                }
                continue;
            }
            _ => continue,
        };
        for (key, more) in std::mem::take(&mut beside) {
            value[key] = more;
        }
        written.push(value);
    }
    written
}
