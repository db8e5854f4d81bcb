//! The `order-desk` binary, seen by a real MCP client and by raw pipes.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

mod http;
mod misbehave;
mod stdio;

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, CallToolResult},
    service::RunningService,
    transport::TokioChildProcess,
};
use serde_json::Value;
use tokio::process::Command;

const DESK: &str = env!("CARGO_BIN_EXE_order-desk");

type Client = RunningService<RoleClient, ()>;

/// A client of a fresh desk process.
async fn connect(args: &[&str], env: &[(&str, &str)]) -> Client {
    let mut command = Command::new(DESK);
    command.args(args).envs(env.iter().copied());
    let transport = TokioChildProcess::new(command).unwrap();
    ().serve(transport).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let arguments = arguments.as_object().unwrap().clone();
    client
        .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments))
        .await
        .unwrap()
}

/// The result of a call that must succeed, which text and structured content agree on.
async fn ok(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_ne!(result.is_error, Some(true), "{result:?}");
    let structured = result.structured_content.clone().unwrap();
    let in_text: Value = serde_json::from_str(&text(&result)).unwrap();
    assert_eq!(in_text, structured);
    structured
}

/// The text of a call that must be a tool error.
async fn refused(client: &Client, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{result:?}");
    assert_eq!(result.structured_content, None);
    text(&result)
}

fn text(result: &CallToolResult) -> String {
    assert_eq!(result.content.len(), 1);
    result.content[0].as_text().unwrap().text.clone()
}
