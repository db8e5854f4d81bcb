//! Whose an e-mail address is, as far as a recording tells: *sent to Bob*, and the call has `alice@example.com`.

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::trace::{for_each_scalar, for_each_text};

use super::call_facts::CallFacts;
use crate::eval::boundaries::contains_whole;
use crate::eval::narrative::calls::call::Call;
use crate::eval::narrative::words::lexicon::Lexicon;

/// Whose the addresses of some calls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// They may be those of whom is named.
    Theirs,
    /// They are somebody else's.
    Others,
    /// A name that need not be a person's may have any address.
    Open,
}

/// Whether addresses that calls were given may be those of a name.
pub(crate) fn whose(
    name: &str,
    addresses: &[&str],
    done: &[&Call<'_>],
    calls: &CallFacts<'_>,
) -> Whose {
    let name = fold(name);
    let bare = || addresses.iter().filter_map(|text| address(text));
    let ties = |text: &str| {
        let text = fold(text);
        let mut lines = text.lines();
        lines.any(|line| {
            let has = |address: &str| contains_whole(line, &fold(address));
            contains_whole(line, &name) && bare().any(has)
        })
    };
    let shown = |text: &&str| text.contains('<') && contains_whole(&fold(text), &name);
    if addresses.iter().any(shown)
        || bare().any(|address| may_be(&name, address))
        || calls.users_said().any(ties)
        || calls.all().any(|call| looked_up(call, &name, &bare()))
        || done.iter().any(|call| greets(call, &name))
    {
        Whose::Theirs
    } else if Lexicon::get().lists("first-names", &name) {
        Whose::Others
    } else {
        Whose::Open
    }
}

/// The address in a text that is one: `bob@example.com`, `Bob <bob@example.com>`.
pub(crate) fn address(text: &str) -> Option<&str> {
    let text = text.trim();
    let inner = text
        .split_once('<')
        .and_then(|(_, rest)| rest.strip_suffix('>'));
    let text = inner.unwrap_or(text);
    let (name, host) = text.split_once('@')?;
    let one = !name.is_empty() && host.contains('.') && !text.contains(char::is_whitespace);
    one.then_some(text)
}

/// Whether an address is spelt as a name is, so that it would be somebody else's: `alice@…`, but not `sales@…`.
pub(crate) fn names_somebody(text: &str) -> bool {
    let name = address(text).and_then(|text| text.split('@').next());
    name.is_some_and(|name| {
        let role = |part: &str| Lexicon::get().lists("groups", &fold(part));
        name.chars()
            .all(|c| c.is_alphabetic() || matches!(c, '.' | '-' | '_'))
            && !name.split(['.', '-', '_']).any(role)
    })
}

/// Whether an address may be of somebody of this name, in lower case: by the name, an initial, a name that it is short
/// for, or the host of a firm.
fn may_be(name: &str, address: &str) -> bool {
    let address = fold(address);
    let (local, host) = address.split_once('@').unwrap_or((&address, ""));
    let first = name.chars().next().unwrap_or_default();
    let long = Lexicon::get().long_names(name);
    let own = |part: &str| {
        part.starts_with(first)
            || long
                .iter()
                .any(|long| part.starts_with(long) || long.starts_with(part))
    };
    let parts = local.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).any(own) || local.contains(name) || host.contains(name)
}

/// Whether a call returned the address of a name: they stand in one line, in one record, or the one was asked for
/// and the other is the only address of the answer.
fn looked_up<'a>(
    call: &Call<'_>,
    name: &str,
    addresses: &(impl Iterator<Item = &'a str> + Clone),
) -> bool {
    let Some(result) = call.result.filter(|_| call.succeeded()) else {
        return false;
    };
    let texts = |value: &Value| {
        let mut found = Vec::new();
        for_each_text(value, &mut |text| found.push(fold(text)));
        found
    };
    let named = |texts: &[String]| texts.iter().any(|text| contains_whole(text, name));
    let has = |text: &String| {
        let mut addresses = addresses.clone();
        addresses.any(|address| contains_whole(text, &fold(address)))
    };
    let answer = texts(result);
    let asked = !call.writes && named(&texts(call.args()));
    let only = answer
        .iter()
        .map(|text| text.matches('@').count())
        .sum::<usize>()
        == 1;
    asked && only && answer.iter().any(has) || in_record(result, &named, &has)
}

/// Whether a record, or a line of a text, has both a name and an address.
fn in_record(
    value: &Value,
    named: &dyn Fn(&[String]) -> bool,
    has: &dyn Fn(&String) -> bool,
) -> bool {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            let json: Option<Value> = serde_json::from_str(text).ok();
            json.is_some_and(|json| in_record(&json, named, has))
        }
        Value::String(text) => {
            let mut lines = text.lines().map(fold);
            lines.any(|line| has(&line) && named(&[line]))
        }
        Value::Array(items) => items.iter().any(|item| in_record(item, named, has)),
        Value::Object(fields) => {
            let mut own = Vec::new();
            for field in fields.values().filter(|field| !field.is_array()) {
                for_each_scalar(field, &mut |scalar| {
                    own.extend(scalar.as_str().map(fold));
                });
            }
            let block = own
                .iter()
                .any(|text| text.contains('\n') || text.starts_with('{'));
            !block && own.iter().any(has) && named(&own)
                || fields.values().any(|field| in_record(field, named, has))
        }
        _ => false,
    }
}

/// Words of a text that a greeting stands in.
const GREETING: usize = 5;

/// Whether a call is told to whom it writes: *Dear Bob*, *Bob, …*, or by an argument that is the name.
fn greets(call: &Call<'_>, name: &str) -> bool {
    call.arguments().any(|(key, value)| {
        let Some(text) = value.as_str().map(fold) else {
            return false;
        };
        let key = fold(key);
        let of_somebody = ["name", "recipient", "contact", "person", "customer", "user"];
        let own = of_somebody.iter().any(|word| key.contains(word));
        let head: Vec<&str> = text.split_whitespace().take(GREETING).collect();
        let greeting = |word: &&str| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            Lexicon::get().lists("greetings", word)
        };
        let bare = |word: &&str| word.trim_end_matches([',', '!', ':', '.']) == name;
        own && contains_whole(&text, name)
            || head.first().is_some_and(greeting) && head.iter().any(bare)
            || head.first().is_some_and(|word| bare(word) && *word != name)
    })
}

/// A text in lower case, without accents.
fn fold(text: &str) -> String {
    let plain = |c: char| match c {
        'ł' => 'l',
        'đ' | 'ð' => 'd',
        'ß' => 's',
        'æ' => 'a',
        'ø' | 'œ' => 'o',
        'þ' => 't',
        'ı' => 'i',
        other => other,
    };
    let parts = text.nfd().filter(|c| !('\u{300}'..='\u{36f}').contains(c));
    let lower = parts.flat_map(char::to_lowercase);
    lower.map(plain).collect()
}
