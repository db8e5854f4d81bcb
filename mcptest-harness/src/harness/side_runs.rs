//! The runs of an agent on one side of a comparison, and which of both sides are compared.
//!
//! What differs between the sides besides the runs is told by [`recorded_with`], of the tools and parameters by
//! [`settings`].

mod recorded_with;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mcptest_suite::model::GateKind;
use mcptest_trace::evidence::compare::{
    AgentSamples, Behaviour, Cost, CostKind, RunSample, RunShare, Sides,
};
use mcptest_trace::record::redact::Redactor;
use serde_json::json;

use self::recorded_with::{RecordedWith, Text, other_task};
use super::agent_test::AgentTest;
use crate::result::{self, CaseResult, Recording, RunFacts, RunVerdict, digest};
use crate::trace::Run;

/// The runs of an agent on one side of a comparison: recorded, or told of by results.
///
/// A run passed if its recording says so ([`Self::judged_by_gates`] asks the gates instead), and costs
/// what [`CostKind`] says.
///
/// ```
/// use mcptest::judge::{Package, RunsError, SideRuns};
/// use mcptest_trace::evidence::compare::{CompareOptions, CostKind, compare};
///
/// fn worse(package: &Package, trusted: &std::path::Path) -> Result<bool, RunsError> {
///     let mut samples = Vec::new();
///     for agent in package.agents() {
///         let side = |runs, folder| SideRuns::from_recordings(&agent, runs, folder, CostKind::Tokens);
///         let now = side(agent.runs()?, package.folder());
///         let before = agent.runs_in(trusted)?.unwrap_or_default();
///         samples.push(side(&before, trusted).samples_against(now, agent.stem()));
///     }
///     Ok(compare(&samples, &CompareOptions::default()).exit_status() == 1)
/// }
///
/// let package = Package::open("path/to/shop".as_ref(), "shop", &["suites".into()]);
/// assert_eq!(worse(&package, "path/to/trusted".as_ref()), Ok(false));
/// ```
#[derive(Debug, Clone)]
pub struct SideRuns {
    runs: Vec<SideRun>,
    /// Whether results tell of them, which have no values of arguments.
    of_results: bool,
    /// Whether the other side may have another model.
    any_model: bool,
}

#[derive(Debug, Clone)]
struct SideRun {
    sample: RunSample,
    /// What the gates that judge runs one by one make of it; nothing where that is not told.
    gates: Option<RunVerdict>,
    /// The digest of its bytes.
    digest: String,
    recorded_with: RecordedWith,
    /// It was recorded anew because the run before it met a change, and others were kept.
    chosen: bool,
}

impl SideRuns {
    /// The recorded runs of an agent, whose files lie below a folder: the package's, or the one that
    /// [`AgentTest::runs_in`] was given.
    #[must_use]
    pub fn from_recordings(
        agent: &AgentTest<'_>,
        runs: &[Run],
        folder: &Path,
        cost: CostKind,
    ) -> Self {
        let asks = agent.asks();
        let recordings = result::recordings(folder, runs);
        let mut read: Vec<SideRun> = Vec::new();
        for (run, recording) in runs.iter().zip(recordings) {
            let verdicts = asks.iter().filter_map(|ask| ask.judge_run(run));
            let before = read.last().map(|run| &run.recorded_with);
            read.push(SideRun {
                sample: RunSample::from_run_with_prices(run, cost, &agent.suite().prices),
                gates: Some(verdicts.max().unwrap_or(RunVerdict::NothingJudged)),
                digest: recording.digest,
                recorded_with: RecordedWith::new(agent, run, before),
                chosen: run.chosen,
            });
        }
        Self {
            runs: read,
            of_results: false,
            any_model: false,
        }
    }

    /// The runs that the results of an agent's cases tell of; results of other cases are passed over.
    /// Nothing of a run is read again: the gates' verdicts are those of the results.
    #[must_use]
    pub fn from_results<'a>(
        agent: &AgentTest<'_>,
        cases: impl IntoIterator<Item = &'a CaseResult>,
        cost: CostKind,
    ) -> Self {
        Self::from_renamed_results(agent, agent.case(), cases, cost)
    }

    /// The runs that the results of an agent's cases tell of, where the agent's own case had another name then, as
    /// its suite had another name.
    #[must_use]
    pub fn from_renamed_results<'a>(
        agent: &AgentTest<'_>,
        own_case: &str,
        cases: impl IntoIterator<Item = &'a CaseResult>,
        cost: CostKind,
    ) -> Self {
        let (mut own, mut gates) = (None, None::<Vec<RunVerdict>>);
        let mut told = BTreeSet::new();
        for case in cases {
            if case.agent.as_ref().map(|known| known.case.as_str()) != Some(own_case) {
                continue;
            }
            // Code is run against recorded runs: it says nothing of the runs themselves.
            let is_of_code = case.gate.as_deref() == Some(GateKind::Playback.name());
            if !case.run_verdicts.is_empty() && !is_of_code {
                let known = gates.unwrap_or_else(|| case.run_verdicts.clone());
                let both = known.iter().zip(&case.run_verdicts);
                gates = Some(both.map(|(all, own)| *all.max(own)).collect());
                told.extend(case.gate.as_deref());
            }
            if case.case == own_case {
                own = Some(case);
            }
        }
        // What `reliability` counts has no verdict, and test functions leave no result of it: then nobody
        // knows which runs hold.
        let mut counted = agent.agent().gates.iter().filter(|gate| gate.counted);
        if counted.any(|gate| !told.contains(gate.kind.name())) {
            gates = None;
        }
        let told = own.map(|own| {
            own.runs
                .iter()
                .zip(&own.recordings)
                .map(move |run| (own, run))
        });
        let runs = told.into_iter().flatten().enumerate();
        let runs = runs.map(|(place, (own, (run, recording)))| SideRun {
            gates: gates.as_ref().and_then(|gates| gates.get(place).copied()),
            ..SideRun::from_result(agent, own, run, recording, cost)
        });
        Self {
            runs: runs.collect(),
            of_results: true,
            any_model: false,
        }
    }

    /// A side without runs.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            runs: Vec::new(),
            of_results: false,
            any_model: false,
        }
    }

    /// How many runs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is no run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether the recordings say of every run if it passed.
    #[must_use]
    pub fn have_outcomes(&self) -> bool {
        self.runs.iter().all(|run| run.sample.passed.is_some())
    }

    /// Whether of any run it is known if it passed.
    #[must_use]
    pub fn have_some_outcome(&self) -> bool {
        self.runs.iter().any(|run| run.sample.passed.is_some())
    }

    /// Counts a run as passed if all that is asked of it holds: the agent's `expect:` and every gate that judges
    /// runs one by one. A run of which they judge nothing is left out of the outcomes.
    #[must_use]
    pub fn judged_by_gates(mut self) -> Self {
        for SideRun { sample, gates, .. } in &mut self.runs {
            sample.passed = gates.and_then(RunVerdict::passed);
            sample.unjudged = gates.is_some() && sample.passed.is_none();
        }
        self
    }

    /// Allows the other side to have another model: that is no difference then.
    #[must_use]
    pub fn with_any_model(mut self) -> Self {
        self.any_model = true;
        self
    }

    /// What is compared of an agent, with these runs as the baseline. A run of the candidate that is in
    /// the baseline too, by its bytes, counts for the baseline alone; where others of the baseline are
    /// gone then, somebody chose.
    #[must_use]
    pub fn samples_against(self, candidate: Self, agent: impl Into<String>) -> AgentSamples {
        self.build_samples(candidate, agent.into(), None)
    }

    /// What is compared of an agent, for a text that is public: what is told of prompts, tools and parameters has
    /// no secret. See [`Self::samples_against`].
    #[must_use]
    pub fn redacted_samples_against(
        self,
        candidate: Self,
        agent: impl Into<String>,
        redactor: &Redactor,
    ) -> AgentSamples {
        self.build_samples(candidate, agent.into(), Some(redactor))
    }

    fn build_samples(
        self,
        candidate: Self,
        agent: String,
        redactor: Option<&Redactor>,
    ) -> AgentSamples {
        let (all, gone) = (self.len(), self.runs_not_in(&candidate).count());
        let lost = (1..all).contains(&gone).then(|| RunShare::new(gone, all));
        let changes = self.changes(&candidate, redactor);
        let met_change = candidate.chosen().or_else(|| self.chosen());
        let samples = match (self.into_sides(candidate, redactor), lost) {
            (Sides::Unchanged, Some(_)) => {
                let differences = vec![format!("{gone} recordings are gone, none is new")];
                AgentSamples::new(agent, Sides::NotComparable { differences }).with_lost(lost)
            }
            (sides @ Sides::Both { .. }, lost) => AgentSamples::new(agent, sides).with_lost(lost),
            (sides, _) => AgentSamples::new(agent, sides),
        };
        match &samples.sides {
            Sides::Both { .. } => samples.with_changes(changes).with_met_change(met_change),
            _ => samples,
        }
    }

    /// How many runs were recorded anew because they met a change, where others were kept.
    fn chosen(&self) -> Option<RunShare> {
        let chosen = self.runs.iter().filter(|run| run.chosen).count();
        (chosen > 0).then(|| RunShare::new(chosen, self.len()))
    }

    /// The runs that another side has not, by their bytes.
    fn runs_not_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a SideRun> {
        let known: BTreeSet<&String> = other.runs.iter().map(|run| &run.digest).collect();
        let runs = self.runs.iter();
        runs.filter(move |run| !known.contains(&run.digest))
    }

    fn into_sides(self, mut candidate: Self, redactor: Option<&Redactor>) -> Sides {
        let by_result = self.of_results || candidate.of_results;
        let baseline = self;
        match (baseline.is_empty(), candidate.is_empty()) {
            (true, _) => return Sides::New,
            (false, true) => return Sides::Gone,
            (false, false) => {}
        }
        candidate.runs = candidate.runs_not_in(&baseline).cloned().collect();
        if candidate.is_empty() {
            return Sides::Unchanged;
        }
        let differences = other_task(&baseline, &candidate, redactor);
        if !differences.is_empty() {
            return Sides::NotComparable { differences };
        }
        Sides::Both {
            baseline: baseline.into_samples(by_result),
            candidate: candidate.into_samples(by_result),
        }
    }

    /// What is compared of the runs, where one side is told of by results as results have it.
    fn into_samples(self, by_result: bool) -> Vec<RunSample> {
        let samples = self.runs.into_iter().map(|run| run.sample);
        if by_result && !self.of_results {
            samples.map(to_result_form).collect()
        } else {
            samples.collect()
        }
    }
}

impl SideRun {
    /// A run that results tell of.
    fn from_result(
        agent: &AgentTest<'_>,
        own: &CaseResult,
        run: &RunFacts,
        recording: &Recording,
        cost: CostKind,
    ) -> Self {
        let measured = |amount: Option<u64>| amount.map(Cost::measured);
        let target = |name: &str, amount: Option<f64>| {
            cost.cost_from_targets(&json!({ "calls": { name: amount } }))
        };
        let amount = match cost {
            CostKind::Tokens => measured(run.tokens),
            CostKind::Steps => measured(run.model_calls),
            CostKind::Calls => measured(u64::try_from(run.calls.len()).ok()),
            CostKind::Ms => target("ms", run.ms),
            CostKind::Usd => target("usd", run.usd),
            _ => None,
        };
        let text = |digest: &String| Text {
            digest: digest.clone(),
            text: own.prompts.get(digest).cloned().unwrap_or_default(),
        };
        let model = own.agent.as_ref().map_or(agent.model(), |own| &own.model);
        Self {
            sample: RunSample::default()
                .with_passed(run.passed)
                .with_cost(amount)
                .with_recorded_on(
                    run.recorded_on
                        .clone()
                        .filter(|_| cost.depends_on_machine()),
                )
                .with_behaviour(Some(Behaviour::new(run.tools.clone(), run.calls.clone()))),
            gates: None,
            digest: recording.digest.clone(),
            recorded_with: RecordedWith {
                model: model.to_owned(),
                prompt: text(&run.prompt),
                system_prompt: text(&run.system_prompt),
                ..RecordedWith::default()
            },
            chosen: false,
        }
    }
}

/// A recorded run as results have it: calls by their digest, and no values of arguments.
fn to_result_form(mut sample: RunSample) -> RunSample {
    if let Some(behaviour) = &mut sample.behaviour {
        behaviour.arguments = BTreeMap::new();
        for call in &mut behaviour.calls {
            *call = digest(call);
        }
    }
    sample
}
