//! The agent over rig: `desk_over_rig PROMPT [--silent]` asks the model at `OPENAI_BASE_URL`, and writes its run into `cassettes/`.

use spans::{Error, over_rig};

#[tokio::main]
async fn main() -> Result<(), Error> {
    mcptest_trace::capture("cassettes").install()?;

    let prompt = std::env::args()
        .nth(1)
        .ok_or("say what the agent is asked")?;
    let base_url = std::env::var("OPENAI_BASE_URL")?;
    // `--silent`: what is said does not get into the spans.
    let with_content = std::env::args().nth(2).as_deref() != Some("--silent");
    let said = over_rig::answer(&base_url, &prompt, with_content).await?;
    println!("{said}");
    Ok(())
}
