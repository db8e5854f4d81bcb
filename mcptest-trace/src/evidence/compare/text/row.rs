//! The rows of the table.

use super::format::{format_p_value, format_p_value_short, points, signed, significant};
use crate::evidence::compare::{
    AgentComparison, BehaviourCompared, CompareOptions, Comparison, CostCompared, Metric,
    MetricFinding, OutcomesCompared, SuiteComparison,
};
use crate::text::pluralize;

/// The least width of the verdict's word.
const WORD: usize = 11;

pub(super) fn unknown_cell() -> String {
    "unknown".to_owned()
}

pub(super) fn cost_cell(cost: &CostCompared) -> String {
    let Some(ratio) = cost.ratio else {
        return format!("{} → {}", cost.baseline, cost.candidate);
    };
    let interval = cost.shift.and_then(|shift| shift.interval);
    ratio_cell(ratio, interval.map(|found| (found.low, found.high)))
}

fn ratio_cell(ratio: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some((low, high)) => format!("×{ratio:.2} [{low:.2}, {high:.2}]"),
        None => format!("×{ratio:.2}"),
    }
}

pub(super) fn behaviour_cell(behaviour: &BehaviourCompared) -> String {
    let differs = |energy: f64| energy.abs() > 1e-9;
    if behaviour.other {
        format!("other p {}", format_p_value_short(behaviour.tools.p))
    } else if differs(behaviour.tools.energy) {
        format!("p {}", format_p_value_short(behaviour.tools.p))
    } else if differs(behaviour.calls.energy) {
        "same tools".to_owned()
    } else {
        "same".to_owned()
    }
}

impl AgentComparison {
    /// What is found, on one line: the last column of the table.
    #[must_use]
    pub fn verdict(&self, options: &CompareOptions) -> String {
        let fail_on = &options.fail_on;
        let failed = |metric: Metric| {
            fail_on.contains(&metric) && self.finding(metric) == Some(MetricFinding::Regressed)
        };
        let mut parts = Vec::new();
        let outcomes = self.outcomes.as_ref();
        let worse = outcomes.filter(|found| found.finding == MetricFinding::Regressed);
        if let Some(found) = worse {
            parts.push(outcomes_verdict(found));
        }
        if let Some(cost) = self.cost.as_ref().filter(|_| failed(Metric::Cost)) {
            parts.push(pad_word(
                "costlier",
                &format!("p {}", format_p_value(cost.p_costlier)),
            ));
        }
        if let Some(found) = self
            .behaviour
            .as_ref()
            .filter(|_| failed(Metric::Behaviour))
        {
            parts.push(pad_word(
                "other tools",
                &format!("p {}", format_p_value(found.tools.p)),
            ));
        }
        match (outcomes, worse, parts.is_empty()) {
            (Some(found), None, true) => parts.push(outcomes_verdict(found)),
            (Some(found), None, false) => {
                if let Some(last) = parts.last_mut() {
                    last.push_str(&format!(", outcomes: {}", found.finding.as_str()));
                }
            }
            (None, _, true) => parts.push("no outcomes".to_owned()),
            _ => {}
        }
        let cost = self.cost.as_ref().filter(|_| !failed(Metric::Cost));
        parts.extend(cost.and_then(|cost| {
            let p = (cost.p_costlier, cost.p_cheaper);
            cost_verdict(cost.finding, p)
        }));
        parts.extend(super::gap_lines(self));
        parts.join("; ")
    }
}

/// What is said of a cost, by its p of being higher and of being lower.
fn cost_verdict(finding: MetricFinding, (costlier, cheaper): (f64, f64)) -> Option<String> {
    match finding {
        MetricFinding::Regressed => Some(format!("costlier p {}", format_p_value(costlier))),
        MetricFinding::Improved => Some(format!("cheaper p {}", format_p_value(cheaper))),
        _ => None,
    }
}

fn pad_word(word: &str, rest: &str) -> String {
    format!("{word:<WORD$} {rest}").trim_end().to_owned()
}

fn outcomes_verdict(found: &OutcomesCompared) -> String {
    let rest = match found.finding {
        MetricFinding::Regressed => format!(
            "p {} ≤ {}, {:.0} points",
            format_p_value(found.p_worse),
            significant(found.share),
            found.drop()
        ),
        MetricFinding::Improved => format!("p {}", format_p_value(found.p_better)),
        MetricFinding::NoEvidence => match found.noticeable_drop {
            Some(drop) => format!(
                "a drop of {} would have been noticed",
                points(f64::from(drop))
            ),
            None => format!("no drop would have been noticed{}", remedy(found)),
        },
        MetricFinding::CannotBeToldYet => format!(
            "p {} > {}, {:.0} points{}",
            format_p_value(found.p_worse),
            significant(found.share),
            found.drop(),
            found
                .runs_for_drop()
                .map_or_else(String::new, |runs| format!(
                    ": about {} on each side would decide",
                    pluralize(usize::try_from(runs).unwrap_or(usize::MAX), "run")
                ))
        ),
        MetricFinding::NothingToLose => "no run of the baseline passed".to_owned(),
        MetricFinding::TooFewRuns => format!(
            "p cannot be below {}, and {} is needed: {} of {} passed before, so a fall to no passed run needs {} runs on each side",
            significant(found.smallest_p),
            significant(found.share),
            found.baseline.passed,
            pluralize(found.baseline.runs, "run"),
            found.runs_for_all()
        ),
    };
    pad_word(found.finding.as_str(), &rest)
}

fn remedy(found: &OutcomesCompared) -> String {
    match found.runs_for_margin {
        Some(runs) => format!("; {} need {runs} runs on each side", points(found.margin)),
        None => String::new(),
    }
}

/// The row of all agents, without what was found of them.
pub(super) fn suite_cells(comparison: &Comparison) -> [String; 4] {
    let suite = &comparison.suite;
    let (outcomes, cost) = (suite.outcomes.as_ref(), suite.cost.as_ref());
    // Where only some agents are shown, the numbers are still those of all.
    let all = comparison.agents.len();
    let all = outcomes.map_or(all, |found| all.max(found.agents));
    let all = cost.map_or(all, |found| all.max(found.agents));
    [
        format!("all {all}"),
        outcomes.map_or_else(unknown_cell, |found| {
            format!("{} points", signed(found.difference))
        }),
        cost.and_then(|cost| Some(ratio_cell(cost.ratio?, cost.interval)))
            .unwrap_or_else(unknown_cell),
        suite.behaviour.as_ref().map_or_else(unknown_cell, |found| {
            let p = format_p_value_short(found.tools.p);
            let other = found.tools.p <= comparison.options.false_discoveries;
            if other {
                format!("other p {p}")
            } else {
                format!("p {p}")
            }
        }),
    ]
}

/// What was found of all agents together, in few words.
pub(super) fn suite_word(suite: &SuiteComparison) -> String {
    let outcomes = suite.outcomes.as_ref().map(|found| {
        let word = found.finding.as_str();
        match (found.finding, found.share) {
            (_, None) => "the agent's own test decides".to_owned(),
            (MetricFinding::Improved, _) => format!("{word} p {}", format_p_value(found.p_better)),
            (MetricFinding::Regressed | MetricFinding::NoEvidence, _) => {
                format!("{word} p {}", format_p_value(found.p_worse))
            }
            (
                MetricFinding::NothingToLose
                | MetricFinding::TooFewRuns
                | MetricFinding::CannotBeToldYet,
                _,
            ) => word.to_owned(),
        }
    });
    let cost = suite.cost.as_ref().and_then(|cost| {
        let p = (cost.p_costlier, cost.p_cheaper);
        cost_verdict(cost.finding, p)
    });
    let parts: Vec<String> = [outcomes, cost].into_iter().flatten().collect();
    parts.join("; ")
}

/// What the test of all agents together could have found; nothing where it found something.
pub(super) fn suite_power(suite: &SuiteComparison) -> Option<String> {
    let found = suite.outcomes.as_ref()?;
    let (share, agents) = (found.share?, found.agents);
    match found.finding {
        MetricFinding::TooFewRuns => Some(format!(
            "all {agents}: p cannot be below {}, and {} is needed",
            significant(found.smallest_p),
            significant(share)
        )),
        MetricFinding::NoEvidence => Some(format!(
            "all {agents}: {}",
            noticeable_drop_text(found.noticeable_drop)
        )),
        _ => None,
    }
}

fn noticeable_drop_text(drop: Option<f64>) -> String {
    match drop {
        Some(drop) => format!("a mean drop of {drop:.1} points would have been noticed"),
        None => "no drop would have been noticed".to_owned(),
    }
}
