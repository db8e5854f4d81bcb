//! A document as a tree with a place for every node.
//!
//! Nothing here knows YAML: a tree is what reading one gives.

use serde_json::{Number, Value};

use crate::Span;

/// A value of the document and where it stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Where it is written, or where an alias uses it.
    pub span: Span,
    /// Where the anchor defines it, when `span` is an alias.
    pub defined: Option<Span>,
}

/// The kinds of value.
///
/// A closed set: YAML has no others.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with the text it was written as.
    Number(Number, String),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in the order of the file, keys unique.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// What the value is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(..) => "a number",
            NodeValue::Text(_) => "text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a mapping",
        }
    }

    /// What is there, for messages: a short scalar as it reads, else its kind.
    #[must_use]
    pub fn describe(&self) -> String {
        const LONGEST: usize = 40;
        match &self.value {
            NodeValue::Bool(flag) => format!("`{flag}`"),
            NodeValue::Number(_, written) => format!("`{written}`"),
            NodeValue::Text(text) if text.is_empty() => "empty text".to_owned(),
            NodeValue::Text(text) if text.chars().count() <= LONGEST => {
                format!("the text `{text}`")
            }
            NodeValue::List(items) if items.is_empty() => "an empty list".to_owned(),
            NodeValue::Map(entries) if entries.is_empty() => "an empty mapping".to_owned(),
            _ => self.kind().to_owned(),
        }
    }

    /// The entries of a mapping.
    #[must_use]
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            NodeValue::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value below a key of a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.value)
    }

    /// The items of a list.
    #[must_use]
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            NodeValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// A mapping with this node at its one key, in the place of this node.
    #[must_use]
    pub fn wrapped_in(&self, key: &str) -> Self {
        let entry = Entry {
            key: key.to_owned(),
            key_span: self.span,
            value: self.clone(),
        };
        Self {
            value: NodeValue::Map(vec![entry]),
            ..*self
        }
    }

    /// The text of a scalar where text is wanted: a number is taken as it was written.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) | NodeValue::Number(_, text) => Some(text),
            _ => None,
        }
    }

    /// The number, as a 64-bit float.
    pub(crate) fn number(&self) -> Option<f64> {
        match &self.value {
            NodeValue::Number(number, _) => number.as_f64(),
            _ => None,
        }
    }

    /// Whether nothing is written where the value would stand: `key:`, and not `key: null`.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        let written = self.defined.unwrap_or(self.span);
        self.value == NodeValue::Null && written.start == written.end
    }

    /// The value as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(flag) => Value::Bool(*flag),
            NodeValue::Number(number, _) => Value::Number(number.clone()),
            NodeValue::Text(text) => Value::String(text.clone()),
            NodeValue::List(items) => items.iter().map(Self::to_json).collect(),
            NodeValue::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.to_json()))
                .collect(),
        }
    }

    /// The deepest node on the way a JSON pointer takes (`/properties/a/0`).
    #[must_use]
    pub fn at_pointer(&self, pointer: &str) -> &Node {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = node
                .get(&step)
                .or_else(|| node.items()?.get(step.parse::<usize>().ok()?));
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use crate::{Node, Source, parse};

    #[test]
    fn a_value_that_is_left_out_is_not_a_null_that_is_written() {
        let source = Source::new(
            "a.yml",
            "a.yml",
            "[{a: }, {a: null}, {a: ~}, {a: ''}, {a: {}}]",
        );
        let node: Node = parse::read(&source, &mut Vec::new()).unwrap();
        let left_out = node.items().unwrap().iter();
        let left_out = left_out.map(|item| item.get("a").unwrap().is_left_out());
        assert_eq!(
            left_out.collect::<Vec<_>>(),
            [true, false, false, false, false]
        );
    }

    #[test]
    fn a_pointer_finds_the_deepest_node_there_is() {
        let source = Source::new("a.yml", "a.yml", "a: {b/c: [1, {d: x}]}");
        let node: Node = parse::read(&source, &mut Vec::new()).unwrap();
        assert_eq!(node.at_pointer("/a/b~1c/1/d").text(), Some("x"));
        assert_eq!(node.at_pointer("/a/nope/1").kind(), "a mapping");
    }
}
