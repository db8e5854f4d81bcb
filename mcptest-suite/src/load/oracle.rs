//! `oracle: observable`: verdicts come from what an agent did, never from what it said.
//!
//! Source: seed 3, "The observable-evidence oracle".

use super::problems::Problems;
use crate::model::{Assertion, Segment};
use crate::{Diagnostic, Node};

/// Where a model's own words lie in a trace.
const NARRATION: [&[&str]; 3] = [
    &["final_response"],
    &["conversation", "turns", "*", "content"],
    &["conversation", "per_turn", "*", "response"],
];

/// Reads the value of `oracle:`.
pub(super) fn read(node: &Node, problems: &mut Problems) -> bool {
    problems
        .choice(node, "oracle", &[("observable", true)])
        .unwrap_or_default()
}

/// Refuses assertions whose target can reach narration.
pub(super) fn check(assertions: &[Assertion], problems: &mut Problems) {
    for assertion in assertions {
        let target = &assertion.target;
        if reaches_narration(&target.segments) {
            problems.push(
                Diagnostic::at(target.span, format!("`{}` is what the model says, not what it did", target.text))
                    .note("`oracle: observable` lets only calls, arguments, results, status and counts decide")
                    .help("assert on `tool_calls`, `tool_results` or `outcome` instead"),
            );
        }
    }
}

/// Whether one of the two paths continues the other, whatever the indices.
fn reaches_narration(target: &[Segment]) -> bool {
    NARRATION.iter().any(|narration| {
        narration
            .iter()
            .zip(target)
            .all(|(step, segment)| match segment {
                Segment::Key(key) => step == key,
                Segment::Index(_) | Segment::Every => *step == "*",
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use crate::model::Target;

    #[test]
    fn every_path_to_text_is_refused_and_counts_are_not() {
        for (path, reaches) in [
            ("final_response", true),
            ("final_response.length", true),
            ("conversation", true),
            ("conversation.turns", true),
            ("conversation.turns[*]", true),
            ("conversation.turns[-1].content", true),
            ("conversation.per_turn[0].response", true),
            ("conversation.turns.length", false),
            ("conversation.turns[0].role", false),
            ("conversation.tokens.total", false),
            ("tool_calls[*].name", false),
        ] {
            let target = Target::parse(path, Span::default()).unwrap();
            assert_eq!(reaches_narration(&target.segments), reaches, "{path}");
        }
    }
}
