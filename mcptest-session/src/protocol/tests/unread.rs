//! APIs that ask a model in a form that is not read are told apart from what asks none.

use crate::protocol::{self, unread};

#[test]
fn what_asks_a_model_in_another_form_says_what_is_read() {
    for (path, begin) in [
        ("/v1/completions", "OpenAI's Completions"),
        ("/openai/deployments/d/completions", "OpenAI's Completions"),
        ("/v1/realtime", "talks in real time"),
        ("/v1/realtime/client_secrets", "talks in real time"),
        ("/v1/complete", "Anthropic's Text Completions"),
        ("/v1beta/interactions", "Gemini's Interactions"),
        (
            "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
            "talks in real time",
        ),
        (
            "/v1/projects/p/locations/l/publishers/mistralai/models/m:streamRawPredict",
            "models of other makers",
        ),
        ("/api/generate", "Ollama's completions"),
        ("/model/meta.llama3-70b/invoke", "models of other makers"),
        (
            "/model/arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fabc/invoke",
            "models of other makers",
        ),
        (
            "/model/amazon.nova-sonic/invoke-with-bidirectional-stream",
            "talks in real time",
        ),
    ] {
        let why = unread(path, b"{\"model\":\"m\",\"prompt\":\"Hi\"}").unwrap();
        assert!(why.starts_with(begin), "{path}: {why}");
        for protocol in protocol::ALL {
            assert!(why.contains(protocol.title()), "{path}: {why}");
        }
    }
}

#[test]
fn what_asks_no_model_or_is_read_is_left_alone() {
    for path in [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses/input_tokens",
        "/v1/models",
        "/v1/embeddings",
        "/v1/moderations",
        "/v1/audio/transcriptions",
        "/v1/messages/count_tokens",
        "/v1beta/models/m:embedContent",
        "/v1beta/models/m:countTokens",
        "/v1/projects/p/locations/l/publishers/google/models/e:predict",
        "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
        "/api/tags",
        "/api/show",
        "/api/version",
        "/api/embed",
        "/model/amazon.titan-embed-text-v2%3A0/invoke",
        // It leads to a model of vectors.
        "/model/arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fabc/invoke",
        "/model/meta.llama3-70b/converse",
        "/async-invoke",
        // Without a prompt it loads the model.
        "/api/generate",
    ] {
        assert_eq!(unread(path, b"{\"model\":\"m\"}"), None, "{path}");
    }
}

#[test]
fn a_model_of_anthropic_is_told_by_its_request() {
    let body = br#"{"anthropic_version":"bedrock-2023-05-31","messages":[]}"#;
    for model in [
        "anthropic.claude-sonnet-4",
        "arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fabc",
        "arn:aws:bedrock:us-east-1:1:imported-model%2Fabc",
        // A recording of another format plays to a client of this one.
        "gpt-5",
    ] {
        for operation in ["invoke", "invoke-with-response-stream"] {
            let path = format!("/model/{model}/{operation}");
            let (protocol, _) = protocol::of_request(&path, body).unwrap();
            assert_eq!(protocol.name(), "bedrock_invoke", "{path}");
            assert_eq!(unread(&path, body), None, "{path}");
            let other = br#"{"prompt":"What is \"anthropic_version\"?"}"#;
            assert!(protocol::of_request(&path, other).is_none(), "{path}");
            assert!(unread(&path, other).is_some(), "{path}");
        }
    }
}
