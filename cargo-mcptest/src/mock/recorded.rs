//! The MCP server of a recording.

use std::path::Path;

use mcptest_session::play::{Recording, ServerPlayer, ServerPlayerError};
use mcptest_trace::text::pluralize;
use serde_json::Value;

use crate::failure::Failure;

/// The server of a file's run. `run`: which run, from 1, where the file holds several.
pub(super) fn load_server(
    file: &Path,
    run: Option<usize>,
    name: Option<&str>,
) -> Result<ServerPlayer, Failure> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::new(format!("`{shown}` cannot be read: {error}"))
            .with_help("name the file of a recorded run with `--from-cassette`")
    })?;
    let runs = parse_runs(&text)
        .map_err(|error| Failure::new(format!("`{shown}` is no recording: {error}")))?;
    let place = match (run, runs.len()) {
        (None, 1) => 0,
        (None, many) => {
            let many = pluralize(many, "run");
            return Err(Failure::new(format!("`{shown}` holds {many}"))
                .with_help("choose one, for example `--run 1`"));
        }
        (Some(run), many) if run == 0 || run > many => {
            let many = pluralize(many, "run");
            return Err(Failure::new(format!(
                "`{shown}` holds {many}, and no run {run}"
            )));
        }
        (Some(run), _) => run - 1,
    };
    let recording = Recording::from_cassette(&runs[place])
        .map_err(|error| Failure::new(format!("`{shown}` cannot be played: {error}")))?;
    ServerPlayer::new(&recording, name).map_err(|error| {
        let failure = Failure::new(format!("`{shown}`: {error}"));
        match error {
            ServerPlayerError::Several(_) => failure.with_help("choose one with `--server NAME`"),
            _ => failure,
        }
    })
}

/// The runs of a file: one, or one a line.
fn parse_runs(text: &str) -> Result<Vec<Value>, serde_json::Error> {
    if let Ok(run) = serde_json::from_str(text) {
        return Ok(vec![run]);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(serde_json::from_str).collect()
}
