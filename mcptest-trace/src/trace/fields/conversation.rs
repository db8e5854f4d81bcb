//! What stands around the tool calls: turns, tokens, times, and how a run stopped.

use super::{Field, Fields, SIGNALS, Secrets, Takes};

pub(crate) static CONVERSATION: Fields = Fields::new(&[
    Field::text("stop_reason").kept().says(
        "Why the run stopped: `completed`, `turn_budget`, `token_budget`, `tool_call_budget`, `time_budget`, or another reason.",
    ),
    Field::object("tokens", &TOKENS).says(
        "The tokens of the whole run. Without `total`, the total is the sum of `prompt` and `completion`. If all numbers are absent or zero, the sum of `steps` counts.",
    ),
    Field::count("duration_ms")
        .says("How many milliseconds the run took when it was recorded."),
    Field::count("message_count").says("How many messages the run has."),
    Field::list("turns", &TURN).says(
        "All turns of the conversation. A turn that made a tool call has the text `tool_use <server>::<tool> with <args as JSON>`.",
    ),
    Field::list("per_turn", &PER_TURN)
        .says("What is known about each turn of the user."),
    Field::list("steps", &STEP).says(
        "The model calls, in order, with their tokens. A number that is not known is left out.",
    ),
    Field::flag("refused").ignored().among_others()
        .says("`true`: the model refused to answer."),
])
.always(&[("step", "steps"), ("turn", "turns")])
.instead(&[("usage", "tokens"), ("finish_reason", "stop_reason")])
.in_order();

/// Other names for counts of tokens.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("prompt_tokens", "prompt"),
    ("input_tokens", "prompt"),
    ("input", "prompt"),
    ("completion_tokens", "completion"),
    ("output_tokens", "completion"),
    ("output", "completion"),
    ("total_tokens", "total"),
];

pub(crate) static TOKENS: Fields = Fields::new(&[
    Field::count("prompt").says("The tokens that were sent to the model."),
    Field::count("completion").says("The tokens that the model wrote."),
    Field::count("total").says("The tokens of `prompt` and `completion` together."),
    Field::count("cached")
        .since(1)
        .says("The part of `prompt` that the provider had in its cache."),
    Field::count("reasoning")
        .since(1)
        .says("The part of `completion` that the model spent on reasoning."),
])
.instead(OTHER_NAMES)
.in_order();

pub(crate) static STEP: Fields = Fields::new(&[
    Field::count("prompt").says("The tokens that were sent to the model."),
    Field::count("completion").says("The tokens that the model wrote."),
    Field::count("total").since(1).says(
        "The tokens of `prompt` and `completion` together, if they are more than the sum. Some providers count reasoning only here.",
    ),
    Field::count("cached").since(1)
        .says("The part of `prompt` that the provider had in its cache."),
    Field::count("reasoning").since(1)
        .says("The part of `completion` that the model spent on reasoning."),
    Field::count("duration_ms").since(1).among_others()
        .says("How many milliseconds the model call took."),
    Field::text("model").since(1).kept().among_others()
        .says("The model that answered, if it is another model than the run's."),
])
.says("A model call.")
.instead(OTHER_NAMES)
.in_order();

pub(crate) static TURN: Fields = Fields::new(&[
    Field::text("role")
        .required()
        .kept()
        .says("Who speaks: `user`, `assistant` or another role."),
    Field::text("content")
        .secrets(Secrets::TakenOutUnlessOfSuite)
        .says("The text of the turn."),
])
.says("A turn.")
.instead(&[("text", "content")])
.in_order();

pub(crate) static PER_TURN: Fields = Fields::new(&[
    Field::new("calls", Takes::Range).says(
        "The tool calls that belong to this turn, as two indices into `tool_calls`: the first call, and the call after the last one. `[0, 2]` means the calls 0 and 1.",
    ),
    Field::text("response").says("What the agent answered in this turn."),
    Field::object("signals", &SIGNALS).says(
        "Quality signals of the turn, from 0 to 1. Higher is better. The gate `session` reads them.",
    ),
])
.says("A turn of the user, with the agent's reaction to it.")
.instead(&[("final_response", "response"), ("tool_calls", "calls")]);
