//! Which runs of an agent are compared with which.

use std::collections::{BTreeMap, BTreeSet};

use mcptest::replay::AgentTest;
use mcptest_trace::evidence::compare::{AgentSamples, CostKind, RunSample, Sides};

use super::across;
use super::runs::{Files, MODEL, SideRun};
use super::side::Side;
use crate::failure::Failure;
use crate::judging::{Opened, in_parallel};
use crate::outcome::{Gates, Outcome};

/// The agents of both sides.
pub(super) struct Pairs {
    agents: Vec<Pair>,
    gone: Vec<String>,
}

struct Pair {
    /// The stem of its recordings.
    name: String,
    baseline: Option<Vec<SideRun>>,
    candidate: Option<Vec<SideRun>>,
    /// Why it cannot be compared, whatever its runs.
    refused: Vec<String>,
    /// The least drop that counts of it, where the suite says so.
    margin: Option<f64>,
}

impl Pairs {
    pub(super) fn new(
        opened: &Opened,
        [baseline, candidate]: [&Side; 2],
        cost: CostKind,
        across_models: bool,
    ) -> Result<Self, Failure> {
        let agents = opened.suites.agents();
        let mut stems: BTreeMap<String, usize> = BTreeMap::new();
        for agent in &agents {
            *stems.entry(agent.stem()).or_default() += 1;
        }
        let by_result = [baseline, candidate]
            .iter()
            .any(|side| side.folder().is_none());
        let pair = |agent: &AgentTest<'_>| -> Result<Pair, Failure> {
            let stem = agent.stem();
            let name = match stems.get(&stem) {
                Some(1) => stem,
                _ => format!("{}/{stem}", agent.suite_name()),
            };
            let gates = Gates::of(agent);
            let read = |side: &Side| {
                let mut runs = runs(agent, &gates, side, cost, across_models)?;
                if by_result && side.folder().is_some() {
                    runs.iter_mut().flatten().for_each(SideRun::as_result);
                }
                Ok::<_, Failure>(runs)
            };
            let refused = match agent.runs() {
                Err(why) if gates.hold_nothing() => vec![format!(
                    "its recordings cannot be judged: {}",
                    first_line(&why)
                )],
                _ => Vec::new(),
            };
            Ok(Pair {
                name,
                baseline: read(baseline)?,
                candidate: read(candidate)?,
                refused,
                margin: agent.agent().regression.as_ref().and_then(|own| own.margin),
            })
        };
        let pairs: Result<Vec<Pair>, Failure> = in_parallel(&agents, pair).into_iter().collect();
        let mut pairs = pairs?;
        for run in pairs.iter_mut().flat_map(|pair| {
            pair.baseline
                .iter_mut()
                .chain(&mut pair.candidate)
                .flatten()
        }) {
            if across_models {
                run.differences.retain(|line| !line.starts_with(MODEL));
            }
        }
        Ok(Self {
            agents: pairs,
            gone: gone(baseline, &agents, across_models),
        })
    }

    /// The margins of agents that have one of their own (`regression: { margin: … }`).
    pub(super) fn margins(&self) -> BTreeMap<String, f64> {
        let own = self
            .agents
            .iter()
            .filter_map(|pair| Some((pair.name.clone(), pair.margin?)));
        own.collect()
    }

    /// What is compared, with what says whether a run passed.
    pub(super) fn samples(self, asked: Option<Outcome>) -> (Vec<AgentSamples>, Outcome) {
        let runs = || {
            let sides = self
                .agents
                .iter()
                .flat_map(|pair| [&pair.baseline, &pair.candidate]);
            sides.flatten().flatten()
        };
        let all_recorded = runs().all(|run| run.sample.passed.is_some());
        let outcome = asked.unwrap_or(if all_recorded {
            Outcome::Recorded
        } else {
            Outcome::Gates
        });
        let gone = self
            .gone
            .into_iter()
            .map(|agent| AgentSamples::new(agent, Sides::Gone));
        let compared = self
            .agents
            .into_iter()
            .filter_map(|pair| pair.samples(outcome));
        (compared.chain(gone).collect(), outcome)
    }
}

impl Pair {
    fn samples(self, outcome: Outcome) -> Option<AgentSamples> {
        let refused = match outcome {
            Outcome::Recorded => Vec::new(),
            Outcome::Gates => self.refused,
        };
        let sides = match (self.baseline, self.candidate) {
            (None, None) => return None,
            (Some(_), None) => Sides::Gone,
            (None, Some(_)) => Sides::New,
            (Some(baseline), Some(candidate)) => both(baseline, candidate, refused, outcome),
        };
        Some(AgentSamples::new(self.name, sides))
    }
}

fn both(
    baseline: Vec<SideRun>,
    candidate: Vec<SideRun>,
    refused: Vec<String>,
    outcome: Outcome,
) -> Sides {
    // What is in both counts for the baseline alone.
    let new = |run: &SideRun| baseline.iter().all(|known| !known.bytes.are(&run.bytes));
    let candidate: Vec<SideRun> = candidate.into_iter().filter(new).collect();
    if candidate.is_empty() {
        return Sides::Unchanged;
    }
    let mut differences = refused;
    for (side, runs) in [("baseline", &baseline), ("candidate", &candidate)] {
        let mut seen = BTreeSet::new();
        let differing = runs.iter().filter(|run| !run.differences.is_empty());
        for run in differing.filter(|run| seen.insert(&run.differences)) {
            let mut lines = run.differences.iter();
            differences.extend(lines.next().map(|first| format!("{side}: {first}")));
            differences.extend(lines.cloned());
        }
    }
    if !differences.is_empty() {
        return Sides::NotComparable { differences };
    }
    let samples = |runs: Vec<SideRun>| -> Vec<RunSample> {
        let of_run = |run: SideRun| {
            let passed = match outcome {
                Outcome::Recorded => run.sample.passed,
                Outcome::Gates => run.gates,
            };
            run.sample.with_passed(passed)
        };
        runs.into_iter().map(of_run).collect()
    };
    Sides::Both {
        baseline: samples(baseline),
        candidate: samples(candidate),
    }
}

/// The runs of an agent on a side; nothing where it has none.
fn runs(
    agent: &AgentTest<'_>,
    gates: &Gates<'_>,
    side: &Side,
    cost: CostKind,
    across_models: bool,
) -> Result<Option<Vec<SideRun>>, Failure> {
    let Some(folder) = side.folder() else {
        let Side::Results { agents, .. } = side else {
            return Ok(None);
        };
        let runs = agents
            .get(agent.case())
            .map(|results| SideRun::results(agent, results, cost));
        return Ok(runs.filter(|runs| !runs.is_empty()));
    };
    let runs = if across_models {
        across::runs(agent, folder)?
    } else {
        agent
            .runs_in(folder)
            .map_err(|why| Failure::new(format!("{side}: {}: {why}", agent.case())))?
    };
    let mut files = Files::below(folder);
    let runs = runs.filter(|runs| !runs.is_empty());
    Ok(runs.map(|runs| {
        let of_run = |run| SideRun::recorded(agent, gates, run, cost, &mut files);
        runs.iter().map(of_run).collect()
    }))
}

/// Agents of the baseline that no suite has any more.
fn gone(baseline: &Side, agents: &[AgentTest<'_>], across_models: bool) -> Vec<String> {
    let declared: BTreeSet<String> = agents
        .iter()
        .flat_map(|agent| {
            let model = agent
                .agent()
                .models
                .iter()
                .find(|model| model.value.id == agent.model());
            let stems = model.map(|model| agent.agent().cassette_stems(&model.value));
            stems.unwrap_or_default()
        })
        .collect();
    let name = |stem: &str| stem.split("__").next().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = declared.iter().map(|stem| name(stem)).collect();
    let is_gone = |stem: &String| {
        let renewed = across_models && names.contains(&name(stem));
        !declared.contains(stem) && !renewed
    };
    match (baseline, baseline.folder()) {
        (Side::Results { agents, .. }, _) => {
            let stems = agents
                .values()
                .filter_map(|agent| Some(agent.own.as_ref()?.agent.as_ref()?.stem.clone()));
            stems.filter(is_gone).collect()
        }
        (_, Some(folder)) => across::stems(folder).into_keys().filter(is_gone).collect(),
        (_, None) => Vec::new(),
    }
}

fn first_line(text: &str) -> &str {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim_start_matches("error: ")
}
