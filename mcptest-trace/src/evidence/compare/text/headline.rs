//! What a comparison comes to in one sentence, in words that ask for no knowledge of tests.

use std::collections::BTreeSet;

use super::names::AgentNames;
use crate::evidence::compare::decision::decide;
use crate::evidence::compare::rank::more_runs_text;
use crate::evidence::compare::{
    AgentComparison, Comparison, CostKind, Decision, Metric, MetricFinding, OutcomesCompared,
    RecordCommands,
};
use crate::text::pluralize;

/// So many agents are named behind a number of them.
const NAMED: usize = 3;

impl Comparison {
    /// What it comes to in one sentence, made for whoever decides on a merge: how many agents got worse,
    /// which cost more, of which nothing can be told yet and how many more runs would do.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{AgentSamples, CompareOptions, RunSample, Sides, compare};
    ///
    /// let runs = |passed: usize| (0..6).map(|run| RunSample::with_outcome(run < passed)).collect();
    /// let agent = AgentSamples::new("refund__gpt-5", Sides::Both { baseline: runs(6), candidate: runs(1) });
    /// let comparison = compare(&[agent], &CompareOptions::default());
    /// assert_eq!(comparison.headline(), "1 of 1 agent got worse (`refund`: 6 of 6 → 1 of 6).");
    /// ```
    #[must_use]
    pub fn headline(&self) -> String {
        let parts: Vec<String> = if self.agents.is_empty() {
            let same = match self.unchanged.len() {
                0 if self.has_only_new() => "there is nothing to compare with yet".to_owned(),
                0 => "nothing could be compared".to_owned(),
                more if self.decision == Decision::Unchanged => {
                    format!("nothing changed: {}", same_recordings(more))
                }
                more => same_recordings(more),
            };
            let names = AgentNames::from_comparison(self);
            let mut parts = self.one_sided(&names);
            // What may have got worse is said first.
            let place = match self.decision {
                Decision::Unchanged | Decision::OnlyNew => 0,
                _ if self.unchanged.is_empty() => 0,
                _ => parts.len(),
            };
            parts.insert(place, same);
            parts
        } else {
            let names = AgentNames::from_comparison(self);
            let found = self.findings(&names).into_iter().map(|found| found.long);
            let besides = [
                self.fallen_agents(&names),
                self.too_few_runs(),
                self.never_passed(),
                self.unknown(),
                self.lost_outcomes(&names),
                self.lost_costs(&names),
                self.unproven_text(),
            ];
            let besides = besides.into_iter().flatten();
            found.chain(besides).chain(self.one_sided(&names)).collect()
        };
        let mut sentence = parts.join(", ");
        if self.fails_elsewhere() {
            sentence.push_str("; the failures are in other suites");
        } else if self.is_unknown_elsewhere() {
            sentence.push_str("; what cannot be told is of other suites");
        }
        let mut signs = sentence.chars();
        let first = signs.next().map(|sign| sign.to_ascii_uppercase());
        first.into_iter().chain(signs).chain(['.']).collect()
    }

    /// What tests found, for the first sentence and for the last one.
    pub(super) fn findings(&self, names: &AgentNames) -> Vec<FindingText> {
        let alike = |said: String| FindingText {
            short: Some(said.clone()),
            long: said,
        };
        let found = [
            Some(self.worse_finding(names)),
            self.suite_finding().map(alike),
            self.cost_finding(names, MetricFinding::Regressed),
            self.other_finding(names),
            self.better_finding(names),
            self.cost_finding(names, MetricFinding::Improved),
        ];
        found.into_iter().flatten().collect()
    }

    fn worse_finding(&self, names: &AgentNames) -> FindingText {
        let worse = self
            .agents_where(|agent| has_finding(agent, Metric::Outcomes, MetricFinding::Regressed));
        let of = self.agents.len() + self.unchanged.len();
        let all = pluralize(of, "agent");
        let not_told = self.needing_more_runs(names);
        if !worse.is_empty() {
            let count = worse.len();
            let besides =
                not_told.map(|(count, rest)| format!(", {count} cannot be told yet {rest}"));
            return FindingText {
                long: format!(
                    "{count} of {all} got worse ({}){}",
                    named_agents(names, &worse, passes),
                    besides.unwrap_or_default()
                ),
                short: Some(format!("{count} got worse")),
            };
        }
        if let Some((count, rest)) = not_told {
            return FindingText {
                long: format!("it cannot be told yet whether {count} of {all} got worse {rest}"),
                short: Some(format!("{count} cannot be told yet")),
            };
        }
        let cannot_tell = matches!(self.decision, Decision::CannotTell { allowed: false, .. });
        // Of a part, what nothing can be told of may be of other suites.
        let may_be_unclear = cannot_tell && self.left_out == 0;
        let unclear = self.agents_where(|agent| may_be_unclear && self.is_unclear(agent));
        let unclear = unclear.len();
        let long = match (of, unclear) {
            (1, 0) => "the compared agent is not shown to be worse".to_owned(),
            (_, 0) => format!("none of {all} is shown to be worse"),
            (1, _) => "it is not clear whether the agent got worse".to_owned(),
            (_, some) if some == of => format!("it is not clear whether {all} got worse"),
            (_, some) => format!("it is not clear whether {some} of {all} got worse"),
        };
        FindingText { long, short: None }
    }

    /// What the tests of all agents together find.
    fn suite_finding(&self) -> Option<String> {
        let outcomes = self.suite.outcomes.as_ref();
        let outcomes = outcomes.and_then(|found| {
            let what = match found.finding {
                MetricFinding::Regressed => "got worse",
                MetricFinding::Improved => "got better",
                _ => return None,
            };
            let (agents, by) = (found.agents, super::format::signed(found.difference));
            Some(format!("all {agents} agents together {what} ({by} points)"))
        });
        let cost = self.suite.cost.as_ref().and_then(|found| {
            let by = match found.finding {
                MetricFinding::Regressed => percent(found.ratio?),
                _ => return None,
            };
            let (agents, [_, many, what]) = (found.agents, cost_words(self.options.cost));
            Some(format!(
                "all {agents} agents together {many} {by}% more{what}"
            ))
        });
        let both: Vec<String> = [outcomes, cost].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    fn cost_finding(&self, names: &AgentNames, finding: MetricFinding) -> Option<FindingText> {
        let agents = self.agents_where(|agent| has_finding(agent, Metric::Cost, finding));
        let ratios = agents.iter().filter_map(|agent| agent.cost?.ratio);
        let percents: Vec<u64> = ratios.map(percent).collect();
        let by = match (percents.iter().min(), percents.iter().max()) {
            (Some(low), Some(high)) if low == high => format!("{low}% "),
            (Some(low), Some(high)) => format!("{low}% to {high}% "),
            _ => String::new(),
        };
        let more = if finding == MetricFinding::Regressed {
            "more"
        } else {
            "less"
        };
        let [one, many, what] = cost_words(self.options.cost);
        let verb = if agents.len() == 1 { one } else { many };
        let whose = named_agents(names, &agents, |_| None);
        let said = format!("{} {verb} {by}{more}{what}", agents.len());
        (!agents.is_empty()).then(|| FindingText::new(said, &whose))
    }

    fn other_finding(&self, names: &AgentNames) -> Option<FindingText> {
        let others = self.agents_where(|agent| {
            let listed = agent.behaviour.as_ref().is_some_and(|found| found.other);
            listed || has_finding(agent, Metric::Behaviour, MetricFinding::Regressed)
        });
        let calls = if others.len() == 1 { "calls" } else { "call" };
        let whose = named_agents(names, &others, |_| None);
        let said = format!("{} {calls} other tools", others.len());
        (!others.is_empty()).then(|| FindingText::new(said, &whose))
    }

    fn better_finding(&self, names: &AgentNames) -> Option<FindingText> {
        let better = self
            .agents_where(|agent| has_finding(agent, Metric::Outcomes, MetricFinding::Improved));
        let whose = named_agents(names, &better, passes);
        let said = format!("{} got better", better.len());
        (!better.is_empty()).then(|| FindingText::new(said, &whose))
    }

    /// Names the agents that passed before and pass in no run now, in too few runs to show it.
    fn fallen_agents(&self, names: &AgentNames) -> Option<String> {
        let fallen = self.agents_where(AgentComparison::has_fallen_to_none);
        let whose = named_agents(names, &fallen, self::passes);
        let passes = match fallen.len() {
            1 => "1 no longer passes".to_owned(),
            many => format!("{many} no longer pass"),
        };
        let undecided = fallen.iter().filter_map(|agent| agent.undecided());
        let more = more_runs_text(&undecided.collect::<Vec<_>>())?;
        Some(format!(
            "{passes} in any run, but the runs are too few to show a loss ({whose}): {more} would do"
        ))
    }

    /// How many agents pass less often than before in too few runs to say whether it is chance; which these are, and how
    /// many more runs decide.
    fn needing_more_runs(&self, names: &AgentNames) -> Option<(usize, String)> {
        let fell = self.agents_where(AgentComparison::needs_more_runs);
        let mut undecided = self.undecided();
        undecided.retain(|agent| agent.fell);
        let more = more_runs_text(&undecided)?;
        let whose = named_agents(names, &fell, passes);
        let commands = self.command_list(&fell);
        Some((
            fell.len(),
            format!("({whose}): {more} would decide{commands}"),
        ))
    }

    /// What records more runs of some agents, in brackets; nothing where that is not known.
    fn command_list(&self, agents: &[&AgentComparison]) -> String {
        let known = agents.iter();
        let known = known.filter_map(|agent| self.record_commands.get(&agent.agent));
        let known: Vec<&RecordCommands> = known.collect();
        let suites: BTreeSet<&String> = known.iter().map(|commands| &commands.suite).collect();
        let mut commands: Vec<String> = match &known[..] {
            [one] => vec![format!("`{}`", one.agent)],
            _ => suites
                .iter()
                .take(NAMED)
                .map(|suite| format!("`{suite}`"))
                .collect(),
        };
        if suites.len() > NAMED {
            commands.push(format!("{} more", suites.len() - NAMED));
        }
        if commands.is_empty() {
            return String::new();
        }
        format!(" ({})", commands.join(", "))
    }

    /// That the runs of others are too few to show even a fall to no pass, and how many more would do.
    fn too_few_runs(&self) -> Option<String> {
        // Who fell to no pass is named before, and counted there.
        let others = self.agents_where(|agent| !agent.has_fallen_to_none());
        let undecided = others.iter().filter_map(|agent| agent.undecided());
        let mut undecided: Vec<_> = undecided.collect();
        undecided.retain(|agent| !agent.fell);
        let more = more_runs_text(&undecided)?;
        let have = count_with_verb(undecided.len());
        Some(format!(
            "{have} too few runs to show a loss: {more} would do"
        ))
    }

    fn never_passed(&self) -> Option<String> {
        let lost = self.agents_where(|agent| {
            has_finding(agent, Metric::Outcomes, MetricFinding::NothingToLose)
        });
        let count = lost.len();
        (count > 0).then(|| format!("{count} had nothing to lose: no run of the baseline passed"))
    }

    fn unknown(&self) -> Option<String> {
        let unknown = self.agents_where(|agent| agent.outcomes.is_none());
        let has = count_with_verb(unknown.len());
        (!unknown.is_empty()).then(|| format!("{has} runs whose outcomes are not known"))
    }

    fn lost_outcomes(&self, names: &AgentNames) -> Option<String> {
        let lost = self.agents_where(AgentComparison::has_lost_outcomes);
        let (has, whose) = (
            count_with_verb(lost.len()),
            named_agents(names, &lost, |_| None),
        );
        (!lost.is_empty()).then(|| format!("{has} fewer recorded outcomes than before ({whose})"))
    }

    fn lost_costs(&self, names: &AgentNames) -> Option<String> {
        let lost = self.agents_where(AgentComparison::has_lost_costs);
        let (has, whose) = (
            count_with_verb(lost.len()),
            named_agents(names, &lost, |_| None),
        );
        let noun = self.options.cost.noun();
        (!lost.is_empty())
            .then(|| format!("{has} fewer runs with recorded {noun} than before ({whose})"))
    }

    /// Says that the comparison does not show what it was asked to show.
    fn unproven_text(&self) -> Option<String> {
        (self.decision == Decision::NotShown)
            .then(|| "the comparison does not show that the agents are no worse".to_owned())
    }

    /// Whether what fails is of agents that are left out here.
    pub(super) fn fails_elsewhere(&self) -> bool {
        let own = self
            .agents
            .iter()
            .any(|agent| agent.regressed(&self.options));
        let mut metrics = self.options.fail_on.iter();
        let together =
            metrics.any(|metric| self.suite.finding(*metric) == Some(MetricFinding::Regressed));
        self.left_out > 0 && self.decision == Decision::Regressed && !own && !together
    }

    /// Whether what nothing can be told of is of agents that are left out here.
    fn is_unknown_elsewhere(&self) -> bool {
        let unknown =
            |decision: &Decision| matches!(decision, Decision::CannotTell { allowed: false, .. });
        let is_empty = self.stems().next().is_none();
        self.left_out > 0 && unknown(&self.decision) && (is_empty || !unknown(&decide(self)))
    }

    /// Whether the baseline has none of its agents.
    fn has_only_new(&self) -> bool {
        let lists = [&self.unchanged, &self.gone, &self.dropped];
        // Who has no recording at all is no agent of the baseline either.
        let others = self.not_comparable.len() + lists.map(Vec::len).iter().sum::<usize>();
        let no_baseline =
            matches!(self.decision, Decision::CannotTell { .. }) && self.left_out == 0;
        !self.new.is_empty() && others == 0 && !no_baseline
    }

    /// Agents that were not compared, the first of those by their names that may have got worse.
    fn one_sided(&self, names: &AgentNames) -> Vec<String> {
        let gone: Vec<&String> = self.gone.iter().chain(&self.dropped).collect();
        let one_side = [
            (gone.len(), format!("gone{}", named_stems(names, &gone))),
            (self.new.len(), "new".to_owned()),
        ];
        let unrecorded: Vec<&String> = self.unrecorded.iter().collect();
        let one_side = one_side.into_iter().filter(|(count, _)| *count > 0);
        let one_side: Vec<String> = one_side
            .map(|(count, is)| format!("{count} {is}"))
            .collect();
        let mut parts = Vec::new();
        if !one_side.is_empty() {
            parts.push(format!("{}, not compared", one_side.join(", ")));
        }
        let others = self.not_comparable.iter().map(|agent| &agent.agent);
        let others: Vec<&String> = others.collect();
        let kinds = [
            (
                others.len(),
                format!("not comparable{}", named_stems(names, &others)),
            ),
            (
                self.chosen.len() - self.count_rerecorded(),
                "left with only some of the baseline's recordings".to_owned(),
            ),
            (
                self.count_rerecorded(),
                "recorded anew only in the runs that met a change".to_owned(),
            ),
        ];
        let some = kinds.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(some.map(|(count, what)| {
            format!("{count} {} {what}", if count == 1 { "is" } else { "are" })
        }));
        if !unrecorded.is_empty() {
            let has = count_with_verb(unrecorded.len());
            parts.push(format!(
                "{has} no recording on either side{}",
                named_stems(names, &unrecorded)
            ));
        }
        parts
    }

    fn agents_where(&self, wanted: impl Fn(&AgentComparison) -> bool) -> Vec<&AgentComparison> {
        self.agents.iter().filter(|agent| wanted(agent)).collect()
    }
}

/// What a test found, in words.
pub(super) struct FindingText {
    /// With whose it is, for the first sentence.
    long: String,
    /// For the last line; nothing where it is no finding.
    pub(super) short: Option<String>,
}

impl FindingText {
    fn new(said: String, whose: &str) -> Self {
        Self {
            long: format!("{said} ({whose})"),
            short: Some(said),
        }
    }
}

/// That so many agents have the same recordings.
fn same_recordings(agents: usize) -> String {
    let agents = pluralize(agents, "agent");
    format!("the recordings of {agents} are the same on both sides")
}

/// A number of agents with its verb: `1 has`, `3 have`.
fn count_with_verb(count: usize) -> String {
    format!("{count} {}", if count == 1 { "has" } else { "have" })
}

fn has_finding(agent: &AgentComparison, metric: Metric, finding: MetricFinding) -> bool {
    agent.finding(metric) == Some(finding)
}

/// How one and how several agents have a cost, and what there is more of.
const fn cost_words(cost: CostKind) -> [&'static str; 3] {
    match cost {
        CostKind::Tokens => ["costs", "cost", " tokens"],
        CostKind::Steps => ["makes", "make", " model calls"],
        CostKind::Calls => ["makes", "make", " tool calls"],
        CostKind::Ms => ["takes", "take", " time"],
        CostKind::Usd => ["costs", "cost", ""],
    }
}

/// By how many percent a ratio is another than 1.
fn percent(ratio: f64) -> u64 {
    let percent = (100.0 * (ratio - 1.0).abs()).round();
    crate::number::ceil_to_u64(percent).unwrap_or(u64::MAX)
}

/// How often an agent passed, before and now.
fn passes(agent: &AgentComparison) -> Option<String> {
    let OutcomesCompared {
        baseline: before,
        candidate: now,
        ..
    } = agent.outcomes?;
    Some(format!(
        "{} of {} → {} of {}",
        before.passed, before.runs, now.passed, now.runs
    ))
}

/// The first of some agents in brackets, by their stems; nothing where there is none.
fn named_stems(names: &AgentNames, stems: &[&String]) -> String {
    let first = stems.iter().take(NAMED).map(|stem| names.quoted(stem));
    let mut first: Vec<String> = first.collect();
    if stems.len() > NAMED {
        first.push(format!("{} more", stems.len() - NAMED));
    }
    if first.is_empty() {
        String::new()
    } else {
        format!(" ({})", first.join(", "))
    }
}

/// The first of some agents, each with what there is to say of it.
fn named_agents(
    names: &AgentNames,
    agents: &[&AgentComparison],
    say: impl Fn(&AgentComparison) -> Option<String>,
) -> String {
    let first = agents.iter().take(NAMED).map(|agent| {
        let name = names.quoted(&agent.agent);
        match say(agent) {
            Some(said) => format!("{name}: {said}"),
            None => name,
        }
    });
    let mut first: Vec<String> = first.collect();
    if agents.len() > NAMED {
        first.push(format!("{} more", agents.len() - NAMED));
    }
    first.join(", ")
}
