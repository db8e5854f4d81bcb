//! A target and its values, agent by agent.

use mcptest::judge::AgentTest;
use mcptest::result::CaseResult;
use mcptest::suite::gates::GateKind;
use mcptest::trace::Run;
use mcptest_trace::evidence::calibrate::{AgentScored, Quantity, Scored};
use serde_json::{Value, json};

use crate::output::format_short;
use crate::table::table;

/// A target and its values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// The gate that computes it; a score is nobody's, and an agent's `expect:` asks for it.
    pub(super) gate: Option<GateKind>,
    pub(super) target: Quantity,
    /// Whether it has a value for each run, or one for all of them.
    pub(super) each_run: bool,
    /// The stem of each agent's recordings, with its values: one a run, or one in all.
    pub(super) agents: Vec<(String, Vec<Option<f64>>)>,
}

impl Column {
    pub(super) fn scored(&self, passed: &[Vec<Option<bool>>]) -> Vec<Scored<'_>> {
        let agents = self.agents.iter().zip(passed);
        let runs = agents.flat_map(|((agent, values), passed)| {
            values
                .iter()
                .zip(passed)
                .map(move |(value, passed)| Scored::new(agent, *value, *passed))
        });
        runs.collect()
    }

    pub(super) fn agents_scored(&self, passed: &[Vec<Option<bool>>]) -> Vec<AgentScored> {
        let agents = self.agents.iter().zip(passed);
        let scored = agents.map(|((_, values), passed)| {
            let value = values.first().copied().flatten();
            let runs_passed = passed.iter().filter(|passed| **passed == Some(true));
            AgentScored::new(value, runs_passed.count(), passed.len())
        });
        scored.collect()
    }

    pub(super) fn json(&self) -> Value {
        let agents = self
            .agents
            .iter()
            .map(|(agent, values)| (agent.clone(), json!(values)));
        Value::Object(agents.collect())
    }

    /// A row an agent.
    pub(super) fn values_table(&self) -> String {
        let rows = self.agents.iter().map(|(agent, values)| {
            let shown = values.iter().map(|value| match value {
                Some(value) => format_short(*value),
                None => "none".to_owned(),
            });
            std::iter::once(agent.clone()).chain(shown).collect()
        });
        table(&rows.collect::<Vec<Vec<String>>>())
    }
}

/// An agent with its runs and the verdicts on them.
pub(super) struct JudgedAgent<'a> {
    pub(super) test: AgentTest<'a>,
    pub(super) runs: &'a [Run],
    pub(super) results: Vec<CaseResult>,
}

impl JudgedAgent<'_> {
    /// The verdict of a gate, if the agent declares it.
    pub(super) fn results_for(&self, gate: GateKind) -> impl Iterator<Item = &CaseResult> {
        let is_of = move |result: &&CaseResult| result.gate.as_deref() == Some(gate.name());
        self.results.iter().filter(is_of)
    }
}
