//! Over genai: Gemini's format here, and that of any other provider by the name of a model. The library asks once, so that
//! the agent asks again.

use futures_util::StreamExt as _;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ServiceTarget};

use crate::{Answers, Error, MOST_TRIES, MOST_TURNS, PAUSE, desk};

const MODEL: &str = "gemini-2.5-flash";

/// What a model said: the text, the calls that it wants, and both as they stand in the history.
struct Said {
    text: String,
    calls: Vec<ToolCall>,
    message: Option<ChatMessage>,
}

/// Answers the user with the help of the model at an address. The key is `GEMINI_API_KEY`.
pub async fn answer(base_url: &str, prompt: &str, answers: Answers) -> Result<String, Error> {
    let client = client(base_url)?;
    let mut request = ChatRequest::from_user(prompt)
        .with_system(desk::system())
        .with_tools(desk::tools().iter().map(|tool| {
            Tool::new(tool.name)
                .with_description(tool.description)
                .with_schema(tool.schema())
        }));
    for _ in 0..MOST_TURNS {
        let said = chat_with_retry(&client, &request, answers).await?;
        let Some(message) = said.message else {
            return Ok(said.text);
        };
        let results = said.calls.iter().map(|call| {
            let result = match desk::call(&call.fn_name, &call.fn_arguments) {
                Ok(found) => found.to_string(),
                Err(error) => format!("error: {error}"),
            };
            ToolResponse::from_tool_call(call, result)
        });
        let results: Vec<_> = results.collect();
        request = request.append_message(message).append_message(results);
    }
    Err("the model calls tools without end".into())
}

/// A client that asks at an address.
fn client(base_url: &str) -> Result<Client, Error> {
    let base = format!("{base_url}/v1beta/");
    let here = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base.as_str()),
            auth: AuthData::from_env("GEMINI_API_KEY"),
            ..target
        })
    };
    let client = Client::builder().with_service_target_resolver_fn(here);
    Ok(client.build()?)
}

/// Asks, and asks again after 429 and 5xx.
async fn chat_with_retry(
    client: &Client,
    request: &ChatRequest,
    answers: Answers,
) -> Result<Said, Error> {
    let mut tries = 1;
    loop {
        let said = match answers {
            Answers::Whole => whole(client, request).await,
            Answers::Streamed => streamed(client, request).await,
        };
        if !said.as_ref().is_err_and(passes) || tries == MOST_TRIES {
            return Ok(said?);
        }
        tokio::time::sleep(PAUSE * tries).await;
        tries += 1;
    }
}

/// Whether another try may be answered. The status of a stream stands in the error below.
fn passes(error: &genai::Error) -> bool {
    if let genai::Error::WebStream { error, .. } = error {
        return error.downcast_ref().is_some_and(passes);
    }
    let status = error.status();
    status.is_some_and(|status| status == 429 || status.is_server_error())
}

async fn whole(client: &Client, request: &ChatRequest) -> genai::Result<Said> {
    let answer = client.exec_chat(MODEL, request.clone(), None).await?;
    Ok(Said {
        text: answer.texts().concat(),
        calls: answer.tool_calls().into_iter().cloned().collect(),
        message: answer.into_assistant_message_for_tool_use(),
    })
}

async fn streamed(client: &Client, request: &ChatRequest) -> genai::Result<Said> {
    let options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_tool_calls(true);
    let answer = client
        .exec_chat_stream(MODEL, request.clone(), Some(&options))
        .await?;
    let mut stream = answer.stream;
    let mut text = String::new();
    let mut end = None;
    while let Some(event) = stream.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => text.push_str(&chunk.content),
            ChatStreamEvent::End(all) => end = Some(all),
            _ => {}
        }
    }
    let end = end.unwrap_or_default();
    let calls = end.captured_tool_calls().unwrap_or_default();
    Ok(Said {
        text,
        calls: calls.into_iter().cloned().collect(),
        message: end.into_assistant_message_for_tool_use(),
    })
}
