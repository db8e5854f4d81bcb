//! Names of tools in the lists, the plans and the faults of a suite that no recorded run knows.

use std::collections::{BTreeSet, HashSet};

use mcptest::eval::{KnownTools, ToolPattern};
use mcptest::replay::AgentTest;
use mcptest::suite::gates::GateKind;
use mcptest::suite::model::Suite;
use mcptest::suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest_suite::{Diagnostic, Entry, Node, Span, Style, nearest, quoted_list};

use super::{Kind, Problem};
use crate::judging::Opened;

/// The keys below a gate whose values are names of tools, alone or by verb.
const LISTS: [&str; 4] = ["evidence", "tools", "readonly_tools", "mutating_tools"];

/// The keys below a gate whose values are what is to be called, or not; and those of a call, or of two, that
/// are names of tools.
const PLANS: [&str; 4] = ["calls", "forbid", "dependencies", "order"];
const OF_CALLS: [&str; 5] = ["name", "producer", "consumer", "first", "second"];

/// The tools that each agent's gates name: in lists, and in plans.
#[derive(Default)]
struct Named(Vec<[Vec<(String, Span)>; 2]>);

impl GateReader for Named {
    fn read(&mut self, _: &DeclaredAgent<'_>, gates: &[(GateKind, &Entry)], _: &mut Problems) {
        let [mut listed, mut planned] = [Vec::new(), Vec::new()];
        for (_, entry) in gates {
            let below = |keys: &'static [&str]| keys.iter().filter_map(|key| entry.value.get(key));
            below(&LISTS).for_each(|list| names(list, &mut listed));
            for call in below(&PLANS).filter_map(Node::items).flatten() {
                let parts = OF_CALLS.iter().filter_map(|key| call.get(key));
                let texts = parts.chain(call.text().map(|_| call));
                texts.for_each(|name| names(name, &mut planned));
            }
        }
        self.0.push([listed, planned]);
    }
}

fn names(node: &Node, named: &mut Vec<(String, Span)>) {
    if let Some(text) = node.text() {
        named.push((text.to_owned(), node.defined.unwrap_or(node.span)));
    }
    for item in node.items().into_iter().flatten() {
        names(item, named);
    }
    for entry in node.entries().into_iter().flatten() {
        names(&entry.value, named);
    }
}

/// The names that no run of a suite saw or lists: agents may share a list of tools. What stands at one
/// place is told once. Plans may name what no run calls, unless all runs list what they could have.
pub(super) fn unknown(opened: &Opened) -> Vec<Problem> {
    let mut problems = Vec::new();
    let agents = opened.suites.agents();
    for (name, suite) in opened.suites.suites() {
        let mut named = Named::default();
        if Suite::parse_with(suite.source.clone(), &mut named).is_err() {
            continue;
        }
        let mut known = BTreeSet::new();
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
        }
        // Where no run knows any tool, nothing can be said of names.
        if known.is_empty() {
            continue;
        }
        let mut told = HashSet::new();
        for (agent, [listed, mut planned]) in suite.agents.iter().zip(named.0) {
            planned.extend(agent.inject.iter().filter_map(|fault| {
                let fault = &suite.faults[fault.value];
                Some((fault.value.tool.clone()?, fault.span))
            }));
            let is_planned = |pattern: &str| {
                let pattern = ToolPattern::new(pattern);
                known.iter().any(|tool| pattern.matches(tool))
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
                    format!("no recorded run saw or lists the tool `{tool}`"),
                )
                .note(format!("tools in the recordings: {}", quoted_list(tools())));
                let problem = match nearest(tool, tools()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => {
                        problem.help("name a tool that the agent has, or record runs that use it")
                    }
                };
                Problem {
                    kind: Kind::Tools,
                    about: format!("{name}::{}", agent.segment),
                    text: problem.render(&suite.source, Style::Plain),
                }
            }));
        }
    }
    problems
}
