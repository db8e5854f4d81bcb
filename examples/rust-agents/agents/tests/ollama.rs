//! The agent over ollama-rs: ten lines beside its own code record it and judge it.

use std::process::ExitCode;

use agents::Answers::{self, Streamed, Whole};

fn main() -> ExitCode {
    let agent = |answers| move |session| run(session, answers);
    let agents = [("Whole", agent(Whole)), ("Streamed", agent(Streamed))];
    let suites = mcptest::harness!().root("suites/ollama");
    suites.agents(agents).run()
}

async fn run(session: mcptest::Session, answers: Answers) -> Result<(), agents::Error> {
    let address = session.url("ollama").ok_or("the session knows no Ollama")?;
    agents::over_ollama::answer(address, session.prompt(), answers).await?;
    Ok(())
}
