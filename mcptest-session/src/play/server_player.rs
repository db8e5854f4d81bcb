//! One MCP server of a recording, played without an agent's session: to whoever asks it.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::recording::Recording;
use super::server_reply::reply_to_message;
use super::servers::{RecordedServer, ServersState};

/// An MCP server as it was recorded: its list of tools, and an answer to each call that was made, equal calls in their
/// order.
///
/// ```
/// use mcptest_session::play::{Recording, ServerPlayer};
/// use serde_json::json;
///
/// let cassette = json!({
///     "schema_version": "v1", "model": "gpt-5", "user_prompt": "Where is order 7?",
///     "trace": {
///         "tool_calls": [{ "name": "get_order", "server": "desk", "args": { "order": 7 } }],
///         "tool_results": [{ "call_index": 0, "is_error": false, "result": "delivered" }],
///     },
/// });
/// let desk = ServerPlayer::new(&Recording::from_cassette(&cassette)?, None)?;
/// let answer = desk.call("get_order", &json!({ "order": 7 }));
/// assert_eq!(answer.result.unwrap()["content"][0]["text"], "delivered");
/// assert_eq!(answer.untold, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ServerPlayer {
    /// One server.
    server: Vec<RecordedServer>,
    state: Mutex<ServersState>,
}

/// What a played server answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerAnswer {
    /// The result as MCP has it; else the error of JSON-RPC, with its `code` and `message`.
    pub result: Result<Value, Value>,
    /// What the recording does not hold of the request, in a few words.
    pub untold: Option<String>,
}

/// Why no server of a recording can be played.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerPlayerError {
    /// The recording has no call of an MCP server, and no list of one.
    NoServer,
    /// The recording has several, of these names, and nobody said which.
    Several(Vec<String>),
    /// The recording has servers of these names alone.
    Unknown(Vec<String>),
}

impl fmt::Display for ServerPlayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| names.join("`, `");
        match self {
            Self::NoServer => f.write_str("the recording calls no tool of an MCP server"),
            Self::Several(names) => {
                write!(f, "the recording has several servers: `{}`", list(names))
            }
            Self::Unknown(names) => write!(
                f,
                "the recording has no such server; it has `{}`",
                list(names)
            ),
        }
    }
}

impl std::error::Error for ServerPlayerError {}

impl ServerPlayer {
    /// The server of a name; the only one where no name is given.
    ///
    /// # Errors
    ///
    /// The recording has no such server, or no name is given and it has several.
    pub fn new(recording: &Recording, name: Option<&str>) -> Result<Self, ServerPlayerError> {
        let all = &recording.mcp;
        let names = || all.iter().map(|server| server.name.clone()).collect();
        let found = match (name, all.as_slice()) {
            (_, []) => return Err(ServerPlayerError::NoServer),
            (None, [only]) => Some(only),
            (None, _) => return Err(ServerPlayerError::Several(names())),
            (Some(name), all) => all.iter().find(|server| server.name == name),
        };
        let server = found.ok_or_else(|| ServerPlayerError::Unknown(names()))?;
        Ok(Self {
            server: vec![server.clone()],
            state: Mutex::default(),
        })
    }

    /// The server's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.server[0].name
    }

    /// How many calls of it the recording holds.
    #[must_use]
    pub fn recorded_calls(&self) -> usize {
        self.server[0].calls.len()
    }

    /// The tools as `tools/list` has them.
    #[must_use]
    pub fn tools(&self) -> Vec<Value> {
        let mut tools = Vec::new();
        let mut params = json!({});
        // A recording that lists the same page for ever ends here.
        for _ in 0..MOST_PAGES {
            let page = self.ask("tools/list", &params).result.unwrap_or_default();
            tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(next) if tools.len() < MOST_TOOLS => params = json!({ "cursor": next }),
                _ => break,
            }
        }
        tools
    }

    /// The answer to a call of a tool.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &Value) -> ServerAnswer {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", &params)
    }

    fn ask(&self, method: &str, params: &Value) -> ServerAnswer {
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": method, "params": params });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((answer, told)) = reply_to_message(&self.server, &mut state, 0, &message) else {
            return ServerAnswer {
                result: Err(json!({ "code": -32600, "message": "this is no valid request" })),
                untold: None,
            };
        };
        ServerAnswer {
            result: match answer.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(answer["result"].clone()),
            },
            untold: told.map(|(_, words, ..)| words),
        }
    }
}

/// The most tools of one server.
const MOST_TOOLS: usize = 10_000;

/// The most pages of its list.
const MOST_PAGES: usize = 1_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::play::matching::{values_match, work};

    /// A server of which these calls were recorded, each with its place as the answer.
    fn desk(calls: &[Value]) -> ServerPlayer {
        let made = calls
            .iter()
            .map(|args| json!({ "name": "find", "server": "desk", "args": args }));
        let results =
            (0..calls.len()).map(|at| json!({ "call_index": at, "is_error": false, "result": at }));
        let trace = json!({ "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>() });
        let cassette =
            json!({ "schema_version": "v1", "model": "m", "user_prompt": "x", "trace": trace });
        ServerPlayer::new(&Recording::from_cassette(&cassette).unwrap(), None).unwrap()
    }

    fn answer(desk: &ServerPlayer, args: &Value) -> String {
        let result = desk.call("find", args).result.unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_call_finds_its_answer_without_a_look_at_all_others() {
        let work = |count: usize| {
            let different = (0..count).map(|number| json!({ "order": number }));
            let all: Vec<Value> = different
                .chain(vec![json!({ "order": "x" }); count])
                .collect();
            let (desk, before) = (desk(&all), work::done());
            for (place, args) in all.iter().enumerate() {
                assert_eq!(answer(&desk, args), place.to_string());
            }
            work::done() - before
        };
        assert_eq!(work(400), 4 * work(100));
    }

    #[test]
    fn a_call_whose_recorded_arguments_lack_a_secret_finds_its_answer_too() {
        let recorded = |number: usize| match number % 3 {
            0 => json!({ "to": "[redacted MAIL]", "order": number }),
            1 => json!({ "text": format!("Dear [redacted NAME], order {number} was sent.") }),
            _ => json!({ "to": "[redacted MAIL]" }),
        };
        let live = |number: usize| match number % 3 {
            0 => json!({ "to": "a@b.example", "order": number }),
            1 => json!({ "text": format!("Dear Ann, order {number} was sent.") }),
            // What the model says of it in a recording has no secret either.
            _ => json!({ "to": "[redacted MAIL]" }),
        };
        let work = |count: usize| {
            let all: Vec<Value> = (0..count).map(recorded).collect();
            let (desk, before) = (desk(&all), work::done());
            for place in 0..count {
                assert_eq!(answer(&desk, &live(place)), place.to_string());
            }
            work::done() - before
        };
        let (few, many) = (work(120), work(480));
        assert!(many < 6 * few, "{few} {many}");
    }

    #[test]
    fn the_nearest_call_is_shown_of_the_first_calls_that_were_not_recorded() {
        let desk = desk(&[json!({ "order": 7 })]);
        let said: Vec<String> = (0..=100)
            .map(|more| answer(&desk, &json!({ "order": 100 + more })))
            .collect();
        let none = "mcptest: the recording has no call of `find` with these arguments";
        assert_eq!(
            said[99],
            format!("{none}; the nearest recorded call has {{\"order\":7}}")
        );
        assert_eq!(said[100], none);
    }

    fn tool_result() -> impl Strategy<Value = Value> {
        let text = "[ab]{0,2}(\\[redacted( K)?\\]|\\[redacted)?[ab]{0,2}( \\[redacted\\])?";
        let scalar = prop_oneof![
            4 => text.prop_map(Value::from),
            1 => (0..2_i64).prop_map(Value::from),
            1 => Just(Value::Null),
        ];
        scalar.prop_recursive(2, 6, 3, |inner| {
            let key = proptest::sample::select(vec!["a", "b/c", "~", "[redacted K]"]);
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map(key, inner, 0..3).prop_map(|map| json!(map)),
            ]
        })
    }

    fn args() -> impl Strategy<Value = Value> {
        let key = proptest::sample::select(vec!["a", "b"]);
        proptest::collection::btree_map(key, tool_result(), 0..3).prop_map(|map| json!(map))
    }

    /// A value with a text in the place of each redacted part.
    fn filled(value: &Value, with: &str) -> Value {
        match value {
            Value::String(text) => text
                .replace("[redacted K]", with)
                .replace("[redacted]", with)
                .into(),
            Value::Array(items) => items.iter().map(|item| filled(item, with)).collect(),
            Value::Object(map) => {
                let members = map
                    .iter()
                    .map(|(key, value)| (key.replace("[redacted K]", with), filled(value, with)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn a_call_is_the_first_of_those_that_a_look_at_all_finds(
            recorded in proptest::collection::vec((args(), 1..3_usize), 1..6),
            asked in proptest::collection::vec((0..6_usize, "[a ]{0,2}", args()), 1..12),
        ) {
            let recorded: Vec<Value> = recorded.into_iter().flat_map(|(args, times)| vec![args; times]).collect();
            let desk = desk(&recorded);
            let mut left: Vec<usize> = (0..recorded.len()).collect();
            for (number, with, other) in asked {
                let args = recorded.get(number).map_or(other, |args| filled(args, &with));
                let found = left.iter().position(|place| values_match(&recorded[*place], &args, &[]));
                let said = answer(&desk, &args);
                match found {
                    Some(at) => prop_assert_eq!(said, left.remove(at).to_string()),
                    None => prop_assert!(said.starts_with("mcptest: "), "{} {}", said, args),
                }
            }
        }
    }

    #[test]
    fn equal_calls_are_found_however_they_are_written_and_in_their_order() {
        let desk = desk(&[
            json!({ "order": 7 }),
            json!({ "order": 7.0 }),
            json!({ "order": "[redacted KEY]" }),
            json!({ "order": 7 }),
            json!({}),
        ]);
        let seven = json!({ "order": 7 });
        let found = [
            &json!({ "order": 7.0 }),
            &seven,
            &seven,
            &json!({ "order": "sk-1" }),
        ];
        assert_eq!(
            found.map(|args| answer(&desk, args)),
            [
                "0",
                "1",
                "2",
                "mcptest: `find` was called 1 time with these arguments when the run was recorded, and the code calls it once more"
            ]
        );
        assert_eq!(
            [&seven, &Value::Null].map(|args| answer(&desk, args)),
            ["3", "4"]
        );
    }

    #[test]
    fn a_list_whose_empty_pages_lead_to_one_another_ends() {
        let page = |params: Value| json!({ "method": "tools/list", "params": params, "result": { "tools": [], "nextCursor": "x" } });
        let answers = [page(json!({})), page(json!({ "cursor": "x" }))];
        let cassette = json!({
            "schema_version": "v1", "model": "m", "user_prompt": "x",
            "trace": { "final_response": "Done." },
            "session": { "version": "1.0", "mcp": [{ "server": "desk", "answers": answers }] },
        });
        let recording = Recording::from_cassette(&cassette).unwrap();
        let desk = ServerPlayer::new(&recording, None).unwrap();
        assert_eq!(desk.tools(), Vec::<Value>::new());
    }
}
