//! Which runs of an agent are compared with which.

use std::collections::BTreeMap;

use mcptest::judge::{AgentTest, SideRuns};
use mcptest::trace::Run;
use mcptest_suite::quoted_list;
use mcptest_trace::evidence::compare::{AgentName, AgentSamples, CostKind, Sides};
use mcptest_trace::record::redact::Redactor;

use super::args::ComparisonArgs;
use super::dropped::{AgentMatches, DroppedAgent, find_dropped, match_agents};
use super::recordings_folder::PackageLayout;
use super::remedy::RecordedAgent;
use super::restore_advice;
use super::side::{Side, SidePlace, display_path};
use super::unattributed::UnattributedRecordings;
use crate::failure::Failure;
use crate::judging::{OpenPackage, in_parallel};
use crate::outcome::{OutcomeRequest, OutcomeSource, ScoreOutcome};

/// The agents of both sides.
pub(super) struct Pairs {
    agents: Vec<Pair>,
    dropped: Vec<DroppedAgent>,
}

struct Pair {
    /// The stem of its recordings.
    stem: String,
    name: AgentName,
    baseline: SideRuns,
    candidate: SideRuns,
    /// Why the recordings of a side cannot be compared.
    unreadable: Vec<String>,
    /// Whether agents may be gone, so that one under another name is a new one.
    allows_gone: bool,
    /// Why the gates cannot say of its runs if they passed.
    refused: Option<String>,
    /// The least drop that counts of it, where the suite says so.
    margin: Option<f64>,
    /// How it is recorded.
    recorded: RecordedAgent,
    /// What of the baseline it was before, where the baseline has no run of it.
    was: Vec<String>,
    /// Why it has no recording now, where it has some of another model.
    gone_because: Option<String>,
}

/// What is compared, and what there is to say of it.
pub(super) struct Samples {
    pub(super) agents: Vec<AgentSamples>,
    /// What says whether a run passed; nothing where that is not the same of all agents.
    pub(super) outcome: Option<OutcomeSource>,
    /// Of which agents there are more runs than before.
    pub(super) added: Vec<OverlappingAgent>,
}

/// An agent of whose runs some are those of the baseline.
#[derive(Debug, Clone)]
pub(super) struct OverlappingAgent {
    /// The stem of its recordings.
    pub(super) agent: String,
    /// All its runs, and those that the baseline has not.
    pub(super) all: usize,
    pub(super) new: usize,
}

impl Pairs {
    pub(super) fn new(
        opened: &OpenPackage,
        [baseline, candidate]: [&Side; 2],
        cost: CostKind,
        how: &ComparisonArgs,
    ) -> Result<Self, Failure> {
        let across_models = how.across_models;
        let agents = opened.suites.agents();
        let mut stems: BTreeMap<String, usize> = BTreeMap::new();
        for agent in &agents {
            *stems.entry(agent.stem()).or_default() += 1;
        }
        let package = &PackageLayout::new(opened);
        let places = [
            baseline.place(package, candidate),
            candidate.place(package, baseline),
        ];
        let asked_before = baseline.revision_suites(opened);
        let asked_before = asked_before.as_ref().map(|before| before.suites.agents());
        // A package that had no suite there may have had recordings: then nobody knows who asked for them.
        let asked_before = asked_before.filter(|before| !before.is_empty());
        let same = match_agents(&places[0], asked_before.as_deref(), &agents, across_models);
        let dropped = find_dropped(
            &places[0],
            asked_before.as_deref(),
            (&agents, &same),
            across_models,
        );
        let elsewhere = match &places[0] {
            // Nobody knows which suites asked for them.
            SidePlace::Recordings(folder) if asked_before.is_none() => {
                Some(UnattributedRecordings::new(folder, &agents))
            }
            _ => None,
        };
        let reading = SideReader {
            sides: [baseline, candidate],
            places: &places,
            before: asked_before.as_deref().unwrap_or_default(),
            elsewhere: elsewhere.as_ref(),
            same: &same,
            cost,
            how,
        };
        let pair = |agent: &AgentTest<'_>| -> Result<Pair, Failure> {
            let stem = agent.stem();
            let stem = match stems.get(&stem) {
                Some(1) => stem,
                _ => format!("{}/{stem}", agent.suite_name()),
            };
            let ([baseline, candidate], problems) = reading.sides(agent)?;
            let was = dropped.iter().filter(|_| baseline.is_empty());
            let was = was.filter_map(|dropped| dropped.match_reason(agent, reading.sides[0]));
            let was = was.collect();
            let is_gone = candidate.is_empty();
            let gone_because = is_gone.then(|| other_model_reason(agent, &places[1]));
            let refused = agent.runs().err().filter(|_| agent.asks().is_empty());
            let refused = refused.map(|why| {
                format!(
                    "its recordings cannot be judged: {}",
                    first_line(&why.to_string())
                )
            });
            let name = AgentName::new(&agent.agent().name.value, agent.model());
            Ok(Pair {
                stem,
                name: name.with_suite(agent.suite_name()),
                was,
                gone_because: gone_because.flatten(),
                refused,
                recorded: RecordedAgent {
                    suite: display_path(&opened.package.folder, agent.suite().source.path()),
                    suite_name: agent.suite_name().to_owned(),
                    case: agent.case().to_owned(),
                    runs: [baseline.len(), candidate.len()],
                },
                baseline,
                candidate,
                unreadable: problems,
                allows_gone: how.allow_gone,
                margin: agent.agent().regression.as_ref().and_then(|own| own.margin),
            })
        };
        let pairs: Result<Vec<Pair>, Failure> = in_parallel(&agents, pair).into_iter().collect();
        let pairs = pairs?;
        let renamed = |it: &DroppedAgent| {
            let mut agents = agents.iter().zip(&pairs);
            agents.any(|(agent, pair)| {
                let is_told = !how.allow_gone || pair.candidate.is_empty();
                is_told
                    && !pair.was.is_empty()
                    && it.match_reason(agent, reading.sides[0]).is_some()
            })
        };
        let (_, dropped) = dropped.into_iter().partition(renamed);
        Ok(Self {
            agents: pairs,
            dropped,
        })
    }

    /// The file of the suite that asked for each agent that no suite asks for now, by their stems, where it is known.
    pub(super) fn dropped_suites(&self) -> BTreeMap<String, Option<String>> {
        let dropped = self.dropped.iter();
        dropped
            .map(|it| (it.stem.clone(), it.suite.clone()))
            .collect()
    }

    /// The margins of agents that have one of their own (`regression: { margin: … }`).
    pub(super) fn margins(&self) -> BTreeMap<String, f64> {
        let own = self
            .agents
            .iter()
            .filter_map(|pair| Some((pair.stem.clone(), pair.margin?)));
        own.collect()
    }

    /// How agents are recorded, by their stems.
    pub(super) fn recorded(&self) -> BTreeMap<String, RecordedAgent> {
        let agents = self.agents.iter();
        agents
            .map(|pair| (pair.stem.clone(), pair.recorded.clone()))
            .collect()
    }

    /// What is compared. Without a word of what says whether a run passed, an agent whose runs all have an
    /// outcome goes by that.
    pub(super) fn samples(self, asked: Option<OutcomeSource>, redactor: &Redactor) -> Samples {
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
        let dropped = dropped.map(|DroppedAgent { stem, name, .. }| {
            let samples = AgentSamples::new(stem, Sides::Dropped);
            match name {
                Some(name) => samples.with_name(name),
                None => samples,
            }
        });
        let agents = self.agents.into_iter();
        let mut added = Vec::new();
        let compared = agents.map(|pair| {
            let (outcome, all) = (of_pair(&pair), pair.candidate.len());
            let mut samples = pair.samples(outcome, redactor);
            if asked == Some(OutcomeSource::Gates) {
                // Whoever asks the gates misses no recorded outcome.
                forget_outcomes(&mut samples.sides);
            }
            if let Sides::Both { candidate, .. } = &samples.sides
                && let new = candidate.len()
                && new < all
            {
                let agent = samples.agent.clone();
                added.push(OverlappingAgent { agent, all, new });
            }
            samples
        });
        let agents = compared.chain(dropped);
        let agents = agents.collect();
        Samples {
            agents,
            outcome,
            added,
        }
    }
}

impl Pair {
    fn samples(self, outcome: OutcomeSource, redactor: &Redactor) -> AgentSamples {
        if !self.unreadable.is_empty() {
            let differences = self.unreadable;
            let samples = AgentSamples::new(self.stem, Sides::NotComparable { differences });
            return samples.with_name(self.name);
        }
        if self.candidate.is_empty() && !(self.baseline.is_empty() && self.was.is_empty()) {
            // It was there, perhaps under another name or with another model, and nobody recorded it anew.
            let gone = AgentSamples::new(self.stem, Sides::Gone);
            return gone
                .with_name(self.name)
                .with_gone_because(self.gone_because);
        }
        if self.baseline.is_empty() && self.candidate.is_empty() {
            return AgentSamples::new(self.stem, Sides::Unrecorded).with_name(self.name);
        }
        let (sides, refused) = match outcome {
            OutcomeSource::Recorded => ([self.baseline, self.candidate], None),
            OutcomeSource::Gates => {
                let sides = [self.baseline, self.candidate].map(SideRuns::judged_by_gates);
                (sides, self.refused)
            }
        };
        let [baseline, candidate] = sides;
        // Recordings are without secrets, but for those that were written by hand; a comment is public.
        let samples = baseline.redacted_samples_against(candidate, self.stem, redactor);
        let mut samples = samples.with_name(self.name);
        if !self.was.is_empty() && !self.allows_gone {
            samples.sides = Sides::NotComparable {
                differences: self.was,
            };
        }
        samples.sides = match (samples.sides, refused) {
            (Sides::Both { .. }, Some(why)) => Sides::NotComparable {
                differences: vec![why],
            },
            (Sides::NotComparable { differences }, Some(why)) => Sides::NotComparable {
                differences: [vec![why], differences].concat(),
            },
            (sides, _) => sides,
        };
        samples
    }
}

/// Takes away what says which recordings have an outcome of their own.
fn forget_outcomes(sides: &mut Sides) {
    if let Sides::Both {
        baseline,
        candidate,
    } = sides
    {
        for run in baseline.iter_mut().chain(candidate) {
            run.outcome_recorded = false;
        }
    }
}

/// What is needed to read the runs of agents on both sides.
struct SideReader<'a> {
    sides: [&'a Side; 2],
    places: &'a [SidePlace<'a>; 2],
    /// The agents of the baseline's own suites, where they are known.
    before: &'a [AgentTest<'a>],
    /// Recordings of the baseline where no suite of today looks for them.
    elsewhere: Option<&'a UnattributedRecordings<'a>>,
    same: &'a AgentMatches,
    cost: CostKind,
    how: &'a ComparisonArgs,
}

impl SideReader<'_> {
    /// The runs of an agent before and now, and why those of a side cannot be read.
    fn sides(&self, agent: &AgentTest<'_>) -> Result<([SideRuns; 2], Vec<String>), Failure> {
        let mut problems = Vec::new();
        let mut kept = |read: Result<SideRuns, RunsProblem>| match read {
            Ok(runs) => Ok(runs),
            Err(RunsProblem::Command(failure)) => Err(failure),
            Err(RunsProblem::Recordings(why)) => {
                problems.extend(why);
                Ok(SideRuns::none())
            }
        };
        let then = self.same.previous_case(agent.case());
        let [before, now] = self.places;
        let mut runs_before = kept(self.runs(agent, (self.sides[0], before, then)))?;
        if runs_before.is_empty() {
            runs_before = kept(self.renamed_suite_runs(agent, then))?;
        }
        let runs_now = kept(self.runs(agent, (self.sides[1], now, agent.case())))?;
        Ok(([runs_before, runs_now], problems))
    }

    fn runs(
        &self,
        agent: &AgentTest<'_>,
        side: (&Side, &SidePlace<'_>, &str),
    ) -> Result<SideRuns, RunsProblem> {
        let is_baseline = std::ptr::eq(side.0, self.sides[0]);
        load_runs(agent, side, is_baseline, self)
    }

    fn score(&self) -> Option<&ScoreOutcome> {
        self.how.outcome.as_ref().and_then(OutcomeRequest::score)
    }

    /// The runs before of an agent whose suite had another name, and so had the folder of its recordings.
    fn renamed_suite_runs(
        &self,
        agent: &AgentTest<'_>,
        then: &str,
    ) -> Result<SideRuns, RunsProblem> {
        let mut before = self.before.iter();
        let before = before.find(|it| it.case() == then && then != agent.case());
        let SidePlace::Recordings(folder) = &self.places[0] else {
            return Ok(SideRuns::none());
        };
        let read = if let Some(before) = before {
            let runs = before.runs_in(folder.folder);
            runs.map(Option::unwrap_or_default)
                .map_err(|error| error.to_string())
        } else {
            let files = self.elsewhere.map(|elsewhere| elsewhere.files_for(agent));
            let files = files.transpose();
            let files = files.map_err(|error| RunsProblem::Recordings(error.lines()))?;
            match files {
                None | Some([]) => return Ok(SideRuns::none()),
                Some(files) => folder.read(files).map_err(|error| error.to_string()),
            }
        };
        let read = read.map_err(|why| unreadable_problem(self.sides[0], true, &why))?;
        let read = apply_score(read, self.score());
        Ok(SideRuns::from_recordings(
            agent,
            &read,
            folder.folder,
            self.cost,
        ))
    }
}

/// Why there are no runs of an agent.
enum RunsProblem {
    /// The command was asked for something that cannot be.
    Command(Failure),
    /// The recordings of this agent cannot be read, a line each: the other agents are compared all the same.
    Recordings(Vec<String>),
}

impl From<Failure> for RunsProblem {
    fn from(failure: Failure) -> Self {
        Self::Command(failure)
    }
}

/// Why recordings cannot be read, and what to do.
fn unreadable_problem(side: &Side, is_baseline: bool, why: &str) -> RunsProblem {
    let mut lines = vec![format!("its recordings cannot be read: {side}")];
    let told = why.lines().filter(|line| !line.trim().is_empty());
    lines.extend(told.take(UNREADABLE_LINES).map(str::to_owned));
    lines.push(side.unreadable_advice(is_baseline).to_owned());
    RunsProblem::Recordings(lines)
}

/// So many lines are told of why the recordings of an agent cannot be read.
const UNREADABLE_LINES: usize = 8;

/// The runs of an agent on a side.
fn load_runs(
    agent: &AgentTest<'_>,
    (side, place, case): (&Side, &SidePlace<'_>, &str),
    is_baseline: bool,
    reading: &SideReader<'_>,
) -> Result<SideRuns, RunsProblem> {
    let (cost, across_models) = (reading.cost, reading.how.across_models);
    let score = reading.score();
    let runs = match place {
        SidePlace::Results(_) if score.is_some() => {
            let no_scores =
                format!("{side} have no scores, because saved results do not contain scores");
            return Err(Failure::new(no_scores)
                .with_help("compare recordings instead: name a folder or a git revision that has recordings")
                .into());
        }
        SidePlace::Results(results) => {
            let cases = results.get(case).map_or(&[][..], Vec::as_slice);
            // Other results of it are there: it is no new agent.
            if !cases.is_empty() && !cases.iter().any(|result| result.case == case) {
                let why = format!("the result of `{case}` is missing: {side}");
                return Err(RunsProblem::Recordings(vec![why, restore_advice()]));
            }
            SideRuns::from_renamed_results(agent, case, cases, cost)
        }
        // What the suite judges was read already.
        SidePlace::Recordings(folder)
            if matches!(side, Side::Here(_))
                && !across_models
                && score.is_none()
                && let Ok(runs) = agent.runs() =>
        {
            SideRuns::from_recordings(agent, runs, folder.folder, cost)
        }
        SidePlace::Recordings(folder) => {
            let runs = if across_models {
                folder.runs(agent)?
            } else {
                agent
                    .runs_in(folder.folder)
                    .map_err(|error| unreadable_problem(side, is_baseline, &error.to_string()))?
            };
            let runs = apply_score(runs.unwrap_or_default(), score);
            SideRuns::from_recordings(agent, &runs, folder.folder, cost)
        }
    };
    Ok(if across_models {
        runs.with_any_model()
    } else {
        runs
    })
}

/// Why an agent has no recording on a side: there are some of it, of another model than its suite asks for.
fn other_model_reason(agent: &AgentTest<'_>, place: &SidePlace<'_>) -> Option<String> {
    let SidePlace::Recordings(folder) = place else {
        return None;
    };
    let models = folder.other_models(agent);
    let models = quoted_list(models.iter().map(String::as_str));
    let asked = quoted_list([agent.model()]);
    (!models.is_empty())
        .then(|| format!("it is recorded with {models}, and the suite asks for {asked}"))
}

/// Runs whose outcome a score says, where one is asked.
fn apply_score(mut runs: Vec<Run>, score: Option<&ScoreOutcome>) -> Vec<Run> {
    for run in runs.iter_mut().filter(|_| score.is_some()) {
        let mut outcome = run.outcome.unwrap_or_default();
        outcome.passed = score.and_then(|score| score.outcome_of(run));
        run.outcome = Some(outcome);
    }
    runs
}

fn first_line(text: &str) -> &str {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or_default().trim_start_matches("error: ")
}
