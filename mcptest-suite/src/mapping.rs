//! The entries of a mapping while it is read: every key a word, and none twice.

use std::collections::HashMap;

use crate::{Diagnostic, Entry, Node, NodeValue};

/// Up to this many entries are looked through one by one.
const FEW: usize = 16;

#[derive(Default)]
pub(crate) struct Mapping {
    entries: Vec<Entry>,
    /// Where each key stands in `entries`, once there are more than a few.
    places: HashMap<String, usize>,
}

impl Mapping {
    /// Adds an entry, or a problem when its key cannot be one or is there already.
    pub(crate) fn add(&mut self, key: Node, value: Node, problems: &mut Vec<Diagnostic>) {
        let name = match key.value {
            NodeValue::Text(text) | NodeValue::Number(_, text) => text,
            NodeValue::Bool(flag) => flag.to_string(),
            NodeValue::Null => "null".to_owned(),
            NodeValue::List(_) | NodeValue::Map(_) => {
                let message = format!("a key must be a word, found {}", key.kind());
                problems.push(Diagnostic::at(key.span, message));
                return;
            }
        };
        if let Some(first) = self.find(&name) {
            // A key that a merge brings in gives way to the one written here.
            if key.defined.is_none() {
                problems.push(
                    Diagnostic::new(format!("duplicate key `{name}`"))
                        .label(key.span, "again here")
                        .secondary_label(first.key_span, "first here")
                        .help("keep one of the two; nothing says which one is meant"),
                );
            }
            return;
        }
        if self.entries.len() == FEW {
            let places = self.entries.iter().enumerate();
            self.places = places.map(|(at, entry)| (entry.key.clone(), at)).collect();
        }
        if self.entries.len() >= FEW {
            self.places.insert(name.clone(), self.entries.len());
        }
        self.entries.push(Entry {
            key: name,
            key_span: key.span,
            value,
        });
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        if self.entries.len() <= FEW {
            return self.entries.iter().find(|entry| entry.key == name);
        }
        self.entries.get(*self.places.get(name)?)
    }

    /// All entries, in the order of the file.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}
