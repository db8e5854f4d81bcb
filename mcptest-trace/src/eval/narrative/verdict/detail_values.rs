//! The arguments of a call that are of the kind of what a claim names, by their keys.

use std::borrow::Cow;

use serde_json::Value;

use crate::trace::{for_each_scalar, tool_name_words};

use super::people;
use crate::eval::narrative::calls::call::Call;
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::details::detail::{Detail, Kind};
use crate::eval::narrative::details::matching::number;
use crate::eval::narrative::details::reader::iso_day;
use crate::eval::narrative::words::lexicon::{Lexicon, lower, stem};

/// The arguments of a call by their keys; an object gives those in it: `input: {order: 7}`, `order: {id: 7}`.
fn fields<'t>(call: &Call<'t>) -> Vec<(Cow<'t, str>, &'t Value)> {
    let mut found = Vec::new();
    for (key, value) in call.arguments() {
        let objects = match value {
            Value::Object(_) => std::slice::from_ref(value),
            Value::Array(items) if items.iter().all(Value::is_object) => items,
            _ => {
                found.push((Cow::Borrowed(key.as_str()), value));
                continue;
            }
        };
        for (inner, value) in objects.iter().filter_map(Value::as_object).flatten() {
            let key = if is_key(key, WRAPS) {
                Cow::Borrowed(inner.as_str())
            } else {
                Cow::Owned(format!("{key}_{inner}"))
            };
            found.push((key, value));
        }
    }
    found
}

/// Words of keys under which arguments stand together.
const WRAPS: &[&str] = &[
    "args",
    "arguments",
    "body",
    "data",
    "input",
    "params",
    "payload",
    "request",
];
/// Words of keys of amounts, and of numbers of things.
const AMOUNTS: &[&str] = &[
    "amount", "charge", "credit", "fee", "payment", "refund", "sum", "tip",
];
const COUNTS: &[&str] = &["copies", "count", "pieces", "qty", "quantity", "units"];
/// Words of keys of those to whom something is sent.
const PEOPLE: &[&str] = &[
    "address",
    "attendees",
    "bcc",
    "cc",
    "email",
    "emails",
    "guests",
    "invitees",
    "mail",
    "recipient",
    "recipients",
    "to",
];
pub(crate) const PATHS: &[&str] = &[
    "destination",
    "file",
    "filename",
    "filepath",
    "files",
    "from",
    "path",
    "paths",
    "source",
    "target",
    "to",
];
/// Words for which one of several is meant.
const IDS: &[&str] = &[
    "code",
    "id",
    "ids",
    "key",
    "keys",
    "no",
    "number",
    "numbers",
    "ref",
    "reference",
    "references",
    "refs",
];

pub(crate) fn is_key(key: &str, words: &[&str]) -> bool {
    tool_name_words(key)
        .iter()
        .any(|word| words.contains(&word.as_str()))
}

/// Whether a key is of an amount of money: `refund_amount`, but not `gb_amount`.
pub(crate) fn is_amount_key(key: &str) -> bool {
    const BESIDE: [&str; 12] = [
        "cents", "discount", "dollars", "eur", "gbp", "gross", "in", "net", "new", "order", "usd",
        "value",
    ];
    let beside =
        |word: &String| BESIDE.contains(&word.as_str()) || AMOUNTS.contains(&word.as_str());
    is_key(key, AMOUNTS) && tool_name_words(key).iter().all(beside)
}

pub(crate) fn is_count_key(key: &str) -> bool {
    is_key(key, COUNTS)
}

/// Whether a key is of things of this name: `order`, `order_id` of orders.
fn names(key: &str, noun: &str) -> bool {
    let words = tool_name_words(key);
    let mut words = words.iter();
    words.any(|word| Lexicon::get().same_thing(&stem(word), noun))
}

/// Whether a key of a call holds which things of this name are meant: `order`, `order_ids`, `orderNumber`; and what
/// holds which one its tool is for: `id`, `number`, the `pull_number` of `merge_pull_request`. Not `order_type`.
pub(crate) fn identifies(call: &Call<'_>, key: &str, noun: Option<&str>) -> bool {
    let words = tool_name_words(key);
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    let same = |word: &str, noun: &str| Lexicon::get().same_thing(&stem(word), noun);
    let is_id = IDS.contains(&last.as_str());
    let of_noun = |noun: &str| {
        let own = before.last().is_some_and(|word| same(word, noun));
        same(last, noun) || own && is_id
    };
    if noun.is_some_and(of_noun) {
        return true;
    }
    let said = call.said;
    // The id that a comment is added to is not the comment's.
    let makes = |verb: &&str| {
        let mut makes = ["create", "add"].iter();
        makes.any(|make| Lexicon::get().akin(verb, make))
    };
    if said.verbs.iter().any(makes) {
        return false;
    }
    let of_tool = noun.is_none_or(|noun| !said.has_object || said.shares(noun));
    let named = |word: &str| said.stems.iter().any(|stem| same(word, stem));
    let whole = noun.is_none() && before.is_empty() && named(last);
    of_tool && (whole || is_id && before.iter().all(|word| named(word)))
}

/// The values of a call that say which things of a name are meant.
pub(crate) fn identifying<'t>(call: &Call<'t>, noun: Option<&str>) -> Vec<&'t Value> {
    let fields = fields(call).into_iter();
    let own = fields.filter(|(key, _)| identifies(call, key, noun));
    own.map(|(_, value)| value).collect()
}

/// The paths that a call was given.
pub(crate) fn paths<'t>(call: &Call<'t>) -> Vec<&'t Value> {
    let fields = fields(call).into_iter();
    let own = fields.filter(|(key, _)| is_key(key, PATHS));
    own.map(|(_, value)| value)
        .filter(|value| value.as_str().is_some_and(is_path))
        .collect()
}

/// The values that a call was given of the kind of a detail.
pub(crate) fn of_kind<'t>(call: &Call<'t>, detail: &Detail, found: &Told<'_>) -> Vec<&'t Value> {
    let fields = fields(call);
    let given = |of_key: &dyn Fn(&str) -> bool, is: &dyn Fn(&Value) -> bool| {
        let mut values = Vec::new();
        for (_, value) in fields.iter().filter(|(key, _)| of_key(key)) {
            for_each_scalar(value, &mut |scalar| {
                if is(scalar) {
                    values.push(scalar);
                }
            });
        }
        values
    };
    let any = |_: &str| true;
    let text = |is: fn(&str) -> bool| move |value: &Value| value.as_str().is_some_and(is);
    let first = |values: Vec<&'t Value>, rest: &dyn Fn() -> Vec<&'t Value>| {
        if values.is_empty() { rest() } else { values }
    };
    match &detail.kind {
        Kind::Numbered(noun) => {
            let whole = |value: &Value| number(value).is_some_and(|number| number.fract() == 0.0);
            let own = given(&|key| identifies(call, key, Some(noun)), &whole);
            first(own, &|| given(&|key| names(key, noun), &whole))
        }
        Kind::Amount => given(&is_amount_key, &|value| number(value).is_some()),
        Kind::Count => given(&is_count_key, &|value| number(value).is_some()),
        Kind::NewNumber => {
            let noun = found.object.last();
            let of_noun = |key: &str| {
                noun.is_some_and(|noun| names(key, noun))
                    && !tool_name_words(key).iter().any(|word| word == "id")
            };
            let numbered = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            given(&of_noun, &text(numbered))
        }
        Kind::Mail => {
            let address = text(|text| people::address(text).is_some());
            let to = given(&|key| is_key(key, PEOPLE), &address);
            first(to, &|| given(&any, &address))
        }
        // *to Finance* may be any address, and so may x7@….
        Kind::Person if is_group(&detail.text) => Vec::new(),
        Kind::Person => given(&|key| is_key(key, PEOPLE), &text(people::names_somebody)),
        Kind::Path => given(&|key| is_key(key, PATHS), &text(is_path)),
        Kind::Url => {
            let of_url = |key: &str| is_key(key, &["href", "link", "uri", "url"]);
            given(&of_url, &text(|text| text.contains("://")))
        }
        Kind::Day => given(&any, &text(|text| iso_day(text).is_some())),
        Kind::Listed => Vec::new(),
    }
}

/// Whether a name may be of a group of people.
fn is_group(name: &str) -> bool {
    let lexicon = Lexicon::get();
    let name = lower(name);
    lexicon.lists("groups", &name)
        || lexicon.is(&name, crate::eval::narrative::words::marks::Mark::People)
}

pub(crate) fn is_path(text: &str) -> bool {
    let one_line = !text.contains(['\n', ' ', '*', '?']) && text.len() < 300;
    one_line && !text.contains("://") && (text.contains(['/', '\\']) || text.contains('.'))
}
