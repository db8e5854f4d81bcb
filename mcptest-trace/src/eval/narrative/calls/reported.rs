//! What a result says itself of whether its call worked: one table, for everybody who asks that where no
//! flag says so, and for claims, of which a call that says that it failed is no evidence.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::text::truncate;
use crate::trace::{ToolCall, ToolResult, for_each_scalar, to_snake_case, tool_name_words};

use crate::eval::narrative::words::lexicon::{Lexicon, lower};
use crate::eval::narrative::words::said::Said;

mod counts;
mod dry_run;
mod nothing;
mod parts;
mod prose;
mod table;

use counts::{does, nothing_changed, participle};
use dry_run::{of_args, of_fields, of_text};
use nothing::is_something;
pub(crate) use parts::parts;
use parts::plain;
use prose::{SHORT, begins_as_error, exit_code, fields_of, no_rows, sounds};
use table::{
    Listed, Of, REFUSALS, ROWS, STATUS, SUCCESS, UNCHANGED, WORDS, WORKED, is_failure, is_refusal,
    is_yes, word_of,
};

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
    let said = Said::shared(tool);
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
pub(crate) fn reported_by(said: &Said, writes: bool, args: &Value, result: &Value) -> Reported {
    if writes && let Some(dry) = of_args(args) {
        return Reported::Failed(format!("called with {dry}"));
    }
    let reader = Reader { writes, said, args };
    reader.read(result)
}

/// The verbs that a result says were not done: `merged: false`.
pub(crate) fn undone(result: &Value) -> BTreeSet<&'static str> {
    let mut undone = BTreeSet::new();
    for (part, _) in parts(result) {
        let fields = part.as_object().into_iter().flatten();
        undone.extend(fields.filter_map(|(key, value)| not_done(key, value)));
    }
    undone
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
                .any(|(key, value)| keys.contains(&&*to_snake_case(key)) && is(value))
        };
        let listed = Listed::keys(fields.keys());
        let worked = listed.has_rows()
            && (named(SUCCESS, &is_yes) || named(STATUS, &|value| word_of(value, WORKED)));
        if self.said.reads() && !is_bare(fields) {
            return Reported::Nothing;
        }
        let mut doubt: Option<String> = None;
        let rows = ROWS.iter().enumerate();
        let rows =
            rows.filter(|(at, row)| listed.has_row(*at) && (self.writes || row.of == Of::Any));
        for (_, row) in rows {
            let mut found = fields
                .iter()
                .filter(|(key, _)| row.keys.contains(&&*to_snake_case(key)));
            let asked = |value: &Value| self.is_own_act(value) || self.is_told(value);
            let failing = found.find(|(_, value)| (row.fails)(value) && !asked(value));
            if let Some((key, value)) = failing {
                let said = render_field(key, value);
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
        let own_status = |(key, value): &(&String, &Value)| {
            self.is_own_status(key) && is_failure(value) && !self.is_own_act(value)
        };
        if self.writes
            && let Some((key, value)) = fields.iter().find(own_status)
        {
            return Reported::Failed(render_field(key, value));
        }
        if self.writes
            && let Some(found) = self.write_not_done(fields, worked)
        {
            return found;
        }
        if worked {
            return Reported::Nothing;
        }
        let some_failed = |(key, value): &(&String, &Value)| {
            matches!(&*to_snake_case(key), "failed" | "failed_count" | "failures")
                && is_something(value)
        };
        if let Some((key, value)) = fields.iter().find(some_failed) {
            return Reported::Doubtful(render_field(key, value));
        }
        if !listed.has_words() {
            return Reported::Nothing;
        }
        let told = fields
            .iter()
            .filter(|(key, _)| WORDS.contains(&&*to_snake_case(key)));
        let mut told = told.filter_map(|(_, value)| value.as_str());
        let none = |text| no_rows(self.said, text);
        if let Some(none) = told.clone().filter(|_| self.writes).find_map(none) {
            return Reported::Failed(none);
        }
        if let Some(begins) = told.clone().find_map(begins_as_error) {
            return Reported::Failed(begins);
        }
        let sounds = told.find_map(sounds);
        sounds.map_or(Reported::Nothing, Reported::Doubtful)
    }

    /// What the result of a tool that writes says of a change that was not made.
    fn write_not_done(&self, fields: &Map<String, Value>, worked: bool) -> Option<Reported> {
        let undone = fields.iter().find(|(key, value)| self.undone(key, value));
        // *created: true, published: false*
        let done = || {
            let mut set = fields
                .iter()
                .filter(|(_, value)| **value == Value::Bool(true));
            set.any(|(key, _)| {
                participle(&to_snake_case(key)).is_some_and(|verb| self.said.verbs.contains(verb))
            })
        };
        if let Some((key, value)) = undone.filter(|_| !done()) {
            return Some(Reported::Failed(render_field(key, value)));
        }
        let mut refused = fields
            .iter()
            .filter(|(key, _)| STATUS.contains(&&*to_snake_case(key)));
        let refused = refused.find(|(_, value)| {
            word_of(value, REFUSALS) && !self.is_own_act(value) && !self.is_told(value)
        });
        if let Some((key, value)) = refused.filter(|_| !worked && is_bare(fields)) {
            return Some(Reported::Failed(render_field(key, value)));
        }
        if let Some(dry) = of_fields(fields) {
            return Some(Reported::Failed(dry));
        }
        if let Some(none) = nothing_changed(self.said, fields) {
            return Some(if worked {
                Reported::Doubtful(none)
            } else {
                Reported::Failed(none)
            });
        }
        let unchanged = |value: &Value| word_of(value, UNCHANGED);
        let still = fields
            .iter()
            .find(|(key, value)| STATUS.contains(&&*to_snake_case(key)) && unchanged(value));
        if let Some((key, value)) = still {
            return Some(Reported::Doubtful(render_field(key, value)));
        }
        None
    }

    /// Whether a key says that what the tool does was not done: `sent: false`, `message_sent: false`; or that nothing
    /// was changed.
    fn undone(&self, key: &str, value: &Value) -> bool {
        if *value != Value::Bool(false) {
            return false;
        }
        let words = tool_name_words(key);
        let of_tool = |word: &String| self.said.stems.contains(word);
        let own = words
            .split_last()
            .filter(|(_, before)| before.iter().all(of_tool));
        let last = own.map_or(key, |(last, _)| last.as_str());
        let undone = not_done(key, value).or_else(|| not_done(last, value));
        undone.is_some_and(|verb| {
            matches!(&*to_snake_case(key), "changed" | "modified")
                || self.said.words.iter().any(|word| word == verb)
        })
    }

    /// Whether a key is the status of what the tool does: the `payment_status` of `pay_invoice`.
    fn is_own_status(&self, key: &str) -> bool {
        // A name in snake case is its own words.
        if let Cow::Borrowed(key) = to_snake_case(key) {
            let last = key.trim_end_matches('_').rsplit('_').next();
            if !last.is_some_and(|last| STATUS.contains(&last)) {
                return false;
            }
        }
        let words = tool_name_words(key);
        let [of, status] = words.as_slice() else {
            return false;
        };
        let act = Lexicon::get().word(of).and_then(|word| word.noun_of);
        let own = act.is_some_and(|act| does(self.said, act)) || self.said.stems.contains(of);
        own && STATUS.contains(&status.as_str())
    }

    /// Whether a status is what the tool is to bring about: `rejected`, by a tool that rejects, or one that is
    /// told to.
    fn is_own_act(&self, value: &Value) -> bool {
        let word = value.as_str().map(to_snake_case).unwrap_or_default();
        // *mark_failed*, *fail_task*
        let named = |own: &String| *own == word || word.strip_suffix("ed") == Some(own);
        if self.said.words.iter().any(named) {
            return true;
        }
        let Some(verb) = participle(&word) else {
            return false;
        };
        let told = |arg: &Value| arg.as_str().is_some_and(|arg| *lower(arg) == *verb);
        does(self.said, verb)
            || self
                .args
                .as_object()
                .is_some_and(|args| args.values().any(told))
    }

    /// Whether the call was told a value.
    fn is_told(&self, value: &Value) -> bool {
        let mut told = false;
        for_each_scalar(self.args, &mut |arg| {
            let alike = arg.as_str().zip(value.as_str());
            told |= arg == value
                || plain(arg).as_ref() == Some(value)
                || alike.is_some_and(|(arg, value)| arg.eq_ignore_ascii_case(value));
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
        if self.writes
            && let Some(dry) = of_text(text)
        {
            return Reported::Failed(dry);
        }
        if self.writes
            && let Some(code) = exit_code(text)
        {
            return Reported::Failed(code);
        }
        if let Some(fields) = fields_of(text)
            && let failed @ Reported::Failed(_) = self.fields(&fields)
        {
            return failed;
        }
        let short = text.chars().nth(SHORT).is_none();
        let sounds = short.then(|| sounds(text)).flatten();
        sounds.map_or(Reported::Nothing, Reported::Doubtful)
    }
}

/// The verb whose participle a key is that says that it was not done: `merged: false`.
fn not_done(key: &str, value: &Value) -> Option<&'static str> {
    if *value != Value::Bool(false) {
        return None;
    }
    let words = tool_name_words(key);
    match words.as_slice() {
        [word] => participle(word),
        [be, word] if matches!(&**be, "is" | "was") => participle(word),
        _ => None,
    }
}

/// A code of 400 to 599 beside words of it: `{ code: 404, message: … }`.
fn refusal_code(fields: &Map<String, Value>) -> Option<String> {
    let told = || {
        fields
            .keys()
            .any(|key| WORDS.contains(&&*to_snake_case(key)))
    };
    let code = fields
        .get("code")
        .filter(|code| code.is_number() && is_refusal(code) && (told() || is_bare(fields)))?;
    Some(render_field("code", code))
}

/// Whether an object is nothing but what is said of a call: no record stands beside it.
fn is_bare(fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(key, value)| is_of_call(key, value))
}

/// Whether a field says something of a call.
fn is_of_call(key: &str, value: &Value) -> bool {
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
    let key = to_snake_case(key);
    let mut rows = ROWS.iter();
    BESIDE.contains(&&*key)
        || rows.any(|row| row.keys.contains(&&*key))
        || value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
}

/// Characters of a result that are quoted.
const QUOTED: usize = 80;

/// A key and its value, as they are shown.
fn render_field(key: &str, value: &Value) -> String {
    let value = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("`{}`", truncate(&format!("{key}: {value}"), QUOTED))
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        truncate(text.lines().next().unwrap_or_default(), QUOTED)
    )
}

#[cfg(test)]
mod tests;
