//! A comparison as a table that people read.

use serde::Serialize;

use crate::text::escape_line;

mod described;
mod format;
mod row;

use super::{AgentComparison, Chosen, Comparison, Decision, Metric, MetricFinding};

/// The least width of each column but the last, without the space after it.
const WIDTHS: [usize; 4] = [12, 13, 26, 13];

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
    /// The table and the last line that people read of a command.
    ///
    /// ```
    /// use mcptest_trace::evidence::compare::{CompareOptions, compare};
    ///
    /// let nothing = compare(&[], &CompareOptions::default());
    /// assert_eq!(nothing.shown(), "cannot tell: no agent has comparable runs on both sides.");
    /// assert_eq!(nothing.text(), format!("{} Exit status 3.\n", nothing.shown()));
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} {}\n", self.shown(), self.status())
    }

    fn status(&self) -> String {
        format!("Exit status {}.", self.exit_status())
    }

    /// The same without the exit status, for what is no command: without a line break at the end.
    #[must_use]
    pub fn shown(&self) -> String {
        let rows = self.rows();
        let mut widths = WIDTHS;
        for Row { cells, .. } in &rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        // A long verdict or a wide cell of one row may stick out; names must not.
        for (width, least) in widths.iter_mut().zip(WIDTHS).skip(1) {
            *width = (*width).min(least + 8);
        }
        let mut text = String::new();
        for Row { cells, described } in &rows {
            let mut line = String::new();
            for (place, cell) in cells.iter().enumerate() {
                let width = widths.get(place).copied().unwrap_or(0);
                line.push_str(&format!("{cell:<width$} "));
            }
            text.push_str(line.trim_end());
            text.push('\n');
            if let Some(described) = described {
                text.push_str(&format!(
                    "{:indent$}{described}\n",
                    "",
                    indent = widths[0] + 1
                ));
            }
        }
        for fact in self.facts() {
            text.push_str(&fact);
            text.push('\n');
        }
        text + &self.summary()
    }

    /// The table: its head, a row an agent in the order of [`agents`](Self::agents), and one of all of
    /// them; nothing where no agent is compared.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        if self.agents.is_empty() {
            return Vec::new();
        }
        let cost = self.options.cost.as_str();
        let head = ["agent", "passed", cost, "behaviour", "verdict"].map(str::to_owned);
        let mut rows = vec![Row::plain(head)];
        rows.extend(self.agents.iter().map(|agent| Row {
            cells: row::of_agent(agent, self),
            described: described::line(agent),
        }));
        rows.push(Row::plain(row::of_suite(self)));
        rows
    }

    /// What stands below the table, a line each: whose runs were not compared and why, and what it all
    /// comes to, last.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.facts();
        notes.push(format!("{} {}", self.summary(), self.status()));
        notes
    }

    /// Whose runs were not compared and why, and what numbers are less than they seem.
    fn facts(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let intervals = self.agents.iter().filter_map(without_interval);
        let mut intervals: Vec<(usize, usize)> = intervals.collect();
        intervals.sort_unstable();
        intervals.dedup();
        for (before, now) in intervals {
            notes.push(format!("no 95% interval from {before} and {now} runs"));
        }
        let inexact = self.suite.outcomes.is_some_and(|found| !found.exact)
            || self.suite.cost.is_some_and(|found| !found.exact)
            || self
                .agents
                .iter()
                .any(|agent| agent.cost.is_some_and(|cost| !cost.exact));
        if inexact {
            notes.push(
                "some p are normal approximations: there are too many runs for exact ones"
                    .to_owned(),
            );
        }
        for (what, agents) in [
            ("unchanged", &self.unchanged),
            ("new", &self.new),
            ("gone", &self.gone),
            ("dropped", &self.dropped),
        ] {
            if !agents.is_empty() {
                let names: Vec<_> = agents.iter().map(|agent| escape_line(agent)).collect();
                notes.push(format!("{what}: {}", names.join(", ")));
            }
        }
        for Chosen { agent, lost } in &self.chosen {
            let agent = escape_line(agent);
            notes.push(format!(
                "{agent}: {lost} recordings of the baseline are gone; those that are left are a choice of runs, which is no sample"
            ));
        }
        for agent in &self.not_comparable {
            notes.push(format!("not comparable: {}", escape_line(&agent.agent)));
            let lines = agent.differences.iter();
            notes.extend(lines.map(|line| format!("  {}", escape_line(line))));
        }
        notes
    }

    /// Whether anything on the two sides differs by more than chance, or by what only one has.
    fn differs(&self) -> bool {
        let is_other = |finding| {
            matches!(
                finding,
                Some(MetricFinding::Regressed | MetricFinding::Improved)
            )
        };
        let metrics = [Metric::Outcomes, Metric::Cost, Metric::Behaviour];
        let differs = |agent: &AgentComparison| {
            metrics
                .iter()
                .any(|metric| is_other(agent.finding(*metric)))
                || agent.behaviour.as_ref().is_some_and(|it| it.other)
                || described::line(agent).is_some()
        };
        metrics
            .iter()
            .any(|metric| is_other(self.suite.finding(*metric)))
            || self.agents.iter().any(differs)
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
        if self.decision == Decision::Unchanged {
            return "all unchanged: what can be compared is the same on both sides.".to_owned();
        }
        let agents = self.agents.iter();
        let regressed = agents.filter(|agent| agent.regressed(&self.options));
        let better = |agent: &&AgentComparison| {
            agent.finding(Metric::Outcomes) == Some(MetricFinding::Improved)
        };
        let improved = self.agents.iter().filter(better).count();
        let mut said = format!("{} regressed, {improved} improved", regressed.count());
        said.push_str(match self.suite.finding(Metric::Outcomes) {
            Some(MetricFinding::Regressed) => "; the suite regressed",
            Some(MetricFinding::Improved) => "; the suite improved",
            _ => "",
        });
        if self.suite.finding(Metric::Cost) == Some(MetricFinding::Regressed) {
            said.push_str("; the suite became costlier");
        }
        if !self.differs() {
            said.push_str("; no difference was found");
        }
        if self.decision == Decision::NotShown {
            said.push_str("; not shown to be no worse");
        }
        said + "."
    }

    /// The same as a table in Markdown, for a pull request.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let rows = self.rows();
        let last = rows.len().saturating_sub(1);
        for (place, Row { cells, described }) in rows.iter().enumerate() {
            let [agent, others @ .., verdict] = cells;
            let agent = if place == 0 || place == last {
                agent.clone()
            } else {
                format!("`{}`", agent.replace('`', "ʼ"))
            };
            // The verdict's word is padded for the other table.
            let mut verdict = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(described) = described {
                verdict.push_str(&format!("<br>{described}"));
            }
            let cells = std::iter::once(agent)
                .chain(others.iter().cloned())
                .chain([verdict]);
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if place == 0 {
                text.push_str("|---|---|---|---|---|\n");
            }
        }
        for note in self.notes() {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n", note.replace('<', "&lt;")));
        }
        text
    }
}

fn without_interval(agent: &AgentComparison) -> Option<(usize, usize)> {
    let outcomes = agent.outcomes.as_ref()?;
    let shift = agent.cost.as_ref()?.shift?;
    let runs = (outcomes.baseline.runs, outcomes.candidate.runs);
    shift.interval.is_none().then_some(runs)
}
