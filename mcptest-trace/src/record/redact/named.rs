//! Secrets that are told by the key they stand at, and logins in addresses.

use regex::{Captures, Regex};
use serde_json::Value;

use super::RedactionCounts;
use crate::trace::snake;

/// Keys whose values are secrets, in snake case; a key may have more words before them: `db_password`.
const NAMES: [&str; 22] = [
    "access_token",
    "api_key",
    "api_secret",
    "api_token",
    "apikey",
    "auth_token",
    "authorization",
    "bearer_token",
    "client_secret",
    "cookie",
    "cookies",
    "id_token",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "pwd",
    "refresh_token",
    "secret",
    "secret_access_key",
    "secret_key",
    "session_token",
];

/// What counts call a login in an address.
const LOGIN: &str = "login in a URL";

/// What of a text is a secret by the key before it.
#[derive(Debug)]
pub(super) struct Named {
    /// In JSON that is a text, escaped or not: the key, what stands between, the value.
    json: Regex,
    /// In a header or an address: `Cookie: …`, `?api_key=…`.
    plain: Regex,
    login: Regex,
}

impl Named {
    pub(super) fn new() -> Option<Self> {
        // `api_key`, `api-key`, `apiKey`
        let names: Vec<String> = NAMES
            .iter()
            .map(|name| name.replace('_', "[_-]?"))
            .collect();
        let names = names.join("|");
        let json = format!(
            r#"(?i)(?P<before>\\*"(?:[a-z0-9]+[_-]?)*?(?P<key>{names})\\*"\s*:\s*)(?P<open>\\*")(?P<value>(?:[^"\\]|\\[^"])*?)(?P<close>\\*")"#
        );
        let plain = format!(
            r"(?i)(?P<before>(?:[?&](?:[a-z0-9]+[_-])*(?P<key>{names})=)|(?m:^\s*(?:proxy-)?(?P<header>authorization|cookie|set-cookie|x-api-key):[ \t]*))(?P<value>[^&\s\[][^&\r\n]*)"
        );
        let login = r"(?i)(?P<before>\b[a-z][a-z0-9+.-]*://)[^\s/?#@:\[\]]+:[^\s/?#@\[\]]+@";
        Some(Self {
            json: Regex::new(&json).ok()?,
            plain: Regex::new(&plain).ok()?,
            login: Regex::new(login).ok()?,
        })
    }

    /// A text without the values that stand at such keys in it, where it has any.
    pub(super) fn taken_out(&self, text: &str, counts: &mut RedactionCounts) -> Option<String> {
        let mut taken = false;
        let mut blank = |found: &Captures<'_>, name: &str| {
            taken = true;
            counts.add(name, 1);
            marked(found, name)
        };
        let text = self.json.replace_all(text, |found: &Captures<'_>| {
            let name = found.name("key").and_then(|key| name_of(key.as_str()));
            match name.filter(|_| is_value(&found["value"])) {
                Some(name) => blank(found, name),
                None => found[0].to_owned(),
            }
        });
        let text = self.plain.replace_all(&text, |found: &Captures<'_>| {
            let key = found.name("key").and_then(|key| name_of(key.as_str()));
            let header = found
                .name("header")
                .map(|header| header_of(header.as_str()));
            match key.or(header).filter(|_| is_value(&found["value"])) {
                Some(name) => blank(found, name),
                None => found[0].to_owned(),
            }
        });
        let text = self.login.replace_all(&text, |found: &Captures<'_>| {
            format!("{}@", blank(found, LOGIN))
        });
        let text = text.into_owned();
        taken.then_some(text)
    }
}

/// What stands in the place of a value, between what stood around it.
fn marked(found: &Captures<'_>, name: &str) -> String {
    let part = |group: &str| found.name(group).map_or("", |part| part.as_str());
    let (before, open, close) = (part("before"), part("open"), part("close"));
    format!("{before}{open}[redacted {name}]{close}")
}

/// The name that makes the value at a key a secret.
pub(super) fn name_of(key: &str) -> Option<&'static str> {
    let key = snake(key);
    NAMES.into_iter().rev().find(|name| {
        let before = key.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

fn header_of(header: &str) -> &'static str {
    match header.to_ascii_lowercase().as_str() {
        "authorization" => "authorization",
        "x-api-key" => "api_key",
        _ => "cookie",
    }
}

/// Whether a text may be a secret: not none, nor what stands in a secret's place.
fn is_value(text: &str) -> bool {
    let text = text.trim();
    let placeholder =
        text.starts_with("[redacted") || text.starts_with("${") || text.starts_with('<');
    let blank = text.is_empty() || text.chars().all(|c| matches!(c, '*' | 'x' | '•'));
    !(placeholder || blank || matches!(text, "null" | "none" | "true" | "false"))
}

/// Blanks a value that stands at a key whose values are secrets: every text and number in it.
pub(super) fn blank(value: &mut Value, name: &'static str, counts: &mut RedactionCounts) {
    let secret = match value {
        Value::String(text) => is_value(text),
        Value::Number(_) => true,
        Value::Array(items) => {
            for item in items {
                blank(item, name, counts);
            }
            false
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                blank(field, name, counts);
            }
            false
        }
        Value::Bool(_) | Value::Null => false,
    };
    if secret {
        counts.add(name, 1);
        *value = Value::String(format!("[redacted {name}]"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;
    use serde_json::json;

    fn redactor() -> Redactor {
        Redactor::new([], Vec::new()).unwrap().with_named()
    }

    fn text(text: &str) -> String {
        redactor().redact_text(text).into_owned()
    }

    #[test]
    fn the_values_of_such_keys_are_blanked() {
        let mut counts = RedactionCounts::default();
        let mut run = json!({ "trace": {
            "tool_calls": [{ "name": "login", "args": {
                "password": "hunter2", "dbPassword": "hunter3", "client_secret": "c", "X-API-Key": "k",
                "refresh_token": "r", "headers": { "Authorization": "Basic YTpi", "Cookie": ["a=1", "b=2"] },
                "pin": 1, "user": "ann", "page_token": "p2", "password_hint": "dog", "apiKey": 1234,
                "reset_password": true, "secret": null,
            } }],
            "tool_results": [{ "call_index": 0, "result": { "content": [
                { "type": "text", "text": "{\"password\": \"hunter2\", \"user\": \"ann\"}" },
            ] } }],
        } });
        redactor().redact_run_counted(&mut run, &mut counts);
        let args = &run["trace"]["tool_calls"][0]["args"];
        assert_eq!(args["password"], "[redacted password]");
        assert_eq!(args["dbPassword"], "[redacted password]");
        assert_eq!(args["client_secret"], "[redacted client_secret]");
        assert_eq!(args["X-API-Key"], "[redacted api_key]");
        assert_eq!(args["apiKey"], "[redacted api_key]");
        assert_eq!(args["headers"]["Authorization"], "[redacted authorization]");
        assert_eq!(
            args["headers"]["Cookie"],
            json!(["[redacted cookie]", "[redacted cookie]"])
        );
        let kept = [
            "pin",
            "user",
            "page_token",
            "password_hint",
            "reset_password",
            "secret",
        ];
        let before = [
            json!(1),
            json!("ann"),
            json!("p2"),
            json!("dog"),
            json!(true),
            json!(null),
        ];
        for (key, value) in kept.into_iter().zip(before) {
            assert_eq!(args[key], value, "{key}");
        }
        let told = &run["trace"]["tool_results"][0]["result"]["content"][0]["text"];
        assert_eq!(
            told,
            "{\"password\": \"[redacted password]\", \"user\": \"ann\"}"
        );
        let counts: Vec<_> = counts.iter().collect();
        assert_eq!(
            counts,
            [
                ("api_key", 2),
                ("authorization", 1),
                ("client_secret", 1),
                ("cookie", 2),
                ("password", 3),
                ("refresh_token", 1)
            ]
        );
    }

    #[test]
    fn they_are_found_in_texts_of_every_form() {
        for (before, after) in [
            (
                r#"{"api_key":"k-1"}"#,
                r#"{"api_key":"[redacted api_key]"}"#,
            ),
            (
                r#"{\"password\":\"a b\",\"x\":1}"#,
                r#"{\"password\":\"[redacted password]\",\"x\":1}"#,
            ),
            (
                "GET /a?api_key=k1&x=2",
                "GET /a?api_key=[redacted api_key]&x=2",
            ),
            (
                "Cookie: a=1; b=2\nHost: x",
                "Cookie: [redacted cookie]\nHost: x",
            ),
            (
                "Authorization: Basic YTpi",
                "Authorization: [redacted authorization]",
            ),
            (
                "postgres://ann:pw@db/x",
                "postgres://[redacted login in a URL]@db/x",
            ),
        ] {
            assert_eq!(text(before), after, "{before}");
            assert_eq!(text(after), after, "{after}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for said in [
            "the password is wrong",
            "ann@example.com",
            "https://example.com:8080/a@b",
            "ssh://git@example.com/x",
            r#"{"password": "", "api_key": null, "cookie": "***"}"#,
            r#"{"password_hint": "dog"}"#,
            "a cookie: for you",
        ] {
            assert_eq!(text(said), said);
        }
    }
}
