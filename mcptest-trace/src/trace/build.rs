//! Traces made by hand: a constructor for each part of one, and setters for what it may lack.

use serde_json::Value;

use super::{Outcome, PerTurn, Signals, StepTokens, Synthesized, ToolCall, ToolResult, Turn};
use crate::setters::setters;

impl ToolCall {
    /// A call of a tool, of which only the arguments are known.
    pub fn new(name: impl Into<String>, args: Value) -> Self {
        Self {
            name: name.into(),
            args: args.into(),
            ..Self::default()
        }
    }

    /// With the server that offers the tool.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = server.into();
        self
    }
}

impl ToolResult {
    /// What the call of this index returned, known to be no error unless it says so itself (MCP's
    /// `isError`).
    #[must_use]
    pub fn new(call_index: usize, result: Value) -> Self {
        Self {
            call_index,
            is_error: result.get("isError") == Some(&Value::Bool(true)),
            error_known: true,
            result: result.into(),
            ..Self::default()
        }
    }
}

impl Synthesized {
    /// An answer of the fault of this name and kind.
    pub fn new(fault: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            fault: fault.into(),
            kind: kind.into(),
        }
    }
}

impl StepTokens {
    /// Tokens sent to the model, and tokens that it wrote.
    #[must_use]
    pub const fn new(prompt: u64, completion: u64) -> Self {
        Self {
            prompt: Some(prompt),
            completion: Some(completion),
            cached: None,
            reasoning: None,
            duration_ms: None,
            stated_total: None,
        }
    }
}

impl Turn {
    /// What someone said.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
        }
    }
}

impl PerTurn {
    /// A turn for which these calls were made: a half-open range of indices.
    #[must_use]
    pub fn new(calls: (usize, usize)) -> Self {
        Self {
            calls: Some(calls),
            ..Self::default()
        }
    }
}

setters! {
    Signals {
        with_confidence(confidence: f64) => Some(confidence);
        with_loop_detection(loop_detection: f64) => Some(loop_detection);
        with_tool_correctness(tool_correctness: f64) => Some(tool_correctness);
        with_coherence(coherence: f64) => Some(coherence);
    }
}

impl Outcome {
    /// The verdict on a run.
    #[must_use]
    pub const fn new(passed: bool) -> Self {
        Self {
            passed: Some(passed),
            reward: None,
        }
    }
}
