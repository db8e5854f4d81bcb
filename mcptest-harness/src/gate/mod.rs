//! Gates: a block of the suite and the recorded runs in, a verdict with its evidence out.
//!
//! One file a gate. A gate is implemented on the options type that the suite model gives it, and
//! [`implementation`] is the one place that says which gate is which. A gate that judges one run at
//! a time implements [`PerRun`] and is judged in `per_run`; one that folds all runs together
//! implements [`Gate`] itself.

mod energy;
mod expectation;
mod golden_path;
mod narrative;
mod per_run;
mod recovery;
mod reliability;
mod session;
mod snapshot;
mod stability;
mod trajectory;
mod trajectory_axes;

use std::collections::HashMap;

use mcptest_suite::gates::{GateOptions, Outcome};
use mcptest_suite::model::{Agent, GateBlock, GateKind, Suite};
use serde_json::Value;

pub(crate) use expectation::{
    About, Breach, Cause, Threshold, check_breaches, findings, needs_model, runs_note, scope,
};
pub(crate) use per_run::{PerRun, Scored};
pub(crate) use recovery::{fault_plan, faults_that_never_fired, injected_but_not_met};

use crate::check::{Check, Compiler};
use crate::render::Failure;
use crate::trace::Run;

/// An agent's assertions, compiled: its own and its gates'.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) expect: Vec<Check>,
    pub(crate) gates: HashMap<GateKind, Vec<Check>>,
    /// The compiled schemas of the trajectory gate's argument shapes, in the order of its calls.
    pub(crate) shapes: trajectory::Shapes,
}

impl Checks {
    /// Compiles an agent's assertions; problems are noted by the compiler.
    pub(crate) fn compile(agent: &Agent, compiler: &mut Compiler) -> Self {
        let gates = agent
            .gates
            .iter()
            .map(|gate| (gate.kind(), compiler.gate_checks(gate.kind(), &gate.expect)));
        Self {
            gates: gates.collect(),
            expect: compiler.checks(&agent.expect),
            shapes: trajectory::compile_shapes(agent, compiler),
        }
    }
}

/// Where accepted values lie. An error is what is different and what to do next, a text each.
pub(crate) trait SnapshotStore {
    /// Compares a value of a run, by its place, with the snapshot of a name.
    fn value(&self, run: usize, name: &str, value: &Value) -> Result<(), Vec<String>>;

    /// Compares the outline of all runs with the agent's snapshot.
    fn outline(&self, text: &str) -> Result<(), Vec<String>>;
}

/// What a gate judges.
pub(crate) struct Input<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) agent: &'a Agent,
    pub(crate) checks: &'a Checks,
    /// The gate's block.
    pub(crate) block: &'a GateBlock,
    /// The recorded runs; never empty.
    pub(crate) runs: &'a [Run],
    pub(crate) snapshots: &'a dyn SnapshotStore,
}

impl<'a> Input<'a> {
    /// The gate's `expect:`, compiled; empty for the default gate.
    fn expect(&self) -> &'a [Check] {
        self.checks
            .gates
            .get(&self.block.kind())
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// What findings of this gate are about.
    fn about(&self) -> About<'a> {
        About {
            name: self.block.kind().name(),
            span: self.block.span,
            checks: self.expect(),
            runs: self.runs,
        }
    }

    /// The same for another gate of the agent.
    fn of(&self, block: &'a GateBlock) -> Self {
        Self { block, ..*self }
    }
}

/// A gate.
pub(crate) trait Gate {
    /// Judges the runs.
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure>;

    /// The gate as one that judges a run at a time; nothing for one that folds all runs together.
    fn per_run(&self) -> Option<&dyn PerRun> {
        None
    }
}

/// The gate behind a block's options.
pub(crate) fn implementation(options: &GateOptions) -> &dyn Gate {
    match options {
        GateOptions::Energy(gate) => gate,
        GateOptions::GoldenPath(gate) => gate,
        GateOptions::Narrative(gate) => gate,
        GateOptions::Recovery(gate) => gate,
        GateOptions::Reliability(gate) => gate,
        GateOptions::Session(gate) => gate,
        GateOptions::Snapshot(gate) => gate,
        GateOptions::Stability(gate) => gate,
        GateOptions::Trajectory(gate) => gate,
        GateOptions::TrajectoryAxes(gate) => gate,
    }
}

/// What a gate's metrics break: of its `expect:`, else of its defaults.
fn expected(input: &Input<'_>, metrics: &Value, defaults: &[Threshold]) -> Vec<Breach> {
    if input.expect().is_empty() {
        defaults
            .iter()
            .filter_map(|threshold| threshold.breach(metrics))
            .collect()
    } else {
        check_breaches(input.expect(), metrics, &no_snapshots).all()
    }
}

/// Gates' metrics are numbers; the suite loader lets a snapshot matcher pass, so it is said here.
fn no_snapshots(_: &str, _: &Value) -> Result<(), Vec<String>> {
    Err(vec![
        "a gate's metrics cannot be snapshotted; use `exact` or `schema`".to_owned(),
    ])
}

/// Whether `reliability` counts the runs that a gate, or the agent's `expect:`, holds for, so that
/// its own case leaves the verdict to it.
fn counted_by_reliability(agent: &Agent, kind: GateKind) -> bool {
    let reliability = agent.gate(GateKind::Reliability);
    let Some(GateOptions::Reliability(options)) = reliability.map(|gate| &gate.options) else {
        return false;
    };
    match &options.outcome {
        Outcome::Judged { gates, .. } => gates.iter().any(|gate| gate.kind() == kind),
        Outcome::Recorded => false,
    }
}
