//! Matchers that hold for everything, or for nothing: no recording can decide them, so they are
//! mistakes of the suite. Of schemas `schema::vacuous` says it.

use super::problems::Problems;
use crate::model::{Matcher, MatcherKind};
use crate::{Diagnostic, Node, NodeValue, Span};

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

/// Notes the first empty text below what an argument shape looks for: every text has one, and it says nothing
/// of an argument. The elements of a list are compared whole in `contains`, so an empty one there is a demand.
pub fn empty_text(name: &str, node: &Node, problems: &mut Problems) {
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
            _ => "stands in every text",
        };
        let message = format!("`{name}` looks for an empty text, which {what}");
        let problem = Diagnostic::at(span, message).help("leave it out");
        problems.push(
            problem
                .help("where the text must be empty, use `exact`, or `schema` with `const: \"\"`"),
        );
    }
}

/// Notes a matcher that stands beside its own `not`: one of the two holds for every value.
pub(super) fn contradiction(name: &str, matchers: &[Matcher], problems: &mut Problems) {
    let denied = |matcher: &&Matcher| {
        let is_denied = |other: &Matcher| match &other.kind {
            MatcherKind::Not(inner) => inner.kind == matcher.kind,
            _ => false,
        };
        matchers.iter().any(is_denied)
    };
    let Some(matcher) = matchers.iter().find(denied) else {
        return;
    };
    let (holds, which) = match name {
        "allOf" => ("for nothing", "the two"),
        _ => ("for every value", "one of the two"),
    };
    let message = format!("`{name}` of a matcher and its `not` holds {holds}");
    problems.push(
        Diagnostic::at(matcher.span, message)
            .note("what no run can decide is no test")
            .help(format!("remove {which}")),
    );
}

/// What is said of a demand that holds for `what`.
#[must_use]
pub fn holds_for(demand: &str, what: &str, span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("`{demand}` holds for {what}"))
        .note("what no run can decide is no test")
        .help("say what to look for, or leave it out")
}
