//! The order desk as a program, as a suite's `command:` starts it: `refunds ollama-rs|aws-sdk-bedrockruntime [--stream]`.
//! Its client takes the address from the environment.

use std::env;
use std::process::ExitCode;

use agents::{Answers, Error, over_bedrock, over_ollama};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match answer().await {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn answer() -> Result<String, Error> {
    let streamed = env::args().any(|argument| argument == "--stream");
    let answers = if streamed {
        Answers::Streamed
    } else {
        Answers::Whole
    };
    let prompt = env::var("MCPTEST_PROMPT")?;
    match env::args().nth(1).as_deref() {
        Some("ollama-rs") => over_ollama::answer(&env::var("OLLAMA_HOST")?, &prompt, answers).await,
        // The library reads its own variables.
        Some("aws-sdk-bedrockruntime") => {
            over_bedrock::answer(over_bedrock::environment(), &prompt, answers).await
        }
        _ => Err("usage: refunds ollama-rs|aws-sdk-bedrockruntime [--stream]".into()),
    }
}
