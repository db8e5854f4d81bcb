//! Keeps secrets out of what is written and shown.
//!
//! This stands for the redaction of `mcptest-trace`, which finds secrets in every encoding; what
//! foreign logs bring besides, keys that are known by their shape, is here.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

/// Keys that are told by their shape, and what they are called.
const SHAPES: [(&str, &str); 7] = [
    ("api key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "github token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("bearer token", r"\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*"),
    (
        "jwt",
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
    ),
    (
        "private key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
];

/// The environment variables that hold keys of model providers by convention.
const USUAL: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
];

/// Below this length a value of the environment is a word.
const SHORTEST: usize = 6;

/// What is taken out.
#[derive(Debug)]
pub(super) struct Redactor {
    /// Any of the patterns, to find the few texts that hold something.
    any: Regex,
    patterns: Vec<(String, Regex)>,
}

impl Redactor {
    /// `variables` are environment variables that hold secrets, `own` patterns of the suite and the
    /// command.
    ///
    /// # Errors
    ///
    /// A pattern that is none.
    pub(super) fn new<'a>(
        variables: impl Iterator<Item = &'a str>,
        own: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let mut sources = Vec::new();
        for variable in USUAL.into_iter().chain(variables) {
            let value = std::env::var(variable).unwrap_or_default();
            let value = value.trim();
            if value.len() >= SHORTEST {
                sources.push((variable.to_owned(), regex::escape(value)));
            }
        }
        sources.extend(own.map(|pattern| ("pattern".to_owned(), pattern.to_owned())));
        sources.extend(SHAPES.map(|(name, pattern)| (name.to_owned(), pattern.to_owned())));
        let any: Vec<String> = sources
            .iter()
            .map(|(_, source)| format!("(?:{source})"))
            .collect();
        let patterns: Result<Vec<_>, regex::Error> = sources
            .into_iter()
            .map(|(name, source)| Ok((name, Regex::new(&source)?)))
            .collect();
        let wrong = |error: regex::Error| format!("a pattern to redact is none: {error}");
        Ok(Self {
            patterns: patterns.map_err(wrong)?,
            any: Regex::new(&any.join("|")).map_err(wrong)?,
        })
    }

    /// Takes secrets out of everything that users, models and tools said in a recording. Names,
    /// identifiers and structure stay. What was found is counted by kind.
    pub(super) fn redact(&self, run: &mut Value, found: &mut BTreeMap<String, usize>) {
        for pointer in [
            "/system_prompt",
            "/user_prompt",
            "/imported/user_prompt",
            "/trace/final_response",
        ] {
            if let Some(value) = run.pointer_mut(pointer) {
                self.inside(value, found);
            }
        }
        for (list, keys) in [
            ("/trace/tool_calls", &["args"][..]),
            ("/trace/tool_results", &["result"]),
            ("/trace/conversation/turns", &["content"]),
            ("/trace/conversation/per_turn", &["response"]),
        ] {
            let items = run.pointer_mut(list).and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                for key in keys {
                    if let Some(value) = item.get_mut(*key) {
                        self.inside(value, found);
                    }
                }
            }
        }
    }

    fn inside(&self, value: &mut Value, found: &mut BTreeMap<String, usize>) {
        match value {
            Value::String(text) if self.any.is_match(text) => *text = self.text(text, found),
            Value::Array(items) => items.iter_mut().for_each(|item| self.inside(item, found)),
            Value::Object(map) => map.values_mut().for_each(|item| self.inside(item, found)),
            _ => {}
        }
    }

    /// A text without secrets.
    pub(super) fn text(&self, text: &str, found: &mut BTreeMap<String, usize>) -> String {
        let mut text = text.to_owned();
        for (name, pattern) in &self.patterns {
            let count = pattern.find_iter(&text).filter(|it| !it.is_empty()).count();
            if count > 0 {
                *found.entry(name.clone()).or_default() += count;
                let replaced = format!("[redacted {name}]");
                text = pattern
                    .replace_all(&text, regex::NoExpand(&replaced))
                    .into_owned();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_taken_out_by_their_shape_and_counted() {
        let redactor = Redactor::new([].into_iter(), ["order-[0-9]+"].into_iter()).unwrap();
        let secrets = [
            "sk-proj-0123456789abcdefABCDEF",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_0123456789abcdefABCDEF0123456789abcd",
            "xoxb-0123456789-abcdef",
            "Bearer 0123456789abcdefABCDEF",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
            "order-77",
        ];
        for secret in secrets {
            let mut found = BTreeMap::new();
            let mut run = json!({ "model": secret, "trace": {
                "tool_calls": [{ "name": "pay", "args": { "key": [format!("a {secret} b")] } }],
            } });
            redactor.redact(&mut run, &mut found);
            let args = run["trace"]["tool_calls"][0]["args"].to_string();
            assert!(
                args.contains("a [redacted ") && args.contains("] b"),
                "{args}"
            );
            assert_eq!(run["model"], secret);
            assert_eq!(found.values().sum::<usize>(), 1, "{found:?}");
        }
    }

    #[test]
    fn words_stay() {
        let redactor = Redactor::new([].into_iter(), [].into_iter()).unwrap();
        for text in [
            "sk-short",
            "the bearer of news",
            "a task-0123456789abcdef01",
            "Bearer of bad",
        ] {
            assert_eq!(redactor.text(text, &mut BTreeMap::new()), text);
        }
    }
}
