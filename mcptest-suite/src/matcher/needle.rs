//! Reading what matchers look for: something, and not everything.

use serde_json::Value;

use crate::load::problems::Problems;
pub(super) use crate::load::vacuous::Sought;
use crate::load::{vacuous, values};
use crate::{Diagnostic, Node, NodeValue};

/// A value that a matcher of a key looks for.
pub(super) fn value(
    key: &str,
    sought: Sought,
    node: &Node,
    problems: &mut Problems,
) -> Option<Value> {
    if node.value == NodeValue::Null {
        problems.push(
            Diagnostic::at(
                node.span,
                format!("`{key}` looks for something, found nothing"),
            )
            .help("write `{ exact: null }` if the value must be `null`"),
        );
        return None;
    }
    vacuous::check_sought(key, sought, node, problems);
    Some(values::read(node, problems))
}

/// Reads a list of values that a matcher looks for.
pub(super) fn list(key: &str, node: &Node, problems: &mut Problems) -> Option<Vec<Value>> {
    let items = problems.items(node, "values")?;
    let read: Vec<_> = items
        .iter()
        .map(|item| value(key, Sought::OneOfSeveral, item, problems))
        .collect();
    read.into_iter().collect()
}

/// Reads a text that a matcher looks for.
pub(super) fn text(key: &str, node: &Node, problems: &mut Problems) -> Option<String> {
    let text = problems.text(node)?;
    vacuous::check_sought(key, Sought::Part, node, problems);
    Some(text)
}
