//! Texts that are results: how one says, or sounds as if, its call failed.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::counts::{changes, does};
use super::nothing::is_something;
use super::parts::plain;
use super::quoted;
use crate::eval::narrative::words::lexicon::{Lexicon, contains_ignoring_case, head, lower};
use crate::eval::narrative::words::said::Said;

/// Words of a text that sound as if a call had failed.
pub(super) const SOUNDS: &[&str] = &[
    "access denied",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "does not exist",
    "doesn't exist",
    "failed",
    "failure",
    "forbidden",
    "insufficient",
    "invalid",
    "no such",
    "not allowed",
    "not found",
    "not permitted",
    "permission denied",
    "timed out",
    "an error occurred",
    "declined",
    "internal server error",
    "nothing to commit",
    "unable to",
    "unauthorized",
];

/// Words that take it back: *0 failed*.
pub(super) const NONE: &[&str] = &["0", "never", "no", "none", "without", "zero"];

/// How a text begins that says that the call failed.
pub(super) const BEGINS: &[&str] = &[
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "exception:",
    "failed to",
    "failed:",
    "failure:",
    "fatal:",
    "traceback (",
    "unable to",
];

/// What follows *Error* where it is no report of one: *Error handling was added*.
pub(super) const NO_REPORT: &[&str] = &[
    "0",
    "count",
    "fixed",
    "none",
    "zero",
    "alert",
    "alerts",
    "boundary",
    "budget",
    "handler",
    "handlers",
    "handling",
    "log",
    "logger",
    "logging",
    "logs",
    "message",
    "messages",
    "page",
    "pages",
    "rate",
    "rates",
    "report",
    "reporting",
    "reports",
    "screen",
    "ticket",
    "tickets",
    "tracker",
    "tracking",
];

/// Most letters of a text that is read for how it sounds: a page is no answer.
pub(super) const SHORT: usize = 400;

/// A text where it says at once that the call failed.
pub(super) fn begins_as_error(text: &str) -> Option<String> {
    let plain = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    if names_none(plain) {
        return None;
    }
    let lower = lower(head(plain, 80));
    let mut words = lower.split(|c: char| c.is_whitespace());
    let first = words.next().unwrap_or_default();
    let next_ends = words.next().unwrap_or_default();
    let next = next_ends.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = first.trim_matches(|c: char| !c.is_alphanumeric());
    // *Error: …*, *[error] …*, *ValueError: …*, but not *Error handling was added*
    let counted = ["0", "none", "zero"].contains(&next);
    let reported = first != bare && !counted || !NO_REPORT.contains(&next);
    let error = matches!(bare, "error" | "errors") && reported
        || first.starts_with("error(")
        || first
            .split('>')
            .next()
            .is_some_and(|tag| tag != first && tag.ends_with("error"))
        || lower.starts_with("mcp error")
        || first.ends_with("error:") && !counted
        || next_ends.ends_with("error:")
        || first.ends_with("exception:");
    let begins = BEGINS.iter().any(|begin| {
        let rest = lower.strip_prefix(begin);
        rest.is_some_and(|rest| {
            !begin.ends_with(char::is_alphanumeric) || !rest.starts_with(char::is_alphanumeric)
        })
    });
    (error || begins).then(|| quoted(text))
}

/// Whether a text begins with a line for errors and no error in it: *Error: (none)*. Below an empty one stands the next
/// line of its kind, else it is the error.
fn names_none(text: &str) -> bool {
    let mut lines = text.lines();
    let (key, value) = lines
        .next()
        .and_then(|line| line.split_once(':'))
        .unwrap_or_default();
    let of_errors = ["error", "errors", "stderr"]
        .iter()
        .any(|it| key.eq_ignore_ascii_case(it));
    let empty = value.trim().is_empty();
    let mut labelled = || lines.next().is_some_and(|next| next.contains(": "));
    // *Error: no*, and no more
    let cut = value.trim().eq_ignore_ascii_case("no");
    of_errors && !cut && !is_something(&Value::from(value)) && (!empty || labelled())
}

/// Where a line of a text says that a command ended with another code than 0: *Exit Code: 1*, *exited with code 2*.
pub(super) fn exit_code(text: &str) -> Option<String> {
    const SHOWN: usize = 12;
    let is_code = |line: &&str| {
        let lower = line.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(SHOWN).collect();
        let code = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
        (1..words.len()).any(|at| {
            let ends = matches!(
                words[at - 1],
                "exit" | "exited" | "with" | "return" | "returned"
            );
            let told = words[..at]
                .iter()
                .any(|word| word.starts_with("exit") || *word == "return");
            let of_code = matches!(words[at], "code" | "status");
            ends && told && of_code && code(at + 1).is_some_and(|code| code != 0)
        })
    };
    // A page has many lines, and few with these words.
    let has = |text: &str, words: &[&str]| words.iter().any(|it| contains_ignoring_case(text, it));
    let tells = |text: &str| has(text, &["exit", "return"]) && has(text, &["code", "status"]);
    let mut lines = text.lines().filter(|line| tells(line));
    tells(text)
        .then(|| lines.find(is_code).map(quoted))
        .flatten()
}

/// The fields that a short text tells line by line: *success: false*, *Status: failed*.
pub(super) fn fields_of(text: &str) -> Option<Map<String, Value>> {
    const LINES: usize = 8;
    const KEY: usize = 24;
    if text.len() > SHORT || text.lines().count() > LINES {
        return None;
    }
    let fields = text.lines().map(|line| {
        let (key, value) = line.split_once(':')?;
        let words = key
            .chars()
            .all(|c| c.is_alphanumeric() || " _-".contains(c));
        let value = Value::from(value.trim());
        let value = plain(&value).unwrap_or(value);
        (words && key.len() < KEY).then(|| (key.trim().replace(' ', "_"), value))
    });
    fields.collect()
}

/// A text where it says that nothing was changed: *0 rows affected*, *Deleted 0 files*, *DELETE 0*, *No rows deleted*.
pub(super) fn no_rows(said: &Said, text: &str) -> Option<String> {
    const FIRST: usize = 6;
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let numbers = words
        .clone()
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let first: Vec<Cow<'_, str>> = words.take(FIRST).map(lower).collect();
    let changed = |at: Option<usize>| {
        let word = at.and_then(|at| first.get(at));
        word.is_some_and(|word| changes(said, word))
    };
    let command = |word: &str| {
        let verb = Lexicon::get().word(word).and_then(|word| word.verb);
        verb.is_some_and(|verb| does(said, verb))
    };
    match first.as_slice() {
        [verb, zero] if zero == "0" && command(verb) => return Some(quoted(text)),
        [none, rest @ ..] if matches!(&**none, "nothing" | "no" | "none") => {
            let things = |word: &str| ["changes", "items", "records", "rows"].contains(&word);
            let thing = |word: &str| things(word) || said.shares(word);
            let rest = match rest {
                rest if none != "no" => Some(rest),
                [noun, rest @ ..] if thing(noun) => Some(rest),
                _ => None,
            };
            let be =
                |word: &&Cow<'_, str>| matches!(&***word, "was" | "were" | "has" | "have" | "been");
            let next = rest.and_then(|rest| rest.iter().find(|word| !be(word)));
            let made =
                |word: &str| word == "made" && first.get(1).is_some_and(|it| it == "changes");
            return next
                .filter(|word| changes(said, word) || made(word))
                .map(|_| quoted(text));
        }
        _ => {}
    }
    let zero = first
        .iter()
        .position(|word| word == "0" || word == "zero")?;
    let word = |at: Option<usize>| at.and_then(|at| first.get(at)).map_or("", |word| &**word);
    let of_change =
        changed(Some(zero + 1)) || changed(Some(zero + 2)) || changed(zero.checked_sub(1));
    let other = |word: &str| {
        let others = [
            "code", "error", "errors", "failed", "failures", "skipped", "status", "warnings",
        ];
        others.contains(&word)
    };
    let others = other(word(Some(zero + 1))) || other(word(zero.checked_sub(1)));
    let none = |number: &str| number.bytes().all(|digit| digit == b'0');
    (of_change && !others && numbers.into_iter().all(none)).then(|| quoted(text))
}

/// How a text sounds as if the call had failed.
pub(super) fn sounds(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let heard = SOUNDS.iter().any(|sound| {
        lower.match_indices(sound).any(|(at, _)| {
            let before = lower[..at]
                .split_whitespace()
                .next_back()
                .unwrap_or_default();
            let whole = !lower[..at].ends_with(char::is_alphanumeric);
            let after = !lower[at + sound.len()..].starts_with(char::is_alphanumeric);
            whole && after && !NONE.contains(&before)
        })
    });
    heard.then(|| quoted(text))
}
