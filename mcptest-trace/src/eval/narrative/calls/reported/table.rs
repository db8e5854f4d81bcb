//! Keys and words by which a result says how its call went.

use std::sync::LazyLock;

use serde_json::Value;

use crate::trace::to_snake_case;

use super::nothing::is_something;
use super::prose::begins_as_error;
use crate::eval::narrative::words::lexicon::{Words, lower};

/// Of which tools a key says whether the call worked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Of all of them.
    Any,
    /// Of those that change something: what a look-up returns has a state of its own.
    Writes,
}

/// Keys of a result, by which a value says that the call failed.
pub(super) struct Row {
    pub(super) keys: &'static [&'static str],
    pub(super) of: Of,
    pub(super) fails: fn(&Value) -> bool,
}

/// The table, but for counts of what was changed and the participle of the act itself (`merged: false`).
/// Keys are in snake case.
pub(super) const ROWS: &[Row] = &[
    Row {
        keys: SUCCESS,
        of: Of::Any,
        fails: is_no,
    },
    Row {
        keys: &[
            "failed",
            "failure",
            "is_failed",
            "is_error",
            "has_error",
            "has_errors",
            "has_failed",
        ],
        of: Of::Any,
        fails: is_yes,
    },
    Row {
        keys: &[
            "error",
            "errors",
            "err",
            "exception",
            "error_code",
            "error_message",
            "error_msg",
            "error_type",
            "errmsg",
            "error_description",
            "error_details",
            "error_reason",
            "failure_reason",
            "fault",
        ],
        of: Of::Any,
        fails: is_something,
    },
    Row {
        keys: &[
            "status_code",
            "http_status",
            "http_status_code",
            "http_code",
            "response_code",
        ],
        of: Of::Any,
        fails: is_refusal,
    },
    Row {
        keys: &["exit_code", "exit_status", "return_code", "returncode"],
        of: Of::Any,
        fails: |value| value.as_f64().is_some_and(|code| code != 0.0),
    },
    Row {
        keys: STATUS,
        of: Of::Writes,
        fails: is_failure,
    },
    Row {
        keys: &["outcome", "result", "status"],
        of: Of::Writes,
        fails: |value| *value == Value::Bool(false),
    },
    Row {
        keys: &["kind", "type"],
        of: Of::Writes,
        fails: |value| word_of(value, &["error", "exception", "failure"]),
    },
];

/// In which of these lists the keys of an object stand: most keys stand in none.
#[derive(Clone, Copy, Default)]
pub(super) struct Listed(u32);

impl Listed {
    /// Behind the bits of the rows.
    const WORDS: u32 = 1 << 31;

    /// The lists of these keys.
    pub(super) fn keys<'k>(keys: impl Iterator<Item = &'k String>) -> Self {
        static LISTS: LazyLock<Words<&'static str, u32>> = LazyLock::new(|| {
            let rows = ROWS.iter().zip(0..).map(|(row, at)| (row.keys, 1 << at));
            let mut lists = Words::default();
            for (keys, list) in rows.chain([(WORDS, Listed::WORDS)]) {
                for key in keys {
                    *lists.entry(*key).or_default() |= list;
                }
            }
            lists
        });
        let lists = keys.filter_map(|key| LISTS.get(&*to_snake_case(key)));
        Self(lists.fold(0, |all, list| all | list))
    }

    /// Whether one of the keys stands in this row.
    pub(super) fn has_row(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }

    /// Whether one of the keys stands in any row.
    pub(super) fn has_rows(self) -> bool {
        self.0 & !Self::WORDS != 0
    }

    /// Whether one of the keys tells something in words.
    pub(super) fn has_words(self) -> bool {
        self.0 & Self::WORDS != 0
    }
}

/// Keys that say whether the call worked.
pub(super) const SUCCESS: &[&str] = &[
    "is_ok",
    "is_success",
    "is_successful",
    "ok",
    "succeeded",
    "success",
    "successful",
    "was_successful",
];

/// Keys of how the call ended.
pub(super) const STATUS: &[&str] = &[
    "status",
    "state",
    "outcome",
    "result",
    "result_status",
    "status_text",
];

/// Words of a status that say that the call failed.
pub(super) const FAILURES: &[&str] = &[
    "aborted",
    "error",
    "errored",
    "fail",
    "failed",
    "failure",
    "timed_out",
    "timeout",
    "unsuccessful",
];

/// Words of a status that say so where no record stands beside them, whose state they would be.
pub(super) const REFUSALS: &[&str] = &[
    "declined",
    "denied",
    "forbidden",
    "invalid",
    "not_found",
    "refused",
    "rejected",
    "unauthorized",
];

/// Keys of results that say that nothing was changed.
pub(super) const OF_DRY_RUN: &[&str] = &[
    "dry_run",
    "dryrun",
    "is_dry_run",
    "is_simulation",
    "simulated",
    "validate_only",
];

/// Words of a status by which nothing may have been changed.
pub(super) const UNCHANGED: &[&str] = &[
    "ignored",
    "no_change",
    "no_op",
    "noop",
    "skipped",
    "unchanged",
];

/// Words of a status that say that the call worked.
pub(super) const WORKED: &[&str] = &[
    "completed",
    "done",
    "ok",
    "success",
    "successful",
    "succeeded",
];

/// Arguments, and keys of results, by which nothing is changed.
pub(super) const DRY_RUN: &[&str] = &[
    "dry",
    "dry_run",
    "dryrun",
    "is_dry_run",
    "noop",
    "simulate",
    "simulated",
    "simulation",
    "validate_only",
    "what_if",
];

/// Keys of what a result tells in words.
pub(super) const WORDS: &[&str] = &[
    "content", "body", "data", "detail", "details", "message", "msg", "output", "reason",
    "response", "result", "text",
];

pub(super) fn is_no(value: &Value) -> bool {
    match value {
        Value::Bool(set) => !set,
        Value::String(text) => matches!(&*lower(text.trim()), "false" | "no"),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}

pub(super) fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(set) => *set,
        Value::String(text) => matches!(&*lower(text.trim()), "true" | "yes"),
        Value::Number(number) => number.as_f64() == Some(1.0),
        _ => false,
    }
}

pub(super) fn is_refusal(value: &Value) -> bool {
    let code = value
        .as_u64()
        .or_else(|| value.as_str()?.trim().parse().ok());
    code.is_some_and(|code| (400..600).contains(&code))
}

pub(super) fn is_failure(value: &Value) -> bool {
    // `status: { code: 402 }`
    if let Some(code) = value.get("code") {
        return is_failure(code);
    }
    // *failed: insufficient funds*, *failed (locked)*, *payment_failed*, *402 Payment Required*
    let text = value.as_str().unwrap_or_default();
    let head = text.split([':', ',', ';', '(']).next().unwrap_or_default();
    let mut words = text.split_whitespace();
    let code = words
        .find(|word| !word.eq_ignore_ascii_case("http"))
        .map(Value::from);
    if code.is_some_and(|code| is_refusal(&code)) || begins_as_error(text).is_some() {
        return true;
    }
    let word = to_snake_case(&lower(head.trim())).into_owned();
    let last = word.rsplit('_').next().unwrap_or_default();
    let short = word.contains('_') && word.len() < 40 && !head.contains(' ');
    let says = FAILURES.contains(&word.as_str())
        || short && matches!(last, "failed" | "failure" | "error" | "declined");
    says || value.is_number() && is_refusal(value)
}

pub(super) fn word_of(value: &Value, words: &[&str]) -> bool {
    let word = value.as_str().filter(|text| text.len() < 40);
    word.is_some_and(|text| words.contains(&&*to_snake_case(&lower(text.trim()))))
}
