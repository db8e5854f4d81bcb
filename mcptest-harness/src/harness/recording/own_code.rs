//! Recordings of an agent's own code are not replaced by what somebody else does: cases would be green that judge
//! another agent.

use mcptest_suite::model::{Agent, GateKind};
use serde_json::Value;

use super::LiveRecording;
use crate::harness::playing::{GIVE_CODE, WITHOUT_CODE, elsewhere};
use crate::record::LiveError;

/// Refuses a driver that is not the agent's own code, where the suite asks for that code or it made the first of the
/// runs that are there.
pub(super) fn keep(
    recording: &LiveRecording,
    agent: &Agent,
    there: Option<&Value>,
) -> Result<(), LiveError> {
    let functions = &recording.functions;
    if agent.command.is_some() || functions.of(agent).is_some() {
        return Ok(());
    }
    if let Some(gate) = agent.gate(GateKind::Playback) {
        let error = if functions.are_elsewhere() {
            LiveError::new(elsewhere(agent, true)).help(
                "record such a function with `MCPTEST_RECORD=all cargo test`; if the agent is a program, add `command: [program, argument]`",
            )
        } else {
            LiveError::new(WITHOUT_CODE).help(GIVE_CODE)
        };
        let at = Some(gate.span);
        return Err(LiveError { at, ..error });
    }
    if there.is_some_and(|run| run.get("session").is_some()) {
        let problem = format!(
            "the recordings of `{}` are of its own code, and here it has neither `command:` nor a function",
            agent.name.value
        );
        return Err(LiveError::new(problem).help(
            "record the agent as before: a function in the tests of its crate, a program with `command: [program, argument]`; \
             if it is no longer code of its own, delete its recordings first",
        ));
    }
    Ok(())
}
