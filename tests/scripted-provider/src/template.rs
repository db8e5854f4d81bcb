//! Placeholders: `{{result:TOOL_NAME:/json/pointer}}` in texts and arguments.

use serde_json::Value;

const OPEN: &str = "{{result:";
const CLOSE: &str = "}}";

/// A part of a text with placeholders.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Plain(&'a str),
    Result { tool: &'a str, pointer: &'a str },
}

/// Checks the placeholders in all strings of a value.
pub(crate) fn check(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => pieces(text).map(|_| ()),
        Value::Array(items) => items.iter().try_for_each(check),
        Value::Object(fields) => fields.values().try_for_each(check),
        _ => Ok(()),
    }
}

/// Fills the placeholders in all strings of a value. `result` gives the text
/// of the latest result of a tool. A string that is one placeholder takes the
/// type of what it stands for.
pub(crate) fn fill<'a>(
    value: &Value,
    result: &impl Fn(&str) -> Option<&'a str>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => {
            let pieces = pieces(text)?;
            if let [Piece::Result { tool, pointer }] = pieces[..] {
                return resolve(tool, pointer, result);
            }
            Value::String(join(&pieces, result)?)
        }
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, result))
            .collect::<Result<_, _>>()?,
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, field)| Ok((name.clone(), fill(field, result)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other.clone(),
    })
}

/// Fills the placeholders of a text, which stays a text.
pub(crate) fn fill_text<'a>(
    text: &str,
    result: &impl Fn(&str) -> Option<&'a str>,
) -> Result<String, String> {
    join(&pieces(text)?, result)
}

fn join<'a>(
    pieces: &[Piece<'_>],
    result: &impl Fn(&str) -> Option<&'a str>,
) -> Result<String, String> {
    let mut filled = String::new();
    for piece in pieces {
        match piece {
            Piece::Plain(text) => filled.push_str(text),
            Piece::Result { tool, pointer } => match resolve(tool, pointer, result)? {
                Value::String(text) => filled.push_str(&text),
                other => filled.push_str(&other.to_string()),
            },
        }
    }
    Ok(filled)
}

fn resolve<'a>(
    tool: &str,
    pointer: &str,
    result: &impl Fn(&str) -> Option<&'a str>,
) -> Result<Value, String> {
    let text = result(tool)
        .ok_or_else(|| format!("the history has no result of the tool {tool}, which {OPEN}{tool}:{pointer}{CLOSE} needs"))?;
    let json: Value = serde_json::from_str(text)
        .map_err(|error| format!("the latest result of the tool {tool} is not JSON: {error}"))?;
    let found = json.pointer(pointer).cloned();
    found.ok_or_else(|| format!("the latest result of the tool {tool} has nothing at {pointer}"))
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        if !before.is_empty() {
            pieces.push(Piece::Plain(before));
        }
        let (inside, behind) = after
            .split_once(CLOSE)
            .ok_or_else(|| format!("the placeholder {OPEN}{after} has no {CLOSE}"))?;
        let (tool, pointer) = inside
            .split_once(':')
            .filter(|(tool, pointer)| {
                !tool.is_empty() && (pointer.is_empty() || pointer.starts_with('/'))
            })
            .ok_or_else(|| {
                format!(
                    "the placeholder {OPEN}{inside}{CLOSE} is not of the form \
                     {OPEN}TOOL_NAME:/json/pointer{CLOSE}"
                )
            })?;
        pieces.push(Piece::Result { tool, pointer });
        rest = behind;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Plain(rest));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(tool: &str) -> Option<&'static str> {
        match tool {
            "find" => Some(r#"{"id":"A-1","total":7,"items":[{"sku":"K"}]}"#),
            "say" => Some("plain words"),
            _ => None,
        }
    }

    #[test]
    fn a_lone_placeholder_keeps_its_type() {
        let value = json!({
            "cents": "{{result:find:/total}}",
            "first": ["{{result:find:/items/0}}"],
            "text": "order {{result:find:/id}}: {{result:find:/total}} {{other}}",
        });
        assert_eq!(
            fill(&value, &result),
            Ok(json!({ "cents": 7, "first": [{ "sku": "K" }], "text": "order A-1: 7 {{other}}" }))
        );
        assert_eq!(
            fill_text("{{result:find:/total}}", &result),
            Ok("7".to_owned())
        );
        assert_eq!(fill_text("", &result), Ok(String::new()));
    }

    #[test]
    fn what_cannot_be_filled_is_named() {
        for (text, message) in [
            ("{{result:none:/id}}", "no result of the tool none"),
            ("{{result:say:/id}}", "the tool say is not JSON"),
            (
                "{{result:find:/name}}",
                "the tool find has nothing at /name",
            ),
        ] {
            let error = fill(&json!(text), &result).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn wrong_placeholders_are_found_early() {
        for text in [
            "a {{result:find",
            "{{result:find}}",
            "{{result::/a}}",
            "{{result:find:a}}",
        ] {
            assert!(check(&json!([{ "deep": text }])).is_err(), "{text}");
        }
        assert_eq!(check(&json!("{{result:find:}} {{braces}}")), Ok(()));
    }
}
