//! What a gate rests on and the recordings do not know: its tools, and which results are errors.

use std::collections::BTreeSet;

use mcptest_suite::model::GateKind;
use mcptest_suite::{Diagnostic, Span, nearest, quoted_list};
use mcptest_trace::text::pluralize;

use super::{Breach, Cause};
use crate::eval::{KnownTools, PlaybackOptions, ToolPattern};
use crate::render::Finding;
use crate::trace::Run;

/// The tools that the options of a gate name: all that stands at keys whose role is to name tools.
#[derive(Debug, Default)]
pub(super) struct NamedTools {
    /// Names as recordings have them.
    pub(super) names: Vec<String>,
    /// Patterns, and names that see behind what a client writes before a name.
    pub(super) patterns: Vec<ToolPattern>,
}

impl NamedTools {
    pub(super) fn extend(&mut self, others: Self) {
        self.names.extend(others.names);
        self.patterns.extend(others.patterns);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty()
    }

    /// Names and patterns, as they are written.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().map(String::as_str);
        names.chain(self.patterns.iter().map(ToolPattern::as_str))
    }
}

/// The tools that a gate names and nobody knows; never none.
pub(super) struct UnknownTools<'a> {
    gate: (GateKind, Span),
    unknown: BTreeSet<String>,
    known: Vec<&'a str>,
    /// Whether every run lists the tools that it was offered.
    all_listed: bool,
}

impl<'a> UnknownTools<'a> {
    /// The tools that no run was offered or called, though every run lists the tools that it was
    /// offered: a misspelt name makes a gate pass, or fail, for no reason. Where they are not listed, a
    /// name is told that only the way of writing keeps apart from a called one.
    pub(super) fn find(
        gate: (GateKind, Span),
        named: &'a NamedTools,
        tools: &'a KnownTools,
    ) -> Option<Self> {
        let known: Vec<&str> = tools.names().collect();
        let all_listed = tools.is_complete();
        let servers: Vec<&str> = tools.servers().collect();
        // A plan fits a tool with the wire prefix of its server and without; other gates compare whole names.
        let is_wire = |name: &str, known: &str| {
            let behind = known.rsplit_once("__").map(|(_, own)| own);
            let of_server = name.rsplit_once("__");
            let of_server = of_server.filter(|(server, _)| servers.contains(server));
            gate.0 == GateKind::Trajectory
                && (behind == Some(name) || of_server.is_some_and(|(_, own)| own == known))
        };
        let is_known = |name: &str| {
            let pattern = ToolPattern::new(name);
            let mut known = known.iter();
            known.any(|known| pattern.matches(known) || is_wire(name, known))
        };
        let is_respelt = |name: &str| find_respelt(name, &known).is_some();
        let fits = |pattern: &&ToolPattern| {
            let mut known = known.iter();
            known.any(|known| pattern.matches_tool_of(known, &servers))
        };
        let exact = named.names.iter().map(String::as_str);
        let exact = exact.filter(|name| !is_known(name));
        let patterns = named.patterns.iter().filter(|pattern| !fits(pattern));
        let unknown = exact.chain(patterns.map(ToolPattern::as_str));
        let unknown = unknown.filter(|name| all_listed || is_respelt(name));
        let unknown: BTreeSet<String> = unknown.map(str::to_owned).collect();
        (!unknown.is_empty()).then_some(Self {
            gate,
            unknown,
            known,
            all_listed,
        })
    }

    /// The tools of the agent's own that are to run while a run is played, and that nobody knows: those that a session's
    /// recordings neither note nor offer, and that no model called.
    pub(super) fn find_for_playback(
        gate: (GateKind, Span),
        options: &'a PlaybackOptions,
        runs: &'a [Run],
        tools: &'a KnownTools,
    ) -> Option<Self> {
        if runs.is_empty() || runs.iter().any(|run| !run.own_tools.is_known) {
            return None;
        }
        let own = runs.iter().flat_map(|run| &run.own_tools.calls);
        let own = own.map(|call| call.name.as_str());
        let known: BTreeSet<&str> = tools.names().chain(own).collect();
        let is_known = |name: &&String| {
            let mut one = options.clone();
            one.run = vec![String::clone(name)];
            name.as_str() == "*" || known.iter().any(|known| one.runs(known))
        };
        let unknown = options.run.iter().filter(|name| !is_known(name));
        let unknown: BTreeSet<String> = unknown.cloned().collect();
        (!unknown.is_empty()).then(|| Self {
            gate,
            unknown,
            known: known.into_iter().collect(),
            all_listed: false,
        })
    }

    fn verb(&self) -> &'static str {
        if self.all_listed { "list" } else { "know" }
    }

    /// What every run breaks by it.
    pub(super) fn breach(&self) -> Breach {
        let asks = format!(
            "the gate may name only tools that the recordings {}",
            self.verb()
        );
        let unknown = quoted_list(self.unknown.iter().map(String::as_str));
        Breach::new(Cause::Gate(asks), &unknown)
    }

    pub(super) fn finding(&self) -> Finding {
        let (kind, span) = self.gate;
        let kind = kind.name();
        let problem = Diagnostic::new(format!(
            "`{kind}` names {}, and the recordings {} no such tool",
            quoted_list(self.unknown.iter().map(String::as_str)),
            self.verb()
        ))
        .label(span, "named here")
        .note(format!(
            "tools in the recordings: {}",
            quoted_list(self.known.iter().copied())
        ));
        let first = self.unknown.first().map_or("", String::as_str);
        let near = find_respelt(first, &self.known);
        let near = near.or_else(|| nearest(first, self.known.iter().copied()));
        Finding::new(match near {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => {
                problem.help("name a tool that the agent has, or record the runs again with it")
            }
        })
    }
}

/// The known tool that only the way of writing keeps apart from a name.
fn find_respelt<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let own = normalize_name(name);
    // All tools of a server are of none that is known.
    if own.chars().all(|sign| sign == '*') {
        return None;
    }
    let (written, plainly) = (ToolPattern::new(name), ToolPattern::new(own));
    let mut known = known.iter().copied();
    known.find(|known| written.matches_tool(known) || plainly.matches(&normalize_name(known)))
}

/// A name without what people write differently: case, `-` for `_`, a server before `__` or `::`.
fn normalize_name(name: &str) -> String {
    let name = name.rsplit_once("::").map_or(name, |(_, name)| name);
    let name = name.rsplit_once("__").map_or(name, |(_, name)| name);
    name.to_lowercase().replace('-', "_")
}

/// Says that a verdict which rests on errors rests on runs that do not tell them.
pub(super) fn note_unknown_errors(runs: &[Run]) -> Option<String> {
    let unknown: Vec<usize> = runs.iter().map(|run| run.trace.errors_unknown()).collect();
    let results: usize = unknown.iter().sum();
    let some = unknown.iter().filter(|count| **count > 0).count();
    (results > 0).then(|| {
        format!(
            "errors unknown in {} ({some} of {} runs): the recording has no `is_error` there, so each result counts as a success unless its text says that the call failed",
            pluralize(results, "result"),
            runs.len()
        )
    })
}
