//! What a comparison comes to: never a silent pass.

use serde::Serialize;

use super::{AgentComparison, Comparison, EmptyBaseline, Metric, MetricFinding};
use crate::stats::stratified::LEAST_FOR_INTERVAL;
use crate::text::pluralize;

/// What a comparison comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
#[non_exhaustive]
pub enum Decision {
    /// No agent has new recordings.
    Unchanged,
    /// The baseline has no agent of the candidate: there is nothing that could have got worse.
    OnlyNew,
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
            Self::Unchanged
            | Self::OnlyNew
            | Self::Holds
            | Self::CannotTell { allowed: true, .. } => 0,
            Self::Regressed | Self::NotShown => 1,
            Self::CannotTell { allowed: false, .. } => 3,
        }
    }
}

/// Decides on a comparison whose agents and suite are filled in. Where of some agents only a choice of the
/// baseline's runs is left, it finds, and shows nothing else.
pub(super) fn decide(comparison: &Comparison) -> Decision {
    let decision = decide_samples(comparison);
    match (comparison.chosen.len(), &decision) {
        (0, _) | (_, Decision::Regressed | Decision::NotShown) => decision,
        (_, Decision::Holds) if comparison.options.require_not_worse => Decision::NotShown,
        (agents, _) => {
            let reason = match agents - comparison.count_rerecorded() {
                0 => format!(
                    "of {} only the runs that met a change were recorded anew, and such runs are no random sample; record all runs again",
                    pluralize(agents, "agent")
                ),
                lost => format!(
                    "recordings of {} are gone, and the baseline's runs that are left are no random sample; put the recordings back, or record all runs again",
                    pluralize(lost, "agent")
                ),
            };
            cannot_tell(reason, comparison)
        }
    }
}

/// Decides on a comparison in which the runs of each agent are a random sample.
fn decide_samples(comparison: &Comparison) -> Decision {
    let options = &comparison.options;
    if comparison.agents.is_empty() {
        let same = !comparison.unchanged.is_empty();
        return match gone_reason(comparison) {
            Some(_) if options.require_not_worse && comparison.chosen.is_empty() => {
                Decision::NotShown
            }
            Some(why) => cannot_tell(why, comparison),
            None if same => Decision::Unchanged,
            None if !comparison.new.is_empty()
                && options.empty_baseline == EmptyBaseline::Holds =>
            {
                Decision::OnlyNew
            }
            None => cannot_tell(
                "no agent has comparable runs on both sides".to_owned(),
                comparison,
            ),
        };
    }
    if options
        .fail_on
        .iter()
        .any(|metric| regressed(comparison, *metric))
    {
        return Decision::Regressed;
    }
    // Runs that could not be worse show nothing, however alike they are.
    let unknown = gone_reason(comparison).or_else(|| lost_reason(comparison));
    let unknown = unknown.or_else(|| blind_reason(comparison));
    if options.require_not_worse {
        return decide_not_worse(comparison, unknown.is_none());
    }
    match fallen_reason(comparison).or(unknown) {
        Some(reason) => cannot_tell(reason, comparison),
        None => Decision::Holds,
    }
}

/// Whether the suite is shown to be no worse: by the lower end of its interval, where nothing is unknown.
fn decide_not_worse(comparison: &Comparison, all_known: bool) -> Decision {
    let options = &comparison.options;
    let outcomes = comparison.suite.outcomes.as_ref();
    let interval = outcomes.and_then(|outcomes| outcomes.interval);
    let few = outcomes.is_some_and(|found| found.agents < LEAST_FOR_INTERVAL);
    if few && all_known && fallen_reason(comparison).is_none() {
        let reason = format!(
            "`require: not_worse` needs an interval over agents, and {} {} too few for one: it needs {LEAST_FOR_INTERVAL} or more",
            pluralize(outcomes.map_or(0, |found| found.agents), "compared agent"),
            if outcomes.is_some_and(|found| found.agents == 1) {
                "is"
            } else {
                "are"
            }
        );
        // Whoever asks for a proof is not served by a comparison that has none.
        return Decision::CannotTell {
            reason,
            allowed: false,
        };
    }
    let is_shown = interval.is_some_and(|(low, _)| low > -options.suite_margin);
    if is_shown && all_known {
        Decision::Holds
    } else {
        Decision::NotShown
    }
}

/// That fewer runs of agents passed than before, in too few runs: each drop would be a finding if its agent were the
/// only one.
fn fallen_reason(comparison: &Comparison) -> Option<String> {
    if !comparison.options.fail_on.contains(&Metric::Outcomes) {
        return None;
    }
    let mut agents = comparison.undecided();
    agents.retain(|agent| agent.fell);
    let subject = match agents.len() {
        0 => return None,
        1 => "1 agent passes".to_owned(),
        more => format!("{} pass", pluralize(more, "agent")),
    };
    let more = super::rank::more_runs_text(&agents)?;
    Some(format!(
        "{subject} less often than before, and the runs are too few to say whether this is chance: {more} would decide"
    ))
}

/// That agents have no runs any more, or none of which anything is judged, or were asked something else before:
/// that is no proof that they did not get worse.
fn gone_reason(comparison: &Comparison) -> Option<String> {
    let agents = comparison.agents.iter();
    let unjudged = agents.filter(|agent| agent.is_no_longer_judged()).count();
    let counts = [
        (comparison.gone.len(), " no runs now"),
        (unjudged, " no run that is judged any more"),
    ];
    let dropped = match comparison.dropped.len() {
        _ if comparison.options.allow_gone => 0,
        dropped => dropped,
    };
    let have = counts.into_iter().find_map(|(count, what)| {
        let (has, they) = agents_with_verb(count)?;
        Some((format!("{has}{what}"), they))
    });
    if have.is_none() && dropped > 0 {
        let is = if dropped == 1 { "is" } else { "are" };
        return Some(format!(
            "{} of the baseline {is} gone: no suite asks for {}",
            pluralize(dropped, "agent"),
            if dropped == 1 { "it" } else { "them" }
        ));
    }
    let (what, they) = have.or_else(|| match comparison.not_comparable.len() {
        0 => None,
        1 => Some(("1 agent cannot be compared".to_owned(), "it")),
        more => Some((
            format!("{} cannot be compared", pluralize(more, "agent")),
            "they",
        )),
    })?;
    Some(format!("{what}, so {they} may have got worse"))
}

/// That of a metric which may fail, agents have less evidence than in the baseline: what is not there
/// shows nothing.
fn lost_reason(comparison: &Comparison) -> Option<String> {
    let options = &comparison.options;
    let agents = |metric: Metric, has_lost: fn(&AgentComparison) -> bool| {
        let may_fail = options.fail_on.contains(&metric);
        let agents = comparison.agents.iter().filter(|agent| has_lost(agent));
        agents_with_verb(if may_fail { agents.count() } else { 0 })
    };
    let outcomes = agents(Metric::Outcomes, AgentComparison::has_lost_outcomes);
    let outcomes = outcomes.map(|(has, they)| {
        format!(
            "{has} fewer recorded outcomes than in the baseline, so {they} may have got worse; record the outcomes, or let the gates judge both sides (`compare --outcome gates`)"
        )
    });
    outcomes.or_else(|| {
        let (has, they) = agents(Metric::Cost, AgentComparison::has_lost_costs)?;
        Some(format!(
            "{has} fewer runs with recorded {} than in the baseline, so {they} may have become costlier; record the cost, or remove it from `fail_on`",
            options.cost.noun()
        ))
    })
}

/// So many agents as a subject with its verb, and the pronoun for them; nothing of none.
fn agents_with_verb(count: usize) -> Option<(String, &'static str)> {
    let (has, they) = match count {
        0 => return None,
        1 => ("has", "it"),
        _ => ("have", "they"),
    };
    Some((format!("{} {has}", pluralize(count, "agent")), they))
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
fn blind_reason(comparison: &Comparison) -> Option<String> {
    let fail_on = &comparison.options.fail_on;
    if !fail_on.contains(&Metric::Outcomes) {
        let could_tell = fail_on.iter().any(|metric| match metric {
            Metric::Outcomes => false,
            Metric::Cost => cost_could_tell(comparison),
            Metric::Behaviour => behaviour_could_tell(comparison),
        });
        let reason = "no metric of `fail_on` could be significant: too few runs, or the values are not recorded";
        return (!could_tell).then(|| reason.to_owned());
    }
    let Some(suite) = &comparison.suite.outcomes else {
        let mut agents = comparison.agents.iter();
        let why = if agents.any(|agent| agent.unjudged.is_some()) {
            "in too many runs nothing was judged"
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
            format!("; about {needed} on each side would show a fall to no passed run")
        });
        return Some(format!(
            "{passed} of {} of the baseline passed, too few for a loss to show{about}",
            pluralize(runs, "run")
        ));
    }
    let most = outcomes.clone().map(super::OutcomesCompared::fewer_runs);
    let most = most.max().unwrap_or(0);
    let needed = outcomes.map(super::OutcomesCompared::runs_for_all).min();
    let needed = needed.unwrap_or(0);
    let are = if most == 1 { "is" } else { "are" };
    let runs = pluralize(most, "run");
    Some(format!(
        "{runs} {are} too few: you need {needed} on each side to show a fall to no passed run, and more to show a smaller loss"
    ))
}
