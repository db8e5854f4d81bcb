//! The agent over async-openai: ten lines beside its own code record it and judge it.

use std::process::ExitCode;

use agents::Answers::{self, Streamed, Whole};

fn main() -> ExitCode {
    let agent = |answers| move |session| run(session, answers);
    let agents = [("Whole", agent(Whole)), ("Streamed", agent(Streamed))];
    let suites = mcptest::harness!().root("suites/async_openai");
    suites.agents(agents).run()
}

async fn run(session: mcptest::Session, answers: Answers) -> Result<(), agents::Error> {
    agents::over_async_openai::answer(session.openai_url(), session.prompt(), answers).await?;
    Ok(())
}
