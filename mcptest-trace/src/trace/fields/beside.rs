//! What the programs that write runs keep beside the trace: parts with a version of their own, of which only what
//! becomes of secrets is declared.

use super::{Field, Fields};

/// Keys of a session, and of what it holds, under which only words of the session stand.
const WORDS: &[&str] = &[
    "version", "role", "protocol", "stop", "retries", "digest", "method", "status", "unknown",
    "streamed", "bare", "id", "name", "items",
];

/// What a session keeps for playing.
pub(super) static SESSION: Fields = Fields::new(&[
    Field::list("conversations", &TALK),
    Field::list("others", &TALK),
    Field::list("tools", &OWN_CALL),
    // How often each answer was given, and what tells the answers from others.
    Field::any("answers").kept(),
])
.words(WORDS)
.own_keys()
.hidden();

/// A conversation with a model, what it holds, and a request of another kind.
static TALK: Fields = Fields::new(&[
    Field::list("answers", &TALK),
    Field::list("parts", &TALK),
    Field::object("call", &TALK),
    Field::object("result", &TALK),
    Field::object("opaque", &TALK),
    Field::object("native", &TALK),
])
.words(WORDS)
.own_keys()
.hidden();

/// A call of a tool of the agent's own: what it is called, and who answered it.
static OWN_CALL: Fields = Fields::new(&[]).words(&["name", "by"]).own_keys().hidden();

/// Whose spans a run was made of, and what they do not say.
pub(super) static CAPTURED: Fields = Fields::new(&[])
    .words(&["version", "from", "unknown"])
    .hidden();

/// Where an imported run comes from, and what its source does not say.
pub(super) static IMPORTED: Fields = Fields::new(&[])
    .words(&[
        "from",
        "file",
        "record",
        "id",
        "version",
        "unknown",
        "models",
        "estimated",
    ])
    .hidden();
