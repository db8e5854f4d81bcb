//! Runs that look bad where no outcome says which are.
//!
//! Only what can be seen in a recording counts. What half of the runs share is how the agent works and
//! tells no run from another: it is named, and sets no run aside.

use mcptest::trace::Run;

use super::ending::{answers_before_the_end, has_closing, stop_reason};
use super::narrative::Narrative;
use super::tools::CalledTools;
use super::writes::failure_text;
use crate::outcome::recorded_outcome;

/// A run that looks bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) struct Suspect {
    pub(in crate::import) model: String,
    /// Which of the runs, from 1.
    pub(in crate::import) number: usize,
    /// What is seen in it.
    pub(in crate::import) reasons: Vec<String>,
    /// The suite is made of the other runs.
    pub(in crate::import) aside: bool,
}

/// What may be seen in a run, one kind a place.
type SeenInRun = [Option<String>; 8];

/// The kinds that set no run aside: where there is nothing to change, good runs change nothing too, and a
/// call may fail in a good run.
const WEAK: [usize; 2] = [6, 7];

/// The runs that look bad; none where a run says itself whether it passed.
pub(super) fn find(runs: &[Run], called: &CalledTools) -> Vec<Suspect> {
    let says = |run: &Run| recorded_outcome(run).is_some();
    if runs.iter().any(says) {
        return Vec::new();
    }
    let reads = called.read_only(runs);
    let narrative = Narrative::new(runs, called, &reads);
    let errors = Spread::from_runs(runs, |run| {
        let results = run.trace.results_by_call().into_iter().flatten();
        results.filter(|result| result.is_error).count()
    });
    let repeats = Spread::from_runs(runs, |run| run.trace.redundant_tool_calls());
    let changes = |run: &Run| {
        let mut calls = run.trace.tool_calls.iter();
        calls.any(|call| !reads.is_read_only(&call.name))
    };
    let others_change = 2 * runs.iter().filter(|run| changes(run)).count() > runs.len();
    let see = |run: &Run| -> SeenInRun {
        let last = run.trace.tool_calls.len().checked_sub(1);
        let result = last.map(|last| (&run.trace.tool_calls[last].name, run.result_of(last)));
        let stop = stop_reason(run).filter(|reason| *reason != "completed");
        let (failed, repeated) = (errors.outlier(run), repeats.outlier(run));
        let idle = others_change && !changes(run);
        [
            stop.map(|reason| format!("it stopped for `{reason}`")),
            (!has_closing(run) && !answers_before_the_end(run))
                .then(|| "it says nothing at its end".to_owned()),
            result.and_then(|(name, result)| match result {
                Some(result) if result.is_error => Some(format!("its last call, `{name}`, failed")),
                None => Some(format!("its last call, `{name}`, has no result")),
                Some(_) => None,
            }),
            (narrative.absent(run) > 0)
                .then(|| "its closing message claims something that no call did".to_owned()),
            failed.map(|most| format!("{most} of its calls failed")),
            repeated.map(|most| format!("{most} of its calls repeat another")),
            idle.then(|| "it changes nothing, and most others do".to_owned()),
            failing_result(run),
        ]
    };
    let seen: Vec<SeenInRun> = runs.iter().map(see).collect();
    let tells = |kind: usize| {
        let count = seen.iter().filter(|seen| seen[kind].is_some()).count();
        let of = seen.len();
        !WEAK.contains(&kind) && of > 1 && (count == 1 || 2 * count < of)
    };
    let suspects = (1..).zip(&seen).filter_map(|(number, seen)| {
        let reasons: Vec<String> = seen.iter().flatten().cloned().collect();
        let aside = (0..seen.len()).any(|kind| seen[kind].is_some() && tells(kind));
        (!reasons.is_empty()).then(|| Suspect {
            model: runs[number - 1].model.clone(),
            number,
            reasons,
            aside,
        })
    });
    let mut suspects: Vec<Suspect> = suspects.collect();
    // Something must be left that a suite can be made of.
    if suspects.iter().filter(|suspect| suspect.aside).count() == runs.len() {
        for suspect in &mut suspects {
            suspect.aside = false;
        }
    }
    suspects
}

/// The first call that no flag calls an error, and whose result says that it failed.
fn failing_result(run: &Run) -> Option<String> {
    let calls = run.trace.tool_calls.iter().zip(run.trace.results_by_call());
    let mut says = calls.filter_map(|(call, result)| Some((call, failure_text(call, result?)?)));
    let (call, says) = says.next()?;
    Some(format!("the result of its call `{}` {says}", call.name))
}

/// How much of something the runs of an agent have.
struct Spread<F> {
    of: F,
    /// More than this is much more than the others have.
    usual: usize,
}

impl<F: Fn(&Run) -> usize> Spread<F> {
    fn from_runs(runs: &[Run], of: F) -> Self {
        let mut all: Vec<usize> = runs.iter().map(&of).collect();
        all.sort_unstable();
        let median = all.get(all.len().saturating_sub(1) / 2);
        let usual = median.map_or(usize::MAX, |median| 2 * median + 2);
        Self { of, usual }
    }

    /// What a run has, where that is much more.
    fn outlier(&self, run: &Run) -> Option<usize> {
        Some((self.of)(run)).filter(|count| *count > self.usual)
    }
}
