//! Reading `defaults:`: what every agent says that does not say it itself.

use super::problems::Problems;
use crate::limits::NODES;
use crate::{Diagnostic, Entry, Node, NodeValue};

/// What no two agents share.
const OF_ONE_AGENT: [&str; 3] = ["name", "only", "cassette"];

/// Keys that say the same thing: an agent that has one of them takes no other from the defaults.
const ALIKE: [&[&str]; 3] = [
    &["model", "models"],
    &["server", "servers"],
    &["prompt", "user_prompt", "turns"],
];

/// The defaults of a suite; `agents` is how many agents may take them.
pub(super) fn read<'n>(node: &'n Node, agents: usize, problems: &mut Problems) -> Vec<&'n Entry> {
    let Some(entries) = node.entries() else {
        problems.expected("a mapping of an agent's keys", node);
        return Vec::new();
    };
    // Each agent reads them anew.
    if size(node).saturating_mul(agents) > NODES {
        problems.push(
            Diagnostic::at(node.span, "these defaults are too large for so many agents")
                .note(format!("{} values for each of {agents} agents", size(node)))
                .help("split the suite into several files"),
        );
        return Vec::new();
    }
    let (own, shared): (Vec<_>, Vec<_>) = entries
        .iter()
        .partition(|entry| OF_ONE_AGENT.contains(&entry.key.as_str()));
    for entry in own {
        let message = format!(
            "`{}` cannot be a default: each agent has its own",
            entry.key
        );
        problems.push(
            Diagnostic::at(entry.key_span, message).help("write it below the agent it belongs to"),
        );
    }
    shared
}

/// The defaults that an agent does not say itself.
pub(super) fn for_agent<'n>(agent: &Node, defaults: &[&'n Entry]) -> Vec<&'n Entry> {
    let says = |key: &str| agent.get(key).is_some();
    let missing = defaults.iter().copied().filter(|entry| {
        let alike = ALIKE.iter().find(|keys| keys.contains(&entry.key.as_str()));
        !says(&entry.key) && !alike.is_some_and(|keys| keys.iter().any(|key| says(key)))
    });
    missing.collect()
}

/// How many values there are.
fn size(node: &Node) -> usize {
    match &node.value {
        NodeValue::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        NodeValue::Map(entries) => {
            1 + entries
                .iter()
                .map(|entry| size(&entry.value))
                .sum::<usize>()
        }
        _ => 1,
    }
}
