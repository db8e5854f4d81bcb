//! Over async-openai: Chat Completions. The library asks again by itself after 429 and 5xx.

use std::collections::BTreeMap;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls,
    ChatCompletionRequestAssistantMessageArgs, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequest, CreateChatCompletionRequestArgs, FunctionObject,
};
use futures_util::StreamExt as _;

use crate::{Answers, Error, MOST_TURNS, desk};

const MODEL: &str = "gpt-5";

/// A model's text, and the calls that it wants.
type Said = (String, Vec<ChatCompletionMessageToolCall>);

/// Answers the user with the help of the model at an address. The key is `OPENAI_API_KEY`.
pub async fn answer(base_url: &str, prompt: &str, answers: Answers) -> Result<String, Error> {
    let client = Client::with_config(OpenAIConfig::new().with_api_base(base_url));
    let mut messages: Vec<ChatCompletionRequestMessage> = vec![
        ChatCompletionRequestSystemMessage::from(desk::system()).into(),
        ChatCompletionRequestUserMessage::from(prompt).into(),
    ];
    for _ in 0..MOST_TURNS {
        let request = CreateChatCompletionRequestArgs::default()
            .model(MODEL)
            .messages(messages.clone())
            .tools(tools())
            .build()?;
        let (text, calls) = match answers {
            Answers::Whole => whole(&client, request).await?,
            Answers::Streamed => streamed(&client, request).await?,
        };
        if calls.is_empty() {
            return Ok(text);
        }
        let wanted = calls.iter().cloned();
        let wanted = wanted.map(ChatCompletionMessageToolCalls::Function);
        let said = ChatCompletionRequestAssistantMessageArgs::default()
            .tool_calls(wanted.collect::<Vec<_>>())
            .build()?;
        messages.push(said.into());
        for call in calls {
            let message = ChatCompletionRequestToolMessage {
                content: result(&call).into(),
                tool_call_id: call.id,
            };
            messages.push(message.into());
        }
    }
    Err("the model calls tools without end".into())
}

/// What a call gave, as the model reads it.
fn result(call: &ChatCompletionMessageToolCall) -> String {
    let arguments = serde_json::from_str(&call.function.arguments).unwrap_or_default();
    match desk::call(&call.function.name, &arguments) {
        Ok(found) => found.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

fn tools() -> Vec<ChatCompletionTools> {
    let tools = desk::tools().iter().map(|tool| {
        ChatCompletionTools::Function(ChatCompletionTool {
            function: FunctionObject {
                name: tool.name.to_owned(),
                description: Some(tool.description.to_owned()),
                parameters: Some(tool.schema()),
                strict: None,
            },
        })
    });
    tools.collect()
}

async fn whole(
    client: &Client<OpenAIConfig>,
    request: CreateChatCompletionRequest,
) -> Result<Said, Error> {
    let mut answer = client.chat().create(request).await?;
    let message = answer
        .choices
        .pop()
        .ok_or("the model said nothing")?
        .message;
    let calls = message.tool_calls.into_iter().flatten();
    let calls = calls.filter_map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => Some(call),
        ChatCompletionMessageToolCalls::Custom(_) => None,
    });
    Ok((message.content.unwrap_or_default(), calls.collect()))
}

async fn streamed(
    client: &Client<OpenAIConfig>,
    request: CreateChatCompletionRequest,
) -> Result<Said, Error> {
    let mut stream = client.chat().create_stream(request).await?;
    let mut text = String::new();
    let mut calls: BTreeMap<u32, ChatCompletionMessageToolCall> = BTreeMap::new();
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            text.push_str(choice.delta.content.as_deref().unwrap_or_default());
            for part in choice.delta.tool_calls.into_iter().flatten() {
                let call = calls.entry(part.index).or_default();
                call.id.push_str(part.id.as_deref().unwrap_or_default());
                if let Some(function) = part.function {
                    let name = function.name.unwrap_or_default();
                    call.function.name.push_str(&name);
                    let arguments = function.arguments.unwrap_or_default();
                    call.function.arguments.push_str(&arguments);
                }
            }
        }
    }
    Ok((text, calls.into_values().collect()))
}
