//! The block of a gate while it is read. `key` says which keys it has; `read_block` reads them.

use mcptest_suite::model::Target;
use mcptest_suite::read::{DeclaredAgent, Fields, Problems};
use mcptest_suite::{Node, NodeValue, Span};

use super::known_tools::NamedTools;
use super::limit::Limit;
use crate::check::Compiler;

/// The block of a gate, or a mapping below it, while it is read.
pub(crate) struct Block<'n, 'r> {
    fields: Fields<'n>,
    /// Where the gate's key stands.
    pub(super) span: Span,
    pub(super) agent: &'r DeclaredAgent<'r>,
    pub(super) compiler: &'r mut Compiler,
    pub(super) problems: &'r mut Problems,
    /// The limits of targets that its options state.
    pub(super) limits: Vec<Limit>,
    /// The tools that its options name.
    pub(super) tools: NamedTools,
    /// The server whose tool the mapping names.
    pub(super) server: Option<String>,
}

impl<'n, 'r> Block<'n, 'r> {
    /// Opens the block of a gate, called so in messages; `span` is where its key stands.
    pub(super) fn open(
        (node, span): (&'n Node, Span),
        called: &'static str,
        agent: &'r DeclaredAgent<'r>,
        compiler: &'r mut Compiler,
        problems: &'r mut Problems,
    ) -> Option<Self> {
        let mut fields = Fields::open(node, called, problems)?;
        if fields.span == node.span {
            fields.span = span;
        }
        Some(Self {
            fields,
            span,
            agent,
            compiler,
            problems,
            limits: Vec::new(),
            tools: NamedTools::default(),
            server: None,
        })
    }

    /// Reports every key that is not known.
    pub(super) fn finish(self) {
        self.fields.finish(self.problems);
    }

    /// What stands at the key of a name; so do the next two, of which the first misses it.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'n Node> {
        self.fields.get(name)
    }

    pub(super) fn required(&mut self, name: &'static str) -> Option<&'n Node> {
        self.fields.required(name, self.problems)
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.fields.has(name)
    }

    /// Where the block's `expect:` asks of a target.
    pub(super) fn find_expected_target(&mut self, target: &str) -> Option<Span> {
        let asked = self.get("expect").and_then(Node::items).unwrap_or_default();
        let mut asked = asked.iter().filter_map(|assertion| assertion.get("target"));
        let asked = asked.find(|asked| {
            let path = asked
                .text()
                .and_then(|text| Target::parse(text, asked.span).ok());
            path.is_some_and(|path| path.prefix(path.segments.len()) == target)
        });
        asked.map(|asked| asked.span)
    }

    /// Whether one of some keys seems to be there misspelt.
    pub(super) fn misspells(&self, keys: &[&'static str]) -> bool {
        self.fields.misspells(keys)
    }

    /// Where the first of its keys stands.
    pub(super) fn first_key_span(&self) -> Span {
        self.fields.span
    }

    /// A mapping below this one, called so in messages.
    pub(super) fn nested<'b>(
        &'b mut self,
        node: &'b Node,
        called: &'static str,
    ) -> Option<Block<'b, 'b>> {
        let fields = Fields::open(node, called, self.problems)?;
        Some(Block {
            fields,
            span: self.span,
            agent: self.agent,
            compiler: self.compiler,
            problems: self.problems,
            limits: Vec::new(),
            tools: NamedTools::default(),
            server: None,
        })
    }
}

/// A number as it is written, where a node is one.
pub(super) fn number_text(node: &Node) -> Option<&str> {
    match &node.value {
        NodeValue::Number(_, written) => Some(written),
        _ => None,
    }
}
