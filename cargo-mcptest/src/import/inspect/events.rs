//! The events of a sample: what models were asked and what tools did.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::import::event::CallTokens;
use crate::import::json::{count, given, identifier, is_set, list, text, truthy, word};
use crate::import::time;

/// The events that are the agent's own.
pub(super) struct AgentEvents<'v> {
    agent: Vec<&'v Value>,
}

impl<'v> AgentEvents<'v> {
    /// Leaves out what graders did, and what happened inside of scorers and sub-agents.
    pub(super) fn of(sample: &'v Value) -> Self {
        let events = list(sample, "events");
        let mut spans: HashMap<&str, (Option<&str>, &str)> = HashMap::new();
        let begins = |event: &&Value| text(event, "event") == Some("span_begin");
        for event in events.iter().filter(begins) {
            if let Some(id) = word(event, "id") {
                let kind = word(event, "type").unwrap_or_default();
                spans.insert(id, (word(event, "parent_id"), kind));
            }
        }
        let foreign = |event: &Value, tool: bool| {
            let mut next = word(event, "span_id");
            let mut depth = 0;
            while let Some((parent, kind)) = next.and_then(|id| spans.get(id)) {
                if matches!(*kind, "scorers" | "scorer") || tool && *kind == "agent" {
                    return true;
                }
                next = *parent;
                depth += 1;
                // A circle leads nowhere.
                if depth > spans.len() {
                    break;
                }
            }
            false
        };
        let own = events.iter().filter(|event| match text(event, "event") {
            Some("model") => given(event, "role").is_none() && !foreign(event, false),
            Some("tool") => !foreign(event, true),
            _ => false,
        });
        Self {
            agent: own.collect(),
        }
    }

    pub(super) fn of_agent(&self) -> impl Iterator<Item = &'v Value> {
        self.agent.iter().copied()
    }

    fn models(&self) -> impl Iterator<Item = &'v Value> {
        self.of_kind("model")
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &'v Value> {
        let is_of_kind = move |event: &&Value| text(event, "event") == Some(kind);
        self.of_agent().filter(is_of_kind)
    }

    fn tool_events(&self) -> impl Iterator<Item = &'v Value> {
        self.of_kind("tool")
    }

    /// The tools that the model was offered.
    pub(super) fn tools(&self) -> &'v [Value] {
        let mut tools = self.models().map(|event| list(event, "tools"));
        tools.find(|tools| !tools.is_empty()).unwrap_or_default()
    }

    /// What the model call took that wrote a message.
    pub(super) fn taken_of(&self, message: &Value) -> Option<CallTokens> {
        let id = word(message, "id")?;
        let wrote = |event: &&Value| {
            let written = event.pointer("/output/choices/0/message");
            written.and_then(|message| word(message, "id")) == Some(id)
        };
        Some(taken(self.models().find(wrote)?))
    }

    /// How long the tool ran that answered a call, in milliseconds.
    pub(super) fn duration_of(&self, call: &str) -> Option<u64> {
        let is_it = |event: &&Value| identifier(event, "id").as_deref() == Some(call);
        duration(self.tool_events().find(is_it)?)
    }

    /// Whether a tool event says that the call failed.
    pub(super) fn failed(&self, call: &str) -> bool {
        self.tool_events()
            .any(|event| identifier(event, "id").as_deref() == Some(call) && failed(event))
    }

    /// Whether tools were called that the messages do not tell of.
    pub(super) fn knows_more_than(&self, messages: &[Value]) -> bool {
        let calls = messages.iter().flat_map(|it| list(it, "tool_calls"));
        let known: HashSet<String> = calls.filter_map(|call| identifier(call, "id")).collect();
        let mut ids = self
            .tool_events()
            .filter_map(|event| identifier(event, "id"));
        ids.any(|id| !known.contains(&id))
    }
}

pub(super) fn failed(value: &Value) -> bool {
    given(value, "error").is_some_and(truthy) || is_set(value, "failed")
}

/// The tokens of a model call. What was read from and written to the cache is in `input_tokens` by some
/// providers and not by others: the total tells.
pub(super) fn tokens(usage: Option<&Value>) -> Option<CallTokens> {
    let usage = usage?;
    let (input, output) = (
        count(usage, "input_tokens")?,
        count(usage, "output_tokens")?,
    );
    let cached = count(usage, "input_tokens_cache_read");
    let input = if count(usage, "total_tokens") == input.checked_add(output) {
        input
    } else {
        let more = [cached, count(usage, "input_tokens_cache_write")];
        more.into_iter().flatten().fold(input, u64::saturating_add)
    };
    let mut taken = CallTokens::new(input, output);
    taken.cached = cached;
    taken.reasoning = count(usage, "reasoning_tokens");
    Some(taken)
}

/// What the model call of an event took.
pub(super) fn taken(event: &Value) -> CallTokens {
    let output = &event["output"];
    let mut taken = tokens(output.get("usage")).unwrap_or_default();
    let told = given(output, "time").and_then(time::span);
    taken.duration_ms = told.or_else(|| duration(event));
    taken
}

/// From the beginning of an event to its end, in milliseconds.
pub(super) fn duration(event: &Value) -> Option<u64> {
    let at = |key: &str| given(event, key).and_then(time::seconds);
    time::between(at("timestamp"), at("completed"))
}
