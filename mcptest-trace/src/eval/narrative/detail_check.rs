//! Whether calls have what a claim names besides identifiers, each detail against values of its own kind.

use serde_json::Value;

use crate::trace::{each_scalar, words_of_tool};

use super::super::whole::{has_number, stands_whole};
use super::call::Call;
use super::calls::CallFacts;
use super::details::{Detail, Kind, amount, iso_day};
use super::lexicon::{Lexicon, lower, stem};
use super::marks::Mark;
use super::sentence::Told;

/// What a claim names and the calls that would support it have otherwise.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Differs<'f> {
    /// One of a list has no call, or what was done was done to another: nothing supports the claim.
    Undone(&'f Detail),
    /// The calls have other values of its kind.
    Mismatch(&'f Detail, Vec<String>),
}

/// Details of a claim that are compared.
const COMPARED: usize = 16;

/// The first detail that differs from what these calls have; all calls that may support the claim.
pub(super) fn differs<'f>(
    found: &'f Told<'_>,
    done: &[&Call<'_>],
    calls: &CallFacts<'_>,
) -> Option<Differs<'f>> {
    if done.is_empty() {
        return None;
    }
    let carried =
        |detail: &Detail| done.iter().any(|call| carries(call, detail)) || of_all(detail, done);
    let details = || found.details.iter().take(COMPARED);
    let same_kind = |detail: &Detail| {
        let mut same = details().filter(|other| other.kind == detail.kind);
        same.any(carried)
    };
    for detail in details() {
        let others: Vec<Vec<String>> = done
            .iter()
            .map(|call| others(call, detail, found))
            .collect();
        if others.iter().any(Vec::is_empty) || carried(detail) {
            continue;
        }
        let others = others.concat();
        // The number of a room, and the key of its record.
        let is_one = |value: &Value| has(value, detail);
        match &detail.kind {
            Kind::Numbered(_) | Kind::NewNumber if calls.pairs(&is_one, &others) => {}
            Kind::Listed | Kind::Numbered(_) if detail.listed => {
                return Some(Differs::Undone(detail));
            }
            // Another detail of the kind may be what the calls are about: *$5 of your $50 order*.
            _ if !detail.listed && same_kind(detail) => {}
            Kind::Numbered(_) if !others.iter().any(|other| near_length(other, &detail.text)) => {}
            Kind::Person if !sends(found) || calls.tells(&detail.text) => {}
            Kind::Person | Kind::NewNumber => return Some(Differs::Undone(detail)),
            // The user asked for this one, and another was done.
            Kind::Mail | Kind::Path if calls.was_asked(&detail.text) => {
                return Some(Differs::Undone(detail));
            }
            Kind::Numbered(noun)
                if [" ", " #", " number "]
                    .iter()
                    .any(|joint| calls.was_asked(&format!("{noun}{joint}{}", detail.text))) =>
            {
                return Some(Differs::Undone(detail));
            }
            _ => return Some(Differs::Mismatch(detail, others)),
        }
    }
    None
}

/// Whether two numbers may count the same things: *issue 42* is not the record 99123.
fn near_length(one: &str, other: &str) -> bool {
    one.len().abs_diff(other.len()) <= 1
}

/// Whether a claim tells that a message was sent to somebody.
fn sends(found: &Told<'_>) -> bool {
    let lexicon = Lexicon::get();
    let tells = lexicon.lists("tells-whom", found.spoken);
    let sent = matches!(found.spoken, "send" | "forward" | "mail");
    let head = found.object.last().map_or("", String::as_str);
    let message = matches!(
        head,
        "e-mail" | "email" | "mail" | "message" | "note" | "reminder" | "letter"
    );
    tells || sent && message
}

/// Whether fewer calls than the claim counts were made, each for one thing of its object: *both orders*.
pub(super) fn too_few(found: &Told<'_>, done: &[&Call<'_>]) -> bool {
    let counted = found.quantity.filter(|many| (2..=7).contains(many));
    let (Some(many), Some(noun)) = (counted, found.object.last()) else {
        return false;
    };
    let own = |call: &&Call<'_>| {
        let keys = call.arguments().filter(|(key, _)| identifies(key, noun));
        let values: Vec<&Value> = keys.map(|(_, value)| value).collect();
        let batch = |value: &Value| {
            value.is_array() || value.is_object() || value.as_u64() == Some(many as u64)
        };
        let mut given = call
            .result
            .map(|result| &**result)
            .into_iter()
            .chain([call.args()]);
        let is_batch = given.any(|value| {
            value
                .as_object()
                .into_iter()
                .flatten()
                .any(|(_, value)| batch(value))
        });
        match values.as_slice() {
            [value] if !is_batch && is_identifying(value) => Some(value.to_string()),
            _ => None,
        }
    };
    let things: Option<Vec<String>> = done.iter().map(own).collect();
    things.is_some_and(|mut things| {
        things.sort_unstable();
        things.dedup();
        !things.is_empty() && things.len() < many
    })
}

/// Whether a key is of things of this name: `order`, `order_id` of orders.
fn names(key: &str, noun: &str) -> bool {
    let words = words_of_tool(key);
    let mut words = words.iter();
    words.any(|word| Lexicon::get().same_thing(&stem(word), noun))
}

/// Whether a key holds which one thing of this name is meant: `order`, `order_id`, `order_number`; but not `orders`,
/// `order_type`.
fn identifies(key: &str, noun: &str) -> bool {
    let words = words_of_tool(key);
    let (last, before) = words
        .split_last()
        .map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let is_noun = |word: &str| *stem(word) == *word && Lexicon::get().same_thing(word, noun);
    let of_noun = before.last().is_some_and(|word| is_noun(word));
    is_noun(last)
        || of_noun
            && matches!(
                last,
                "id" | "number" | "no" | "code" | "key" | "ref" | "reference"
            )
}

/// Whether a value is one thing's number or code: not a list in a text, nor a pattern or a name.
fn is_identifying(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::String(text) => {
            text.chars().any(|c| c.is_ascii_digit())
                && !text.contains([',', ';', ' ', '*', '?', '@'])
        }
        _ => false,
    }
}

/// Whether a value has a detail, however it is spelt.
fn has(scalar: &Value, detail: &Detail) -> bool {
    let text = scalar.as_str();
    match &detail.kind {
        Kind::Numbered(_) | Kind::Count | Kind::NewNumber => match text {
            Some(text) => {
                let wanted = serde_json::from_str(&detail.text).unwrap_or_default();
                has_number(text, &wanted, &detail.text) || spells(text, &detail.text)
            }
            None => same_number(scalar, &detail.text),
        },
        Kind::Amount => match text {
            Some(text) => amounts(text, &detail.text),
            None => same_amount(scalar, &detail.text),
        },
        Kind::Day => text.is_some_and(|text| has_day(text, &detail.text)),
        Kind::Path => text.is_some_and(|text| {
            let (text, name) = (text.replace('\\', "/"), detail.text.replace('\\', "/"));
            let name = name.trim_start_matches("~/").trim_start_matches("./");
            stands_whole(&text, name) || name.ends_with(&format!("/{text}")) || name == text
        }),
        Kind::Url => text.is_some_and(|text| {
            let (text, wanted) = (bare(text), bare(&detail.text));
            stands_whole(text, wanted) || !text.is_empty() && wanted.starts_with(text)
        }),
        Kind::Mail => text.is_some_and(|text| stands_whole(&lower(text), &lower(&detail.text))),
        Kind::Listed | Kind::Person => {
            text.is_some_and(|text| lower(text).contains(&*lower(&detail.text)))
        }
    }
}

/// Scalars, and letters of a text, that are looked through for a detail. What is larger may have any.
const LOOKED_THROUGH: usize = 1_000;
const READ: usize = 8_192;

/// Whether a call has a detail, in its arguments or its result.
fn carries(call: &Call<'_>, detail: &Detail) -> bool {
    if detail.kind == Kind::Listed && call.carries(&lower(&detail.text))
        || told_otherwise(call, detail)
    {
        return true;
    }
    let values = [Some(call.args()), call.result.map(|result| &**result)];
    values.into_iter().flatten().any(|value| {
        let (mut seen, mut found) = (0, false);
        each_scalar(value, &mut |scalar| {
            seen += 1;
            let long = scalar.as_str().is_some_and(|text| text.len() > READ);
            found |= !found && (long || seen > LOOKED_THROUGH || has(scalar, detail));
        });
        found
    })
}

/// Whether what a call was told may stand for a count that it does not spell: a list of so many.
fn told_otherwise(call: &Call<'_>, detail: &Detail) -> bool {
    let many: Option<usize> = detail.text.parse().ok();
    let counts = |value: &Value| value.as_array().map(Vec::len) == many;
    detail.kind == Kind::Count && call.arguments().any(|(_, value)| counts(value))
}

/// Whether all calls together have what is told of them: their number, or the sum of their amounts.
fn of_all(detail: &Detail, done: &[&Call<'_>]) -> bool {
    let wanted = amount(&detail.text);
    let sum = |keys: fn(&str) -> bool| {
        let numbers = done.iter().flat_map(|call| call.arguments());
        let numbers = numbers
            .filter(|(key, _)| keys(key))
            .filter_map(|(_, value)| number(value));
        numbers.sum::<f64>()
    };
    let is = |sum: f64| wanted.is_some_and(|wanted| (wanted - sum).abs() < 0.005);
    match detail.kind {
        Kind::Count => is(sum(|key| is_key(key, COUNTS))) || detail.text.parse() == Ok(done.len()),
        Kind::Amount => is(sum(is_amount_key)),
        _ => false,
    }
}

/// Words of keys of amounts, and of numbers of things.
const AMOUNTS: &[&str] = &[
    "amount", "charge", "credit", "fee", "payment", "refund", "sum", "tip",
];
const COUNTS: &[&str] = &["copies", "count", "pieces", "qty", "quantity", "units"];
/// Words of keys of those to whom something is sent.
const PATHS: &[&str] = &[
    "destination",
    "file",
    "filename",
    "from",
    "path",
    "source",
    "target",
    "to",
];
const PEOPLE: &[&str] = &["address", "email", "recipient", "recipients", "to"];

fn is_key(key: &str, words: &[&str]) -> bool {
    words_of_tool(key)
        .iter()
        .any(|word| words.contains(&word.as_str()))
}

/// Whether a key is of an amount of money: `refund_amount`, but not `gb_amount`.
fn is_amount_key(key: &str) -> bool {
    const BESIDE: [&str; 12] = [
        "cents", "discount", "dollars", "eur", "gbp", "gross", "in", "net", "new", "order", "usd",
        "value",
    ];
    let beside =
        |word: &String| BESIDE.contains(&word.as_str()) || AMOUNTS.contains(&word.as_str());
    is_key(key, AMOUNTS) && words_of_tool(key).iter().all(beside)
}

/// The values that a call was given of the kind of a detail.
fn others(call: &Call<'_>, detail: &Detail, found: &Told<'_>) -> Vec<String> {
    if detail.kind == Kind::Listed {
        return call
            .of_kind(&lower(&detail.text))
            .map(str::to_owned)
            .collect();
    }
    let mut others = Vec::new();
    for (key, value) in call.arguments() {
        let of_key = match &detail.kind {
            Kind::Numbered(noun) => names(key, noun),
            Kind::Amount => is_amount_key(key),
            Kind::Count => is_key(key, COUNTS),
            Kind::NewNumber => {
                let noun = found.object.last();
                noun.is_some_and(|noun| names(key, noun))
                    && !words_of_tool(key).iter().any(|word| word == "id")
            }
            Kind::Person => is_key(key, PEOPLE),
            Kind::Path => is_key(key, PATHS),
            Kind::Url => is_key(key, &["href", "link", "uri", "url"]),
            Kind::Listed | Kind::Mail | Kind::Day => true,
        };
        if !of_key {
            continue;
        }
        each_scalar(value, &mut |scalar| {
            let text = scalar.as_str().unwrap_or_default();
            let is = match detail.kind {
                Kind::Numbered(_) => number(scalar).is_some_and(|number| number.fract() == 0.0),
                Kind::Amount | Kind::Count => number(scalar).is_some(),
                Kind::Mail => is_address(text),
                // *to Finance* may be any address, and so may x7@….
                Kind::Person => is_address(text) && names_somebody(text) && !is_group(&detail.text),
                Kind::Url => text.contains("://"),
                Kind::Path => is_path(text),
                Kind::Day => iso_day(text).is_some(),
                Kind::NewNumber => text.starts_with(|c: char| c.is_ascii_digit()),
                Kind::Listed => false,
            };
            if is {
                others.push(
                    scalar
                        .as_str()
                        .map_or_else(|| scalar.to_string(), str::to_owned),
                );
            }
        });
    }
    others
}

/// Whether a name may be of a group of people.
fn is_group(name: &str) -> bool {
    let lexicon = Lexicon::get();
    let name = lower(name);
    lexicon.lists("groups", &name) || lexicon.is(&name, Mark::People)
}

/// Whether an address is spelt as a name is, so that it would be somebody else's: `alice@…`.
fn names_somebody(address: &str) -> bool {
    let name = address.split('@').next().unwrap_or_default();
    name.chars().all(|c| c.is_alphabetic() || c == '.')
}

fn is_address(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !text.contains(' '))
}

fn is_path(text: &str) -> bool {
    let one_line = !text.contains(['\n', ' ']) && text.len() < 300;
    one_line && !text.contains("://") && (text.contains(['/', '\\']) || text.contains('.'))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| amount(value.as_str()?.trim()))
}

fn same_number(scalar: &Value, text: &str) -> bool {
    number(scalar)
        .zip(text.parse().ok())
        .is_some_and(|(one, other): (f64, f64)| (one - other).abs() < 1e-9)
}

/// Whether two texts spell one number: `7` and `007`.
fn spells(text: &str, wanted: &str) -> bool {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits && text.trim_start_matches('0') == wanted.trim_start_matches('0')
}

/// Whether a number is an amount, in its unit or in hundredths of it, taken or given.
fn same_amount(scalar: &Value, text: &str) -> bool {
    let near = |one: f64, other: f64| (one.abs() - other.abs()).abs() < 0.005;
    number(scalar)
        .zip(amount(text))
        .is_some_and(|(one, other)| {
            near(one, other) || !scalar.is_f64() && near(one, other * 100.0)
        })
}

/// Whether an amount stands in a text.
fn amounts(text: &str, wanted: &str) -> bool {
    let mut tokens = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    tokens.any(|token| {
        let token = token.trim_matches(['.', ',']);
        !token.is_empty() && same_amount(&Value::from(token), wanted)
    })
}

/// Whether a day stands in a text; at a time of day it may be the next one elsewhere.
fn has_day(text: &str, wanted: &str) -> bool {
    let Some(day) = iso_day(text) else {
        return text.contains(wanted);
    };
    let number = |day: &str| {
        day.split_once('-').and_then(|(month, day)| {
            let (month, day): (u32, u32) = (month.parse().ok()?, day.parse().ok()?);
            Some(month * 31 + day)
        })
    };
    let timed = text.len() > 10;
    day == wanted
        || timed
            && number(day)
                .zip(number(wanted))
                .is_some_and(|(one, other)| one.abs_diff(other) <= 1)
}

/// An address without its scheme and a slash at its end.
fn bare(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.trim_end_matches('/')
}
