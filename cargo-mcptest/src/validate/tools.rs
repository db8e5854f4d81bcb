//! Names of tools in the lists, the plans and the faults of a suite that no recorded run knows.

use std::collections::{BTreeSet, HashSet};

use mcptest::eval::{KnownTools, ToolPattern};
use mcptest::judge::AgentTest;
use mcptest::suite::gates::GateKind;
use mcptest::suite::model::Suite;
use mcptest::suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest::{GateInfo, Role};
use mcptest_suite::{Diagnostic, Entry, Node, Span, Style, nearest, quoted_list};

use super::{ProblemKind, SuiteProblem};
use crate::gates::roles;
use crate::judging::OpenPackage;

/// The tools that each agent's gates name: in lists, and in plans.
struct NamedTools {
    gates: Vec<GateInfo>,
    agents: Vec<[Vec<(String, Span)>; 2]>,
}

impl GateReader for NamedTools {
    fn read(&mut self, _: &DeclaredAgent<'_>, gates: &[(GateKind, &Entry)], _: &mut Problems) {
        let [mut listed, mut planned] = [Vec::new(), Vec::new()];
        for (kind, entry) in gates {
            for (role, node) in roles(&self.gates, *kind, &entry.value) {
                match role {
                    Role::Tools => collect_names(node, &mut listed),
                    Role::PlannedTools => collect_names(node, &mut planned),
                    Role::LimitOf(_) => {}
                }
            }
        }
        self.agents.push([listed, planned]);
    }
}

fn collect_names(node: &Node, named: &mut Vec<(String, Span)>) {
    if let Some(text) = node.text() {
        named.push((text.to_owned(), node.defined.unwrap_or(node.span)));
    }
    for item in node.items().into_iter().flatten() {
        collect_names(item, named);
    }
    // A pattern of one server's tools says beside it which: `{ name: delete_*, server: fs }`.
    let entries = node.entries().into_iter().flatten();
    for entry in entries.filter(|entry| entry.key != "server") {
        collect_names(&entry.value, named);
    }
}

/// The names that no run of a suite saw or lists: agents may share a list of tools. What stands at one
/// place is told once. Plans may name what no run calls, unless all runs list what they could have.
pub(super) fn unknown_tools(opened: &OpenPackage) -> Vec<SuiteProblem> {
    let mut problems = Vec::new();
    let agents = opened.suites.agents();
    for (name, suite) in opened.suites.suites() {
        let mut named = NamedTools {
            gates: mcptest::gates(),
            agents: Vec::new(),
        };
        if Suite::parse_with(suite.source.clone(), &mut named).is_err() {
            continue;
        }
        let (mut known, mut servers) = (BTreeSet::new(), BTreeSet::new());
        let of_suite = agents.iter().filter(|test| test.suite_name() == name);
        let Ok(runs) = of_suite.map(AgentTest::runs).collect::<Result<Vec<_>, _>>() else {
            // What the recordings know that cannot be used, nobody can say.
            continue;
        };
        let mut is_complete = true;
        for runs in runs {
            let tools = KnownTools::of_runs(runs);
            is_complete &= tools.is_complete();
            known.extend(tools.names().map(ToOwned::to_owned));
            servers.extend(tools.servers().map(ToOwned::to_owned));
        }
        // Where no run knows any tool, nothing can be said of names.
        if known.is_empty() {
            continue;
        }
        let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
        let mut told = HashSet::new();
        for (agent, [listed, mut planned]) in suite.agents.iter().zip(named.agents) {
            planned.extend(agent.inject.iter().filter_map(|fault| {
                let fault = &suite.faults[fault.value];
                Some((fault.value.tool.clone()?, fault.span))
            }));
            let is_planned = |pattern: &str| {
                let pattern = ToolPattern::new(pattern);
                known
                    .iter()
                    .any(|tool| pattern.matches_tool_of(tool, &servers))
            };
            let listed = listed.iter().filter(|(tool, _)| !known.contains(tool));
            let planned = planned
                .iter()
                .filter(|(tool, _)| is_complete && !is_planned(tool));
            let mut unknown: Vec<_> = listed.chain(planned).collect();
            unknown.retain(|(_, span)| told.insert(*span));
            unknown.sort_by_key(|(_, span)| span.start);
            problems.extend(unknown.into_iter().map(|(tool, span)| {
                let tools = || known.iter().map(String::as_str);
                let problem = Diagnostic::at(
                    *span,
                    format!("no recording calls or lists the tool `{tool}`"),
                )
                .note(format!("tools in the recordings: {}", quoted_list(tools())));
                let problem = match nearest(tool, tools()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => {
                        problem.help("name a tool that the agent has, or record runs that use it")
                    }
                };
                SuiteProblem {
                    kind: ProblemKind::Tools,
                    about: format!("{name}::{}", agent.segment),
                    text: problem.render(&suite.source, Style::Plain),
                }
            }));
        }
    }
    problems
}
