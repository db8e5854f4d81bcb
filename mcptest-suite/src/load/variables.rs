//! `${name}` in any string, one pass, values only.

use std::collections::BTreeMap;

use super::problems::{Problems, did_you_mean};
use crate::{Diagnostic, Node, NodeValue, Source};

/// Takes `variables:` out of the document's top level and fills them in everywhere else.
pub(crate) fn fill_in(document: &mut Node, source: &Source, problems: &mut Problems) {
    let variables = declared(document, problems);
    let NodeValue::Map(entries) = &mut document.value else {
        return;
    };
    for entry in entries.iter_mut().filter(|entry| entry.key != "variables") {
        fill_node(&mut entry.value, &variables, source, problems);
    }
}

fn declared(document: &Node, problems: &mut Problems) -> BTreeMap<String, NodeValue> {
    let Some(node) = document.get("variables") else {
        return BTreeMap::new();
    };
    let Some(entries) = node.entries() else {
        problems.expected("a mapping of names to values", node);
        return BTreeMap::new();
    };
    let mut variables = BTreeMap::new();
    for entry in entries {
        if is_compound(&entry.value.value) {
            problems.expected("a single value for a variable", &entry.value);
        }
        // Kept even so: its uses are not a second problem.
        variables.insert(entry.key.clone(), entry.value.value.clone());
    }
    variables
}

/// Whether a value cannot stand inside text.
fn is_compound(value: &NodeValue) -> bool {
    matches!(
        value,
        NodeValue::List(_) | NodeValue::Map(_) | NodeValue::Null
    )
}

fn fill_node(
    node: &mut Node,
    variables: &BTreeMap<String, NodeValue>,
    source: &Source,
    problems: &mut Problems,
) {
    match &mut node.value {
        NodeValue::List(items) => {
            for item in items {
                fill_node(item, variables, source, problems);
            }
        }
        NodeValue::Map(entries) => {
            for entry in entries {
                fill_node(&mut entry.value, variables, source, problems);
            }
        }
        NodeValue::Text(text) if text.contains("${") => {
            // What is quoted, or a block of text, is text whatever the variable is.
            let plain = source.slice(node.span).starts_with(['$', '&']);
            if let Some(value) = fill_text(text, plain, node.span, variables, problems) {
                node.value = value;
            }
        }
        _ => {}
    }
}

fn fill_text(
    text: &str,
    plain: bool,
    span: crate::Span,
    variables: &BTreeMap<String, NodeValue>,
    problems: &mut Problems,
) -> Option<NodeValue> {
    // A value that is nothing but one variable keeps the variable's type: `runs: ${n}`.
    let whole = text
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    if let Some(value) = whole.and_then(|name| variables.get(name))
        && plain
        && !is_compound(value)
    {
        return Some(value.clone());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut good = true;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let Some(end) = after.find('}') else {
            let message = format!("`${{` without a closing `}}` in `{text}`");
            problems.push(
                Diagnostic::at(span, message).help("write `$${` for the two characters themselves"),
            );
            return None;
        };
        let name = &after[..end];
        match variables.get(name) {
            Some(NodeValue::Text(value) | NodeValue::Number(_, value)) => out.push_str(value),
            Some(NodeValue::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
            // Reported where it is declared.
            Some(_) => good = false,
            None => {
                let problem = Diagnostic::at(span, format!("unknown variable `{name}`"));
                let known = variables.keys().map(String::as_str);
                problems.push(if variables.is_empty() {
                    problem.help("declare it under `variables:`, or write `$${` for the two characters themselves")
                } else {
                    did_you_mean(problem, name, known, "variables")
                });
                good = false;
            }
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    good.then_some(NodeValue::Text(out))
}
