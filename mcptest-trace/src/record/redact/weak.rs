//! Values that are words: *test*, *EMPTY*, *delivered*. They are no secret in a sentence, only where a credential stands.

use regex::{Captures, Regex};
use serde_json::Value;

use super::{RedactionCounts, forms, secret_keys, suspects};
use crate::trace::tool_name_words;

/// A value that is shorter is found in ordinary words.
const SHORTEST: usize = 8;

/// A longer run of letters is a key.
const LONGEST: usize = 24;

/// Words that stand in the place of any secret, also of a password.
const WORDS: &str = "account any anything api auth bearer category change changeme client customer database debug default dev \
     development disabled document dummy email empty enabled example fake false foo guest here id index insert internal invalid \
     item key lm local localhost location me message mock name needed no none not null ollama openai order partition \
     password placeholder postgres primary prod production product proxy random refund region replace required resource \
     sample secret secure service session settings sk something staging string studio subject tenant test testing the this \
     timestamp token true type undefined unknown unused use user username value vllm whatever with xxx your";

/// What the names of keys hold, in upper case. A machine makes a key, so a word at such a name is none: `SORT_KEY=delivered`.
const KEYS: [&str; 10] = [
    "APIKEY",
    "AUTHORIZATION",
    "COOKIE",
    "CREDENTIAL",
    "KEY OF A CLIENT",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "TOKEN",
];

/// How the names of what people think out end, in upper case. It may be words: `correct horse`.
const CHOSEN: [&str; 4] = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET"];

/// Names of headers and members that hold a credential, beside those of `secret_keys`.
const HEADERS: &str = "authorization|proxy-authorization|x-api-key|x-goog-api-key|api[-_]?key|x-auth-token|\
     x-access-token|private-token|access[-_]?token|auth[-_]?token";

/// Whether a value is too short to be told from words, stands in the place of a secret, or is words at the name of a key.
pub(super) fn is_weak(name: &str, value: &str) -> bool {
    value.chars().count() < SHORTEST
        || is_placeholder(value)
        || is_key(name) && is_plain_words(value) && !suspects::begins_a_key(value)
}

fn is_placeholder(value: &str) -> bool {
    let known = |word: &String| WORDS.split_whitespace().any(|it| it == word);
    let words = tool_name_words(value);
    let plain = |c: char| c.is_ascii_alphabetic() || is_word_separator(c);
    value.chars().all(plain) && !words.is_empty() && words.iter().all(known)
}

/// Whether a name is one of a key. What has another name was declared secret.
fn is_key(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let chosen = CHOSEN.iter().any(|end| name.ends_with(end));
    !chosen && (name.ends_with("_KEY") || KEYS.iter().any(|part| name.contains(part)))
}

/// Whether a value is words of one case, each with a capital or without, or one name that has capitals inside:
/// `delivered`, `Customer Name`, `created_at`, `createdAt`.
fn is_plain_words(value: &str) -> bool {
    let mut words = value
        .split(is_word_separator)
        .filter(|word| !word.is_empty());
    words.all(|word| {
        let one_case =
            !word.contains(char::is_lowercase) || !word.chars().skip(1).any(char::is_uppercase);
        (one_case || is_camel_case(word))
            && word.chars().all(char::is_alphabetic)
            && word.chars().count() <= LONGEST
    })
}

/// Whether a run of letters is words, of which each but the first begins with its only capital. Each is said: it has a
/// vowel, and no more than four other letters after one another. A key of random letters has all that by chance in less than
/// one of a hundred.
fn is_camel_case(word: &str) -> bool {
    let begins = word.char_indices().skip(1);
    let begins = begins.filter(|(_, sign)| sign.is_uppercase());
    let mut from = 0;
    let mut parts: Vec<&str> = Vec::new();
    for (at, _) in begins.chain([(word.len(), ' ')]) {
        parts.push(&word[from..at]);
        from = at;
    }
    let is_vowel = |sign: char| "aeiouy".contains(sign.to_ascii_lowercase());
    parts.iter().all(|part| {
        let others = part.split(is_vowel).map(str::len).max();
        part.len() > 1 && part.contains(is_vowel) && others <= Some(4)
    })
}

/// Whether a character joins words.
fn is_word_separator(character: char) -> bool {
    matches!(character, '-' | '_' | ' ' | '.')
}

/// A secret that is words, so that it is taken out only where a credential stands.
#[derive(Debug)]
pub(super) struct WeakSecret {
    name: String,
    value: String,
    /// It, behind what says that it is a credential.
    credential: Regex,
}

impl WeakSecret {
    pub(super) fn new(name: &str, value: &str) -> Option<Self> {
        let own = regex::escape(name);
        let behind = format!(
            r#"\b(?i:{HEADERS}|{own})["'\\]*\s*[:=]\s*["'\\]*(?:(?i:bearer|basic|token|apikey)\s+)?|\bBearer\s+|[?&](?i:key|token)="#
        );
        let value_of = forms::text_pattern(value);
        let credential = format!(r"(?P<before>{behind})(?:{value_of})(?P<after>[^A-Za-z0-9_-]|$)");
        Some(Self {
            name: name.to_owned(),
            value: value.to_owned(),
            credential: Regex::new(&credential).ok()?,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn occurs_in(&self, text: &str) -> bool {
        self.credential.is_match(text)
    }

    /// A text without it, where it stands there as a credential.
    pub(super) fn redact(&self, text: &str, counts: &mut RedactionCounts) -> Option<String> {
        let mut taken = 0;
        let replaced = self.credential.replace_all(text, |found: &Captures<'_>| {
            taken += 1;
            format!(
                "{}[redacted {}]{}",
                &found["before"], self.name, &found["after"]
            )
        });
        let replaced = (taken > 0).then(|| replaced.into_owned())?;
        counts.add(&self.name, taken);
        Some(replaced)
    }

    /// Takes it out of a member whose key says that a credential stands there.
    pub(super) fn redact_member(&self, key: &str, value: &mut Value, counts: &mut RedactionCounts) {
        let own = key.eq_ignore_ascii_case(&self.name);
        let header = || {
            HEADERS
                .split('|')
                .any(|header| key.eq_ignore_ascii_case(header))
        };
        if !(own || secret_keys::secret_key_name(key).is_some() || header()) {
            return;
        }
        match value {
            Value::Array(items) => {
                for item in items {
                    self.redact_member(key, item, counts);
                }
            }
            Value::String(_) | Value::Number(_) => {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                let (scheme, login) = text.rsplit_once(' ').unwrap_or(("", &text));
                if login.trim() == self.value || text.trim() == self.value {
                    counts.add(&self.name, 1);
                    let joint = if scheme.is_empty() { "" } else { " " };
                    *value = format!("{scheme}{joint}[redacted {}]", self.name).into();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;
    use serde_json::json;

    fn redactor() -> Redactor {
        let secrets = [
            ("OPENAI_API_KEY", "test"),
            ("PARTITION_KEY", "refund"),
            ("SERVICE_KEY", "not-needed"),
        ];
        let secrets = secrets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Redactor::new(secrets, Vec::new()).unwrap()
    }

    #[test]
    fn words_and_short_values_are_weak() {
        for value in [
            "test",
            "EMPTY",
            "ollama",
            "lm-studio",
            "not-needed",
            "placeholder",
            "sk-1234",
            "sk-your-api-key",
            "customerId",
            "postgres",
        ] {
            for name in ["OPENAI_API_KEY", "DB_PASSWORD", "DESK"] {
                assert!(is_weak(name, value), "{name} {value}");
            }
        }
    }

    #[test]
    fn words_are_weak_at_the_name_of_a_key_only() {
        for value in [
            "delivered",
            "DELIVERED",
            "Delivered",
            "internationalization",
            "created_at",
            "out-for-delivery",
            "Out For Delivery",
            "order.created",
            "überfällig",
            "createdAt",
            "CreatedAt",
            "lastUpdatedBy",
            "orderNumber",
            "shop.createdAt",
        ] {
            for name in [
                "SORT_KEY",
                "sort_key",
                "TOKEN_KIND",
                "PASSWORD_POLICY",
                "SECRET_STORE",
                "cookie",
                "key of a client",
            ] {
                assert!(is_weak(name, value), "{name} {value}");
            }
            for name in [
                "DB_PASSWORD",
                "SIGNING_PASSPHRASE",
                "CLIENT_SECRET",
                "CUSTOMER_ID",
                "DESK",
            ] {
                assert!(!is_weak(name, value), "{name} {value}");
            }
        }
    }

    #[test]
    fn keys_are_no_words() {
        for value in [
            "sk-12345",
            "sk-abcdefghijklmnop",
            "hf_abcdefghijklmnop",
            "kjhsdfgkjhqwertyuiopasdfg",
            "deadbeefcafebabe0",
            "kjhSdfgkJh",
            "XkTuqLeRbWoA",
            "aGVsbG9Xb3JsZA",
            "dGhpcyBpcyBh",
            "createdAtTheEndOfTheYearNow",
            "QWxhZGRpbjpvcGVu",
            "aGVsbG8=",
            "tr0ub4dor&3",
            "order/7f3a-delivered",
        ] {
            for name in ["SORT_KEY", "API_TOKEN", "DB_PASSWORD", "DESK"] {
                assert!(!is_weak(name, value), "{name} {value}");
            }
        }
    }

    #[test]
    fn a_status_that_is_the_value_of_a_key_stays_and_a_declared_passphrase_does_not() {
        let secrets = [
            ("SORT_KEY", "delivered"),
            ("CACHE_KEY", "out-for-delivery"),
            ("VAULT", "correct horse battery staple"),
            ("DESK_PASSWORD", "correct-horse"),
        ];
        let secrets = secrets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let redactor = Redactor::new(secrets, Vec::new()).unwrap();
        let mut run = json!({ "trace": { "tool_results": [{ "result": {
            "status": "delivered", "delivered": 1, "next": "out-for-delivery", "SORT_KEY": "delivered",
            "env": "SORT_KEY=delivered CACHE_KEY='out-for-delivery'", "vault": "correct horse battery staple",
            "url": "/open?with=correct%20horse+battery%20staple", "desk": "it is correct-horse",
        } }] } });
        redactor.redact_run(&mut run);
        assert_eq!(
            run["trace"]["tool_results"][0]["result"],
            json!({
                "status": "delivered", "delivered": 1, "next": "out-for-delivery", "SORT_KEY": "[redacted SORT_KEY]",
                "env": "SORT_KEY=[redacted SORT_KEY] CACHE_KEY='[redacted CACHE_KEY]'", "vault": "[redacted VAULT]",
                "url": "/open?with=[redacted VAULT]", "desk": "it is [redacted DESK_PASSWORD]",
            })
        );
        assert_eq!(redactor.occurs_in("Order 7 was delivered."), None);
        assert_eq!(redactor.occurs_in("x-api-key: delivered"), Some("SORT_KEY"));
    }

    #[test]
    fn a_word_stays_in_words_and_sentences_and_arguments() {
        let mut run = json!({ "user_prompt": "test it, then refund order 7", "trace": {
            "tool_calls": [{ "name": "refund", "args": { "path": "tests/latest_run.txt", "action": "refund", "test": 1 } }],
            "tool_results": [{ "call_index": 0, "result": "The refund is not-needed: the contest was tested." }],
            "final_response": "The latest test run is green.",
        } });
        let before = run.clone();
        redactor().redact_run(&mut run);
        assert_eq!(run, before);
    }

    #[test]
    fn a_word_is_taken_out_where_it_stands_as_a_credential() {
        for (before, after) in [
            (
                "Authorization: Bearer test",
                "Authorization: Bearer [redacted OPENAI_API_KEY]",
            ),
            (
                "curl -H 'x-api-key: test' x",
                "curl -H 'x-api-key: [redacted OPENAI_API_KEY]' x",
            ),
            (
                "OPENAI_API_KEY=test ./test",
                "OPENAI_API_KEY=[redacted OPENAI_API_KEY] ./test",
            ),
            (
                "GET /v1?key=test&test=1",
                "GET /v1?key=[redacted OPENAI_API_KEY]&test=1",
            ),
            (
                r#"{"PARTITION_KEY": "refund"}"#,
                r#"{"PARTITION_KEY": "[redacted PARTITION_KEY]"}"#,
            ),
            (
                r#"{\"api_key\":\"test\"}"#,
                r#"{\"api_key\":\"[redacted OPENAI_API_KEY]\"}"#,
            ),
            (
                "Authorization: Bearer tester",
                "Authorization: Bearer tester",
            ),
        ] {
            assert_eq!(redactor().redact_text(before), after);
            assert_eq!(redactor().redact_text(after), after);
            assert_eq!(
                redactor().occurs_in(before).is_some(),
                before != after,
                "{before}"
            );
        }
        let mut counts = RedactionCounts::default();
        let mut run = json!({ "trace": { "tool_results": [{ "result": {
            "headers": { "authorization": "Bearer test", "X-Api-Key": ["test"] }, "openai_api_key": "test", "mode": "test",
        } }] } });
        redactor().redact_run_counted(&mut run, &mut counts);
        let result = &run["trace"]["tool_results"][0]["result"];
        assert_eq!(
            result["headers"]["authorization"],
            "Bearer [redacted OPENAI_API_KEY]"
        );
        assert_eq!(
            result["headers"]["X-Api-Key"][0],
            "[redacted OPENAI_API_KEY]"
        );
        assert_eq!(result["openai_api_key"], "[redacted OPENAI_API_KEY]");
        assert_eq!(result["mode"], "test");
        assert_eq!(counts.iter().collect::<Vec<_>>(), [("OPENAI_API_KEY", 3)]);
    }
}
