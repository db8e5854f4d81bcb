//! Secrets that are told by the key they stand at, and logins in addresses.

use regex::{Captures, Regex};
use serde_json::Value;

use super::RedactionCounts;
use crate::trace::to_snake_case;

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

/// Finds the secrets in a text that are told by the key before them.
#[derive(Debug)]
pub(super) struct SecretKeys {
    /// In JSON that is a text, escaped or not: the key, up to where its value begins.
    json: Regex,
    /// In an address, a header, or a variable: the key, and the value.
    plain: Vec<Regex>,
    login: Regex,
}

impl SecretKeys {
    pub(super) fn new() -> Option<Self> {
        // `api_key`, `api-key`, `apiKey`
        let names: Vec<String> = NAMES
            .iter()
            .map(|name| name.replace('_', "[_-]?"))
            .collect();
        let names = names.join("|");
        let json = format!(r#"(?i)\\*"(?:[a-z0-9]+[_-]?)*?(?P<key>{names})\\*"\s*:\s*"#);
        let plain = [
            format!(r#"(?i)(?P<before>[?&#](?:[a-z0-9]+[_-])*(?P<key>{names})=)(?P<value>[^&#\s"'<>)\[\\]+)"#),
            r#"(?i)(?P<before>\b(?P<key>authorization)\s*:\s*(?:basic|bearer|digest|token|apikey)\s+)(?P<value>[^\s"'<>,;\[\\]+)"#.to_owned(),
            r#"(?i)(?P<before>\b(?:set-)?(?P<key>cookie)\s*:\s*)(?P<value>[^\s=;"'\[\\]+=[^"'\r\n\\]*)"#.to_owned(),
            r#"(?P<before>\b(?:[A-Z0-9]+_)*(?P<key>PASSWORD|PASSWD|SECRET|API_KEY|ACCESS_TOKEN|AUTH_TOKEN|PRIVATE_KEY|SECRET_KEY)=["']?)(?P<value>[^\s"'\[\\&]+)"#.to_owned(),
        ];
        let plain: Result<Vec<Regex>, regex::Error> =
            plain.iter().map(|pattern| Regex::new(pattern)).collect();
        let login = r"(?i)(?P<before>\b[a-z][a-z0-9+.-]*://)[^\s/?#@:\[\]]*:[^\s/?#@\[\]]+@";
        Some(Self {
            json: Regex::new(&json).ok()?,
            plain: plain.ok()?,
            login: Regex::new(login).ok()?,
        })
    }

    /// A text without the values that stand at such keys in it, where it has any.
    pub(super) fn redact(&self, text: &str, counts: &mut RedactionCounts) -> Option<String> {
        let mut taken = false;
        let mut text = match self.without_json(text, counts) {
            Some(text) => {
                taken = true;
                text
            }
            None => text.to_owned(),
        };
        for plain in self.plain.iter().chain([&self.login]) {
            let replaced = plain.replace_all(&text, |found: &Captures<'_>| {
                let name = found
                    .name("key")
                    .and_then(|key| secret_key_name(key.as_str()));
                let value = found
                    .name("value")
                    .is_none_or(|value| is_value(value.as_str()));
                if !value {
                    return found[0].to_owned();
                }
                taken = true;
                let name = name.unwrap_or(LOGIN);
                counts.add(name, 1);
                let end = if found.name("value").is_none() {
                    "@"
                } else {
                    ""
                };
                format!("{}[redacted {name}]{end}", &found["before"])
            });
            text = replaced.into_owned();
        }
        taken.then_some(text)
    }

    /// The values of members of JSON that is a text.
    fn without_json(&self, text: &str, counts: &mut RedactionCounts) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for found in self.json.captures_iter(text) {
            let (Some(whole), Some(key)) = (found.get(0), found.name("key")) else {
                continue;
            };
            let begins = whole.end();
            let name = secret_key_name(key.as_str()).filter(|_| begins >= done);
            let (Some(name), Some((open, length))) = (name, json_value(&text[begins..])) else {
                continue;
            };
            let value = &text[begins + open.len()..begins + open.len() + length];
            let blanked = if open.is_empty() {
                takes_numbers(name)
            } else {
                is_value(value)
            };
            if blanked {
                counts.add(name, 1);
                // A number becomes a text, with the quotes that the key has.
                let quote = match open {
                    "" => whole.as_str().split_inclusive('"').next().unwrap_or("\""),
                    _ => "",
                };
                out.push_str(&text[done..begins + open.len()]);
                out.push_str(&format!("{quote}[redacted {name}]{quote}"));
                done = begins + open.len() + length;
            }
        }
        (done > 0).then(|| out + &text[done..])
    }
}

/// The value that a text begins with: how it is opened, and how long it is. A quote with more marks of escape
/// before it than the first one has stands in the value.
fn json_value(text: &str) -> Option<(&str, usize)> {
    let marks = text.bytes().take_while(|byte| *byte == b'\\').count();
    if text.as_bytes().get(marks) != Some(&b'"') {
        let number = text.bytes().take_while(u8::is_ascii_digit).count();
        return (number > 0).then_some(("", number));
    }
    let (open, rest) = text.split_at(marks + 1);
    let mut before = 0;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'\\' => before += 1,
            b'"' if before == marks => return Some((open, at - marks)),
            _ => before = 0,
        }
    }
    // It was cut short.
    Some((open, rest.len()))
}

/// Whether a number at a key of this name is a secret: `cookies: 12` counts them.
pub(super) fn takes_numbers(name: &str) -> bool {
    !matches!(name, "authorization" | "cookie" | "cookies")
}

/// The name that makes the value at a key a secret.
pub(super) fn secret_key_name(key: &str) -> Option<&'static str> {
    let key = to_snake_case(key);
    let fits = NAMES.into_iter().filter(|name| {
        let before = key.strip_suffix(name);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    });
    fits.max_by_key(|name| name.len())
}

/// Whether a text may be a secret: not none, nor what stands in a secret's place.
fn is_value(text: &str) -> bool {
    let text = text.trim();
    let placeholder =
        text.starts_with("[redacted") || text.starts_with("${") || text.starts_with('<');
    let blank = text.is_empty() || text.chars().all(|c| matches!(c, '*' | 'x' | '•'));
    // A working directory
    let path = text.starts_with('/') || text.starts_with("~/");
    !(placeholder || blank || path || matches!(text, "null" | "none" | "true" | "false"))
}

/// The secret that an object names beside its value: `{ name: Authorization, value: … }`.
pub(super) fn sibling_secret_name(map: &serde_json::Map<String, Value>) -> Option<&'static str> {
    sibling_name(map).and_then(secret_key_name)
}

/// The name of a value that an object gives beside it.
pub(super) fn sibling_name(map: &serde_json::Map<String, Value>) -> Option<&str> {
    let name = ["name", "key", "header"]
        .iter()
        .find_map(|key| map.get(*key)?.as_str());
    name.filter(|_| map.contains_key("value"))
}

/// Blanks a value that stands at a key whose values are secrets: every text and number in it.
pub(super) fn blank(value: &mut Value, name: &'static str, counts: &mut RedactionCounts) {
    let secret = match value {
        Value::String(text) => is_value(text),
        Value::Number(_) => takes_numbers(name),
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
        Redactor::new([], Vec::new()).unwrap().with_secret_keys()
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
                "curl -H 'Authorization: Basic YTpi' x",
                "curl -H 'Authorization: Basic [redacted authorization]' x",
            ),
            (
                r#"{"body":"{\"password\":\"ab\\\"TAIL\"}"}"#,
                r#"{"body":"{\"password\":\"[redacted password]\"}"}"#,
            ),
            (
                r#"{"password":84512345}"#,
                r#"{"password":"[redacted password]"}"#,
            ),
            (
                "See https://x.org/?api_key=abc for it. Order 7 was cancelled.",
                "See https://x.org/?api_key=[redacted api_key] for it. Order 7 was cancelled.",
            ),
            ("redis://:pw@host", "redis://[redacted login in a URL]@host"),
            (
                "DB_PASSWORD=hunter2 ./run",
                "DB_PASSWORD=[redacted password] ./run",
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
            r#"{"pwd": "/srv/project", "cookies": 12}"#,
            "authorization: required",
        ] {
            assert_eq!(text(said), said);
        }
    }
}
