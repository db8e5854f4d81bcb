//! Over aws-sdk-bedrockruntime: Amazon Bedrock's Converse. The library asks again by itself after 429 and 5xx.

use std::collections::{BTreeMap, HashMap};

use aws_config::{BehaviorVersion, ConfigLoader};
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::error::DisplayErrorContext;
use aws_sdk_bedrockruntime::types::{
    ContentBlock, ContentBlockDelta, ContentBlockStart, ConversationRole, ConverseStreamOutput,
    Message, SystemContentBlock, Tool, ToolConfiguration, ToolInputSchema, ToolResultBlock,
    ToolResultContentBlock, ToolResultStatus, ToolSpecification, ToolUseBlock,
};
use aws_smithy_types::{Document, Number};
use serde_json::Value;

use crate::{Answers, Error, MOST_TURNS, desk};

const MODEL: &str = "us.amazon.nova-pro-v1:0";

/// How the environment says to reach AWS: the key, the region, and in `AWS_ENDPOINT_URL_BEDROCK_RUNTIME` the address. The
/// client has no TLS: it is for an address on loopback.
#[must_use]
pub fn environment() -> ConfigLoader {
    let http = aws_smithy_http_client::Builder::new().build_http();
    aws_config::defaults(BehaviorVersion::latest()).http_client(http)
}

/// Answers the user with the help of a model of Bedrock.
pub async fn answer(
    reached: ConfigLoader,
    prompt: &str,
    answers: Answers,
) -> Result<String, Error> {
    let client = Client::new(&reached.load().await);
    let said_by_user = vec![ContentBlock::Text(prompt.to_owned())];
    let mut messages = vec![message(ConversationRole::User, said_by_user)?];
    for _ in 0..MOST_TURNS {
        let said = match answers {
            Answers::Whole => whole(&client, messages.clone()).await?,
            Answers::Streamed => streamed(&client, messages.clone()).await?,
        };
        let calls = said.iter().filter_map(|block| block.as_tool_use().ok());
        let results: Vec<_> = calls.map(result).collect::<Result<_, _>>()?;
        if results.is_empty() {
            let texts = said.iter().filter_map(|block| block.as_text().ok());
            return Ok(texts.map(String::as_str).collect());
        }
        messages.push(message(ConversationRole::Assistant, said)?);
        messages.push(message(ConversationRole::User, results)?);
    }
    Err("the model calls tools without end".into())
}

fn message(role: ConversationRole, content: Vec<ContentBlock>) -> Result<Message, Error> {
    let message = Message::builder().role(role).set_content(Some(content));
    Ok(message.build()?)
}

/// What a call gave.
fn result(call: &ToolUseBlock) -> Result<ContentBlock, Error> {
    let (text, status) = match desk::call(call.name(), &to_json(call.input())) {
        Ok(found) => (found.to_string(), ToolResultStatus::Success),
        Err(error) => (error.to_string(), ToolResultStatus::Error),
    };
    let result = ToolResultBlock::builder()
        .tool_use_id(call.tool_use_id())
        .content(ToolResultContentBlock::Text(text))
        .status(status);
    Ok(ContentBlock::ToolResult(result.build()?))
}

fn tools() -> Result<ToolConfiguration, Error> {
    let tools = desk::tools().iter().map(|tool| {
        let tool = ToolSpecification::builder()
            .name(tool.name)
            .description(tool.description)
            .input_schema(ToolInputSchema::Json(to_document(tool.schema())));
        Ok(Tool::ToolSpec(tool.build()?))
    });
    let tools: Result<Vec<Tool>, Error> = tools.collect();
    let tools = ToolConfiguration::builder().set_tools(Some(tools?));
    Ok(tools.build()?)
}

fn system() -> SystemContentBlock {
    SystemContentBlock::Text(desk::system().to_owned())
}

async fn whole(client: &Client, messages: Vec<Message>) -> Result<Vec<ContentBlock>, Error> {
    let request = client.converse().model_id(MODEL).system(system());
    let request = request.set_messages(Some(messages)).tool_config(tools()?);
    let answer = request.send().await.map_err(explain)?;
    let said = answer.output.ok_or("the model said nothing")?;
    let said = said.as_message().map_err(|_| "the model said no message")?;
    Ok(said.content.clone())
}

async fn streamed(client: &Client, messages: Vec<Message>) -> Result<Vec<ContentBlock>, Error> {
    let request = client.converse_stream().model_id(MODEL).system(system());
    let request = request.set_messages(Some(messages)).tool_config(tools()?);
    let mut stream = request.send().await.map_err(explain)?.stream;
    let mut texts: BTreeMap<i32, String> = BTreeMap::new();
    let mut calls = BTreeMap::new();
    while let Some(event) = stream.recv().await.map_err(explain)? {
        match event {
            ConverseStreamOutput::ContentBlockStart(begun) => {
                if let Some(ContentBlockStart::ToolUse(call)) = begun.start {
                    calls.insert(begun.content_block_index, call);
                }
            }
            ConverseStreamOutput::ContentBlockDelta(piece) => {
                let text = texts.entry(piece.content_block_index).or_default();
                match piece.delta {
                    Some(ContentBlockDelta::Text(piece)) => text.push_str(&piece),
                    Some(ContentBlockDelta::ToolUse(piece)) => text.push_str(piece.input()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let blocks = texts.into_iter().map(|(place, text)| {
        let Some(call) = calls.remove(&place) else {
            return Ok(ContentBlock::Text(text));
        };
        let call = ToolUseBlock::builder()
            .tool_use_id(call.tool_use_id())
            .name(call.name())
            .input(to_document(serde_json::from_str(&text)?));
        Ok(ContentBlock::ToolUse(call.build()?))
    });
    blocks.collect()
}

/// The library's own words for an error are no more than *service error*.
fn explain(error: impl std::error::Error) -> Error {
    DisplayErrorContext(error).to_string().into()
}

fn to_document(value: Value) -> Document {
    match value {
        Value::Null => Document::Null,
        Value::Bool(flag) => flag.into(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => items
            .into_iter()
            .map(to_document)
            .collect::<Vec<_>>()
            .into(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(key, value)| (key, to_document(value)));
            fields.collect::<HashMap<_, _>>().into()
        }
    }
}

fn to_json(document: &Document) -> Value {
    match document {
        Document::Null => Value::Null,
        Document::Bool(flag) => (*flag).into(),
        Document::Number(Number::PosInt(number)) => (*number).into(),
        Document::Number(Number::NegInt(number)) => (*number).into(),
        Document::Number(Number::Float(number)) => (*number).into(),
        Document::String(text) => text.as_str().into(),
        Document::Array(items) => items.iter().map(to_json).collect(),
        Document::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (key.clone(), to_json(value)))
                .collect()
        }
    }
}
