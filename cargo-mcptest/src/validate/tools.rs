//! Names of tools in the `evidence:` and the lists of a suite that no recorded run knows.

use std::collections::{BTreeSet, HashSet};

use mcptest::eval::KnownTools;
use mcptest::replay::AgentTest;
use mcptest::suite::gates::GateKind;
use mcptest::suite::model::Suite;
use mcptest::suite::read::{DeclaredAgent, GateReader, Problems};
use mcptest_suite::{Diagnostic, Entry, Node, Span, Style, nearest, quoted_list};

use super::{Kind, Problem};
use crate::judging::Opened;

/// The keys below a gate whose values are names of tools, alone or by verb.
const LISTS: [&str; 4] = ["evidence", "tools", "readonly_tools", "mutating_tools"];

/// The tools that each agent's gates name, in the order of the file.
#[derive(Default)]
struct Named(Vec<Vec<(String, Span)>>);

impl GateReader for Named {
    fn read(&mut self, _: &DeclaredAgent<'_>, gates: &[(GateKind, &Entry)], _: &mut Problems) {
        let lists = gates
            .iter()
            .flat_map(|(_, entry)| LISTS.iter().filter_map(|key| entry.value.get(key)));
        let mut named = Vec::new();
        lists.for_each(|list| names(list, &mut named));
        self.0.push(named);
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
/// place is told once.
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
        for runs in runs {
            known.extend(KnownTools::of_runs(runs).names().map(ToOwned::to_owned));
        }
        // Where no run knows any tool, nothing can be said of names.
        if known.is_empty() {
            continue;
        }
        let mut told = HashSet::new();
        for (agent, named) in suite.agents.iter().zip(named.0) {
            let unknown = named.iter().filter(|(tool, _)| !known.contains(tool));
            let unknown = unknown.filter(|(_, span)| told.insert(*span));
            problems.extend(unknown.map(|(tool, span)| {
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
