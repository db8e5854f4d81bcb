//! The two requests of the door, read. Who speaks to the door may be any program.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use super::entry::{Ending, RaisedError};
use crate::json::{non_null, text};
use crate::lossless::{Change, Parsed, describe_error, parse};

/// A tool is called.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallRequest {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// The identifier of the model's call.
    pub call_id: Option<String>,
    /// The run inside of which it is made.
    pub inside: Option<usize>,
}

/// A tool has ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DoneRequest {
    /// Its run.
    pub run: usize,
    /// How it ended, or why its value cannot be kept.
    pub ending: Result<Ending, String>,
    /// The JSON of its result as the code wrote it, where that is more than the value.
    pub text: Option<String>,
}

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// It is no JSON, for this reason.
    NotJson(String),
    /// It is no object.
    NotAnObject,
    /// A member is no text.
    NotText {
        /// Its key.
        key: &'static str,
    },
    /// It names no tool.
    NoTool,
    /// It names no run.
    NoRun,
    /// It names a run that this session cannot have.
    UnknownRun {
        /// The identifier that it has for it.
        id: String,
    },
    /// It names a run that this session does not have, as that inside of which a call is made.
    InsideUnknown,
    /// The arguments are no object.
    ArgsNotAnObject,
    /// The error is no object with what an error has.
    ErrorNotAnObject,
    /// A run ends in more than one way.
    SeveralEndings,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(why) => write!(f, "the request {why}"),
            Self::NotAnObject => f.write_str("the request is no JSON object"),
            Self::NotText { key } => write!(f, "`{key}` is no text"),
            Self::NoTool => f.write_str("the request names no tool: `name` is missing"),
            Self::NoRun => f.write_str("the request names no run: `run` is missing"),
            Self::UnknownRun { id } => {
                write!(f, "`inside` names `{id}`, which is no run of this session")
            }
            Self::InsideUnknown => f.write_str("`inside` names no run of this session"),
            Self::ArgsNotAnObject => f.write_str("`args` is no object"),
            Self::ErrorNotAnObject => f.write_str("`error` is no object with `type` and `text`"),
            Self::SeveralEndings => {
                f.write_str("a run ends in one way: with `result`, `error`, `left` or `unkept`")
            }
        }
    }
}

impl Error for RequestError {}

/// What runs are called on the wire.
#[must_use]
pub fn run_id(run: usize) -> String {
    format!("t{run}")
}

fn parse_run_id(id: &str) -> Option<usize> {
    let digits = id.strip_prefix('t')?;
    let run = digits.parse().ok()?;
    (run_id(run) == id).then_some(run)
}

fn parse_object(body: &[u8]) -> Result<(Value, Vec<Change>), RequestError> {
    match parse(body) {
        Ok(Parsed {
            value: value @ Value::Object(_),
            changes,
        }) => Ok((value, changes)),
        Ok(_) => Err(RequestError::NotAnObject),
        Err(error) => Err(RequestError::NotJson(describe_error(&error))),
    }
}

/// A member that is a text, if it is there and not null.
fn optional_text<'v>(value: &'v Value, key: &'static str) -> Result<Option<&'v str>, RequestError> {
    match non_null(value, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(RequestError::NotText { key }),
    }
}

/// Reads a request that calls a tool.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse_call(body: &[u8]) -> Result<CallRequest, RequestError> {
    let (mut value, _) = parse_object(body)?;
    let name = optional_text(&value, "name")?.filter(|name| !name.trim().is_empty());
    let name = name.ok_or(RequestError::NoTool)?;
    let name = name.to_owned();
    let call_id = optional_text(&value, "call_id")?.filter(|id| !id.is_empty());
    let call_id = call_id.map(str::to_owned);
    let unknown = |id: &str| RequestError::UnknownRun { id: id.to_owned() };
    let inside = optional_text(&value, "inside")?;
    let inside = inside.map(|id| parse_run_id(id).ok_or_else(|| unknown(id)));
    let inside = inside.transpose()?;
    let args = match value.get_mut("args").map(Value::take) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(args)) => args,
        Some(_) => return Err(RequestError::ArgsNotAnObject),
    };
    Ok(CallRequest {
        name,
        args,
        call_id,
        inside,
    })
}

/// Reads a request that tells how a tool ended.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse_done(body: &[u8]) -> Result<DoneRequest, RequestError> {
    let (mut value, changes) = parse_object(body)?;
    let id = optional_text(&value, "run")?.ok_or(RequestError::NoRun)?;
    // A run that was never begun has no number.
    let run = parse_run_id(id).unwrap_or(usize::MAX);
    let said = ["result", "error", "left", "unkept"];
    let said = said.iter().filter(|key| match **key {
        "result" => value.get(**key).is_some(),
        "left" => value[**key] == true,
        _ => non_null(&value, key).is_some(),
    });
    if said.count() > 1 {
        return Err(RequestError::SeveralEndings);
    }
    let ending = if let Some(why) = optional_text(&value, "unkept")? {
        Err(why.to_owned())
    } else if let Some(error) = non_null(&value, "error") {
        let is_error = error.is_object() && text(error, "text").is_some();
        let raised = RaisedError::from_json(error).filter(|_| is_error);
        let raised = raised.ok_or(RequestError::ErrorNotAnObject)?;
        Ok(Ending::Error(raised))
    } else if value["left"] == true {
        Ok(Ending::Left)
    } else {
        let result = value.get_mut("result").map(Value::take);
        // What is read otherwise than it is written could not be given back as it was.
        match changes.first() {
            Some(change) => Err(change.describe().to_owned()),
            None => Ok(Ending::Result(result.unwrap_or_default())),
        }
    };
    let text = optional_text(&value, "text")?.map(str::to_owned);
    let text = ending
        .as_ref()
        .ok()
        .and_then(|ending| ending.text_if_more(text));
    Ok(DoneRequest { run, ending, text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_a_name_and_an_object_of_arguments() {
        let read = |value: Value| parse_call(value.to_string().as_bytes());
        let whole = read(
            json!({ "name": "refund", "args": { "order": 7 }, "call_id": "c", "inside": "t3" }),
        );
        let whole = whole.unwrap();
        assert_eq!((whole.name.as_str(), whole.inside), ("refund", Some(3)));
        assert_eq!(whole.call_id.as_deref(), Some("c"));
        assert_eq!(Value::Object(whole.args), json!({ "order": 7 }));
        let bare = read(json!({ "name": "refund", "call_id": null, "inside": null }));
        assert_eq!(bare.unwrap().call_id, None);
        for wrong in [
            json!([]),
            json!({}),
            json!({ "name": 7 }),
            json!({ "name": " " }),
            json!({ "name": "a", "args": [1] }),
            json!({ "name": "a", "args": "x" }),
            json!({ "name": "a", "inside": "x" }),
            json!({ "name": "a", "inside": "t03" }),
            json!({ "name": "a", "inside": 3 }),
            json!({ "name": "a", "call_id": 3 }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(parse_call(b"{").is_err());
    }

    #[test]
    fn a_run_ends_in_one_way() {
        let read = |value: Value| parse_done(value.to_string().as_bytes());
        let ending = |value: Value| read(value).map(|done| done.ending.unwrap());
        let null = Ok(Ending::Result(Value::Null));
        assert_eq!(ending(json!({ "run": "t0" })), null);
        assert_eq!(ending(json!({ "run": "t0", "result": null })), null);
        assert_eq!(
            ending(json!({ "run": "t0", "left": true })),
            Ok(Ending::Left)
        );
        let error = json!({ "type": "E", "module": "m", "text": "no", "args": [1] });
        let raised = ending(json!({ "run": "t0", "error": error })).unwrap();
        let Ending::Error(raised) = raised else {
            panic!("{raised:?}")
        };
        assert_eq!(raised.to_json(), error);
        let unkept = read(json!({ "run": "t0", "unkept": "a socket" })).unwrap();
        assert_eq!(unkept.ending, Err("a socket".to_owned()));
        // Nothing is lost in silence.
        let nan = parse_done(br#"{ "run": "t0", "result": NaN }"#).unwrap();
        assert!(nan.ending.is_err());
        assert_eq!(read(json!({ "run": "x" })).unwrap().run, usize::MAX);
        for wrong in [
            json!({}),
            json!({ "run": 7 }),
            json!({ "run": "t0", "error": "no" }),
            json!({ "run": "t0", "error": {} }),
            json!({ "run": "t0", "result": 1, "left": true }),
            json!({ "run": "t0", "result": 1, "error": error }),
            json!({ "run": "t0", "unkept": 7 }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_text_is_kept_only_where_it_says_more_than_the_value() {
        let text = |result: Value, text: &str| {
            let request = json!({ "run": "t0", "result": result, "text": text });
            parse_done(request.to_string().as_bytes()).unwrap().text
        };
        let ordered = "{\"b\":1,\"a\":2}";
        assert_eq!(
            text(json!({ "a": 2, "b": 1 }), ordered).as_deref(),
            Some(ordered)
        );
        // This text is read as its neighbour, or as itself: nothing more is to be said then.
        let digits = "18.369999999999997";
        let read: Value = serde_json::from_str(digits).unwrap();
        let written = read.to_string();
        assert_eq!(text(read, digits).is_some(), written != digits);
        for (result, of_another) in [
            (json!({ "a": 2 }), "{\"a\":2}"),
            (json!({ "a": 2 }), "{\"a\":3}"),
            (json!({ "a": 2 }), "{"),
            (json!("a"), "a"),
        ] {
            assert_eq!(text(result, of_another), None, "{of_another}");
        }
    }
}
