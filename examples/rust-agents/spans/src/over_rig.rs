//! Over rig: it runs the loop and the tools, and one agent is a tool of the other.

use rig::agent::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::rig_tool;
use rig::tool::ToolExecutionError;

use crate::{Error, MODEL, desk};

/// Looks up an order for the model.
#[rig_tool(
    description = "Where an order is",
    params(order = "The number of the order")
)]
fn get_order(order: u64) -> Result<String, ToolExecutionError> {
    desk::get_order(order).map_err(tool_error)
}

/// Gives money back for the model.
#[rig_tool(
    description = "Gives the money of an order back",
    params(order = "The number of the order")
)]
fn refund(order: u64) -> Result<String, ToolExecutionError> {
    desk::refund(order).map_err(tool_error)
}

/// What the model is told of an error.
fn tool_error(error: desk::DeskError) -> ToolExecutionError {
    let text = error.to_string();
    ToolExecutionError::from_error(error).with_model_feedback(text)
}

/// Answers a user with the help of the model at an address. `with_content` says whether what is said stands in the spans.
pub async fn answer(base_url: &str, prompt: &str, with_content: bool) -> Result<String, Error> {
    crate::provide_cryptography();
    let mut config = OpenAIConfig::new("test-key");
    config.base_url = format!("{base_url}/v1");
    let client = config.client();
    let clerk = AgentBuilder::new(client.completion(MODEL))
        .name("clerk")
        .preamble("You know where orders are.")
        .record_content_telemetry(with_content)
        .tool(GetOrder)
        .default_max_turns(4)
        .build();
    let desk = AgentBuilder::new(client.completion(MODEL))
        .name("desk")
        .preamble(desk::SYSTEM)
        .record_content_telemetry(with_content)
        .tool(GetOrder)
        .tool(Refund)
        .dynamic_tool(clerk.into_tool()?)
        .default_max_turns(4)
        .build();
    Ok(desk.prompt(prompt).await?.output())
}
