//! Prints the spans of a real run as OTLP in JSON: `fixtures rig|genai|adk-rust [PROMPT]`.

use scripted_provider::{Provider, Script};
use spans::{Error, otlp, over_adk, over_genai, over_rig};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let library = args
        .next()
        .ok_or("name a library: rig, genai or adk-rust")?;
    let prompt = args.next();
    let prompt = prompt.as_deref().unwrap_or("Please refund order 7.");
    let script = Script::from_json(include_str!("../../script.json"))?;
    let provider = Provider::start(script)?;
    let url = provider.url();
    let spans = match library.as_str() {
        "rig" => otlp::exported(over_rig::answer(&url, prompt, true)).await?,
        "genai" => otlp::exported(over_genai::answer(&url, prompt)).await?,
        "adk-rust" => otlp::exported(over_adk::answer(&url, prompt)).await?,
        other => return Err(format!("no agent is written over `{other}`").into()),
    };
    print!("{}", spans.replace(&url, "http://127.0.0.1"));
    Ok(())
}
