//! What a run may take: model calls, tool calls, tokens, money. What is asked beyond that is refused.

use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::log::Log;
use super::options::most_tokens;
use super::stored_request::StoredRequest;
use crate::exchange::CallTokens;

/// What a run may take.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Limits {
    /// The most model calls, those that are asked again among them.
    pub model_calls: Option<u64>,
    /// Of them, those that got no answer do not count: the agent itself limits how often it asks again.
    pub without_failed: bool,
    /// The most calls of tools that the model may ask for.
    pub tool_calls: Option<u64>,
    /// The most tokens of all model calls.
    pub tokens: Option<u64>,
    /// Who knows what model calls cost.
    pub spending: Option<Arc<dyn Spending>>,
}

/// Who knows what model calls cost, and how much may be spent.
pub trait Spending: Debug + Send + Sync {
    /// Sets the most aside that a call can cost; how much that is.
    ///
    /// # Errors
    ///
    /// The call may not be made.
    fn set_aside(&self, call: &ModelCallSize) -> Result<u64, CallRefused>;

    /// Puts what a call did cost in the place of what was set aside for it. It is not called where nobody said what
    /// the call took, and it may have been billed.
    fn settle(&self, aside: u64, model: Option<&str>, tokens: CallTokens);
}

/// What a run has taken all of that it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cap {
    /// Model calls.
    ModelCalls,
    /// Calls of tools.
    ToolCalls,
    /// Tokens.
    Tokens,
}

impl Cap {
    /// The word for it, as runs have it for why they stopped.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelCalls => "turn_budget",
            Self::ToolCalls => "tool_call_budget",
            Self::Tokens => "token_budget",
        }
    }
}

/// Why a model call may not be made. Its client is told so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallRefused {
    /// The run has taken as much as it may.
    Cap(Cap),
    /// It may cost too much, in the words of [`Spending`].
    Spending(String),
}

impl fmt::Display for CallRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cap(_) => {
                f.write_str("no more model calls may be made in this run: its cap is reached")
            }
            Self::Spending(text) => f.write_str(text),
        }
    }
}

impl Error for CallRefused {}

/// A model call, before it is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCallSize {
    /// The model that is asked.
    pub model: Option<String>,
    /// The bytes of the request.
    pub bytes: u64,
    /// The most tokens that the answer may have, where the request says so.
    pub most: Option<u64>,
}

/// The limits of a run, kept.
#[derive(Debug, Default)]
pub(super) struct LimitKeeper {
    limits: Limits,
    made: AtomicU64,
    /// How many of them got no answer.
    failed: AtomicU64,
    /// The cap that was reached first.
    reached: OnceLock<Cap>,
}

/// What was set aside for a call.
#[derive(Debug)]
pub(super) struct SetAside {
    spending: Arc<dyn Spending>,
    cost: u64,
    model: Option<String>,
}

impl LimitKeeper {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The cap that was reached first.
    pub(super) fn reached_cap(&self) -> Option<Cap> {
        self.reached.get().copied()
    }

    /// A model call got no answer.
    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether one more model call may be made; what was set aside for it.
    ///
    /// # Errors
    ///
    /// It may not be made.
    pub(super) fn reserve_call(
        &self,
        log: &Log,
        asked: Option<&StoredRequest>,
        bytes: usize,
    ) -> Result<Option<SetAside>, CallRefused> {
        let capped = |cap| {
            self.reached.get_or_init(|| cap);
            CallRefused::Cap(cap)
        };
        let Limits {
            model_calls,
            without_failed,
            tool_calls,
            tokens,
            spending,
        } = &self.limits;
        if tool_calls.is_some_and(|most| log.tool_calls() > most) {
            return Err(capped(Cap::ToolCalls));
        }
        let before = self.made.fetch_add(1, Ordering::SeqCst);
        let failed = match without_failed {
            true => self.failed.load(Ordering::SeqCst),
            false => 0,
        };
        if model_calls.is_some_and(|most| before.saturating_sub(failed) >= most) {
            return Err(capped(Cap::ModelCalls));
        }
        // What was sent and written so far is sent again, at the least.
        let (taken, last) = log.tokens();
        if tokens.is_some_and(|most| taken.saturating_add(last) >= most) {
            return Err(capped(Cap::Tokens));
        }
        let Some(spending) = spending else {
            return Ok(None);
        };
        let call = ModelCallSize {
            model: asked.and_then(|asked| asked.model.clone()),
            bytes: bytes as u64,
            most: asked.and_then(|asked| most_tokens(&Value::Object((*asked.parameters).clone()))),
        };
        let cost = spending.set_aside(&call)?;
        Ok(Some(SetAside {
            spending: Arc::clone(spending),
            cost,
            model: call.model,
        }))
    }
}

impl SetAside {
    /// The call was not billed.
    pub(super) fn release(self) {
        self.settle(CallTokens::default());
    }

    /// The call took so much.
    pub(super) fn settle(self, tokens: CallTokens) {
        let model = self.model.as_deref();
        self.spending.settle(self.cost, model, tokens);
    }
}
