//! What was thought of a run: scores, signals, and the verdict.

use super::{Field, Fields};

pub(crate) static SCORE: Fields = Fields::new(&[
    Field::text_like("name", "\\S")
        .required()
        .kept()
        .says("The name of the score: what is scored."),
    Field::number("value")
        .required()
        .says("The value, in the range that the judge uses."),
    Field::flag("passed").says("Whether the run passed, as the judge says."),
    Field::text("by")
        .required()
        .says("Who gave the score: a model, a person or a rubric."),
    Field::text("note").says("Why the judge gave this score."),
])
.instead(&[
    ("score", "value"),
    ("judge", "by"),
    ("evaluator", "by"),
    ("source", "by"),
    ("comment", "note"),
    ("reason", "note"),
    ("explanation", "note"),
    ("success", "passed"),
    ("pass", "passed"),
]);

pub(crate) static SIGNALS: Fields = Fields::new(&[
    Field::share("confidence").says("How sure the agent was, from 0 to 1."),
    Field::share("loop_detection")
        .says("How little the agent repeated itself, from 0 to 1. 1 means no repetition."),
    Field::share("tool_correctness").says("The share of the tool use that was right, from 0 to 1."),
    Field::share("coherence")
        .says("How well the agent's words agree with what it did, from 0 to 1."),
])
.closed();

pub(crate) static OUTCOME: Fields = Fields::new(&[
    Field::flag("passed").says("Whether the run passed."),
    Field::number("reward").says("The reward that a benchmark gave the run."),
])
.instead(&[("success", "passed"), ("pass", "passed")]);
