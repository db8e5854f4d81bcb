//! Which call at an MCP server is which call of the model.
//!
//! A call of the model and one at a server are the same where the names fit and the arguments are equal, and where the
//! one at the server came after the model was asked and before its result was told. Of several the one whose result
//! the model was told goes first, then the earlier one.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use mcptest_trace::trace::canonical_json;
use serde_json::Value;

use super::conversation::{Conversation, ModelCall};
use super::options::Role;
use super::payload::to_mcp_payload;
use crate::exchange::{Call, Item};
use crate::lossless::parse_exact;
use crate::mcp::{McpCall, McpTraffic, names_tool};

/// Of calls that fit alike, so many are looked at for the one whose result a client told in words of its own.
const MOST: usize = 64;

/// A call of the model: its conversation, the model call in that, and the call in the answer.
pub(super) type Place = (usize, usize, usize);

/// The calls at servers, by the calls of the model.
#[derive(Debug, Default)]
pub(super) struct McpCalls {
    pub(super) of_model: HashMap<Place, usize>,
    /// The calls at servers that the model did not ask for.
    pub(super) unasked: Vec<usize>,
}

impl McpCalls {
    /// Finds which are which.
    pub(super) fn pair(conversations: &[Conversation], roles: &[Role], seen: &McpTraffic) -> Self {
        let mut answers = Vec::new();
        for (index, conversation) in conversations.iter().enumerate() {
            if roles[index] == Role::Side {
                continue;
            }
            let calls = conversation.calls.iter().enumerate();
            let answered = calls.filter(|(_, call)| call.answered);
            answers.extend(answered.map(|(place, call)| (call.ended_at, index, place)));
        }
        answers.sort_unstable();
        let mut of_model = HashMap::new();
        if seen.calls.is_empty() {
            return Self::default();
        }
        let mut left = Unpaired::new(seen);
        for (_, index, place) in answers {
            let conversation = &conversations[index];
            let next = conversation.calls.get(place + 1);
            let window =
                conversation.calls[place].asked_at..=next.map_or(u64::MAX, |next| next.asked_at);
            let told = next.map(told_results).unwrap_or_default();
            for (number, call) in conversation.calls[place].said.calls().enumerate() {
                let told = call.id.as_deref().and_then(|id| told.get(id).copied());
                if let Some(other) = left.take(call, &window, told) {
                    of_model.insert((index, place, number), other);
                }
            }
        }
        Self {
            of_model,
            unasked: left.into_places(),
        }
    }
}

/// The calls at servers that are no call of the model yet.
struct Unpaired<'s> {
    seen: &'s [McpCall],
    /// By their arguments.
    by_args: HashMap<String, BTreeSet<usize>>,
    /// By their arguments and the text of their results.
    by_text: HashMap<(String, String), BTreeSet<usize>>,
    /// For each call, when the latest of the calls till it came, and when the earliest of the calls from it on did:
    /// calls that come at once may be noted in another order.
    latest: Vec<u64>,
    earliest: Vec<u64>,
}

impl<'s> Unpaired<'s> {
    fn new(seen: &'s McpTraffic) -> Self {
        let seen = seen.calls.as_slice();
        let mut by_args: HashMap<String, BTreeSet<usize>> = HashMap::new();
        let mut by_text: HashMap<(String, String), BTreeSet<usize>> = HashMap::new();
        for (place, call) in seen.iter().enumerate() {
            let args = comparable_args(&call.args);
            if let Some(text) = call.result.as_ref().and_then(result_text) {
                let same = by_text.entry((args.clone(), text)).or_default();
                same.insert(place);
            }
            by_args.entry(args).or_default().insert(place);
        }
        let latest = seen.iter().scan(0, |latest, call| {
            *latest = call.asked_at.max(*latest);
            Some(*latest)
        });
        let earliest = seen.iter().rev().scan(u64::MAX, |earliest, call| {
            *earliest = call.asked_at.min(*earliest);
            Some(*earliest)
        });
        let mut earliest: Vec<u64> = earliest.collect();
        earliest.reverse();
        Self {
            seen,
            by_args,
            by_text,
            latest: latest.collect(),
            earliest,
        }
    }

    /// Takes the call at a server that a call of the model is. `told`: what the model was told of it.
    fn take(
        &mut self,
        call: &Call,
        window: &RangeInclusive<u64>,
        told: Option<&Value>,
    ) -> Option<usize> {
        let args = comparable_args(&call.args);
        let alike = self.by_args.get_mut(&args)?;
        let from = self.latest.partition_point(|at| at < window.start());
        let to = self.earliest.partition_point(|at| at <= window.end());
        let seen = self.seen;
        let fits = |place: &usize| {
            let seen = &seen[*place];
            window.contains(&seen.asked_at) && names_tool(&call.name, &seen.server, &seen.tool)
        };
        let range = from..to.max(from);
        // Most clients tell the text as it is.
        let said = told.and_then(|told| result_text(&to_mcp_payload(told.clone()).0));
        let of_text = said.and_then(|text| self.by_text.get(&(args.clone(), text)));
        let found = of_text.and_then(|same| same.range(range.clone()).copied().find(fits));
        let fitting = || alike.range(range.clone()).copied().filter(fits);
        let is_told = |place: &usize| {
            let both = told.zip(seen[*place].result.as_ref());
            both.is_some_and(|(told, result)| says_result(told, result))
        };
        let by_look = || told.and_then(|_| fitting().take(MOST).find(is_told));
        let found = found.or_else(by_look).or_else(|| fitting().next())?;
        alike.remove(&found);
        let text = seen[found].result.as_ref().and_then(result_text);
        let of_text = text.and_then(|text| self.by_text.get_mut(&(args, text)));
        _ = of_text.map(|same| same.remove(&found));
        Some(found)
    }

    /// The places of all of them.
    fn into_places(self) -> Vec<usize> {
        let mut places: Vec<usize> = self.by_args.into_values().flatten().collect();
        places.sort_unstable();
        places
    }
}

/// Arguments as they are compared: clients leave out what is null, or write it out.
fn comparable_args(args: &Value) -> String {
    let Value::Object(map) = args else {
        return canonical_json(args);
    };
    let members = map.iter().filter(|(_, value)| !value.is_null());
    let members = members.map(|(key, value)| (key.clone(), value.clone()));
    canonical_json(&members.collect())
}

/// What the model was told of calls since the answer before, by their identifiers.
fn told_results(call: &ModelCall) -> HashMap<&str, &Value> {
    let new = call.asked.items.get(call.known..).unwrap_or_default();
    let results = new.iter().filter_map(|item| match &**item {
        Item::Result(result) => Some((result.id.as_deref()?, &result.value)),
        _ => None,
    });
    results.collect()
}

/// Whether a value is a result, or the one or the other form of what it says.
fn is_form(value: &Value, result: &Value) -> bool {
    let same = |said: &Value| !said.is_null() && canonical_json(said) == canonical_json(value);
    same(result) || same(&result["structuredContent"]) || same(&result["content"])
}

/// Whether the model was told what the server said and nothing else: the result, its text, or its structured content.
pub(super) fn is_as_sent(told: &Value, result: &Value) -> bool {
    let (payload, _) = to_mcp_payload(told.clone());
    if is_form(told, result) || is_form(&payload, result) {
        return true;
    }
    let told = match &payload {
        Value::String(text) => Some(text.clone()),
        payload => result_texts(payload).map(|texts| texts.join("\n")),
    };
    let said = result_texts(result).map(|texts| texts.join("\n"));
    told.is_some_and(|told| {
        said.is_some_and(|said| told.trim() == said.trim())
            || parse_exact(&told).is_some_and(|value| is_form(&value, result))
    })
}

/// Whether what the model was told is what the server said, whatever a client writes around it.
pub(crate) fn says_result(told: &Value, result: &Value) -> bool {
    let (payload, _) = to_mcp_payload(told.clone());
    if is_form(told, result) || is_form(&payload, result) {
        return true;
    }
    let told = result_texts(&payload).unwrap_or_else(|| vec![canonical_json(told)]);
    let told = told.join("\n");
    if parse_exact(&told).is_some_and(|value| is_form(&value, result)) {
        return true;
    }
    let said = result_texts(result).unwrap_or_default();
    let is_there = |text: &String| {
        let text = text.trim();
        // Some clients tell the blocks as JSON.
        let quoted = Value::from(text).to_string();
        told.contains(text) || told.contains(quoted.trim_matches('"'))
    };
    if said.iter().all(|text| text.trim().is_empty()) {
        return told.trim().is_empty() && result["structuredContent"].is_null();
    }
    said.iter().all(is_there)
}

/// The text of a result, where it has one.
fn result_text(result: &Value) -> Option<String> {
    let text = match result {
        Value::String(text) => text.clone(),
        result => result_texts(result)?.join("\n"),
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The texts of a result in MCP's form; `None` where it has not that form.
fn result_texts(result: &Value) -> Option<Vec<String>> {
    let blocks = result["content"].as_array()?;
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    Some(texts.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_client_writes_around_a_result_is_no_other_result() {
        let result =
            json!({ "content": [{ "type": "text", "text": "it \"is\" sent" }], "isError": false });
        for told in [
            json!("it \"is\" sent"),
            json!("Error: it \"is\" sent"),
            json!([{ "type": "text", "text": "it \"is\" sent" }]),
            json!(result.to_string()),
            json!(result["content"].to_string()),
            json!({ "output": "it \"is\" sent" }),
            result.clone(),
        ] {
            assert!(says_result(&told, &result), "{told}");
            let is_wrapped = [
                json!("Error: it \"is\" sent"),
                json!({ "output": "it \"is\" sent" }),
            ]
            .contains(&told);
            assert_eq!(is_as_sent(&told, &result), !is_wrapped, "{told}");
        }
        for told in [
            json!("ok"),
            json!(""),
            json!(null),
            json!({ "status": "sent" }),
        ] {
            assert!(!says_result(&told, &result), "{told}");
        }
        let structured = json!({ "content": [], "structuredContent": { "a": 1, "b": 2 } });
        assert!(says_result(&json!("{ \"b\": 2, \"a\": 1 }"), &structured));
        assert!(!says_result(&json!("done"), &structured));
        assert!(!says_result(&json!(""), &structured));
        assert!(says_result(&json!(""), &json!({ "content": [] })));
        assert!(!says_result(&json!("done"), &json!({ "content": [] })));
        let two = json!({ "content": [{ "type": "text", "text": "a1" }, { "type": "text", "text": "b2" }] });
        assert!(says_result(&json!("a1\n\nb2"), &two));
        assert!(!says_result(&json!("a1"), &two));
    }
}
