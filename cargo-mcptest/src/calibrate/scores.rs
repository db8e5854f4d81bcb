//! Scores of judges, people and rubrics as targets.

use std::collections::BTreeSet;

use mcptest::eval::{Measure, Unit};
use mcptest::trace::{Run, Score};
use mcptest_trace::evidence::calibrate::Quantity;

use super::column::{Column, JudgedAgent};
use crate::outcome::ScoreOutcome;

/// The scores of others, each by its name; what is asked whether runs passed is not held against itself.
pub(super) fn columns(agents: &[JudgedAgent<'_>], asked: Option<&ScoreOutcome>) -> Vec<Column> {
    let runs = || agents.iter().flat_map(|agent| agent.runs);
    let names = runs().flat_map(|run| &run.trace.scores);
    let names: BTreeSet<&String> = names.map(|score| &score.name).collect();
    let names = names
        .into_iter()
        .filter(|name| asked.is_none_or(|asked| asked.name != **name));
    let column = |name: &String| {
        let lower = is_lower_better(runs().flat_map(|run| run.trace.scores_named(name)));
        // A target has its name as long as the program runs; there are a few scores.
        let target: &'static str = Box::leak(format!("scores.{name}").into_boxed_str());
        let measure = Measure::new(target, Unit::Ratio).at_least(f64::NEG_INFINITY);
        let measure = if lower {
            measure
                .lower_is_better("a score that another judge gave; failed runs have higher values")
        } else {
            measure.higher_is_better("a score that another judge gave")
        };
        // Each score of a name must hold, so the worst one counts.
        let worst = if lower { f64::max } else { f64::min };
        let value = |run: &Run| {
            let values = run.trace.scores_named(name).map(|score| score.value);
            values.reduce(worst)
        };
        let agents = agents.iter().map(|agent| {
            let values = agent.runs.iter().map(value);
            (agent.test.stem(), values.collect())
        });
        Some(Column {
            gate: None,
            target: Quantity::from_measure(&measure)?,
            each_run: true,
            agents: agents.collect(),
        })
    };
    names.filter_map(column).collect()
}

/// Whether those who score give lower values to what passes by their own word.
fn is_lower_better<'a>(scores: impl Iterator<Item = &'a Score>) -> bool {
    let (mut passed, mut failed) = ((0.0, 0.0), (0.0, 0.0));
    for score in scores {
        let (sum, count) = match score.passed {
            Some(true) => &mut passed,
            Some(false) => &mut failed,
            None => continue,
        };
        *sum += score.value;
        *count += 1.0;
    }
    let mean = |(sum, count): (f64, f64)| (count > 0.0).then(|| sum / count);
    mean(passed)
        .zip(mean(failed))
        .is_some_and(|(passed, failed)| passed < failed)
}
