//! Demands of an agent's own `expect:` on numbers and words of a recorded run that are known.

use mcptest_trace::eval::{Measure, Unit};
use mcptest_trace::trace::StopReason;

use super::demand;
use super::problems::Problems;
use crate::model::{Assertion, Segment};

/// Numbers of a recorded run that an agent's own `expect:` can look at.
const OF_A_RUN: [Measure; 10] = [
    count("tool_calls.length").only_describes("calls"),
    count("tool_names.length").only_describes("calls"),
    count("successful_tool_names.length").only_describes("calls"),
    tokens("conversation.tokens.total"),
    tokens("conversation.tokens.prompt"),
    tokens("conversation.tokens.completion"),
    count("conversation.message_count")
        .optional()
        .only_describes("messages of the conversation"),
    Measure::new("conversation.duration_ms", Unit::Milliseconds)
        .optional()
        .lower_is_better("how long it took"),
    count("redundant_tool_calls").lower_is_better("calls that repeat an earlier one"),
    Measure::new("truncated", Unit::Flag).lower_is_better("1 when the run did not complete"),
];

const fn count(name: &'static str) -> Measure {
    Measure::new(name, Unit::Count)
}

const fn tokens(name: &'static str) -> Measure {
    let tokens = Measure::new(name, Unit::Tokens).optional();
    tokens.lower_is_better("tokens of the run")
}

/// The length of a list or a text of a run.
const LENGTH: Measure = count("length").optional().only_describes("its length");

/// Why a run stopped, as the recorder words it; recordings of others may have other words.
const STOP_REASON: Measure =
    Measure::new("conversation.stop_reason", Unit::Word(StopReason::WORDS))
        .optional()
        .only_describes("why the run stopped");

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
