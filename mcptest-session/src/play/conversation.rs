//! Conversations of a recorded run: the answers of the model, and what their requests said.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcptest_trace::eval::{Divergence, DivergenceKind};
use serde_json::{Map, Value};

use super::examples::Example;
use super::model_turn::ModelTurn;
use super::offered_tools::{OfferedTool, ToolName};
use crate::exchange::ModelResponse;
use crate::record::{Message, last_told_answer};

/// A conversation of a recorded run.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    /// The name of the sub-agent that has it.
    pub(super) name: Option<String>,
    pub(super) role: Role,
    pub(super) opening: Option<String>,
    pub(super) moves: Vec<Answer>,
    /// The tools that were offered, where the recording lists them.
    pub(super) tools: Option<Vec<OfferedTool>>,
    /// Whether each of these tools is strict, where that is known.
    pub(super) strict: Option<BTreeMap<ToolName, bool>>,
    /// How many answers stand in its first request already, which no model gave.
    pub(super) examples: usize,
    /// What these are, where the recording says it.
    pub(super) began: Option<Vec<Example>>,
    /// Whether it is known of each answer what others had said before it.
    pub(super) knows_heard: bool,
    /// The request after the last answer came to nothing, for this reason.
    pub(super) failed: Option<String>,
}

/// Where a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) conversation: usize,
    pub(super) answer: usize,
    /// The call of the trace.
    pub(super) call: usize,
}

impl Conversation {
    /// Whether the agent had changed the past of a request.
    pub(super) fn has_changed(&self) -> bool {
        self.moves.iter().any(|one| one.past.is_some())
    }

    /// After which answer a text goes on that tells the past.
    pub(super) fn last_answer_told_in(&self, text: &str) -> Option<usize> {
        let answers = self.moves.iter().map(|one| one.said.parts.as_slice());
        last_told_answer(answers, text)
    }

    /// A difference at an answer.
    pub(super) fn divergence(
        &self,
        answer: usize,
        kind: DivergenceKind,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Divergence {
        let place = (answer + 1, self.moves.len());
        Divergence::new(kind, place, path, message).in_conversation(self.name.clone())
    }
}

/// What a conversation is in its run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    Main,
    Agent,
    Side,
}

/// A recorded answer, and what its request said.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) said: ModelResponse,
    /// What it says and calls, as it is compared.
    pub(super) spoken: ModelTurn,
    /// The calls of the trace that are of it.
    pub(super) calls: Vec<usize>,
    /// What others than the agent had said since the answer before.
    pub(super) heard: Vec<(String, String)>,
    /// The system prompt of its request, where that is known; that there was none is known too.
    pub(super) system: Option<Option<String>>,
    /// The tools that its request offered, where they are known.
    pub(super) tools: Option<BTreeSet<ToolName>>,
    pub(super) asked_model: Option<String>,
    pub(super) parameters: Option<Map<String, Value>>,
    pub(super) protocol: Option<String>,
    /// The digest of the talk of its request, where the agent had changed the past.
    pub(super) past: Option<String>,
    /// The digest of what that talk says, where an older recording has it.
    pub(super) talk: Option<String>,
    /// What that talk says, where the recording has it.
    pub(super) told: Option<Vec<Arc<Message>>>,
    /// The client sends the answer back without the text beside its calls.
    pub(super) is_bare: bool,
    /// Why the answer is not whole.
    pub(super) broken: Option<String>,
    /// The question was answered more than once: which such question it is, and which of its answers.
    pub(super) equal: Option<(usize, usize)>,
    /// The runs of own tools that were open when it was asked for.
    pub(super) during: Vec<usize>,
    /// When it was given among all answers of the run.
    pub(super) rank: usize,
}
