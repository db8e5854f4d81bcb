//! Keys and tokens that are told by their shape.

use regex::{NoExpand, Regex};

use super::RedactionCounts;

/// What they are called, and their shapes.
const SHAPES: [(&str, &str); 13] = [
    ("api key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("aws key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "github token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    (
        "aws secret",
        r#"(?i)\baws_secret_access_key["']?\s*[=:]\s*["']?[A-Za-z0-9/+]{40}"#,
    ),
    ("google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("gitlab token", r"\bglpat-[0-9A-Za-z_-]{20,}"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
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

/// A kind of key.
#[derive(Debug)]
pub(super) struct Shape {
    kind: &'static str,
    pattern: Regex,
}

/// All shapes of keys that are known.
pub(super) fn all_shapes() -> Vec<Shape> {
    let shapes = SHAPES.iter().filter_map(|(kind, pattern)| {
        let pattern = Regex::new(pattern).ok()?;
        Some(Shape { kind, pattern })
    });
    shapes.collect()
}

impl Shape {
    /// A text without what has this shape, where it has any.
    pub(super) fn redact(&self, text: &str, counts: &mut RedactionCounts) -> Option<String> {
        let count = self.pattern.find_iter(text).count();
        if count == 0 {
            return None;
        }
        counts.add(self.kind, count);
        let marked = format!("[redacted {}]", self.kind);
        Some(
            self.pattern
                .replace_all(text, NoExpand(&marked))
                .into_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{RedactionCounts, Redactor};
    use super::{SHAPES, all_shapes};

    #[test]
    fn every_shape_is_looked_for() {
        assert_eq!(all_shapes().len(), SHAPES.len());
    }

    #[test]
    fn keys_are_taken_out_by_their_shape_and_counted() {
        let redactor = Redactor::new([], Vec::new()).unwrap().with_shapes();
        for (kind, secret) in [
            ("api key", "sk-proj-0123456789abcdefABCDEF"),
            ("aws key", "AKIAIOSFODNN7EXAMPLE"),
            ("github token", "ghp_0123456789abcdefABCDEF0123456789abcd"),
            (
                "aws secret",
                "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            ),
            ("google key", "AIzaSyA0123456789abcdefABCDEF0123456789"),
            ("gitlab token", "glpat-0123456789abcdefABCD"),
            ("hugging face token", "hf_0123456789abcdefABCDEF01234567890"),
            ("npm token", "npm_0123456789abcdefABCDEF0123456789abcd"),
            ("stripe key", "sk_live_0123456789abcdefAB"),
            ("slack token", "xoxb-0123456789-abcdef"),
            ("bearer token", "Bearer 0123456789abcdefABCDEF"),
            ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
            (
                "private key",
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
            ),
        ] {
            let mut counts = RedactionCounts::default();
            let mut run = json!({ "model": secret, "imported": { "user_prompt": secret }, "trace": {
                "tool_calls": [{ "name": "pay", "args": { "key": [format!("a {secret} b")] } }],
            } });
            redactor.redact_run_counted(&mut run, &mut counts);
            let marked = format!("[redacted {kind}]");
            assert_eq!(
                run["trace"]["tool_calls"][0]["args"]["key"][0],
                format!("a {marked} b")
            );
            assert_eq!(run["imported"]["user_prompt"], marked);
            assert_eq!(run["model"], secret);
            assert_eq!(counts.iter().collect::<Vec<_>>(), [(kind, 2)]);
        }
    }

    #[test]
    fn words_stay() {
        let redactor = Redactor::new([], Vec::new()).unwrap().with_shapes();
        for text in [
            "sk-short",
            "the bearer of news",
            "a task-0123456789abcdef01",
            "Bearer of bad",
        ] {
            assert_eq!(redactor.redact_text(text), text);
        }
    }
}
