//! What a result says itself of whether its call worked: one table, for everybody who asks that where no
//! flag says so, and for claims, of which a call that says that it failed is no evidence.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::text::cut;
use crate::trace::{ToolCall, ToolResult, each_scalar, snake, words_of_tool};

use super::lexicon::{Lexicon, lower};
use super::marks::Mark;
use super::said::Said;

/// What a result says itself of whether its call worked.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reported {
    /// It says nothing, or that the call worked.
    Nothing,
    /// It sounds as if the call had failed; the part that does.
    Doubtful(String),
    /// It says that the call failed or changed nothing; the part that says so.
    Failed(String),
}

/// Of which tools a key says whether the call worked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Of all of them.
    Any,
    /// Of those that change something: what a look-up returns has a state of its own.
    Writes,
}

/// Keys of a result, by which a value says that the call failed.
struct Row {
    keys: &'static [&'static str],
    of: Of,
    fails: fn(&Value) -> bool,
}

/// The table, but for counts of what was changed and the participle of the act itself (`merged: false`).
/// Keys are in snake case.
const ROWS: &[Row] = &[
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
            "failure_reason",
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
];

/// Keys that say whether the call worked.
const SUCCESS: &[&str] = &["success", "succeeded", "successful", "is_success", "ok"];

/// Keys of how the call ended.
const STATUS: &[&str] = &[
    "status",
    "state",
    "outcome",
    "result",
    "result_status",
    "status_text",
];

/// Words of a status that say that the call failed.
const FAILURES: &[&str] = &[
    "aborted",
    "error",
    "errored",
    "fail",
    "failed",
    "failure",
    "timed_out",
    "timeout",
];

/// Words of a status that say so where no record stands beside them, whose state they would be.
const REFUSALS: &[&str] = &[
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
const OF_DRY_RUN: &[&str] = &["dry_run", "dryrun", "is_dry_run", "validate_only"];

/// Words of a status by which nothing may have been changed.
const UNCHANGED: &[&str] = &[
    "ignored",
    "no_change",
    "no_op",
    "noop",
    "skipped",
    "unchanged",
];

/// Words of a status that say that the call worked.
const WORKED: &[&str] = &[
    "completed",
    "done",
    "ok",
    "success",
    "successful",
    "succeeded",
];

/// Arguments, and keys of results, by which nothing is changed.
const DRY_RUN: &[&str] = &[
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
const WORDS: &[&str] = &[
    "content", "body", "data", "detail", "details", "message", "msg", "output", "reason",
    "response", "result", "text",
];

/// Words of a text that sound as if a call had failed.
const SOUNDS: &[&str] = &[
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
const NONE: &[&str] = &["0", "never", "no", "none", "without", "zero"];

/// How a text begins that says that the call failed.
const BEGINS: &[&str] = &[
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
const NO_REPORT: &[&str] = &[
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
const SHORT: usize = 400;

/// What the result of a call says itself of whether the call worked.
///
/// Source: spec 11, "Since it was built". Looked at is the top of the result, or of the JSON in it: in a
/// text, in an MCP text block, in `structuredContent`. `success: false`, `error: "…"`, a status code of 400 or
/// more, a text that begins with `Error` say it of every tool; `status: failed`, `merged: false` (by a tool
/// that merges), `deleted_count: 0`, and a dry run say it of tools that change something. `error: null`,
/// `errors: []` and `failed: 0` say nothing.
///
/// What a flag says (`is_error`) is not asked here.
///
/// ```
/// use mcptest_trace::eval::{Reported, reported};
/// use serde_json::json;
///
/// let of = |tool, result| reported(tool, &json!({}), &result);
/// let refused = json!({ "success": false, "error": "insufficient funds" });
/// assert_eq!(of("pay_invoice", refused), Reported::Failed("`success: false`".to_owned()));
/// assert_eq!(of("merge_pull_request", json!({ "merged": false })), Reported::Failed("`merged: false`".to_owned()));
/// assert!(matches!(of("pay_invoice", json!("The invoice was not found.")), Reported::Doubtful(_)));
/// assert_eq!(of("pay_invoice", json!({ "paid": true, "errors": [], "failed": 0 })), Reported::Nothing);
/// assert_eq!(of("get_payment", json!({ "status": "failed" })), Reported::Nothing);
/// ```
#[must_use]
pub fn reported(tool: &str, args: &Value, result: &Value) -> Reported {
    let said = Said::of(tool);
    reported_by(&said, !said.reads(), args, result)
}

/// Whether a call failed: by its flag, or where the recording has none, by what the result says itself.
pub(in crate::eval) fn failed(call: &ToolCall, result: &ToolResult) -> bool {
    let says = || {
        matches!(
            reported(&call.name, &call.args, &result.result),
            Reported::Failed(_)
        )
    };
    result.is_error || !result.error_known && says()
}

/// [`reported`], where it is known what the name of the tool says and whether it changes something.
pub(super) fn reported_by(said: &Said, writes: bool, args: &Value, result: &Value) -> Reported {
    if writes && let Some(dry) = flag(args, DRY_RUN) {
        return Reported::Failed(format!("called with {dry}"));
    }
    let reader = Reader { writes, said, args };
    reader.read(result)
}

/// The verbs that a result says were not done: `merged: false`.
pub(super) fn undone(result: &Value) -> BTreeSet<&'static str> {
    let mut undone = BTreeSet::new();
    for (part, _) in parts(result) {
        let fields = part.as_object().into_iter().flatten();
        undone.extend(fields.filter_map(|(key, value)| not_done(key, value)));
    }
    undone
}

/// The flag of these that is set, as it is written.
fn flag(value: &Value, keys: &[&str]) -> Option<String> {
    let mut fields = value.as_object().into_iter().flatten();
    let set = fields.find(|(key, value)| keys.contains(&&*snake(key)) && is_yes(value));
    set.map(|(key, value)| shown(key, value))
}

/// Reads a result of a tool.
struct Reader<'a> {
    writes: bool,
    said: &'a Said,
    /// What the call was told: a value that comes back says nothing of how it went.
    args: &'a Value,
}

impl Reader<'_> {
    fn read(&self, result: &Value) -> Reported {
        let mut doubtful = None;
        for (part, is_top) in parts(result) {
            // What stands below has a state of its own.
            let reader = Self {
                writes: self.writes && is_top,
                ..*self
            };
            match reader.part(&part) {
                Reported::Nothing => {}
                Reported::Doubtful(by) => doubtful = doubtful.or(Some(by)),
                failed @ Reported::Failed(_) => return failed,
            }
        }
        doubtful.map_or(Reported::Nothing, Reported::Doubtful)
    }

    fn part(&self, part: &Value) -> Reported {
        match part {
            Value::String(text) => self.text(text),
            Value::Object(fields) => self.fields(fields),
            // What a look-up found has states of its own.
            Value::Array(_) if self.said.reads() => Reported::Nothing,
            Value::Array(items) if items.iter().all(Value::is_object) => self.all(items),
            Value::Array(items) => items
                .first()
                .and_then(Value::as_str)
                .map_or(Reported::Nothing, |text| self.text(text)),
            Value::Bool(false) if self.writes => Reported::Failed("`false`".to_owned()),
            _ => Reported::Nothing,
        }
    }

    /// What is said of several things: all failed, or some of them.
    fn all(&self, items: &[Value]) -> Reported {
        let failed = items.iter().filter_map(|item| match self.part(item) {
            Reported::Failed(by) => Some(by),
            _ => None,
        });
        let failed: Vec<String> = failed.collect();
        match failed.first() {
            Some(first) if failed.len() == items.len() => Reported::Failed(first.clone()),
            Some(first) => {
                Reported::Doubtful(format!("{first} for {} of {}", failed.len(), items.len()))
            }
            None => Reported::Nothing,
        }
    }

    fn fields(&self, fields: &Map<String, Value>) -> Reported {
        let named = |keys: &[&str], is: &dyn Fn(&Value) -> bool| {
            fields
                .iter()
                .any(|(key, value)| keys.contains(&&*snake(key)) && is(value))
        };
        let worked = named(SUCCESS, &is_yes) || named(STATUS, &|value| word_of(value, WORKED));
        if self.said.reads() && !is_bare(fields) {
            return Reported::Nothing;
        }
        let mut doubt: Option<String> = None;
        for row in ROWS.iter().filter(|row| self.writes || row.of == Of::Any) {
            let mut found = fields
                .iter()
                .filter(|(key, _)| row.keys.contains(&&*snake(key)));
            let asked = |value: &Value| self.is_own_act(value) || self.is_told(value);
            let failing = found.find(|(_, value)| (row.fails)(value) && !asked(value));
            if let Some((key, value)) = failing {
                let said = shown(key, value);
                // One that says that it worked and twice that it did not, failed.
                match (worked, doubt) {
                    (true, None) => doubt = Some(said),
                    _ => return Reported::Failed(said),
                }
            }
        }
        if let Some(said) = doubt {
            return Reported::Doubtful(said);
        }
        if let Some(code) = refusal_code(fields).filter(|_| !self.is_told(&fields["code"])) {
            return Reported::Failed(code);
        }
        if self.writes {
            let undone = fields.iter().find(|(key, value)| self.undone(key, value));
            // *created: true, published: false*
            let done = fields.iter().any(|(key, value)| {
                let verb = participle(&snake(key)).filter(|_| *value == Value::Bool(true));
                verb.is_some_and(|verb| self.said.verbs.contains(verb))
            });
            if let Some((key, value)) = undone.filter(|_| !done) {
                return Reported::Failed(shown(key, value));
            }
            let mut refused = fields
                .iter()
                .filter(|(key, _)| STATUS.contains(&&*snake(key)));
            let refused = refused.find(|(_, value)| {
                word_of(value, REFUSALS) && !self.is_own_act(value) && !self.is_told(value)
            });
            if let Some((key, value)) = refused.filter(|_| !worked && is_bare(fields)) {
                return Reported::Failed(shown(key, value));
            }
            let dry = fields
                .iter()
                .find(|(key, value)| OF_DRY_RUN.contains(&&*snake(key)) && is_yes(value));
            if let Some((key, value)) = dry {
                return Reported::Failed(shown(key, value));
            }
            if let Some(none) = nothing_changed(self.said, fields) {
                return if worked {
                    Reported::Doubtful(none)
                } else {
                    Reported::Failed(none)
                };
            }
            let unchanged = |value: &Value| word_of(value, UNCHANGED);
            let still = fields
                .iter()
                .find(|(key, value)| STATUS.contains(&&*snake(key)) && unchanged(value));
            if let Some((key, value)) = still {
                return Reported::Doubtful(shown(key, value));
            }
        }
        if worked {
            return Reported::Nothing;
        }
        let some_failed = |(key, value): &(&String, &Value)| {
            matches!(&*snake(key), "failed" | "failed_count" | "failures") && is_something(value)
        };
        if let Some((key, value)) = fields.iter().find(some_failed) {
            return Reported::Doubtful(shown(key, value));
        }
        let told = fields
            .iter()
            .filter(|(key, _)| WORDS.contains(&&*snake(key)));
        let mut told = told.filter_map(|(_, value)| value.as_str());
        if let Some(begins) = told.clone().find_map(begins_as_error) {
            return Reported::Failed(begins);
        }
        let sounds = told.find_map(sounds);
        sounds.map_or(Reported::Nothing, Reported::Doubtful)
    }

    /// Whether a key says that what the tool does was not done.
    fn undone(&self, key: &str, value: &Value) -> bool {
        not_done(key, value).is_some_and(|verb| self.said.words.iter().any(|word| word == verb))
    }

    /// Whether a status is what the tool is to bring about: `rejected`, by a tool that rejects, or one that is
    /// told to.
    fn is_own_act(&self, value: &Value) -> bool {
        let word = value.as_str().map(snake);
        let Some(verb) = word.and_then(|word| participle(&word)) else {
            return false;
        };
        let told = |arg: &Value| arg.as_str().is_some_and(|arg| *lower(arg) == *verb);
        self.said.verbs.contains(verb)
            || self
                .args
                .as_object()
                .is_some_and(|args| args.values().any(told))
    }

    /// Whether the call was told a value.
    fn is_told(&self, value: &Value) -> bool {
        let mut told = false;
        each_scalar(self.args, &mut |arg| {
            let alike = arg.as_str().zip(value.as_str());
            told |=
                arg == value || alike.is_some_and(|(arg, value)| arg.eq_ignore_ascii_case(value));
        });
        told && !value.is_boolean() && !value.is_null()
    }

    fn text(&self, text: &str) -> Reported {
        let text = text.trim();
        if let Some(begins) = begins_as_error(text) {
            return Reported::Failed(begins);
        }
        if self.writes && text.eq_ignore_ascii_case("false") {
            return Reported::Failed(quoted(text));
        }
        if self.writes
            && let Some(none) = no_rows(self.said, text)
        {
            return Reported::Failed(none);
        }
        let short = text.chars().nth(SHORT).is_none();
        let sounds = short.then(|| sounds(text)).flatten();
        sounds.map_or(Reported::Nothing, Reported::Doubtful)
    }
}

/// The verb whose participle a key is that says that it was not done: `merged: false`.
fn not_done(key: &str, value: &Value) -> Option<&'static str> {
    let words = words_of_tool(key);
    let word = match words.as_slice() {
        [word] => word,
        [be, word] if matches!(&**be, "is" | "was") => word,
        _ => return None,
    };
    participle(word).filter(|_| *value == Value::Bool(false))
}

/// What of a result is looked at, and whether it is the top: the text blocks of an MCP result and its
/// structured content, a text that is JSON as JSON, and what stands right below `result`, `data` and the like.
fn parts(result: &Value) -> Vec<(Cow<'_, Value>, bool)> {
    const BLOCKS: usize = 64;
    let fields = result.as_object();
    let blocks = fields.and_then(|fields| fields.get("content")?.as_array());
    let Some(blocks) = blocks.filter(|blocks| blocks.iter().all(Value::is_object)) else {
        let mut parts = vec![(opened(result), true)];
        let below = fields
            .into_iter()
            .flatten()
            .filter(|(key, _)| WRAPS.contains(&key.as_str()));
        parts.extend(below.map(|(_, inner)| (opened(inner), false)));
        parts.retain(|(part, is_top)| *is_top || part.is_object());
        return parts;
    };
    let texts = blocks
        .iter()
        .filter_map(|block| block.get("text"))
        .take(BLOCKS);
    let structured = fields.and_then(|fields| fields.get("structuredContent"));
    let parts = structured.into_iter().chain(texts);
    parts.map(|part| (opened(part), true)).collect()
}

/// Keys under which a result stands.
const WRAPS: [&str; 6] = ["body", "data", "output", "response", "result", "value"];

fn opened(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[', '"']) => {
            let json: Option<Value> = serde_json::from_str(text).ok();
            json.map_or(Cow::Borrowed(value), |json| {
                Cow::Owned(opened(&json).into_owned())
            })
        }
        Value::Object(fields) => match fields.iter().next() {
            Some((key, inner @ (Value::Object(_) | Value::Array(_))))
                if fields.len() == 1 && WRAPS.contains(&key.as_str()) =>
            {
                opened(inner)
            }
            _ => Cow::Borrowed(value),
        },
        other => Cow::Borrowed(other),
    }
}

/// A text where it says at once that the call failed.
fn begins_as_error(text: &str) -> Option<String> {
    let plain = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let head: String = plain.chars().take(80).collect();
    let lower = head.to_lowercase();
    let mut words = lower.split(|c: char| c.is_whitespace());
    let first = words.next().unwrap_or_default();
    let next_ends = words.next().unwrap_or_default();
    let next = next_ends.trim_matches(|c: char| !c.is_alphanumeric());
    let bare = first.trim_matches(|c: char| !c.is_alphanumeric());
    // *Error: …*, *[error] …*, *ValueError: …*, but not *Error handling was added*
    let error = matches!(bare, "error" | "errors") && !(first == bare && NO_REPORT.contains(&next))
        || first.ends_with("error:")
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

/// A text where it says that nothing was changed: *0 rows affected*, *Deleted 0 files*.
fn no_rows(said: &Said, text: &str) -> Option<String> {
    const FIRST: usize = 6;
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let numbers = words
        .clone()
        .filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let first: Vec<String> = words.take(FIRST).map(str::to_lowercase).collect();
    let zero = first
        .iter()
        .position(|word| word == "0" || word == "zero")?;
    let changed = |at: Option<usize>| {
        let word = at.and_then(|at| first.get(at));
        word.is_some_and(|word| changes(said, word))
    };
    let next = first.get(zero + 1).map_or("", String::as_str);
    let of_change =
        changed(Some(zero + 1)) || changed(Some(zero + 2)) || changed(zero.checked_sub(1));
    let others = [
        "error", "errors", "failed", "failures", "skipped", "warnings",
    ]
    .contains(&next);
    (of_change && !others && numbers.into_iter().all(|number| number == "0")).then(|| quoted(text))
}

/// How a text sounds as if the call had failed.
fn sounds(text: &str) -> Option<String> {
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

/// A code of 400 to 599 beside words of it: `{ code: 404, message: … }`.
fn refusal_code(fields: &Map<String, Value>) -> Option<String> {
    let told = fields.keys().any(|key| WORDS.contains(&&*snake(key)));
    let code = fields
        .get("code")
        .filter(|code| told && code.is_number() && is_refusal(code))?;
    Some(shown("code", code))
}

/// The counts of what was changed, where there are some and all of them are 0.
fn nothing_changed(said: &Said, fields: &Map<String, Value>) -> Option<String> {
    const COUNTS: [&str; 11] = [
        "changes",
        "count",
        "documents",
        "files",
        "items",
        "n",
        "num",
        "number",
        "records",
        "rows",
        "total",
    ];
    let counts = |key: &str, changed: &dyn Fn(&str) -> bool| {
        let words = words_of_tool(key);
        let known = |word: &String| changed(word) || COUNTS.contains(&word.as_str());
        words.iter().any(|word| changed(word)) && words.iter().all(known)
    };
    let numbers = |changed: &dyn Fn(&str) -> bool| {
        let numbers = fields
            .iter()
            .filter(|(key, value)| value.is_number() && counts(key, changed));
        numbers.collect::<Vec<_>>()
    };
    let is_zero = |(_, number): &(&String, &Value)| number.as_f64() == Some(0.0);
    let any = numbers(&|word| changes(said, word) || participle(word).is_some());
    let own = numbers(&|word| changes(said, word));
    let (key, value) = own.first().filter(|_| any.iter().all(is_zero))?;
    Some(shown(key, value))
}

/// Whether a word tells of what a tool changed: *affected*, or the participle of what it does.
fn changes(said: &Said, word: &str) -> bool {
    let own = || participle(word).is_some_and(|verb| said.verbs.contains(verb));
    matches!(word, "affected" | "changed" | "modified") || own()
}

/// Whether an object is nothing but what is said of a call: no record stands beside it.
fn is_bare(fields: &Map<String, Value>) -> bool {
    const BESIDE: [&str; 14] = [
        "code",
        "data",
        "detail",
        "details",
        "message",
        "msg",
        "path",
        "reason",
        "request_id",
        "result",
        "status",
        "timestamp",
        "trace_id",
        "type",
    ];
    let of_call = |key: &str| {
        let key = snake(key);
        let mut rows = ROWS.iter();
        BESIDE.contains(&&*key) || rows.any(|row| row.keys.contains(&&*key))
    };
    let empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    fields
        .iter()
        .all(|(key, value)| of_call(key) || empty(value))
}

/// The verb of a change of which a word is the participle.
fn participle(word: &str) -> Option<&'static str> {
    let known = Lexicon::get().word(&lower(word))?;
    let failed = matches!(
        word,
        "failed" | "skipped" | "matched" | "requested" | "checked"
    );
    known
        .verb
        .filter(|_| known.marks.has(Mark::Participle) && !failed)
}

fn is_no(value: &Value) -> bool {
    match value {
        Value::Bool(set) => !set,
        Value::String(text) => matches!(&*lower(text.trim()), "false" | "no"),
        Value::Number(number) => number.as_f64() == Some(0.0),
        _ => false,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(set) => *set,
        Value::String(text) => matches!(&*lower(text.trim()), "true" | "yes"),
        Value::Number(number) => number.as_f64() == Some(1.0),
        _ => false,
    }
}

fn is_something(value: &Value) -> bool {
    const NOTHING: [&str; 16] = [
        "",
        "0",
        "200",
        "false",
        "n/a",
        "nil",
        "no",
        "no error",
        "no errors",
        "none",
        "null",
        "ok",
        "success",
        "successful",
        "successfully",
        "undefined",
    ];
    match value {
        Value::Null => false,
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !NOTHING.contains(&&*lower(text.trim().trim_end_matches('.'))),
        Value::Array(items) => !items.is_empty(),
        // `{ code: 0, message: "OK" }`
        Value::Object(fields) => match fields.get("code") {
            Some(code) => is_something(code),
            None => !fields.is_empty(),
        },
    }
}

fn is_refusal(value: &Value) -> bool {
    let code = value
        .as_u64()
        .or_else(|| value.as_str()?.trim().parse().ok());
    code.is_some_and(|code| (400..600).contains(&code))
}

fn is_failure(value: &Value) -> bool {
    // *failed: insufficient funds*, *payment_failed*
    let text = value.as_str().unwrap_or_default();
    let head = text.split([':', ',', ';']).next().unwrap_or_default();
    let word = snake(&lower(head.trim())).into_owned();
    let last = word.rsplit('_').next().unwrap_or_default();
    let short = word.contains('_') && word.len() < 40 && !head.contains(' ');
    let says = FAILURES.contains(&word.as_str())
        || short && matches!(last, "failed" | "failure" | "error" | "declined");
    says || value.is_number() && is_refusal(value)
}

fn word_of(value: &Value, words: &[&str]) -> bool {
    let word = value.as_str().filter(|text| text.len() < 40);
    word.is_some_and(|text| words.contains(&&*snake(&lower(text.trim()))))
}

/// Characters of a result that are quoted.
const QUOTED: usize = 80;

/// A key and its value, as they are shown.
fn shown(key: &str, value: &Value) -> String {
    let value = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("`{}`", cut(&format!("{key}: {value}"), QUOTED))
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        cut(text.lines().next().unwrap_or_default(), QUOTED)
    )
}

#[cfg(test)]
mod tests;
