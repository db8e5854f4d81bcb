//! What may stand at a key that is more than a number or a text: words, mappings, lists of mappings, and what a
//! gate reads its own way.

use mcptest_suite::Node;
use serde_json::{Value, json};

use super::block::Block;
use super::key::{Form, Keyed, OptionInfo, mapping_schema, options_with_roles};

/// A value that is written as one of some words.
pub(super) struct WordForm<O, T: 'static> {
    /// What messages call it.
    pub(super) what: &'static str,
    pub(super) choices: &'static [(&'static str, T)],
    pub(super) at: fn(&mut O) -> &mut T,
}

impl<O, T: Copy + PartialEq> Form<O> for WordForm<O, T> {
    fn schema(&self) -> Value {
        let words = self.choices.iter().map(|(word, _)| *word);
        json!({ "enum": words.collect::<Vec<_>>() })
    }

    fn read(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool {
        let chosen = block.problems.choice(node, self.what, self.choices);
        if let Some(chosen) = chosen {
            *(self.at)(options) = chosen;
        }
        chosen.is_some()
    }

    fn default_value(&self, usual: &mut O) -> Option<Value> {
        let usual = *(self.at)(usual);
        let word = self.choices.iter().find(|(_, choice)| *choice == usual);
        word.map(|(word, _)| (*word).into())
    }
}

/// A value that is a mapping with keys of its own.
pub(super) struct MappingForm<O, P> {
    /// What messages call it.
    pub(super) called: &'static str,
    pub(super) at: fn(&mut O) -> &mut P,
}

impl<O, P: Keyed> Form<O> for MappingForm<O, P> {
    fn schema(&self) -> Value {
        mapping_schema::<P>()
    }

    fn read(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool {
        let read = block.read_nested(node, self.called);
        let is_read = read.is_some();
        if let Some(read) = read {
            *(self.at)(options) = read;
        }
        is_read
    }

    fn options(&self, path: &[&'static str]) -> Vec<OptionInfo> {
        options_with_roles::<P>(path)
    }
}

/// A value that is a list of mappings.
pub(super) struct ListForm<O, P> {
    /// What messages call the list.
    pub(super) of: &'static str,
    /// What they call one of the mappings.
    pub(super) one: &'static str,
    pub(super) at: fn(&mut O) -> &mut Vec<P>,
}

impl<O, P: Keyed> Form<O> for ListForm<O, P> {
    fn schema(&self) -> Value {
        let mut item = mapping_schema::<P>();
        item["description"] = sentence(self.one).into();
        json!({ "type": "array", "items": item })
    }

    fn read(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool {
        let before = block.problems.noted();
        *(self.at)(options) = block.read_list(node, self.of, self.one);
        block.problems.noted() == before
    }

    fn options(&self, path: &[&'static str]) -> Vec<OptionInfo> {
        options_with_roles::<P>(path)
    }
}

/// A few words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// A value that only one gate reads, with a schema and a reader of its own.
pub(super) struct CustomForm<O> {
    pub(super) schema: fn() -> Value,
    pub(super) read: fn(&mut Block<'_, '_>, &Node, &mut O) -> bool,
}

impl<O> Form<O> for CustomForm<O> {
    fn schema(&self) -> Value {
        (self.schema)()
    }

    fn read(&self, block: &mut Block<'_, '_>, node: &Node, options: &mut O) -> bool {
        (self.read)(block, node, options)
    }
}
