//! Reading `expect:` lists: what is looked at, and what must hold of it.

use super::fields::Fields;
use super::problems::Problems;
use crate::model::{Assertion, Target};
use crate::{Diagnostic, Node, Span, matcher};

/// Reads the list; what is malformed is noted and left out.
pub(crate) fn list(node: &Node, problems: &mut Problems) -> Vec<Assertion> {
    let items = problems.items(node, "assertions").unwrap_or_default();
    items
        .iter()
        .filter_map(|item| assertion(item, problems))
        .collect()
}

/// Reads a gate's list, where a matcher that needs a model is a problem.
pub fn gate_list(node: &Node, problems: &mut Problems) -> Vec<Assertion> {
    let assertions = list(node, problems);
    for assertion in &assertions {
        if let Some((name, span)) = assertion.matcher.model_matchers().first() {
            problems.push(
                Diagnostic::at(
                    *span,
                    format!("`{name}` needs a model and cannot decide a gate"),
                )
                .note("gates are deterministic: the same recording always gives the same verdict")
                .help("use a deterministic matcher, e.g. `min: 0.5`"),
            );
        }
    }
    assertions
}

fn assertion(node: &Node, problems: &mut Problems) -> Option<Assertion> {
    if node.entries().is_none() {
        problems.push(
            Diagnostic::at(
                node.span,
                format!("expected an assertion, found {}", node.describe()),
            )
            .help("write `{ target: …, matcher: { … } }`"),
        );
        return None;
    }
    let mut fields = Fields::open(node, "an assertion", problems)?;
    let target = fields.required("target", problems);
    let matcher = fields.required("matcher", problems);
    let message = fields.get("message").and_then(|node| problems.text(node));
    let name = fields
        .get("name")
        .and_then(|node| problems.non_blank_text(node));
    for key in ["weight", "threshold"] {
        if let Some(entry) = fields.entry(key) {
            problems.push(
                Diagnostic::at(
                    entry.key_span,
                    format!("`{key}` scoring is not supported here yet"),
                )
                .help("remove it: every assertion must hold"),
            );
        }
    }
    fields.finish(problems);
    let target = target.and_then(|node| read_target(node, problems));
    let matcher = matcher.and_then(|node| matcher::read(node, problems));
    Some(Assertion {
        target: target?,
        matcher: matcher?,
        message,
        name,
    })
}

/// Reads a target path; a mistake is pointed at inside the path.
pub fn read_target(node: &Node, problems: &mut Problems) -> Option<Target> {
    let text = problems.text(node)?;
    let error = match Target::parse(&text, node.span) {
        Ok(target) => return Some(target),
        Err(error) => error,
    };
    // A plain scalar stands in the file as it reads, so the place inside it is known.
    let plain = node.span.end - node.span.start == text.len() && node.defined.is_none();
    let at = node.span.start + error.at;
    let span = if plain && error.at < text.len() {
        Span::new(at, at)
    } else {
        node.span
    };
    problems.push(
        Diagnostic::new(format!("`{text}` is not a target path"))
            .label(span, error.message)
            .help("a path looks like `tool_calls[0].args.city`, `tool_calls[*].name` or `tool_calls.length`"),
    );
    None
}
