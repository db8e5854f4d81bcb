//! What was written down, as a cassette.

use serde_json::{Value, json};

use super::super::recorded_on;
use super::super::time::rfc3339;
use super::Recorder;
use crate::trace::{SCHEMA_VERSION, StopReason, Tokens, ToolCall, without_null};

impl Recorder {
    /// The run as it is recorded: a cassette of schema version `v1`. Secrets are still in it.
    #[must_use]
    pub fn cassette(&self) -> Value {
        let elapsed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let stop_reason = self.stop_reason.clone().unwrap_or(StopReason::Completed);
        let mut conversation = json!({
            "stop_reason": stop_reason.as_str(),
            "duration_ms": self.duration_ms.unwrap_or(elapsed),
            "message_count": self.messages,
            "steps": self.steps.iter().map(|step| without_null(json!(step))).collect::<Vec<_>>(),
        });
        // A sum of what is not known whole would be too low.
        let tokens = without_null(json!(Tokens::from_steps(&self.steps)));
        if tokens != json!({}) {
            conversation["tokens"] = tokens;
        }
        if self.refused {
            conversation["refused"] = true.into();
        }
        let mut trace = json!({
            "tool_calls": self.calls.iter().map(call_json).collect::<Vec<_>>(),
            "tool_results": self.results,
            "conversation": conversation,
        });
        if !self.scores.is_empty() {
            trace["scores"] = json!(self.scores);
        }
        self.talk.write_to(&mut trace);
        let mut cassette = json!({
            "schema_version": SCHEMA_VERSION,
            "agent_name": self.agent,
            "model": self.model,
            "recorded_at": rfc3339(self.recorded_at),
            "system_prompt": self.system_prompt,
            "user_prompt": self.talk.first_user_text().unwrap_or_default(),
            "trace": trace,
        });
        if let Some(machine) = recorded_on() {
            cassette["recorded_on"] = machine.into();
        }
        for (key, value) in &self.extra {
            cassette[key] = value.clone();
        }
        if let Some(outcome) = &self.outcome {
            cassette["outcome"] = outcome.clone();
        }
        cassette
    }
}

fn call_json(call: &ToolCall) -> Value {
    let mut written = json!({
        "name": call.name,
        "server": call.server,
        "args": call.args,
    });
    let optional = [
        ("hop_index", call.hop_index.map(Value::from)),
        ("step", call.step.map(Value::from)),
        ("caller", call.caller.clone()),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            written[key] = value;
        }
    }
    written
}
