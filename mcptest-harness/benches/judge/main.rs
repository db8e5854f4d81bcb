//! What judging costs, as ratios measured in one run: to a floor, which reads and parses the same
//! recordings into `serde_json::Value` and does nothing else, and to a libtest-mimic binary of
//! cases that do nothing.
//!
//! `cargo bench -p mcptest-harness --bench judge`, and `--profile dev` for what users wait for.
//! Words after `--` choose rows by a part of their name.

mod child;
mod data;
mod rows;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(child::ROLE) {
        return child::play(&role.to_string_lossy());
    }
    let chosen: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("judge-bench");
    match data::written(&folder).and_then(|data| rows::print(&data, &chosen)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
