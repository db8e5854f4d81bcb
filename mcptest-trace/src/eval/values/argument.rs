//! What an argument is for, by its name.

use std::collections::HashSet;

use crate::trace::{to_snake_case, tool_name_words};

use super::around::Around;
use super::key;
use super::words::{is_common_key, stem};

/// Arguments that hold what the agent writes: a word of it is in many texts.
const WRITTEN: [&str; 21] = [
    "subject",
    "title",
    "body",
    "text",
    "message",
    "content",
    "description",
    "note",
    "comment",
    "reason",
    "summary",
    "query",
    "q",
    "keyword",
    "prompt",
    "question",
    "answer",
    "reply",
    "html",
    "markdown",
    "caption",
];

/// Arguments that hold money.
const MONEY: [&str; 11] = [
    "amount", "price", "sum", "total", "cost", "payment", "money", "balance", "limit", "fee",
    "refund",
];

/// Arguments that hold one of a few words, which records of all kinds share.
const CHOSEN: [&str; 33] = [
    "status",
    "state",
    "priority",
    "severity",
    "currency",
    "format",
    "country",
    "language",
    "lang",
    "locale",
    "type",
    "kind",
    "category",
    "unit",
    "units",
    "level",
    "role",
    "gender",
    "city",
    "town",
    "region",
    "location",
    "continent",
    "timezone",
    "zone",
    "visibility",
    "department",
    "encoding",
    "charset",
    "model",
    "mode",
    "scope",
    "sort",
];

/// Words before a number that say that it tells one thing from others.
const NUMBERED: [&str; 6] = ["id", "no", "nr", "number", "num", "index"];

/// Words for a time, which do not tell one date from others.
const TIMES: [&str; 10] = [
    "date",
    "year",
    "day",
    "time",
    "at",
    "on",
    "when",
    "timestamp",
    "datetime",
    "month",
];

/// What an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What the agent writes.
    Written,
    Money,
    /// A number that tells one thing from others.
    Number,
    Time,
    /// One of a few words.
    Chosen,
}

/// What an argument is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::eval) struct Argument {
    /// The words of its name, and those of its tool's that are not common.
    words: HashSet<u64>,
    /// The words of its name that are none for a time.
    own: HashSet<u64>,
    purposes: Vec<Purpose>,
}

impl Argument {
    /// By its tool, and the way into it: `message.to[0]`.
    pub(in crate::eval) fn new(tool: &str, path: &str) -> Self {
        let last = path.rsplit('.').next().unwrap_or_default();
        let name = last.split('[').next().unwrap_or_default();
        let snake = to_snake_case(name);
        let words: Vec<&str> = snake.split('_').filter(|word| !word.is_empty()).collect();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
        let all = words
            .iter()
            .flat_map(|word| [Some(*word), without_name_suffix(word)])
            .flatten();
        let is_chosen = words.last().is_some_and(|word| CHOSEN.contains(word));
        let purposes = [
            (Purpose::Written, has(&WRITTEN)),
            (Purpose::Money, has(&MONEY)),
            (Purpose::Number, has(&NUMBERED)),
            (Purpose::Time, has(&TIMES)),
            (Purpose::Chosen, is_chosen),
        ];
        let of_tool = tool_name_words(tool);
        let of_tool = of_tool
            .iter()
            .filter(|word| word.len() > 2 && !is_common_key(key(word)));
        Self {
            purposes: purposes
                .into_iter()
                .filter_map(|(purpose, is)| is.then_some(purpose))
                .collect(),
            own: words
                .iter()
                .filter(|word| !TIMES.contains(word))
                .map(|word| stem(word))
                .collect(),
            words: all
                .map(stem)
                .chain(of_tool.map(|word| stem(word)))
                .collect(),
        }
    }

    /// Whether one of so many words before a value, the next one, or the key of the value names the argument.
    pub(super) fn is_named(&self, around: &Around, within: usize) -> bool {
        around.near(within).any(|word| self.words.contains(&word))
    }

    /// Whether they are the name of the argument, which has several words.
    pub(super) fn is_named_in_full(&self, around: &Around, within: usize) -> bool {
        let near: HashSet<u64> = around.near(within).collect();
        self.own.len() > 1 && self.own.is_subset(&near)
    }

    /// Whether it is for this.
    pub(super) fn is_for(&self, purpose: Purpose) -> bool {
        self.purposes.contains(&purpose)
    }

    /// Whether it holds one of a few words, and this is the one in a field of a record that holds such a word too.
    pub(super) fn is_chosen(&self, around: &Around) -> bool {
        let is_known = |word| CHOSEN.iter().any(|known| stem(known) == word);
        around.is_field() && self.is_for(Purpose::Chosen) && around.near(1).any(is_known)
    }

    /// Whether one of them is of the argument's own name and none for a time.
    pub(super) fn is_named_beside_time(&self, around: &Around, within: usize) -> bool {
        around.near(within).any(|word| self.own.contains(&word))
    }
}

/// What a word names that is written together with `name` or `id`: `username`.
fn without_name_suffix(word: &str) -> Option<&str> {
    let kinds = ["name", "number", "id"];
    let rest = kinds.into_iter().find_map(|kind| word.strip_suffix(kind));
    rest.filter(|rest| rest.len() > 2)
}

/// Whether a word says that a number behind it tells one thing from others.
pub(super) fn is_numbered(word: &str) -> bool {
    NUMBERED
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}
