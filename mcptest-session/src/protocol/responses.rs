//! `OpenAI` Responses.

mod items;
mod stream;

use serde_json::{Value, json};

use super::content::text_of;
use super::numbered::{call_id, pair};
use super::request::{deployment, ends_with, parameters, tool};
use super::sse::Event;
use super::written::{CREATED, id_or, openai_error};
use super::{Assembled, Framing, Protocol, Provider, Route, arguments};
use crate::exchange::{
    AnswerItem, Call, CallTokens, Item, ModelRequest, ModelResponse, Part, Stop, ToolResult,
};
use crate::json::{
    count, identifier, list, member, non_null, nonempty_string, nonempty_text, role, text,
};
use items::read_item;

pub use items::{built_in, call, mcp_call};

/// The format.
#[derive(Debug)]
pub struct Responses;

/// The name of the format.
const NAME: &str = "openai_responses";

/// Fields of a request that are read into fields of their own, or say nothing of the answer.
const READ: [&str; 7] = [
    "input",
    "instructions",
    "metadata",
    "model",
    "previous_response_id",
    "stream",
    "tools",
];

impl Protocol for Responses {
    fn name(&self) -> &'static str {
        NAME
    }

    fn providers(&self) -> &'static [Provider] {
        // They are those of Chat Completions.
        &[]
    }

    fn title(&self) -> &'static str {
        "OpenAI's Responses (`/responses`)"
    }

    fn unread(&self, _path: &str, _body: &[u8]) -> Option<&'static str> {
        // They are those of Chat Completions.
        None
    }

    fn route(&self, path: &str) -> Option<Route> {
        ends_with(path, "responses").then(|| Route {
            model: deployment(path),
            streamed: None,
        })
    }

    fn parse_request(&self, route: &Route, body: &Value) -> ModelRequest {
        let (leading, items) = match body.get("input") {
            Some(Value::Array(items)) => talk(items),
            None | Some(Value::Null) => (Vec::new(), Vec::new()),
            Some(input) => (Vec::new(), vec![Item::User(text_of(Some(input)))]),
        };
        let mut system = vec![text_of(body.get("instructions"))];
        system.extend(leading);
        system.retain(|text| !text.is_empty());
        ModelRequest {
            model: nonempty_string(body, "model").or_else(|| route.model.clone()),
            system: (!system.is_empty()).then(|| system.join("\n\n")),
            items,
            tools: list(body, "tools").iter().filter_map(tool).collect(),
            previous: nonempty_string(body, "previous_response_id"),
            streamed: body["stream"] == true,
            parameters: parameters(body, &READ),
        }
    }

    fn keeps_request(&self) -> bool {
        false
    }

    fn wraps_results(&self) -> bool {
        false
    }

    fn items(&self, messages: &[Value]) -> Vec<Item> {
        talk(messages).1
    }

    fn parse_response(&self, body: &Value) -> Option<ModelResponse> {
        let output = body.get("output")?.as_array()?;
        let (mut parts, mut items) = (Vec::new(), Vec::new());
        for item in output {
            let before = parts.len();
            read_item(item, &mut parts);
            items.push(identifier(item, "id").map(|id| AnswerItem {
                id,
                parts: parts.len() - before,
            }));
        }
        let stop = stop(body, &parts);
        Some(ModelResponse {
            id: identifier(body, "id"),
            model: nonempty_string(body, "model"),
            parts,
            items: items.into_iter().collect::<Option<_>>().unwrap_or_default(),
            stop,
            tokens: tokens(body),
            others: 0,
            error: None,
        })
    }

    fn assembled(&self, events: &[Event]) -> Assembled {
        stream::assembled(events)
    }

    fn with_texts(&self, body: Value, _bytes: &[u8]) -> Value {
        body
    }

    fn answer(&self, said: &ModelResponse) -> Value {
        let (status, details) = match &said.stop {
            None => (None, Value::Null),
            Some(Stop::Length) => (Some("incomplete"), json!({ "reason": "max_output_tokens" })),
            Some(Stop::Refused) if !said.parts.iter().any(refuses) => {
                (Some("incomplete"), json!({ "reason": "content_filter" }))
            }
            Some(Stop::Other(reason)) => (Some("incomplete"), json!({ "reason": reason })),
            Some(Stop::Failed) => (Some("failed"), Value::Null),
            Some(_) => (Some("completed"), Value::Null),
        };
        let mut body = json!({
            "id": id_or(said, "resp_"),
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "error": null,
            "incomplete_details": details,
            "instructions": null,
            "metadata": {},
            "model": said.model,
            "output": output(said),
            "parallel_tool_calls": true,
            "temperature": null,
            "tool_choice": "auto",
            "tools": [],
            "top_p": null,
        });
        if let Some(tokens) = said.tokens {
            body["usage"] = usage(tokens);
        }
        body
    }

    fn events(&self, said: &ModelResponse) -> Vec<Event> {
        stream::events(&self.answer(said))
    }

    fn framing(&self, _query: Option<&str>) -> Framing {
        Framing::Events
    }

    fn closing_events(&self) -> usize {
        2
    }

    fn failure(&self, error: &Value) -> Event {
        let is_whole = error["type"] == "error";
        let data = if is_whole {
            error.clone()
        } else {
            json!({ "type": "error", "error": error })
        };
        Event::named("error", data.to_string())
    }

    fn tells_tokens(&self, _request: &Value) -> bool {
        true
    }

    #[cfg(feature = "record")]
    fn asking_for_tokens(&self, _request: &[u8]) -> Option<Vec<u8>> {
        None
    }

    #[cfg(feature = "record")]
    fn is_tokens_alone(&self, _event: &Event) -> bool {
        false
    }

    fn error(&self, status: u16, message: &str) -> Value {
        openai_error(status, message)
    }
}

/// The texts of leading system messages, and the talk after them. Items of the model that follow one
/// another are one answer.
fn talk(input: &[Value]) -> (Vec<String>, Vec<Item>) {
    let (mut system, mut items) = (Vec::new(), Vec::new());
    for item in input {
        let kind = text(item, "type").unwrap_or("message");
        let role = role(item).unwrap_or_default();
        if kind == "message" && role != "assistant" {
            let said = text_of(item.get("content"));
            match role.as_str() {
                "system" | "developer" if items.is_empty() => system.push(said),
                "user" => items.push(Item::User(said)),
                _ => items.push(Item::Turn { role, text: said }),
            }
        } else if kind == "item_reference" {
            items.push(Item::Reference(identifier(item, "id").unwrap_or_default()));
        } else if kind.ends_with("_call_output") {
            // The format has no flag for errors: nothing is known of them.
            items.push(Item::Result(ToolResult {
                id: call_id(item, "call_id"),
                value: member(item, "output"),
                ..ToolResult::default()
            }));
        } else if let Some(Item::Answer(parts)) = items.last_mut() {
            read_item(item, parts);
        } else {
            let mut parts = Vec::new();
            read_item(item, &mut parts);
            items.push(Item::Answer(parts));
        }
    }
    pair(&mut items);
    (system, items)
}

fn refuses(part: &Part) -> bool {
    matches!(part, Part::Refusal(_))
}

fn stop(body: &Value, parts: &[Part]) -> Option<Stop> {
    let waits = |part: &Part| matches!(part, Part::Call(call) if call.native.is_none());
    Some(match nonempty_text(body, "status")? {
        "incomplete" => match nonempty_text(&body["incomplete_details"], "reason") {
            Some("max_output_tokens") => Stop::Length,
            Some("content_filter") => Stop::Refused,
            other => Stop::Other(other.unwrap_or("incomplete").to_owned()),
        },
        "failed" | "cancelled" => Stop::Failed,
        "completed" if parts.iter().any(waits) => Stop::Calls,
        "completed" if parts.iter().any(refuses) => Stop::Refused,
        "completed" => Stop::End,
        // It goes on in the background.
        _ => return None,
    })
}

fn tokens(body: &Value) -> Option<CallTokens> {
    let usage = non_null(body, "usage")?;
    let part = |of: &str, key: &str| count(usage.get(of)?, key);
    Some(CallTokens {
        prompt: count(usage, "input_tokens")?,
        cached: part("input_tokens_details", "cached_tokens"),
        written: None,
        completion: count(usage, "output_tokens")?,
        reasoning: part("output_tokens_details", "reasoning_tokens"),
    })
}

fn usage(tokens: CallTokens) -> Value {
    let mut usage = json!({
        "input_tokens": tokens.prompt,
        "output_tokens": tokens.completion,
        "total_tokens": tokens.prompt.saturating_add(tokens.completion),
    });
    if let Some(cached) = tokens.cached {
        usage["input_tokens_details"] = json!({ "cached_tokens": cached });
    }
    if let Some(reasoning) = tokens.reasoning {
        usage["output_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    usage
}

/// The items of an answer. Text that follows text is of one message; what another provider made is left out.
fn output(said: &ModelResponse) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for part in &said.parts {
        match part {
            Part::Text(text) => words(
                &mut items,
                json!({ "type": "output_text", "text": text, "annotations": [] }),
            ),
            Part::Refusal(text) => {
                words(&mut items, json!({ "type": "refusal", "refusal": text }));
            }
            Part::Call(Call {
                native: Some(native),
                ..
            })
            | Part::Opaque(native) => {
                if native.protocol == NAME && native.value.is_object() {
                    items.push(native.value.clone());
                }
            }
            Part::Call(call) => {
                let mut item = json!({
                    "type": "function_call",
                    "call_id": call.id,
                    "name": call.name,
                    "arguments": arguments::text(call),
                    "status": "completed",
                });
                if let Some(server) = &call.server {
                    item["namespace"] = format!("mcp__{server}").into();
                }
                items.push(item);
            }
            // It stands in the item of its call.
            Part::Result(_) => {}
        }
    }
    let answer = id_or(said, "resp_");
    let given = said.items.len() == items.len();
    for (index, item) in items.iter_mut().enumerate() {
        if given {
            item["id"] = said.items[index].id.as_str().into();
        } else if item.get("id").is_none() {
            let prefix = match text(item, "type") {
                Some("function_call") => "fc",
                _ => "msg",
            };
            item["id"] = format!("{prefix}_{answer}_{index}").into();
        }
    }
    items
}

/// The answer of which an item is, and which one of its items, where this format gave it its identifier.
#[cfg(feature = "play")]
pub(crate) fn written_item(id: &str) -> Option<(&str, usize)> {
    let (_, rest) = id.split_once('_')?;
    let (answer, index) = rest.rsplit_once('_')?;
    Some((answer, index.parse().ok()?))
}

/// What an item says of an answer that this format wrote.
#[cfg(feature = "play")]
pub(crate) fn parts_of_item(said: &ModelResponse, index: usize) -> Option<Vec<Part>> {
    let body = Responses.answer(said);
    let item = body["output"].get(index)?.clone();
    let items = Responses.items(&[item]).into_iter();
    let parts = items.map(|item| match item {
        Item::Answer(parts) => parts,
        _ => Vec::new(),
    });
    Some(parts.flatten().collect())
}

/// Puts words into the message that is last, or into a new one.
fn words(items: &mut Vec<Value>, part: Value) {
    if let Some(last) = items.last_mut()
        && text(last, "type") == Some("message")
        && let Some(content) = last["content"].as_array_mut()
    {
        content.push(part);
        return;
    }
    items.push(json!({
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }));
}
