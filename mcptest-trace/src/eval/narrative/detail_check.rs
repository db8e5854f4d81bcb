//! Whether calls have what a claim names besides identifiers, each detail against values of its own kind.

use serde_json::Value;

use crate::trace::{each_scalar, words_of_tool};

use super::super::whole::has_number;
use super::call::Call;
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

/// The first detail that differs. `known` says whether a text stands anywhere in the run.
pub(super) fn differs<'f>(
    found: &'f Told<'_>,
    done: &[&Call<'_>],
    known: impl Fn(&str) -> bool,
) -> Option<Differs<'f>> {
    if done.is_empty() {
        return None;
    }
    let carried =
        |detail: &Detail| done.iter().any(|call| carries(call, detail)) || of_all(detail, done);
    let off = |detail: &&Detail| {
        !carried(detail)
            && done
                .iter()
                .all(|call| !others(call, detail, found).is_empty())
    };
    let same_kind = |detail: &Detail| {
        let mut same = found
            .details
            .iter()
            .filter(|other| other.kind == detail.kind);
        same.any(carried)
    };
    for detail in found.details.iter().filter(off) {
        match detail.kind {
            Kind::Listed | Kind::Numbered(_) if detail.listed => {
                return Some(Differs::Undone(detail));
            }
            // Another detail of the kind may be what the calls are about: *$5 of your $50 order*.
            _ if same_kind(detail) => {}
            Kind::Person if !sends(found) || known(&detail.text) => {}
            Kind::Person | Kind::NewNumber => return Some(Differs::Undone(detail)),
            _ => {
                let recorded = done.iter().flat_map(|call| others(call, detail, found));
                return Some(Differs::Mismatch(detail, recorded.collect()));
            }
        }
    }
    None
}

/// Whether a claim tells that something was sent to somebody.
fn sends(found: &Told<'_>) -> bool {
    let tells = Lexicon::get().lists("tells-whom", found.spoken);
    tells || matches!(found.spoken, "send" | "forward" | "mail")
}

/// Whether fewer calls than the claim counts were made, each for one thing of its object: *both orders*.
pub(super) fn too_few(found: &Told<'_>, done: &[&Call<'_>]) -> bool {
    let counted = found.quantity.filter(|many| (2..=7).contains(many));
    let (Some(many), Some(noun)) = (counted, found.object.last()) else {
        return false;
    };
    let own = |call: &&Call<'_>| {
        let keys = call.arguments().filter(|(key, _)| names(key, noun));
        let values: Vec<&Value> = keys.map(|(_, value)| value).collect();
        let batch = call
            .arguments()
            .any(|(_, value)| value.is_array() || value.is_object());
        match values.as_slice() {
            [value] if !batch && !value.is_null() => Some(value.to_string()),
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

/// Whether a key is of things of this name: `order`, `order_id` of orders; but for the object's own noun, an
/// `id` says nothing.
fn names(key: &str, noun: &str) -> bool {
    let words = words_of_tool(key);
    let mut words = words.iter();
    words.any(|word| Lexicon::get().same_thing(&stem(word), noun))
}

/// Whether a call has a detail, in its arguments or its result, however it is spelt.
fn carries(call: &Call<'_>, detail: &Detail) -> bool {
    let values = [Some(call.args()), call.result.map(|result| &**result)];
    let has = |scalar: &Value| {
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
                text.contains(&name) || name.ends_with(&format!("/{text}")) || name == text
            }),
            Kind::Url => text.is_some_and(|text| bare(text).contains(bare(&detail.text))),
            Kind::Listed | Kind::Mail | Kind::Person => {
                text.is_some_and(|text| lower(text).contains(&*lower(&detail.text)))
            }
        }
    };
    let by_identifier = detail.kind == Kind::Listed && call.carries(&lower(&detail.text));
    let mut found_it = by_identifier || told_otherwise(call, detail);
    for value in values.into_iter().flatten() {
        each_scalar(value, &mut |scalar| found_it |= has(scalar));
    }
    found_it
}

/// Whether what a call was told may stand for a detail that it does not spell: a list of so many, or a flag for
/// all of them.
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
    "amount", "balance", "budget", "charge", "cost", "credit", "fee", "payment", "price", "refund",
    "sum", "tip", "total",
];
const COUNTS: &[&str] = &[
    "copies", "count", "number", "pieces", "qty", "quantity", "units",
];
/// Words of keys of those to whom something is sent.
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
            Kind::Numbered(noun) => names(key, noun) || key == "id",
            Kind::Amount => is_amount_key(key),
            Kind::Count => is_key(key, COUNTS),
            Kind::NewNumber => found.object.last().is_some_and(|noun| names(key, noun)),
            Kind::Person => is_key(key, PEOPLE),
            _ => true,
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
                // *to Finance* may be any address.
                Kind::Person => is_address(text) && !is_group(&detail.text),
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
        .is_some_and(|(one, other)| near(one, other) || near(one, other * 100.0))
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
