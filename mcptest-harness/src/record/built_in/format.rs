//! The formats of model APIs that the built-in agent asks in.

use mcptest_session::protocol::{Anthropic, Chat, Gemini, RequestWriter};
use serde_json::{Map, Value, json};

/// The format of a provider's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Anthropic,
    Chat,
    Gemini,
}

impl Format {
    /// The name that sessions have for a provider that speaks it.
    pub(super) fn provider(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "openai",
            Self::Gemini => "gemini",
        }
    }

    pub(super) fn writer(self) -> &'static dyn RequestWriter {
        match self {
            Self::Anthropic => &Anthropic,
            Self::Chat => &Chat,
            Self::Gemini => &Gemini,
        }
    }

    /// The headers of a request.
    pub(super) fn headers(self, key: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Anthropic => vec![
                ("x-api-key", key.to_owned()),
                ("anthropic-version", "2023-06-01".to_owned()),
            ],
            Self::Chat => vec![("authorization", format!("Bearer {key}"))],
            Self::Gemini => vec![("x-goog-api-key", key.to_owned())],
        }
    }

    /// Whether a request can say that a call failed.
    pub(super) fn has_error_flag(self) -> bool {
        match self {
            Self::Anthropic | Self::Gemini => true,
            Self::Chat => false,
        }
    }

    /// The parameters of a request: the most tokens of its answer, under the name that the model takes.
    pub(super) fn most_tokens(self, model: &str, most: u64) -> Map<String, Value> {
        let (key, value) = match self {
            Self::Gemini => ("generationConfig", json!({ "maxOutputTokens": most })),
            Self::Chat if is_newer_openai(model) => ("max_completion_tokens", most.into()),
            Self::Chat | Self::Anthropic => ("max_tokens", most.into()),
        };
        Map::from_iter([(key.to_owned(), value)])
    }
}

/// Whether a model refuses `max_tokens`, as the newer ones of `OpenAI` do; other servers of their format know only that.
fn is_newer_openai(model: &str) -> bool {
    let number = |rest: &str| {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit());
        rest[..digits.unwrap_or(rest.len())].parse::<u32>().ok()
    };
    let thinks = model.strip_prefix('o').and_then(number).is_some();
    let version = model.strip_prefix("gpt-").and_then(number);
    thinks || version.is_some_and(|version| version >= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newer_models_of_openai_take_another_name_for_the_most_tokens() {
        for newer in ["gpt-5", "gpt-5-low", "gpt-6.1", "o3-mini", "o4-mini-none"] {
            assert!(is_newer_openai(newer), "{newer}");
        }
        for older in [
            "gpt-4o",
            "gpt-4.1",
            "mistral-large-latest",
            "openai::gpt-5",
            "opus",
            "o",
        ] {
            assert!(!is_newer_openai(older), "{older}");
        }
    }
}
