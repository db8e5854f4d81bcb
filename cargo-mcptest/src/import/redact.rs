//! Keeps secrets out of what is written and shown.
//!
//! Values of variables are found in every encoding, as a recording's are. What foreign logs bring
//! besides, keys that are known by their shape, is here, and counted.

use std::collections::BTreeMap;

use mcptest_trace::record::environment::{secrets, usual_secrets};
use mcptest_trace::record::redact;
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

/// Below this length a value of the environment is a word.
const SHORTEST: usize = 6;

/// What is taken out.
pub(super) struct Redactor {
    /// The values of variables.
    values: redact::Redactor,
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
        Self::of(usual_secrets().chain(secrets(variables)), own)
    }

    /// The same of names and their values.
    fn of<'a>(
        values: impl Iterator<Item = (String, String)>,
        own: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let long = values.filter(|(_, value)| value.trim().len() >= SHORTEST);
        let values = redact::Redactor::new(long, Vec::new()).map_err(|error| error.to_string())?;
        let own = own.map(|pattern| ("pattern".to_owned(), pattern.to_owned()));
        let shapes = SHAPES.map(|(name, pattern)| (name.to_owned(), pattern.to_owned()));
        let sources: Vec<(String, String)> = own.chain(shapes).collect();
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
            values,
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
        self.values_in(value, found);
        self.shapes_in(value, found);
    }

    /// Takes the values of variables out, also out of keys and numbers; each counts once a place.
    fn values_in(&self, value: &mut Value, found: &mut BTreeMap<String, usize>) {
        let before = value.clone();
        self.values.redact(value);
        if *value != before {
            let name = self.values.occurs_in(&before.to_string());
            let name = name.unwrap_or("value of a variable").to_owned();
            *found.entry(name).or_default() += 1;
        }
    }

    fn shapes_in(&self, value: &mut Value, found: &mut BTreeMap<String, usize>) {
        match value {
            Value::String(text) if self.any.is_match(text) => *text = self.shapes(text, found),
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.shapes_in(item, found)),
            Value::Object(map) => map
                .values_mut()
                .for_each(|item| self.shapes_in(item, found)),
            _ => {}
        }
    }

    /// A text without secrets.
    pub(super) fn text(&self, text: &str, found: &mut BTreeMap<String, usize>) -> String {
        let mut value = Value::from(text);
        self.inside(&mut value, found);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// A text without what is known by its shape.
    fn shapes(&self, text: &str, found: &mut BTreeMap<String, usize>) -> String {
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
    fn the_value_of_a_variable_is_taken_out_in_every_encoding_and_of_keys() {
        let secret = [("DESK_TOKEN".to_owned(), "desk-7f1c0b52\"9".to_owned())];
        let redactor = Redactor::of(secret.into_iter(), [].into_iter()).unwrap();
        let mut run = json!({ "trace": { "tool_calls": [{ "name": "pay", "args": {
            "plain": "desk-7f1c0b52\"9",
            "escaped": r#"{"token":"desk-7f1c0b52\"9"}"#,
            "base64": "eyJrZXkiOiAiZGVzay03ZjFjMGI1MiI5In0=",
            "percent": "token=desk-7f1c0b52%229",
            "desk-7f1c0b52\"9": true,
        } }] } });
        let mut found = BTreeMap::new();
        redactor.redact(&mut run, &mut found);
        let args = run["trace"]["tool_calls"][0]["args"].to_string();
        for left in ["7f1c0b52\"", "7f1c0b52%", "ZGVzay03ZjFjMGI1M", "7f1c0b52\\"] {
            assert!(!args.contains(left), "{left}: {args}");
        }
        assert_eq!(found, BTreeMap::from([("DESK_TOKEN".to_owned(), 1)]));
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
