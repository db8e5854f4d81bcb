//! Demands of an agent's own `expect:` on numbers and words of a recorded run that are known.

use mcptest_trace::eval::{Better, Measure, Unit};
use mcptest_trace::trace::StopReason;

use super::demand;
use super::problems::Problems;
use crate::model::{Assertion, Segment};

/// Numbers of a recorded run that an agent's own `expect:` can look at.
const OF_A_RUN: [Measure; 10] = [
    Measure::count("tool_calls.length", Better::Neither, "calls"),
    Measure::count("tool_names.length", Better::Neither, "calls"),
    Measure::count("successful_tool_names.length", Better::Neither, "calls"),
    tokens("conversation.tokens.total"),
    tokens("conversation.tokens.prompt"),
    tokens("conversation.tokens.completion"),
    Measure::count(
        "conversation.message_count",
        Better::Neither,
        "messages of the conversation",
    )
    .sometimes(),
    Measure::amount(
        "conversation.duration_ms",
        Unit::Milliseconds,
        Better::Lower,
        "how long it took",
    )
    .sometimes(),
    Measure::count(
        "redundant_tool_calls",
        Better::Lower,
        "calls that repeat an earlier one",
    ),
    Measure::flag(
        "truncated",
        Better::Lower,
        "1 when the run did not complete",
    ),
];

const fn tokens(name: &'static str) -> Measure {
    Measure::amount(name, Unit::Tokens, Better::Lower, "tokens of the run").sometimes()
}

/// The length of a list or a text of a run.
const LENGTH: Measure = Measure::count("length", Better::Neither, "its length").sometimes();

/// Why a run stopped, as the recorder words it; recordings of others may have other words.
const STOP_REASON: Measure = Measure::amount(
    "conversation.stop_reason",
    Unit::Word(StopReason::WORDS),
    Better::Neither,
    "why the run stopped",
)
.sometimes();

/// Notes what an agent's assertions ask of these that never or always holds.
pub(super) fn check(assertions: &[Assertion], problems: &mut Problems) {
    for assertion in assertions {
        let path = assertion.target.text.as_str();
        if path == STOP_REASON.name {
            demand::check_word(assertion, &STOP_REASON, problems);
            continue;
        }
        let known = OF_A_RUN.iter().find(|target| target.name == path);
        let length = || is_length(&assertion.target.segments).then_some(&LENGTH);
        if let Some(target) = known.or_else(length) {
            demand::check(assertion, target, &[], problems);
        }
    }
}

/// Whether a path is the length of what is a list or a text in every run, and no key of that name.
fn is_length(path: &[Segment]) -> bool {
    let (Some(Segment::Key(last)), Some(holder)) = (path.last(), path.split_last()) else {
        return false;
    };
    let holder: Vec<&str> = holder
        .1
        .iter()
        .map(|segment| match segment {
            Segment::Key(key) => key,
            Segment::Index(_) => "[n]",
            Segment::Every => "[*]",
        })
        .collect();
    last == "length"
        && matches!(
            holder.as_slice(),
            ["final_response" | "tool_results"]
                | ["conversation", "turns" | "steps" | "per_turn"]
                | ["conversation", "turns", "[n]", "content"]
        )
}
