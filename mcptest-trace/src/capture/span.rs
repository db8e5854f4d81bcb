//! A span that was seen, and what it says.

use std::time::Duration;

use serde_json::{Map, Value};

use super::exchange::Exchange;
use crate::spans::{self, AGENT_SPAN, EmitterInfo, Marked, Meaning, SpanRole};

/// The field by which a span of `tracing` says how it ended; exporters make the status of it.
const STATUS: &str = "otel.status_code";

/// A span of an agent, a model call or a tool.
#[derive(Debug)]
pub(super) struct CapturedSpan {
    pub(super) name: &'static str,
    pub(super) target: &'static str,
    pub(super) attributes: Map<String, Value>,
    /// The nearest such span around it, among those of the same group.
    pub(super) parent: Option<usize>,
    /// When it began and ended, since the group did.
    pub(super) began: Duration,
    pub(super) ended: Option<Duration>,
    /// A panic left it.
    pub(super) panicked: bool,
    /// What was sent and said, once a model call has ended.
    pub(super) exchange: Option<Exchange>,
}

/// What a span is of, if it is of anything that makes a run.
pub(super) fn role(name: &str, target: &str, attributes: &Map<String, Value>) -> Option<SpanRole> {
    let marked = Marked {
        scope: Some(target),
        attributes,
    };
    if name == AGENT_SPAN {
        return Some(SpanRole::Agent);
    }
    // What a tool is for may be a model: a span of both is of the tool.
    let roles = [SpanRole::Agent, SpanRole::Tool, SpanRole::ModelCall];
    roles.into_iter().find(|role| role.matches(marked))
}

impl CapturedSpan {
    fn marked(&self) -> Marked<'_> {
        Marked {
            scope: Some(self.target),
            attributes: &self.attributes,
        }
    }

    pub(super) fn role(&self) -> Option<SpanRole> {
        role(self.name, self.target, &self.attributes)
    }

    /// Who wrote it.
    pub(super) fn emitter(&self) -> &'static EmitterInfo {
        spans::find_emitter(self.marked())
    }

    /// The first attribute of a meaning that is there.
    pub(super) fn attribute(&self, meaning: Meaning) -> Option<&Value> {
        let mut values = meaning.names().filter_map(|key| self.attributes.get(key));
        values.find(|value| !value.is_null())
    }

    /// The first attribute of a meaning that is a text and says something.
    pub(super) fn text(&self, meaning: Meaning) -> Option<&str> {
        meaning.names().find_map(|key| self.marked().text(key))
    }

    /// The first attribute of a meaning that counts something.
    pub(super) fn count(&self, meaning: Meaning) -> Option<u64> {
        let mut values = meaning.names().filter_map(|key| self.attributes.get(key));
        values.find_map(Value::as_u64)
    }

    /// The tool that runs.
    pub(super) fn tool(&self) -> Option<&str> {
        self.text(Meaning::ToolName)
    }

    /// Ends the span. The messages of a model call are parsed, and their text is dropped.
    pub(super) fn close(&mut self, at: Duration) {
        self.ended = Some(at);
        if self.role() == Some(SpanRole::ModelCall) {
            self.exchange = Some(Exchange::from_attributes(&self.attributes));
            for meaning in [Meaning::Input, Meaning::Output, Meaning::SystemPrompt] {
                for key in meaning.names() {
                    self.attributes.remove(key);
                }
            }
        }
    }

    fn error_status(&self) -> Option<bool> {
        match self.marked().text(STATUS)?.to_ascii_lowercase().as_str() {
            "error" => Some(true),
            "ok" => Some(false),
            _ => None,
        }
    }

    /// Whether it says of itself that it failed.
    pub(super) fn failed(&self) -> bool {
        let says = |value: &Value| !matches!(value, Value::Bool(false)) && value != "";
        self.panicked
            || self.error_status() == Some(true)
            || self.attribute(Meaning::Failure).is_some_and(says)
    }

    /// Whether a tool failed, where its span says so: by the emitter's own word, else by a status that was set.
    pub(super) fn is_error(&self) -> Option<bool> {
        let outcome = self.text(Meaning::Outcome).map(spans::parse_outcome);
        if self.failed() || outcome == Some(Some(true)) {
            return Some(true);
        }
        // An outcome in a word that nobody knows is no success.
        outcome.unwrap_or_else(|| self.error_status())
    }

    /// What a tool gave back, as its span says it; of a failure that brought nothing, what is said of it.
    pub(super) fn result(&self) -> Option<Value> {
        let told = self.attribute(Meaning::ToolResult).cloned();
        let failure = || self.text(Meaning::Failure).map(Value::from);
        let panicked = || self.panicked.then(|| "the tool panicked".into());
        told.or_else(failure).or_else(panicked)
    }
}
