//! Some of the runs, in words: how many they are, and which.

use crate::trace::Run;

/// How many runs are named one by one.
const NAMED_RUNS: usize = 10;

/// In how many of the runs, after "does not hold"; nothing when it concerns all runs together.
pub(crate) fn scope(broken: usize, runs: usize) -> String {
    match (broken, runs) {
        (0, _) => String::new(),
        (1, 1) => " in the one run".to_owned(),
        (broken, runs) => format!(" in {broken} of {runs} runs"),
    }
}

/// The places of some of the runs.
pub(super) fn run_places(runs: &[Run], wanted: impl Fn(&Run) -> bool) -> Vec<usize> {
    let runs = runs.iter().enumerate();
    let wanted = runs.filter(|(_, run)| wanted(run));
    wanted.map(|(place, _)| place).collect()
}

/// Names the runs that something is broken by.
pub(crate) fn runs_note(runs: &[Run], broken: &[usize]) -> String {
    name_runs("broken by", runs, broken)
}

/// Names runs by number and file, after what is said of them.
pub(super) fn name_runs(said: &str, runs: &[Run], broken: &[usize]) -> String {
    let named = broken.iter().take(NAMED_RUNS).filter_map(|index| {
        let run = runs.get(*index)?;
        Some(format!("run {} ({})", index + 1, run.origin))
    });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if broken.len() > NAMED_RUNS {
        text += &format!(" and {} more", broken.len() - NAMED_RUNS);
    }
    format!("{said} {text}")
}
