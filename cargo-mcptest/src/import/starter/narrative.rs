//! What the closing of a run claims.

use mcptest::eval::{KnownTools, NarrativeOptions, narrative_divergence_with};
use mcptest::trace::{ReadOnlyTools, Run};
use mcptest_trace::trace::reads_by_name;

use super::gate::Gate;
use super::text::list;
use super::tools::Tools;

/// The closing claims nothing that was not done; and what the servers said of their tools, where the names
/// say otherwise.
///
/// Recordings that do not list their tools leave open which there are, and a claim of what another run
/// of the import does with a tool is then unclear.
pub(super) fn narrative<'a>(runs: &[Run], tools: &KnownTools, called: &Tools) -> Gate<'a> {
    let (tools, mut options) = (tools.clone(), NarrativeOptions::default());
    let mut keys = Vec::new();
    let reads = read_only_tools(runs);
    let misnamed = tools
        .names()
        .filter(|name| reads.reads(name) != reads_by_name(name));
    let misnamed = misnamed.map(str::to_owned);
    (options.readonly_tools, options.mutating_tools) = misnamed.partition(|name| reads.reads(name));
    for (key, names) in [
        ("readonly_tools", &options.readonly_tools),
        ("mutating_tools", &options.mutating_tools),
    ] {
        if !names.is_empty() {
            keys.push(format!("{key}: {}", list(names)));
        }
    }
    if !tools.is_complete() && !called.names.is_empty() {
        keys.push(format!("tools: {}", called.written));
        options.tools.clone_from(&called.names);
    }
    let block = match keys.as_slice() {
        [] => "{}".to_owned(),
        keys => format!("{{ {} }}", keys.join(", ")),
    };
    Gate {
        name: "narrative",
        text: format!("    narrative: {block}\n"),
        holds: Box::new(move |run| {
            narrative_divergence_with(&run.trace, &options, &tools)
                .claimed_but_absent()
                .next()
                .is_none()
        }),
    }
}

/// Which tools only read, as far as all runs tell.
pub(super) fn read_only_tools(runs: &[Run]) -> ReadOnlyTools {
    ReadOnlyTools::new(
        runs.iter().flat_map(|run| run.tools.iter().flatten()),
        [],
        [],
    )
}
