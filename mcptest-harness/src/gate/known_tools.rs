//! Tools that a gate names and the recordings do not know.

use std::collections::BTreeSet;

use mcptest_suite::{Diagnostic, nearest, quoted_list};

use super::ReadGate;
use crate::eval::ToolPattern;
use crate::render::Finding;
use crate::trace::Run;

/// A finding where a gate names a tool that no run was offered or called, though every run lists the
/// tools that it was offered: a misspelt name makes a gate pass, or fail, for no reason. Where they are
/// not listed, a name is told that only the way of writing keeps apart from a called one.
pub(crate) fn unknown_tools(gate: &ReadGate, runs: &[Run]) -> Option<Finding> {
    let named = gate.gate.tools();
    // Most gates name none, and a run may have many calls.
    if named.is_empty() {
        return None;
    }
    let calls = runs.iter().flat_map(|run| &run.trace.tool_calls);
    let mut known: BTreeSet<&str> = calls.map(|call| call.name.as_str()).collect();
    let mut all_listed = true;
    for run in runs {
        let offered = run.tools.as_deref().unwrap_or_default();
        all_listed &= !offered.is_empty();
        known.extend(offered.iter().map(|tool| tool.name.as_str()));
    }
    let is_known = |name: &str| {
        let pattern = ToolPattern::new(name);
        known.iter().any(|known| pattern.matches(known))
    };
    let is_respelt = |name: &str| {
        let wanted = ToolPattern::new(plain(name));
        known.iter().any(|known| wanted.matches(&plain(known)))
    };
    let unknown = named
        .into_iter()
        .filter(|name| !is_known(name) && (all_listed || is_respelt(name)));
    let unknown: BTreeSet<&str> = unknown.collect();
    let first = unknown.first()?;
    let kind = gate.kind.name();
    let problem = Diagnostic::new(format!(
        "`{kind}` names {}, and the recordings {} no such tool",
        quoted_list(unknown.iter().copied()),
        if all_listed { "list" } else { "know" }
    ))
    .label(gate.span, "named here")
    .note(format!(
        "tools in the recordings: {}",
        quoted_list(known.iter().copied())
    ));
    Some(Finding::new(match nearest(first, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("name a tool that the agent has, or record the runs again with it"),
    }))
}

/// A name without what people write differently: case, `-` for `_`, a server before `__` or `::`.
fn plain(name: &str) -> String {
    let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
    let name = name.split_once("__").map_or(name, |(_, name)| name);
    name.to_lowercase().replace('-', "_")
}
