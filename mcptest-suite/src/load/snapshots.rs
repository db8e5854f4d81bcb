//! Snapshot matchers: each needs a name of its own, and recorded values to look at.

use std::collections::HashMap;

use super::problems::Problems;
use crate::matcher::{Asks, Matcher};
use crate::model::Assertion;
use crate::{Diagnostic, Span, segment};

/// What a snapshot's file is named after when its name has no letter or digit.
const NAMELESS: &str = "value";

/// Notes snapshots of one agent that would share a file.
pub(super) fn check_names(assertions: &[Assertion], problems: &mut Problems) {
    let mut seen: HashMap<String, Span> = HashMap::new();
    for assertion in assertions {
        let mut own = Vec::new();
        collect(&assertion.matcher, &mut own);
        for (span, name) in own {
            let target = &assertion.target;
            let (name, named_at) = match name.or(assertion.name.as_ref()) {
                Some(name) => (name.value.as_str(), name.span),
                None => (target.text.as_str(), target.span),
            };
            let file = segment(name).unwrap_or_else(|| NAMELESS.to_owned());
            let Some(first) = seen.get(&file).copied() else {
                seen.insert(file, named_at);
                continue;
            };
            let problem =
                Diagnostic::new(format!("two snapshots of this agent are named `{file}`"))
                    .note("a snapshot is named by its matcher, else by its assertion's `name`, else by its target")
                    .help("give each its own: `matcher: { snapshot: another_name }`");
            problems.push(if first == named_at {
                problem.label(span, "another snapshot of the same name")
            } else {
                problem
                    .label(named_at, "again here")
                    .secondary_label(first, "first here")
            });
        }
    }
}

/// Notes snapshot matchers among a gate's assertions: what a gate computes is numbers.
pub fn refuse(assertions: &[Assertion], problems: &mut Problems) {
    for assertion in assertions {
        let mut own = Vec::new();
        collect(&assertion.matcher, &mut own);
        for (span, _) in own {
            problems.push(
                Diagnostic::at(span, "a gate's targets cannot be compared with a snapshot")
                    .help("use `exact`, `min`, `max` or `between`"),
            );
        }
    }
}

/// Every snapshot matcher in a matcher: its place, and its name if it has one of its own.
fn collect<'a>(matcher: &'a Matcher, found: &mut Vec<(Span, Option<&'a crate::Spanned<String>>)>) {
    let asks = matcher.asks();
    if let Asks::Snapshot(name) = asks {
        found.push((matcher.span(), name));
    }
    for inner in asks.inner() {
        collect(inner, found);
    }
}
