//! Over adk-rust: its runner runs the loop and the tools.

use std::collections::HashMap;
use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{AdkError, Agent, Content, Part, RunConfig, SessionId, StreamingMode, UserId};
use adk_model::openai::{OpenAIClient, OpenAIConfig};
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService, SessionService};
use adk_tool::FunctionTool;
use futures_util::StreamExt as _;
use serde_json::Value;

use crate::{Error, MODEL, desk};

/// Answers a user with the help of the model at an address, with all that is said in the spans.
pub async fn answer(base_url: &str, prompt: &str) -> Result<String, Error> {
    let config = OpenAIConfig::compatible("test-key", format!("{base_url}/v1"), MODEL);
    let order = |args: &Value| args["order"].as_u64().unwrap_or_default();
    let told = |result: Result<String, desk::DeskError>| {
        let failed = |error: desk::DeskError| AdkError::tool(error.to_string());
        result.map(Value::from).map_err(failed)
    };
    let get_order = FunctionTool::new(
        "get_order",
        "Where an order is",
        move |_, args| async move { told(desk::get_order(order(&args))) },
    );
    let refund = FunctionTool::new(
        "refund",
        "Gives the money of an order back",
        move |_, args| async move { told(desk::refund(order(&args))) },
    );
    let agent = LlmAgentBuilder::new("desk")
        .model(Arc::new(OpenAIClient::new(config)?))
        .instruction(desk::SYSTEM)
        .tool(Arc::new(get_order))
        .tool(Arc::new(refund))
        .build()?;
    let sessions: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
    let talk = CreateRequest {
        app_name: "desk".to_owned(),
        user_id: "user".to_owned(),
        session_id: Some("talk".to_owned()),
        state: HashMap::new(),
    };
    sessions.create(talk).await?;
    let runner = Runner::builder()
        .app_name("desk")
        .agent(Arc::new(agent) as Arc<dyn Agent>)
        .session_service(sessions)
        .run_config(RunConfig {
            record_payloads: true,
            streaming_mode: StreamingMode::None,
            ..RunConfig::default()
        })
        .build()?;
    let asked = Content::new("user").with_text(prompt);
    let mut events = runner
        .run(UserId::new("user")?, SessionId::new("talk")?, asked)
        .await?;
    let mut said = String::new();
    while let Some(event) = events.next().await {
        for part in event?.content().iter().flat_map(|content| &content.parts) {
            if let Part::Text { text } = part {
                said.clone_from(text);
            }
        }
    }
    Ok(said)
}
