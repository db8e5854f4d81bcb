//! What the first page shows: verdicts, how reliable the agents are, what they cost, one row each.

use std::collections::BTreeMap;

use mcptest::judge::AgentTest;
use mcptest::result::{CaseResult, CaseStatus, FailureFacts};
use mcptest_trace::eval::summarize;
use mcptest_trace::stats::mean_interval;
use serde::Serialize;

use super::Remarks;
use super::agent::AgentView;
use crate::compare::Standing;
use crate::report::evidence::BaselineChanges;
use crate::report::state::ReportState;

/// The most runs that the curve goes to.
const LONGEST_CURVE: usize = 32;

/// How many lines of what shows a failure are on the first page.
const LINES: usize = 6;

/// The first page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Overview {
    #[serde(flatten)]
    state: ReportState,
    passed: usize,
    failed: usize,
    ignored: usize,
    agents: Vec<AgentRow>,
    refused: Vec<Refused>,
    /// The cases of agents that fail.
    failing: Vec<FailingCase>,
    /// pass^k over the agents: mean and interval in percent, for k from 1.
    curve: Vec<Point>,
    runs: usize,
    runs_passed: usize,
    calls: u64,
    tokens: u64,
    /// Runs whose tokens were not recorded.
    without_tokens: usize,
    changes: Option<BaselineChanges>,
    /// The addresses of the pages that there are besides.
    pages: Vec<&'static str>,
    notes: Vec<String>,
    /// How each agent stands beside the baseline, by its own case.
    #[serde(skip)]
    standings: BTreeMap<String, Standing>,
    #[serde(skip)]
    pass_hat: Vec<Vec<f64>>,
}

/// An agent's row.
#[derive(Debug, Serialize)]
struct AgentRow {
    suite: String,
    case: String,
    name: String,
    model: String,
    status: CaseStatus,
    /// Each case: the gate (empty for the agent's own), its verdict.
    cases: Vec<(String, CaseStatus)>,
    /// Each run: whether it passed, its calls, its errors.
    runs: Vec<(Option<bool>, usize, u64)>,
    tokens: u64,
    /// How it stands beside the baseline.
    standing: Option<Standing>,
}

/// A suite that does not load.
#[derive(Debug, Serialize)]
struct Refused {
    case: String,
    text: String,
}

/// A case that fails, in a few lines.
#[derive(Debug, Serialize)]
struct FailingCase {
    case: String,
    /// Which of the agents' rows.
    agent: usize,
    /// The gate; empty for the agent's own case.
    gate: String,
    summary: String,
    /// What shows it, the first lines.
    evidence: String,
    /// How many lines more there are.
    more: usize,
    /// Where it was asked: `suites/refunds.yml:8`.
    place: String,
    command: Option<String>,
}

/// A point of the curve.
#[derive(Debug, Serialize)]
struct Point {
    mean: f64,
    low: Option<f64>,
    high: Option<f64>,
    agents: usize,
}

fn failing_case(agent: usize, result: &CaseResult) -> Option<FailingCase> {
    let failure = result.failure.as_ref()?;
    let (evidence, more) = first_lines(failure);
    let line = result.asked.map(|asked| format!(":{}", asked.line));
    Some(FailingCase {
        case: result.case.clone(),
        agent,
        gate: result.gate.clone().unwrap_or_default(),
        summary: failure.summary.clone(),
        evidence,
        more,
        place: format!("{}{}", result.suite.file, line.unwrap_or_default()),
        command: failure.command.clone(),
    })
}

/// The first lines of what shows a failure, and how many more there are: what was found and what shows it, then what
/// shows all findings together.
fn first_lines(failure: &FailureFacts) -> (String, usize) {
    let mut lines: Vec<&str> = Vec::new();
    for (place, finding) in failure.findings.iter().enumerate() {
        // The message of the first one is the summary.
        lines.extend((place > 0).then_some(finding.message.as_str()));
        lines.extend(finding.found.as_deref());
        lines.extend(finding.evidence.iter().flat_map(|text| text.lines()));
    }
    lines.extend(failure.evidence.iter().flat_map(|text| text.lines()));
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    (lines.join("\n"), more)
}

impl Overview {
    pub(super) fn new(mut remarks: Remarks) -> Self {
        let changes = remarks.changes.as_mut();
        Self {
            standings: changes.map_or_else(BTreeMap::new, |it| std::mem::take(&mut it.standings)),
            state: remarks.state,
            changes: remarks.changes,
            pages: remarks.pages.iter().map(|(name, _)| *name).collect(),
            notes: remarks.notes,
            ..Self::default()
        }
    }

    /// Takes in a case that is about no agent: a suite that does not load, or a key that is not run.
    pub(super) fn add_suite_case(&mut self, result: &CaseResult) {
        self.count_status(result.status);
        if let Some(failure) = &result.failure {
            self.refused.push(Refused {
                case: result.case.clone(),
                text: failure.text.clone(),
            });
        }
    }

    fn count_status(&mut self, status: CaseStatus) {
        match status {
            CaseStatus::Passed => self.passed += 1,
            CaseStatus::Failed => self.failed += 1,
            CaseStatus::Ignored => self.ignored += 1,
        }
    }

    /// Takes in an agent; gives its place among the rows.
    pub(super) fn add(
        &mut self,
        test: &AgentTest<'_>,
        view: &AgentView,
        results: &[&CaseResult],
    ) -> usize {
        let mut cases = Vec::new();
        for result in results {
            self.count_status(result.status);
            self.failing.extend(failing_case(self.agents.len(), result));
            cases.push((result.gate.clone().unwrap_or_default(), result.status));
        }
        let failed = cases
            .iter()
            .any(|(_, status)| *status == CaseStatus::Failed);
        let judged = cases
            .iter()
            .any(|(_, status)| *status == CaseStatus::Passed);
        let status = match (failed, judged) {
            (true, _) => CaseStatus::Failed,
            (false, true) => CaseStatus::Passed,
            (false, false) => CaseStatus::Ignored,
        };
        let outcomes: Vec<Option<bool>> = view.runs.iter().map(|run| run.passed).collect();
        let known: Option<Vec<bool>> = outcomes.iter().copied().collect();
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            self.pass_hat.push(summarize(&known).pass_hat);
        }
        self.runs += outcomes.len();
        self.runs_passed += outcomes
            .iter()
            .filter(|passed| **passed == Some(true))
            .count();
        let mut tokens = 0_u64;
        for run in &view.runs {
            self.calls += u64::try_from(run.calls.len()).unwrap_or(u64::MAX);
            tokens = tokens.saturating_add(run.tokens.unwrap_or_default());
            self.without_tokens += usize::from(run.tokens.is_none());
        }
        self.tokens = self.tokens.saturating_add(tokens);
        let runs = view.runs.iter();
        let runs = runs.map(|run| (run.passed, run.calls.len(), run.errors()));
        self.agents.push(AgentRow {
            suite: test.suite_name().to_owned(),
            case: test.case().to_owned(),
            name: test.agent().name.value.clone(),
            model: test.model().to_owned(),
            status,
            cases,
            runs: runs.collect(),
            tokens,
            standing: self.standings.get(test.case()).copied(),
        });
        self.agents.len() - 1
    }

    /// The curve, once every agent is there: the mean over the agents that have as many runs.
    pub(super) fn finish_curve(&mut self) {
        let longest = self.pass_hat.iter().map(Vec::len).max().unwrap_or_default();
        for k in 0..longest.min(LONGEST_CURVE) {
            let shares: Vec<f64> = self
                .pass_hat
                .iter()
                .filter_map(|of| of.get(k))
                .copied()
                .collect();
            let Some(over) = mean_interval(&shares) else {
                continue;
            };
            self.curve.push(Point {
                mean: 100.0 * over.mean,
                low: over.interval.map(|(low, _)| (100.0 * low).max(0.0)),
                high: over.interval.map(|(_, high)| (100.0 * high).min(100.0)),
                agents: shares.len(),
            });
        }
    }
}
