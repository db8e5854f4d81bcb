//! Tools that a gate names and the recordings do not know.

use std::collections::BTreeSet;

use mcptest_suite::{Diagnostic, nearest, quoted_list};

use super::ReadGate;
use crate::eval::ToolPattern;
use crate::render::Finding;
use crate::trace::Run;

/// A finding where a gate names a tool that no run was offered or called, though every run lists the
/// tools that it was offered: a misspelt name makes a gate pass, or fail, for no reason.
pub(crate) fn unknown_tools(gate: &ReadGate, runs: &[Run]) -> Option<Finding> {
    let mut known = BTreeSet::new();
    for run in runs {
        let offered = run.tools.as_ref().filter(|tools| !tools.is_empty())?;
        known.extend(offered.iter().map(|tool| tool.name.as_str()));
        known.extend(run.trace.tool_calls.iter().map(|call| call.name.as_str()));
    }
    let named = gate.gate.tools().into_iter();
    let is_known = |name: &str| {
        let pattern = ToolPattern::new(name);
        known.iter().any(|known| pattern.matches(known))
    };
    let unknown: BTreeSet<&str> = named.filter(|name| !is_known(name)).collect();
    let first = unknown.first()?;
    let kind = gate.kind.name();
    let problem = Diagnostic::new(format!(
        "`{kind}` names {}, and the recordings list no such tool",
        quoted_list(unknown.iter().copied())
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
