//! The agent over genai: `desk_over_genai PROMPT` asks the model at `OPENAI_BASE_URL`, and writes its run into `cassettes/`.

use spans::{Error, over_genai};

#[tokio::main]
async fn main() -> Result<(), Error> {
    mcptest_trace::capture("cassettes").install()?;

    let prompt = std::env::args()
        .nth(1)
        .ok_or("say what the agent is asked")?;
    let base_url = std::env::var("OPENAI_BASE_URL")?;
    let said = over_genai::answer(&base_url, &prompt).await?;
    println!("{said}");
    Ok(())
}
