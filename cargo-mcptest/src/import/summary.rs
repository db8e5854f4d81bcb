//! What an import did, a row an agent.

mod doubts;
mod table;

use std::rc::Rc;

use mcptest::eval::{Reported, reported};
use serde_json::{Value, json};

pub(super) use doubts::{Doubt, doubt, doubts};
pub(super) use table::table;

/// What was imported of an agent with a model.
#[derive(Debug, Clone, Default)]
pub(super) struct SummaryRow {
    agent: Rc<str>,
    model: Rc<str>,
    /// Where its runs lie.
    path: String,
    pub(super) new: usize,
    pub(super) present: usize,
    calls: usize,
    errors: usize,
    fine: usize,
    /// Results that do not say whether they are errors.
    pub(super) unknown: usize,
    /// Results that are no errors by their flag and sound like one.
    doubtful: usize,
    /// Of the runs whose tokens are recorded, and how many these are.
    tokens: u64,
    with_tokens: usize,
    passed: usize,
    judged: usize,
    /// Runs with a reward that does not say whether they passed.
    pub(super) undecided: usize,
}

impl SummaryRow {
    pub(super) fn new(agent: &Rc<str>, model: &Rc<str>, path: String) -> Self {
        Self {
            agent: Rc::clone(agent),
            model: Rc::clone(model),
            path,
            ..Self::default()
        }
    }

    /// Counts a run.
    pub(super) fn count(&mut self, run: &Value) {
        let trace = &run["trace"];
        let length = |key: &str| trace[key].as_array().map_or(0, Vec::len);
        self.calls += length("tool_calls");
        for result in trace["tool_results"].as_array().into_iter().flatten() {
            let index = result["call_index"].as_u64();
            let index = index.and_then(|index| usize::try_from(index).ok());
            let call = &trace["tool_calls"][index.unwrap_or(usize::MAX)];
            let name = call["name"].as_str().unwrap_or_default();
            let says = reported(name, &call["args"], &result["result"]);
            match (result["is_error"].as_bool(), says) {
                (Some(true), _) | (_, Reported::Failed(_)) => self.errors += 1,
                (Some(false), Reported::Nothing) => self.fine += 1,
                (Some(false), Reported::Doubtful(_)) => self.doubtful += 1,
                (None, _) => self.unknown += 1,
            }
        }
        if let Some(tokens) = trace["conversation"]["tokens"]["total"].as_u64() {
            self.tokens = self.tokens.saturating_add(tokens);
            self.with_tokens += 1;
        }
        if let Some(passed) = run["outcome"]["passed"].as_bool() {
            self.judged += 1;
            self.passed += usize::from(passed);
        } else if run["outcome"]["reward"].is_number() {
            self.undecided += 1;
        }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "agent": &*self.agent, "model": &*self.model, "path": self.path,
            "runs": { "new": self.new, "present": self.present },
            "calls": self.calls,
            "errors": { "yes": self.errors, "no": self.fine, "unknown": self.unknown + self.doubtful },
            "tokens": (self.with_tokens > 0).then_some(self.tokens),
            "passed": { "yes": self.passed, "of": self.judged },
        })
    }
}
