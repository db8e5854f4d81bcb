//! What the compared agents are now that they were not before: each change once, with whose it is.

use std::collections::BTreeMap;

use super::names::AgentNames;
use super::{ShownAgents, listing};
use crate::evidence::compare::{AgentChange, Comparison};
use crate::text::{MarkdownBlock, counted, escape_line, escape_markdown_but_code};

/// So many lines of a diff are shown where not all are asked for.
const LINES: usize = 8;

/// A change that agents have in common.
struct SharedChange<'a> {
    change: &'a AgentChange,
    /// Whose it is, by their stems.
    agents: Vec<String>,
}

/// The changes, in the order of the first agent that has each.
fn shared(comparison: &Comparison) -> Vec<SharedChange<'_>> {
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
    shared
}

/// What changed, a line each; lines of diffs begin with two spaces.
pub(super) fn lines(
    comparison: &Comparison,
    shown: ShownAgents,
    names: &AgentNames,
) -> Vec<String> {
    let mut lines = Vec::new();
    for SharedChange { change, agents } in shared(comparison) {
        lines.extend(listing(&change.what, &agents, shown, names));
        let most = match shown {
            ShownAgents::All => change.diff.len(),
            ShownAgents::WithFinding => LINES,
        };
        let first = change.diff.iter().take(most);
        lines.extend(first.map(|line| format!("  {}", escape_line(line))));
        let left = change.diff.len().saturating_sub(most);
        if left > 0 {
            lines.push(format!(
                "  and {} of this diff (`--all` shows them)",
                counted(left, "more line")
            ));
        }
    }
    lines
}

/// The same for a pull request: the first lines of each diff, the others folded.
pub(super) fn blocks(comparison: &Comparison, names: &AgentNames) -> Vec<MarkdownBlock> {
    let mut blocks = Vec::new();
    for SharedChange { change, agents } in shared(comparison) {
        let whose = listing(&change.what, &agents, ShownAgents::WithFinding, names);
        let whose = escape_markdown_but_code(&whose.unwrap_or_default());
        let (first, rest) = change.diff.split_at(change.diff.len().min(LINES));
        let mut text = format!("\n{whose}\n");
        if !first.is_empty() {
            text.push_str(&fenced(first));
        }
        if !rest.is_empty() {
            text.push_str(&format!(
                "\n<details><summary>{} of this diff</summary>\n{}\n</details>\n",
                counted(rest.len(), "more line"),
                fenced(rest)
            ));
        }
        blocks.push(MarkdownBlock::whole(text));
    }
    blocks
}

/// Lines of a diff between two fences that none of them can end.
fn fenced(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| escape_line(line)).collect();
    let ticks = lines
        .iter()
        .flat_map(|line| line.split(|sign| sign != '`'))
        .map(str::len);
    let fence = "`".repeat((ticks.max().unwrap_or_default() + 1).max(3));
    format!("\n{fence}diff\n{}\n{fence}\n", lines.join("\n"))
}
