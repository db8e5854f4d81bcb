//! Scripts that call tools: since 0.147 the model of Codex writes what runs as JavaScript, in calls of the tool
//! `exec`, and the program says in a header what became of the script.
//!
//! Source: openai/codex `codex-rs/core/src/tools/code_mode`; not all of it is public in the index used here.

use serde_json::{Value, json};

use crate::content::text_of;
use crate::input::{parse, script_literal};
use crate::json::{member, non_null, text};

/// The name of the tool that runs scripts.
pub(super) const EXEC: &str = "exec";

/// A call within a script: the tool, and what it is given. What is computed is not known, so the script stands
/// for it.
pub(super) type ScriptCall = (String, Value);

/// The calls within a script, in the order in which they stand there.
pub(super) fn parse_calls(script: &str) -> Vec<ScriptCall> {
    let mut calls = Vec::new();
    let mut at = 0;
    while at < script.len() {
        let rest = &script[at..];
        at += match rest.chars().next() {
            Some(quote @ ('\'' | '"' | '`')) => quoted_length(rest, quote),
            Some('/') if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            Some('/') if rest.starts_with("/*") => {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            }
            Some(letter) if is_name(letter) => {
                let word = name(rest);
                if word == "tools"
                    && !script[..at].ends_with('.')
                    && let Some((tool, given)) = parse_tool(&rest[word.len()..])
                {
                    let args = match script_literal(given) {
                        Some(Value::Object(args)) => Value::Object(args),
                        Some(Value::String(input)) => json!({ "input": input }),
                        _ => json!({ "input": script }),
                    };
                    calls.push((tool, args));
                }
                word.len()
            }
            Some(other) => other.len_utf8(),
            None => 0,
        };
    }
    calls
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The name that a text begins with.
fn name(text: &str) -> &str {
    let end = text.find(|letter| !is_name(letter));
    &text[..end.unwrap_or(text.len())]
}

/// How long the text is that begins with a quote.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    for (at, letter) in text.char_indices() {
        if letter == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

/// The tool that is called after `tools`, and what follows its opening bracket.
fn parse_tool(text: &str) -> Option<(String, &str)> {
    let (tool, rest) = if let Some(rest) = text.strip_prefix('.') {
        rest.split_at(name(rest).len())
    } else {
        let inner = text.strip_prefix('[')?.trim_start();
        let quote = inner
            .chars()
            .next()
            .filter(|quote| "'\"".contains(*quote))?;
        let (tool, rest) = inner[1..].split_once(quote)?;
        (tool, rest.trim_start().strip_prefix(']')?)
    };
    let given = rest.trim_start().strip_prefix('(')?;
    (!tool.is_empty()).then(|| (tool.to_owned(), given))
}

/// Whether a script failed, by the header of its output: one that ended, or runs on, says nothing of its calls.
pub(super) fn has_failed(output: &Value) -> Option<bool> {
    let said = text_of(Some(output));
    let failed = ["Script failed", "Script terminated", "Script error"];
    let is_failed = failed
        .iter()
        .any(|header| said.trim_start().starts_with(header));
    is_failed.then_some(true)
}

/// Whether the only call of a script failed, by what the script printed: what a command came to, whole.
pub(super) fn only_call_failed(output: &Value) -> Option<bool> {
    let said = text_of(Some(output));
    let (_, printed) = said.split_once("Output:\n")?;
    let printed = parse(printed.trim().as_bytes()).ok()?.value;
    let code = printed.as_object()?.get("exit_code")?.as_i64()?;
    Some(code != 0)
}

/// What ran while a script did, and came to something: what came back, and whether it failed.
pub(super) fn completed_call(item: &Value) -> Option<(Value, Option<bool>)> {
    let failed = match text(item, "status")
        .unwrap_or_default()
        .to_lowercase()
        .as_str()
    {
        "failed" | "declined" | "error" => Some(true),
        "completed" | "success" => Some(false),
        _ => None,
    };
    let code = item
        .get("exit_code")
        .and_then(Value::as_i64)
        .map(|code| code != 0);
    let error = non_null(item, "error").is_some().then_some(true);
    let flags = [failed, code, error].into_iter().flatten();
    let is_error = flags.reduce(|one, other| one || other);
    let kind = text(item, "type")?.replace('_', "").to_lowercase();
    let keys = match kind.as_str() {
        "commandexecution" => ["aggregated_output", "output"],
        "filechange" => ["changes", "output"],
        "mcptoolcall" => ["result", "error"],
        _ => return None,
    };
    let value = keys.iter().find(|key| non_null(item, key).is_some());
    Some((value.map_or(Value::Null, |key| member(item, key)), is_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_where_they_are_calls() {
        for (script, expected) in [
            (
                "const r = await tools.exec_command({cmd: \"cargo test\", n: 1}); r",
                vec![("exec_command", json!({ "cmd": "cargo test", "n": 1 }))],
            ),
            (
                "await tools.apply_patch('*** Begin');",
                vec![("apply_patch", json!({ "input": "*** Begin" }))],
            ),
            (
                "await tools[\"mcp__shop__find\"]({ q: 1 }); /* tools.x() */ tools.wait();",
                vec![
                    ("mcp__shop__find", json!({ "q": 1 })),
                    (
                        "wait",
                        json!({ "input": "await tools[\"mcp__shop__find\"]({ q: 1 }); /* tools.x() */ tools.wait();" }),
                    ),
                ],
            ),
            (
                "my.tools.x({}); const t = \"tools.y({})\"; // tools.z({})",
                vec![],
            ),
            (
                "tools.x(f(1))",
                vec![("x", json!({ "input": "tools.x(f(1))" }))],
            ),
        ] {
            let expected: Vec<ScriptCall> = expected
                .into_iter()
                .map(|(name, args)| (name.to_owned(), args))
                .collect();
            assert_eq!(parse_calls(script), expected, "{script}");
        }
    }
}
