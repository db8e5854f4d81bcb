//! A comparison as a table that people read.

use mcptest_trace::text::clean_line;

mod described;
mod format;
mod row;

use super::{AgentComparison, Comparison, Decision, Finding, Metric};

/// The least width of each column but the last, without the space after it.
const WIDTHS: [usize; 4] = [12, 13, 26, 13];

/// The whole text, with a line break at the end.
pub(super) fn render(comparison: &Comparison) -> String {
    let mut rows = Vec::new();
    let mut below: Vec<Option<String>> = Vec::new();
    if !comparison.agents.is_empty() {
        let cost = comparison.options.cost.as_str();
        rows.push(["agent", "passed", cost, "behaviour", "verdict"].map(str::to_owned));
        below.push(None);
    }
    for agent in &comparison.agents {
        rows.push(row::of_agent(agent, comparison));
        below.push(described::line(agent));
    }
    if !comparison.agents.is_empty() {
        rows.push(row::of_suite(comparison));
        below.push(None);
    }
    let mut widths = WIDTHS;
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    // A long verdict or a wide cell of one row may stick out; names must not.
    for (width, least) in widths.iter_mut().zip(WIDTHS).skip(1) {
        *width = (*width).min(least + 8);
    }
    let mut text = String::new();
    for (row, below) in rows.iter().zip(below) {
        let mut line = String::new();
        for (place, cell) in row.iter().enumerate() {
            let width = widths.get(place).copied().unwrap_or(0);
            line.push_str(&format!("{cell:<width$} "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(described) = below {
            text.push_str(&format!(
                "{:indent$}{described}\n",
                "",
                indent = widths[0] + 1
            ));
        }
    }
    for note in notes(comparison) {
        text.push_str(&note);
        text.push('\n');
    }
    text
}

/// What stands below the table.
fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let intervals = comparison.agents.iter().filter_map(without_interval);
    let mut intervals: Vec<(usize, usize)> = intervals.collect();
    intervals.sort_unstable();
    intervals.dedup();
    for (before, now) in intervals {
        notes.push(format!("no 95% interval from {before} and {now} runs"));
    }
    let inexact = comparison.suite.outcomes.is_some_and(|found| !found.exact)
        || comparison.suite.cost.is_some_and(|found| !found.exact)
        || comparison
            .agents
            .iter()
            .any(|agent| agent.cost.is_some_and(|cost| !cost.exact));
    if inexact {
        notes.push(
            "some p are normal approximations: there are too many runs for exact ones".to_owned(),
        );
    }
    for (what, agents) in [
        ("unchanged", &comparison.unchanged),
        ("new", &comparison.new),
        ("gone", &comparison.gone),
    ] {
        if !agents.is_empty() {
            let names: Vec<_> = agents.iter().map(|agent| clean_line(agent)).collect();
            notes.push(format!("{what}: {}", names.join(", ")));
        }
    }
    for agent in &comparison.not_comparable {
        notes.push(format!("not comparable: {}", clean_line(&agent.agent)));
        let lines = agent.differences.iter();
        notes.extend(lines.map(|line| format!("  {}", clean_line(line))));
    }
    notes.push(last_line(comparison));
    notes
}

fn without_interval(agent: &AgentComparison) -> Option<(usize, usize)> {
    let outcomes = agent.outcomes.as_ref()?;
    let shift = agent.cost.as_ref()?.shift?;
    let runs = (outcomes.baseline.runs, outcomes.candidate.runs);
    shift.interval.is_none().then_some(runs)
}

fn last_line(comparison: &Comparison) -> String {
    let options = &comparison.options;
    let regressed = comparison
        .agents
        .iter()
        .filter(|agent| agent.regressed(options));
    let better =
        |agent: &&AgentComparison| agent.finding(Metric::Outcomes) == Some(Finding::Improved);
    let improved = comparison.agents.iter().filter(better);
    let said = match &comparison.decision {
        Decision::Unchanged => "all unchanged".to_owned(),
        Decision::CannotTell { reason, allowed } => {
            let let_pass = if *allowed {
                " (allowed by `inconclusive: pass`)"
            } else {
                ""
            };
            format!("cannot tell: {reason}{let_pass}")
        }
        decision => {
            let mut said = format!(
                "{} regressed, {} improved",
                regressed.count(),
                improved.count()
            );
            let suite = &comparison.suite;
            if suite
                .outcomes
                .is_some_and(|found| found.finding == Finding::Regressed)
            {
                said.push_str("; the suite regressed");
            }
            if suite
                .cost
                .is_some_and(|found| found.finding == Finding::Regressed)
            {
                said.push_str("; the suite became costlier");
            }
            if *decision == Decision::NotShown {
                said.push_str("; not shown to be no worse");
            }
            said
        }
    };
    format!("{said}. Exit status {}.", comparison.exit_status())
}
