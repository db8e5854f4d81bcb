//! A run as a cassette.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde_json::{Number, Value, json};

use super::span::CapturedSpan;
use crate::record::payload::to_mcp_payload;
use crate::record::{TranscriptBuilder, recorded_on, rfc3339};
use crate::spans::{EmitterInfo, RunEnd};
use crate::trace::{OfferedTool, SCHEMA_VERSION, StepTokens, Tokens, without_null};

/// The version of the field `captured`.
const VERSION: &str = "1.0";

/// A run that is written down, in the order in which it happened.
#[derive(Debug)]
pub(super) struct CapturedRun {
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) system_prompt: Option<String>,
    pub(super) temperature: Option<Number>,
    pub(super) max_tokens: Option<u64>,
    /// The names of the tools that were offered.
    pub(super) tools: Option<Vec<String>>,
    started: SystemTime,
    took: Duration,
    from: Option<&'static EmitterInfo>,
    talk: TranscriptBuilder,
    calls: Vec<Value>,
    /// By call: in the order of calls.
    results: BTreeMap<usize, Value>,
    /// What the span of a call's tool says of its result.
    ran: BTreeMap<usize, ToolSpan>,
    steps: Vec<(StepTokens, Option<String>)>,
    /// The tokens of nested agents' model calls.
    beside: Vec<Option<u64>>,
    notes: Vec<String>,
    end: RunEnd,
}

/// What the span of a tool says of its call.
#[derive(Debug)]
struct ToolSpan {
    is_error: Option<bool>,
    result: Option<Value>,
    took: Option<Duration>,
}

impl CapturedRun {
    pub(super) fn new(agent: &str, model: &str, started: SystemTime, took: Duration) -> Self {
        Self {
            agent: agent.to_owned(),
            model: model.to_owned(),
            system_prompt: None,
            temperature: None,
            max_tokens: None,
            tools: None,
            started,
            took,
            from: None,
            talk: TranscriptBuilder::default(),
            calls: Vec::new(),
            results: BTreeMap::new(),
            ran: BTreeMap::new(),
            steps: Vec::new(),
            beside: Vec::new(),
            notes: Vec::new(),
            end: RunEnd::default(),
        }
    }

    pub(super) fn set_emitter(&mut self, emitter: &'static EmitterInfo) {
        self.from = Some(emitter);
    }

    pub(super) fn has_prompt(&self) -> bool {
        self.talk.first_user_text().is_some()
    }

    pub(super) fn add_user_text(&mut self, text: &str) {
        self.talk.add_user(text, self.calls.len());
    }

    pub(super) fn add_agent_text(&mut self, text: &str) {
        self.talk.add_agent(text);
    }

    pub(super) fn add_note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn set_end(&mut self, end: RunEnd) {
        self.end = end;
    }

    /// Adds a model call: of the agent itself, or of a nested agent.
    pub(super) fn add_step(&mut self, tokens: StepTokens, model: Option<&str>, is_nested: bool) {
        if is_nested {
            self.beside.push(tokens.total());
        } else {
            let model = model.filter(|model| *model != self.model);
            self.steps.push((tokens, model.map(str::to_owned)));
        }
    }

    /// Adds a tool call. Returns its place.
    pub(super) fn add_call(
        &mut self,
        name: &str,
        args: Value,
        agent: Option<&str>,
        by_model: bool,
    ) -> usize {
        let place = self.calls.len();
        let mut written = json!({ "name": name, "hop_index": place });
        if let Some(agent) = agent {
            written["agent_id"] = agent.into();
        } else {
            self.talk.add_call(None, name, &args);
            if let Some(step) = self.steps.len().checked_sub(1).filter(|_| by_model) {
                written["step"] = step.into();
            }
        }
        written["args"] = args;
        self.calls.push(written);
        place
    }

    /// Adds what the span of a call's tool says.
    pub(super) fn add_tool_span(&mut self, call: usize, span: &CapturedSpan) {
        if let Some(ended) = span.ended {
            let ran = ToolSpan {
                is_error: span.is_error(),
                result: span.result(),
                took: Some(ended.saturating_sub(span.began)),
            };
            self.ran.insert(call, ran);
        }
    }

    /// Adds the result of a call, as the model was sent it.
    pub(super) fn add_result(&mut self, call: usize, value: Value) {
        self.results.entry(call).or_insert(value);
    }

    /// The results: what the model was sent, else what the tool's span says; whether they are errors, where the span
    /// or the result says so.
    fn results(&self) -> Vec<Value> {
        let mut results = Vec::new();
        for call in 0..self.calls.len() {
            let ran = self.ran.get(&call);
            let of_span = || ran.and_then(|ran| ran.result.clone());
            let failed = || ran.is_some_and(|ran| ran.is_error == Some(true));
            let told = self.results.get(&call).cloned().or_else(of_span);
            let Some(value) = told.or_else(|| failed().then_some(Value::Null)) else {
                continue;
            };
            let (mut value, is_mcp) = to_mcp_payload(value);
            let own = value.get("isError").and_then(Value::as_bool);
            let is_error = match (ran.and_then(|ran| ran.is_error), own) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (known, _) => known.or(is_mcp.then_some(false)),
            };
            if is_error == Some(true) && own == Some(false) {
                value["isError"] = true.into();
            }
            let took = ran.and_then(|ran| ran.took).map(milliseconds);
            results.push(without_null(json!({
                "call_index": call,
                "is_error": is_error,
                "duration_ms": took,
                "result": null,
            })));
            if let Some(written) = results.last_mut() {
                written["result"] = value;
            }
        }
        results
    }

    /// The run as a cassette. Secrets are still in it.
    pub(super) fn cassette(&self) -> Value {
        let results = self.results();
        let mut unknown = BTreeSet::new();
        if results
            .iter()
            .any(|result| result.get("is_error").is_none())
        {
            unknown.insert("is_error");
        }
        let mut conversation = json!({
            "duration_ms": milliseconds(self.took),
            "message_count": self.talk.user_turns() + self.steps.len() + results.len(),
        });
        match &self.end.reason {
            Some(reason) => conversation["stop_reason"] = reason.as_str().into(),
            None => drop(unknown.insert("stop_reason")),
        }
        if self.end.refused {
            conversation["refused"] = true.into();
        }
        if !self.tokens(&mut conversation) {
            unknown.insert("tokens");
        }
        let mut trace = json!({
            "tool_calls": self.calls,
            "tool_results": results,
            "conversation": conversation,
        });
        self.talk.write_to(&mut trace);
        let tools = self.tools.as_ref().map(|tools| {
            let tools = tools
                .iter()
                .map(|tool| Value::from(OfferedTool::from_line(tool)));
            tools.collect::<Value>()
        });
        if self.system_prompt.is_none() {
            unknown.insert("system_prompt");
        }
        let captured = json!({
            "version": VERSION,
            "from": self.from.map(|from| from.name),
            "unknown": (!unknown.is_empty()).then_some(unknown),
            "notes": (!self.notes.is_empty()).then_some(&self.notes),
        });
        let mut cassette = without_null(json!({
            "schema_version": SCHEMA_VERSION,
            "agent_name": self.agent,
            "model": self.model,
            "recorded_at": rfc3339(self.started),
            "recorded_on": recorded_on(),
            "system_prompt": self.system_prompt,
            "user_prompt": self.talk.first_user_text(),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "tools": tools,
            "captured": without_null(captured),
        }));
        cassette["trace"] = trace;
        cassette
    }

    /// The tokens of the run, those of nested agents among them: of all model calls, or of none, since a sum that
    /// leaves some out is too low. Returns whether they are known.
    fn tokens(&self, conversation: &mut Value) -> bool {
        let steps: Vec<StepTokens> = self.steps.iter().map(|(tokens, _)| *tokens).collect();
        let mut all = Tokens::from_steps(&steps);
        let beside: Option<u64> = self.beside.iter().copied().sum();
        if !self.beside.is_empty() {
            let total = all.total.zip(beside);
            all = Tokens {
                total: total.map(|(own, beside)| own.saturating_add(beside)),
                ..Tokens::default()
            };
        }
        if all.total.is_none() && !self.beside.is_empty() {
            return false;
        }
        let written = self.steps.iter().map(|(tokens, model)| {
            let mut step = without_null(json!(tokens));
            if let Some(model) = model {
                step["model"] = model.as_str().into();
            }
            step
        });
        conversation["steps"] = written.collect();
        if all.total.is_some() {
            conversation["tokens"] = without_null(json!(all));
        }
        all.total.is_some()
    }
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
