//! What the model calls of an agent's own code may cost.

use std::sync::{Arc, Mutex, PoisonError};

use mcptest_session::exchange::CallTokens;
use mcptest_session::record::{CallRefused, ModelCallSize, Spending};

use super::LiveError;
use super::budget::{Budget, SetAside};

/// The fewest bytes that a token has on average in what is sent to models.
const FEWEST_BYTES: u64 = 2;

/// The budget of a suite, kept for an agent's own code.
#[derive(Debug, Clone)]
pub(super) struct SuiteSpending(Arc<SpendingState>);

#[derive(Debug)]
struct SpendingState {
    budget: Budget,
    /// The suite's model.
    model: String,
    /// The most tokens of an answer, where the request says nothing of it.
    most: u64,
    stopped: Mutex<Option<LiveError>>,
}

impl SuiteSpending {
    pub(super) fn new(budget: Budget, model: &str, most: u64) -> Self {
        Self(Arc::new(SpendingState {
            budget,
            model: model.to_owned(),
            most,
            stopped: Mutex::default(),
        }))
    }

    /// Why a call was refused, or why nobody knows what was spent.
    pub(super) fn stopped(&self) -> Option<LiveError> {
        let stopped = self.0.stopped.lock();
        stopped.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stop(&self, error: LiveError) -> CallRefused {
        let stopped = self.0.stopped.lock();
        let mut stopped = stopped.unwrap_or_else(PoisonError::into_inner);
        stopped.get_or_insert(error);
        let told = "no more model calls may be made in this run: the budget of its suite is spent";
        CallRefused::Spending(told.to_owned())
    }

    fn cost(&self, model: Option<&str>, prompt: u64, completion: u64) -> Result<u64, LiveError> {
        let rates = self.0.budget.rates_for(model.unwrap_or(&self.0.model))?;
        Ok(rates.map_or(0, |rates| rates.micro_usd(prompt, completion)))
    }
}

impl Spending for SuiteSpending {
    fn set_aside(&self, call: &ModelCallSize) -> Result<u64, CallRefused> {
        let most = call.most.unwrap_or(self.0.most);
        let aside = self
            .cost(call.model.as_deref(), call.bytes / FEWEST_BYTES, most)
            .and_then(|cost| self.0.budget.set_cost_aside(cost));
        aside.map(SetAside::cost).map_err(|error| self.stop(error))
    }

    fn settle(&self, aside: u64, model: Option<&str>, tokens: CallTokens) {
        let settled = self
            .cost(model, tokens.prompt, tokens.completion)
            .and_then(|cost| self.0.budget.settle(SetAside::new(aside), cost));
        if let Err(error) = settled {
            self.stop(error);
        }
    }
}
