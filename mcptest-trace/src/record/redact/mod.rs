//! Takes secrets out of what is recorded and shown.
//!
//! A secret is found as it is, and as it stands in JSON text, in URLs, in base64 and in hex; so is
//! what a pattern matches. What
//! is not found is one that was changed in another way: compressed, encrypted, or cut in two.
//! [`Redactor::occurs_in`] on the finished text is the last check before it is written.

mod counts;
mod forms;
mod learned;
mod run;
mod secret_keys;
mod shapes;
mod suspects;
#[cfg(test)]
mod tests;
mod weak;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::eval::views;
use secret_keys::SecretKeys;
use shapes::Shape;
use weak::WeakSecret;

pub use crate::eval::views::percent_decoded;
pub use counts::RedactionCounts;
pub use learned::secrets_in_arguments;
pub use suspects::suspects;

/// A number is text that holds a secret by chance unless this much of it is the secret.
const DIGITS: usize = 6;

/// The most bytes that the secrets have together.
const LONGEST: usize = 16 << 10;

/// What counts call that which a pattern matches.
const PATTERN: &str = "pattern";

/// The memory that the compiled secrets may take, in bytes.
const SIZE_LIMIT: usize = 256 << 20;

/// Replaces secrets by their names.
#[derive(Debug)]
pub struct Redactor {
    /// The names of the secrets, the longest secret first.
    names: Vec<String>,
    /// One group for each of `names`; nothing to look for without any.
    secrets: Option<Regex>,
    /// Secrets that are words: they are looked for only where a credential stands.
    weak: Vec<WeakSecret>,
    patterns: Vec<Regex>,
    /// What is known by its shape.
    shapes: Vec<Shape>,
    /// What is known by its key.
    named: Option<SecretKeys>,
    /// What a run shows as secret.
    learned: Option<Box<Self>>,
    /// Texts of prompts that stay.
    kept: BTreeSet<String>,
}

/// Why secrets cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TooLarge {
    /// The names of the secrets.
    pub names: Vec<String>,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        let (values, are) = match names.as_slice() {
            [_] => ("value", "is"),
            _ => ("values", "together are"),
        };
        write!(
            f,
            "the {values} of {} {are} too long to be blanked in recordings; \
             check that each value is a key and not a whole file",
            names.join(", ")
        )
    }
}

impl std::error::Error for TooLarge {}

/// A part of a text to replace, and the secret it is.
struct Found {
    part: Range<usize>,
    secret: Option<usize>,
}

impl Redactor {
    /// Secrets are names, such as the environment variable, with their values. White space around
    /// a value is no part of it, and an empty value is no secret. A value that stands in a key's place (`not-needed`), has
    /// fewer than 8 characters, or is words at the name of a key (`SORT_KEY`, `delivered` or `createdAt`) is taken out only
    /// where it stands as a credential: in a header, or in a field of a key.
    pub fn new(
        secrets: impl IntoIterator<Item = (String, String)>,
        patterns: Vec<Regex>,
    ) -> Result<Self, TooLarge> {
        let mut secrets: Vec<(String, String)> = secrets
            .into_iter()
            .map(|(name, value)| (name, value.trim().to_owned()))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        // Who knows a login in base64 knows its password, and who knows `sid=…` its value.
        let logins = secrets.iter().flat_map(|(name, value)| {
            let login = value.rsplit(' ').next().unwrap_or(value);
            let passwords = learned::passwords(login).into_iter();
            let passwords = passwords.filter(|part| !weak::is_weak("password", part));
            let cookies = learned::cookies(value).filter(|part| !weak::is_weak("cookie", part));
            let parts = passwords.chain(cookies.map(str::to_owned));
            parts.map(|part| (name.clone(), part))
        });
        let logins: Vec<(String, String)> = logins.collect();
        secrets.extend(logins);
        let (words, mut secrets): (Vec<_>, Vec<_>) = secrets
            .into_iter()
            .partition(|(name, value)| weak::is_weak(name, value));
        let words = words
            .iter()
            .filter_map(|(name, value)| WeakSecret::new(name, value));
        // A secret that holds another one is tried before it.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        let length: usize = secrets.iter().map(|(_, value)| value.len()).sum();
        if length > LONGEST {
            let names = secrets.into_iter().map(|(name, _)| name).collect();
            return Err(TooLarge { names });
        }
        let alternatives: Vec<String> = secrets
            .iter()
            .map(|(_, value)| format!("({})", forms::pattern(value)))
            .collect();
        let names: Vec<String> = secrets.into_iter().map(|(name, _)| name).collect();
        let secrets = RegexBuilder::new(&alternatives.join("|"))
            .size_limit(SIZE_LIMIT)
            .build();
        let Ok(secrets) = secrets else {
            return Err(TooLarge { names });
        };
        Ok(Self {
            secrets: (!names.is_empty()).then_some(secrets),
            names,
            weak: words.collect(),
            patterns,
            shapes: Vec::new(),
            named: None,
            learned: None,
            kept: BTreeSet::new(),
        })
    }

    /// Takes out keys and tokens that are known by their shape, too, as logs of others hold them: `sk-…`, `AKIA…`,
    /// `ghp_…`, `xoxb-…`, `Bearer …`, JWTs, private keys. They are looked for as they stand, behind no encoding.
    #[must_use]
    pub fn with_shapes(mut self) -> Self {
        self.shapes = shapes::all_shapes();
        self
    }

    /// Blanks what stands at a key whose values are secrets, too (`password`, `client_secret`, `api_key`,
    /// `refresh_token`, `authorization`, `cookie`, …), and logins in addresses.
    ///
    /// ```
    /// use mcptest_trace::record::redact::Redactor;
    /// use serde_json::json;
    ///
    /// let redactor = Redactor::new([], Vec::new())?.with_secret_keys();
    /// let mut args = json!({ "user": "ann", "db_password": "hunter2", "url": "ftp://ann:pw@host/" });
    /// redactor.redact(&mut args);
    /// assert_eq!(args["db_password"], "[redacted password]");
    /// assert_eq!(args["url"], "ftp://[redacted login in a URL]@host/");
    /// # Ok::<(), mcptest_trace::record::redact::TooLarge>(())
    /// ```
    #[must_use]
    pub fn with_secret_keys(mut self) -> Self {
        self.named = SecretKeys::new();
        self
    }

    /// Takes out what a recorded run shows as secret, too, wherever the run repeats it: the values of a `Cookie`
    /// header, the password of a `Basic` login, what stands behind `--api-key` in the arguments of a command.
    /// [`redact_run`](Self::redact_run) looks for them itself in the run that it is given, where secrets are known by
    /// their keys.
    #[must_use]
    pub fn learning_from(mut self, run: &Value) -> Self {
        self.learned = self.learn_from(run);
        self
    }

    fn learn_from(&self, run: &Value) -> Option<Box<Self>> {
        self.named.as_ref()?;
        let secrets = learned::from_run(run);
        let learned = (!secrets.is_empty()).then(|| Self::new(secrets, Vec::new()));
        learned.and_then(Result::ok).map(Box::new)
    }

    /// Keeps prompts and user turns that are one of these texts. What the suite says is compared with what was
    /// recorded, and a text of the suite is no secret.
    ///
    /// ```
    /// use mcptest_trace::record::redact::Redactor;
    /// use serde_json::json;
    ///
    /// let said = "Is sk-test-0123456789abcdef a key?";
    /// let redactor = Redactor::new([], Vec::new())?.with_shapes().with_kept_texts([said]);
    /// let mut run = json!({ "user_prompt": said, "trace": { "final_response": "sk-test-0123456789abcdef is a key." } });
    /// redactor.redact_run(&mut run);
    /// assert_eq!(run["user_prompt"], said);
    /// assert_eq!(run["trace"]["final_response"], "[redacted api key] is a key.");
    /// # Ok::<(), mcptest_trace::record::redact::TooLarge>(())
    /// ```
    #[must_use]
    pub fn with_kept_texts<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.kept.extend(texts.into_iter().map(Into::into));
        self
    }

    /// Leaves out secrets that are words: they are taken out only where a credential stands.
    #[must_use]
    pub fn without_weak_values(mut self) -> Self {
        self.weak.clear();
        self
    }

    /// Takes secrets and what the patterns match out of every string and every key, and secrets out
    /// of numbers; a number with a secret becomes a string.
    pub fn redact(&self, value: &mut Value) {
        self.redact_counted(value, &mut RedactionCounts::default());
    }

    /// [`redact`](Self::redact), and counts what is taken out, by the names of the secrets.
    fn redact_counted(&self, value: &mut Value, counts: &mut RedactionCounts) {
        if let Some(learned) = &self.learned {
            learned.counted(value, counts);
        }
        self.counted(value, counts);
    }

    fn counted(&self, value: &mut Value, counts: &mut RedactionCounts) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text_counted(text, counts) {
                    *text = redacted;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.counted(item, counts);
                }
            }
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    self.entry(key, value, counts);
                }
                if self.named.is_some()
                    && let Some(name) = secret_keys::sibling_secret_name(map)
                    && let Some(value) = map.get_mut("value")
                {
                    secret_keys::blank(value, name, counts);
                }
                self.redact_keys(map, |_| false, counts);
            }
            Value::Number(number) => {
                let text = number.to_string();
                let found = self.secrets_in(&text);
                let secret =
                    |Found { part, .. }: &Found| part.len() == text.len() || part.len() >= DIGITS;
                if found.iter().any(secret) {
                    self.count(&found, counts);
                    *value = Value::String(self.replaced(&text, &found));
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// Takes out what a value holds, and what its key says of it.
    fn entry(&self, key: &str, value: &mut Value, counts: &mut RedactionCounts) {
        self.counted(value, counts);
        for weak in &self.weak {
            weak.redact_member(key, value, counts);
        }
        if self.named.is_some()
            && let Some(name) = secret_keys::secret_key_name(key)
        {
            secret_keys::blank(value, name, counts);
        }
    }

    /// Takes secrets and what the patterns match out of a text.
    #[must_use]
    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_counted(text, &mut RedactionCounts::default())
    }

    fn text_counted<'a>(&self, text: &'a str, counts: &mut RedactionCounts) -> Cow<'a, str> {
        let mut found = self.secrets_in(text);
        if !self.patterns.is_empty() {
            found.extend(self.patterns_in(text).map(pattern_match));
            for view in views::decoded_views(text) {
                let parts = self.patterns_in(&view.text);
                found.extend(parts.map(|part| pattern_match(view.outer_span(part))));
            }
        }
        let mut text = if found.is_empty() {
            Cow::Borrowed(text)
        } else {
            let found = merged(found);
            self.count(&found, counts);
            Cow::Owned(self.replaced(text, &found))
        };
        for weak in &self.weak {
            if let Some(redacted) = weak.redact(&text, counts) {
                text = Cow::Owned(redacted);
            }
        }
        for shape in &self.shapes {
            if let Some(redacted) = shape.redact(&text, counts) {
                text = Cow::Owned(redacted);
            }
        }
        if let Some(named) = &self.named
            && let Some(redacted) = named.redact(&text, counts)
        {
            text = Cow::Owned(redacted);
        }
        text
    }

    fn count(&self, found: &[Found], counts: &mut RedactionCounts) {
        for part in found {
            let name = part.secret.and_then(|secret| self.names.get(secret));
            counts.add(name.map_or(PATTERN, String::as_str), 1);
        }
    }

    /// The name of a secret that a text holds.
    #[must_use]
    pub fn occurs_in(&self, text: &str) -> Option<&str> {
        let mut weak = self.weak.iter().filter(|weak| weak.occurs_in(text));
        self.strong_in(text)
            .or_else(|| weak.next().map(WeakSecret::name))
    }

    fn strong_in(&self, text: &str) -> Option<&str> {
        let found = self.secrets.as_ref()?.find(text)?;
        let secret = self.secret_at(found.as_str())?;
        self.names.get(secret).map(String::as_str)
    }

    /// What the patterns match in a text.
    fn patterns_in(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let matches = self.patterns.iter().flat_map(move |it| it.find_iter(text));
        matches
            .filter(|part| !part.is_empty())
            .map(|part| part.range())
    }

    /// The secrets in a text, from left to right, none overlapping another.
    fn secrets_in(&self, text: &str) -> Vec<Found> {
        // Groups are slow to tell apart, and most secrets occur in few forms.
        let mut known: HashMap<&str, Option<usize>> = HashMap::new();
        let parts = self.secrets.iter().flat_map(|regex| regex.find_iter(text));
        let found = parts.map(|part| Found {
            part: part.range(),
            secret: *known
                .entry(part.as_str())
                .or_insert_with(|| self.secret_at(part.as_str())),
        });
        found.collect()
    }

    /// The secret that a text begins with.
    fn secret_at(&self, text: &str) -> Option<usize> {
        let captures = self.secrets.as_ref()?.captures(text)?;
        (0..self.names.len()).find(|secret| captures.get(secret + 1).is_some())
    }

    fn replaced(&self, text: &str, found: &[Found]) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut done = 0;
        for Found { part, secret } in found {
            redacted.push_str(&text[done..part.start]);
            match secret.and_then(|secret| self.names.get(secret)) {
                Some(name) => redacted.push_str(&format!("[redacted {name}]")),
                None => redacted.push_str("[redacted]"),
            }
            done = part.end;
        }
        redacted.push_str(&text[done..]);
        redacted
    }

    /// Takes secrets out of all keys but those that stay. Keys that become the same are numbered, so that no value is lost.
    fn redact_keys(
        &self,
        map: &mut Map<String, Value>,
        stays: impl Fn(&str) -> bool,
        counts: &mut RedactionCounts,
    ) {
        let untouched =
            |key: &String| stays(key) || matches!(self.redact_text(key), Cow::Borrowed(_));
        if map.keys().all(untouched) {
            return;
        }
        let old = std::mem::take(map);
        let kept: BTreeSet<String> = old.keys().filter(|key| untouched(key)).cloned().collect();
        // The next number of each key that others became too.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (key, value) in old {
            let mut free = if stays(&key) {
                key.clone()
            } else {
                self.text_counted(&key, counts).into_owned()
            };
            if free != key {
                let base = free.clone();
                let number = numbers.entry(base.clone()).or_insert(2);
                while map.contains_key(&free) || kept.contains(&free) {
                    free = format!("{base} ({number})");
                    *number += 1;
                }
            }
            map.insert(free, value);
        }
    }
}

fn pattern_match(part: Range<usize>) -> Found {
    Found { part, secret: None }
}

/// The parts in order, with overlapping ones made one. A part with a secret keeps its name.
fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| found.part.start);
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for Found { part, secret } in found {
        match merged.last_mut() {
            Some(last) if part.start < last.part.end => {
                last.part.end = last.part.end.max(part.end);
                last.secret = last.secret.or(secret);
            }
            _ => merged.push(Found { part, secret }),
        }
    }
    merged
}
