//! What a comparison comes to: never a silent pass.

use serde::Serialize;

use super::{Comparison, Metric, MetricFinding};
use crate::text::counted;

/// What a comparison comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
#[non_exhaustive]
pub enum Decision {
    /// No agent has new recordings.
    Unchanged,
    /// Nothing that fails was found, and it could have been, or something improved.
    Holds,
    /// Something that fails was found.
    Regressed,
    /// It had to be shown that the suite is no worse, and it was not.
    NotShown,
    /// Nothing could have been found.
    CannotTell {
        /// Why, and what would do.
        reason: String,
        /// Whether the options let that pass.
        allowed: bool,
    },
}

impl Decision {
    /// The exit status: 0 holds, 1 a finding, 3 cannot tell.
    #[must_use]
    pub const fn exit_status(&self) -> u8 {
        match self {
            Self::Unchanged | Self::Holds | Self::CannotTell { allowed: true, .. } => 0,
            Self::Regressed | Self::NotShown => 1,
            Self::CannotTell { allowed: false, .. } => 3,
        }
    }
}

/// Decides on a comparison whose agents and suite are filled in. Where of some agents only a choice of the
/// baseline's runs is left, it finds, and shows nothing else.
pub(super) fn decide(comparison: &Comparison) -> Decision {
    let decision = of_samples(comparison);
    match (comparison.chosen.len(), &decision) {
        (0, _) | (_, Decision::Regressed | Decision::NotShown) => decision,
        (_, Decision::Holds) if comparison.options.require_not_worse => Decision::NotShown,
        (agents, _) => {
            let reason = format!(
                "of {} only a choice of the baseline's runs is left, which is no sample; put the others back, or record all anew",
                counted(agents, "agent")
            );
            cannot_tell(reason, comparison)
        }
    }
}

/// The same, where the runs of each agent are a sample.
fn of_samples(comparison: &Comparison) -> Decision {
    let options = &comparison.options;
    if comparison.agents.is_empty() {
        if !comparison.unchanged.is_empty() && comparison.gone.is_empty() {
            return Decision::Unchanged;
        }
        let nothing = || "no agent has comparable runs on both sides".to_owned();
        return cannot_tell(gone(comparison).unwrap_or_else(nothing), comparison);
    }
    if options
        .fail_on
        .iter()
        .any(|metric| regressed(comparison, *metric))
    {
        return Decision::Regressed;
    }
    if options.require_not_worse {
        let outcomes = comparison.suite.outcomes.as_ref();
        let low = outcomes.and_then(|outcomes| Some(outcomes.interval?.0));
        let is_shown = low.is_some_and(|low| low > -options.suite_margin);
        return if is_shown && gone(comparison).is_none() {
            Decision::Holds
        } else {
            Decision::NotShown
        };
    }
    match gone(comparison).or_else(|| blind(comparison)) {
        Some(reason) => cannot_tell(reason, comparison),
        None => Decision::Holds,
    }
}

/// That agents have no runs any more, or none of which anything is judged, where some have none: that is
/// no proof that they did not get worse.
fn gone(comparison: &Comparison) -> Option<String> {
    let agents = comparison.agents.iter();
    let unjudged = agents.filter(|agent| agent.is_no_longer_judged()).count();
    let (count, what) = match comparison.gone.len() {
        0 => (unjudged, "run that is judged"),
        gone => (gone, "runs"),
    };
    let (has, they) = match count {
        0 => return None,
        1 => ("1 agent has".to_owned(), "it"),
        more => (format!("{more} agents have"), "they"),
    };
    Some(format!(
        "{has} no {what} any more, so nothing shows that {they} did not get worse"
    ))
}

fn cannot_tell(reason: String, comparison: &Comparison) -> Decision {
    Decision::CannotTell {
        reason,
        allowed: comparison.options.inconclusive_passes,
    }
}

fn regressed(comparison: &Comparison, metric: Metric) -> bool {
    let agents = comparison.agents.iter().map(|agent| agent.finding(metric));
    let mut all = agents.chain([comparison.suite.finding(metric)]);
    all.any(|finding| finding == Some(MetricFinding::Regressed))
}

/// Whether a test could have been significant, by the smallest p that it can reach and its share of α.
fn could_tell(smallest: f64, share: Option<f64>) -> bool {
    share.is_some_and(|share| smallest <= share)
}

/// Whether the cost could have been a finding.
fn cost_could_tell(comparison: &Comparison) -> bool {
    let mut agents = comparison.agents.iter().filter_map(|agent| agent.cost);
    let suite = comparison.suite.cost;
    suite.is_some_and(|found| could_tell(found.smallest_p, found.share))
        || agents.any(|found| could_tell(found.smallest_p, Some(found.share)))
}

/// Whether behaviour could have been a finding.
fn behaviour_could_tell(comparison: &Comparison) -> bool {
    let agents = comparison.agents.iter();
    let mut agents = agents.filter_map(|agent| agent.behaviour.as_ref());
    let suite = comparison.suite.behaviour;
    suite.is_some_and(|found| could_tell(found.tools.smallest_p, found.share))
        || agents.any(|found| could_tell(found.tools.smallest_p, found.share))
}

/// Why no result could have been a finding; `None` when one could. Where outcomes may fail they
/// decide: a suite that sees costs alone says nothing of what people ask first.
fn blind(comparison: &Comparison) -> Option<String> {
    let fail_on = &comparison.options.fail_on;
    if !fail_on.contains(&Metric::Outcomes) {
        let could_tell = fail_on.iter().any(|metric| match metric {
            Metric::Outcomes => false,
            Metric::Cost => cost_could_tell(comparison),
            Metric::Behaviour => behaviour_could_tell(comparison),
        });
        let reason =
            "nothing that may fail could have been significant: too few runs, or not recorded";
        return (!could_tell).then(|| reason.to_owned());
    }
    let Some(suite) = &comparison.suite.outcomes else {
        let mut agents = comparison.agents.iter();
        let why = if agents.any(|agent| agent.unjudged.is_some()) {
            "of too many runs nothing was judged"
        } else {
            "record them, or judge by the gates"
        };
        return Some(format!(
            "no agent's outcomes are known on both sides; {why}"
        ));
    };
    let by_suite = could_tell(suite.smallest_p, suite.share);
    let outcomes = comparison
        .agents
        .iter()
        .filter_map(|agent| agent.outcomes.as_ref());
    let improved = suite.finding == MetricFinding::Improved;
    if improved || by_suite || outcomes.clone().any(super::OutcomesCompared::could_tell) {
        return None;
    }
    if suite.finding == MetricFinding::NothingToLose {
        return Some("no run of the baseline passed: there is nothing to lose".to_owned());
    }
    if !outcomes.clone().all(super::OutcomesCompared::has_few_runs) {
        let sides = outcomes.map(|found| (found.baseline.passed, found.baseline.runs));
        let (passed, runs) = sides.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let needed = comparison.undecided().into_iter().map(|agent| agent.needed);
        let about = needed.min().map_or_else(String::new, |needed| {
            format!("; about {needed} on each side show a fall to none")
        });
        return Some(format!(
            "{passed} of {runs} runs of the baseline passed, too few for a loss to show{about}"
        ));
    }
    let most = outcomes.clone().map(super::OutcomesCompared::runs);
    let most = most.max().unwrap_or(0);
    let needed = outcomes.map(super::OutcomesCompared::runs_for_all).min();
    let needed = needed.unwrap_or(0);
    let are = if most == 1 { "is" } else { "are" };
    let runs = counted(most, "run");
    Some(format!(
        "{runs} {are} too few, you need {needed} on each side for a fall to none to show, and more for less"
    ))
}
