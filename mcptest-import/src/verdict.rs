//! How good a run was, as its team keeps it beside a list of messages.

use serde_json::{Number, Value};

use crate::event::{ForeignRun, ReportedScore};
use crate::json::non_null;
use crate::mapping::Mapping;

/// What is read wherever it stands beside the messages; all else is to be named.
const READ: [&str; 2] = ["reward", "passed"];

/// What often says how a run came out, and is mentioned where it was not read.
const LIKELY: [&str; 6] = ["reward", "passed", "pass", "success", "outcome", "score"];

/// Reads the verdicts of a record: `reward`, `passed`, and the field that `--score` names.
pub(crate) fn read(record: &Value, mapping: &Mapping, run: &mut ForeignRun) {
    let named = mapping.score.as_deref();
    for key in READ.into_iter().filter(|key| named != Some(key)) {
        if let Some(score) = non_null(record, key).and_then(|value| parse_score(key, value, false))
        {
            run.scores.push((key.to_owned(), score));
        }
    }
    let Some(name) = named else {
        note_unread(record, run);
        return;
    };
    let mut values = places(record, name).map(|(_, value)| value).peekable();
    let is_there = values.peek().is_some();
    match values.find_map(|value| parse_score(name, value, true)) {
        Some(score) => run.scores.push((name.to_owned(), score)),
        None if is_there => run.hints.push(format!("score `{name}` is no verdict")),
        // Where there are others, these are listed with the outcome.
        None if run.scores.is_empty() => run.hints.push(format!("no score `{name}`")),
        None => {}
    }
}

/// Mentions what may say how the run came out and was not read.
fn note_unread(record: &Value, run: &mut ForeignRun) {
    for key in LIKELY {
        let is_read = run.scores.iter().any(|(known, _)| known == key);
        if is_read || !run.scores.is_empty() && !READ.contains(&key) {
            continue;
        }
        for (path, value) in places(record, key) {
            run.hints.push(match parse_score(key, value, true) {
                Some(_) => format!("`{path}` is not read: `--score {key}` reads it"),
                None => format!("`{path}` is not read: it is no number, boolean or verdict"),
            });
        }
    }
}

/// A field of a record, where it may stand.
fn places<'v>(record: &'v Value, key: &str) -> impl Iterator<Item = (String, &'v Value)> {
    let own = non_null(record, key).map(|value| (key.to_owned(), value));
    let about = record
        .get("metadata")
        .and_then(|about| non_null(about, key));
    own.into_iter()
        .chain(about.map(|value| (format!("metadata.{key}"), value)))
}

/// The verdict that a value is. Of a field that nobody named, only what cannot mean anything else.
fn parse_score(key: &str, value: &Value, is_named: bool) -> Option<ReportedScore> {
    let number = |number: &Number| match number.as_f64() {
        Some(1.0) if key == "passed" => Some(ReportedScore::Passed(true)),
        Some(0.0) if key == "passed" => Some(ReportedScore::Passed(false)),
        _ if is_named || key != "passed" => Some(ReportedScore::Reward(number.clone())),
        _ => None,
    };
    match value {
        Value::Bool(passed) => Some(ReportedScore::Passed(*passed)),
        Value::Number(it) => number(it),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" => Some(ReportedScore::Passed(true)),
            "false" => Some(ReportedScore::Passed(false)),
            _ if !is_named => None,
            text => match parse_word(text) {
                Some(passed) => Some(ReportedScore::Passed(passed)),
                None => number(&Number::from_f64(text.parse().ok()?)?),
            },
        },
        _ => None,
    }
}

/// Whether a word says that something passed, or that it did not.
pub(crate) fn parse_word(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "pass" | "passed" | "success" | "succeeded" | "correct" | "yes" => Some(true),
        "false" | "fail" | "failed" | "failure" | "incorrect" | "no" => Some(false),
        _ => None,
    }
}
