//! The agent over genai: ten lines beside its own code record it and judge it.

use std::process::ExitCode;

use agents::Answers::{self, Streamed, Whole};

fn main() -> ExitCode {
    let agent = |answers| move |session| run(session, answers);
    let agents = [("Whole", agent(Whole)), ("Streamed", agent(Streamed))];
    let suites = mcptest::harness!().root("suites/genai");
    suites.agents(agents).run()
}

async fn run(session: mcptest::Session, answers: Answers) -> Result<(), agents::Error> {
    agents::over_genai::answer(session.gemini_url(), session.prompt(), answers).await?;
    Ok(())
}
