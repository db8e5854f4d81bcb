//! A difference between what the agent's code does now and what was recorded.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DivergenceKind {
    /// The system prompt.
    SystemPrompt,
    /// The tools that are offered: their names, descriptions and schemas.
    Tools,
    /// What the user, or anybody but the agent, said.
    UserTurns,
    /// What the agent tells the model that the model said and called before.
    AssistantTurns,
    /// The result of a tool.
    ToolResults,
    /// The model that is asked.
    Model,
    /// Something else in a request that changes answers.
    Parameters,
    /// A model call that was not recorded: after the last one, or of a conversation that is not known.
    AnotherCall,
    /// A question that the program asks again, though it was answered.
    AskedAgain,
    /// A recorded answer that was never asked for.
    Unasked,
    /// A request that asks no model, and was not recorded.
    OtherRequest,
    /// What the program says to the user, where that is what it prints.
    FinalResponse,
    /// A call of a tool of an MCP server, or of one that the session runs, that was not recorded; or a recorded one that
    /// is not made.
    ToolCall,
}

impl DivergenceKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::SystemPrompt,
        Self::Tools,
        Self::UserTurns,
        Self::AssistantTurns,
        Self::ToolResults,
        Self::Model,
        Self::Parameters,
        Self::AnotherCall,
        Self::AskedAgain,
        Self::Unasked,
        Self::OtherRequest,
        Self::FinalResponse,
        Self::ToolCall,
    ];

    /// Whether `ignore:` of a suite may name it.
    #[must_use]
    pub fn may_be_ignored(self) -> bool {
        matches!(
            self,
            Self::SystemPrompt
                | Self::Tools
                | Self::UserTurns
                | Self::AssistantTurns
                | Self::ToolResults
                | Self::Parameters
                | Self::FinalResponse
        )
    }

    /// The word for it, as options of suites and results have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system_prompt",
            Self::Tools => "tools",
            Self::UserTurns => "user_turns",
            Self::AssistantTurns => "assistant_turns",
            Self::ToolResults => "tool_results",
            Self::Model => "model",
            Self::Parameters => "parameters",
            Self::AnotherCall => "another_call",
            Self::AskedAgain => "asked_again",
            Self::Unasked => "unasked",
            Self::OtherRequest => "other_request",
            Self::FinalResponse => "final_response",
            Self::ToolCall => "tool_call",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Divergence {
    /// What differs.
    pub kind: DivergenceKind,
    /// The model call whose request shows it, from 1; that of the answer which nobody asked for.
    pub call: usize,
    /// How many model calls the recording holds in this conversation.
    pub of: usize,
    /// The sub-agent or side conversation that it is in; `None` for the agent's own.
    pub conversation: Option<String>,
    /// What differs, as a path: `tool_results[3]`, `tools[refund].description`, `parameters.temperature`.
    pub path: String,
    /// The recorded value; `None` where there is none.
    pub recorded: Option<Value>,
    /// The value now; `None` where there is none.
    pub played: Option<Value>,
    /// Where the recorded value stands in the cassette, where one thing there says it.
    pub place: Option<String>,
    /// What happened, in a few words.
    pub message: String,
}

impl Divergence {
    /// A difference at a model call of the agent's own conversation, without values.
    pub fn new(
        kind: DivergenceKind,
        (call, of): (usize, usize),
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            call,
            of,
            conversation: None,
            path: path.into(),
            recorded: None,
            played: None,
            place: None,
            message: message.into(),
        }
    }

    /// Sets the conversation, where it is not the agent's own.
    #[must_use]
    pub fn in_conversation(self, conversation: Option<String>) -> Self {
        Self {
            conversation,
            ..self
        }
    }

    /// Sets where the recorded value stands in the cassette.
    #[must_use]
    pub fn with_place(self, place: Option<String>) -> Self {
        Self { place, ..self }
    }

    /// Sets the recorded and the played value.
    #[must_use]
    pub fn with_values(self, recorded: Option<Value>, played: Option<Value>) -> Self {
        Self {
            recorded,
            played,
            ..self
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == DivergenceKind::FinalResponse {
            return f.write_str(&self.message);
        }
        if self.call == 0 {
            return write!(f, "before the first model call: {}", self.message);
        }
        match &self.conversation {
            None => write!(f, "model call {} of {}", self.call, self.of)?,
            Some(name) => write!(f, "model call {} of {} of `{name}`", self.call, self.of)?,
        }
        write!(f, ": {}", self.message)
    }
}
