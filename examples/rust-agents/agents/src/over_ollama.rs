//! Over ollama-rs: Ollama's own chat. The library asks once, so that the agent asks again. Its calls have no identifiers:
//! the model knows the results by their order.

use futures_util::StreamExt as _;
use ollama_rs::Ollama;
use ollama_rs::error::{InternalOllamaError, OllamaError};
use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::generation::tools::{ToolCall, ToolFunctionInfo, ToolInfo, ToolType};

use crate::{Answers, Error, MOST_TRIES, MOST_TURNS, PAUSE, desk};

const MODEL: &str = "qwen3";

/// Answers the user with the help of the model at an address. The server has no key.
pub async fn answer(base_url: &str, prompt: &str, answers: Answers) -> Result<String, Error> {
    // The library adds `api/chat`, and no `/` before it.
    let client = Ollama::try_new(format!("{base_url}/"))?;
    let mut messages = vec![
        ChatMessage::system(desk::system().to_owned()),
        ChatMessage::user(prompt.to_owned()),
    ];
    let tools = tools()?;
    for _ in 0..MOST_TURNS {
        let request = ChatMessageRequest::new(MODEL.to_owned(), messages.clone());
        let said = chat_with_retry(&client, &request.tools(tools.clone()), answers).await?;
        if said.tool_calls.is_empty() {
            return Ok(said.content);
        }
        let results: Vec<_> = said.tool_calls.iter().map(result).collect();
        messages.push(said);
        messages.extend(results.into_iter().map(ChatMessage::tool));
    }
    Err("the model calls tools without end".into())
}

/// What a call gave, as the model reads it.
fn result(call: &ToolCall) -> String {
    match desk::call(&call.function.name, &call.function.arguments) {
        Ok(found) => found.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

fn tools() -> Result<Vec<ToolInfo>, Error> {
    let tools = desk::tools().iter().map(|tool| {
        Ok(ToolInfo {
            tool_type: ToolType::Function,
            function: ToolFunctionInfo {
                name: tool.name.to_owned(),
                description: tool.description.to_owned(),
                parameters: tool.schema().try_into()?,
            },
        })
    });
    tools.collect()
}

/// Asks, and asks again after an answer that is an error: the library does not say which status it has.
async fn chat_with_retry(
    client: &Ollama,
    request: &ChatMessageRequest,
    answers: Answers,
) -> Result<ChatMessage, Error> {
    let mut tries = 1;
    loop {
        let said = match answers {
            Answers::Whole => whole(client, request.clone()).await,
            Answers::Streamed => streamed(client, request.clone()).await,
        };
        if !matches!(said, Err(OllamaError::Other(_))) || tries == MOST_TRIES {
            return Ok(said?);
        }
        tokio::time::sleep(PAUSE * tries).await;
        tries += 1;
    }
}

async fn whole(client: &Ollama, request: ChatMessageRequest) -> Result<ChatMessage, OllamaError> {
    Ok(client.send_chat_messages(request).await?.message)
}

async fn streamed(
    client: &Ollama,
    request: ChatMessageRequest,
) -> Result<ChatMessage, OllamaError> {
    let mut stream = client.send_chat_messages_stream(request).await?;
    let mut whole = ChatMessage::assistant(String::new());
    let mut is_done = false;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|()| broken())?;
        whole.content += &piece.message.content;
        whole.tool_calls.extend(piece.message.tool_calls);
        is_done |= piece.done;
    }
    if is_done { Ok(whole) } else { Err(broken()) }
}

/// The library prints why.
fn broken() -> OllamaError {
    OllamaError::InternalError(InternalOllamaError {
        message: "the stream broke off".to_owned(),
    })
}
