//! What each target is in each run: of the gates that a suite declares, and of those that need no options.

use std::collections::BTreeMap;

use mcptest::energy::{GuardOptions, RunSteps, analyse};
use mcptest::eval::{SUB_SCORES, agent_stability, count_calls, targets};
use mcptest::replay::{AgentTest, ReplayCase};
use mcptest::result::CaseResult;
use mcptest::trace::Run;
use mcptest_trace::evidence::calibrate::{AgentScored, Direction, NumberKind, Quantity, Scored};
use serde_json::{Value, json};

use crate::judging::{Filter, Opened, in_parallel};
use crate::outcome::{self, Gates, Outcome};
use crate::output::short;
use crate::table::table;

/// The values of a suite.
pub(super) struct SuiteValues {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) runs: Runs,
    /// Agents whose recordings cannot be used, with why.
    pub(super) unusable: Vec<(String, String)>,
}

/// A target and its values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) gate: String,
    pub(super) target: Quantity,
    /// Whether it has a value for each run, or one for all of them.
    pub(super) each_run: bool,
    /// The smallest and the largest number it can be.
    range: (f64, Option<f64>),
    /// The stem of each agent's recordings, with its values: one a run, or one in all.
    agents: Vec<(String, Vec<Option<f64>>)>,
}

/// Whether each run passed, agent by agent.
#[derive(Debug, Default)]
pub(super) struct Runs {
    recorded: Vec<Vec<Option<bool>>>,
    /// By the gates, all of them under the empty name, all but one under its name.
    gates: Vec<BTreeMap<String, Vec<Option<bool>>>>,
}

impl Runs {
    /// Whether each run passed; a gate has no say in what its own targets are calibrated against.
    pub(super) fn passed(&self, outcome: Outcome, gate: &str) -> Vec<Vec<Option<bool>>> {
        match outcome {
            Outcome::Recorded => self.recorded.clone(),
            Outcome::Gates => {
                let of_agent = |gates: &BTreeMap<String, Vec<Option<bool>>>| {
                    gates
                        .get(gate)
                        .or_else(|| gates.get(""))
                        .cloned()
                        .unwrap_or_default()
                };
                self.gates.iter().map(of_agent).collect()
            }
        }
    }
}

impl SuiteValues {
    /// How many runs have a recorded outcome, and of how many.
    pub(super) fn recorded(&self) -> (usize, usize) {
        let runs = self.runs.recorded.iter().flatten();
        (runs.clone().flatten().count(), runs.count())
    }

    pub(super) fn most_runs(&self) -> u32 {
        let most = self.runs.recorded.iter().map(Vec::len).max().unwrap_or(1);
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

impl Column {
    /// Whether a limit is at the bad end of the range, so that every run meets it.
    pub(super) fn always_meets(&self, limit: f64) -> bool {
        match self.target.direction {
            Direction::LowIsBad => limit <= self.range.0,
            Direction::HighIsBad => self.range.1.is_some_and(|highest| limit >= highest),
        }
    }

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
                Some(value) => short(*value),
                None => "none".to_owned(),
            });
            std::iter::once(agent.clone()).chain(shown).collect()
        });
        table(&rows.collect::<Vec<Vec<String>>>())
    }
}

/// An agent with its runs and the verdicts on them.
struct Judged<'a> {
    test: AgentTest<'a>,
    runs: &'a [Run],
    results: Vec<CaseResult>,
}

/// The values of every suite that has a wanted agent.
pub(super) fn of(opened: &Opened, filter: &Filter) -> Vec<SuiteValues> {
    let mut suites: BTreeMap<&str, Vec<AgentTest<'_>>> = BTreeMap::new();
    for test in opened.suites.agents() {
        if filter.wants(test.case()) {
            suites.entry(test.suite_name()).or_default().push(test);
        }
    }
    let cases = opened.suites.cases();
    suites
        .into_iter()
        .map(|(name, tests)| of_suite(name, tests, &cases))
        .collect()
}

fn of_suite(name: &str, mut tests: Vec<AgentTest<'_>>, cases: &[ReplayCase<'_>]) -> SuiteValues {
    tests.sort_by_key(AgentTest::stem);
    let (mut judged, mut unusable) = (Vec::new(), Vec::new());
    for test in tests {
        match test.runs() {
            Ok(runs) => judged.push(Judged {
                test,
                runs,
                results: Vec::new(),
            }),
            Err(why) => unusable.push((test.case().to_owned(), why)),
        }
    }
    let mut gates: BTreeMap<String, Vec<&ReplayCase<'_>>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.gate().is_some()) {
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
        columns: columns(&judged),
        runs: passed(&judged),
        unusable,
    }
}

fn passed(agents: &[Judged<'_>]) -> Runs {
    let recorded = agents
        .iter()
        .map(|agent| agent.runs.iter().map(outcome::recorded).collect());
    let gates = in_parallel(agents, |agent| {
        let gates = Gates::of(&agent.test);
        let mut names = vec![String::new()];
        names.extend(gates.names().map(ToOwned::to_owned));
        let of_name = |name: String| {
            let without = Some(name.as_str()).filter(|name| !name.is_empty());
            let hold = agent
                .runs
                .iter()
                .map(|run| gates.hold_without(run, without))
                .collect();
            (name, hold)
        };
        names.into_iter().map(of_name).collect()
    });
    Runs {
        recorded: recorded.collect(),
        gates,
    }
}

/// The targets in the order of their gates, each with its values.
fn columns(agents: &[Judged<'_>]) -> Vec<Column> {
    let mut columns = Vec::new();
    for gate in mcptest::gates() {
        let name = gate.kind.name();
        let declared = agents.iter().any(|agent| {
            agent
                .results
                .iter()
                .any(|result| result.gate.as_deref() == Some(name))
        });
        for measure in gate.targets {
            let Some(target) = Quantity::of(measure) else {
                continue;
            };
            let free = |agent: &Judged<'_>| {
                agent
                    .runs
                    .iter()
                    .map(|run| free(name, measure.name, run))
                    .collect()
            };
            // What has no options is the same whoever declares it.
            let other = declared && name != "calls";
            let values = |agent: &Judged<'_>| {
                declared_values(agent, name, measure.name, gate.each_run)
                    .unwrap_or_else(|| if other { Vec::new() } else { free(agent) })
            };
            let agents = agents.iter().map(|agent| {
                let mut values: Vec<Option<f64>> = values(agent);
                let length = if gate.each_run { agent.runs.len() } else { 1 };
                values.resize(length, None);
                (agent.test.stem(), values)
            });
            columns.push(Column {
                gate: name.to_owned(),
                target,
                each_run: gate.each_run,
                range: (measure.lowest, measure.highest),
                agents: agents.collect(),
            });
        }
        if name == "stability" {
            columns.extend(sub_scores(agents));
        }
    }
    columns
}

/// The sub-scores of each run, which `stability` has floors for.
fn sub_scores(agents: &[Judged<'_>]) -> impl Iterator<Item = Column> {
    SUB_SCORES
        .into_iter()
        .enumerate()
        .map(move |(place, name)| {
            let agents = agents.iter().map(|agent| {
                let scores = agent
                    .runs
                    .iter()
                    .map(|run| Some(agent_stability(&run.trace).scores()[place]));
                (agent.test.stem(), scores.collect())
            });
            Column {
                gate: "stability".to_owned(),
                target: Quantity::new(
                    format!("stability.{name}"),
                    Direction::LowIsBad,
                    NumberKind::Real,
                ),
                each_run: true,
                range: (0.0, Some(1.0)),
                agents: agents.collect(),
            }
        })
}

/// What a declared gate says of an agent's runs; nothing where it does not declare the gate.
fn declared_values(
    agent: &Judged<'_>,
    gate: &str,
    target: &str,
    each_run: bool,
) -> Option<Vec<Option<f64>>> {
    let result = agent
        .results
        .iter()
        .find(|result| result.gate.as_deref() == Some(gate))?;
    let found = result.targets.iter().find(|found| found.name == target);
    Some(match found {
        Some(found) if each_run => found.per_run.iter().map(number).collect(),
        Some(found) => vec![found.value.as_ref().and_then(number)],
        None => Vec::new(),
    })
}

/// What a gate without options says of a run of an agent that does not declare it.
fn free(gate: &str, target: &str, run: &Run) -> Option<f64> {
    let metrics = match gate {
        "calls" => count_calls(&run.trace).metrics(),
        "energy" => {
            let steps = RunSteps::recorded(&run.trace)?;
            let some = steps.tokens.iter().any(|step| step.total() > 0);
            analyse(&steps, GuardOptions::default(), None)
                .ok()
                .filter(|_| some)?
                .metrics()
        }
        _ => return None,
    };
    let mut keys = target.split('.');
    number(keys.try_fold(&metrics, |value, key| value.get(key))?)
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_bool().map(|flag| f64::from(u8::from(flag))))
}

/// The gates that are measured where no agent declares them.
pub(super) fn is_free(gate: &str) -> bool {
    targets::CALLS
        .iter()
        .any(|measure| measure.name.split('.').next() == Some(gate))
        || gate == "energy"
}
