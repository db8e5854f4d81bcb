//! A run as a whole: what it was asked, what it was offered, and what was thought of it.

use super::beside::{CAPTURED, IMPORTED, SESSION};
use super::{Field, Fields, OUTCOME, SIGNALS, Secrets, TRACE, Takes};

pub(crate) static RUN: Fields = Fields::new(&[
    Field::text_like("schema_version", "^v1(\\.[0-9]+)?$").required().kept().says(
        "The version of this format. From `v1.1` on it has the minor version too. A key that is nearly a key of the stated version is an error.",
    ),
    Field::text("agent_name").never_null().kept()
        .says("The name of the agent test that this run was recorded for."),
    Field::text("model").required().kept()
        .says("The model that ran. It must be the model of the suite."),
    Field::text("recorded_at").never_null().kept().ignored()
        .says("When the run was recorded."),
    Field::text("tools_fingerprint").never_null().kept().ignored()
        .says("A digest of the tools that the model was offered. It shows that the tools changed."),
    Field::number("temperature").never_null().ignored()
        .says("The sampling temperature of the model."),
    Field::new("max_tokens", Takes::Whole).never_null().ignored()
        .says("The most tokens of one answer of the model."),
    Field::text("system_prompt").secrets(Secrets::TakenOutUnlessOfSuite)
        .says("The system prompt. No system prompt and an empty one are the same."),
    Field::text("user_prompt").required().secrets(Secrets::TakenOutUnlessOfSuite)
        .says("The first thing that the user said. It must be the prompt of the suite."),
    Field::object("trace", &TRACE).required()
        .says("What the agent did."),
    Field::object("signals", &SIGNALS)
        .says("Quality signals of the run, from 0 to 1. Higher is better. The gate `session` reads them."),
    Field::object("outcome", &OUTCOME).says(
        "The verdict on the run that was recorded with it, for example the verdict of a benchmark.",
    ),
    Field::text("request_fingerprint").kept().ignored().among_others().says(
        "A digest of what the suite asked: prompts, turns, servers, faults and caps. The recorder adds new runs only beside runs with the same digest.",
    ),
    Field::new("tools", Takes::Lines("A tool in one line: server::name(arguments).", &TOOL)).among_others().says(
        "The tools that the model was offered. Each is a line of text or an object. They let the harness show a change of the tools.",
    ),
    Field::object("session", &SESSION).since(1).tolerant().says(
        "This key is there if a session recorded the run. It holds what playback needs beside `trace`. `version` is the version of this part alone.",
    ),
    Field::object("captured", &CAPTURED).since(1).tolerant().says(
        "This key is there if the run was made from spans. `from` says whose spans they are. `unknown` lists what the spans do not say. `version` is the version of this part alone.",
    ),
    Field::text("recorded_on").since(1).never_null().kept().says(
        "The machine that recorded the run: a digest of its name, its architecture and its number of processors. Times of two machines are not compared.",
    ),
    Field::flag("chosen").since(1).never_null().tolerant().says(
        "The run was recorded anew because the run before it met a change, and other runs of the agent were kept (`record --changed --only-runs`). Such runs are no random sample, and a comparison says so.",
    ),
    Field::object("imported", &IMPORTED).undescribed(),
])
.instead(&[("prompt", "user_prompt"), ("system", "system_prompt")])
.in_order();

pub(crate) static TOOL: Fields = Fields::new(&[
    Field::text("name").required().kept().says("The tool's name."),
    Field::text("server").kept().says("The server that offers the tool."),
    Field::text("line").kept().says(
        "The tool in one line: server::name(arguments). A change of the tool is shown by this line.",
    ),
    Field::flag("read_only")
        .says("Whether the tool only reads, as its server says."),
    Field::text("description").since(1).ignored()
        .says("The tool's description, as the model was told it."),
    Field::new("input_schema", Takes::Schema).since(1).ignored().secrets(Secrets::TakenOutOfTexts)
        .says("The JSON Schema of the tool's arguments."),
    Field::object("annotations", &ANNOTATIONS).since(1)
        .secrets(Secrets::TakenOutOfTexts).ignored()
        .says("What the server says about the tool besides, in MCP's form."),
])
.instead(&[
    ("tool", "name"),
    ("tool_name", "name"),
    ("server_name", "server"),
    ("readOnlyHint", "read_only"),
]);

/// MCP's annotations of a tool.
static ANNOTATIONS: Fields = Fields::new(&[]).hidden();
