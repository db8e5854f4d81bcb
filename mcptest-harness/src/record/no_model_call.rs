//! What is said of code that asked no model, or whose model could not be reached.

use mcptest_session::driver::CommandOutcome;
use mcptest_session::record::RunError;
use mcptest_session::session::{Session, SessionError};
use mcptest_trace::text::pluralize;

use super::LiveError;

/// How a function finds the model.
pub(super) const USE_THE_SESSION: &str = "give the client of the function the address of the session: `session.openai_url()`, \
     `session.anthropic_url()` or `session.gemini_url()`; for another provider, `session.url(\"azure\")`";

/// A program that ended badly, or too late, before it called a model; nothing where it ended well.
/// `limit`: the key of the limit that it met.
pub(super) fn program_error(
    ended: &CommandOutcome,
    strangers: usize,
    limit: &str,
) -> Option<LiveError> {
    if ended.is_success() {
        return None;
    }
    let how = match (&ended.unasked, ended.status) {
        (Some(unasked), _) => format!("{unasked}, and called no model"),
        (None, Some(status)) => {
            let status = status.to_string().replacen(": ", " ", 1);
            format!("the program ended with {status} before it called a model")
        }
        (None, None) => format!("the program called no model within `{limit}`, and was ended"),
    };
    let shown = if ended.stderr.is_empty() {
        "the program printed nothing on its standard error".to_owned()
    } else {
        let lines = ended.stderr.iter().map(|line| format!("\n  | {line}"));
        let title = "the last lines of the program's standard error:";
        title.to_owned() + &lines.collect::<String>()
    };
    Some(LiveError::new(how + &stray_requests_note(strangers)).show(shown))
}

/// A function that returned and called no model; another error is given back.
pub(super) fn function_error(error: SessionError) -> Result<LiveError, SessionError> {
    match error {
        SessionError::Run { error, strangers } if matches!(error, RunError::NothingAsked(_)) => {
            Ok(unused_address_error(&error, strangers))
        }
        other => Err(other),
    }
}

/// A function that called no model at the address of the session, from what the session says of the run.
pub(super) fn unused_address_error(error: &RunError, strangers: usize) -> LiveError {
    let mut problem =
        "the agent's own function called no model at the address of the session".to_owned();
    if let RunError::NothingAsked(others) = error
        && let Some(first) = others.first()
    {
        let requests = pluralize(others.len(), "request");
        problem += &format!("; it sent {requests} of unknown kinds, such as `{first}`");
    }
    LiveError::new(problem + &stray_requests_note(strangers)).help(USE_THE_SESSION)
}

/// What is said of requests that used the port of the session and another path.
pub(super) fn stray_requests_note(strangers: usize) -> String {
    match strangers {
        0 => String::new(),
        _ => format!(
            "; {} used the port of the session, but another path: the client must use the whole address",
            pluralize(strangers, "request")
        ),
    }
}

/// An error of an agent, below the reason where its last model call reached no provider, or was answered with an error.
pub(super) fn with_upstream_error(session: &Session, error: LiveError) -> LiveError {
    let Some(why) = session.upstream_failure() else {
        return error;
    };
    let shown = [Some(error.problem), error.shown];
    let shown: Vec<String> = shown.into_iter().flatten().collect();
    LiveError {
        at: error.at,
        ..LiveError::new(why).show(shown.join("\n")).help(
            "start what answers at this address, or correct the address, the key or the model; if no variable is named, the address \
             comes from `providers:` of the suite, or is the provider's public one",
        )
    }
}
