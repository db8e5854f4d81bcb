//! Answers with places for what a call said: `{{ args.order.id }}`, `{{ call }}`.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

/// A JSON value with places in its texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Template {
    /// It has no places.
    Fixed(Value),
    /// The text is one place alone, and takes its value as it is.
    Place(Placeholder),
    Text(Vec<Piece>),
    List(Vec<Template>),
    Map(Vec<(String, Template)>),
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Place(Placeholder),
}

/// What stands in a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Placeholder {
    /// An argument, by the keys and list positions that lead to it.
    Argument(Vec<String>),
    /// How many calls of the tool there were, this one among them.
    Call,
}

/// What a call gives to fill places with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filling<'a> {
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) call: u64,
}

/// What is wrong with the places of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplateError {
    /// A place has no end.
    Unclosed,
    /// Nothing of this name stands in a place.
    UnknownPlace { name: String },
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed => f.write_str(
                "`{{` is not closed; write `}}` after it, or `{{{{` for the braces themselves",
            ),
            Self::UnknownPlace { name } => write!(
                f,
                "`{{{{ {name} }}}}` is unknown here; known are `{{{{ args.<name> }}}}` and `{{{{ call }}}}`"
            ),
        }
    }
}

impl Error for TemplateError {}

/// An argument that a call does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingArgument {
    path: Vec<String>,
}

impl fmt::Display for MissingArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.join("."))
    }
}

impl Error for MissingArgument {}

impl Template {
    /// Reads the places of a value.
    ///
    /// # Errors
    ///
    /// What is wrong with one of them.
    pub(super) fn read(value: &Value) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(text) => Self::text(text)?,
            Value::Array(items) => {
                Self::List(items.iter().map(Self::read).collect::<Result<_, _>>()?)
            }
            Value::Object(map) => Self::Map(
                map.iter()
                    .map(|(key, value)| Ok((key.clone(), Self::read(value)?)))
                    .collect::<Result<_, TemplateError>>()?,
            ),
            other => Self::Fixed(other.clone()),
        })
    }

    fn text(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(begin) = rest.find("{{") {
            plain.push_str(&rest[..begin]);
            rest = &rest[begin + 2..];
            if let Some(after) = rest.strip_prefix("{{") {
                plain.push_str("{{");
                rest = after;
                continue;
            }
            let end = rest.find("}}").ok_or(TemplateError::Unclosed)?;
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Place(Placeholder::read(rest[..end].trim())?));
            rest = &rest[end + 2..];
        }
        plain.push_str(rest);
        if pieces.is_empty() {
            return Ok(Self::Fixed(Value::String(plain)));
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(match <[Piece; 1]>::try_from(pieces) {
            Ok([Piece::Place(place)]) => Self::Place(place),
            Ok(pieces) => Self::Text(pieces.into()),
            Err(pieces) => Self::Text(pieces),
        })
    }

    /// The arguments that stand in its places, each by its first key.
    pub(super) fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Place(place) => place.argument().into_iter().collect(),
            Self::Text(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Text(_) => None,
                    Piece::Place(place) => place.argument(),
                })
                .collect(),
            Self::List(items) => items.iter().flat_map(Self::arguments).collect(),
            Self::Map(entries) => entries
                .iter()
                .flat_map(|(_, value)| value.arguments())
                .collect(),
        }
    }

    /// The value that a call gives.
    ///
    /// # Errors
    ///
    /// The call does not have an argument.
    pub(super) fn fill(&self, with: Filling<'_>) -> Result<Value, MissingArgument> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Place(place) => place.fill(with)?,
            Self::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Text(plain) => text.push_str(plain),
                        Piece::Place(place) => text.push_str(&value_text(&place.fill(with)?)),
                    }
                }
                Value::String(text)
            }
            Self::List(items) => {
                let items = items.iter().map(|item| item.fill(with));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), value.fill(with)?)));
                Value::Object(entries.collect::<Result<_, MissingArgument>>()?)
            }
        })
    }
}

/// A text as it is, anything else as JSON.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Placeholder {
    fn read(name: &str) -> Result<Self, TemplateError> {
        if name == "call" {
            return Ok(Self::Call);
        }
        let path: Vec<String> = match name.strip_prefix("args.") {
            Some(path) => path.split('.').map(str::to_owned).collect(),
            None => Vec::new(),
        };
        if path.is_empty() || path.iter().any(String::is_empty) {
            let name = name.to_owned();
            return Err(TemplateError::UnknownPlace { name });
        }
        Ok(Self::Argument(path))
    }

    fn argument(&self) -> Option<&str> {
        match self {
            Self::Argument(path) => path.first().map(String::as_str),
            Self::Call => None,
        }
    }

    fn fill(&self, with: Filling<'_>) -> Result<Value, MissingArgument> {
        let path = match self {
            Self::Call => return Ok(with.call.into()),
            Self::Argument(path) => path,
        };
        let mut keys = path.iter();
        let mut found = keys.next().and_then(|key| with.arguments.get(key));
        for key in keys {
            found = match found {
                Some(Value::Object(map)) => map.get(key),
                Some(Value::Array(items)) => key.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
        }
        found
            .cloned()
            .ok_or_else(|| MissingArgument { path: path.clone() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: &Value, arguments: &Value) -> Result<Value, MissingArgument> {
        Template::read(template).unwrap().fill(Filling {
            arguments: arguments.as_object().unwrap(),
            call: 3,
        })
    }

    #[test]
    fn a_place_alone_keeps_the_value_and_among_words_it_is_text() {
        let template = json!({ "id": "{{args.id}}", "all": ["{{ args.order.lines.1 }}", "no. {{ call }}: {{ args.id }}, {{ args.order }}"] });
        let arguments = json!({ "id": 7, "order": { "lines": ["a", "b"] } });
        let expected = json!({ "id": 7, "all": ["b", r#"no. 3: 7, {"lines":["a","b"]}"#] });
        assert_eq!(filled(&template, &arguments).unwrap(), expected);
    }

    #[test]
    fn four_braces_are_two() {
        assert_eq!(
            filled(&json!("{{{{ args }} {x}"), &json!({})).unwrap(),
            "{{ args }} {x}"
        );
    }

    #[test]
    fn what_a_call_does_not_have_is_named() {
        let said = filled(&json!("{{ args.a.b }}"), &json!({ "a": 1 }));
        assert_eq!(said.unwrap_err().to_string(), "a.b");
    }

    #[test]
    fn what_is_no_place_is_an_error() {
        for (text, said) in [
            (
                "{{ arg.id }}",
                "`{{ arg.id }}` is unknown here; known are `{{ args.<name> }}` and `{{ call }}`",
            ),
            (
                "{{ args. }}",
                "`{{ args. }}` is unknown here; known are `{{ args.<name> }}` and `{{ call }}`",
            ),
            (
                "a {{ args.id",
                "`{{` is not closed; write `}}` after it, or `{{{{` for the braces themselves",
            ),
        ] {
            let error = Template::read(&json!(text)).unwrap_err();
            assert_eq!(error.to_string(), said);
        }
    }
}
