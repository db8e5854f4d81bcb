//! Calls at the door, out of a cassette.

use serde_json::{Map, Value};

use super::entry::{AnsweredBy, Ending, OwnCall};
use crate::json::{list, member, non_null, nonempty_string};

impl OwnCall {
    /// Reads what a cassette has of a call.
    pub(crate) fn from_json(written: &Value) -> Option<Self> {
        let mut call = Self::new(nonempty_string(written, "name")?, member(written, "args"));
        call.ending = Ending::from_json(written);
        call.by = match non_null(written, "synthesized") {
            Some(mark) => Some(AnsweredBy::Fault(mark.clone())),
            None => (written["by"] == "suite").then_some(AnsweredBy::Suite),
        };
        call.text = call.ending.text_if_more(nonempty_string(written, "text"));
        Some(call)
    }
}

/// The names in a list of texts.
pub(crate) fn read_names(written: &Value, key: &str) -> Vec<String> {
    let names = list(written, key).iter().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// Arguments without some of them.
pub(crate) fn without_args(args: &Value, names: &[String]) -> Value {
    match args {
        Value::Object(map) if !names.is_empty() => {
            let rest = map.iter().filter(|(key, _)| !names.contains(key));
            Value::Object(
                rest.map(|(key, value)| (key.clone(), value.clone()))
                    .collect::<Map<_, _>>(),
            )
        }
        args => args.clone(),
    }
}
