//! Recordings of an agent's own code are not replaced by what somebody else does: cases would be green that judge
//! another agent.

use mcptest_suite::model::{Agent, GateKind};
use serde_json::Value;

use super::LiveRecording;
use crate::harness::playing::elsewhere_text;
use crate::record::LiveError;
use crate::record::own_code::{GIVE_CODE, WITHOUT_CODE, is_of_built_in, is_of_own_code};

/// Refuses a driver that is not the agent's own code, where the suite asks for that code or it made the first of the
/// runs that are there.
pub(super) fn check_driver(
    recording: &LiveRecording,
    agent: &Agent,
    there: Option<&Value>,
) -> Result<(), LiveError> {
    if recording.has_own_code(agent) {
        return Ok(());
    }
    let is_of_own_code = there.is_some_and(is_of_own_code);
    let elsewhere_too = recording.functions.are_elsewhere() && !there.is_some_and(is_of_built_in);
    let gate = agent.gate(GateKind::Playback);
    let gate = gate.filter(|_| elsewhere_too || recording.has_own_loop || is_of_own_code);
    if let Some(gate) = gate {
        let error = if elsewhere_too {
            LiveError::new(elsewhere_text(agent, true)).help(
                "record such a function with `MCPTEST_RECORD=all cargo test`; if the agent is a program, add `command: [program, argument]`",
            )
        } else {
            LiveError::new(WITHOUT_CODE).help(GIVE_CODE)
        };
        let at = Some(gate.span);
        return Err(LiveError { at, ..error });
    }
    if is_of_own_code {
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
