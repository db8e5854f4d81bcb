//! The tokens of a streamed chat, which a provider tells only when it is asked.

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::protocol::sse;

/// The request with the question for its tokens; `None` where it asks already, or is none that could.
pub(super) fn asked_for(body: &[u8]) -> Option<Vec<u8>> {
    let request: Value = serde_json::from_slice(body).ok()?;
    if request.get("stream") != Some(&Value::Bool(true)) {
        return None;
    }
    match request.get("stream_options") {
        // Everything else stays byte for byte.
        None => {
            let at = body.iter().position(|byte| *byte == b'{')?;
            let (before, rest) = body.split_at(at + 1);
            let question = br#""stream_options":{"include_usage":true},"#;
            Some([before, question, rest].concat())
        }
        Some(options) if options.get("include_usage") != Some(&Value::Bool(true)) => {
            let mut request = request.clone();
            let mut options = options.clone();
            if !options.is_object() {
                options = json!({});
            }
            options["include_usage"] = true.into();
            request["stream_options"] = options;
            Some(request.to_string().into_bytes())
        }
        Some(_) => None,
    }
}

/// Whether an event is the one that comes because of the question: tokens and nothing else.
pub(super) fn is_answer(block: &Bytes) -> bool {
    let event = sse::event(block);
    let chunk = event.and_then(|event| serde_json::from_str::<Value>(&event.data).ok());
    chunk.is_some_and(|chunk| {
        chunk["usage"].is_object() && chunk["choices"].as_array().is_some_and(Vec::is_empty)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Option<String> {
        asked_for(body.as_bytes()).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_stream_is_asked_for_its_tokens_and_nothing_else_changes() {
        assert_eq!(
            of(" {\"stream\": true, \"n\": 1.0}").unwrap(),
            " {\"stream_options\":{\"include_usage\":true},\"stream\": true, \"n\": 1.0}"
        );
        assert_eq!(
            of(r#"{"stream":true,"stream_options":{"include_obfuscation":false}}"#).unwrap(),
            r#"{"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}"#
        );
    }

    #[test]
    fn who_asks_already_or_cannot_is_left_alone() {
        for body in [
            r#"{"stream":true,"stream_options":{"include_usage":true}}"#,
            r#"{"stream":false}"#,
            "{}",
            "no JSON",
        ] {
            assert_eq!(of(body), None, "{body}");
        }
    }

    #[test]
    fn only_tokens_without_words_are_the_answer() {
        let is = |data: &str| is_answer(&Bytes::from(format!("data: {data}\n\n")));
        assert!(is(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#));
        assert!(!is(
            r#"{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}"#
        ));
        assert!(!is(r#"{"choices":[],"usage":null}"#));
        assert!(!is("[DONE]"));
    }
}
