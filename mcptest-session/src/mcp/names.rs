//! The tools of servers by what clients call them, so that a name finds its tool without a look at all tools and calls.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::traffic::{McpTraffic, normalize_name};

/// Tools of servers, found by the names that clients have for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameIndex {
    /// Each tool once, with its server.
    tools: Vec<(String, String)>,
    known: HashSet<(String, String)>,
    /// The tools of a plain name.
    plain: HashMap<String, Vec<usize>>,
    /// The tools by server and name, both plain.
    with_server: HashMap<String, Vec<usize>>,
    /// How many calls and how many answers of servers were taken in.
    taken: (usize, usize),
}

impl NameIndex {
    /// The tools that servers listed, or that were called there.
    pub(crate) fn from_traffic(seen: &McpTraffic) -> Self {
        let mut index = Self::default();
        index.update(seen);
        index
    }

    /// Adds what went by since this was done last.
    pub(crate) fn update(&mut self, seen: &McpTraffic) {
        let (calls, answers) = self.taken;
        for (server, tool) in seen.tools(answers) {
            self.add(server, tool);
        }
        for call in seen.calls.get(calls..).unwrap_or_default() {
            self.add(&call.server, &call.tool);
        }
        self.taken = (seen.calls.len(), seen.answers.len());
    }

    /// Adds a tool of a server.
    pub(crate) fn add(&mut self, server: &str, tool: &str) {
        let both = (server.to_owned(), tool.to_owned());
        if !self.known.insert(both.clone()) {
            return;
        }
        let number = self.tools.len();
        self.tools.push(both);
        let (server, name) = (normalize_name(server), normalize_name(tool));
        let with_server = format!("{server}_{name}");
        self.plain.entry(name).or_default().push(number);
        let same = self.with_server.entry(with_server).or_default();
        same.push(number);
    }

    /// The server and the tool that a name of a client means, if it can mean only one.
    pub(crate) fn resolve(&self, name: &str) -> Option<(&str, &str)> {
        let plain = normalize_name(name);
        let ends = plain.match_indices('_').map(|(at, _)| &plain[at + 1..]);
        let with_server = ends.chain([&*plain]);
        let with_server = with_server.filter_map(|end| self.with_server.get(end));
        let alone = self.plain.get(&plain).into_iter();
        let meant: BTreeSet<&usize> = alone.chain(with_server).flatten().collect();
        let only = meant.first().filter(|_| meant.len() == 1)?;
        let (server, tool) = &self.tools[**only];
        Some((server, tool))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::mcp::{McpAnswer, names_tool};

    #[test]
    fn a_name_means_a_tool_where_only_one_is_meant() {
        let listed = |server: &str, tools: &[&str]| McpAnswer {
            server: server.to_owned(),
            method: "tools/list".to_owned(),
            params: Value::Null,
            result: Some(
                json!({ "tools": tools.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>() }),
            ),
            error: None,
        };
        let seen = McpTraffic {
            answers: vec![
                listed("a", &["find", "put"]),
                listed("b", &["find"]),
                listed("a", &["put"]),
            ],
            ..McpTraffic::default()
        };
        let names = NameIndex::from_traffic(&seen);
        assert_eq!(names.resolve("put"), Some(("a", "put")));
        assert_eq!(names.resolve("b__find"), Some(("b", "find")));
        assert_eq!(names.resolve("find"), None);
        assert_eq!(names.resolve("other"), None);
    }

    proptest! {
        #[test]
        fn a_name_means_what_a_look_at_all_tools_finds(
            tools in proptest::collection::vec(("[aB]?[ab_-]{0,3}", "[abA_ -]{0,4}"), 0..5),
            name in "[abAB_ -]{0,8}",
        ) {
            let mut names = NameIndex::default();
            for (server, tool) in &tools {
                names.add(server, tool);
            }
            let fitting = tools.iter().filter(|(server, tool)| names_tool(&name, server, tool));
            let fitting: BTreeSet<_> = fitting.collect();
            let only = fitting.first().filter(|_| fitting.len() == 1);
            prop_assert_eq!(names.resolve(&name), only.map(|(server, tool)| (&**server, &**tool)));
        }
    }
}
