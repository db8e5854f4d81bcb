//! The agent over aws-sdk-bedrockruntime: a few lines beside its own code record it and judge it.

use std::process::ExitCode;

use agents::Answers::{self, Streamed, Whole};
use agents::over_bedrock;
use aws_sdk_bedrockruntime::config::{Credentials, Region};

fn main() -> ExitCode {
    let agent = |answers| move |session| run(session, answers);
    let agents = [("Whole", agent(Whole)), ("Streamed", agent(Streamed))];
    let suites = mcptest::harness!().root("suites/bedrock");
    suites.agents(agents).run()
}

async fn run(session: mcptest::Session, answers: Answers) -> Result<(), agents::Error> {
    let address = session
        .url("bedrock")
        .ok_or("the session knows no Bedrock")?;
    let mut reached = over_bedrock::environment().endpoint_url(address);
    if session.mode() == mcptest::Mode::Play {
        // The client signs its requests with any key, and there need be none.
        let key = Credentials::new("played", "played", None, None, "played");
        reached = reached
            .credentials_provider(key)
            .region(Region::new("us-east-1"));
    }
    over_bedrock::answer(reached, session.prompt(), answers).await?;
    Ok(())
}
