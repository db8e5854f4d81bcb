//! The harness over the example suites of the README, and over an agent that is this crate's own code.

use std::process::ExitCode;

#[path = "../examples/clerk/agent.rs"]
mod clerk;

fn main() -> ExitCode {
    let suites = mcptest::harness!().root("examples");
    suites
        .agents([("Clerk looks before it speaks", clerk)])
        .run()
}

async fn clerk(session: mcptest::Session) -> Result<(), Box<dyn std::error::Error>> {
    let desk = session.mcp_url("desk").unwrap_or_default();
    clerk::answer(session.openai_url(), desk, session.prompt()).map(drop)
}
