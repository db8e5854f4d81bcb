//! What is said of runs beside a verdict on them.

use mcptest_trace::text::pluralize;

use crate::trace::{self, Run, Trace};
use mcptest_trace::text::run_numbers;

/// How many groups are named.
const SHOWN: usize = 10;

/// Says which runs behave alike: the same calls, results and closing. They are no copies, but there is
/// nothing to choose between them. Nothing where all differ.
pub(crate) fn note_alike(runs: &[Run]) -> Option<String> {
    let traces: Vec<&Trace> = runs.iter().map(|run| &run.trace).collect();
    let mut alike = trace::group_alike(&traces);
    alike.retain(|group| group.len() > 1);
    if alike.is_empty() {
        return None;
    }
    let named = alike.iter().take(SHOWN).map(|runs| run_numbers(runs));
    let mut named = named.collect::<Vec<_>>().join("; ");
    if alike.len() > SHOWN {
        named += &format!("; and {} more groups", alike.len() - SHOWN);
    }
    let count: usize = alike.iter().map(Vec::len).sum();
    Some(format!(
        "{count} of {} runs behave alike: {named}",
        runs.len()
    ))
}

/// Says which runs are equal but for when they were recorded: copies, or runs of an agent that does the same
/// every time, which the recordings do not tell apart. What is judged of them is judged of one run.
pub(crate) fn note_equal(runs: &[Run]) -> Option<String> {
    let equal = trace::group_equal_but_for_time(runs);
    let named = equal.iter().take(SHOWN).map(|runs| run_numbers(runs));
    let mut named = named.collect::<Vec<_>>().join("; ");
    if equal.len() > SHOWN {
        named += &format!("; and {} more groups", equal.len() - SHOWN);
    }
    (!equal.is_empty()).then(|| {
        format!(
            "runs {named} differ only in their time of recording: copies of a run prove no more than one run"
        )
    })
}

/// Says which runs their own recordings call failed: no gate looks at that unless it is told to.
pub(crate) fn note_recorded_failures(runs: &[Run]) -> Option<String> {
    let failed = |run: &Run| {
        run.outcome
            .is_some_and(|outcome| outcome.passed == Some(false))
    };
    let failed: Vec<usize> = (0..runs.len()).filter(|run| failed(&runs[*run])).collect();
    (!failed.is_empty()).then(|| {
        format!(
            "{} of {} recorded as failed (`outcome.passed: false`): {}; no case fails for this; to make a case fail, write e.g. `reliability: {{ outcome: recorded }}`",
            failed.len(),
            pluralize(runs.len(), "run"),
            run_numbers(&failed)
        )
    })
}
