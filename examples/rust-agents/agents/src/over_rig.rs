//! Over rig: the Responses API. rig runs the loop and the tools; it asks the model once, so that the agent asks again.

use futures_util::StreamExt as _;
use rig::agent::{Agent, AgentBuilder, MultiTurnStreamItem};
use rig::completion::PromptError;
use rig::providers::openai::OpenAIConfig;
use rig::rig_tool;
use rig::tool::ToolExecutionError;
use serde_json::Value;

use crate::{Answers, Error, MOST_TRIES, MOST_TURNS, PAUSE, desk};

const MODEL: &str = "gpt-5-mini";

/// Looks up an order for the model.
#[rig_tool(
    description = "Looks up the status and the total of an order",
    params(order = "The number of the order")
)]
fn find_order(order: u64) -> Result<Value, ToolExecutionError> {
    desk::find_order(order).map_err(tool_error)
}

/// Gives money back for the model.
#[rig_tool(
    description = "Gives the money of a paid order back",
    params(order = "The number of the order")
)]
fn refund_order(order: u64) -> Result<Value, ToolExecutionError> {
    desk::refund_order(order).map_err(tool_error)
}

/// What the model is told of an error: rig says "the tool failed" where a tool says nothing else.
fn tool_error(error: desk::DeskError) -> ToolExecutionError {
    let text = format!("error: {error}");
    ToolExecutionError::from_error(error).with_model_feedback(text)
}

/// Answers the user with the help of the model at an address. The key is `OPENAI_API_KEY`.
pub async fn answer(base_url: &str, prompt: &str, answers: Answers) -> Result<String, Error> {
    let mut config = OpenAIConfig::new(std::env::var("OPENAI_API_KEY")?);
    base_url.clone_into(&mut config.base_url);
    let agent = AgentBuilder::new(config.client().responses(MODEL))
        .preamble(desk::system())
        .default_max_turns(MOST_TURNS)
        .tool(FindOrder);
    let has_all = desk::tools().len() == 2;
    let agent = if has_all {
        agent.tool(RefundOrder)
    } else {
        agent
    };
    let agent = agent.build();
    let mut tries = 1;
    loop {
        let said = match answers {
            Answers::Whole => whole(&agent, prompt).await,
            Answers::Streamed => streamed(&agent, prompt).await,
        };
        if !said.as_ref().is_err_and(passes) || tries == MOST_TRIES {
            return Ok(said?);
        }
        tokio::time::sleep(PAUSE * tries).await;
        tries += 1;
    }
}

/// Whether another try may be answered.
fn passes(error: &PromptError) -> bool {
    match error {
        PromptError::Provider(error) => error.is_retryable(),
        PromptError::Report(report) => report.retryable,
        _ => false,
    }
}

async fn whole(agent: &Agent, prompt: &str) -> Result<String, PromptError> {
    let response = agent.prompt(prompt).await?;
    Ok(response.output())
}

async fn streamed(agent: &Agent, prompt: &str) -> Result<String, PromptError> {
    let mut stream = agent.prompt(prompt).stream();
    let mut said = String::new();
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item? {
            said = response.output();
        }
    }
    Ok(said)
}
