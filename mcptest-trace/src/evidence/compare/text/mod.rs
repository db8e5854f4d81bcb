//! A comparison as a table that people read.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::text::{COLUMNS, escape_line, pluralize, truncate_end, width, wrap};

mod changes;
mod format;
mod headline;
mod markdown;
mod names;
mod one_sided;
mod row;
mod short;

use crate::stats::stratified::LEAST_FOR_INTERVAL;

use super::rank::Rank;
use super::{AgentComparison, Comparison, Decision, Metric, MetricFinding, NoCost, SelectedRuns};
pub use names::AgentNames;
use short::ShortRow;

/// Which agents a text has rows of.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownAgents {
    /// Those of which something was found; the others are counted.
    WithFinding,
    /// All.
    All,
}

/// So many agents of a kind are listed where not all are asked for.
const LISTED: usize = 4;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The agent, how often it passed, its cost, its behaviour, the verdict.
    pub cells: [String; 5],
    /// What only one side does, in words.
    pub described: Option<String>,
}

impl Row {
    const fn plain(cells: [String; 5]) -> Self {
        Self {
            cells,
            described: None,
        }
    }
}

impl Comparison {
    /// All that people read of a command, but for what the sides are: the [headline](Self::headline) first,
    /// the exit status last.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{CompareOptions, ShownAgents, compare};
    ///
    /// let nothing = compare(&[], &CompareOptions::default());
    /// assert_eq!(
    ///     nothing.text(ShownAgents::All),
    ///     "Nothing could be compared.\n\n\
    ///      cannot tell: no agent has comparable runs on both sides. Exit status 3.\n"
    /// );
    /// ```
    #[must_use]
    pub fn text(&self, agents: ShownAgents) -> String {
        let head = wrap(&self.headline(), 0);
        format!("{head}\n\n{}", self.body(agents))
    }

    /// The text without the headline: the table, what stands below it, and the exit status.
    #[must_use]
    pub fn body(&self, agents: ShownAgents) -> String {
        let summary = wrap(&self.summary(), 0);
        let (status, taken) = (self.status_line(), summary.lines().last().map_or(0, width));
        let gap = if taken + 1 + width(&status) <= COLUMNS {
            ' '
        } else {
            '\n'
        };
        format!("{}{summary}{gap}{status}\n", self.table(agents))
    }

    fn status_line(&self) -> String {
        let of = if self.left_out > 0 {
            " of all suites together"
        } else {
            ""
        };
        format!("Exit status {}{of}.", self.exit_status())
    }

    /// All agents without the exit status, for what is no command: without a line break at the end.
    #[must_use]
    pub fn render_agents(&self) -> String {
        self.table(ShownAgents::All) + &wrap(&self.summary(), 0)
    }

    /// The table with what stands below it, each line with its end.
    fn table(&self, shown: ShownAgents) -> String {
        let names = AgentNames::from_comparison(self);
        let changes = changes::lines(self, shown, &names).into_iter();
        let mut lines: Vec<String> = changes.map(|line| wrap(&line, 2)).collect();
        let agents = self.ranked();
        if !lines.is_empty() && !agents.is_empty() {
            lines.push(String::new());
        }
        let folded = self.folded_line(shown);
        let is_shown = |agent: &&&AgentComparison| {
            folded.is_none() || agent.rank(&self.options) != Rank::Quiet
        };
        let listed: Vec<&AgentComparison> = agents.iter().filter(is_shown).copied().collect();
        if !agents.is_empty() {
            lines.extend(self.rule_line().map(|rule| wrap(&rule, 2) + "\n"));
            let mut rows = vec![ShortRow::head(self)];
            rows.extend(
                listed
                    .iter()
                    .map(|agent| ShortRow::from_agent(agent, self, &names)),
            );
            rows.push(ShortRow::for_suite(self));
            lines.extend(short::lines(&rows));
        }
        for agent in &listed {
            let name = names.quoted(&agent.agent);
            lines.extend(gap_lines(agent).map(|gap| wrap(&format!("{name}: {gap}"), 2)));
            let described = one_sided::line(agent).map(|line| format!("{name}: {line}"));
            lines.extend(match shown {
                ShownAgents::All => described.map(|line| wrap(&line, 2)),
                // What a few runs do otherwise says nothing.
                ShownAgents::WithFinding if agent.has_fallen() => None,
                ShownAgents::WithFinding => described.map(|line| truncate_end(&line, COLUMNS)),
            });
        }
        lines.extend(folded);
        let facts = self.fact_lines(shown, &names).into_iter();
        lines.extend(facts.map(|fact| wrap(&fact, 2)));
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The agents, those that ask most to be looked at first: what fails, then what else was found.
    #[must_use]
    pub fn ranked(&self) -> Vec<&AgentComparison> {
        let mut agents: Vec<&AgentComparison> = self.agents.iter().collect();
        agents.sort_by_key(|agent| agent.rank(&self.options));
        agents
    }

    /// The agents of which nothing was found, in a line; nothing where they have rows: where all are asked for,
    /// and where it is only one.
    fn folded_line(&self, shown: ShownAgents) -> Option<String> {
        if shown == ShownAgents::All {
            return None;
        }
        let quiet = self.unremarkable_counts();
        let count: usize = quiet.iter().map(|(_, count)| count).sum();
        let kinds: Vec<String> = quiet
            .iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        (count > 1).then(|| {
            format!(
                "{} without a finding (`--all` shows them): {}",
                pluralize(count, "agent"),
                kinds.join(", ")
            )
        })
    }

    /// Why nothing was found of agents, and of how many.
    fn unremarkable_counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for agent in &self.agents {
            if agent.rank(&self.options) != Rank::Quiet {
                continue;
            }
            let word = agent
                .finding(Metric::Outcomes)
                .map_or("no difference", MetricFinding::as_str);
            match counts.iter_mut().find(|(known, _)| *known == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
        counts
    }

    /// The table: its head, a row an agent in the order of [`ranked`](Self::ranked), and one of all of
    /// them; nothing where no agent is compared.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        if self.agents.is_empty() {
            return Vec::new();
        }
        let names = AgentNames::from_comparison(self);
        let mut rows = vec![Row::plain(ShortRow::head(self).cells())];
        rows.extend(self.ranked().into_iter().map(|agent| {
            let described: Vec<String> = gap_lines(agent).chain(one_sided::line(agent)).collect();
            Row {
                cells: ShortRow::from_agent(agent, self, &names).cells(),
                described: (!described.is_empty()).then(|| described.join("; ")),
            }
        }));
        rows.push(Row::plain(ShortRow::for_suite(self).cells()));
        rows
    }

    /// What stands below the table, a line each: whose runs were not compared and why, and what it all
    /// comes to, last.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let names = AgentNames::from_comparison(self);
        let mut notes = changes::lines(self, ShownAgents::All, &names);
        notes.extend(self.fact_lines(ShownAgents::All, &names));
        notes.push(format!("{} {}", self.summary(), self.status_line()));
        notes
    }

    /// Whose runs were not compared and why, and what numbers are less than they seem.
    fn fact_lines(&self, shown: ShownAgents, names: &AgentNames) -> Vec<String> {
        let mut notes: Vec<String> = row::suite_power(&self.suite).into_iter().collect();
        let outcomes = self.suite.outcomes.as_ref().map(|found| found.agents);
        let cost = self.suite.cost.as_ref().map(|found| found.agents);
        if outcomes.max(cost) == Some(LEAST_FOR_INTERVAL - 1) {
            let few = LEAST_FOR_INTERVAL - 1;
            notes.push(format!(
                "no 95% interval over agents: {few} agents are too few, {LEAST_FOR_INTERVAL} are needed"
            ));
        }
        let intervals = self.agents.iter().filter_map(without_interval);
        let mut intervals: Vec<(usize, usize)> = intervals.collect();
        intervals.sort_unstable();
        intervals.dedup();
        for (before, now) in intervals {
            let now = pluralize(now, "run");
            notes.push(format!("no 95% interval from {before} and {now}"));
        }
        let inexact = self.suite.outcomes.is_some_and(|found| !found.exact)
            || self.suite.cost.is_some_and(|found| !found.exact)
            || self
                .agents
                .iter()
                .any(|agent| agent.cost.is_some_and(|cost| !cost.exact));
        if inexact {
            notes.push(
                "some p values are normal approximations: there are too many runs for exact values"
                    .to_owned(),
            );
        }
        let mut without_cost: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for agent in &self.agents {
            let other = agent.other_machines.as_ref();
            let other = other.map(|machines| format!("they were {machines}"));
            let reasons = agent.no_cost.map(NoCost::reason).into_iter().chain(other);
            for reason in reasons {
                let agents = without_cost.entry(reason).or_default();
                agents.push(agent.agent.clone());
            }
        }
        let listed = |what: &str, agents: &[String]| list_agents(what, agents, shown, names);
        for (reason, agents) in &without_cost {
            let what = format!(
                "{} not compared, because {reason}",
                self.options.cost.noun_with_verb()
            );
            notes.extend(listed(&what, agents));
        }
        let no_recording = "there is no recording of it now";
        let mut gone: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for agent in &self.gone {
            let because = self.gone_because.get(agent).map_or(no_recording, |why| why);
            gone.entry(because).or_default().push(agent.clone());
        }
        notes.extend(listed("unchanged", &self.unchanged));
        notes.extend(listed("new, not compared", &self.new));
        for (because, agents) in &gone {
            notes.extend(listed(&format!("gone, because {because}"), agents));
        }
        for (what, agents) in [
            ("gone, because no suite asks for it any more", &self.dropped),
            ("without a recording on either side", &self.unrecorded),
        ] {
            notes.extend(listed(what, agents));
        }
        for SelectedRuns {
            agent,
            lost,
            met_change,
        } in &self.chosen
        {
            let agent = names.quoted(agent);
            let lost = lost.map(|lost| {
                format!("{agent}: {lost} recordings of the baseline are gone; the runs that are left are no random sample")
            });
            // Who recorded some runs anew knows why those of the baseline are gone.
            let told = met_change.map(|met| {
                format!(
                    "{agent}: {met} runs were recorded anew because they met a change, and the others were kept; such runs are no random sample: \
                     record all of them again"
                )
            });
            notes.extend(told.or(lost));
        }
        let most = match shown {
            ShownAgents::All => usize::MAX,
            ShownAgents::WithFinding => LISTED,
        };
        for agent in self.not_comparable.iter().take(most) {
            notes.push(format!("not comparable: {}", names.quoted(&agent.agent)));
            let lines = agent.differences.iter();
            notes.extend(lines.map(|line| format!("  {}", escape_line(line))));
        }
        let others = self.not_comparable.iter().skip(most);
        let others: Vec<String> = others.map(|agent| agent.agent.clone()).collect();
        notes.extend(listed("also not comparable", &others));
        notes
    }

    /// Whether anything on the two sides differs, by chance or not; costs always do.
    fn differs(&self) -> bool {
        self.agents.iter().any(|agent| {
            let outcomes = agent.outcomes.as_ref();
            let behaviour = agent.behaviour.as_ref();
            outcomes.is_some_and(|found| found.drop().abs() > 1e-9)
                || behaviour.is_some_and(|found| found.tools.energy.abs() > 1e-9)
                || one_sided::line(agent).is_some()
        })
    }

    /// What it all comes to, in a sentence.
    fn summary(&self) -> String {
        if let Decision::CannotTell { reason, allowed } = &self.decision {
            let let_pass = if *allowed {
                " (allowed by `inconclusive: pass`)"
            } else {
                ""
            };
            return format!("cannot tell: {reason}{let_pass}.");
        }
        if self.decision == Decision::OnlyNew {
            return "the baseline has none of these agents: nothing could have got worse."
                .to_owned();
        }
        if self.decision == Decision::Unchanged {
            return "all unchanged: everything that can be compared is the same on both sides."
                .to_owned();
        }
        let found = self
            .findings(&AgentNames::from_comparison(self))
            .into_iter();
        let found: Vec<String> = found.filter_map(|found| found.short).collect();
        let mut said = match (found.is_empty(), self.differs()) {
            (false, _) => found.join(", "),
            (true, _) if self.agents.is_empty() => "nothing was compared".to_owned(),
            (true, true) => "no difference beyond chance was found".to_owned(),
            (true, false) => "no difference was found".to_owned(),
        };
        if self.fails_elsewhere() {
            said.push_str("; the failures are in other suites");
        }
        if self.decision == Decision::NotShown {
            said.push_str("; the comparison does not show that the agents are no worse");
        }
        said + "."
    }
}

/// Agents by their stems, after what they have in common; nothing where there is none.
fn list_agents(
    what: &str,
    agents: &[String],
    shown: ShownAgents,
    names: &AgentNames,
) -> Option<String> {
    let most = match shown {
        ShownAgents::All => agents.len(),
        ShownAgents::WithFinding => LISTED,
    };
    let first = agents.iter().take(most);
    let mut listed: Vec<String> = first.map(|agent| names.quoted(agent)).collect();
    if agents.len() > most {
        listed.push(format!("{} more", agents.len() - most));
    }
    (!listed.is_empty()).then(|| format!("{what}: {}", listed.join(", ")))
}

/// Which runs of an agent outcomes leave out, and of which the gates say it, a line each.
fn gap_lines(agent: &AgentComparison) -> impl Iterator<Item = String> {
    let left_out = agent.unjudged.map(|[before, now]| {
        let before = before.describe();
        format!("left out, because nothing was judged: {before} before, {now} now")
    });
    let by_gates = agent.outcomes.is_some() || agent.unjudged.is_some();
    let without_outcome = agent.without_outcome.map(|[before, now]| {
        let then = if by_gates {
            "so the gates decide for all runs of the agent whether they passed"
        } else {
            "so its outcomes are not compared"
        };
        let before = before.describe();
        format!("{before} before and {now} now have no recorded outcome, {then}")
    });
    without_outcome.into_iter().chain(left_out)
}

fn without_interval(agent: &AgentComparison) -> Option<(usize, usize)> {
    let outcomes = agent.outcomes.as_ref()?;
    let shift = agent.cost.as_ref()?.shift?;
    let runs = (outcomes.baseline.runs, outcomes.candidate.runs);
    shift.interval.is_none().then_some(runs)
}
