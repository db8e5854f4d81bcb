//! What the compared agents are now that they were not before: each change once, with whose it is.

use std::collections::BTreeMap;

use super::names::AgentNames;
use super::{ShownAgents, list_agents};
use crate::evidence::compare::rank::Rank;
use crate::evidence::compare::{AgentChange, Comparison};
use crate::text::{MarkdownBlock, escape_line, escape_markdown_but_code, pluralize};

/// So many lines of a diff are shown where not all are asked for.
const LINES: usize = 8;

/// So many changes are shown where not all are asked for.
const CHANGES: usize = 4;

/// A change that agents have in common.
struct SharedChange<'a> {
    change: &'a AgentChange,
    /// Whose it is, by their stems.
    agents: Vec<String>,
}

/// The changes: first those of agents that ask most to be looked at, then in the order of the first agent of each.
fn shared_changes(comparison: &Comparison) -> Vec<SharedChange<'_>> {
    let ranks: BTreeMap<&str, Rank> = comparison
        .agents
        .iter()
        .map(|agent| (agent.agent.as_str(), agent.rank(&comparison.options)))
        .collect();
    let rank = |agent: &str| ranks.get(agent).copied().unwrap_or(Rank::Quiet);
    let mut places: BTreeMap<&AgentChange, usize> = BTreeMap::new();
    let mut shared: Vec<SharedChange<'_>> = Vec::new();
    for (agent, changes) in &comparison.changes {
        for change in changes {
            let place = *places.entry(change).or_insert(shared.len());
            match shared.get_mut(place) {
                Some(known) => known.agents.push(agent.clone()),
                None => shared.push(SharedChange {
                    change,
                    agents: vec![agent.clone()],
                }),
            }
        }
    }
    for change in &mut shared {
        change.agents.sort_by_key(|agent| rank(agent));
    }
    shared.sort_by_key(|change| change.agents.first().map(|agent| rank(agent)));
    shared
}

/// What changed, a line each; lines of diffs begin with two spaces.
pub(super) fn lines(
    comparison: &Comparison,
    shown: ShownAgents,
    names: &AgentNames,
) -> Vec<String> {
    let mut lines = Vec::new();
    let changes = shared_changes(comparison);
    let (most, most_lines) = match shown {
        ShownAgents::All => (usize::MAX, usize::MAX),
        ShownAgents::WithFinding => (CHANGES, LINES),
    };
    for SharedChange { change, agents } in changes.iter().take(most) {
        lines.extend(list_agents(&change.what, agents, shown, names));
        let first = change.diff.iter().take(most_lines);
        lines.extend(first.map(|line| format!("  {}", escape_line(line))));
        if let left @ 1.. = change.diff.len().saturating_sub(most_lines) {
            lines.push(format!(
                "  and {} of this diff (`--all` shows them)",
                pluralize(left, "more line")
            ));
        }
    }
    if let left @ 1.. = changes.len().saturating_sub(most) {
        let more = pluralize(left, "more change");
        lines.push(format!("and {more} of agents (`--all` shows them)"));
    }
    lines
}

/// What changed, for a pull request: the first changes with the first lines of their diffs, the other lines
/// folded; and the other changes, folded, for a place further below.
pub(super) fn markdown_blocks(
    comparison: &Comparison,
    names: &AgentNames,
) -> [Vec<MarkdownBlock>; 2] {
    let changes = shared_changes(comparison);
    let (first, others) = changes.split_at(changes.len().min(CHANGES));
    let whole = first
        .iter()
        .map(|it| MarkdownBlock::new(describe_change(it, names)))
        .collect();
    let folded = (!others.is_empty()).then(|| MarkdownBlock {
        head: format!(
            "\n<details><summary>{} of agents</summary>\n",
            pluralize(others.len(), "more change")
        ),
        rows: others.iter().map(|it| describe_change(it, names)).collect(),
        tail: "\n</details>\n".to_owned(),
    });
    [whole, folded.into_iter().collect()]
}

/// A change in words, and the agents that have it.
fn describe_change(
    SharedChange { change, agents }: &SharedChange<'_>,
    names: &AgentNames,
) -> String {
    let whose = list_agents(&change.what, agents, ShownAgents::WithFinding, names);
    let whose = escape_markdown_but_code(&whose.unwrap_or_default());
    let (first, rest) = change.diff.split_at(change.diff.len().min(LINES));
    let mut text = format!("\n{whose}\n");
    if !first.is_empty() {
        text.push_str(&fenced(first));
    }
    if !rest.is_empty() {
        text.push_str(&format!(
            "\n<details><summary>{} of this diff</summary>\n{}\n</details>\n",
            pluralize(rest.len(), "more line"),
            fenced(rest)
        ));
    }
    text
}

/// Lines of a diff between two fences that none of them can end. What stands between fences is code: it mentions nobody,
/// and is no HTML.
fn fenced(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
    let ticks = lines
        .iter()
        .flat_map(|line| line.split(|sign| sign != '`'))
        .map(str::len);
    let fence = "`".repeat((ticks.max().unwrap_or_default() + 1).max(3));
    format!("\n{fence}diff\n{}\n{fence}\n", lines.join("\n"))
}
