//! Demands that hold for everything, or for nothing: no recording can decide them, so they are
//! mistakes of the suite.

use super::fields::Problems;
use crate::{Diagnostic, Node, NodeValue, Span};

/// Regular expressions that match every text.
const MATCH_ALL: [&str; 7] = ["", ".*", ".*?", "^", "$", "^.*", ".*$"];

/// Keywords of a JSON Schema that ask nothing of a value by themselves.
const ASK_NOTHING: [&str; 18] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "$vocabulary",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "id",
    "if",
    "readOnly",
    "title",
    "writeOnly",
    "contentMediaType",
];

/// Notes what a matcher is looking for where everything holds that. `name` is the matcher's key.
pub fn needle(name: &str, node: &Node, problems: &mut Problems) {
    let text = matches!(&node.value, NodeValue::Text(text) if text.is_empty());
    let list = node.items().is_some_and(<[Node]>::is_empty);
    let object = node.entries().is_some_and(<[_]>::is_empty);
    let (shown, what) = match name {
        "subset" if object => ("{}", "every object"),
        "subset" => return,
        _ if text => ("\"\"", "every text"),
        _ if list => ("[]", "every list"),
        _ if object => ("{}", "every object"),
        _ => return,
    };
    let demand = match name {
        "contains-all" | "contains-any" => format!("{name}: [{shown}]"),
        _ => format!("{name}: {shown}"),
    };
    problems.push(holds_for(&demand, what, node.span));
}

/// Notes a regular expression that matches every text.
pub(super) fn regex(pattern: &str, span: Span, problems: &mut Problems) {
    if MATCH_ALL.contains(&pattern) {
        let demand = format!("regex: {pattern:?}");
        problems.push(holds_for(&demand, "every text", span));
    }
}

/// Notes a schema that every value, or none, is valid against.
pub(super) fn schema(node: &Node, problems: &mut Problems) {
    if asks_nothing(node) {
        problems.push(
            Diagnostic::at(node.span, "every value is valid against this schema")
                .note("what no run can decide is no test")
                .help("say what must be there, e.g. `{ type: string, minLength: 1 }`, or leave it out"),
        );
    } else if fits_nothing(node) {
        problems.push(
            Diagnostic::at(node.span, "no value is valid against this schema")
                .note("what no run can decide is no test")
                .help("say what must be there, e.g. `{ type: string, minLength: 1 }`"),
        );
    }
}

fn asks_nothing(node: &Node) -> bool {
    let Some(entries) = node.entries() else {
        return node.value == NodeValue::Bool(true);
    };
    let branches = |node: &Node| node.get("then").or_else(|| node.get("else")).is_some();
    entries.iter().all(|entry| match entry.key.as_str() {
        "if" => !branches(node),
        "allOf" => entry
            .value
            .items()
            .unwrap_or_default()
            .iter()
            .all(asks_nothing),
        "anyOf" => entry
            .value
            .items()
            .unwrap_or_default()
            .iter()
            .any(asks_nothing),
        "not" => fits_nothing(&entry.value),
        key => ASK_NOTHING.contains(&key),
    })
}

fn fits_nothing(node: &Node) -> bool {
    let Some(entries) = node.entries() else {
        return node.value == NodeValue::Bool(false);
    };
    entries.iter().any(|entry| match entry.key.as_str() {
        "allOf" => entry
            .value
            .items()
            .unwrap_or_default()
            .iter()
            .any(fits_nothing),
        "not" => asks_nothing(&entry.value),
        _ => false,
    })
}

fn holds_for(demand: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("`{demand}` holds for {what}"))
        .note("what no run can decide is no test")
        .help("say what to look for, or leave it out")
}
