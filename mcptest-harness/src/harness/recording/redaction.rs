//! What must not get into a recording or onto a screen.

use std::collections::HashSet;

use mcptest_suite::model::{Agent, Suite, Transport};
use regex::Regex;

use crate::record::{LiveError, RunRequest};
use mcptest_trace::record::Recorder;
use mcptest_trace::record::environment::{provider_secrets, secrets, secrets_by_name, variables};
use mcptest_trace::record::redact::{Redactor, secrets_in_arguments};
use mcptest_trace::text::shorten;

/// The longest line of what a server or provider said that is shown, in characters.
const LINE: usize = 2_000;

/// Blanks the usual keys, the values of every `*_env` variable the suite names, what a loop of
/// one's own calls a secret, and what `redact:` says; also the values of variables whose names say
/// that they are secret, unless the suite itself says them to the agent.
pub(super) fn redactor(
    suite: &Suite,
    agent: &Agent,
    patterns: &[Regex],
    recorder: Option<&Recorder>,
) -> Result<Redactor, LiveError> {
    let own = recorder.into_iter().flat_map(Recorder::secrets).cloned();
    let of_servers = suite
        .servers
        .iter()
        .flat_map(|server| match &server.transport {
            Transport::Stdio { env, .. } => env.as_slice(),
            Transport::Http { .. } => &[],
        });
    let request = RunRequest::new(agent, &agent.models[0].value, 0);
    let unsaid = |(_, value): &(String, String)| {
        let mut said = request.user_turns.iter().chain(&request.system_prompt);
        !said.any(|text| text.contains(value))
    };
    let by_name = secrets_by_name(variables().chain(of_servers.cloned()));
    let mut seen = HashSet::new();
    let secrets = provider_secrets()
        .chain(secrets(suite.secret_variables()))
        .chain(own)
        .chain(argument_secrets(suite, agent))
        .chain(by_name.filter(unsaid))
        // One value has one name: that which was meant.
        .filter(|(_, value)| seen.insert(value.clone()));
    Redactor::new(secrets, patterns.to_vec()).map_err(|error| LiveError::new(error.to_string()))
}

/// The keys in the arguments of the agent's program and of the servers: a tool's result may repeat them.
fn argument_secrets(suite: &Suite, agent: &Agent) -> Vec<(String, String)> {
    let own = agent.command.iter().map(|command| &command.command);
    let servers = suite.servers.iter();
    let servers = servers.filter_map(|server| match &server.transport {
        Transport::Stdio { command, .. } => Some(command),
        Transport::Http { .. } => None,
    });
    let commands = own.chain(servers);
    commands
        .flat_map(|command| secrets_in_arguments(command))
        .collect()
}

/// What the suite itself says is compared with the recording when it is judged, so blanking must not touch it; and a secret
/// in it would be no secret. `redactor`: takes out what is taken out everywhere. A word may stand in a text of the suite.
pub(super) fn check_suite_secrets(
    agent: &Agent,
    model: usize,
    redactor: &Redactor,
) -> Result<(), LiveError> {
    let request = RunRequest::new(agent, &agent.models[model].value, 1);
    let texts = request.user_turns.iter().chain(&request.system_prompt);
    for text in texts {
        if redactor.redact_text(text) != *text {
            let what = redactor.occurs_in(text).map_or_else(
                || "a pattern of `redact:` matches".to_owned(),
                |name| format!("the value of `{name}` occurs in"),
            );
            return Err(LiveError::new(format!(
                "{what} a text of this agent in the suite, and would be blanked in the recording"
            ))
            .help("change the suite's text, or the value: a recording whose prompt is blanked never fits its suite"));
        }
    }
    Ok(())
}

/// The error without secrets: servers and providers may say what was sent to them. It is cut only
/// then, or a cut secret would not be known.
pub(super) fn redact_error(error: LiveError, redactor: &Redactor) -> LiveError {
    let redacted = |text: String| redactor.redact_text(&text).into_owned();
    let short = |text: String| {
        let lines = text.lines().map(|line| shorten(line, LINE));
        lines.collect::<Vec<_>>().join("\n")
    };
    LiveError {
        problem: shorten(&redacted(error.problem), LINE),
        at: error.at,
        shown: error.shown.map(redacted).map(short),
        note: error.note.map(|note| redacted(note.into()).into()),
        help: error.help.map(redacted),
        of_recording: error.of_recording,
    }
}
