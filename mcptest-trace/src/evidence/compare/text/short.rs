//! The rows of the table that a terminal shows, and how they fit into its columns.

use super::format::{format_p_value, points, significant};
use super::names::AgentNames;
use super::row::{behaviour_cell, cost_cell, suite_cells, suite_word, unknown_cell};
use crate::evidence::compare::{AgentComparison, Comparison, Metric, MetricFinding};
use crate::text::{COLUMNS, pad_to, truncate_end, truncate_middle, width};

/// The least width of an agent's name, and the most of any other cell but the last.
const NAME: usize = 12;
const CELL: usize = 30;

/// The cells of a row; the interval of the cost stands apart, as it is left out first.
pub(super) struct ShortRow {
    agent: String,
    passed: String,
    cost: (String, String),
    behaviour: String,
    verdict: String,
}

impl ShortRow {
    pub(super) fn head(comparison: &Comparison) -> Self {
        Self {
            agent: "agent".to_owned(),
            passed: "passed".to_owned(),
            cost: (comparison.options.cost.as_str().to_owned(), String::new()),
            behaviour: "behaviour".to_owned(),
            verdict: "verdict".to_owned(),
        }
    }

    pub(super) fn from_agent(
        agent: &AgentComparison,
        comparison: &Comparison,
        names: &AgentNames,
    ) -> Self {
        let outcomes = agent.outcomes.as_ref();
        let behaviour = agent.behaviour.as_ref();
        Self {
            agent: names.escaped(&agent.agent),
            passed: outcomes.map_or_else(unknown_cell, |found| {
                format!("{} → {}", found.baseline, found.candidate)
            }),
            cost: split_interval(agent.cost.as_ref().map_or_else(unknown_cell, cost_cell)),
            behaviour: behaviour.map_or_else(unknown_cell, behaviour_cell),
            verdict: short_verdict(agent, comparison),
        }
    }

    pub(super) fn for_suite(comparison: &Comparison) -> Self {
        let [agent, passed, cost, behaviour] = suite_cells(comparison);
        Self {
            agent,
            passed,
            cost: split_interval(cost),
            behaviour,
            verdict: suite_word(&comparison.suite),
        }
    }

    /// The cells, for a table that takes care of its own columns.
    pub(super) fn cells(self) -> [String; 5] {
        let (ratio, interval) = self.cost;
        let cost = [ratio, interval].join(" ").trim_end().to_owned();
        [self.agent, self.passed, cost, self.behaviour, self.verdict]
    }
}

/// A ratio and its interval.
fn split_interval(cost: String) -> (String, String) {
    match cost.split_once(" [") {
        Some((ratio, interval)) => (ratio.to_owned(), format!("[{interval}")),
        None => (cost, String::new()),
    }
}

/// What was found of an agent, in few words: what it is held against stands above the table.
fn short_verdict(agent: &AgentComparison, comparison: &Comparison) -> String {
    let mut parts = Vec::new();
    let outcomes = agent.outcomes.as_ref();
    let word = outcomes.map(|found| {
        let word = found.finding.as_str();
        match found.finding {
            MetricFinding::Regressed => format!("{word} p {}", format_p_value(found.p_worse)),
            MetricFinding::Improved => format!("{word} p {}", format_p_value(found.p_better)),
            MetricFinding::TooFewRuns | MetricFinding::CannotBeToldYet => match agent.undecided() {
                Some(undecided) => format!("{word}: {} more each", undecided.most()),
                None => "more pass, in too few runs to show it".to_owned(),
            },
            MetricFinding::NoEvidence => match found.noticeable_drop {
                Some(drop) => format!("{word} ({} would show)", points(f64::from(drop))),
                None => format!("{word} (no drop would show)"),
            },
            MetricFinding::NothingToLose => word.to_owned(),
        }
    });
    let found = outcomes.map(|found| found.finding);
    let is_quiet = found.is_some_and(|found| {
        matches!(
            found,
            MetricFinding::NoEvidence | MetricFinding::NothingToLose
        )
    });
    let mut others = Vec::new();
    if let Some(cost) = &agent.cost {
        match cost.finding {
            MetricFinding::Regressed => {
                others.push(format!("costlier p {}", format_p_value(cost.p_costlier)));
            }
            MetricFinding::Improved => {
                others.push(format!("cheaper p {}", format_p_value(cost.p_cheaper)));
            }
            _ => {}
        }
    }
    if agent.finding(Metric::Behaviour) == Some(MetricFinding::Regressed)
        && let Some(found) = &agent.behaviour
    {
        others.push(format!("other tools p {}", format_p_value(found.tools.p)));
    }
    match word {
        // That nothing more was found says nothing beside what was.
        Some(_) if is_quiet && !others.is_empty() => {}
        Some(word) => parts.push(word),
        None if comparison.options.fail_on.contains(&Metric::Outcomes) || others.is_empty() => {
            parts.push("no outcomes".to_owned());
        }
        None => {}
    }
    parts.extend(others);
    parts.join("; ")
}

/// The rows as lines that fit into a terminal.
pub(super) fn lines(rows: &[ShortRow]) -> Vec<String> {
    let widest = |cell: fn(&ShortRow) -> usize, most: usize| {
        let widest = rows.iter().map(cell).max().unwrap_or_default();
        widest.min(most)
    };
    let whole = |row: &ShortRow| {
        let (ratio, interval) = &row.cost;
        width(ratio)
            + if interval.is_empty() {
                0
            } else {
                1 + width(interval)
            }
    };
    let passed = widest(|row| width(&row.passed), CELL);
    let behaviour = widest(|row| width(&row.behaviour), CELL);
    let verdict = widest(|row| width(&row.verdict), COLUMNS);
    let name = widest(|row| width(&row.agent), COLUMNS);
    let gaps = 4 * 2;
    let room = |cost: usize| COLUMNS.saturating_sub(passed + cost + behaviour + gaps);
    let with_intervals = widest(whole, CELL);
    let has_room = room(with_intervals) >= name.min(NAME) + verdict;
    let cost = if has_room {
        with_intervals
    } else {
        widest(|row| width(&row.cost.0), CELL)
    };
    let name = name.min(room(cost).saturating_sub(verdict).max(NAME));
    let verdict = room(cost).saturating_sub(name);
    let line = |row: &ShortRow| {
        let (ratio, interval) = &row.cost;
        let said = if has_room && !interval.is_empty() {
            format!("{ratio} {interval}")
        } else {
            ratio.clone()
        };
        let cells = [
            pad_to(&truncate_middle(&row.agent, name), name),
            pad_to(&truncate_end(&row.passed, passed), passed),
            pad_to(&truncate_end(&said, cost), cost),
            pad_to(&truncate_end(&row.behaviour, behaviour), behaviour),
            truncate_end(&row.verdict, verdict),
        ];
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

impl Comparison {
    /// What each agent is held against, which is the same for all of them; nothing where no agent is compared.
    #[must_use]
    pub fn rule_line(&self) -> Option<String> {
        let outcomes = self.agents.iter().find_map(|agent| agent.outcomes);
        let cost = self.agents.iter().find_map(|agent| agent.cost);
        let outcomes = outcomes.map(|found| {
            let own = if self.options.agent_margins.is_empty() {
                ""
            } else {
                " (some agents have a margin of their own)"
            };
            format!(
                "regressed means p ≤ {} and a loss of {} or more{own}",
                significant(found.share),
                points(self.options.margin)
            )
        });
        let cost = cost.map(|found| {
            format!(
                "costlier means p ≤ {} and {}% or more {} than before",
                significant(found.share),
                self.options.cost_margin,
                self.options.cost.noun()
            )
        });
        let both: Vec<String> = [outcomes, cost].into_iter().flatten().collect();
        (!both.is_empty()).then(|| format!("for each agent, {}", both.join("; ")))
    }
}
