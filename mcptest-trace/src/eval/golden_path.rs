//! `golden_path`: did the agent get there without detours?

use std::collections::HashSet;

use serde::Serialize;

use super::matching::longest_in_order;
use super::measure::{Measure, Unit};
use super::metrics::metrics;
use crate::number::to_f64;
use crate::trace::AsTrace;

/// Options of the golden-path gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GoldenPath {
    /// The ideal sequence of tools; never empty.
    pub calls: Vec<String>,
    /// Whether calls beyond the ideal length cost nothing.
    pub allow_extra_steps: bool,
    /// Whether returning to an earlier tool costs.
    pub penalize_backtracking: bool,
    /// Whether calling one tool twice in a row costs.
    pub penalize_repeated_tools: bool,
}

impl GoldenPath {
    /// An ideal sequence with the default options.
    pub fn new(calls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            calls: calls.into_iter().map(Into::into).collect(),
            allow_extra_steps: false,
            penalize_backtracking: true,
            penalize_repeated_tools: true,
        }
    }
}

/// How wasteful a run was. The counts are those of the run, whatever is penalised.
///
/// Source: seed 3, "Offline trace validation", and spec 3, `golden_path`. The recorded sequence of
/// tool names is compared with an ideal one:
///
/// - `extra_steps`: calls beyond the length of the golden path;
/// - `backtracks`: returns to a tool used earlier that is not the immediately preceding one;
/// - `repeated_tools`: calls of the same tool as the call just before.
///
/// `penalty = 1 / (1 + 0.5 · w)`, where `w` sums the enabled counts; of backtracks and repeats
/// only what exceeds the golden path's own, so the golden path itself always scores 1.0. A run
/// passes when `w` is 0. This asks for efficiency alone: a run that did less than the golden path
/// is not wasteful; whether it did enough is for `trajectory` to say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GoldenPathReport {
    /// Whether nothing penalised was wasted.
    pub passed: bool,
    /// In `0.0..=1.0`; 1.0 is no waste.
    pub penalty: f64,
    /// What the penalty is computed from.
    pub waste: usize,
    /// Calls beyond the length of the golden path.
    pub extra_steps: usize,
    /// Returns to a tool used earlier.
    pub backtracks: usize,
    /// Consecutive duplicates.
    pub repeated_tools: usize,
    /// Indices of the calls that are no part of the longest alignment with the golden path: where
    /// to look for extra steps.
    pub off_path: Vec<usize>,
    /// Indices of the calls that return to an earlier tool.
    pub backtracks_at: Vec<usize>,
    /// Indices of the calls that repeat the tool just before.
    pub repeats_at: Vec<usize>,
}

metrics! { GoldenPathReport as report {
    Measure::new("golden_path.penalty", Unit::Fraction)
        .higher_is_better("1 when nothing was wasted; the more was wasted, the lower it is") => report.penalty,
    Measure::new("golden_path.passed", Unit::Flag)
        .higher_is_better("1 when nothing that is penalised was wasted") => report.passed,
    Measure::new("golden_path.extra_steps", Unit::Count)
        .lower_is_better("calls beyond the length of the golden path") => report.extra_steps,
    Measure::new("golden_path.backtracks", Unit::Count)
        .lower_is_better("returns to a tool used earlier") => report.backtracks,
    Measure::new("golden_path.repeated_tools", Unit::Count)
        .lower_is_better("calls of the same tool as the call before") => report.repeated_tools,
} }

/// Scores a run for waste.
///
/// ```
/// use mcptest_trace::eval::{GoldenPath, score_golden_path};
/// use serde_json::json;
///
/// let run = json!({ "tool_calls": [{ "name": "search" }, { "name": "search" }, { "name": "fetch" }] });
/// let report = score_golden_path(&run, &GoldenPath::new(["search", "fetch"]));
/// assert_eq!((report.extra_steps, report.repeated_tools), (1, 1));
/// assert_eq!(report.penalty, 0.5);
/// ```
#[must_use]
pub fn score_golden_path(run: &(impl AsTrace + ?Sized), golden: &GoldenPath) -> GoldenPathReport {
    let trace = run.as_trace();
    let path: Vec<&str> = golden.calls.iter().map(String::as_str).collect();
    let run: Vec<&str> = trace
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect();

    let extra_steps = run.len().saturating_sub(path.len());
    let (backtracks_at, repeats_at) = (backtracks(&run), repeats(&run));
    let beyond = |found: &[usize], own: Vec<usize>| found.len().saturating_sub(own.len());
    let mut waste = 0;
    if !golden.allow_extra_steps {
        waste += extra_steps;
    }
    if golden.penalize_backtracking {
        waste += beyond(&backtracks_at, backtracks(&path));
    }
    if golden.penalize_repeated_tools {
        waste += beyond(&repeats_at, repeats(&path));
    }

    GoldenPathReport {
        passed: waste == 0,
        penalty: 1.0 / (1.0 + 0.5 * to_f64(waste)),
        waste,
        extra_steps,
        backtracks: backtracks_at.len(),
        repeated_tools: repeats_at.len(),
        off_path: off_path(&path, &run),
        backtracks_at,
        repeats_at,
    }
}

fn backtracks(calls: &[&str]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let mut previous = None;
    let mut found = Vec::new();
    for (index, &name) in calls.iter().enumerate() {
        if !seen.insert(name) && previous != Some(name) {
            found.push(index);
        }
        previous = Some(name);
    }
    found
}

fn repeats(calls: &[&str]) -> Vec<usize> {
    let pairs = calls.windows(2).enumerate();
    let repeated = pairs.filter(|(_, pair)| pair[0] == pair[1]);
    repeated.map(|(index, _)| index + 1).collect()
}

fn off_path(path: &[&str], run: &[&str]) -> Vec<usize> {
    if path == run {
        return Vec::new();
    }
    let fitting = |name: &&str| {
        (0..run.len())
            .filter(|&index| run[index] == *name)
            .collect()
    };
    let edges: Vec<Vec<usize>> = path.iter().map(fitting).collect();
    let single: Vec<_> = (0..run.len()).map(|index| index..index + 1).collect();
    let on_path: HashSet<usize> = longest_in_order(&edges, &single)
        .into_iter()
        .flatten()
        .collect();
    (0..run.len())
        .filter(|index| !on_path.contains(index))
        .collect()
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::eval::Metrics;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Value {
        let calls: Vec<_> = names
            .into_iter()
            .map(|name| json!({ "name": name }))
            .collect();
        json!({ "tool_calls": calls })
    }

    fn score(golden: &str, run: &str) -> GoldenPathReport {
        let golden = GoldenPath::new(golden.split_whitespace());
        score_golden_path(&names(run.split_whitespace()), &golden)
    }

    #[test]
    fn each_kind_of_waste_is_counted_and_located() {
        let report = score("a b c", "a b b a x c");
        assert_eq!(
            (report.extra_steps, report.backtracks, report.repeated_tools),
            (3, 1, 1)
        );
        assert_eq!(
            (report.backtracks_at, report.repeats_at),
            (vec![3], vec![2])
        );
        assert_eq!(report.off_path, [2, 3, 4]);
        assert_eq!(report.waste, 5);
        assert_eq!(report.penalty, 1.0 / 3.5);
        assert!(!report.passed);
    }

    #[test]
    fn what_the_golden_path_does_itself_is_no_waste() {
        let report = score("a b a a", "a b a a");
        assert_eq!(
            (report.backtracks, report.repeated_tools, report.waste),
            (1, 1, 0)
        );
        assert_eq!(report.penalty, 1.0);
        assert!(report.passed);
        assert_eq!(score("a b a a", "a b a b").waste, 1);
    }

    #[test]
    fn options_change_the_waste_but_not_the_counts() {
        let run = names(["a", "a", "b", "a"]);
        let mut golden = GoldenPath::new(["a", "b"]);
        let waste = |golden: &GoldenPath| {
            let report = score_golden_path(&run, golden);
            assert_eq!(
                (report.extra_steps, report.backtracks, report.repeated_tools),
                (2, 1, 1)
            );
            report.waste
        };
        assert_eq!(waste(&golden), 4);
        golden.allow_extra_steps = true;
        assert_eq!(waste(&golden), 2);
        golden.penalize_backtracking = false;
        assert_eq!(waste(&golden), 1);
        golden.penalize_repeated_tools = false;
        assert_eq!(waste(&golden), 0);
    }

    #[test]
    fn a_run_that_did_less_is_not_wasteful() {
        assert!(score("a b", "").passed);
        assert!(score("a b", "b").passed);
        assert_eq!(
            score("a b", "b").metrics(),
            json!({ "golden_path": {
                "passed": 1, "penalty": 1.0, "extra_steps": 0, "backtracks": 0, "repeated_tools": 0,
            }})
        );
    }

    fn sequence() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..12)
    }

    proptest! {
        #[test]
        fn the_golden_path_itself_scores_one(calls in sequence()) {
            let report = score_golden_path(&names(calls.clone()), &GoldenPath::new(calls));
            prop_assert!(report.passed && report.penalty == 1.0 && report.off_path.is_empty());
        }

        #[test]
        fn the_penalty_lies_in_the_unit_interval_and_is_one_exactly_without_waste(
            golden in sequence(),
            run in sequence(),
        ) {
            let report = score_golden_path(&names(run), &GoldenPath::new(golden));
            prop_assert!(report.penalty > 0.0 && report.penalty <= 1.0);
            prop_assert_eq!(report.penalty == 1.0, report.passed);
        }

        #[test]
        fn one_more_repeat_never_helps(golden in sequence(), mut run in sequence()) {
            let golden = GoldenPath::new(golden);
            let before = score_golden_path(&names(run.clone()), &golden).penalty;
            if let Some(&last) = run.last() {
                run.push(last);
                prop_assert!(score_golden_path(&names(run), &golden).penalty <= before);
            }
        }
    }
}
