//! An order desk whose tool pays: it leaves a line in the file `EFFECTS`. A session of mcptest is told each call, and says
//! whether the tool runs. `pays rig`: over rig, which runs the loop; `pays loop`: a loop over plain HTTP, which tells the
//! identifiers of the calls. `AGENT_CHANGE` says what the code does otherwise.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;

use agents::Error;
use mcptest_session::tools::{self, ToolFailure};
use rig::agent::AgentBuilder;
use rig::providers::openai::OpenAIConfig;
use rig::rig_tool;
use rig::tool::ToolExecutionError;
use serde_json::{Value, json};

const MOST_TURNS: usize = 6;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    // Here, as in any test build, `reqwest` has the TLS of the session and nobody who set it up.
    if rustls::crypto::ring::default_provider()
        .install_default()
        .is_err()
    {
        eprintln!("TLS is set up already");
        return ExitCode::FAILURE;
    }
    let said = match env::args().nth(1).as_deref() {
        Some("rig") => over_rig().await,
        Some("loop") => in_a_loop().await,
        _ => Err("usage: pays rig|loop".into()),
    };
    match said {
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

/// Pays for real.
fn pays(order: u64) -> Result<String, Error> {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(env::var("EFFECTS")?)?;
    writeln!(file, "refund {order}")?;
    match order {
        8 => Err("order 8 is refunded, not paid".into()),
        _ => Ok(format!("Order {order} is paid back.")),
    }
}

/// The tool, as the session sees it.
async fn refund(call_id: Option<&str>, mut order: u64) -> Result<String, ToolFailure> {
    match env::var("AGENT_CHANGE").as_deref() {
        Ok("no call") => return Ok(format!("Order {order} is paid back.")),
        Ok("an argument changed") => order += 2,
        // Whoever reads this ends the session before the second call.
        Ok("waits") if order == 8 => {
            println!("paid");
            _ = std::io::stdin().read_line(&mut String::new());
        }
        _ => {}
    }
    let (tools, args) = (tools::from_env()?, json!({ "order": order }));
    let run = async { pays(order) };
    match call_id {
        Some(id) => tools.call_with_id(Some(id), "refund", args, run).await,
        None => tools.call("refund", args, run).await,
    }
}

/// Gives money back for the model.
#[rig_tool(
    name = "refund",
    description = "Gives the money of a paid order back",
    params(order = "The number of the order")
)]
async fn refund_order(order: u64) -> Result<String, ToolExecutionError> {
    refund(None, order).await.map_err(|failure| {
        let text = format!("error: {failure}");
        ToolExecutionError::from_error(failure).with_model_feedback(text)
    })
}

async fn over_rig() -> Result<String, Error> {
    let mut config = OpenAIConfig::new(env::var("OPENAI_API_KEY")?);
    config.base_url = env::var("OPENAI_BASE_URL")?;
    let agent = AgentBuilder::new(config.client().responses("gpt-5-mini"))
        .tool(RefundOrder)
        .default_max_turns(MOST_TURNS)
        .build();
    Ok(agent
        .prompt("Please refund orders 7 and 8.")
        .await?
        .output())
}

async fn in_a_loop() -> Result<String, Error> {
    let (client, url) = (reqwest::Client::new(), env::var("OPENAI_BASE_URL")?);
    let order = json!({ "type": "object", "properties": { "order": { "type": "integer" } }, "required": ["order"] });
    let tool = json!({ "name": "refund", "description": "Gives the money of a paid order back", "parameters": order });
    let mut messages = vec![json!({ "role": "user", "content": "Please refund orders 7 and 8." })];
    for _ in 0..MOST_TURNS {
        let body = json!({
            "model": "gpt-5-mini", "messages": messages, "tools": [{ "type": "function", "function": tool }],
        });
        let answer = client
            .post(format!("{url}/chat/completions"))
            .bearer_auth(env::var("OPENAI_API_KEY")?)
            .json(&body);
        let answer: Value = answer.send().await?.error_for_status()?.json().await?;
        let message = &answer["choices"][0]["message"];
        let Some(calls) = message["tool_calls"].as_array().filter(|it| !it.is_empty()) else {
            return Ok(message["content"].as_str().unwrap_or_default().to_owned());
        };
        messages.push(message.clone());
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let arguments: Value = serde_json::from_str(arguments)?;
            let order = arguments["order"].as_u64().ok_or("`order` is no number")?;
            let given = refund(call["id"].as_str(), order).await;
            let told = given.unwrap_or_else(|failure| format!("error: {failure}"));
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": told }));
        }
    }
    Err("the model calls tools without end".into())
}
