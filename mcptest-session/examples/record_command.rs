//! Records one run of any agent that takes a base URL, without a line of glue:
//!
//! ```sh
//! cargo run -p mcptest-session --features record --example record_command -- FOLDER "PROMPT" python agent.py
//! ```
//!
//! The run becomes `FOLDER/run-1.json`, or the next number that is free.

use std::error::Error;
use std::process::ExitCode;

use mcptest_session::driver;
use mcptest_session::session::{Session, SessionOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, prompt, command @ ..] = arguments.as_slice() else {
        eprintln!("say the folder of the runs, the prompt, and the command");
        return ExitCode::from(2);
    };
    match record(folder, prompt, command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn record(folder: &str, prompt: &str, command: &[String]) -> Result<(), Box<dyn Error>> {
    let session = Session::record(SessionOptions::new("Agent", prompt)).await?;
    let command = session.command(command.iter().cloned(), ".");
    let ended = driver::run(&command).await?;
    let run = session.finish_command(&ended).await?;
    let file = run.add_to(folder)?;
    println!("{}: {ended}", file.display());
    for note in &run.notes {
        println!("note: {note}");
    }
    Ok(())
}
