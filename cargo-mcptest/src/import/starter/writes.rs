//! The calls of runs that change something.

use std::rc::Rc;

use mcptest::eval::{Reported, reported};
use mcptest::trace::{ReadOnlyTools, Run, ToolCall, ToolResult, canonical_json};

use super::arguments::{KnownValues, Leaves};

/// A call that changes something.
pub(super) struct Write<'a> {
    pub(super) call: &'a ToolCall,
    /// Whether its result is an error.
    pub(super) failed: Option<bool>,
    /// Which of its arguments stay as they are.
    pub(super) leaves: Leaves,
    /// What it has in common with the same call of another run.
    pub(super) key: String,
    /// What its run knows in the end.
    pub(super) known: Rc<KnownValues>,
}

/// What runs change, run by run.
pub(super) struct Changes<'a> {
    /// The calls that changed something, as far as is told.
    pub(super) made: Vec<Vec<Write<'a>>>,
    /// The calls that failed to.
    pub(super) failed: Vec<Vec<Write<'a>>>,
}

impl<'a> Changes<'a> {
    /// Of runs, each with the day of its recording.
    pub(super) fn from_runs(runs: &[(&'a Run, Option<&str>)], reads: &ReadOnlyTools) -> Self {
        let of_runs = runs.iter().map(|(run, day)| {
            let writes = find_writes(run, *day, reads).into_iter();
            writes.partition(|write| write.failed != Some(true))
        });
        let (made, failed) = of_runs.unzip();
        Self { made, failed }
    }

    pub(super) fn any_failed(&self) -> bool {
        self.failed.iter().any(|calls| !calls.is_empty())
    }

    /// Every call, those that failed last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Write<'a>> {
        self.made.iter().chain(&self.failed).flatten()
    }
}

/// What a result says that is no error by its flag: that the call failed, or it sounds so.
pub(super) fn failure_text(call: &ToolCall, result: &ToolResult) -> Option<String> {
    if result.is_error {
        return None;
    }
    match reported(&call.name, &call.args, &result.result) {
        Reported::Nothing => None,
        Reported::Doubtful(by) => Some(format!("sounds as if it had failed: {by}")),
        Reported::Failed(by) => Some(format!("says that it failed: {by}")),
    }
}

/// The calls of a run that change something; `day` is that of the recording.
fn find_writes<'a>(run: &'a Run, day: Option<&str>, reads: &ReadOnlyTools) -> Vec<Write<'a>> {
    let mut known = KnownValues::new(run, day);
    let mut writes = Vec::new();
    for (call, result) in run.trace.tool_calls.iter().zip(run.trace.results_by_call()) {
        let is_change = !reads.is_read_only(&call.name);
        if is_change {
            let told = result.filter(|result| result.error_known);
            let flag = told.map(|result| result.is_error);
            // What says itself that it failed is no success, whatever the flag.
            let says = result.is_some_and(|result| failure_text(call, result).is_some());
            writes.push((
                call,
                flag.filter(|failed| *failed || !says),
                known.leaves(&call.args),
            ));
            known.add_arguments(&call.args);
        }
        if let Some(result) = result {
            known.add(&result.result, is_change);
        }
    }
    let known = Rc::new(known);
    let write = |(call, failed, leaves): (&'a ToolCall, Option<bool>, Leaves)| Write {
        call,
        failed,
        key: format!(
            "{} {}",
            call.name,
            canonical_json(&leaves.stable_part(&call.args))
        ),
        leaves,
        known: Rc::clone(&known),
    };
    writes.into_iter().map(write).collect()
}
