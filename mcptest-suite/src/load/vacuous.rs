//! Demands that hold for everything: no recording can decide them, so they are mistakes of the suite. Of
//! schemas `schema::vacuous` says it.

use super::problems::Problems;
use crate::{Diagnostic, Node, NodeValue, Span};

/// How something is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought {
    /// As a part of what is found.
    Part,
    /// As a part of what is found, where several are looked for.
    OneOfSeveral,
    /// All that it says, by its value.
    Whole,
}

/// Notes what an argument shape is looking for where everything holds that. `name` is the shape's key.
pub fn check_needle(name: &str, node: &Node, problems: &mut Problems) {
    let sought = match name {
        "subset" => Sought::Whole,
        _ => Sought::Part,
    };
    check_sought(name, sought, node, problems);
}

/// Notes what a matcher or a shape looks for where everything holds that. `key` is its key.
pub(crate) fn check_sought(key: &str, sought: Sought, node: &Node, problems: &mut Problems) {
    let text = matches!(&node.value, NodeValue::Text(text) if text.is_empty());
    let list = node.items().is_some_and(<[Node]>::is_empty);
    let object = node.entries().is_some_and(<[_]>::is_empty);
    let (shown, what) = match sought {
        Sought::Part | Sought::OneOfSeveral if text => ("\"\"", "every text"),
        Sought::Part | Sought::OneOfSeveral if list => ("[]", "every list"),
        _ if object => ("{}", "every object"),
        Sought::Part | Sought::OneOfSeveral | Sought::Whole => return,
    };
    let demand = match sought {
        Sought::OneOfSeveral => format!("{key}: [{shown}]"),
        Sought::Part | Sought::Whole => format!("{key}: {shown}"),
    };
    problems.push(always_true(&demand, what, node.span));
}

/// Notes the first empty text below what an argument shape looks for: every text has one, and it says nothing
/// of an argument. The elements of a list are compared whole in `contains`, so an empty one there is a demand.
pub fn check_no_empty_text(name: &str, node: &Node, problems: &mut Problems) {
    fn find(node: &Node, lists: bool) -> Option<Span> {
        match &node.value {
            NodeValue::Text(text) if text.is_empty() => Some(node.span),
            _ => {
                let items = node.items().filter(|_| lists).unwrap_or_default();
                let entries = node.entries().unwrap_or_default();
                let mut below = items.iter().chain(entries.iter().map(|entry| &entry.value));
                below.find_map(|node| find(node, lists))
            }
        }
    }
    // At the top, `needle` says it.
    if matches!(node.value, NodeValue::Text(_)) {
        return;
    }
    if let Some(span) = find(node, name == "subset") {
        let what = match name {
            "subset" => "says nothing",
            _ => "is in every text",
        };
        let message = format!("`{name}` looks for an empty text, which {what}");
        let problem = Diagnostic::at(span, message).help("leave it out");
        problems.push(
            problem.help("if the text must be empty, use `exact`, or `schema` with `const: \"\"`"),
        );
    }
}

/// The problem that a demand holds for all of a kind: `what`, as *every text*.
#[must_use]
pub fn always_true(demand: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("`{demand}` holds for {what}"))
        .note("every run gets the same verdict here, so nothing is tested")
        .help("say what to look for, or leave it out")
}
