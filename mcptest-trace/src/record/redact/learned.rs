//! Secrets that a run itself shows as such: in a header that logs in, in an argument of a command. What repeats them
//! elsewhere, and without the header, is taken out too.

use regex::Regex;
use serde_json::Value;

use super::forms::ALPHABET;
use super::secret_keys::{secret_key_name, sibling_name};
use super::weak::is_weak;

/// Secrets of one run that are looked for. A run with more is no run of an agent.
const MOST: usize = 64;

/// The options of commands that hold a secret, as a pattern.
const OPTIONS: &str = r"--?(?:[a-z0-9]+[-_])*(?:api-?key|apikey|access-?key|token|secret|password|passwd|passphrase|client-?secret)";

/// What a run shows as secret, each with its name.
pub(super) fn from_run(run: &Value) -> Vec<(String, String)> {
    let mut found = LearnedSecrets::new();
    if let Some(found) = &mut found {
        found.collect(&run["trace"], None);
    }
    found.map(|found| found.secrets).unwrap_or_default()
}

/// The secrets in the arguments of a command: what stands behind `--api-key`, `--token=`, `-H "Cookie: …"`.
///
/// ```
/// use mcptest_trace::record::redact::secrets_in_arguments;
///
/// let secrets = secrets_in_arguments(&["serve", "--api-key", "k-0123456789", "--port", "8000"]);
/// assert_eq!(secrets, [("an argument".to_owned(), "k-0123456789".to_owned())]);
/// ```
#[must_use]
pub fn secrets_in_arguments<T: AsRef<str>>(arguments: &[T]) -> Vec<(String, String)> {
    let arguments = arguments
        .iter()
        .map(|argument| Value::from(argument.as_ref()));
    let mut found = LearnedSecrets::new();
    if let Some(found) = &mut found {
        found.collect(&arguments.collect(), None);
    }
    found.map(|found| found.secrets).unwrap_or_default()
}

struct LearnedSecrets {
    secrets: Vec<(String, String)>,
    option: Regex,
    /// In a text: an option with its value, a header.
    options: Regex,
    headers: Regex,
}

impl LearnedSecrets {
    fn new() -> Option<Self> {
        Some(Self {
            secrets: Vec::new(),
            option: Regex::new(&format!("^{OPTIONS}$")).ok()?,
            options: Regex::new(&format!(
                r#"(?:^|[\s"'])(?:{OPTIONS})(?:=|\s+)["']?([^\s"'\\]+)"#
            ))
            .ok()?,
            headers: Regex::new(
                r#"(?i)\b(authorization|(?:set-)?cookie)["']?\s*:\s*["']?([^"'\r\n\\]+)"#,
            )
            .ok()?,
        })
    }

    /// Looks for secrets in a value that stands at a key.
    fn collect(&mut self, value: &Value, key: Option<&str>) {
        match value {
            Value::String(text) => self.collect_text(text, key),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let option = at.checked_sub(1).and_then(|at| items[at].as_str());
                    let option = option.is_some_and(|option| self.option.is_match(option));
                    match item.as_str().filter(|_| option) {
                        Some(text) => self.add("an argument", text),
                        None => self.collect(item, key),
                    }
                }
            }
            Value::Object(fields) => {
                let beside = sibling_name(fields);
                for (key, value) in fields {
                    let name = if key == "value" {
                        beside.unwrap_or(key)
                    } else {
                        key
                    };
                    self.collect(value, Some(name));
                }
            }
            _ => {}
        }
    }

    fn collect_text(&mut self, text: &str, key: Option<&str>) {
        if let Some(name @ ("authorization" | "cookie" | "cookies")) = key.and_then(secret_key_name)
        {
            return self.collect_header(name, text);
        }
        let options: Vec<String> = all(&self.options, text, 1);
        for value in options {
            // *use --password to log in*
            let value = value.trim_matches(|c: char| c.is_ascii_punctuation());
            if value.contains(|c: char| !c.is_ascii_alphabetic()) {
                self.add("an argument", value);
            }
        }
        let names = all(&self.headers, text, 1);
        for (name, value) in names.iter().zip(all(&self.headers, text, 2)) {
            if let Some(name) = secret_key_name(name) {
                self.collect_header(name, &value);
            }
        }
    }

    /// What a header logs in with: the values of cookies, and the password of a login in base64.
    fn collect_header(&mut self, name: &'static str, value: &str) {
        if name != "authorization" {
            for cookie in cookies(value) {
                self.add("cookie", cookie);
            }
            return;
        }
        let mut words = value.split_whitespace();
        let (Some(scheme), Some(login)) = (words.next(), words.next()) else {
            return;
        };
        if scheme.eq_ignore_ascii_case("basic") {
            self.add("authorization", login);
            for part in passwords(login) {
                self.add("password", &part);
            }
        } else if ["bearer", "token", "apikey"]
            .iter()
            .any(|it| scheme.eq_ignore_ascii_case(it))
        {
            self.add("authorization", login);
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        let value = value.trim().trim_end_matches([',', ';']);
        let placeholder =
            value.contains("[redacted") || value.starts_with(['$', '<', '{', '/', '~']);
        let known = self.secrets.iter().any(|(_, known)| known == value);
        if !(placeholder || known || is_weak(name, value)) && self.secrets.len() < MOST {
            self.secrets.push((name.to_owned(), value.to_owned()));
        }
    }
}

fn all(regex: &Regex, text: &str, group: usize) -> Vec<String> {
    let found = regex.captures_iter(text);
    found
        .filter_map(|found| Some(found.get(group)?.as_str().to_owned()))
        .collect()
}

/// The values of cookies: of `theme=dark; sid=4711` both.
pub(super) fn cookies(text: &str) -> impl Iterator<Item = &str> {
    const ATTRIBUTES: [&str; 5] = ["path", "domain", "expires", "max-age", "samesite"];
    let pairs = text
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    let named = pairs.filter(|(key, value)| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let name = !key.is_empty() && key.chars().all(plain);
        // `c2VjcmV0==` is no cookie.
        let value = !value.trim_matches('=').is_empty();
        name && value && !ATTRIBUTES.contains(&&*key.to_lowercase())
    });
    named.map(|(_, value)| value)
}

/// The login `user:password` that a text in base64 is, and the password in it.
pub(super) fn passwords(text: &str) -> Vec<String> {
    let decoded = decoded(text.trim()).and_then(|bytes| String::from_utf8(bytes).ok());
    let login = decoded.filter(|login| !login.contains(char::is_control));
    let password = login.as_deref().and_then(|login| login.split_once(':'));
    let password = password.map(|(_, password)| password.to_owned());
    match (login, password) {
        (Some(login), Some(password)) => vec![login, password],
        _ => Vec::new(),
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for byte in text.trim_end_matches('=').bytes() {
        let digit = match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let value = ALPHABET.iter().position(|known| *known == digit)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 255).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;
    use serde_json::json;

    /// What is left of a run with these arguments whose tool returns this.
    fn left(args: &Value, result: &Value) -> String {
        let mut run = json!({ "trace": {
            "tool_calls": [{ "name": "http_get", "args": args }],
            "tool_results": [{ "call_index": 0, "result": result }],
        } });
        let redactor = Redactor::new([], Vec::new()).unwrap().with_secret_keys();
        redactor.redact_run(&mut run);
        run.to_string()
    }

    #[test]
    fn what_logs_in_is_taken_out_of_what_repeats_it() {
        for (args, result, secret) in [
            (
                json!({ "headers": { "Cookie": "theme=dark; sid=s3ss10n-4711" } }),
                json!("session s3ss10n-4711 is new"),
                "s3ss10n-4711",
            ),
            (
                json!({ "cmd": "curl -H 'Cookie: sid=s3ss10n-4711' x" }),
                json!({ "id": "s3ss10n-4711" }),
                "s3ss10n-4711",
            ),
            (
                json!({ "headers": [{ "name": "Cookie", "value": "sid=s3ss10n-4711" }] }),
                json!(["s3ss10n-4711"]),
                "s3ss10n-4711",
            ),
            (
                json!({ "headers": { "Authorization": "Basic YW5uOmh1bnRlcjIhaHVudGVyMg==" } }),
                json!("ann logs in with hunter2!hunter2"),
                "hunter2!hunter2",
            ),
            (
                json!({ "cmd": "curl -H \"Authorization: Basic YW5uOmh1bnRlcjIhaHVudGVyMg==\" x" }),
                json!("hunter2!hunter2"),
                "hunter2!hunter2",
            ),
            (
                json!({ "headers": { "authorization": "Bearer t0ken-0123456789" } }),
                json!("seen t0ken-0123456789"),
                "t0ken-0123456789",
            ),
            (
                json!({ "argv": ["deploy", "--api-key", "k-0123456789", "prod"] }),
                json!("key k-0123456789 is used"),
                "k-0123456789",
            ),
            (
                json!({ "command": "deploy --token=k-0123456789 prod" }),
                json!("key k-0123456789 is used"),
                "k-0123456789",
            ),
            (
                json!({ "command": "deploy --db-password k-0123456789" }),
                json!("k-0123456789"),
                "k-0123456789",
            ),
        ] {
            let left = left(&args, &result);
            assert!(!left.contains(secret), "{left}");
        }
    }

    #[test]
    fn ordinary_words_stay() {
        for (args, said) in [
            (
                json!({ "headers": { "Cookie": "theme=dark; lang=en" } }),
                "It is dark in the English garden.",
            ),
            (
                json!({ "headers": { "Cookie": "theme=midnight; view=delivered" } }),
                "It was delivered at midnight.",
            ),
            (
                json!({ "headers": { "Authorization": "required" } }),
                "A login is required.",
            ),
            (
                json!({ "command": "deploy --token-file /etc/keys/token --password placeholder" }),
                "The placeholder and /etc/keys/token stay.",
            ),
            (
                json!({ "command": "Use --password carefully, and --secret settings." }),
                "carefully chosen settings",
            ),
            (
                json!({ "argv": ["deploy", "--region", "eu-central-1"] }),
                "in eu-central-1",
            ),
        ] {
            let left = left(&args, &json!(said));
            assert!(left.contains(said), "{left}");
        }
    }
}
