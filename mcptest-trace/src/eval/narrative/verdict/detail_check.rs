//! Whether calls have what a claim names besides identifiers, each detail against values of its own kind.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::trace::for_each_scalar;

use super::call_facts::CallFacts;
use super::detail_values::{
    PATHS, identifies, identifying, is_amount_key, is_count_key, is_key, is_path, of_kind, paths,
};
use super::people::{Whose, whose};
use crate::eval::narrative::calls::call::Call;
use crate::eval::narrative::calls::reported::parts;
use crate::eval::narrative::claims::sentence::Told;
use crate::eval::narrative::details::detail::{Detail, Kind};
use crate::eval::narrative::details::matching::{has, number};
use crate::eval::narrative::details::texts::amount;
use crate::eval::narrative::words::lexicon::{Lexicon, lower, stem};

/// What a claim names and the calls that would support it have otherwise.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Differs<'f> {
    /// One of a list has no call, or what was done was done to another: nothing supports the claim.
    Undone(&'f Detail),
    /// The calls have other values of its kind.
    Mismatch(&'f Detail, Vec<String>),
    /// What the calls have may be of whom is named, or not.
    Open(&'f Detail),
}

/// What a claim is compared with.
pub(crate) struct Compared<'f, 'c, 't> {
    pub(crate) found: &'f Told<'f>,
    /// All calls that may support the claim, and those for it that failed.
    pub(crate) done: &'c [&'c Call<'t>],
    pub(crate) vain: &'c [&'c Call<'t>],
    pub(crate) calls: &'c CallFacts<'t>,
    /// What else the message tells.
    pub(crate) others: &'c [&'c Told<'c>],
    /// Whether a tool that may do anything succeeded, so that its calls may have what no other call has.
    pub(crate) anything: bool,
}

/// Details of a claim, and other claims of a message, that are compared.
const COMPARED: usize = 16;
const OTHERS: usize = 256;

impl<'f> Compared<'f, '_, '_> {
    /// The first detail that differs from what these calls have.
    pub(crate) fn differs(&self) -> Option<Differs<'f>> {
        let Self { found, done, .. } = self;
        if done.is_empty() {
            return None;
        }
        let details = || found.details.iter().take(COMPARED);
        let same_kind = |detail: &Detail| {
            let mut same = details().filter(|other| other.kind == detail.kind);
            same.any(|other| self.carried(other))
        };
        for detail in details() {
            let given = done.iter().map(|call| others(call, detail, found));
            let given: Vec<Vec<String>> = given.collect();
            if given.iter().any(Vec::is_empty) || self.carried(detail) {
                continue;
            }
            let others = given.concat();
            // The number of a room, and the key of its record.
            let is_one = |value: &Value| has(value, detail);
            let is_undone = || self.is_undone(detail, &others);
            match &detail.kind {
                Kind::Numbered(_) | Kind::NewNumber if self.calls.pairs(&is_one, &others) => {}
                Kind::Path if self.anything => {}
                _ if detail.listed && detail.kind.is_thing() => {
                    return Some(Differs::Undone(detail));
                }
                // Another detail of the kind may be what the calls are about: *$5 of your $50 order*.
                _ if !detail.listed && same_kind(detail) => {}
                Kind::Numbered(_)
                    if !others.iter().any(|other| near_length(other, &detail.text)) => {}
                _ if detail.kind.is_thing() && is_undone() => {
                    return Some(Differs::Undone(detail));
                }
                Kind::Person if !sends(found) => {}
                Kind::Person => {
                    let given: Vec<&str> = others.iter().map(String::as_str).collect();
                    match whose(&detail.text, &given, done, self.calls) {
                        Whose::Theirs => {}
                        Whose::Others => return Some(Differs::Undone(detail)),
                        Whose::Open => return Some(Differs::Open(detail)),
                    }
                }
                Kind::NewNumber => return Some(Differs::Undone(detail)),
                _ => return Some(Differs::Mismatch(detail, others)),
            }
        }
        None
    }

    /// Whether what a detail names was not done, rather than told wrongly: the user asked for it, only a failed call
    /// has it, or the message tells of what the calls have beside it.
    fn is_undone(&self, detail: &Detail, others: &[String]) -> bool {
        let asked = || match &detail.kind {
            Kind::Mail | Kind::Path => self.calls.was_asked(&detail.text),
            Kind::Numbered(noun) => [" ", " #", " number "].iter().any(|joint| {
                let asked = format!("{noun}{joint}{}", detail.text);
                self.calls.was_asked(&asked)
            }),
            _ => false,
        };
        let failed = || {
            let mut vain = self.vain.iter();
            vain.any(|call| {
                of_kind(call, detail, self.found)
                    .iter()
                    .any(|value| has(value, detail))
            })
        };
        let told = |other: &String| self.is_told_of(other, &detail.kind);
        asked() || failed() || others.iter().all(told)
    }

    /// Whether another claim of the message names a value: *I cancelled order 7. I also cancelled order 8.*
    fn is_told_of(&self, value: &str, kind: &Kind) -> bool {
        let value = Value::from(value);
        let mut others = self.others.iter().take(OTHERS);
        others.any(|told| {
            let own = told.spoken == self.found.spoken && **told != *self.found;
            let mut details = told.details.iter().filter(|other| other.kind == *kind);
            own && details.any(|other| has(&value, other))
        })
    }

    /// Whether another claim of the message names one of these identifiers.
    pub(crate) fn are_told_of(&self, identifiers: &BTreeSet<&str>) -> bool {
        let own = |told: &&&Told<'_>| told.spoken == self.found.spoken && ***told != *self.found;
        identifiers.iter().all(|id| {
            let mut others = self.others.iter().take(OTHERS).filter(own);
            others.any(|told| told.identifiers.iter().any(|other| other == id))
        })
    }

    fn carried(&self, detail: &Detail) -> bool {
        let carries = |call: &&Call<'_>| carries(call, detail, self.found);
        self.done.iter().any(carries) || of_all(detail, self.done)
    }

    /// How many fewer things the calls were made for than the claim counts, each for one thing of its object: *both
    /// orders*. Nothing where they may have been as many.
    pub(crate) fn too_few(&self) -> Option<usize> {
        if let Some(few) = self.too_few_listed() {
            return Some(few);
        }
        let many = self.found.quantity.filter(|many| (2..=7).contains(many))?;
        let noun = self.found.object.last().map(String::as_str);
        if noun.is_none() && !self.asked_for_several() {
            return None;
        }
        let files = matches!(noun, Some("file" | "folder" | "directory" | "document"));
        let own = |call: &&Call<'_>| {
            let mut values = identifying(call, noun);
            if values.is_empty() && files && !self.anything {
                values = paths(call);
            }
            let of_one = |value: &&Value| {
                is_identifying(value) || files && value.as_str().is_some_and(|it| !it.contains(','))
            };
            match values.as_slice() {
                [value] if !is_batch(call, many) && of_one(value) => Some(value.to_string()),
                _ => None,
            }
        };
        let things: Option<BTreeSet<String>> = self.done.iter().map(own).collect();
        let things = things?.len();
        (1..many).contains(&things).then_some(things)
    }

    /// How many fewer things the lists that the calls were told have than the claim counts: *archived 12 messages*, by
    /// `archive_messages { ids: ["m0", "m1"] }`.
    fn too_few_listed(&self) -> Option<usize> {
        let many = self
            .found
            .quantity
            .filter(|many| (2..usize::MAX).contains(many))?;
        let noun = self.found.object.last()?;
        let own = |call: &&Call<'_>| listed(call, noun, many);
        let lists: Option<Vec<Vec<String>>> = self.done.iter().map(own).collect();
        let things: BTreeSet<String> = lists?.into_iter().flatten().collect();
        (1..many).contains(&things.len()).then_some(things.len())
    }

    /// Whether *both* alone may be of things that the tool is for: the user named several of them, or nothing.
    fn asked_for_several(&self) -> bool {
        let plural = |word: &&str| word.len() > 3 && stem(word) != lower(word);
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric());
            let several = words.filter(plural).map(|word| stem(word).into_owned());
            several.collect::<Vec<_>>()
        };
        let several: Vec<String> = self.calls.users_said().flat_map(words).collect();
        let of_tool = |word: &String| self.done.iter().any(|call| call.said.shares(word));
        several.is_empty() || several.iter().any(of_tool)
    }
}

/// What the one list names that says of a call which things of a name are meant. Nothing where its arguments or its
/// result may count them otherwise.
fn listed(call: &Call<'_>, noun: &str, many: usize) -> Option<Vec<String>> {
    let files = matches!(noun, "file" | "folder" | "directory" | "document");
    let own = |key: &str| identifies(call, key, Some(noun)) || files && is_key(key, PATHS);
    let mut lists = call
        .arguments()
        .filter(|(key, _)| own(key))
        .map(|(_, value)| value);
    let (list, None) = (lists.next()?, lists.next()) else {
        return None;
    };
    let items = match list {
        Value::Array(items) => items.clone(),
        Value::String(text) => text
            .split(',')
            .map(|part| Value::from(part.trim()))
            .collect(),
        other => vec![other.clone()],
    };
    let one = |item: &Value| match item {
        Value::Object(fields) => !fields.keys().any(|key| is_count_key(key)),
        Value::String(text) if files && is_key_of_file(text) => true,
        item => is_identifying(item),
    };
    let mut counted = false;
    for value in [Some(call.args()), call.result.map(|result| &**result)]
        .into_iter()
        .flatten()
    {
        for_each_scalar(value, &mut |scalar| {
            counted |= scalar.as_u64() == Some(many as u64)
                || scalar.as_str().is_some_and(|text| {
                    let mut words = text.split(|c: char| !c.is_alphanumeric());
                    words.any(|word| word.parse() == Ok(many))
                });
        });
    }
    let returned = call.result.map(|result| parts(result)).unwrap_or_default();
    let more = |part: &Value| {
        let mut fields = part.as_object().into_iter().flatten();
        let long = |value: &Value| value.as_array().is_some_and(|all| all.len() > items.len());
        long(part) || fields.any(|(_, value)| long(value))
    };
    counted |= returned.iter().any(|(part, _)| more(part));
    let plain = !counted && !items.is_empty() && items.iter().all(one);
    plain.then(|| items.iter().map(Value::to_string).collect())
}

fn is_key_of_file(text: &str) -> bool {
    is_path(text) && !text.ends_with(['/', '\\'])
}

/// Whether a call may be of several things: by a list, or by that number, in its arguments or its result.
fn is_batch(call: &Call<'_>, many: usize) -> bool {
    let number = |value: &Value| value.as_u64() == Some(many as u64);
    let told = |value: &Value| value.is_array() || number(value);
    let several = |part: &Value| {
        let mut fields = part.as_object().into_iter().flatten();
        part.is_array() || fields.any(|(_, value)| told(value) || value.is_object())
    };
    let returned = call.result.map(|result| parts(result)).unwrap_or_default();
    returned.iter().any(|(part, _)| several(part)) || call.arguments().any(|(_, value)| told(value))
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

/// Scalars, and letters of a text, that are looked through for a detail. What is larger may have any.
const LOOKED_THROUGH: usize = 1_000;
const READ: usize = 8_192;

/// Whether a call has a detail: among its values of that kind, or where it has none, anywhere in its arguments or its
/// result.
fn carries(call: &Call<'_>, detail: &Detail, found: &Told<'_>) -> bool {
    if detail.kind == Kind::Listed && call.carries(&lower(&detail.text))
        || told_otherwise(call, detail)
    {
        return true;
    }
    let own = of_kind(call, detail, found);
    if !own.is_empty() {
        return own.iter().any(|value| has(value, detail));
    }
    let values = [Some(call.args()), call.result.map(|result| &**result)];
    values.into_iter().flatten().any(|value| {
        let (mut seen, mut found) = (0, false);
        for_each_scalar(value, &mut |scalar| {
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
        Kind::Count => is(sum(is_count_key)) || detail.text.parse() == Ok(done.len()),
        Kind::Amount => is(sum(is_amount_key)),
        _ => false,
    }
}

/// The values that a call was given of the kind of a detail, as they are spelt.
fn others(call: &Call<'_>, detail: &Detail, found: &Told<'_>) -> Vec<String> {
    if detail.kind == Kind::Listed {
        let wanted = lower(&detail.text);
        return call.of_kind(&wanted).map(str::to_owned).collect();
    }
    let spelt = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    of_kind(call, detail, found)
        .into_iter()
        .map(spelt)
        .collect()
}
