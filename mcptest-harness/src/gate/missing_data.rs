//! What a recording lacks, so that a gate judges on nothing: results of calls, or the calls themselves.

use mcptest_suite::model::GateKind;

use super::some_runs::run_places;
use crate::trace::Run;
use mcptest_trace::text::run_numbers;

/// Says which runs have calls, and no result of any of them.
pub(super) fn note_no_results(kind: GateKind, runs: &[Run]) -> Option<String> {
    let without = run_places(runs, |run| {
        !run.trace.tool_calls.is_empty() && run.trace.tool_results.is_empty()
    });
    (!without.is_empty()).then(|| {
        format!(
            "no call has a result in {}: what `{}` takes from results is judged on nothing there; record the results too",
            runs_phrase(&without, runs),
            kind.name()
        )
    })
}

/// Says which runs have no call, though the agent's texts hold what looks like calls.
pub(crate) fn note_calls_in_text(runs: &[Run]) -> Option<String> {
    let acting = run_places(runs, |run| run.calls_in_text().is_some());
    let form = runs.get(*acting.first()?)?.calls_in_text()?;
    Some(format!(
        "no call is recorded in {}, and the agent's texts hold what looks like calls ({form}): calls in texts are not read, so \
         nothing of them is judged",
        runs_phrase(&acting, runs)
    ))
}

pub(super) fn runs_phrase(some: &[usize], runs: &[Run]) -> String {
    match some {
        all if all.len() == runs.len() && runs.len() > 1 => "any run".to_owned(),
        [one] => format!("run {}", one + 1),
        several => format!("runs {}", run_numbers(several)),
    }
}
