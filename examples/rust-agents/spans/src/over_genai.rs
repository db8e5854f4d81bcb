//! Over genai: the loop is the program's own. genai writes spans of model calls; those of the agent and of its tools are
//! made by its helpers.

use genai::adapter::AdapterKind;
use genai::chat::{ChatRequest, Tool, ToolCall, ToolResponse};
use genai::otel::agent::{AgentSpan, ExecuteToolSpan, execute_tool_span, set_error};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::json;
use tracing::Instrument as _;

use crate::{Error, MODEL, desk};

const MOST_TURNS: usize = 4;

/// Answers a user with the help of the model at an address.
pub async fn answer(base_url: &str, prompt: &str) -> Result<String, Error> {
    let agent = AgentSpan::invoke_agent()
        .internal()
        .with_name("desk")
        .start();
    talk(base_url, prompt).instrument(agent).await
}

async fn talk(base_url: &str, prompt: &str) -> Result<String, Error> {
    let client = client(base_url)?;
    let tool = |name: &str, description: &str| {
        let order = json!({ "type": "integer", "description": "The number of the order" });
        let schema =
            json!({ "type": "object", "properties": { "order": order }, "required": ["order"] });
        Tool::new(name)
            .with_description(description)
            .with_schema(schema)
    };
    let mut request = ChatRequest::from_user(prompt)
        .with_system(desk::SYSTEM)
        .with_tools([
            tool("get_order", "Where an order is"),
            tool("refund", "Gives the money of an order back"),
        ]);
    for _ in 0..MOST_TURNS {
        let answer = client.exec_chat(MODEL, request.clone(), None).await?;
        let calls: Vec<ToolCall> = answer.tool_calls().into_iter().cloned().collect();
        let text = answer.texts().concat();
        let Some(message) = answer.into_assistant_message_for_tool_use() else {
            return Ok(text);
        };
        let results: Vec<ToolResponse> = calls.iter().map(call).collect();
        request = request.append_message(message).append_message(results);
    }
    Err("the model calls tools without end".into())
}

/// Runs a tool. Of a failure the span says so; of a success genai has nothing to say.
fn call(call: &ToolCall) -> ToolResponse {
    let span = execute_tool_span(call);
    let _inside = span.enter();
    let order = call.fn_arguments["order"].as_u64().unwrap_or_default();
    let result = match call.fn_name.as_str() {
        "refund" => desk::refund(order),
        _ => desk::get_order(order),
    };
    let said = result.unwrap_or_else(|error| {
        set_error(&span, "tool_error");
        error.to_string()
    });
    ExecuteToolSpan::record_result(&span, &said);
    ToolResponse::from_tool_call(call, said)
}

fn client(base_url: &str) -> Result<Client, Error> {
    crate::provide_cryptography();
    let base = format!("{base_url}/v1/");
    let here = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base.as_str()),
            auth: AuthData::from_single("test-key"),
            model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
        })
    };
    Ok(Client::builder()
        .with_service_target_resolver_fn(here)
        .build()?)
}
