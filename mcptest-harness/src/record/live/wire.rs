//! What came from a server, where it is not what MCP says: each is named, so that no answer is
//! taken for a slow one.

use mcptest_suite::quoted_list;
use mcptest_suite::text::kind;
use rmcp::RoleClient;
use rmcp::model::{CallToolResult, Tool};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

use crate::text::truncate;

/// How much is shown before and behind the place of an error, in bytes.
const AROUND: usize = 60;

/// The longest answer that is shown, in characters.
const SHOWN: usize = 2_000;

/// A line on standard output that is no message: what is wrong, and the part of it that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) problem: String,
    pub(super) shown: String,
}

/// What a line on standard output is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A message, or nothing.
    Fine,
    /// Something a program prints by mistake.
    Garbage,
    /// A message that cannot be read.
    Broken(Broken),
}

/// Looks at a whole line.
pub(super) fn look_at(line: &[u8]) -> Line {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Line::Fine;
    }
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => value,
        Err(error) if holds(line, b"\"jsonrpc\"") => {
            return Line::Broken(Broken {
                problem: format!("is no JSON: {}", without_place(&error.to_string())),
                shown: around(line, error.column()),
            });
        }
        Err(_) => return Line::Garbage,
    };
    // What is not an answer is not waited for.
    if value.get("result").is_none() && value.get("error").is_none() {
        return if value.is_object() {
            Line::Fine
        } else {
            Line::Garbage
        };
    }
    match serde_json::from_slice::<RxJsonRpcMessage<RoleClient>>(line) {
        Ok(_) => Line::Fine,
        Err(_) => Line::Broken(Broken {
            problem: "is no JSON-RPC response, which has an `id` and a `result` or an `error` with `code` and `message`"
                .to_owned(),
            shown: truncate(&value.to_string(), SHOWN),
        }),
    }
}

fn holds(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}

/// The parser's own words: all of a message is on one line.
fn without_place(text: &str) -> &str {
    text.split_once(" at line ")
        .map_or(text, |(words, _)| words)
}

/// The part of a line around a column, counted from 1.
fn around(line: &[u8], column: usize) -> String {
    let at = column.min(line.len());
    let (from, to) = (at.saturating_sub(AROUND), (at + AROUND).min(line.len()));
    let part = String::from_utf8_lossy(&line[from..to]);
    let before = if from > 0 { "…" } else { "" };
    let behind = if to < line.len() { "…" } else { "" };
    format!("{before}{part}{behind}")
}

/// Why a value is no result of a tool call.
pub(super) fn no_result(value: &Value) -> String {
    let Some(map) = value.as_object() else {
        return format!("it is {}, not an object", kind(value));
    };
    let known = ["content", "structuredContent", "isError"];
    if !known.iter().any(|key| map.contains_key(*key)) {
        return "it has neither `content` nor `structuredContent`".to_owned();
    }
    match map.get("content") {
        Some(Value::Array(blocks)) => {
            let wrong = |(index, block)| Some(format!("`content[{index}]` {}", no_block(block)?));
            if let Some(problem) = blocks.iter().enumerate().find_map(wrong) {
                return problem;
            }
        }
        None => {}
        Some(other) => return format!("`content` is {}, not a list", kind(other)),
    }
    match serde_json::from_value::<CallToolResult>(value.clone()) {
        Err(error) => error.to_string(),
        Ok(_) => "it also answers another request".to_owned(),
    }
}

/// What is wrong with a block of content, where that can be said better than by the reader.
fn no_block(block: &Value) -> Option<String> {
    const TYPES: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
    const AUDIENCES: [&str; 2] = ["user", "assistant"];
    match block.get("type") {
        None => return Some("has no `type`".to_owned()),
        Some(Value::String(name)) if TYPES.contains(&name.as_str()) => {}
        Some(other) => {
            return Some(format!(
                "has the unknown type {other}; known types: {}",
                quoted_list(TYPES)
            ));
        }
    }
    let audience = block.pointer("/annotations/audience")?.as_array()?;
    let stranger = audience
        .iter()
        .find(|name| name.as_str().is_none_or(|name| !AUDIENCES.contains(&name)))?;
    Some(format!(
        "is for the unknown audience {stranger}; known: {}",
        quoted_list(AUDIENCES)
    ))
}

/// Why a value is no list of tools.
pub(super) fn no_tools(value: &Value) -> String {
    let Some(tools) = value.get("tools").and_then(Value::as_array) else {
        return "it has no list `tools`".to_owned();
    };
    let wrong = |(index, tool): (usize, &Value)| {
        let error = serde_json::from_value::<Tool>(tool.clone()).err()?;
        let who = match tool.get("name").and_then(Value::as_str) {
            Some(name) => format!("the tool `{name}`"),
            None => format!("`tools[{index}]`"),
        };
        let input = tool.get("inputSchema");
        Some(match input {
            None if tool.is_object() => format!("{who} has no `inputSchema`"),
            Some(other) if !other.is_object() => {
                format!(
                    "the `inputSchema` of {who} is {}, not an object",
                    kind(other)
                )
            }
            _ => format!("{who}: {error}"),
        })
    };
    let problem = tools.iter().enumerate().find_map(wrong);
    problem.unwrap_or_else(|| "it also answers another request".to_owned())
}

/// An answer as it is shown.
pub(super) fn shown(value: &Value) -> String {
    truncate(&value.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(result: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
    }

    #[test]
    fn an_answer_that_is_no_json_is_broken() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (text, problem) in [
            (r#"{"content":NaN}"#, "expected value"),
            (
                r#"{"content":[{"type":"text","text":"\ud800"}]}"#,
                "hex escape",
            ),
            (deep.as_str(), "recursion limit"),
        ] {
            match look_at(answer(text).as_bytes()) {
                Line::Broken(broken) => assert!(broken.problem.contains(problem), "{broken:?}"),
                other => panic!("{other:?}"),
            }
        }
        let mut latin = answer(r#"{"content":[{"type":"text","text":"caf?"}]}"#).into_bytes();
        let place = latin.iter().position(|byte| *byte == b'?').unwrap();
        latin[place] = 0xe9;
        let Line::Broken(broken) = look_at(&latin) else {
            panic!("read")
        };
        assert!(broken.shown.contains("caf"), "{broken:?}");
    }

    #[test]
    fn a_message_is_fine_and_a_log_line_is_garbage() {
        for fine in [
            "",
            "  ",
            &answer(r#"{"anything":1}"#),
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
        ] {
            assert_eq!(look_at(fine.as_bytes()), Line::Fine, "{fine}");
        }
        for garbage in ["starting up", "[INFO] up", "{ port: 80 }", "3"] {
            assert_eq!(look_at(garbage.as_bytes()), Line::Garbage, "{garbage}");
        }
        let no_id = r#"{"jsonrpc":"2.0","error":"no"}"#;
        assert!(matches!(look_at(no_id.as_bytes()), Line::Broken(_)));
    }

    #[test]
    fn what_is_no_result_is_told_from_what_is() {
        for (value, problem) in [
            (
                json!({}),
                "it has neither `content` nor `structuredContent`",
            ),
            (json!("done"), "it is text, not an object"),
            (
                json!({ "content": "text" }),
                "`content` is text, not a list",
            ),
            (
                json!({ "content": [{ "text": "a" }] }),
                "`content[0]` has no `type`",
            ),
            (
                json!({ "content": [{ "type": "text", "text": "a" }, { "type": "video" }] }),
                "`content[1]` has the unknown type \"video\"; known types: `text`, `image`, `audio`, `resource`, `resource_link`",
            ),
            (
                json!({ "content": [{ "type": "text", "text": "a", "annotations": { "audience": ["robot"] } }] }),
                "`content[0]` is for the unknown audience \"robot\"; known: `user`, `assistant`",
            ),
        ] {
            assert_eq!(no_result(&value), problem);
        }
        let no_text = json!({ "content": [{ "type": "text" }] });
        assert!(
            no_result(&no_text).contains("text"),
            "{}",
            no_result(&no_text)
        );
    }

    #[test]
    fn a_tool_that_is_none_is_named() {
        let tools = json!({ "tools": [{ "name": "a", "inputSchema": {} }, { "name": "b" }] });
        assert_eq!(no_tools(&tools), "the tool `b` has no `inputSchema`");
        let tools = json!({ "tools": [{ "inputSchema": {} }] });
        assert!(
            no_tools(&tools).starts_with("`tools[0]`: "),
            "{}",
            no_tools(&tools)
        );
        assert_eq!(no_tools(&json!({ "tool": [] })), "it has no list `tools`");
    }
}
