//! What an agent did: its tool calls and their results.

use super::{CONVERSATION, Field, Fields, SCORE, Secrets};

pub(crate) static TRACE: Fields = Fields::new(&[
    Field::list("tool_calls", &CALL).required()
        .says("The tool calls, in the order in which they were made."),
    Field::list("tool_results", &RESULT)
        .says("The results of the tool calls, one for each call."),
    Field::text("final_response")
        .says("The closing message: what the user reads at the end."),
    Field::object("conversation", &CONVERSATION).says(
        "What stands around the tool calls: turns, tokens, times, and how the run stopped.",
    ),
    Field::list("scores", &SCORE).since(1).says(
        "Scores that the run got elsewhere, from a model, a person or a rubric. If two judges give a score of one name, both scores are kept.",
    ),
])
.instead(&[
    ("calls", "tool_calls"),
    ("results", "tool_results"),
    ("response", "final_response"),
    ("final_answer", "final_response"),
    ("final_message", "final_response"),
])
.in_order();

pub(crate) static CALL: Fields = Fields::new(&[
    Field::text("name").required().kept()
        .says("The tool's name, without a prefix for its server."),
    Field::text("server").kept().says("The server that offers the tool."),
    Field::any("args").says("The arguments of the call."),
    Field::count("step").says(
        "The model call that made this tool call: its index in `conversation.steps`. Tool calls with the same step were made in parallel.",
    ),
    Field::count("hop_index").says("The position of the call in the agent's loop."),
    Field::any("caller")
        .says("Who made the call, if code that the model wrote made it."),
    Field::text("agent_id").kept()
        .says("The name of the sub-agent that made the call."),
    Field::text("inputs_digest").kept()
        .says("A digest of everything that the call depended on."),
    Field::object("own", &OWN).since(1).says(
        "What the agent's own code says of the call, if that is not what the model asked or was told.",
    ),
])
.says("A tool call.")
.always(&[("arguments", "args"), ("parameters", "args"), ("steps", "step")])
.instead(&[
    ("params", "args"),
    ("input", "args"),
    ("inputs", "args"),
    ("tool", "name"),
    ("tool_name", "name"),
    ("server_name", "server"),
])
.in_order();

pub(crate) static OWN: Fields = Fields::new(&[
    Field::any("args")
        .says("What the code called the tool with. Only the arguments that the model named."),
    Field::any("result").says("What the tool returned, if the model was told something else."),
    Field::list("attempts", &ATTEMPT)
        .says("The attempts in their order, also the last one, if the code made more than one."),
    Field::text("by")
        .kept()
        .says("`suite`: the suite answered, and the tool did not run."),
    Field::flag("left").says("`true`: control flow ended the tool. It has not failed."),
]);

pub(crate) static ATTEMPT: Fields = Fields::new(&[
    Field::any("args").says("What the code called the tool with, if that differs."),
    Field::any("result").says("What the tool returned."),
    Field::any("error").says("How the tool failed."),
    Field::object("synthesized", &SYNTHESIZED)
        .says("This key is there if an injected fault answered in the place of the tool."),
])
.says("An attempt.");

pub(crate) static RESULT: Fields = Fields::new(&[
    Field::count("call_index")
        .required()
        .says("The call that has this result: its index in `tool_calls`."),
    Field::text("server")
        .kept()
        .says("The server that answered."),
    Field::flag("is_error").says(
        "Whether the result is an error. Without this key, `isError` inside the result decides.",
    ),
    Field::object("synthesized", &SYNTHESIZED)
        .says("This key is there if an injected fault answered in the place of the server."),
    Field::any("result")
        .secrets(Secrets::TakenOutOfResult)
        .says("The result, as the server returned it."),
    Field::count("duration_ms")
        .since(1)
        .says("How many milliseconds the call took."),
])
.says("The result of a tool call.")
.instead(&[
    ("error", "is_error"),
    ("failed", "is_error"),
    ("content", "result"),
    ("output", "result"),
    ("structuredContent", "result"),
    ("server_name", "server"),
])
.in_order();

pub(crate) static SYNTHESIZED: Fields = Fields::new(&[
    Field::text("fault")
        .required()
        .kept()
        .says("The name of the fault."),
    Field::text("kind").kept().says("The kind of the fault."),
])
.instead(&[("name", "fault")]);
