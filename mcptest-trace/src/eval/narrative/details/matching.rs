//! Whether a value has what a claim names, however each spells it.

use serde_json::Value;

use super::detail::{Detail, Kind};
use super::reader::iso_day;
use super::texts::amount;
use crate::eval::boundaries::{contains_number, contains_whole};
use crate::eval::narrative::words::lexicon::lower;

/// Whether a value has a detail, however it is spelt.
pub(crate) fn has(scalar: &Value, detail: &Detail) -> bool {
    let text = scalar.as_str();
    match &detail.kind {
        Kind::Numbered(_) | Kind::Count | Kind::NewNumber => match text {
            Some(text) => {
                let wanted = serde_json::from_str(&detail.text).unwrap_or_default();
                contains_number(text, &wanted, &detail.text) || spells(text, &detail.text)
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
            contains_whole(&text, name) || name.ends_with(&format!("/{text}")) || name == text
        }),
        Kind::Url => text.is_some_and(|text| {
            let (text, wanted) = (bare(text), bare(&detail.text));
            contains_whole(&text, &wanted) || !text.is_empty() && wanted.starts_with(&text)
        }),
        Kind::Mail => text.is_some_and(|text| contains_whole(&lower(text), &lower(&detail.text))),
        Kind::Listed | Kind::Person => {
            text.is_some_and(|text| lower(text).contains(&*lower(&detail.text)))
        }
    }
}

pub(crate) fn number(value: &Value) -> Option<f64> {
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

/// An address without its scheme, `www.` and a slash at its end.
fn bare(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = lower(rest.trim_end_matches('/'));
    rest.strip_prefix("www.").unwrap_or(&rest).to_owned()
}
