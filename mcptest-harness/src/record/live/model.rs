//! One model call: asked, asked again where that helps, and read.

use std::collections::HashMap;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, MessageContent, ReasoningEffort,
    StopReason, Tool, ToolCall,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Value, json};

use super::Timeouts;
use super::arguments::Arguments;
use super::problem::{Again, ModelError, message_of};
use super::provider::ModelEndpoint;
use super::tools::LiveTool;
use crate::record::LiveError;
use crate::trace::StepTokens;

/// How long is waited before each further try.
const WAITS: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// The longest wait that a provider may ask for.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// A model behind its API.
pub(super) struct ModelClient {
    client: Client,
    target: ServiceTarget,
    provider: ModelEndpoint,
    limit: Duration,
    /// Merged into every request.
    extra_body: Value,
}

/// A model call that gave no answer.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: LiveError,
    /// The provider may have worked on it.
    pub(super) may_be_billed: bool,
}

/// What a model answered.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) text: Option<String>,
    pub(super) calls: Vec<AskedCall>,
    /// The answer as the next request repeats it.
    pub(super) message: ChatMessage,
    pub(super) tokens: StepTokens,
    /// The answer ends where `max_tokens` cut it.
    pub(super) cut: bool,
    pub(super) refused: bool,
    /// Of calls that model-written code made: the call's id and the tool's that ran the code.
    pub(super) by_code: HashMap<String, String>,
}

/// A tool call that a model asks for.
#[derive(Debug, Clone)]
pub(super) struct AskedCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Arguments,
}

/// A client for HTTP: TLS by rustls, proxies from the environment, no redirects for keys to follow.
pub(super) fn http_client(limit: Option<Duration>) -> Result<reqwest::Client, reqwest::Error> {
    // Fails only where a provider is installed already, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(0);
    if let Some(limit) = limit {
        builder = builder.timeout(limit);
    }
    builder.build()
}

impl ModelClient {
    pub(super) fn new(provider: &ModelEndpoint, timeouts: &Timeouts) -> Result<Self, LiveError> {
        let unusable = |error: String| LiveError::new(format!("no HTTP client: {error}"));
        let http =
            http_client(Some(timeouts.model)).map_err(|error| unusable(error.to_string()))?;
        let client = Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(provider.base_url.as_str()),
            auth: AuthData::from_single(provider.key.as_str()),
            model: ModelIden::new(provider.kind, library_name(&provider.model)),
        };
        Ok(Self {
            client,
            target,
            provider: provider.clone(),
            limit: timeouts.model,
            // Gemini's model stands in the address.
            extra_body: match provider.kind {
                AdapterKind::Gemini => json!({}),
                _ => json!({ "model": provider.model }),
            },
        })
    }

    /// Asks the model. Too many requests, errors of the provider and lost connections are tried
    /// again a few times, later each time, or when the provider says.
    pub(super) async fn ask(
        &self,
        request: &ChatRequest,
        max_tokens: u64,
    ) -> Result<Answer, Failed> {
        let options = ChatOptions::default()
            .with_capture_raw_body(true)
            .with_extra_body(self.extra_body.clone())
            .with_max_tokens(u32::try_from(max_tokens).unwrap_or(u32::MAX));
        let mut tries = 0;
        loop {
            tries += 1;
            let target = self.target.clone();
            let asked = self
                .client
                .exec_chat(target, request.clone(), Some(&options));
            let problem = match asked.await {
                Ok(response) => return Ok(read(response)),
                Err(error) => match salvage(error) {
                    Ok(answer) => return Ok(answer),
                    Err(problem) => problem,
                },
            };
            let wait = match (problem.again(), WAITS.get(tries - 1)) {
                (Again::Later(asked), Some(wait)) => asked.unwrap_or(*wait),
                (Again::Once, Some(wait)) if tries == 1 => *wait,
                _ => return Err(self.failed(&problem, tries)),
            };
            if wait > MAX_WAIT {
                let mut failed = self.failed(&problem, tries);
                failed.error.help = Some(format!(
                    "record again after {} s, as the provider asks",
                    wait.as_secs()
                ));
                return Err(failed);
            }
            tokio::time::sleep(wait).await;
        }
    }

    fn failed(&self, problem: &ModelError, tries: usize) -> Failed {
        Failed {
            error: self.error(problem, tries),
            may_be_billed: matches!(problem, ModelError::Timeout | ModelError::Unreadable { .. }),
        }
    }

    fn error(&self, problem: &ModelError, tries: usize) -> LiveError {
        let ModelEndpoint {
            model,
            key_variable,
            base_url,
            ..
        } = &self.provider;
        let tries = match tries {
            1 => String::new(),
            tries => format!(", after {tries} tries"),
        };
        let key = key_variable.as_deref().unwrap_or("the key");
        match problem {
            ModelError::Status { code, body, .. } => {
                let said = message_of(body);
                let error = LiveError::new(format!(
                    "the provider of `{model}` answered {code}{tries}{}",
                    if said.is_empty() {
                        String::new()
                    } else {
                        format!(": {said}")
                    }
                ));
                match code {
                    401 | 403 => error.help(format!("check that `{key}` is the key for {base_url}")),
                    404 => error.help(format!("check that {base_url} has the model `{model}`")),
                    429 | 500.. => error.help("record again later"),
                    _ => error,
                }
            }
            ModelError::Connection { cause: error, .. } => LiveError::new(format!(
                "the provider of `{model}` cannot be reached at {base_url}{tries}: {error}"
            ))
            .help("check the address and the network"),
            ModelError::Timeout => LiveError::new(format!(
                "the provider of `{model}` at {base_url} did not answer within {} s{tries}",
                self.limit.as_secs_f64()
            ))
            .help("set MCPTEST_RECORD_TIMEOUT to more seconds"),
            ModelError::Unreadable { cause, body } => LiveError::new(format!(
                "the answer of the provider of `{model}` does not have the form of its API{tries}: {cause}"
            ))
            .show(body.as_str())
            .help(format!("check that {base_url} is the root of the provider's API")),
        }
    }
}

fn read(response: genai::chat::ChatResponse) -> Answer {
    let raw = response.captured_raw_body.clone().unwrap_or_default();
    let refusal = raw
        .pointer("/choices/0/message/refusal")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned);
    let filtered = matches!(response.stop_reason, Some(StopReason::ContentFilter(_)));
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let text = response.content.joined_texts().or_else(|| refusal.clone());
    let calls = asked(&response.content.tool_calls(), &raw);
    let mut tokens = StepTokens::default();
    tokens.prompt = count(response.usage.prompt_tokens);
    tokens.completion = count(response.usage.completion_tokens);
    let cut = response
        .stop_reason
        .as_ref()
        .is_some_and(StopReason::is_max_tokens);
    let said = text.clone().unwrap_or_default();
    let message = response
        .into_assistant_message_for_tool_use()
        .unwrap_or_else(|| ChatMessage::assistant(said));
    let message = repeated(message, &calls);
    Answer {
        text: text.filter(|text| !text.trim().is_empty()),
        calls,
        message,
        tokens,
        cut,
        refused: filtered || refusal.is_some(),
        by_code: callers(&raw),
    }
}

/// The calls that the library read, with their arguments as they came: the library's own are rounded.
fn asked(calls: &[&ToolCall], raw: &Value) -> Vec<AskedCall> {
    let written = raw.pointer("/choices/0/message/tool_calls");
    let written = written
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let same = written.len() == calls.len()
        && written
            .iter()
            .zip(calls)
            .all(|(written, call)| written["function"]["name"] == call.fn_name.as_str());
    let call = |(index, call): (usize, &&ToolCall)| AskedCall {
        id: call.call_id.clone(),
        name: call.fn_name.clone(),
        arguments: Arguments::read(match written.get(index) {
            Some(written) if same => &written["function"]["arguments"],
            _ => &call.fn_arguments,
        }),
    };
    calls.iter().enumerate().map(call).collect()
}

/// The answer as the next request repeats it, with the arguments that are written down.
fn repeated(mut message: ChatMessage, calls: &[AskedCall]) -> ChatMessage {
    let parts = message.content.iter_mut().filter_map(|part| match part {
        ContentPart::ToolCall(call) => Some(call),
        _ => None,
    });
    for (part, call) in parts.zip(calls) {
        part.fn_arguments.clone_from(&call.arguments.recorded);
    }
    message
}

/// Anthropic says of a call whether code made it.
fn callers(raw: &Value) -> HashMap<String, String> {
    let blocks = raw["content"].as_array().into_iter().flatten();
    let by_code = blocks.filter_map(|block| {
        let tool = block["caller"]["tool_id"].as_str()?;
        Some((block["id"].as_str()?.to_owned(), tool.to_owned()))
    });
    by_code.collect()
}

/// Reads an answer that the library gives up on because the arguments of a tool call are not JSON:
/// what a model wrote wrong is what a recording is for.
fn salvage(error: genai::Error) -> Result<Answer, ModelError> {
    let genai::Error::ChatResponseGeneration { response_body, .. } = &error else {
        return Err(ModelError::of(error));
    };
    let message = &response_body["choices"][0]["message"];
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let read = calls.map(|call| {
        Some(AskedCall {
            id: call["id"].as_str()?.to_owned(),
            name: call["function"]["name"].as_str()?.to_owned(),
            arguments: Arguments::written(call["function"]["arguments"].as_str()?),
        })
    });
    let calls: Vec<AskedCall> = match read.collect::<Option<Vec<_>>>() {
        Some(calls) if !calls.is_empty() => calls,
        _ => return Err(ModelError::of(error)),
    };
    let text = message["content"].as_str().map(ToOwned::to_owned);
    let content = MessageContent::from_text(text.clone().unwrap_or_default());
    let content = content.extended(calls.iter().map(|call| {
        ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: call.arguments.recorded.clone(),
            thought_signatures: None,
        })
    }));
    let count = |place: &str| response_body["usage"][place].as_u64();
    let mut tokens = StepTokens::default();
    tokens.prompt = count("prompt_tokens");
    tokens.completion = count("completion_tokens");
    Ok(Answer {
        text: text.filter(|text| !text.trim().is_empty()),
        calls,
        message: ChatMessage::assistant(content),
        tokens,
        cut: response_body["choices"][0]["finish_reason"] == "length",
        refused: false,
        by_code: HashMap::new(),
    })
}

/// A model's name as the library leaves it alone. It reads a provider out of `provider::model` and
/// an effort out of `model-high`, and asks for the rest; the request's own field says the name.
fn library_name(model: &str) -> String {
    let mut name = model.replace("::", ":");
    if ReasoningEffort::from_model_name(&name).0.is_some() {
        name.push('-');
    }
    name
}

/// The tools as the library takes them.
pub(super) fn chat_tools(tools: &[LiveTool]) -> Vec<Tool> {
    let chat_tool = |tool: &LiveTool| {
        let mut chat_tool = Tool::new(tool.wire_name.as_str()).with_schema(tool.schema.clone());
        chat_tool.description.clone_from(&tool.description);
        chat_tool
    };
    tools.iter().map(chat_tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_leaves_a_models_name_alone() {
        for name in ["mistral-medium", "qwen3-high", "gpt-5-low", "o4-mini-none"] {
            let (effort, _) = ReasoningEffort::from_model_name(name);
            assert!(effort.is_some(), "{name} needs no care any more");
            let name = library_name(name);
            assert!(
                ReasoningEffort::from_model_name(&name).0.is_none(),
                "{name}"
            );
        }
        assert_eq!(library_name("gpt-4o"), "gpt-4o");
        assert_eq!(library_name("openai::gpt-5"), "openai:gpt-5");
    }

    #[test]
    fn calls_that_code_made_are_told_from_direct_ones() {
        let raw = json!({ "content": [
            { "type": "tool_use", "id": "a", "caller": { "type": "direct" } },
            { "type": "tool_use", "id": "b", "caller": { "type": "code_execution_20250825", "tool_id": "srv_1" } },
        ] });
        let callers = callers(&raw);
        assert_eq!(callers.get("b").map(String::as_str), Some("srv_1"));
        assert_eq!(callers.len(), 1);
    }

    #[test]
    fn arguments_that_are_no_json_stay_text_and_the_rest_is_read() {
        let body = json!({
            "choices": [{ "finish_reason": "tool_calls", "message": {
                "content": null,
                "tool_calls": [
                    { "id": "1", "function": { "name": "desk__find", "arguments": "{\"id\": 1}" } },
                    { "id": "2", "function": { "name": "desk__find", "arguments": "{id: 2" } },
                    { "id": "3", "function": { "name": "desk__find", "arguments": "" } },
                ],
            } }],
            "usage": { "prompt_tokens": 7, "completion_tokens": 3 },
        });
        let model_iden = ModelIden::new(genai::adapter::AdapterKind::OpenAI, "gpt-4o");
        let error = |body: Value| genai::Error::ChatResponseGeneration {
            model_iden: model_iden.clone(),
            request_payload: Box::default(),
            response_body: Box::new(body),
            cause: "key must be a string".to_owned(),
        };
        let answer = salvage(error(body)).unwrap();
        assert_eq!(answer.calls[0].arguments.recorded, json!({ "id": 1 }));
        assert_eq!(answer.calls[1].arguments.recorded, json!("{id: 2"));
        assert_eq!(answer.calls[2].arguments.recorded, json!({}));
        assert_eq!(answer.tokens, StepTokens::new(7, 3));
        let problem = salvage(error(json!({ "choices": [] }))).unwrap_err();
        assert!(matches!(problem, ModelError::Unreadable { .. }));
    }
}
