//! Which model a program asks: it is run once, and a made-up answer stands in the place of the model's.

use std::path::Path;
use std::time::Duration;

use mcptest::command::command_line;
use mcptest_session::driver;
use mcptest_session::play::{PlayOptions, PlaySession, PlayedRun, Recording};
use mcptest_session::record::RunOptions;
use mcptest_trace::eval::PlaybackOptions;
use serde_json::json;

use crate::failure::Failure;

/// How long the program may take.
const LIMIT: Duration = Duration::from_mins(1);

/// What the program is answered. It calls no tool.
const ANSWER: &str = "This answer is made up by the command `init` of mcptest-harness.";

/// What is said in the help of each failure.
const BY_HAND: &str = "a suite can also be written by hand: docs/recording.md";

/// The model that a program asks, when it runs in a folder. No request leaves the machine.
///
/// # Errors
///
/// The program does not start, ends badly before it calls a model, or calls none at the address that it is given.
pub(super) fn find_model(
    command: &[String],
    folder: &Path,
    prompt: &str,
) -> Result<String, Failure> {
    let (played, ended) = run(command, folder, prompt)?;
    let asked = played
        .cassette
        .as_ref()
        .ok()
        .and_then(|run| run["model"].as_str());
    if let Some(model) = asked.filter(|model| !model.is_empty()) {
        return Ok(model.to_owned());
    }
    if played.requests > 0 {
        return Err(Failure::new(
            "the program sent requests to the address that it was given, and none of them names a model",
        )
        .with_help(BY_HAND));
    }
    if !ended.is_success() {
        let said = ended.to_string();
        let (how, lines) = said
            .split_once("; on standard error:\n")
            .unwrap_or((&said, "nothing"));
        let lines: String = lines.lines().map(|line| format!("\n  | {line}")).collect();
        return Err(Failure::new(format!(
            "{how}, before it called a model\n\nthe last lines of its standard error:{lines}"
        ))
        .with_help(format!(
            "the program gets its prompt on standard input and in MCPTEST_PROMPT, and must end by itself within {} seconds; {BY_HAND}",
            LIMIT.as_secs()
        )));
    }
    let why = match played.cassette {
        Err(why) => why.to_string(),
        Ok(_) => "the program called no model".to_owned(),
    };
    let elsewhere = match played.strangers {
        0 => "",
        _ => {
            "; it used the port of the address with another path: the client must use the whole address"
        }
    };
    Err(Failure::new(why + elsewhere).with_help(BY_HAND))
}

fn run(
    command: &[String],
    folder: &Path,
    prompt: &str,
) -> Result<(PlayedRun, driver::CommandOutcome), Failure> {
    let unplayed = |why: String| Failure::new(format!("the program cannot be tried: {why}"));
    let run = json!({
        "schema_version": "v1", "user_prompt": prompt, "trace": { "tool_calls": [], "final_response": ANSWER },
    });
    let recording = Recording::from_cassette(&run).map_err(|error| unplayed(error.to_string()))?;
    let options = PlayOptions::new(PlaybackOptions::suite_default());
    let options = options.map_err(|error| unplayed(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = PlaySession::start(recording, options, [prompt.to_owned()]).await?;
        let mut program = session.command(command.iter().cloned(), folder);
        program.time_limit = Some(LIMIT);
        let ended = driver::run(&program)
            .await
            .map_err(|error| start_failure(command, &error))?;
        Ok((
            session.finish_command(&ended, RunOptions::default(), None),
            ended,
        ))
    })
}

/// Why the program does not start.
fn start_failure(command: &[String], error: &driver::StartError) -> Failure {
    let error = error.to_string();
    let why = error
        .split_once("; it is started without a shell")
        .map_or(error.as_str(), |(why, _)| why);
    let failure = Failure::new(why);
    match command {
        [line] if line.contains(char::is_whitespace) => failure.with_help(format!(
            "the program is started without a shell: give it without quotation marks, `{}`",
            command_line(&format!("init -- {line}"))
        )),
        _ => failure.with_help(
            "give a program that is on the PATH, or a path to one from the folder where you run the command",
        ),
    }
}
