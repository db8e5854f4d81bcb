//! How a run ends.

use mcptest::trace::Run;

/// Whether a run says something at its end.
pub(super) fn has_closing(run: &Run) -> bool {
    let said = run.envelope()["final_response"].as_str();
    said.is_some_and(says_something)
}

fn says_something(text: &str) -> bool {
    text.contains(|c: char| !c.is_whitespace())
}

/// Whether the last word is the user's, who ends the talk, and the one before it the agent's, and no call.
pub(super) fn answers_before_the_end(run: &Run) -> bool {
    match run.trace.conversation.turns.as_slice() {
        [.., answer, end] => {
            let is_call = answer.content.starts_with("tool_use ");
            let speaks = says_something(&answer.content) && !is_call;
            end.role == "user" && answer.role == "assistant" && speaks
        }
        _ => false,
    }
}

/// Why a run stopped.
pub(super) fn stop_reason(run: &Run) -> Option<&str> {
    run.envelope()
        .pointer("/conversation/stop_reason")?
        .as_str()
}
