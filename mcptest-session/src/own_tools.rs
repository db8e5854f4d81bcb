//! Tools in the agent's own code that must not run while a recording is played: what they answered is written down in
//! one mode, and given back in the other.

#[cfg(feature = "play")]
use std::borrow::Cow;
#[cfg(feature = "play")]
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "play")]
use mcptest_trace::trace::{Trace, canonical_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(any(feature = "play", feature = "record"))]
use serde_json::json;

#[cfg(feature = "play")]
use crate::json::named;
#[cfg(feature = "play")]
use crate::play::call_index::{CallIndex, Given};

/// What a tool of the agent's own answered, or that it failed.
#[derive(Debug, Clone, Default)]
struct OwnCall {
    name: String,
    args: Value,
    /// An error is what the tool said.
    result: Option<Result<Value, String>>,
    /// Only what the model was told of the result is known: the recording is older than the tool's session.
    #[cfg(feature = "play")]
    is_told: bool,
    #[cfg(feature = "play")]
    given: bool,
}

/// The calls of a session, and whether they are played.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnTools {
    #[cfg(feature = "play")]
    plays: bool,
    calls: Arc<Mutex<Vec<OwnCall>>>,
    /// The recorded calls by what they ask, and the first of each tool.
    #[cfg(feature = "play")]
    recorded: Arc<(CallIndex, HashMap<String, Value>)>,
    #[cfg(feature = "play")]
    given: Arc<Mutex<Given>>,
    /// Calls that were not recorded: the tool, the arguments, what is said of it.
    #[cfg(feature = "play")]
    unknown: Arc<Mutex<Vec<(String, Value, String)>>>,
}

/// Why a call of [`AgentSession::tool`](crate::handle::AgentSession::tool) gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure(String);

impl Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ToolFailure {}

impl OwnTools {
    /// What was recorded, to be played.
    #[cfg(feature = "play")]
    pub(crate) fn played(field: &[Value]) -> Self {
        let calls = field.iter().filter_map(|call| {
            let error = named(call, "error").map(Err);
            Some(OwnCall {
                name: named(call, "name")?,
                args: call["args"].clone(),
                result: error.or_else(|| Some(Ok(call.get("result")?.clone()))),
                is_told: call["told"] == true,
                given: false,
            })
        });
        let calls: Vec<OwnCall> = calls.collect();
        let asked = calls.iter();
        let asked = asked.map(|call| (call.name.as_str(), Cow::Borrowed(&call.args)));
        let index = CallIndex::of(asked);
        let mut first = HashMap::new();
        for call in &calls {
            let of_tool = first.entry(call.name.clone());
            of_tool.or_insert_with(|| call.args.clone());
        }
        Self {
            plays: true,
            recorded: Arc::new((index, first)),
            calls: Arc::new(Mutex::new(calls)),
            ..Self::default()
        }
    }

    /// Runs a tool, or gives back what it answered.
    pub(crate) async fn call<T, E>(
        &self,
        name: &str,
        args: Value,
        run: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolFailure>
    where
        T: Serialize + DeserializeOwned,
        E: Display,
    {
        #[cfg(feature = "play")]
        if self.plays {
            return self.given(name, &args);
        }
        let place = {
            let mut calls = self.lock();
            calls.push(OwnCall {
                name: name.to_owned(),
                args,
                ..OwnCall::default()
            });
            calls.len() - 1
        };
        // `{:#}` shows the causes of errors that have them.
        let ran = run.await.map_err(|error| ToolFailure(format!("{error:#}")));
        let kept = match &ran {
            Ok(value) => serde_json::to_value(value).map_err(|error| {
                format!("the result of the tool `{name}` cannot be written: {error}")
            }),
            Err(failure) => Err(failure.0.clone()),
        };
        self.lock()[place].result = Some(kept);
        ran
    }

    /// The answer to an equal call, in their order.
    #[cfg(feature = "play")]
    fn given<T: DeserializeOwned>(&self, name: &str, args: &Value) -> Result<T, ToolFailure> {
        let mut calls = self.lock();
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, first) = &*self.recorded;
        let found = index.give(&mut given, name, args);
        if let Ok(call) = found
            && let Some(call) = calls.get_mut(call)
        {
            call.given = true;
            let value = match &call.result {
                Some(Ok(value)) => value.clone(),
                Some(Err(words)) => return Err(ToolFailure(words.clone())),
                None => {
                    let words = format!("`{name}` gave no answer when the run was recorded");
                    return Err(ToolFailure(words));
                }
            };
            return fitting(value, call.is_told).map_err(|error| {
                let words = if call.is_told {
                    format!(
                        "the recording has only what the model was told of `{name}`, and this does not fit the type of the result \
                         now: {error}; record the run again"
                    )
                } else {
                    format!("the recorded result of `{name}` does not fit the type of the result now: {error}")
                };
                self.tell(name, args, &words);
                ToolFailure(words)
            });
        }
        let words = match (found, first.get(name)) {
            (Err(0), Some(args)) => format!(
                "the recording has no call of `{name}` with these arguments; a recorded call has {}",
                canonical_json(args)
            ),
            (Err(0), None) => format!("`{name}` was not called when the run was recorded"),
            _ => format!(
                "`{name}` is called once more with these arguments than when the run was recorded"
            ),
        };
        self.tell(name, args, &words);
        Err(ToolFailure(format!("mcptest: {words}")))
    }

    #[cfg(feature = "play")]
    fn tell(&self, name: &str, args: &Value, words: &str) {
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.push((name.to_owned(), args.clone(), words.to_owned()));
    }

    /// Calls that were not recorded.
    #[cfg(feature = "play")]
    pub(crate) fn unknown(&self) -> Vec<(String, Value, String)> {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.clone()
    }

    /// Recorded calls that were not made: the tool and the arguments.
    #[cfg(feature = "play")]
    pub(crate) fn unmade(&self) -> Vec<(String, Value)> {
        let calls = self.lock();
        // Who wrote down what the model was told knew nothing of the tool.
        let unmade = calls.iter().filter(|call| !call.given && !call.is_told);
        unmade
            .map(|call| (call.name.clone(), call.args.clone()))
            .collect()
    }

    /// The calls, as a cassette keeps them; nothing where there was none.
    #[cfg(feature = "record")]
    pub(crate) fn written(&self) -> Option<Value> {
        let calls = self.lock();
        let written = calls.iter().map(|call| {
            let mut written = json!({ "name": call.name, "args": call.args });
            match &call.result {
                Some(Ok(value)) => written["result"] = value.clone(),
                Some(Err(words)) => written["error"] = words.as_str().into(),
                None => {}
            }
            written
        });
        let written: Vec<Value> = written.collect();
        (!written.is_empty()).then(|| written.into())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<OwnCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A recorded result as the type that the code wants. What the model was told is a text, of JSON or of words.
#[cfg(feature = "play")]
fn fitting<T: DeserializeOwned>(value: Value, is_told: bool) -> Result<T, serde_json::Error> {
    let words = match &value {
        Value::String(words) if is_told => words.clone(),
        _ => return serde_json::from_value(value),
    };
    serde_json::from_str(&words).or_else(|error| serde_json::from_value(value).map_err(|_| error))
}

/// What a recording holds of tools of the agent's own: its notes; of tools without a note, as in a recording that is
/// older than `session.tool` in the code, what the model was told of each call.
#[cfg(feature = "play")]
pub(crate) fn of_recording(notes: &[Value], trace: &Trace) -> Vec<Value> {
    let is_noted = |tool: &str| notes.iter().any(|note| note["name"] == tool);
    let calls = trace.tool_calls.iter().zip(trace.results_by_call());
    let told = calls.filter(|(call, _)| !is_noted(&call.name));
    let told = told.filter_map(|(call, result)| {
        let result = result?;
        let words = words_of(&result.result);
        let mut note = json!({ "name": call.name, "args": *call.args, "told": true });
        if result.is_error {
            note["error"] = words
                .as_str()
                .map_or_else(|| words.to_string(), str::to_owned)
                .into();
        } else {
            note["result"] = words;
        }
        Some(note)
    });
    notes.iter().cloned().chain(told).collect()
}

/// The text of a result, where it is one of MCP's form.
#[cfg(feature = "play")]
fn words_of(result: &Value) -> Value {
    let Some(blocks) = result["content"].as_array() else {
        return result.clone();
    };
    let texts = blocks.iter().map(|block| block["text"].as_str());
    match texts.collect::<Option<Vec<&str>>>() {
        Some(texts) => texts.join("\n").into(),
        None => result.clone(),
    }
}

#[cfg(all(test, feature = "play", feature = "record"))]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test")]
mod tests {
    use super::*;

    fn runs(run: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(run);
    }

    #[test]
    fn a_tool_runs_once_and_is_given_back_afterwards() {
        runs(async {
            let records = OwnTools::default();
            let refund = |amount: u32| async move {
                if amount > 9 {
                    Err("too much")
                } else {
                    Ok(amount)
                }
            };
            let args = |amount: u32| json!({ "amount": amount });
            assert_eq!(records.call("refund", args(7), refund(7)).await, Ok(7));
            let failed = Err(ToolFailure("too much".to_owned()));
            assert_eq!(records.call("refund", args(10), refund(10)).await, failed);
            let written = records.written().unwrap();
            assert_eq!(
                written,
                json!([
                    { "name": "refund", "args": { "amount": 7 }, "result": 7 },
                    { "name": "refund", "args": { "amount": 10 }, "error": "too much" },
                ])
            );
            let plays = OwnTools::played(written.as_array().unwrap());
            let never = || async { panic!("it runs") as Result<u32, String> };
            assert_eq!(plays.call("refund", args(10), never()).await, failed);
            assert_eq!(plays.unmade(), [("refund".to_owned(), args(7))]);
            assert_eq!(plays.call("refund", args(7), never()).await, Ok(7));
            assert!(plays.unmade().is_empty() && plays.unknown().is_empty());
            for (amount, told) in [
                (
                    7,
                    "`refund` is called once more with these arguments than when the run was recorded",
                ),
                (
                    8,
                    "the recording has no call of `refund` with these arguments; a recorded call has {\"amount\":7}",
                ),
            ] {
                assert!(plays.call("refund", args(amount), never()).await.is_err());
                assert_eq!(plays.unknown().last().unwrap().2, told);
            }
        });
    }
    #[test]
    fn a_call_whose_recorded_arguments_lack_a_secret_is_given_back() {
        runs(async {
            let recorded =
                json!([{ "name": "charge", "args": { "key": "[redacted KEY]" }, "result": 1 }]);
            let plays = OwnTools::played(recorded.as_array().unwrap());
            let never = async { panic!("it runs") as Result<u32, String> };
            assert_eq!(
                plays.call("charge", json!({ "key": "sk-1" }), never).await,
                Ok(1)
            );
            assert!(plays.unmade().is_empty());
        });
    }

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Receipt {
        paid: u32,
    }

    #[test]
    fn an_older_recording_gives_back_what_the_model_was_told_or_asks_to_be_recorded_again() {
        runs(async {
            let text = |words: &str| json!({ "content": [{ "type": "text", "text": words }] });
            let trace = Trace::from_envelope(&json!({
                "tool_calls": [
                    { "name": "refund", "args": { "order": 7 } }, { "name": "refund", "args": { "order": 8 } },
                    { "name": "say", "args": {} }, { "name": "noted", "args": {} }, { "name": "refund", "args": { "order": 9 } },
                ],
                "tool_results": [
                    { "call_index": 0, "is_error": false, "result": text("{\"paid\": 18}") },
                    { "call_index": 1, "is_error": true, "result": text("too much") },
                    { "call_index": 2, "is_error": false, "result": text("hello") },
                    { "call_index": 3, "is_error": false, "result": text("1") },
                    { "call_index": 4, "is_error": false, "result": text("paid 18 EUR") },
                ],
            }));
            let notes = [json!({ "name": "noted", "args": {}, "result": 2 })];
            let plays = OwnTools::played(&of_recording(&notes, &trace));
            let never = || async { panic!("it runs") as Result<Receipt, String> };
            let order = |order: u32| json!({ "order": order });
            let paid = plays.call("refund", order(7), never()).await;
            assert_eq!(paid, Ok(Receipt { paid: 18 }));
            let failed = plays.call("refund", order(8), never()).await;
            assert_eq!(failed, Err(ToolFailure("too much".to_owned())));
            let words = async { panic!("it runs") as Result<String, String> };
            let said = plays.call("say", json!({}), words).await;
            assert_eq!(said, Ok("hello".to_owned()));
            // A note counts before what the model was told.
            assert!(
                plays.unmade() == [("noted".to_owned(), json!({}))] && plays.unknown().is_empty()
            );
            // Nothing runs where the words are no such value.
            let unfit = plays.call("refund", order(9), never()).await.unwrap_err();
            assert_eq!(
                unfit.to_string(),
                "the recording has only what the model was told of `refund`, and this does not fit the type of the result now: \
                 expected value at line 1 column 1; record the run again"
            );
            assert_eq!(plays.unknown()[0].2, unfit.to_string());
        });
    }
}
