//! The tokens of a streamed chat, which a provider tells only when it is asked.

use serde_json::{Value, json};

use crate::lossless::{Parsed, parse};
use crate::mcp::bytes;
use crate::protocol::sse::Event;

/// The request with the question for its tokens; `None` where it asks already, or is none that could.
pub(super) fn with_usage_option(body: &[u8]) -> Option<Vec<u8>> {
    let request = parse(body).ok()?.value;
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
            let mut options = options.clone();
            if !options.is_object() {
                options = json!({});
            }
            options["include_usage"] = true.into();
            let place = bytes::find_member(body, &["stream_options"])?;
            Some(bytes::replace(body, place, options.to_string().as_bytes()))
        }
        Some(_) => None,
    }
}

/// Whether an event is the one that comes because of the question: tokens and nothing else.
pub(super) fn is_usage_event(event: &Event) -> bool {
    let chunk = parse(event.data.as_bytes()).ok();
    chunk.is_some_and(|Parsed { value: chunk, .. }| {
        chunk["usage"].is_object() && chunk["choices"].as_array().is_some_and(Vec::is_empty)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_usage(body: &str) -> Option<String> {
        with_usage_option(body.as_bytes()).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_stream_is_asked_for_its_tokens_and_nothing_else_changes() {
        assert_eq!(
            with_usage(" {\"stream\": true, \"n\": 1.0}").unwrap(),
            " {\"stream_options\":{\"include_usage\":true},\"stream\": true, \"n\": 1.0}"
        );
        assert_eq!(
            with_usage(r#"{"stream":true,"stream_options":{"include_obfuscation":false}}"#)
                .unwrap(),
            r#"{"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}"#
        );
    }

    #[test]
    fn what_strict_json_refuses_or_rounds_is_asked_for_its_tokens_too() {
        assert_eq!(
            with_usage(r#"{"stream":true,"a":"\ud83d","n":NaN}"#).unwrap(),
            r#"{"stream_options":{"include_usage":true},"stream":true,"a":"\ud83d","n":NaN}"#
        );
        assert_eq!(
            with_usage(
                r#"{"n":123456789012345678901234,"stream_options":{ },"stream":true,"a":1.0}"#
            )
            .unwrap(),
            r#"{"n":123456789012345678901234,"stream_options":{"include_usage":true},"stream":true,"a":1.0}"#
        );
        assert_eq!(
            with_usage(r#"{"stream":true,"stream_options":null}"#).unwrap(),
            r#"{"stream":true,"stream_options":{"include_usage":true}}"#
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
            assert_eq!(with_usage(body), None, "{body}");
        }
    }

    #[test]
    fn only_tokens_without_words_are_the_answer() {
        let is = |data: &str| is_usage_event(&Event::data(data));
        assert!(is(r#"{"choices":[],"usage":{"prompt_tokens":1}}"#));
        assert!(!is(
            r#"{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}"#
        ));
        assert!(!is(r#"{"choices":[],"usage":null}"#));
        assert!(!is("[DONE]"));
    }
}
