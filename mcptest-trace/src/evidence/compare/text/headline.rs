//! What a comparison comes to in one sentence, in words that ask for no knowledge of tests.

use super::names::Names;
use crate::evidence::compare::{
    AgentComparison, Comparison, CostKind, Metric, MetricFinding, OutcomesCompared, Undecided,
};
use crate::text::counted;

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
        let on_both = self.agents.len() + self.unchanged.len();
        let parts: Vec<String> = if self.agents.is_empty() {
            let same = match self.unchanged.len() {
                0 => "nothing could be compared".to_owned(),
                1 => "nothing changed: the recordings of 1 agent are the same on both sides".into(),
                more => format!(
                    "nothing changed: the recordings of {more} agents are the same on both sides"
                ),
            };
            std::iter::once(same).chain(self.one_sided()).collect()
        } else {
            let names = Names::of(self);
            let found = [
                Some(self.worse(&names, on_both)),
                self.together(),
                self.of_cost(&names, MetricFinding::Regressed),
                self.other(&names),
                self.better(&names),
                self.of_cost(&names, MetricFinding::Improved),
                self.not_told(),
                self.never_passed(),
                self.unknown(),
            ];
            found
                .into_iter()
                .flatten()
                .chain(self.one_sided())
                .collect()
        };
        let sentence = parts.join(", ") + ".";
        let mut signs = sentence.chars();
        let first = signs.next().map(|sign| sign.to_ascii_uppercase());
        first.into_iter().chain(signs).collect()
    }

    fn worse(&self, names: &Names, of: usize) -> String {
        let worse = self.whose(|agent| is(agent, Metric::Outcomes, MetricFinding::Regressed));
        let all = counted(of, "agent");
        match worse.len() {
            0 if of == 1 => "the agent that is compared is not shown to be worse".to_owned(),
            0 => format!("none of {all} is shown to be worse"),
            count => format!(
                "{count} of {all} got worse ({})",
                named(names, &worse, passes)
            ),
        }
    }

    /// What the tests of all agents together find.
    fn together(&self) -> Option<String> {
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
            let (agents, [_, many, what]) = (found.agents, words(self.options.cost));
            Some(format!(
                "all {agents} agents together {many} {by}% more{what}"
            ))
        });
        let both: Vec<String> = [outcomes, cost].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(", "))
    }

    fn of_cost(&self, names: &Names, finding: MetricFinding) -> Option<String> {
        let agents = self.whose(|agent| is(agent, Metric::Cost, finding));
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
        let [one, many, what] = words(self.options.cost);
        let verb = if agents.len() == 1 { one } else { many };
        let whose = named(names, &agents, |_| None);
        (!agents.is_empty()).then(|| format!("{} {verb} {by}{more}{what} ({whose})", agents.len()))
    }

    fn other(&self, names: &Names) -> Option<String> {
        let others = self.whose(|agent| {
            let listed = agent.behaviour.as_ref().is_some_and(|found| found.other);
            listed || is(agent, Metric::Behaviour, MetricFinding::Regressed)
        });
        let calls = if others.len() == 1 { "calls" } else { "call" };
        let whose = named(names, &others, |_| None);
        (!others.is_empty()).then(|| format!("{} {calls} other tools ({whose})", others.len()))
    }

    fn better(&self, names: &Names) -> Option<String> {
        let better = self.whose(|agent| is(agent, Metric::Outcomes, MetricFinding::Improved));
        let whose = named(names, &better, passes);
        (!better.is_empty()).then(|| format!("{} got better ({whose})", better.len()))
    }

    /// That the runs are too few, and how many more would do.
    fn not_told(&self) -> Option<String> {
        let undecided = self.undecided();
        let most = undecided.iter().map(Undecided::most);
        let (low, high) = (most.clone().min()?, most.max()?);
        let about = if undecided.iter().all(|agent| agent.certain) {
            ""
        } else {
            "about "
        };
        let runs = match (low, high) {
            (1, 1) => "1 more run".to_owned(),
            (low, high) if low == high => format!("{low} more runs"),
            (low, high) => format!("{low} to {high} more runs"),
        };
        let (count, each) = match undecided.len() {
            1 => (1, ""),
            many => (many, " each"),
        };
        Some(format!(
            "{count} cannot be told yet: {about}{runs}{each} would decide"
        ))
    }

    fn never_passed(&self) -> Option<String> {
        let lost = self.whose(|agent| is(agent, Metric::Outcomes, MetricFinding::NothingToLose));
        let count = lost.len();
        (count > 0).then(|| format!("{count} had nothing to lose: no run of the baseline passed"))
    }

    fn unknown(&self) -> Option<String> {
        let unknown = self.whose(|agent| agent.outcomes.is_none());
        let of = if unknown.len() == 1 { "has" } else { "have" };
        (!unknown.is_empty()).then(|| {
            format!(
                "{} {of} runs that nobody knows to have passed",
                unknown.len()
            )
        })
    }

    /// Agents that were not compared.
    fn one_sided(&self) -> Vec<String> {
        let kinds = [
            (self.new.len(), "new"),
            (self.gone.len(), "without runs now"),
            (self.dropped.len(), "no longer asked for"),
            (self.not_comparable.len(), "not comparable"),
            (
                self.chosen.len(),
                "left with a choice of the baseline's runs",
            ),
        ];
        let some = kinds.into_iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| {
            format!("{count} {} {what}", if count == 1 { "is" } else { "are" })
        })
        .collect()
    }

    fn whose(&self, wanted: impl Fn(&AgentComparison) -> bool) -> Vec<&AgentComparison> {
        self.agents.iter().filter(|agent| wanted(agent)).collect()
    }
}

fn is(agent: &AgentComparison, metric: Metric, finding: MetricFinding) -> bool {
    agent.finding(metric) == Some(finding)
}

/// How one and how several agents have a cost, and what there is more of.
const fn words(cost: CostKind) -> [&'static str; 3] {
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
    crate::number::rounded_up(percent).unwrap_or(u64::MAX)
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

/// The first of some agents, each with what there is to say of it.
fn named(
    names: &Names,
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
