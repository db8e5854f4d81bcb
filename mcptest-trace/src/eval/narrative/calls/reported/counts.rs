//! Counts by which nothing was changed: `affected_rows: 0`, `deleted: []`.

use serde_json::{Map, Value};

use crate::trace::tool_name_words;

use super::{is_of_call, render_field};
use crate::eval::narrative::words::lexicon::{Lexicon, lower};
use crate::eval::narrative::words::marks::Mark;
use crate::eval::narrative::words::said::Said;

/// The counts of what was changed, where there are some and all of them are 0.
pub(super) fn nothing_changed(said: &Said, fields: &Map<String, Value>) -> Option<String> {
    const COUNTS: [&str; 14] = [
        "changes",
        "count",
        "documents",
        "files",
        "id",
        "ids",
        "items",
        "n",
        "num",
        "number",
        "records",
        "row",
        "rows",
        "total",
    ];
    let counts = |key: &str, changed: &dyn Fn(&str) -> bool| {
        let words = tool_name_words(key);
        let known = |word: &String| changed(word) || COUNTS.contains(&word.as_str());
        let rows = matches!(words.as_slice(), [row, count] if row == "row" && count == "count");
        rows || words.iter().any(|word| changed(word)) && words.iter().all(known)
    };
    let numbers = |changed: &dyn Fn(&str) -> bool| {
        let numbers = fields.iter().filter(|(key, value)| {
            let counted = value.is_number() || value.as_array().is_some_and(Vec::is_empty);
            counted && counts(key, changed)
        });
        numbers.collect::<Vec<_>>()
    };
    let is_zero =
        |(_, number): &(&String, &Value)| number.is_array() || number.as_f64() == Some(0.0);
    let any = numbers(&|word| changes(said, word) || participle(word).is_some());
    if any.is_empty() {
        return None;
    }
    // *updated_count: 0* and nothing else, by a tool that deletes
    let alone = || {
        let rest = |(key, value): (&String, &Value)| {
            any.iter().any(|(counted, _)| *counted == key) || is_of_call(key, value)
        };
        let counted = |(key, value): &(&String, &Value)| {
            value.is_number() && tool_name_words(key).iter().any(|word| word == "count")
        };
        fields.iter().all(rest) && any.iter().any(counted)
    };
    let own = numbers(&|word| changes(said, word));
    let first = own.first().or_else(|| any.first().filter(|_| alone()));
    let (key, value) = first.filter(|_| any.iter().all(is_zero))?;
    Some(render_field(key, value))
}

/// Whether a word tells of what a tool changed: *affected*, or the participle of what it does.
pub(super) fn changes(said: &Said, word: &str) -> bool {
    let own = || participle(word).is_some_and(|verb| does(said, verb));
    matches!(word, "affected" | "changed" | "changes" | "modified") || own()
}

/// Whether a tool does a verb, or one that tells of the same act: `delete_row` removes.
pub(super) fn does(said: &Said, verb: &str) -> bool {
    let lexicon = Lexicon::get();
    said.verbs.iter().any(|own| lexicon.akin(own, verb))
}

/// The verb of a change of which a word is the participle.
pub(super) fn participle(word: &str) -> Option<&'static str> {
    let known = Lexicon::get().word(&lower(word))?;
    let failed = matches!(
        word,
        "failed" | "skipped" | "matched" | "requested" | "checked"
    );
    known
        .verb
        .filter(|_| known.marks.has(Mark::Participle) && !failed)
}
