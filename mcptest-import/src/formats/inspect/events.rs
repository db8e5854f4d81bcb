//! The events of a sample: what models were asked and what tools did.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::event::CallTokens;
use crate::json::{count, identifier, is_set, list, non_null, nonempty_text, text, truthy};
use crate::nesting::Nesting;
use crate::time;

/// The events that are the agent's own.
pub(super) struct AgentEvents<'v> {
    agent: Vec<&'v Value>,
    /// The model call that wrote each message, by the message's identifier.
    wrote: HashMap<&'v str, &'v Value>,
    /// The first event of each call's tool, by the call's identifier, and whether any says that the call failed.
    ran: HashMap<String, (&'v Value, bool)>,
}

/// Whether a scorer or a sub-agent runs around an event.
#[derive(Debug, Clone, Copy, Default)]
struct EventScope {
    scores: bool,
    is_agent: bool,
}

impl<'v> AgentEvents<'v> {
    /// Leaves out what graders did, and what happened inside of scorers and sub-agents.
    pub(super) fn from_sample(sample: &'v Value) -> Self {
        let events = list(sample, "events");
        let begins = |event: &&Value| text(event, "event") == Some("span_begin");
        let spans = events.iter().filter(begins);
        let spans = spans.filter_map(|event| Some((nonempty_text(event, "id")?, event)));
        let spans: Vec<(&str, &Value)> = spans.collect();
        let names = spans
            .iter()
            .map(|(id, span)| (*id, nonempty_text(span, "parent_id")));
        let nesting = Nesting::from_pairs(names);
        let with = |around: &EventScope, span: &Value| {
            let kind = nonempty_text(span, "type").unwrap_or_default();
            EventScope {
                scores: around.scores || matches!(kind, "scorers" | "scorer"),
                is_agent: around.is_agent || kind == "agent",
            }
        };
        let around = nesting.inherit(EventScope::default(), |around, outer| {
            with(around, spans[outer].1)
        });
        let around = spans.iter().zip(&around);
        let around = around.map(|((id, span), around)| (*id, with(around, span)));
        let around: HashMap<&str, EventScope> = around.collect();
        let foreign = |event: &Value, tool: bool| {
            let around = nonempty_text(event, "span_id").and_then(|id| around.get(id));
            around.is_some_and(|around| around.scores || tool && around.is_agent)
        };
        let own = events.iter().filter(|event| match text(event, "event") {
            Some("model") => non_null(event, "role").is_none() && !foreign(event, false),
            Some("tool") => !foreign(event, true),
            _ => false,
        });
        let mut agent = Self {
            agent: own.collect(),
            wrote: HashMap::new(),
            ran: HashMap::new(),
        };
        for event in agent.agent.clone() {
            if text(event, "event") == Some("model") {
                let written = event.pointer("/output/choices/0/message");
                if let Some(id) = written.and_then(|message| nonempty_text(message, "id")) {
                    agent.wrote.entry(id).or_insert(event);
                }
            } else if let Some(id) = identifier(event, "id") {
                let (_, any_failed) = agent.ran.entry(id).or_insert((event, false));
                *any_failed |= failed(event);
            }
        }
        agent
    }

    pub(super) fn agent_events(&self) -> impl Iterator<Item = &'v Value> {
        self.agent.iter().copied()
    }

    fn model_events(&self) -> impl Iterator<Item = &'v Value> {
        let is_model_call = |event: &&Value| text(event, "event") == Some("model");
        self.agent_events().filter(is_model_call)
    }

    /// The tools that the model was offered.
    pub(super) fn tools(&self) -> &'v [Value] {
        let mut tools = self.model_events().map(|event| list(event, "tools"));
        tools.find(|tools| !tools.is_empty()).unwrap_or_default()
    }

    /// What the model call took that wrote a message.
    pub(super) fn model_call_tokens(&self, message: &Value) -> Option<CallTokens> {
        Some(call_usage(self.wrote.get(nonempty_text(message, "id")?)?))
    }

    /// How long the tool ran that answered a call, in milliseconds.
    pub(super) fn tool_duration(&self, call: &str) -> Option<u64> {
        duration_ms(self.ran.get(call)?.0)
    }

    /// Whether a tool event says that the call failed.
    pub(super) fn failed(&self, call: &str) -> bool {
        self.ran.get(call).is_some_and(|(_, failed)| *failed)
    }

    /// Whether tools were called that the messages do not tell of.
    pub(super) fn has_more_calls_than(&self, messages: &[Value]) -> bool {
        let calls = messages.iter().flat_map(|it| list(it, "tool_calls"));
        let known: HashSet<String> = calls.filter_map(|call| identifier(call, "id")).collect();
        self.ran.keys().any(|id| !known.contains(id))
    }
}

pub(super) fn failed(value: &Value) -> bool {
    non_null(value, "error").is_some_and(truthy) || is_set(value, "failed")
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
pub(super) fn call_usage(event: &Value) -> CallTokens {
    let output = &event["output"];
    let mut taken = tokens(output.get("usage")).unwrap_or_default();
    let told = non_null(output, "time").and_then(time::parse_duration);
    taken.duration_ms = told.or_else(|| duration_ms(event));
    taken
}

/// From the beginning of an event to its end, in milliseconds.
pub(super) fn duration_ms(event: &Value) -> Option<u64> {
    let at = |key: &str| non_null(event, key).and_then(time::parse_seconds);
    time::elapsed(at("timestamp"), at("completed"))
}
