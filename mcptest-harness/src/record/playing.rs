//! Recorded runs played to an agent's own code: its program, or its async function. What is said here of its session holds for
//! the built-in agent too.

mod unplayed;

use std::time::Duration;

use mcptest_session::driver;
use mcptest_session::endpoint::Place;
use mcptest_session::handle::AgentSession;
use mcptest_session::play::{PlayOptions, PlaySession, PlayedRun as Ran, Recording};
use mcptest_session::record::RunOptions;
use mcptest_suite::model::Agent;
use mcptest_trace::record::environment::{provider_secrets, secrets_by_name, variables};
use mcptest_trace::record::redact::Redactor;
use serde_json::Value;

use super::command::{agent_command, existing_folder, program_folder, run_before};
use super::function::{Function, Returned};
use super::no_model_call::{program_error, stray_requests_note, unused_address_error};
use super::playing_command::PlayingCommand;
use super::{LiveError, PlayRequest, Playable, PlayedRun, RunRequest};
use crate::trace::parse_run;

impl Playable for PlayingCommand {
    fn play(&self, request: &PlayRequest<'_>) -> Result<PlayedRun, LiveError> {
        let PlayRequest { suite, agent, .. } = *request;
        let command = agent_command(agent)?;
        let mut seat = self
            .servers(command, &program_folder(command, suite))
            .seat();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| no_runtime(&error))?;
        let (played, ended) = runtime.block_on(async {
            if let Some(before) = &command.before {
                run_before(command, suite, before).await?;
            }
            let place = seat.place().await.map_err(|error| no_port(&error))?;
            let session = session_at(place, request)?;
            let words = command.command.iter().cloned();
            let mut program = session.command(words, existing_folder(command, suite)?);
            program.time_limit = Some(time_limit(request));
            let ended = driver::run_in(&program, &mut seat)
                .await
                .map_err(|error| LiveError::new(error.to_string()).at(command.span))?;
            let mut run = run_options(request);
            if command.closing_is_stdout {
                run.closing = Some(ended.said.last().unwrap_or(&ended.stdout).clone());
                run.said.clone_from(&ended.said);
            }
            let redactor = redactor(request)?;
            Ok((session.finish_command(&ended, run, Some(&redactor)), ended))
        })?;
        if played.requests == 0 {
            let error = program_error(&ended, played.strangers, "timeout_s");
            return Err(error.unwrap_or_else(|| {
                let why = played.cassette.err();
                let why = why.map_or(String::new(), |error| error.to_string());
                LiveError::new(why + &stray_requests_note(played.strangers))
            }));
        }
        let said = ended.to_string();
        let how = said
            .split_once("; on standard error:")
            .map_or(said.as_str(), |(how, _)| how);
        let how = (!ended.is_success()).then(|| how.to_owned());
        to_played_run(request, played, how, ended.stderr)
    }

    fn one_by_one(&self, agent: &Agent) -> bool {
        agent
            .command
            .as_ref()
            .is_some_and(|command| command.before.is_some())
    }

    fn hindrance(&self) -> Option<String> {
        PlayingCommand::hindrance(self)
    }
}

impl Playable for &Function {
    fn play(&self, request: &PlayRequest<'_>) -> Result<PlayedRun, LiveError> {
        // The address is served here, whatever the function does on its own thread.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| no_runtime(&error))?;
        let (played, returned) = runtime.block_on(async {
            let session = start_session(request).await?;
            let asked = AgentSession::from_play_session(&session);
            let returned = self
                .call(asked, Some(time_limit(request)), session.stopped())
                .await;
            let (exit, stopped) = match &returned {
                Returned::Well => (0, None),
                Returned::Failed(_) | Returned::Stopped { .. } => (1, Some("error")),
                // As a program of Rust ends.
                Returned::Panicked(_) => (101, Some("error")),
                Returned::Late { .. } => (124, Some("time_budget")),
            };
            let redactor = redactor(request)?;
            Ok((
                session.finish(exit, stopped, run_options(request), Some(&redactor)),
                returned,
            ))
        })?;
        let how = returned.message();
        if played.requests == 0 {
            let unasked = match &played.cassette {
                Err(error) => unused_address_error(error, played.strangers),
                Ok(_) => LiveError::new("the agent's own function called no model"),
            };
            return Err(match how {
                None => unasked,
                // What ended it is why it asked nothing.
                Some(how) => {
                    let problem =
                        how + ", before it called a model" + &stray_requests_note(played.strangers);
                    let help = unasked
                        .help
                        .filter(|_| matches!(returned, Returned::Late { .. }));
                    LiveError {
                        help,
                        ..LiveError::new(problem)
                    }
                }
            });
        }
        to_played_run(request, played, how, Vec::new())
    }

    fn one_by_one(&self, _: &Agent) -> bool {
        false
    }
}

pub(super) fn no_runtime(error: &std::io::Error) -> LiveError {
    LiveError::new(format!("no runtime could be started: {error}"))
}

/// How long a played run may take.
pub(super) fn time_limit(request: &PlayRequest<'_>) -> Duration {
    // A limit that no clock reaches is none.
    Duration::try_from_secs_f64(request.options.timeout_s).unwrap_or(Duration::from_hours(24 * 365))
}

fn run_request(request: &PlayRequest<'_>) -> RunRequest {
    RunRequest::new(request.agent, &request.agent.models[request.model].value, 0)
}

fn user_turns(request: &PlayRequest<'_>) -> Vec<String> {
    played_turns(request.cassette, run_request(request).user_turns)
}

/// What the user says: the words of the suite. Where a simulated user talked to an agent of another source, the prompt
/// is what that user wanted, and the recording has the words.
fn played_turns(cassette: &Value, asked: Vec<String>) -> Vec<String> {
    let told = cassette["trace"]["conversation"]["turns"].as_array();
    let told = told.into_iter().flatten();
    let told = told.filter(|turn| turn["role"] == "user");
    let told: Vec<String> = told
        .filter_map(|turn| turn["content"].as_str().map(str::to_owned))
        .collect();
    let is_foreign = cassette.get("imported").is_some();
    let is_current = matches!(&asked[..], [prompt] if cassette["user_prompt"] == **prompt);
    if is_foreign && is_current && !told.is_empty() {
        told
    } else {
        asked
    }
}

pub(super) async fn start_session(request: &PlayRequest<'_>) -> Result<PlaySession, LiveError> {
    let place = Place::new().await.map_err(|error| no_port(&error))?;
    session_at(&place, request)
}

fn session_at(place: &Place, request: &PlayRequest<'_>) -> Result<PlaySession, LiveError> {
    let recording = Recording::from_cassette(request.cassette)
        .map_err(|error| LiveError::new(format!("{}: {error}", request.origin)).for_recording())?;
    let options = PlayOptions::new(request.options.clone());
    let mut options = options.map_err(|error| LiveError::new(error.to_string()))?;
    let asked = run_request(request);
    options.servers = asked.servers;
    let session = PlaySession::start_at(place, recording, options, user_turns(request));
    session.map_err(|error| no_port(&error))
}

fn no_port(error: &std::io::Error) -> LiveError {
    LiveError::new(format!("no port can be opened: {error}"))
}

pub(super) fn run_options(request: &PlayRequest<'_>) -> RunOptions {
    let asked = run_request(request);
    let mut run = RunOptions::default();
    run.agent = asked.agent;
    run.model = Some(asked.model);
    run.turns = user_turns(request);
    run.servers = asked.servers;
    run
}

/// What is taken out of a recorded run is taken out of the played one too, so that gates see the same of both.
pub(super) fn redactor(request: &PlayRequest<'_>) -> Result<Redactor, LiveError> {
    let secrets = provider_secrets().chain(secrets_by_name(variables()));
    let redactor = Redactor::new(secrets, request.redact.to_vec());
    let redactor = redactor.map_err(|error| LiveError::new(error.to_string()))?;
    let redactor = redactor.with_shapes().with_secret_keys();
    Ok(redactor.with_kept_texts(user_turns(request)))
}

/// What the code did, with the run that it made.
pub(super) fn to_played_run(
    request: &PlayRequest<'_>,
    played: Ran,
    ended: Option<String>,
    stderr: Vec<String>,
) -> Result<PlayedRun, LiveError> {
    let run = match played.cassette {
        Ok(mut cassette) => {
            unplayed::add_recorded(&mut cassette, request.cassette);
            let text = cassette.to_string();
            let run = parse_run(text.as_bytes(), request.origin);
            Some(run.map_err(|error| {
                LiveError::new(format!("the played run cannot be read: {error}")).for_recording()
            })?)
        }
        // No recorded answer was asked for, which is told as such.
        Err(_) => None,
    };
    Ok(PlayedRun {
        report: played.report,
        run,
        ended,
        stderr,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_a_simulated_user_are_those_of_the_recording() {
        let turn = |role: &str, text: &str| json!({ "role": role, "content": text });
        let turns = [
            turn("user", "Hello."),
            turn("assistant", "Hello!"),
            turn("user", "My lamp is broken."),
        ];
        let imported = json!({
            "user_prompt": "You want to return a lamp.", "trace": { "conversation": { "turns": turns } },
            "imported": { "from": "tau" },
        });
        let suite = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let wanted = suite(&["You want to return a lamp."]);
        let told = suite(&["Hello.", "My lamp is broken."]);
        assert_eq!(played_turns(&imported, wanted.clone()), told);
        // A suite that says something else now, or all turns itself, is what is asked.
        for own in [suite(&["You want a refund."]), suite(&["Hello.", "Bye."])] {
            assert_eq!(played_turns(&imported, own.clone()), own);
        }
        // What our own recorders asked is what the suite said then, however the agent's code worded it.
        let mut recorded = imported.clone();
        recorded.as_object_mut().unwrap().remove("imported");
        assert_eq!(played_turns(&recorded, wanted.clone()), wanted);
        let silent =
            json!({ "user_prompt": "You want to return a lamp.", "imported": {}, "trace": {} });
        assert_eq!(played_turns(&silent, wanted.clone()), wanted);
    }
}
