//! Messages of MCP over HTTP: what is sent to a server, and what it answers.

use mcptest_session::protocol::sse::{self, Blocks};
use mcptest_trace::record::lossless::{describe_error, parse};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::model_error::with_causes;

/// What a server said, until it answered.
pub(super) enum Said {
    /// It answered the request.
    Answer(Value),
    /// It asks something of its client, or says something aside.
    Other(Value),
    /// It says no more.
    Nothing,
    /// What it said cannot be read, and why.
    Unreadable(String, String),
    /// The connection broke off.
    Lost(String),
}

/// The messages of an answer over HTTP, one after another.
pub(super) struct Messages {
    response: Response,
    /// A stream of events; else the body is one message.
    events: Option<Blocks>,
    /// What was read and not looked at.
    read: std::vec::IntoIter<Vec<u8>>,
    ended: bool,
}

impl Messages {
    pub(super) fn from_response(response: Response) -> Self {
        let kind = response.headers().get(CONTENT_TYPE);
        let is_events = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        Self {
            response,
            events: is_events.then(Blocks::default),
            read: Vec::new().into_iter(),
            ended: false,
        }
    }

    /// The next message. `id`: that of the request.
    pub(super) async fn next(&mut self, id: u64) -> Said {
        loop {
            if let Some(message) = self.read.next() {
                if message.trim_ascii().is_empty() {
                    continue;
                }
                return match parse(&message) {
                    Ok(parsed) => classify(parsed.value, id),
                    Err(error) => {
                        let text = String::from_utf8_lossy(&message).into_owned();
                        Said::Unreadable(describe_error(&error), text)
                    }
                };
            }
            if self.ended {
                return Said::Nothing;
            }
            if let Err(error) = self.read_more().await {
                return Said::Lost(with_causes(&error.without_url()));
            }
        }
    }

    async fn read_more(&mut self) -> Result<(), reqwest::Error> {
        let mut messages = Vec::new();
        match &mut self.events {
            None => {
                let mut body = Vec::new();
                while let Some(part) = self.response.chunk().await? {
                    body.extend_from_slice(&part);
                }
                messages.push(body);
                self.ended = true;
            }
            Some(blocks) => match self.response.chunk().await? {
                Some(part) => {
                    let events = blocks.push(&part);
                    let events = events.iter().filter_map(sse::event);
                    messages.extend(events.map(|event| event.data.into_bytes()));
                }
                None => self.ended = true,
            },
        }
        self.read = messages.into_iter();
        Ok(())
    }
}

fn classify(message: Value, id: u64) -> Said {
    let is_answer = message.get("method").is_none() && message["id"] == id;
    if is_answer {
        Said::Answer(message)
    } else {
        Said::Other(message)
    }
}

/// A request. The parameters are JSON already: their numbers stay as they are written.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A message that nobody answers.
pub(super) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// The answer to what a server asks of its client; nothing where it asks nothing.
pub(super) fn reply(asked: &Value) -> Option<String> {
    let method = asked["method"].as_str()?;
    let id = asked.get("id").filter(|id| !id.is_null())?;
    let reply = if method == "ping" {
        json!({ "jsonrpc": "2.0", "id": id, "result": {} })
    } else {
        let message = format!("the client of mcptest has no `{method}`");
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } })
    };
    Some(reply.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_the_digits_of_its_parameters() {
        let text = request(
            3,
            "tools/call",
            r#"{"arguments":{"n":1180591620717411303424}}"#,
        );
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"arguments":{"n":1180591620717411303424}}}"#
        );
    }

    #[test]
    fn a_server_is_answered_where_it_asks() {
        let ping = json!({ "jsonrpc": "2.0", "id": "a", "method": "ping" });
        let reply_of =
            |asked: &Value| serde_json::from_str::<Value>(&reply(asked).unwrap()).unwrap();
        assert_eq!(reply_of(&ping)["result"], json!({}));
        let asks = json!({ "jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage" });
        assert_eq!(reply_of(&asks)["error"]["code"], -32601);
        let aside = json!({ "jsonrpc": "2.0", "method": "notifications/progress" });
        assert_eq!(reply(&aside), None);
    }
}
