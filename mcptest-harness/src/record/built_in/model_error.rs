//! Why a model call gave no answer, and whether asking again may help.

use std::time::Duration;

use mcptest_session::endpoint::SHOULD_RETRY;
use mcptest_session::protocol;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// What a session's own errors begin with.
const OURS: &str = "mcptest: ";

/// Why a model call gave no answer.
#[derive(Debug)]
pub(super) enum ModelError {
    Status {
        code: u16,
        body: String,
        wait: Option<Duration>,
    },
    Connection {
        /// Nobody listens there, or nobody is called so.
        refused: bool,
        cause: String,
    },
    /// An error after which nobody should ask again.
    Final(String),
    Timeout,
    Unreadable {
        cause: String,
        body: String,
    },
}

/// Whether a further try may help.
pub(super) enum Again {
    Never,
    /// Maybe it just started.
    Once,
    /// After a time that the provider asks for, if it does.
    Later(Option<Duration>),
}

impl ModelError {
    pub(super) fn again(&self) -> Again {
        match self {
            Self::Status {
                code: 408 | 425 | 429 | 500 | 502 | 503 | 504 | 529,
                wait,
                ..
            } => Again::Later(*wait),
            Self::Connection { refused: true, .. } => Again::Once,
            Self::Connection { .. } | Self::Timeout => Again::Later(None),
            Self::Status { .. } | Self::Final(_) | Self::Unreadable { .. } => Again::Never,
        }
    }

    /// An answer that is an error.
    pub(super) fn of_status(code: u16, headers: &HeaderMap, body: String) -> Self {
        // The session itself says so of a provider that nobody reaches, and where it lets no call through.
        let is_final = headers.get(SHOULD_RETRY).is_some_and(|it| it == "false");
        match message_of(&body).strip_prefix(OURS) {
            Some(cause) if code == 502 => Self::Connection {
                refused: is_final,
                cause: cause.to_owned(),
            },
            Some(why) if is_final => Self::Final(why.to_owned()),
            _ => Self::Status {
                code,
                wait: asked_wait(headers),
                body,
            },
        }
    }
}

/// An error with what caused it, which says more than it does.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

/// How long the provider asks to wait, in seconds or milliseconds.
fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str, unit: f64| {
        let text = headers.get(name)?.to_str().ok()?;
        Duration::try_from_secs_f64(text.trim().parse::<f64>().ok()? * unit).ok()
    };
    number("retry-after-ms", 0.001).or_else(|| number("retry-after", 1.0))
}

/// The message in an error body, else its beginning.
pub(super) fn message_of(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let message = parsed.as_ref().and_then(|body| {
        let detail = || body.get("detail")?.as_str();
        protocol::error_message(body).or_else(detail)
    });
    message.unwrap_or(body).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_message_of_an_error_is_found_in_each_providers_shape() {
        let openai = json!({ "error": { "message": "no such model", "code": 404 } });
        let plain = json!({ "message": "slow down" });
        let detail = json!({ "detail": "not found" });
        for (body, message) in [
            (&openai, "no such model"),
            (&plain, "slow down"),
            (&detail, "not found"),
        ] {
            assert_eq!(message_of(&body.to_string()), message);
        }
        assert_eq!(message_of("<html>502</html>\n"), "<html>502</html>");
        assert_eq!(message_of(""), "");
    }

    #[test]
    fn a_provider_may_ask_for_seconds_or_milliseconds() {
        let headers = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            asked_wait(&headers)
        };
        assert_eq!(
            headers("retry-after", "1.5"),
            Some(Duration::from_millis(1_500))
        );
        assert_eq!(
            headers("retry-after-ms", "20"),
            Some(Duration::from_millis(20))
        );
        for unknown in ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", ""] {
            assert_eq!(headers("retry-after", unknown), None);
        }
    }
}
