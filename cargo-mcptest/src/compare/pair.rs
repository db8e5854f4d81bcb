//! Which runs of an agent are compared with which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mcptest::judge::{AgentTest, SideRuns};
use mcptest_suite::shown_path;
use mcptest_trace::evidence::compare::{AgentSamples, CostKind, Sides};

use super::across::{self, agent_of};
use super::remedy::Recorded;
use super::side::{Side, SidePlace};
use crate::failure::Failure;
use crate::files::stems_of;
use crate::judging::{Opened, in_parallel};
use crate::outcome::OutcomeSource;

/// The agents of both sides.
pub(super) struct Pairs {
    agents: Vec<Pair>,
    dropped: Vec<String>,
}

struct Pair {
    /// The stem of its recordings.
    name: String,
    baseline: SideRuns,
    candidate: SideRuns,
    /// Why the gates cannot say of its runs if they passed.
    refused: Option<String>,
    /// The least drop that counts of it, where the suite says so.
    margin: Option<f64>,
    /// How it is recorded.
    recorded: Recorded,
}

/// What is compared, and what there is to say of it.
pub(super) struct Samples {
    pub(super) agents: Vec<AgentSamples>,
    /// What says whether a run passed; nothing where that is not the same of all agents.
    pub(super) outcome: Option<OutcomeSource>,
    /// Of which agents there are more runs than before, each in words.
    pub(super) added: Vec<(String, String)>,
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
        let pair = |agent: &AgentTest<'_>| -> Result<Pair, Failure> {
            let stem = agent.stem();
            let name = match stems.get(&stem) {
                Some(1) => stem,
                _ => format!("{}/{stem}", agent.suite_name()),
            };
            let read = |side: &Side| runs(agent, side, cost, across_models);
            let (baseline, candidate) = (read(baseline)?, read(candidate)?);
            let refused = agent.runs().err().filter(|_| agent.asks().is_empty());
            let refused =
                refused.map(|why| format!("its recordings cannot be judged: {}", first_line(&why)));
            Ok(Pair {
                name,
                refused,
                recorded: Recorded {
                    suite: shown_in(&opened.package.folder, agent.suite().source.path()),
                    suite_name: agent.suite_name().to_owned(),
                    case: agent.case().to_owned(),
                    runs: [baseline.len(), candidate.len()],
                },
                baseline,
                candidate,
                margin: agent.agent().regression.as_ref().and_then(|own| own.margin),
            })
        };
        let pairs: Result<Vec<Pair>, Failure> = in_parallel(&agents, pair).into_iter().collect();
        Ok(Self {
            agents: pairs?,
            dropped: dropped(baseline, &agents, across_models),
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

    /// How agents are recorded, by their stems.
    pub(super) fn recorded(&self) -> BTreeMap<String, Recorded> {
        let agents = self.agents.iter();
        agents
            .map(|pair| (pair.name.clone(), pair.recorded.clone()))
            .collect()
    }

    /// What is compared. Without a word of what says whether a run passed, an agent whose runs all have an
    /// outcome goes by that.
    pub(super) fn samples(self, asked: Option<OutcomeSource>) -> Samples {
        let of_pair = |pair: &Pair| {
            let mut sides = [&pair.baseline, &pair.candidate].into_iter();
            asked.unwrap_or(if sides.all(SideRuns::have_outcomes) {
                OutcomeSource::Recorded
            } else {
                OutcomeSource::Gates
            })
        };
        let mut all = self.agents.iter().map(of_pair);
        let first = all
            .next()
            .unwrap_or(asked.unwrap_or(OutcomeSource::Recorded));
        let outcome = all.all(|outcome| outcome == first).then_some(first);
        let dropped = self.dropped.into_iter();
        let dropped = dropped.map(|agent| AgentSamples::new(agent, Sides::Dropped));
        let agents = self.agents.into_iter();
        let mut added = Vec::new();
        let compared = agents.filter_map(|pair| {
            let (outcome, all) = (of_pair(&pair), pair.candidate.len());
            let samples = pair.samples(outcome)?;
            if let Sides::Both { candidate, .. } = &samples.sides
                && let new = candidate.len()
                && new < all
            {
                let said = format!(
                    "{}: {} of its {all} recordings are those of the baseline; the other {new} are the candidate",
                    samples.agent,
                    all - new
                );
                added.push((samples.agent.clone(), said));
            }
            Some(samples)
        });
        let agents = compared.chain(dropped).collect();
        Samples {
            agents,
            outcome,
            added,
        }
    }
}

impl Pair {
    fn samples(self, outcome: OutcomeSource) -> Option<AgentSamples> {
        if self.baseline.is_empty() && self.candidate.is_empty() {
            return None;
        }
        let (sides, refused) = match outcome {
            OutcomeSource::Recorded => ([self.baseline, self.candidate], None),
            OutcomeSource::Gates => {
                let sides = [self.baseline, self.candidate].map(SideRuns::judged_by_gates);
                (sides, self.refused)
            }
        };
        let [baseline, candidate] = sides;
        let mut samples = baseline.against(candidate, self.name);
        samples.sides = match (samples.sides, refused) {
            (Sides::Both { .. }, Some(why)) => Sides::NotComparable {
                differences: vec![why],
            },
            (Sides::NotComparable { differences }, Some(why)) => Sides::NotComparable {
                differences: [vec![why], differences].concat(),
            },
            (sides, _) => sides,
        };
        Some(samples)
    }
}

/// The runs of an agent on a side.
fn runs(
    agent: &AgentTest<'_>,
    side: &Side,
    cost: CostKind,
    across_models: bool,
) -> Result<SideRuns, Failure> {
    let runs = match side.place() {
        SidePlace::Results(results) => {
            let cases = results.get(agent.case()).into_iter().flatten();
            SideRuns::of_results(agent, cases, cost)
        }
        SidePlace::Recordings(folder) => {
            let runs = if across_models {
                across::runs(agent, folder)?
            } else {
                agent
                    .runs_in(folder)
                    .map_err(|why| Failure::new(format!("{side}: {}: {why}", agent.case())))?
            };
            SideRuns::recorded(agent, &runs.unwrap_or_default(), folder, cost)
        }
    };
    Ok(if across_models {
        runs.with_any_model()
    } else {
        runs
    })
}

/// Agents of the baseline that no suite has any more.
fn dropped(baseline: &Side, agents: &[AgentTest<'_>], across_models: bool) -> Vec<String> {
    let declared: BTreeSet<String> = agents.iter().flat_map(stems_of).collect();
    let names: BTreeSet<&str> = declared.iter().map(|stem| agent_of(stem)).collect();
    let is_dropped = |stem: &str| {
        let renewed = across_models && names.contains(agent_of(stem));
        !declared.contains(stem) && !renewed
    };
    match baseline.place() {
        SidePlace::Results(agents) => {
            let cases = agents.values().flatten();
            let known = cases.filter_map(|case| case.agent.as_ref());
            let stems: BTreeSet<&String> = known.map(|agent| &agent.stem).collect();
            stems
                .into_iter()
                .filter(|stem| is_dropped(stem))
                .cloned()
                .collect()
        }
        SidePlace::Recordings(folder) => across::stems(folder)
            .into_keys()
            .filter(|stem| is_dropped(stem))
            .collect(),
    }
}

/// A file of the package, as it is shown.
fn shown_in(folder: &Path, file: &Path) -> String {
    shown_path(file.strip_prefix(folder).unwrap_or(file))
}

fn first_line(text: &str) -> &str {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim_start_matches("error: ")
}
