//! What stands around the calls of a run: turns, tokens, how it stopped, and what was thought of it.

use serde::Serialize;

/// The conversation around the calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// Tokens over the whole run; the sum of the steps where none were recorded. See
    /// [`Trace::tokens_taken`](super::Trace::tokens_taken).
    pub tokens: Tokens,
    /// Wall time of the recording in milliseconds; `None` when it was not recorded.
    pub duration_ms: Option<u64>,
    /// Number of messages exchanged; `None` when it was not recorded.
    pub message_count: Option<u64>,
    /// Why the run stopped; `None` when it was not recorded.
    pub stop_reason: Option<StopReason>,
    /// All turns in order.
    pub turns: Vec<Turn>,
    /// What is known of each user turn, when it was recorded.
    pub per_turn: Vec<PerTurn>,
    /// Tokens of each model call, when they were recorded.
    pub steps: Vec<StepTokens>,
    /// The model that answered each of the steps, where the recording names another than the run's; empty where it
    /// names none.
    pub step_models: Vec<Option<String>>,
}

/// Token counts of a run; what was not recorded is `None`, and zero is a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Tokens {
    /// Tokens sent to the model.
    pub prompt: Option<u64>,
    /// Tokens the model wrote.
    pub completion: Option<u64>,
    /// Both together; their sum when the recording does not state it.
    pub total: Option<u64>,
    /// Those of `prompt` that the provider had in its cache.
    pub cached: Option<u64>,
    /// Those of `completion` that were spent on reasoning.
    pub reasoning: Option<u64>,
}

impl Tokens {
    /// The sum over model calls, saturating. There is none of what some call does not say, nor of no call.
    ///
    /// ```
    /// use mcptest_trace::trace::{StepTokens, Tokens};
    ///
    /// let known = StepTokens::new(30, 3);
    /// assert_eq!(Tokens::from_steps(&[known, known]).total, Some(66));
    /// assert_eq!(Tokens::from_steps(&[known, StepTokens::default()]).total, None);
    /// assert_eq!(Tokens::from_steps(&[]).total, None);
    /// ```
    #[must_use]
    pub fn from_steps(steps: &[StepTokens]) -> Self {
        let sum = |count: fn(&StepTokens) -> Option<u64>| {
            let mut counts = steps.iter().map(count);
            let first = counts.next()??;
            counts.try_fold(first, |sum, count| Some(sum.saturating_add(count?)))
        };
        Self {
            prompt: sum(|step| step.prompt),
            completion: sum(|step| step.completion),
            total: sum(|step| step.total()),
            cached: sum(|step| step.cached),
            reasoning: sum(|step| step.reasoning),
        }
    }
}

/// Token counts and duration of one model call; what was not recorded is `None`, and zero is a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StepTokens {
    /// Tokens sent to the model.
    pub prompt: Option<u64>,
    /// Tokens the model wrote.
    pub completion: Option<u64>,
    /// Those of `prompt` that the provider had in its cache.
    pub cached: Option<u64>,
    /// Those of `completion` that were spent on reasoning.
    pub reasoning: Option<u64>,
    /// How long the model call took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Prompt and completion together, where the recording states it; some providers count reasoning in it alone.
    #[serde(rename = "total", skip_serializing_if = "Option::is_none")]
    pub stated_total: Option<u64>,
}

impl StepTokens {
    /// Prompt and completion together, saturating, or what the recording states where that is more; `None` where
    /// neither is known.
    ///
    /// ```
    /// use mcptest_trace::trace::StepTokens;
    ///
    /// let mut step = StepTokens::new(30, 3);
    /// assert_eq!(step.total(), Some(33));
    /// step.stated_total = Some(90);
    /// assert_eq!(step.total(), Some(90));
    /// ```
    #[must_use]
    pub fn total(self) -> Option<u64> {
        // Some recorders write zeros for what they do not know.
        let stated = self.stated_total.filter(|stated| *stated > 0);
        self.sum_of_parts().max(stated)
    }

    /// Prompt and completion together, where both are recorded.
    pub(super) fn sum_of_parts(self) -> Option<u64> {
        sum(self.prompt, self.completion)
    }
}

/// The sum of two counts; one of them alone is no sum.
pub(super) fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

/// One turn of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// `user`, `assistant`, `tool` or whatever the recorder wrote.
    pub role: String,
    /// The text of the turn.
    pub content: String,
}

impl Turn {
    /// Whether the model wrote this turn.
    pub(crate) fn is_assistant(&self) -> bool {
        self.role == "assistant"
    }

    /// Whether this is an assistant turn that stands for a tool call
    /// (`tool_use <server>::<tool> with <args>`).
    #[must_use]
    pub fn is_tool_use(&self) -> bool {
        self.is_assistant() && self.content.starts_with("tool_use ")
    }
}

/// What is known of one user turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PerTurn {
    /// The calls made for this turn, as a half-open range of indices into the run's calls.
    pub calls: Option<(usize, usize)>,
    /// What the agent answered.
    pub response: Option<String>,
    /// The turn's own signals.
    pub signals: Option<Signals>,
}

/// Why a run stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The agent gave its final answer.
    Completed,
    /// The cap on turns was reached.
    TurnBudget,
    /// The cap on tokens was reached.
    TokenBudget,
    /// The cap on tool calls was reached.
    ToolCallBudget,
    /// The cap on time was reached.
    TimeBudget,
    /// A reason this version does not know.
    #[serde(untagged)]
    Other(String),
}

impl StopReason {
    /// The reasons that this version knows, as they stand in a cassette.
    pub const WORDS: &'static [&'static str] = &[
        "completed",
        "turn_budget",
        "token_budget",
        "tool_call_budget",
        "time_budget",
    ];

    pub(super) fn from_text(text: &str) -> Self {
        match text {
            "completed" => Self::Completed,
            "turn_budget" => Self::TurnBudget,
            "token_budget" => Self::TokenBudget,
            "tool_call_budget" => Self::ToolCallBudget,
            "time_budget" => Self::TimeBudget,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The reason as it stands in a cassette.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Completed => "completed",
            Self::TurnBudget => "turn_budget",
            Self::TokenBudget => "token_budget",
            Self::ToolCallBudget => "tool_call_budget",
            Self::TimeBudget => "time_budget",
            Self::Other(text) => text,
        }
    }
}

/// Precomputed quality signals of a run or a turn, each in `0.0..=1.0`, higher is better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Signals {
    /// How sure the agent was.
    pub confidence: Option<f64>,
    /// 1.0 when nothing was repeated.
    pub loop_detection: Option<f64>,
    /// Share of tool use that was right.
    pub tool_correctness: Option<f64>,
    /// How well what was said agrees with what was done.
    pub coherence: Option<f64>,
}

/// The recorded verdict on a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// Whether the run passed.
    pub passed: Option<bool>,
    /// The reward a benchmark gave it.
    pub reward: Option<f64>,
}
