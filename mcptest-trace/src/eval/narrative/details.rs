//! What a claim names besides identifiers: numbers after their noun, addresses, paths, amounts, dates, counts.
//! Here they are found in a sentence; `detail_check` compares them with calls.

use std::ops::Range;

use super::detail_numbers::{self, numbers, with_list};
use super::lexicon::{Lexicon, lower};
use super::list::OBJECT;
use super::marks::{Mark, Marks, of};
use super::token::{Token, TokenQueries};
use crate::eval::months;

/// What a claim names, as it is spelt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Detail {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// Whether others of its kind stand beside it in a list: *orders 7 and 8*.
    pub(super) listed: bool,
}

/// What a detail is; it is compared with nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A number after its noun, which is in the singular: *order 8*.
    Numbered(String),
    /// An identifier in a list.
    Listed,
    Mail,
    Url,
    /// A path to a file.
    Path,
    /// An amount of money.
    Amount,
    /// A day: *May 3*, *2024-05-03*.
    Day,
    /// How many: *2 units*.
    Count,
    /// The first number of what something was changed to: *to 5 Elm Street*.
    NewNumber,
    /// Somebody to whom something was sent, by one name: *to Bob*.
    Person,
}

impl Kind {
    /// Whether it names one of several things to which a claim is done.
    pub(super) fn is_thing(&self) -> bool {
        matches!(
            self,
            Self::Numbered(_) | Self::Listed | Self::Mail | Self::Path
        )
    }
}

/// Finds what a claim names in its object and in what follows its verb. `text` is the document's.
pub(super) fn find(
    words: &[Token<'_>],
    text: &str,
    object: &Range<usize>,
    verb: usize,
) -> Vec<Detail> {
    let ends = of![Parts Comma Ours Finite Relative Condition Negative Presupposed];
    let after = verb + 1..words.until(verb + 1, OBJECT, ends);
    let own = if object.start > verb {
        verb + 1..object.end.max(after.end)
    } else {
        object.clone()
    };
    let own = own.start..with_list(words, own.start, own.end);
    let mut found = numbers(words, own.clone());
    let mut ranges = vec![own];
    if object.start <= verb {
        let after = after.start..with_list(words, after.start, after.end);
        found.extend(numbers(words, after.clone()));
        ranges.push(after);
    }
    for range in ranges {
        found.extend(texts(words, text, &range));
        found.extend(days(words, &range));
        found.extend(targets(words, text, &range));
    }
    found.extend(count(words, verb));
    found
}

/// What an entry of a list under a claim names: *Order 7*, *W12*, *src/a.rs*; `noun` is the claim's.
pub(super) fn of_entry(words: &[Token<'_>], text: &str, noun: Option<&String>) -> Option<Detail> {
    let first = words.iter().find(|word| !word.is(Mark::Sign))?;
    let word = text[first.range.start..].split_whitespace().next();
    let bare = word.map(|word| word.trim_matches(AROUND).trim_end_matches(['.', ',']));
    let path = bare.filter(|bare| kind_of(bare) == Some(Kind::Path));
    let of_path = path.map(|path| Detail {
        kind: Kind::Path,
        text: path.to_owned(),
        listed: true,
    });
    of_path.or_else(|| detail_numbers::of_entry(words, noun))
}

/// Signs around a word.
const AROUND: [char; 20] = [
    '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?', '"', '\'', '`', '*', '“', '”',
    '’',
];

/// Addresses, paths and amounts, by how they are spelt.
fn texts(words: &[Token<'_>], text: &str, range: &Range<usize>) -> Vec<Detail> {
    let (Some(first), Some(last)) = (words.get(range.start), words.get(range.end.wrapping_sub(1)))
    else {
        return Vec::new();
    };
    if last.range.end <= first.range.start {
        return Vec::new();
    }
    let whole = &text[first.range.start..];
    let length = last.range.end - first.range.start;
    let more = whole[length..]
        .find(char::is_whitespace)
        .unwrap_or(whole.len() - length);
    let mut found: Vec<Detail> = Vec::new();
    let mut all: Vec<&str> = whole[..length + more].split_whitespace().collect();
    // A list of paths goes on behind the signs in them: *a/b.rs and a/c.rs*.
    let mut rest = whole[length + more..].split_whitespace();
    while let Some(next) = rest.next() {
        let item = if next == "and" {
            rest.next()
        } else {
            Some(next)
        };
        let goes_on = next == "and" || all.last().is_some_and(|last| last.ends_with(','));
        let item = item
            .filter(|item| goes_on && kind_of(item.trim_end_matches([',', '.', ';'])).is_some());
        let Some(item) = item else {
            break;
        };
        all.extend(
            [next]
                .into_iter()
                .filter(|next| *next == "and")
                .chain([item]),
        );
    }
    for (at, word) in all.iter().enumerate() {
        let bare = word.trim_matches(AROUND);
        let bare = bare.trim_end_matches(['.', ',']);
        let Some(kind) = kind_of(bare) else {
            continue;
        };
        let before = at
            .checked_sub(1)
            .map_or(String::new(), |at| lower(all[at]).into_owned());
        let before = before.trim_end_matches([',', ':']);
        let next = all.get(at + 1).map_or("", |next| next.trim_matches(','));
        // *a.rs and b.rs*, *a.rs, b.rs*
        let joined = at.checked_sub(1).is_some_and(|at| all[at].ends_with(',')) || before == "and";
        let listed = joined && found.last().is_some_and(|last| last.kind == kind);
        let told = match kind {
            // *the $50 deposit*, *from $50 to $45*, *half of your $50*
            Kind::Amount => {
                let ends = word.ends_with(['.', ',', ';', '!', '?', ')', ':']) || next.is_empty();
                let goes_on = matches!(
                    next,
                    "and" | "at" | "back" | "by" | "for" | "from" | "in" | "into" | "on" | "to"
                );
                (ends || goes_on) && !matches!(before, "from" | "of" | "less" | "minus" | "your")
            }
            Kind::Mail => matches!(before, "to" | "at" | "address") || listed,
            Kind::Url => matches!(before, "" | "at" | "to" | "link" | "url" | "page") || listed,
            // Right after the verb, or its noun: *deleted a/b.rs*, *the file a/b.rs*, *to a/b.rs*
            _ => {
                matches!(before, "the" | "a" | "file" | "files" | "at" | "to" | "")
                    && !verb_to(&all, at)
                    || listed
            }
        };
        let text = bare.to_owned();
        if told {
            if let Some(last) = found.last_mut().filter(|_| listed) {
                last.listed = true;
            }
            found.push(Detail { kind, text, listed });
        }
    }
    found
}

/// Whether a word stands behind a verb of its own: *updated the page to match a/b.md* names no page.
fn verb_to(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(2).map(|at| lower(words[at]).into_owned());
    before.is_some_and(|word| word == "to")
}

/// What a word is by how it is spelt.
fn kind_of(word: &str) -> Option<Kind> {
    if word.contains("://") {
        Some(Kind::Url)
    } else if is_mail(word) {
        Some(Kind::Mail)
    } else if is_path(word) {
        Some(Kind::Path)
    } else {
        is_amount(word).then_some(Kind::Amount)
    }
}

fn is_mail(word: &str) -> bool {
    let parts = word.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

/// Whether a word is a path, or the name of a file: *src/a.rs*, *a.rs*, but not *Node.js*.
fn is_path(word: &str) -> bool {
    let Some((folder, name)) = word.rsplit_once('/') else {
        let (name, ending) = word.rsplit_once('.').unwrap_or_default();
        let product = ending == "js" && name.starts_with(char::is_uppercase);
        let plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || "._-".contains(c));
        let file = !name.is_empty() && plain && !product;
        return file && Lexicon::get().lists("file-endings", ending);
    };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let letters =
        (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    // *Node.js/Express.js* are two things.
    let plain = |part: &str| part.trim_start_matches('.').split('.').count() < 2;
    letters
        && ending.chars().any(char::is_alphabetic)
        && folder.split('/').all(plain)
        && !word.starts_with("//")
}

fn is_amount(word: &str) -> bool {
    let number = word
        .trim_start_matches(['-', '+'])
        .strip_prefix(['$', '€', '£']);
    number.is_some_and(|number| amount(number).is_some())
}

/// The number that an amount is, thousands set apart or not.
pub(super) fn amount(text: &str) -> Option<f64> {
    let digits = text.trim_matches(|c: char| matches!(c, '$' | '€' | '£' | '+'));
    // *12,50*, *1.234,50*
    let cents = digits
        .rsplit_once(',')
        .filter(|(_, cents)| cents.len() == 2);
    let digits = match cents {
        Some((whole, cents)) => format!("{}.{cents}", whole.replace('.', "")),
        None => digits.replace(',', ""),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    plain.then(|| digits.parse().ok()).flatten()
}

/// The month that a word names, from 1.
fn month(word: &str) -> Option<usize> {
    months::of(word.trim_end_matches('.'))
}

/// The days that are named, as `05-03`.
fn days(words: &[Token<'_>], range: &Range<usize>) -> Vec<Detail> {
    let day = |at: usize| {
        let text = words.text(at);
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ordinal = matches!(&text[digits.len()..], "" | "st" | "nd" | "rd" | "th");
        let number: usize = digits.parse().ok().filter(|_| ordinal)?;
        (1..=31).contains(&number).then_some(number)
    };
    let mut found = Vec::new();
    for at in range.clone() {
        let text = words.text(at);
        // *booked for May 3*, but not *placed on May 3*, *your May 3 visit*, *from May 3 through May 6*
        let lead = at.checked_sub(1).map_or("", |at| words.text(at));
        let placed = at > 1 && words.marks(at - 2).has(Mark::Participle) && at - 2 > range.start;
        let end = if month(text).is_some() {
            at + 2
        } else {
            at + 1
        };
        let attribute =
            words.marks(end).has(Mark::Content) && !words.marks(end).meets(of![Date Preposition]);
        let old = !matches!(lead, "for" | "on") || placed || attribute;
        let named = month(text).and_then(|month| {
            let day = day(at + 1)?;
            Some(format!("{month:02}-{day:02}"))
        });
        let iso = || iso_day(text).map(str::to_owned);
        found.extend(named.or_else(iso).filter(|_| !old).map(|text| Detail {
            kind: Kind::Day,
            text,
            listed: false,
        }));
    }
    found
}

/// The month and the day of `2024-05-03`, also where a time of day follows.
pub(super) fn iso_day(text: &str) -> Option<&str> {
    let date = text.get(..10)?;
    let mut parts = date.split('-');
    let mut next = |length| {
        let part = parts.next().filter(|part: &&str| part.len() == length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then_some(())
    };
    next(4)?;
    next(2)?;
    next(2)?;
    let end = text
        .get(10..)
        .is_none_or(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
    end.then(|| &date[5..])
}

/// How many things were added, put or ordered, right after the verb: *added 2 units*.
fn count(words: &[Token<'_>], verb: usize) -> Option<Detail> {
    let at = verb + 1;
    let text = words.text(at);
    let plain =
        !text.is_empty() && text.len() < 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let things = words.marks(at + 1);
    let noun = things.has(Mark::Content)
        && !things.meets(of![Date Time])
        && words.text(at + 1).ends_with('s');
    (plain && noun).then(|| Detail {
        kind: Kind::Count,
        text: text.to_owned(),
        listed: false,
    })
}

/// What something was changed to, or to whom it was sent, behind a *to*.
fn targets(words: &[Token<'_>], text: &str, range: &Range<usize>) -> Vec<Detail> {
    let mut found = Vec::new();
    for at in range.clone().filter(|at| words.text(*at) == "to") {
        let (next, after) = (at + 1, words.marks(at + 2));
        let Some(token) = words.get(next).filter(|_| next < range.end) else {
            continue;
        };
        let spelt = &text[token.range.clone()];
        let ends = next + 1 >= words.len() || after.meets(of![Parts Comma Preposition Conjunction]);
        let capital =
            spelt.starts_with(char::is_uppercase) && spelt.chars().skip(1).all(char::is_lowercase);
        let name =
            capital && spelt.chars().count() > 2 && token.is(Mark::Content) && token.verb.is_none();
        let number = spelt.bytes().all(|byte| byte.is_ascii_digit());
        // *to 5 Elm Street*, but not *to 3 pm* nor *to 5*
        let named = words
            .get(next + 1)
            .is_some_and(|word| text[word.range.clone()].starts_with(char::is_uppercase));
        let place =
            number && named && after.has(Mark::Content) && !after.meets(of![Date Time Capitals]);
        let kind = match (place, name && ends) {
            (true, _) => Kind::NewNumber,
            (_, true) => Kind::Person,
            _ => continue,
        };
        found.push(Detail {
            kind,
            text: spelt.to_owned(),
            listed: false,
        });
    }
    found
}
