//! Whose code made a recording, and what is said of an agent without code of its own.

use serde_json::Value;

use crate::trace::Run;

/// An agent that has no code of its own, and recordings of such code.
pub(crate) const WITHOUT_CODE: &str =
    "`playback` runs the agent's own code, and this agent has neither `command:` nor a function";

/// How an agent gets code of its own. Without the feature, no runner takes a function.
pub(crate) const GIVE_CODE: &str = if cfg!(feature = "session") {
    "add `command: [program, argument]` to the agent, or give its function to the harness: `mcptest::harness!().agent(run)`"
} else {
    "add `command: [program, argument]` to the agent, or give its function to the harness: `mcptest::harness!().agent(run)`; \
     both need the feature `session`: write in Cargo.toml: mcptest-harness = { version = \"0.1\", features = [\"session\"] }"
};

/// What only recordings of the built-in agent have both: of all agents of a session, it alone knows what tells its tools
/// from others.
const OF_BUILT_IN: [&str; 2] = ["session", "tools_fingerprint"];

/// Whether the built-in agent made a recording.
pub(crate) fn is_of_built_in(cassette: &Value) -> bool {
    OF_BUILT_IN.iter().all(|key| cassette.get(key).is_some())
}

/// The same of a recording that was read.
pub(crate) fn is_run_of_built_in(run: &Run) -> bool {
    run.has_keys(&OF_BUILT_IN)
}

/// Whether code of an agent's own made a recording in a session.
pub(crate) fn is_of_own_code(cassette: &Value) -> bool {
    cassette["session"].is_object() && !is_of_built_in(cassette)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recording_says_whose_code_made_it() {
        let of = |run: &Value| (is_of_built_in(run), is_of_own_code(run));
        let built_in = json!({ "session": {}, "tools_fingerprint": "492d97ce067cdccc" });
        assert_eq!(of(&built_in), (true, false));
        assert_eq!(of(&json!({ "session": {} })), (false, true));
        // A loop of one's own, an import, and the built-in agent before it was one of a session.
        assert_eq!(
            of(&json!({ "tools_fingerprint": "492d97ce067cdccc" })),
            (false, false)
        );
    }

    #[test]
    fn code_for_an_agent_is_asked_for_with_the_feature_that_a_build_lacks() {
        let lacks = GIVE_CODE.ends_with(
            "both need the feature `session`: write in Cargo.toml: mcptest-harness = { version = \"0.1\", features = [\"session\"] }",
        );
        assert_eq!(lacks, !cfg!(feature = "session"));
    }
}
