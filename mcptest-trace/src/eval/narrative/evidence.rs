//! What the recorded calls show: the words of their names and arguments, the identifiers they
//! carry, and whether they succeeded.

use std::collections::BTreeSet;

use serde_json::Value;

use super::family;
use super::told;
use super::verb::Lexicon;
use super::words;
use crate::trace::{ToolCall, ToolResult, Trace};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Succeeded,
    Failed,
    Unanswered,
}

/// One call, ready to be compared with a claim.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what a tool can do is a set of independent facts"
)]
pub(super) struct Evidence {
    pub ending: Ending,
    /// Words of the tool's name, lower case.
    pub name: Vec<String>,
    /// Singular words of the name that are no verb and no filler.
    pub topics: Vec<String>,
    /// Singular words of argument names with a value, and of short argument values.
    pub arguments: BTreeSet<String>,
    /// Words of the arguments and their names, and words of the result, lower case and as written.
    said: BTreeSet<String>,
    heard: BTreeSet<String>,
    /// Verbs that the tool offers under another name, and verbs that it can never do.
    pub synonyms: BTreeSet<String>,
    pub opposed: BTreeSet<String>,
    /// Verbs that an argument tells: `state: closed`, `query: DELETE FROM`.
    pub told: BTreeSet<String>,
    /// Whether an argument is a command that changes something, or that writes text.
    pub changes: bool,
    pub writes: bool,
    /// Singular words of the names of arguments that are empty, false or zero.
    pub cleared: BTreeSet<String>,
    /// All scalar arguments, lower case, with the argument's name.
    pub scalars: Vec<(String, String)>,
    /// All scalar parts of the result, lower case, with the field's name.
    pub results: Vec<(String, String)>,
    /// Singular words of the result's field names and short values.
    pub result_words: BTreeSet<String>,
    /// Whether it only reads, by its name or its command.
    pub reading: bool,
    /// Whether it runs commands or code.
    pub executor: bool,
    /// Whether it changes the text of something: a place and a content among its arguments.
    pub editor: bool,
}

/// Names of arguments that hold a command, a place in a file, or text to put there, without `_`.
const COMMANDS: &str =
    "command cmd commands code script sql query statement source input args argv method";
const PLACES: &str = "path file filename filepath targetfile paths uri patch diff";
const TEXTS: &str = "content contents text newstr newstring oldstr oldstring patch diff filetext replacement replace code \
    edits newtext oldtext newcontent inserttext codeedit data body input old new";
const MODES: &str = "command action operation op method mode";

impl Evidence {
    pub(super) fn of(
        call: &ToolCall,
        result: Option<&ToolResult>,
        lexicon: &Lexicon,
        readonly: bool,
    ) -> Self {
        let name = name_words(&call.name);
        let mut scalars = Vec::new();
        flatten("", &call.args, &mut scalars, 0);
        let mut results = Vec::new();
        if let Some(result) = result {
            flatten("", &result.result, &mut results, 0);
        }
        let plain = |key: &str| key.replace(['_', '-'], "").to_lowercase();
        let has_key = |keys: &str| {
            scalars
                .iter()
                .any(|(key, _)| words::listed(keys, &plain(key)))
        };
        let executor = has_key(COMMANDS) && name.iter().any(|word| family::is_executor(word));
        let looks = scalars
            .iter()
            .any(|(key, value)| words::listed(MODES, &plain(key)) && family::is_reading(value));
        let named_reading = name.first().is_some_and(|word| family::is_reading(word))
            || name
                .iter()
                .any(|word| words::listed("get list search read fetch", word));
        let acts = executor || name.iter().any(|word| lexicon.lemma(word).is_some());
        let reading = readonly || looks || (named_reading && !acts);
        let topics = topics(&name, lexicon);
        let replacing = ["str", "replace"].map(str::to_owned);
        let verbs = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
            let fitting = lexicon.verbs().filter(|verb| fits(verb));
            fitting.map(str::to_owned).collect()
        };
        Self {
            ending: match result {
                None => Ending::Unanswered,
                Some(result) if result.is_error => Ending::Failed,
                Some(_) => Ending::Succeeded,
            },
            synonyms: verbs(&|verb| family::is_synonymous(&name, &topics, verb)),
            opposed: verbs(&|verb| name.iter().any(|word| family::opposes(verb, word))),
            topics,
            arguments: words_of(scalars.iter()),
            said: runs_of(scalars.iter().flat_map(|(key, value)| [key, value])),
            heard: runs_of(results.iter().map(|(_, value)| value)),
            told: told::verbs(&scalars, executor, lexicon),
            changes: scalars.iter().any(|(_, text)| family::changes(text)),
            writes: scalars.iter().any(|(_, text)| family::writes_text(text)),
            cleared: cleared(&call.args),
            result_words: words_of(
                results
                    .iter()
                    .filter(|(key, _)| !matches!(key.as_str(), "type" | "content" | "text")),
            ),
            editor: !reading && has_key(PLACES) && (has_key(TEXTS) || name.starts_with(&replacing)),
            name,
            scalars,
            results,
            reading,
            executor,
        }
    }

    /// Whether an argument or a part of the result holds the identifier as a whole.
    pub(super) fn carries(&self, identifier: &str) -> bool {
        let result = || self.results.iter().any(|(_, text)| holds(text, identifier));
        self.takes(identifier) || (may_hold(&self.heard, identifier) && result())
    }

    /// Whether an argument holds the identifier as a whole.
    pub(super) fn takes(&self, identifier: &str) -> bool {
        may_hold(&self.said, identifier)
            && self.scalars.iter().any(|(_, text)| holds(text, identifier))
    }

    /// Whether some text among the arguments mentions a word with the same stem.
    pub(super) fn speaks_of(&self, noun: &str) -> bool {
        let stem: String = noun.chars().take(noun.chars().count().min(5)).collect();
        let mut from = self.said.range(stem.clone()..);
        stem.len() >= 3 && from.next().is_some_and(|word| word.starts_with(&stem))
    }
}

/// The words of a tool's name that are no verb, no function word and no filler.
fn topics(name: &[String], lexicon: &Lexicon) -> Vec<String> {
    let filler = |word: &str| {
        let function = words::is_preposition(word) || words::is_conjunction(word);
        function
            || words::listed(
                "id by tool v1 v2 api new pending all my kubectl helm terraform apply",
                word,
            )
            || family::is_reading(word)
    };
    let topics = name
        .iter()
        .filter(|word| lexicon.lemma(word).is_none() && !filler(word));
    topics.map(|word| words::singular(word)).collect()
}

/// The calls of a trace as evidence.
pub(super) fn of_trace(trace: &Trace, lexicon: &Lexicon, readonly: &[String]) -> Vec<Evidence> {
    let results = trace.results_by_call();
    let pairs = trace.tool_calls.iter().zip(results);
    pairs
        .map(|(call, result)| Evidence::of(call, result, lexicon, readonly.contains(&call.name)))
        .collect()
}

/// The words of a tool's name: cut at every mark and before every capital inside.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, &c) in letters.iter().enumerate() {
        if !c.is_alphanumeric() {
            found.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at)).copied();
        let next = letters.get(at + 1).copied();
        let hump = c.is_uppercase()
            && (before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit())
                || (before.is_some_and(char::is_uppercase)
                    && next.is_some_and(char::is_lowercase)));
        if hump {
            found.push(String::new());
        }
        if let Some(last) = found.last_mut() {
            last.extend(c.to_lowercase());
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// All scalars with the name of the field they stand in; text that is JSON is opened.
fn flatten(key: &str, value: &Value, found: &mut Vec<(String, String)>, depth: usize) {
    if depth > 24 {
        return;
    }
    match value {
        Value::Null => {}
        Value::Array(items) => items
            .iter()
            .for_each(|item| flatten(key, item, found, depth + 1)),
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| flatten(key, value, found, depth + 1)),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                flatten(key, &inner, found, depth + 1);
            }
            _ => found.push((key.to_owned(), text.to_lowercase())),
        },
        scalar => found.push((key.to_owned(), scalar.to_string())),
    }
}

/// Words of the arguments that say nothing, no or zero: they take away what they name.
fn cleared(args: &Value) -> BTreeSet<String> {
    let empty = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => matches!(text.to_lowercase().as_str(), "" | "no" | "none" | "false"),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    };
    let fields = args.as_object().into_iter().flatten();
    fields
        .filter(|(_, value)| empty(value))
        .flat_map(|(key, _)| name_words(key))
        .map(|word| words::singular(&word))
        .collect()
}

/// Words of the fields that hold something and of values of at most six words. A field that says
/// zero, no or nothing is no evidence that there is one.
fn words_of<'s>(scalars: impl Iterator<Item = &'s (String, String)>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in scalars {
        if matches!(value.as_str(), "" | "0" | "0.0" | "false" | "no" | "none") {
            continue;
        }
        found.extend(name_words(key).iter().map(|word| words::singular(word)));
        if value.split_whitespace().count() <= 6 && value.len() < 200 {
            found.extend(
                value
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                    .map(words::singular),
            );
        }
    }
    found
}

/// Whether the lower-case text holds the identifier, not as a part of a longer one. Both the
/// identifier as written and without its leading `#` count.
pub(super) fn holds(text: &str, identifier: &str) -> bool {
    let bare = identifier.trim_start_matches(['#', '@', '.', '/', '~']);
    if bare.is_empty() {
        return false;
    }
    if bare.len() < 4 && bare.bytes().all(|b| b.is_ascii_digit()) {
        // A short number is a number like any other, unless it stands alone or in an address.
        return text == bare
            || text.ends_with(&format!("/{bare}"))
            || text
                .split_whitespace()
                .any(|word| word.trim_matches([',', '.', ')', '(']) == format!("#{bare}"))
            || text.split_whitespace().any(|word| word == bare) && text.len() < 200;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(bare).map(|at| from + at) {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        if edge(text[..at].chars().next_back()) && edge(text[at + bare.len()..].chars().next()) {
            return true;
        }
        from = at + text[at..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// The runs of letters and digits in some texts, lower case.
fn runs_of<'s>(texts: impl Iterator<Item = &'s String>) -> BTreeSet<String> {
    let runs = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    runs.filter(|run| !run.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether texts with these runs may hold the identifier as a whole; cheap, to ask before `holds`.
fn may_hold(runs: &BTreeSet<String>, identifier: &str) -> bool {
    identifier
        .split(|c: char| !c.is_alphanumeric())
        .all(|run| run.is_empty() || runs.contains(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_every_spelling() {
        for name in [
            "create_issue",
            "createIssue",
            "create-issue",
            "create.issue",
            "Create Issue",
        ] {
            assert_eq!(name_words(name), ["create", "issue"], "{name}");
        }
        assert_eq!(name_words("parseHTTPBody"), ["parse", "http", "body"]);
    }

    #[test]
    fn identifiers_match_as_a_whole() {
        assert!(
            holds("order #w123 shipped", "#w123")
                && holds("/repo/src/main.rs", "main.rs")
                && !holds("abc1234", "abc123")
        );
        assert!(holds("42", "#42") && !holds("price is 142", "#42"));
    }
}
