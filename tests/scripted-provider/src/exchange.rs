//! What a request says, and what is answered, in neither API's shape.

use serde_json::Value;

use crate::script::{Stop, Usage};

/// A tool call the assistant made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The arguments as JSON text.
    pub(crate) arguments: String,
}

/// One step of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    User(String),
    Assistant { text: String, calls: Vec<PastCall> },
    Result { call_id: String, text: String },
}

/// A request that passed the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) turns: Vec<Turn>,
}

impl Exchange {
    /// The text of the first user message; empty when there is none.
    pub(crate) fn first_user(&self) -> &str {
        let user = |turn: &_| matches!(turn, Turn::User(_));
        match self.turns.iter().find(|turn| user(turn)) {
            Some(Turn::User(text)) => text,
            _ => "",
        }
    }

    /// The assistant messages of the history, oldest first.
    pub(crate) fn assistant(&self) -> impl DoubleEndedIterator<Item = (&str, &[PastCall])> {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Assistant { text, calls } => Some((text.as_str(), calls.as_slice())),
            _ => None,
        })
    }

    /// The text of the latest result of the tool with this name.
    pub(crate) fn latest_result(&self, tool: &str) -> Option<&str> {
        let mut ids: Vec<&str> = Vec::new();
        let mut latest = None;
        for turn in &self.turns {
            match turn {
                Turn::User(_) => {}
                Turn::Assistant { calls, .. } => {
                    let of_tool = calls.iter().filter(|call| call.name == tool);
                    ids = of_tool.map(|call| call.id.as_str()).collect();
                }
                Turn::Result { call_id, text } => {
                    if ids.contains(&call_id.as_str()) {
                        latest = Some(text.as_str());
                    }
                }
            }
        }
        latest
    }

    /// How many characters of text the request carries.
    pub(crate) fn chars(&self) -> usize {
        let turn = |turn: &Turn| match turn {
            Turn::User(text) | Turn::Result { text, .. } => text.chars().count(),
            Turn::Assistant { text, calls } => {
                let call =
                    |call: &PastCall| (call.name.chars().chain(call.arguments.chars())).count();
                text.chars().count() + calls.iter().map(call).sum::<usize>()
            }
        };
        self.system.chars().count() + self.turns.iter().map(turn).sum::<usize>()
    }
}

/// The arguments of a call in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arguments {
    Json(Value),
    Raw(String),
}

/// A tool call in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AnsweredCall {
    pub(crate) name: String,
    pub(crate) arguments: Arguments,
}

impl AnsweredCall {
    /// How many characters the call takes.
    pub(crate) fn chars(&self) -> usize {
        let arguments = match &self.arguments {
            Arguments::Json(args) => args.to_string().chars().count(),
            Arguments::Raw(raw) => raw.chars().count(),
        };
        self.name.chars().count() + arguments
    }
}

/// A reply of the script, ready to be put into an API's shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Names conversation, start and reply, as in `c0_t0_r1`.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<AnsweredCall>,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Usage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_result_goes_by_the_call_before_it() {
        let call = |id: &str, name: &str| PastCall {
            id: id.into(),
            name: name.into(),
            arguments: "{}".into(),
        };
        let result = |call_id: &str, text: &str| Turn::Result {
            call_id: call_id.into(),
            text: text.into(),
        };
        let assistant = |calls| Turn::Assistant {
            text: String::new(),
            calls,
        };
        let exchange = Exchange {
            turns: vec![
                Turn::User("hello".into()),
                assistant(vec![call("1", "find"), call("2", "note")]),
                result("1", "first"),
                result("2", "other"),
                assistant(vec![call("1", "find")]),
                result("1", "second"),
            ],
            ..Exchange::default()
        };
        assert_eq!(exchange.latest_result("find"), Some("second"));
        assert_eq!(exchange.latest_result("note"), Some("other"));
        assert_eq!(exchange.latest_result("none"), None);
        assert_eq!(exchange.assistant().count(), 2);
        assert_eq!(exchange.first_user(), "hello");
        assert_eq!(exchange.chars(), 5 + 12 + 16 + 6);
    }
}
