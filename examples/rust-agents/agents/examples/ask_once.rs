//! Asks a model once over a library, with nothing set but its address and key: what the library does on its own where
//! that fails can be counted. `ask_once LIBRARY ADDRESS PROMPT [--stream]`

use std::process::ExitCode;

use agents::{Answers, Error, over_async_openai, over_bedrock};
use futures_util::StreamExt as _;
use genai::ServiceTarget;
use genai::chat::{ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use ollama_rs::Ollama;
use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use rig::agent::{AgentBuilder, MultiTurnStreamItem};
use rig::providers::openai::OpenAIConfig;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Here, as in any test build, `reqwest` has the TLS of the session and nobody who set it up.
    let ring = rustls::crypto::ring::default_provider();
    if ring.install_default().is_err() {
        eprintln!("TLS is set up already");
        return ExitCode::FAILURE;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (library, address, prompt, streamed) = match &arguments[..] {
        [library, address, prompt] => (library, address, prompt, false),
        [library, address, prompt, flag] if flag == "--stream" => (library, address, prompt, true),
        _ => {
            eprintln!("usage: ask_once LIBRARY ADDRESS PROMPT [--stream]");
            return ExitCode::FAILURE;
        }
    };
    let asked = match library.as_str() {
        "async-openai" => async_openai(address, prompt, streamed).await,
        "genai" => genai(address, prompt, streamed).await,
        "rig" => rig(address, prompt, streamed).await,
        "reqwest" => reqwest(address, prompt, streamed).await,
        "ollama-rs" => ollama(address, prompt, streamed).await,
        "aws-sdk-bedrockruntime" => bedrock(address, prompt, streamed).await,
        other => Err(format!("there is no agent over `{other}`").into()),
    };
    match asked {
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

/// The agent itself: it leaves trying again to the library.
async fn async_openai(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    over_async_openai::answer(&format!("{address}/v1"), prompt, answers(streamed)).await
}

/// The agent itself, as before.
async fn bedrock(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    let reached = over_bedrock::environment().endpoint_url(address);
    over_bedrock::answer(reached, prompt, answers(streamed)).await
}

fn answers(streamed: bool) -> Answers {
    if streamed {
        Answers::Streamed
    } else {
        Answers::Whole
    }
}

async fn ollama(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    let client = Ollama::try_new(format!("{address}/"))?;
    let messages = vec![ChatMessage::user(prompt.to_owned())];
    let request = ChatMessageRequest::new("qwen3".to_owned(), messages);
    if !streamed {
        return Ok(client.send_chat_messages(request).await?.message.content);
    }
    let mut stream = client.send_chat_messages_stream(request).await?;
    let mut text = String::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|()| "the stream broke off")?;
        text.push_str(&piece.message.content);
    }
    Ok(text)
}

async fn genai(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    let base = format!("{address}/v1beta/");
    let here = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base.as_str()),
            auth: AuthData::from_env("GEMINI_API_KEY"),
            ..target
        })
    };
    let client = genai::Client::builder().with_service_target_resolver_fn(here);
    let (client, model) = (client.build()?, "gemini-2.5-flash");
    let request = ChatRequest::from_user(prompt);
    if !streamed {
        let answer = client.exec_chat(model, request, None).await?;
        return Ok(answer.texts().concat());
    }
    let mut stream = client.exec_chat_stream(model, request, None).await?.stream;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let ChatStreamEvent::Chunk(chunk) = event? {
            text.push_str(&chunk.content);
        }
    }
    Ok(text)
}

async fn rig(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    let mut config = OpenAIConfig::new(std::env::var("OPENAI_API_KEY")?);
    config.base_url = format!("{address}/v1");
    let agent = AgentBuilder::new(config.client().responses("gpt-5-mini")).build();
    if !streamed {
        return Ok(agent.prompt(prompt).await?.output());
    }
    let mut stream = agent.prompt(prompt).stream();
    let mut text = String::new();
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item? {
            text = response.output();
        }
    }
    Ok(text)
}

async fn reqwest(address: &str, prompt: &str, streamed: bool) -> Result<String, Error> {
    let body = json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 1024,
        "messages": [{ "role": "user", "content": prompt }],
        "stream": streamed,
    });
    let answer = reqwest::Client::new()
        .post(format!("{address}/v1/messages"))
        .header("x-api-key", std::env::var("ANTHROPIC_API_KEY")?)
        .header("anthropic-version", "2023-06-01")
        .json(&body)
        .send()
        .await?;
    Ok(answer.error_for_status()?.text().await?)
}
