//! Addresses, paths and amounts of money that a claim names, by how they are spelt.

use std::ops::Range;

use super::detail::{Detail, Kind};
use super::numbers;
use crate::eval::narrative::words::lexicon::{Lexicon, lower};
use crate::eval::narrative::words::marks::Mark;
use crate::eval::narrative::words::token::Token;

/// What an entry of a list under a claim names: *Order 7*, *W12*, *src/a.rs*; `noun` is the claim's.
pub(crate) fn of_entry(words: &[Token<'_>], text: &str, noun: Option<&String>) -> Option<Detail> {
    let first = words.iter().find(|word| !word.is(Mark::Sign))?;
    let word = text[first.range.start..].split_whitespace().next();
    let bare = word.map(bare);
    let path = bare.filter(|bare| kind_of(bare) == Some(Kind::Path));
    let of_path = path.map(|path| Detail {
        kind: Kind::Path,
        text: path.to_owned(),
        listed: true,
    });
    of_path.or_else(|| numbers::of_entry(words, noun))
}

/// Signs around a word.
const AROUND: [char; 20] = [
    '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '!', '?', '"', '\'', '`', '*', '“', '”',
    '’',
];

/// A word without the signs around it.
fn bare(word: &str) -> &str {
    word.trim_matches(AROUND).trim_end_matches(['.', ','])
}

/// The amount of money that begins at a word, and how many words it is: *$50*, *50 dollars*, *USD 50*, *50 €*.
fn amount_at<'w>(words: &[&'w str], at: usize) -> Option<(&'w str, usize)> {
    let word = |at: usize| words.get(at).map_or("", |word| bare(word));
    let is_currency = |word: &str| {
        matches!(word, "$" | "€" | "£") || Lexicon::get().lists("currency", &lower(word))
    };
    let plain =
        |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && amount(word).is_some();
    let (this, next) = (word(at), word(at + 1));
    let open = words[at].ends_with([',', '.', ';']);
    let by_word = plain(this) && is_currency(next) && !open;
    match () {
        () if is_amount(this) => Some((this, if is_currency(next) && !open { 2 } else { 1 })),
        () if by_word => Some((this, 2)),
        () if plain(next) && this.chars().all(char::is_uppercase) && is_currency(this) => {
            Some((next, 2))
        }
        () => None,
    }
}

/// Addresses, paths and amounts, by how they are spelt.
pub(crate) fn texts(words: &[Token<'_>], text: &str, range: &Range<usize>) -> Vec<Detail> {
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
    for at in 0..all.len() {
        let word = bare(all[at]);
        let money = amount_at(&all, at);
        let (kind, spelt, width) = match (money, kind_of(word)) {
            (Some((spelt, width)), _) => (Kind::Amount, spelt, width),
            (None, Some(kind)) => (kind, word, 1),
            _ => continue,
        };
        let word = all[at + width - 1];
        let before = at
            .checked_sub(1)
            .map_or(String::new(), |at| lower(all[at]).into_owned());
        let before = before.trim_end_matches([',', ':']);
        let next = all
            .get(at + width)
            .map_or("", |next| next.trim_matches(','));
        let before_of = at
            .checked_sub(2)
            .map_or(String::new(), |at| lower(all[at]).into_owned());
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
                // *a refund of $50*, *a total of $50*
                let of = before == "of" && Lexicon::get().lists("sums", &before_of);
                let of_whole = matches!(before, "the" | "your") && before_of == "of";
                let other = matches!(before, "from" | "of" | "less" | "minus" | "your") || of_whole;
                (ends || goes_on) && (of || !other)
            }
            // *emailed bob@…*, *invited bob@…*, *shared it with bob@…*
            Kind::Mail => matches!(before, "" | "to" | "at" | "address" | "with" | "for") || listed,
            Kind::Url => matches!(before, "" | "at" | "to" | "link" | "url" | "page") || listed,
            // Right after the verb, or its noun: *deleted a/b.rs*, *the file a/b.rs*, *to a/b.rs*
            _ => {
                matches!(before, "the" | "a" | "file" | "files" | "at" | "to" | "")
                    && !verb_to(&all, at)
                    || listed
            }
        };
        let text = spelt.to_owned();
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
    let number = word.trim_start_matches(['-', '+']);
    let number = number.strip_prefix("US").unwrap_or(number);
    let signed = number.starts_with(['$', '€', '£', '¥', '₹']) || number.ends_with('€');
    signed && amount(number).is_some()
}

/// The number that an amount is, thousands set apart or not, with its currency or without.
pub(crate) fn amount(text: &str) -> Option<f64> {
    let sign = |c: char| matches!(c, '$' | '€' | '£' | '¥' | '₹' | '+') || c.is_whitespace();
    let is_code = |code: &str| Lexicon::get().lists("currency", &lower(code));
    let text = text.trim_matches(sign);
    let after = text.trim_end_matches(|c: char| c.is_alphabetic());
    let after = if is_code(&text[after.len()..]) {
        after
    } else {
        text
    };
    let digits = after.trim_start_matches(|c: char| c.is_alphabetic());
    let digits = if is_code(&after[..after.len() - digits.len()]) {
        digits
    } else {
        after
    };
    let digits = digits.trim_matches(sign);
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
