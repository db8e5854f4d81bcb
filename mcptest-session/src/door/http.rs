//! The requests of the door over HTTP. Only three forms of a `200` are an answer to a call, and no error has one of them.

use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};

use super::request::{self, run_id};
use super::state::Door;
use super::verdict::{Refusal, Verdict};
use super::{MAX_CALLS, PATH};
use crate::endpoint::{Answerer, Answering, Incoming, error_response};
use crate::mcp::rpc::message_response;

impl Verdict {
    /// The verdict as the body of the response to a call.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Run(run) => json!({ "run": run_id(*run) }),
            Self::Result {
                value,
                told,
                text,
                given,
            } => {
                let mut written = json!({ "result": value });
                if *told {
                    written["told"] = true.into();
                }
                if let Some(text) = text {
                    written["text"] = text.as_str().into();
                }
                if let Some(given) = given {
                    written["given"] = run_id(*given).into();
                }
                written
            }
            Self::Error(raised) => json!({ "error": raised.to_json() }),
        }
    }
}

impl Refusal {
    fn status(&self) -> u16 {
        match self {
            Self::Bad(_) => 400,
            Self::Run => 409,
            Self::Ended => 410,
            Self::TooMany => 429,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Bad(problem) => problem.to_string(),
            Self::Run => "no run of this session has this name, or its end was told".to_owned(),
            Self::Ended => "this session of mcptest has ended".to_owned(),
            Self::TooMany => {
                format!("a session of mcptest takes at most {MAX_CALLS} calls of tools")
            }
        }
    }
}

impl Door {
    async fn respond(&self, incoming: &Incoming) -> Response {
        let asked = incoming.path.strip_prefix(PATH).unwrap_or_default();
        if !matches!(asked, "/call" | "/done") {
            let text = "the door of the tools has `/call` and `/done`";
            return error_response(&incoming.path, 404, text);
        }
        if incoming.method != Method::POST {
            return error_response(&incoming.path, 405, "the door of the tools takes `POST`");
        }
        let answer = if asked == "/call" {
            match request::parse_call(&incoming.body) {
                Ok(request) => self.call(request).await.map(|verdict| verdict.to_json()),
                Err(problem) => Err(Refusal::Bad(problem)),
            }
        } else {
            let request = request::parse_done(&incoming.body).map_err(Refusal::Bad);
            let done = request.and_then(|request| self.done(request));
            done.map(|()| json!({}))
        };
        match answer {
            Ok(answer) => message_response(StatusCode::OK, answer.to_string()),
            Err(refusal) => error_response(&incoming.path, refusal.status(), &refusal.message()),
        }
    }
}

impl Answerer for Door {
    fn answer(&self, incoming: Incoming) -> Answering {
        let door = self.clone();
        Box::pin(async move { door.respond(&incoming).await })
    }
}
