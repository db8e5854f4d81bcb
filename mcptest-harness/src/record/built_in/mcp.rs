//! A client of an MCP server at the session's address. It passes arguments on as the model wrote them: no type of a
//! library holds all digits of their numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcptest_suite::quoted_list;
use mcptest_trace::text::kind;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::message::{Messages, Said, notification, reply, request};
use super::model_error::with_causes;
use mcptest_trace::text::shorten;

/// The version of MCP that is asked for.
const VERSION: &str = "2025-11-25";

/// The largest tool result that is taken, in bytes of JSON.
pub(super) const MAX_RESULT: usize = 8 << 20;

/// The most pages of a list of tools.
const MOST_PAGES: usize = 1_000;

/// The longest answer that is shown, in characters.
const SHOWN: usize = 2_000;

/// A connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) server: String,
    client: Client,
    url: String,
    limit: Duration,
    /// The session of MCP, and the version that the server speaks.
    headers: Vec<(&'static str, String)>,
    next: AtomicU64,
}

/// Why a server gave no answer that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// An error of JSON-RPC.
    Refused(String),
    /// Nothing came in time.
    TimedOut,
    /// It wants to know who asks.
    Unauthorized,
    /// Its answer has so many bytes, which is more than is taken.
    TooLarge(usize),
    /// It answered something else: what is wrong, and the answer.
    Unusable(String, Option<String>),
}

impl Connection {
    /// Begins to talk to a server.
    pub(super) async fn open(
        client: Client,
        server: &str,
        url: &str,
        limit: Duration,
    ) -> Result<Self, NoAnswer> {
        let mut connection = Self {
            server: server.to_owned(),
            client,
            url: url.to_owned(),
            limit,
            headers: Vec::new(),
            next: AtomicU64::new(0),
        };
        let params = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": { "name": "mcptest", "version": env!("CARGO_PKG_VERSION") },
        });
        let (greeting, session) = connection.ask("initialize", &params.to_string()).await?;
        let version = greeting["protocolVersion"].as_str().unwrap_or(VERSION);
        connection
            .headers
            .push(("mcp-protocol-version", version.to_owned()));
        if let Some(session) = session {
            connection.headers.push(("mcp-session-id", session));
        }
        connection
            .notify("notifications/initialized", &json!({}))
            .await;
        Ok(connection)
    }

    /// Every tool of the server, page by page.
    pub(super) async fn tools(&self) -> Result<Vec<Value>, NoAnswer> {
        let (mut tools, mut cursor) = (Vec::new(), None::<Value>);
        for _ in 0..MOST_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let (mut page, _) = self.ask("tools/list", &params.to_string()).await?;
            let listed = page.get_mut("tools").and_then(Value::as_array_mut);
            let Some(listed) = listed else {
                return Err(unusable("there is no list `tools`", &page));
            };
            let nameless = |tool: &&Value| tool["name"].as_str().is_none_or(str::is_empty);
            if let Some(tool) = listed.iter().find(nameless) {
                return Err(unusable("a tool has no name", tool));
            }
            if let Some(tool) = listed.iter().find(|tool| !tool["inputSchema"].is_object()) {
                let name = tool["name"].as_str().unwrap_or_default();
                let problem = format!("the tool `{name}` has no `inputSchema`");
                return Err(unusable(&problem, &page));
            }
            tools.append(listed);
            cursor = page.get("nextCursor").cloned();
            if cursor.as_ref().is_none_or(Value::is_null) {
                return Ok(tools);
            }
        }
        let problem = format!("it lists more than {MOST_PAGES} pages");
        Err(NoAnswer::Unusable(problem, None))
    }

    /// Calls a tool; the arguments are JSON.
    pub(super) async fn call(&self, tool: &str, arguments: &str) -> Result<Value, NoAnswer> {
        let name = Value::from(tool);
        let params = format!(r#"{{"name":{name},"arguments":{arguments}}}"#);
        let (result, _) = self.ask("tools/call", &params).await?;
        no_result(&result).map_or(Ok(()), |problem| Err(unusable(&problem, &result)))?;
        let size = result.to_string().len();
        if size > MAX_RESULT {
            return Err(NoAnswer::TooLarge(size));
        }
        Ok(result)
    }

    /// Ends the session of MCP.
    pub(super) async fn close(&self) {
        let ends = self.equipped(self.client.delete(&self.url)).send();
        // Nothing is left to save where a server does not take it.
        let _ = timeout(self.limit.min(Duration::from_secs(2)), ends).await;
    }

    fn equipped(&self, request: RequestBuilder) -> RequestBuilder {
        let headers = self.headers.iter();
        headers.fold(request, |request, (name, value)| {
            request.header(*name, value)
        })
    }

    fn post(&self, body: String) -> RequestBuilder {
        let request = self.client.post(&self.url);
        self.equipped(request)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(body)
    }

    async fn notify(&self, method: &str, params: &Value) {
        let sent = self.post(notification(method, params)).send();
        // A server that has gone says so when it is asked.
        let _ = timeout(self.limit, sent).await;
    }

    /// Asks; the result, and the session that it is of. A server that takes too long is told that nobody waits any more.
    async fn ask(&self, method: &str, params: &str) -> Result<(Value, Option<String>), NoAnswer> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let asked = self.answer(id, request(id, method, params));
        if let Ok(answer) = timeout(self.limit, asked).await {
            return answer;
        }
        // `initialize` may not be cancelled.
        if method != "initialize" {
            let params = json!({ "requestId": id, "reason": "no answer in time" });
            self.notify("notifications/cancelled", &params).await;
        }
        Err(NoAnswer::TimedOut)
    }

    async fn answer(&self, id: u64, body: String) -> Result<(Value, Option<String>), NoAnswer> {
        let lost =
            |error: reqwest::Error| NoAnswer::Unusable(with_causes(&error.without_url()), None);
        let response = self.post(body).send().await.map_err(lost)?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
            return Err(NoAnswer::Unauthorized);
        }
        let session = response.headers().get("mcp-session-id");
        let session = session.and_then(|session| session.to_str().ok()?.to_owned().into());
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| {
            kind.as_bytes().starts_with(b"application/json")
                || kind.as_bytes().starts_with(b"text/event-stream")
        });
        if !is_json {
            let problem = format!("unexpected server response: HTTP {status}");
            let body = response.text().await.map_err(lost)?;
            return Err(NoAnswer::Unusable(problem, excerpt(&body)));
        }
        let mut messages = Messages::from_response(response);
        loop {
            match messages.next(id).await {
                Said::Answer(mut answer) => {
                    let error = answer.get("error").filter(|error| !error.is_null());
                    if let Some(error) = error {
                        let text = error["message"].as_str().map(str::to_owned);
                        let text = text.unwrap_or_else(|| error.to_string());
                        return Err(NoAnswer::Refused(text));
                    }
                    return Ok((answer["result"].take(), session));
                }
                Said::Other(message) => {
                    // Of an HTTP error the body tells more than its status.
                    if !status.is_success() {
                        let problem = format!("unexpected server response: HTTP {status}");
                        return Err(unusable(&problem, &message));
                    }
                    if let Some(reply) = reply(&message) {
                        self.post(reply).send().await.map_err(lost)?;
                    }
                }
                Said::Nothing => {
                    let problem = "the connection is closed".to_owned();
                    return Err(NoAnswer::Unusable(problem, None));
                }
                Said::Unreadable(problem, text) => {
                    return Err(NoAnswer::Unusable(problem, excerpt(&text)));
                }
                Said::Lost(problem) => return Err(NoAnswer::Unusable(problem, None)),
            }
        }
    }
}

fn unusable(problem: &str, answer: &Value) -> NoAnswer {
    NoAnswer::Unusable(problem.to_owned(), excerpt(&answer.to_string()))
}

fn excerpt(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| shorten(text, SHOWN))
}

/// Why an answer is no result of a tool.
fn no_result(result: &Value) -> Option<String> {
    let content = result.get("content");
    match content {
        Some(Value::Array(blocks)) => {
            let place = blocks.iter().position(|block| !block["type"].is_string())?;
            Some(format!(
                "`content[{place}]` has no {}",
                quoted_list(["type"])
            ))
        }
        Some(other) if !other.is_null() => {
            Some(format!("`content` is {}, not a list", kind(other)))
        }
        _ if result["structuredContent"].is_null() => {
            Some("it has neither `content` nor `structuredContent`".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_result_where_a_model_can_be_told_it() {
        let text = json!({ "content": [{ "type": "text", "text": "a" }] });
        let other = json!({ "content": [{ "type": "hologram", "data": "QQ==" }] });
        let structured = json!({ "structuredContent": { "a": 1 } });
        for result in [text, other, structured, json!({ "content": [] })] {
            assert_eq!(no_result(&result), None, "{result}");
        }
        for (result, problem) in [
            (
                json!({}),
                "it has neither `content` nor `structuredContent`",
            ),
            (json!({ "content": "a" }), "`content` is text, not a list"),
            (json!({ "content": [{}] }), "`content[0]` has no `type`"),
        ] {
            assert_eq!(no_result(&result).as_deref(), Some(problem));
        }
    }
}
