//! The loop: the model is asked, its tools are called, until it answers or a cap is reached.

use genai::chat::{ChatMessage, ChatRequest, MessageContent, ToolResponse};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::model::{Answer, AskedCall, ModelClient, chat_tools};
use super::servers::{Called, Servers};
use super::tools::Offered;
use mcptest_trace::record::{CallId, Recorder};

use crate::record::budget::Budget;
use crate::record::{LiveError, Progress, RunRequest, Spent};
use crate::trace::{StepTokens, StopReason, canonical_json};

/// The fewest bytes that a token has on average in what is sent to models.
const FEWEST_BYTES: u64 = 2;

/// One run.
pub(super) struct Loop<'a> {
    pub(super) request: &'a RunRequest,
    pub(super) recorder: &'a mut Recorder,
    pub(super) progress: &'a Progress,
    pub(super) model: &'a ModelClient,
    pub(super) servers: &'a Servers,
    pub(super) offered: &'a Offered,
    pub(super) budget: &'a Budget,
}

/// Why the loop ends before the last turn is answered.
enum End {
    Capped(StopReason),
    Failed(LiveError),
}

impl From<LiveError> for End {
    fn from(error: LiveError) -> Self {
        Self::Failed(error)
    }
}

impl Loop<'_> {
    /// Runs the agent. A cap is an outcome; everything that is not the agent's doing is an error.
    pub(super) async fn run(&mut self) -> Result<(), LiveError> {
        self.recorder.max_tokens(self.request.max_tokens);
        let ended = match self.request.time_budget {
            Some(limit) => timeout(limit, self.turns())
                .await
                .unwrap_or(Err(End::Capped(StopReason::TimeBudget))),
            None => self.turns().await,
        };
        match ended {
            Ok(()) => Ok(()),
            Err(End::Capped(reason)) => {
                self.recorder.stopped(reason);
                Ok(())
            }
            Err(End::Failed(error)) => Err(error),
        }
    }

    async fn turns(&mut self) -> Result<(), End> {
        let mut chat = ChatRequest::default();
        let tools = chat_tools(self.offered.tools());
        // Providers refuse an empty list.
        if !tools.is_empty() {
            chat = chat.with_tools(tools);
        }
        if let Some(system_prompt) = &self.request.system_prompt {
            chat = chat.with_system(system_prompt);
        }
        for turn in &self.request.user_turns {
            self.recorder.user(turn);
            chat = chat.append_message(ChatMessage::user(turn.as_str()));
            chat = self.answer(chat).await?;
        }
        Ok(())
    }

    /// Asks until the model answers without calling a tool.
    async fn answer(&mut self, mut chat: ChatRequest) -> Result<ChatRequest, End> {
        loop {
            let answer = self.ask(&chat).await?;
            if answer.refused {
                self.recorder.refused();
            }
            if let Some(text) = &answer.text {
                self.recorder.said(text);
            }
            if answer.cut {
                // A call whose arguments may be cut too is not made.
                return Err(End::Capped(StopReason::TokenBudget));
            }
            chat = chat.append_message(answer.message);
            if answer.calls.is_empty() {
                return Ok(chat);
            }
            let mut answers = Vec::with_capacity(answer.calls.len());
            for call in &answer.calls {
                let most = self.request.max_tool_calls;
                if most.is_some_and(|most| self.recorder.tool_calls() as u64 >= most) {
                    return Err(End::Capped(StopReason::ToolCallBudget));
                }
                let by = answer.by_code.get(&call.id).map(String::as_str);
                let said = self.call(call, by).await?;
                let answer = ToolResponse::new(call.id.as_str(), said);
                answers.push(answer.with_fn_name(call.name.as_str()));
            }
            chat = chat.append_message(ChatMessage::tool(MessageContent::from_tool_responses(
                answers,
            )));
        }
    }

    /// One model call, within the caps and the budget.
    async fn ask(&mut self, chat: &ChatRequest) -> Result<Answer, End> {
        if self.recorder.steps() as u64 >= self.request.max_turns {
            return Err(End::Capped(StopReason::TurnBudget));
        }
        let mut most = self.request.max_tokens;
        if let Some(budget) = self.request.token_budget {
            // What was sent and written so far is sent again, at the least.
            let last = self.recorder.last_step().and_then(StepTokens::total);
            let next = self.spent().saturating_add(last.unwrap_or_default());
            most = most.min(budget.saturating_sub(next));
            if most == 0 {
                return Err(End::Capped(StopReason::TokenBudget));
            }
        }
        let aside = self
            .budget
            .set_aside(request_bytes(chat) / FEWEST_BYTES, most)?;
        let answer = match self.model.ask(chat, most).await {
            Ok(answer) => answer,
            Err(failed) => {
                // A call that may have been answered may have been billed.
                if !failed.may_be_billed {
                    self.budget.settle(aside, 0)?;
                }
                return Err(End::Failed(failed.error));
            }
        };
        let tokens = answer.tokens;
        let (prompt, completion) = (
            tokens.prompt.unwrap_or_default(),
            tokens.completion.unwrap_or_default(),
        );
        let cost = self.budget.cost(prompt, completion);
        // A provider that does not say what was used is not free.
        if prompt + completion > 0 {
            self.budget.settle(aside, cost.unwrap_or(0))?;
        }
        self.recorder.step_of(tokens);
        self.progress.spend(Spent {
            tokens: prompt.saturating_add(completion),
            unknown: prompt + completion == 0,
            micro_usd: cost,
        });
        let over = self
            .request
            .token_budget
            .is_some_and(|budget| self.spent() > budget);
        if over && !answer.calls.is_empty() {
            return Err(End::Capped(StopReason::TokenBudget));
        }
        Ok(answer)
    }

    /// Tokens so far.
    fn spent(&self) -> u64 {
        let (prompt, completion) = self.recorder.tokens();
        prompt.saturating_add(completion)
    }

    /// One tool call, written down with its result; the text that the model is told.
    async fn call(&mut self, call: &AskedCall, by: Option<&str>) -> Result<String, LiveError> {
        let known = self.offered.find(&call.name);
        let (server, tool) = match known {
            Some(tool) => (tool.server.as_str(), tool.name.as_str()),
            None => self.offered.invented(&call.name),
        };
        let recorded = call.arguments.recorded.clone();
        let id = self.recorder.tool_called(server, tool, recorded);
        if let Some(tool_id) = by {
            self.recorder.called_by_code(id, tool_id);
        }
        if let Some(result) = self.recorder.injected_fault(id) {
            return Ok(said(&result, true));
        }
        if known.is_none() {
            let text = format!("there is no tool `{}`", call.name);
            return Ok(self.refused(id, &text));
        }
        match self.servers.call(server, tool, &call.arguments).await? {
            Called::Refused(text) => Ok(self.refused(id, &text)),
            Called::Answered(result) => {
                let is_error = result.is_error == Some(true);
                let result = written(&result);
                let told = said(&result, is_error);
                if is_error {
                    self.recorder.tool_failed(id, result);
                } else {
                    self.recorder.tool_returned(id, result);
                }
                Ok(told)
            }
        }
    }

    /// The call did not reach a tool, or the server refused it.
    fn refused(&mut self, call: CallId, text: &str) -> String {
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
        let told = said(&result, true);
        self.recorder.tool_failed(call, result);
        told
    }
}

/// A result as it is written down: as the server sent it.
fn written(result: &CallToolResult) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}

/// What a model is told of a result: its text; structured content where there is no text.
fn said(result: &Value, is_error: bool) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts = blocks.map(|block| match (block["type"].as_str(), &block["text"]) {
        (Some("text"), Value::String(text)) => text.clone(),
        // A model that reads text is told that there was something else, not megabytes of it.
        (Some(kind @ ("image" | "audio")), _) => {
            format!(
                "[{kind}: {}]",
                block["mimeType"].as_str().unwrap_or("unknown")
            )
        }
        _ => canonical_json(block),
    });
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if text.is_empty() && !result["structuredContent"].is_null() {
        text = canonical_json(&result["structuredContent"]);
    }
    if is_error {
        format!("Error: {text}")
    } else {
        text
    }
}

/// The bytes of what a request says.
fn request_bytes(chat: &ChatRequest) -> u64 {
    let messages: usize = chat.messages.iter().map(ChatMessage::size).sum();
    let tools: usize = chat
        .tools
        .iter()
        .flatten()
        .map(genai::chat::Tool::size)
        .sum();
    let system = chat.system.as_ref().map_or(0, String::len);
    (messages + tools + system) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_the_text_of_a_result() {
        let text = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] });
        assert_eq!(said(&text, false), "a\nb");
        assert_eq!(said(&text, true), "Error: a\nb");
        let image =
            json!({ "content": [{ "type": "image", "mimeType": "image/png", "data": "AAAA" }] });
        assert_eq!(said(&image, false), "[image: image/png]");
        let structured = json!({ "content": [], "structuredContent": { "b": 1, "a": 2 } });
        assert_eq!(said(&structured, false), r#"{"a":2,"b":1}"#);
        assert_eq!(said(&json!({ "content": [] }), false), "");
    }
}
