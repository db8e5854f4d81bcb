//! Calls at the door as a cassette has them.

use serde_json::{Value, json};

use super::entry::{Ending, OwnCall, RaisedError};
use crate::json::{nonempty_string, text};

impl RaisedError {
    /// Its form on the wire and in a cassette.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut written = json!({ "type": self.kind });
        if let Some(module) = &self.module {
            written["module"] = module.as_str().into();
        }
        written["text"] = self.text.as_str().into();
        if let Some(args) = &self.args {
            written["args"] = args.clone().into();
        }
        if let Some(items) = &self.items {
            written["items"] = items.clone().into();
        }
        written
    }

    /// Reads that form. Older recordings have a text alone.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(Self::new("ToolFailure", text));
        }
        value.is_object().then(|| Self {
            kind: nonempty_string(value, "type").unwrap_or_else(|| "ToolError".to_owned()),
            module: nonempty_string(value, "module"),
            text: text(value, "text").unwrap_or_default().to_owned(),
            args: value.get("args").and_then(Value::as_array).cloned(),
            items: value.get("items").and_then(Value::as_array).cloned(),
        })
    }
}

impl Ending {
    /// Writes the value or the error that it ended with, if there is one.
    pub(crate) fn write_end(&self, written: &mut Value) {
        if matches!(self, Self::Result(_) | Self::Error(_)) {
            self.write(written);
        }
    }

    /// Writes it into the object of its call.
    pub(crate) fn write(&self, written: &mut Value) {
        match self {
            Self::Unreported => {}
            Self::Result(value) => written["result"] = value.clone(),
            Self::Error(raised) => written["error"] = raised.to_json(),
            Self::Left => written["left"] = true.into(),
        }
    }

    /// A text of its value, if it is one that says more than the value does.
    pub(crate) fn text_if_more(&self, text: Option<String>) -> Option<String> {
        let Self::Result(value) = self else {
            return None;
        };
        let is_of_it =
            |text: &String| serde_json::from_str(text).is_ok_and(|read| is_near(&read, value));
        let written = value.to_string();
        text.filter(|text| is_of_it(text) && *text != written)
    }

    /// Reads it out of the object of its call.
    #[must_use]
    pub fn from_json(written: &Value) -> Self {
        let error = written.get("error").and_then(RaisedError::from_json);
        match (error, written.get("result")) {
            (Some(raised), _) => Self::Error(raised),
            (None, Some(value)) => Self::Result(value.clone()),
            (None, None) if written["left"] == true => Self::Left,
            (None, None) => Self::Unreported,
        }
    }
}

impl OwnCall {
    /// What a cassette has of it, but for what is known of it beside the run.
    pub(crate) fn to_json(&self) -> Value {
        let mut written = json!({ "name": self.name, "args": self.args });
        self.ending.write(&mut written);
        if let Some(text) = &self.text {
            written["text"] = text.as_str().into();
        }
        if self.by.is_some() {
            written["by"] = "suite".into();
        }
        if let Some(mark) = self.fault() {
            written["synthesized"] = mark.clone();
        }
        if let Some(ms) = self.duration_ms() {
            written["ms"] = ms.into();
        }
        written
    }
}

/// Whether two values are the same but for the last digits of numbers, which reading and writing may change.
fn is_near(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_near(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in_other = |(key, one): (&String, &Value)| {
                other.get(key).is_some_and(|other| is_near(one, other))
            };
            one.len() == other.len() && one.iter().all(is_in_other)
        }
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (
                one.as_f64().unwrap_or_default(),
                other.as_f64().unwrap_or_default(),
            );
            (one - other).abs() <= one.abs() * 4.0 * f64::EPSILON
        }
        (one, other) => one == other,
    }
}
