//! Reading a gate's block straight into the options of its metric.

use mcptest_suite::{Diagnostic, Node, Spanned};

use super::block::{Block, number_text};
use super::key::{Key, Keyed, ToolOfServer};
use crate::eval::ToolPattern;

/// The key beside a tool's name that says the server that the tool is of.
const SERVER: &str = "server";

impl<'n> Block<'n, '_> {
    /// Reads the options, each by the key that declares it; nothing where they make none.
    pub(super) fn read<O: Keyed>(&mut self) -> Option<O> {
        let mut options = O::default_options();
        let mut whole = true;
        if O::KEYS.iter().any(|key| key.name == SERVER) {
            let server = self.get(SERVER).and_then(Node::text);
            self.server = server.map(str::to_owned);
        }
        for key in O::KEYS {
            whole &= key.read(self, &mut options);
        }
        options.check(self, whole).then_some(options)
    }

    /// What stands at a key.
    pub(super) fn get_key<O>(&mut self, key: &Key<O>) -> Option<&'n Node> {
        self.get(key.name)
    }

    /// Whether something stands at a key.
    pub(super) fn has<O>(&self, key: &Key<O>) -> bool {
        self.has_name(key.name)
    }

    /// Whether none of the keys stands there, nor `expect`, nor one of them misspelt, which is told elsewhere.
    pub(super) fn has_no_key<O: Keyed>(&self) -> bool {
        let names: Vec<&str> = O::KEYS.iter().map(|key| key.name).collect();
        let stands = |name: &&str| self.has_name(name);
        !names.iter().chain(&["expect"]).any(stands) && !self.misspells(&names)
    }

    /// Tool patterns, each with its place: a text, or a mapping with the server that the tool is of.
    pub(super) fn tool_patterns(&mut self, node: &Node, of: &str) -> Vec<Spanned<ToolPattern>> {
        if node.items().is_none() {
            self.problems.texts(node, of);
            return Vec::new();
        }
        let items = self.problems.items(node, of).unwrap_or_default();
        let patterns = items.iter().filter_map(|item| {
            let pattern = if item.entries().is_some() {
                let tool: ToolOfServer = self.read_nested(item, "a tool pattern")?;
                ToolPattern::new(tool.name).with_server(tool.server)
            } else {
                ToolPattern::new(self.problems.non_blank_text(item)?.value)
            };
            self.tools.patterns.push(pattern.clone());
            Some(Spanned::new(pattern, item.span))
        });
        patterns.collect()
    }

    /// Notes the tools that a value names: a text, or those of a list or of a mapping's values.
    pub(super) fn note_tools(&mut self, node: &Node) {
        if let Some(text) = node.text().or_else(|| number_text(node)) {
            match &self.server {
                Some(server) => {
                    let pattern = ToolPattern::new(text).with_server(server.clone());
                    self.tools.patterns.push(pattern);
                }
                None => self.tools.names.push(text.to_owned()),
            }
        }
        for item in node.items().into_iter().flatten() {
            self.note_tools(item);
        }
        for entry in node.entries().into_iter().flatten() {
            self.note_tools(&entry.value);
        }
    }

    /// Reads each mapping of a list.
    pub(super) fn read_list<O: Keyed>(
        &mut self,
        node: &Node,
        of: &str,
        one: &'static str,
    ) -> Vec<O> {
        let items = self.problems.any_items(node, of);
        let read = items.iter().filter_map(|item| {
            if let (Some(text), Some(only)) = (item.text(), required_key::<O>()) {
                self.note_bare_text(item, text, one, only);
                return None;
            }
            self.read_nested(item, one)
        });
        read.collect()
    }

    /// Notes text in the place of a mapping of which it would be one value.
    fn note_bare_text(&mut self, node: &Node, text: &str, one: &str, key: &str) {
        let message = format!("expected a mapping for {one}, found text");
        let help = format!("write `{{ {key}: {text} }}`");
        self.problems
            .push(Diagnostic::at(node.span, message).help(help));
    }

    /// Reads a mapping below this one, called so in messages.
    pub(super) fn read_nested<O: Keyed>(&mut self, node: &Node, called: &'static str) -> Option<O> {
        let mut block = self.nested(node, called)?;
        let options = block.read();
        let tools = std::mem::take(&mut block.tools);
        block.finish();
        self.tools.extend(tools);
        options
    }
}

/// The one key that must be there, where there is one.
fn required_key<O: Keyed>() -> Option<&'static str> {
    let mut required = O::KEYS.iter().filter(|key| key.is_required());
    let first = required.next()?;
    required.next().is_none().then_some(first.name)
}
