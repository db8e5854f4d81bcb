//! Reading a gate's block straight into the options of its metric.

use mcptest_suite::read::{DeclaredAgent, Fields, Problems};
use mcptest_suite::{Diagnostic, Node, NodeValue, Span, Spanned};

use super::key::{Key, Range, TOOL, Takes};
use crate::check::Compiler;
use crate::eval::ToolPattern;

/// The block of a gate, or a mapping below it, while it is read. A key that is not declared is not
/// there, and reading it gives nothing.
pub(crate) struct Block<'n, 'r> {
    fields: Fields<'n>,
    keys: &'static [Key],
    /// Where the gate's key stands.
    pub(super) span: Span,
    pub(super) agent: &'r DeclaredAgent<'r>,
    pub(super) compiler: &'r mut Compiler,
    pub(super) problems: &'r mut Problems,
}

impl<'n, 'r> Block<'n, 'r> {
    /// Opens the block of a gate, called so in messages; `span` is where its key stands.
    pub(super) fn open(
        (node, span): (&'n Node, Span),
        called: &'static str,
        keys: &'static [Key],
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
            keys,
            span,
            agent,
            compiler,
            problems,
        })
    }

    /// The value of a key that some gates have and that is no option of theirs.
    pub(super) fn undeclared(&mut self, key: &'static str) -> Option<&'n Node> {
        self.fields.get(key)
    }

    /// Reports every key that is not known.
    pub(super) fn finish(self) {
        self.fields.finish(self.problems);
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// What stands at a key.
    pub(super) fn node(&mut self, name: &str) -> Option<&'n Node> {
        let key = self.key(name)?;
        let in_its_place = key.unless.is_some_and(|other| self.fields.has(other));
        if key.required && !in_its_place {
            self.fields.required(key.name, self.problems)
        } else {
            self.fields.get(key.name)
        }
    }

    /// Whether something stands at a key.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.has(name)
    }

    /// Whether one of some keys seems to be there misspelt.
    pub(super) fn misspells(&self, keys: &[&'static str]) -> bool {
        self.fields.misspells(keys)
    }

    /// Where the first of its keys stands.
    pub(super) fn first(&self) -> Span {
        self.fields.span
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let node = self.node(name)?;
        self.problems.flag(node)
    }

    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        match key.takes {
            Takes::Count(least) => Some(self.problems.count(node, least)?.value),
            _ => None,
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        match key.takes {
            Takes::Number(Range::Above0) => self.problems.positive(node),
            Takes::Number(Range::UpTo(most) | Range::Above0UpTo(most)) => {
                self.problems.number(node, 0.0, most)
            }
            Takes::Number(Range::AtLeast0) => self.problems.number(node, 0.0, f64::INFINITY),
            _ => None,
        }
    }

    /// Reads a flag into an option, which stays as it is where nothing stands; so do the next two.
    pub(super) fn flag_into(&mut self, name: &str, option: &mut bool) {
        *option = self.flag(name).unwrap_or(*option);
    }

    pub(super) fn count_into(&mut self, name: &str, option: &mut u64) {
        *option = self.count(name).unwrap_or(*option);
    }

    pub(super) fn number_into(&mut self, name: &str, option: &mut f64) {
        *option = self.number(name).unwrap_or(*option);
    }

    pub(super) fn text(&mut self, name: &str) -> Option<Spanned<String>> {
        let node = self.node(name)?;
        self.problems.words(node)
    }

    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<Spanned<String>>> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        match key.takes {
            Takes::Texts { of, may_be_empty } if may_be_empty => {
                Some(self.problems.any_texts(node, of))
            }
            Takes::Texts { of, .. } => Some(self.problems.texts(node, of)),
            _ => None,
        }
    }

    /// Tool patterns, each with its place: a text, or a mapping with the server that the tool is of.
    pub(super) fn tools(&mut self, name: &str) -> Option<Vec<Spanned<ToolPattern>>> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        let Takes::Tools(of) = key.takes else {
            return None;
        };
        if node.items().is_none() {
            self.problems.texts(node, of);
            return Some(Vec::new());
        }
        let items = self.problems.items(node, of).unwrap_or_default();
        let patterns = items.iter().filter_map(|item| {
            let pattern = if item.entries().is_some() {
                let pattern = self.below(item, "a tool pattern", TOOL, |block| {
                    let (name, server) = (block.text("name"), block.text("server"));
                    Some(ToolPattern::new(name?.value).with_server(server?.value))
                });
                pattern??
            } else {
                ToolPattern::new(self.problems.words(item)?.value)
            };
            Some(Spanned::new(pattern, item.span))
        });
        Some(patterns.collect())
    }

    /// The same without their places; empty where nothing stands.
    pub(super) fn names(&mut self, name: &str) -> Vec<String> {
        let texts = self.texts(name).unwrap_or_default();
        texts.into_iter().map(|text| text.value).collect()
    }

    /// One of some words, as what it stands for; `what` is what messages call it.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &str,
        what: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let node = self.node(name)?;
        self.problems.choice(node, what, choices)
    }

    /// Reads the mapping at a key.
    pub(super) fn mapping<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Block<'n, '_>) -> T,
    ) -> Option<T> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        match key.takes {
            Takes::Mapping(called, keys) => self.below(node, called, keys, read),
            _ => None,
        }
    }

    /// Reads each mapping of the list at a key; nothing where nothing stands there.
    pub(super) fn each<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Block<'n, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (key, node) = (self.key(name)?, self.node(name)?);
        let Takes::Each { of, one, keys } = key.takes else {
            return None;
        };
        let items = self.problems.any_items(node, of);
        let read = items.iter().filter_map(|item| {
            if let (Some(text), Some(only)) = (item.text(), the_required(keys)) {
                self.named_alone(item, text, one, only);
                return None;
            }
            self.below(item, one, keys, &mut read)?
        });
        Some(read.collect())
    }

    /// Notes text in the place of a mapping of which it would be one value.
    fn named_alone(&mut self, node: &Node, text: &str, one: &str, key: &str) {
        let message = format!("expected a mapping for {one}, found text");
        let help = format!("write `{{ {key}: {text} }}`");
        self.problems
            .push(Diagnostic::at(node.span, message).help(help));
    }

    /// Reads a mapping below this one.
    pub(super) fn below<T>(
        &mut self,
        node: &'n Node,
        called: &'static str,
        keys: &'static [Key],
        read: impl FnOnce(&mut Block<'n, '_>) -> T,
    ) -> Option<T> {
        let fields = Fields::open(node, called, self.problems)?;
        let mut block = Block {
            fields,
            keys,
            span: self.span,
            agent: self.agent,
            compiler: self.compiler,
            problems: self.problems,
        };
        let value = read(&mut block);
        block.finish();
        Some(value)
    }
}

/// The one key that must be there, where there is one.
fn the_required(keys: &[Key]) -> Option<&'static str> {
    let mut required = keys.iter().filter(|key| key.required).map(|key| key.name);
    let first = required.next()?;
    required.next().is_none().then_some(first)
}

/// A number as it is written, where a node is one.
pub(super) fn written(node: &Node) -> Option<&str> {
    match &node.value {
        NodeValue::Number(_, written) => Some(written),
        _ => None,
    }
}
