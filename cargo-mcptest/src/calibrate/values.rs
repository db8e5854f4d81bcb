//! What each target is in each run: of the gates that a suite declares, and of those that need no options.

use std::collections::BTreeMap;

use mcptest::energy::{GuardOptions, RunSteps, analyse};
use mcptest::eval::{Metrics, SUB_SCORE_TARGETS, agent_stability, count_calls};
use mcptest::judge::{AgentTest, PackageCase};
use mcptest::suite::gates::GateKind;
use mcptest::trace::Run;
use mcptest_trace::evidence::calibrate::Quantity;
use serde_json::Value;

use super::column::{Column, JudgedAgent};
use super::scores;
use crate::judging::{Filter, OpenPackage, in_parallel};
use crate::outcome::{self, Gates, OutcomeSource, ScoreOutcome};

/// Computes the targets of a gate that has no options, or none that its targets rest on.
type Free = fn(&Run) -> Option<Value>;

/// The gates that are measured where no agent declares them.
const FREE: [(GateKind, Free); 2] = [
    (GateKind::Calls, |run| {
        Some(count_calls(&run.trace).metrics())
    }),
    (GateKind::Energy, |run| {
        let steps = RunSteps::recorded(&run.trace)?;
        let some = steps.tokens.iter().any(|step| step.total() > Some(0));
        let found = analyse(&steps, GuardOptions::default(), None).ok();
        Some(found.filter(|_| some)?.metrics())
    }),
];

/// The values of a suite.
pub(super) struct SuiteValues {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) runs: RunOutcomes,
    /// Agents whose recordings cannot be used, with why.
    pub(super) unusable: Vec<(String, String)>,
}

/// What has no say: nothing, the agent's own `expect:`, or a gate.
type Excluded = Option<Option<GateKind>>;

/// Whether each run passed, agent by agent.
#[derive(Debug, Default)]
pub(super) struct RunOutcomes {
    recorded: Vec<Vec<Option<bool>>>,
    /// By the gates: all of them, and all but one.
    gates: Vec<BTreeMap<Excluded, Vec<Option<bool>>>>,
}

impl RunOutcomes {
    /// Whether each run passed; a gate has no say in what its own targets are calibrated against.
    pub(super) fn passed(
        &self,
        outcome: OutcomeSource,
        without: Excluded,
    ) -> Vec<Vec<Option<bool>>> {
        match outcome {
            OutcomeSource::Recorded => self.recorded.clone(),
            OutcomeSource::Gates => {
                let of_agent = |gates: &BTreeMap<Excluded, Vec<Option<bool>>>| {
                    let gates = gates.get(&without).or_else(|| gates.get(&None));
                    gates.cloned().unwrap_or_default()
                };
                self.gates.iter().map(of_agent).collect()
            }
        }
    }
}

impl SuiteValues {
    /// How many runs have a recorded outcome, and of how many.
    pub(super) fn recorded_outcomes(&self) -> (usize, usize) {
        let runs = self.runs.recorded.iter().flatten();
        (runs.clone().flatten().count(), runs.count())
    }

    pub(super) fn most_runs(&self) -> u32 {
        let most = self.runs.recorded.iter().map(Vec::len).max().unwrap_or(1);
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

/// The values of every suite that has a wanted agent.
///
/// A score that is asked whether runs passed stands in the place of what recordings say of it.
pub(super) fn read_suites(
    opened: &OpenPackage,
    filter: &Filter,
    score: Option<&ScoreOutcome>,
) -> Vec<SuiteValues> {
    let mut suites: BTreeMap<&str, Vec<AgentTest<'_>>> = BTreeMap::new();
    for test in opened.suites.agents() {
        if filter.wants(test.case()) {
            suites.entry(test.suite_name()).or_default().push(test);
        }
    }
    let cases = opened.suites.cases();
    suites
        .into_iter()
        .map(|(name, tests)| read_suite(name, tests, &cases, score))
        .collect()
}

fn read_suite(
    name: &str,
    mut tests: Vec<AgentTest<'_>>,
    cases: &[PackageCase<'_>],
    score: Option<&ScoreOutcome>,
) -> SuiteValues {
    tests.sort_by_key(AgentTest::stem);
    let (mut judged, mut unusable) = (Vec::new(), Vec::new());
    for test in tests {
        match test.runs() {
            Ok(runs) => judged.push(JudgedAgent {
                test,
                runs,
                results: Vec::new(),
            }),
            Err(error) => unusable.push((test.case().to_owned(), error.to_string())),
        }
    }
    let mut gates: BTreeMap<String, Vec<&PackageCase<'_>>> = BTreeMap::new();
    // Whether code does what was recorded is no number of a recording, and no code runs here.
    let of_recordings = |case: &&PackageCase<'_>| case.gate().is_some() && !case.runs_code();
    for case in cases.iter().filter(of_recordings) {
        if let Some(agent) = case.agent() {
            gates.entry(agent).or_default().push(case);
        }
    }
    let results = in_parallel(&judged, |judged| {
        let own = gates.get(judged.test.case()).into_iter().flatten();
        own.map(|case| case.judge()).collect::<Vec<_>>()
    });
    for (judged, results) in judged.iter_mut().zip(results) {
        judged.results = results;
    }
    SuiteValues {
        name: name.to_owned(),
        columns: columns(&judged, score),
        runs: passed(&judged, score),
        unusable,
    }
}

fn passed(agents: &[JudgedAgent<'_>], score: Option<&ScoreOutcome>) -> RunOutcomes {
    let of_run = |run: &Run| match score {
        Some(score) => score.outcome_of(run),
        None => outcome::recorded_outcome(run),
    };
    let recorded = agents
        .iter()
        .map(|agent| agent.runs.iter().map(of_run).collect());
    let gates = in_parallel(agents, |agent| {
        let gates = Gates::for_agent(&agent.test);
        let of_kind = |without: Excluded| {
            let runs = agent.runs.iter();
            let hold = runs.map(|run| gates.hold_without(run, without));
            (without, hold.collect())
        };
        let kinds = gates.kinds().map(|kind| Some(Some(kind)));
        let kinds = [None, Some(None)].into_iter().chain(kinds);
        kinds.map(of_kind).collect()
    });
    RunOutcomes {
        recorded: recorded.collect(),
        gates,
    }
}

/// The targets in the order of their gates, each with its values.
fn columns(agents: &[JudgedAgent<'_>], score: Option<&ScoreOutcome>) -> Vec<Column> {
    let mut columns = Vec::new();
    for gate in mcptest::gates() {
        let kind = gate.kind;
        let declared = agents
            .iter()
            .any(|agent| agent.results_for(kind).next().is_some());
        for target in gate.targets.iter().filter_map(Quantity::from_measure) {
            let name = target.measure().name;
            let measured = |agent: &JudgedAgent<'_>| {
                let runs = agent.runs.iter();
                runs.map(|run| free(kind, name, run)).collect()
            };
            // What has no options is the same whoever declares it.
            let other = declared && kind != GateKind::Calls;
            let values = |agent: &JudgedAgent<'_>| {
                declared_values(agent, kind, name, gate.each_run)
                    .unwrap_or_else(|| if other { Vec::new() } else { measured(agent) })
            };
            let agents = agents.iter().map(|agent| {
                let mut values: Vec<Option<f64>> = values(agent);
                let length = if gate.each_run { agent.runs.len() } else { 1 };
                values.resize(length, None);
                (agent.test.stem(), values)
            });
            columns.push(Column {
                gate: Some(kind),
                target,
                each_run: gate.each_run,
                agents: agents.collect(),
            });
        }
        if kind == GateKind::Stability {
            columns.extend(sub_scores(agents));
        }
    }
    columns.extend(scores::columns(agents, score));
    columns
}

/// The sub-scores of each run, which `stability` has floors for.
fn sub_scores(agents: &[JudgedAgent<'_>]) -> impl Iterator<Item = Column> {
    let targets = SUB_SCORE_TARGETS.iter().enumerate();
    targets.filter_map(|(place, target)| {
        let agents = agents.iter().map(|agent| {
            let runs = agent.runs.iter();
            let scores = runs.map(|run| Some(agent_stability(&run.trace).scores()[place]));
            (agent.test.stem(), scores.collect())
        });
        Some(Column {
            gate: Some(GateKind::Stability),
            target: Quantity::from_measure(target)?,
            each_run: true,
            agents: agents.collect(),
        })
    })
}

/// What a declared gate says of an agent's runs; nothing where it does not declare the gate.
fn declared_values(
    agent: &JudgedAgent<'_>,
    gate: GateKind,
    target: &str,
    each_run: bool,
) -> Option<Vec<Option<f64>>> {
    let result = agent.results_for(gate).next()?;
    let found = result.targets.iter().find(|found| found.name == target);
    Some(match found {
        Some(found) if each_run => found.per_run.iter().map(number).collect(),
        Some(found) => vec![found.value.as_ref().and_then(number)],
        None => Vec::new(),
    })
}

/// What a gate without options says of a run of an agent that does not declare it.
fn free(gate: GateKind, target: &str, run: &Run) -> Option<f64> {
    let (_, measure) = FREE.iter().find(|(free, _)| *free == gate)?;
    let metrics = measure(run)?;
    let mut keys = target.split('.');
    number(keys.try_fold(&metrics, |value, key| value.get(key))?)
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_bool().map(|flag| f64::from(u8::from(flag))))
}

/// The gates that are measured where no agent declares them.
pub(super) fn is_free(gate: GateKind) -> bool {
    FREE.iter().any(|(free, _)| *free == gate)
}
