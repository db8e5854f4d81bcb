//! Writes the JSON Schemas of suites and cassettes into a folder, for editors.
//!
//! Run with `cargo run -p mcptest-harness --example schemas -- <folder>`.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("error: say which folder the schemas go to");
        return ExitCode::from(2);
    };
    let files = [
        ("suite.schema.json", mcptest::suite::SUITE_SCHEMA),
        ("cassette.schema.json", mcptest::trace::CASSETTE_SCHEMA),
    ];
    for (name, schema) in files {
        let path = folder.join(name);
        if let Err(error) = std::fs::write(&path, schema) {
            eprintln!("error: {} cannot be written: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("wrote {}", path.display());
    }
    ExitCode::SUCCESS
}
