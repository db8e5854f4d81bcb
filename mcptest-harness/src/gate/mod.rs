//! Gates: a block of the suite and the recorded runs in, a verdict with its evidence out.
//!
//! One file a gate: its keys, how they are read into the options of its metric, and its verdict. A
//! gate that judges one run at a time implements [`EachRun`], one that folds all runs together
//! implements [`AllRuns`]; the table in `mcptest-suite` names them. What an agent asks itself, its
//! `expect:`, caps and faults, is judged by the same trait as its gates.

mod agent_gates;
mod all_runs;
mod answers;
mod block;
mod calls;
mod caps;
mod default_sentence;
mod each_run;
mod energy;
mod expect;
mod expectation;
mod field;
mod flow;
mod form;
mod golden_path;
mod inject;
mod key;
mod known_tools;
mod limit;
mod missing_data;
mod narrative;
mod own_code_notes;
mod playback;
mod played;
mod read_block;
mod recovery;
mod reliability;
mod run_verdict;
mod scores;
mod session;
mod snapshot;
mod some_runs;
mod stability;
mod stale;
mod sub_agent;
mod table;
mod targets;
#[cfg(test)]
mod tests;
mod threshold;
mod trajectory;
mod trajectory_axes;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use mcptest_suite::Span;
use mcptest_suite::model::Agent;
use serde_json::Value;

pub(crate) use agent_gates::{AgentGates, CompiledGate, GateReading};
pub use agent_gates::{parse_suite, read_suite};
pub(crate) use answers::Answers;
pub(crate) use caps::WithinCaps;
pub(crate) use expect::Expect;
pub(crate) use expectation::{Cause, short_number};
pub(crate) use inject::Inject;
pub use key::{OptionInfo, Role};
pub(crate) use missing_data::note_calls_in_text;
pub(crate) use own_code_notes::{note_attempts, note_other_arguments, note_text_agents};
pub(crate) use playback::{Player, Unplayable};
pub use played::{DivergenceFacts, PlayedCall, PlayedFacts};
pub use run_verdict::RunVerdict;
pub(crate) use scores::{Scores, value_at};
pub(crate) use some_runs::{runs_note, scope};
pub(crate) use stale::Stale;
pub use table::{GateInfo, gates};
pub(crate) use table::{find_measure, gate_targets};
pub(crate) use threshold::{Threshold, ThresholdBound};

use expectation::{About, Breach, check_breaches, check_run, findings, needs_model};
use key::Keyed;
use some_runs::{name_runs, run_places};

use crate::check::Check;
use crate::eval::{KnownTools, Metrics};
use crate::render::{Evidence, Failure, Finding};
use crate::trace::Run;

/// Where accepted values lie. An error is what is different and what to do next, a text each.
pub(crate) trait SnapshotStore {
    /// Compares a value of a run, by its place, with the snapshot of a name.
    fn value(&self, run: usize, name: &str, value: &Value) -> Result<(), Vec<String>>;

    /// Compares the outline of all runs with the agent's snapshot.
    fn outline(&self, text: &str) -> Result<(), Vec<String>>;

    /// Compares the tools that all runs were offered with the agent's snapshot of them.
    fn tools(&self, text: &str) -> Result<(), Vec<String>>;
}

/// What a gate judges.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) agent: &'a Agent,
    /// All that is asked of the agent.
    pub(crate) gates: &'a AgentGates,
    /// What is asked, and where.
    pub(crate) declared: Declared<'a>,
    /// The runs that are judged; never empty.
    pub(crate) runs: &'a [Run],
    /// Whether these have the calls of one sub-agent alone.
    pub(crate) of_sub_agent: bool,
    /// The agent's recorded runs, which say what tools it has; where others are judged, not those.
    pub(crate) recorded: &'a [Run],
    /// The tools that the recorded runs show, once a gate has asked for them.
    pub(crate) known_tools: &'a OnceLock<KnownTools>,
    pub(crate) snapshots: &'a dyn SnapshotStore,
    /// Runs the agent's own code against the recorded runs, where something here does.
    pub(crate) player: Option<&'a dyn Player>,
}

/// What the suite asks of runs in one place: with a gate, or with the agent itself.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'a> {
    /// The gate's key, or that of the agent.
    pub(crate) name: &'a str,
    /// Where the key stands.
    pub(crate) span: Span,
    /// What must hold; empty for the gate's default.
    pub(crate) expect: &'a [Check],
}

impl<'a> Input<'a> {
    /// The gate's `expect:`, compiled; empty for the default gate.
    fn expect(&self) -> &'a [Check] {
        self.declared.expect
    }

    /// The tools that the agent is known to have, by all of its recorded runs.
    fn known_tools(&self) -> &'a KnownTools {
        let of_runs = || KnownTools::of_runs(self.recorded);
        self.known_tools.get_or_init(of_runs)
    }

    /// What findings are about.
    fn about(&self) -> About<'a> {
        About {
            name: self.declared.name,
            span: self.declared.span,
            checks: self.declared.expect,
            runs: self.runs,
        }
    }

    /// The input of a gate of the agent: the same runs with what the suite asks of the gate.
    fn for_gate(&self, gate: &'a CompiledGate) -> Self {
        let declared = Declared {
            name: gate.kind.name(),
            span: gate.span,
            expect: &gate.expect,
        };
        Self { declared, ..*self }
    }
}

/// What a gate makes of runs.
#[derive(Default)]
pub(crate) struct Judgement {
    /// The values of the gate's targets, of each run or of all runs together.
    pub(crate) scores: Scores,
    /// What must be known to trust the verdict, a line each: that nothing was there to judge.
    pub(crate) notes: Vec<String>,
    /// Why it does not hold.
    pub(crate) failure: Option<Failure>,
    /// Why nobody here can tell whether it holds, where that is so.
    pub(crate) undecided: Option<String>,
    /// What becomes of each run by itself; empty where all are judged together.
    pub(crate) run_verdicts: Vec<RunVerdict>,
    /// What its default asks; nothing where the suite says what must hold.
    pub(crate) defaults: Vec<Threshold>,
    /// What was asked and does not hold, in some run at least, or could not be judged.
    pub(crate) broken: BTreeSet<Cause>,
    /// How much there was to judge.
    pub(crate) counts: Counts,
    /// What became of each run that was played, in order.
    pub(crate) played: Vec<PlayedFacts>,
}

/// How much there was to judge, by what it is.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// The calls of runs, which is what most gates look at.
fn count_calls<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Counts {
    let calls = runs.into_iter().map(|run| run.trace.tool_calls.len());
    Counts::from([("calls", to_u64(calls.sum()))])
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

impl From<Failure> for Judgement {
    fn from(failure: Failure) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }
}

impl From<Vec<Finding>> for Judgement {
    fn from(findings: Vec<Finding>) -> Self {
        if findings.is_empty() {
            return Self::default();
        }
        let evidence = Vec::new();
        Failure { findings, evidence }.into()
    }
}

/// Something that is asked of an agent's runs, with its options.
pub(crate) trait Criterion: fmt::Debug + Send + Sync {
    /// Judges the runs.
    fn judge(&self, input: &Input<'_>) -> Judgement;

    /// What a run, by its place, breaks of it; nothing for a gate that folds all runs together.
    fn broken_by(&self, _input: &Input<'_>, _run: usize) -> Option<Vec<Breach>> {
        None
    }

    /// What its numbers were made of, also where it holds.
    fn explain(&self, _input: &Input<'_>) -> Vec<Evidence> {
        Vec::new()
    }

    /// The targets of which its options ask nothing, so that they are the same whatever the agent does, each with
    /// the key that would ask.
    fn constant_targets(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Whether it judges what the results of calls say.
    fn needs_results(&self) -> bool {
        false
    }

    /// The gate's options, for gates that rest on another's.
    fn options(&self) -> &dyn Any {
        &()
    }
}

/// What is known of a gate before any suite is read, beside its keys.
pub(crate) trait Options: Keyed + fmt::Debug + Send + Sync {
    /// What it asks, for editors.
    const SAYS: &'static str;

    /// The least that an agent says to have it, on one line of YAML. With it alone an agent loads, in a suite
    /// with a fault `hung` of the tool `search`.
    const EXAMPLE: &'static str;

    /// The target that a threshold in the place of its default is of; nothing where runs cannot move it.
    const CALIBRATED_BY: Option<&'static str>;

    /// The key whose list may stand in the place of the whole block.
    const LIST: Option<&'static str> = None;

    /// The targets of which they ask nothing, each with the key that would.
    fn constant_targets(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// Whether they ask for what the results of calls say.
    fn needs_results(&self) -> bool {
        false
    }

    /// Whether the verdict rests on which results are errors.
    const RESTS_ON_ERRORS: bool = false;

    /// Whether it judges calls with their results and nothing else, so that those of one sub-agent can be judged.
    const JUDGES_CALLS: bool = false;
}

/// What a gate makes of one run.
pub(crate) struct RunScore<R> {
    /// What its metric says.
    pub(crate) report: R,
    /// What the options ask and the run breaks, whatever `expect:` says.
    pub(crate) breaches: Vec<Breach>,
    /// Whether the run can be judged by `expect:` or the defaults at all.
    pub(crate) judged: bool,
}

impl<R> RunScore<R> {
    fn new(report: R) -> Self {
        Self {
            report,
            breaches: Vec::new(),
            judged: true,
        }
    }
}

/// A gate that judges one run at a time: it holds only if it holds for every run.
pub(crate) trait EachRun: Options {
    /// What its metric says of a run, with its targets.
    type Report: Metrics;

    /// What must hold when there is no `expect:`.
    const DEFAULT: &'static [Threshold];

    /// What must hold when there is no `expect:`, with these options.
    fn defaults(&self) -> &'static [Threshold] {
        Self::DEFAULT
    }

    /// Computes the report of a run, and what the options ask of it. An error is why its metric
    /// cannot be computed, which no run passes with.
    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<Self::Report>, Box<Breach>>;

    /// Shows what a run's numbers were made of, and so why it breaks the gate.
    fn explain(&self, input: &Input<'_>, run: &Run, report: &Self::Report) -> Vec<Evidence>;

    /// Shows what all broken runs have in common, each with its place; nothing where each shows its own.
    fn explain_all(&self, _input: &Input<'_>, _broken: &[(usize, &Self::Report)]) -> Vec<Evidence> {
        Vec::new()
    }

    /// Shows what in the run is as it should be, for who asks what its numbers were made of.
    fn explain_rest(&self, _run: &Run, _report: &Self::Report) -> Vec<Evidence> {
        Vec::new()
    }

    /// How much of the run there was to judge.
    fn counts(&self, run: &Run, _report: &Self::Report) -> Counts {
        count_calls([run])
    }

    /// What the agent's own code did when the run was played to it, for a gate that does so.
    fn played_facts(
        &self,
        _input: &Input<'_>,
        _run: &Run,
        _report: &Self::Report,
    ) -> Option<PlayedFacts> {
        None
    }

    /// What must be known of the values to trust a verdict that holds.
    fn note(&self, _runs: &[Run], _scores: &[Value]) -> Option<String> {
        None
    }

    /// What the runs together break, where each of them holds.
    fn breaches_across(&self, _runs: &[Run], _reports: &[Self::Report]) -> Vec<Breach> {
        Vec::new()
    }
}

/// Why runs cannot be judged.
pub(crate) struct NotJudged {
    /// What is asked of a run, or of all together, and what was found instead.
    breaches: Vec<Breach>,
    evidence: Vec<Evidence>,
}

/// A gate that folds all runs together.
pub(crate) trait AllRuns: Options {
    /// What its metric says of the runs, with its targets.
    type Report: Metrics;

    /// Computes the report.
    fn report(&self, input: &Input<'_>) -> Result<Self::Report, NotJudged>;

    /// What must hold when there is no `expect:`.
    fn defaults(&self, report: &Self::Report) -> Vec<Threshold>;

    /// What the options ask and the runs break, whatever `expect:` says.
    fn breaches(&self, _report: &Self::Report) -> Vec<Breach> {
        Vec::new()
    }

    /// Shows what the numbers were made of, and so why the runs break the gate.
    fn explain(&self, input: &Input<'_>, report: &Self::Report) -> Vec<Evidence>;

    /// How much of the runs there was to judge.
    fn counts(&self, runs: &[Run], _report: &Self::Report) -> Counts {
        count_calls(runs)
    }

    /// What must be known of the report to trust the verdict.
    fn notes(&self, _input: &Input<'_>, _report: &Self::Report) -> Vec<String> {
        Vec::new()
    }
}

/// What a gate's metrics break: of its `expect:`, else of its defaults.
fn metric_breaches(input: &Input<'_>, metrics: &Value, defaults: &[Threshold]) -> Vec<Breach> {
    if input.expect().is_empty() {
        defaults
            .iter()
            .filter_map(|threshold| threshold.breach(metrics))
            .collect()
    } else {
        check_breaches(input.expect(), metrics, &no_snapshots).into_breaches()
    }
}

/// What asked for something that does not hold.
fn causes(breaches: &[Breach]) -> BTreeSet<Cause> {
    breaches.iter().map(|breach| breach.cause.clone()).collect()
}

/// All that a gate's `expect:` asks, else its defaults.
fn asked_causes(input: &Input<'_>, thresholds: &[Threshold]) -> BTreeSet<Cause> {
    let checks = (0..input.expect().len()).map(Cause::Check);
    let defaults = defaults(input, thresholds);
    checks
        .chain(defaults.iter().map(Threshold::cause))
        .collect()
}

/// What the default gate asks, where nothing else is asked.
fn defaults(input: &Input<'_>, thresholds: &[Threshold]) -> Vec<Threshold> {
    let default = input.expect().is_empty();
    thresholds.iter().filter(|_| default).copied().collect()
}

/// Gates' metrics are numbers; the suite loader lets a snapshot matcher pass, so it is said here.
fn no_snapshots(_: &str, _: &Value) -> Result<(), Vec<String>> {
    Err(vec![
        "a gate's metrics cannot be snapshotted; use `exact` or `schema`".to_owned(),
    ])
}
