//! Tools that a gate names and the recordings do not know.

use std::collections::BTreeSet;

use mcptest_suite::gates::GateOptions;
use mcptest_suite::model::GateBlock;
use mcptest_suite::{Diagnostic, nearest, quoted_list};

use crate::render::Finding;
use crate::trace::Run;

/// A finding where a gate names a tool that no run was offered or called, though every run lists the
/// tools that it was offered: a misspelt name makes a gate pass, or fail, for no reason.
pub(super) fn unknown_tools(block: &GateBlock, runs: &[Run]) -> Option<Finding> {
    let mut known = BTreeSet::new();
    for run in runs {
        let offered = run.tools.as_ref().filter(|tools| !tools.is_empty())?;
        known.extend(offered.iter().map(|tool| tool.name.as_str()));
        known.extend(run.trace.tool_calls.iter().map(|call| call.name.as_str()));
    }
    let unknown: BTreeSet<&str> = named(block)
        .into_iter()
        .filter(|name| !known.contains(name))
        .collect();
    let first = unknown.first()?;
    let kind = block.kind().name();
    let problem = Diagnostic::new(format!(
        "`{kind}` names {}, and the recordings list no such tool",
        quoted_list(unknown.iter().copied())
    ))
    .label(block.span, "named here")
    .note(format!(
        "tools in the recordings: {}",
        quoted_list(known.iter().copied())
    ));
    Some(Finding::new(match nearest(first, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("name a tool that the agent has, or record the runs again with it"),
    }))
}

/// The tools that a gate's options name.
fn named(block: &GateBlock) -> Vec<&str> {
    let lists: Vec<&String> = match &block.options {
        GateOptions::GoldenPath(gate) => gate.calls.iter().collect(),
        GateOptions::Narrative(gate) => {
            let lists = gate.mutating_tools.iter().chain(&gate.readonly_tools);
            lists.chain(gate.evidence.values().flatten()).collect()
        }
        GateOptions::Trajectory(gate) => gate.calls.iter().map(|call| &call.name.value).collect(),
        _ => Vec::new(),
    };
    lists.into_iter().map(String::as_str).collect()
}
