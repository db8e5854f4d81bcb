//! Values that are cut in two, with the halves in two arguments of one call.

use std::borrow::Cow;

use super::entry::CheckedArgument;
use super::sink::Sink;

/// The most arguments of which every two are put together; of more, those beside each other.
const ALL: usize = 4;

/// How many words of each side are put together.
const WORDS: usize = 4;

/// The longest side.
const LONGEST: usize = 80;

/// Two arguments of a call put together, each way that a value could have been cut.
pub(super) fn sinks<'a>(parts: &[&CheckedArgument<'_>]) -> Vec<Sink<'a>> {
    let beside = |one: usize, other: usize| parts.len() <= ALL || one.abs_diff(other) == 1;
    let places = || 0..parts.len();
    let pairs = places().flat_map(|one| places().map(move |other| (one, other)));
    let pairs = pairs.filter(|(one, other)| one != other && beside(*one, *other));
    let sinks = pairs.flat_map(|(one, other)| pair_sinks(parts[one], parts[other]));
    sinks.collect()
}

fn pair_sinks<'a>(one: &CheckedArgument<'_>, other: &CheckedArgument<'_>) -> Vec<Sink<'a>> {
    let (before, behind) = (one.text.trim_end(), other.text.trim_start());
    let tail = last_words(before, 1);
    let head = first_words(behind, 1);
    let mut joined = Vec::new();
    if !tail.is_empty() && !head.is_empty() {
        joined.push((tail, "", head));
        if !tail.contains('@') && !head.contains('@') && head.contains('.') {
            joined.push((tail, "@", head));
        }
        joined.push((
            self::last_words(before, WORDS),
            " ",
            self::first_words(behind, WORDS),
        ));
    }
    let sinks = joined.into_iter().map(|(tail, gap, head)| {
        let looked_at = CheckedArgument {
            call: one.call,
            arg: format!("{} + {}", one.arg, other.arg),
            text: Cow::Owned(format!("{tail}{gap}{head}")),
            is_key: false,
        };
        Sink::from_pair(looked_at, &(tail.len()..tail.len() + gap.len()))
    });
    sinks.filter(|sink| sink.keys().next().is_some()).collect()
}

/// The last words of a text.
fn last_words(text: &str, words: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(LONGEST));
    let cut = text[from..]
        .rmatch_indices(char::is_whitespace)
        .nth(words - 1);
    cut.map_or(&text[from..], |(at, sign)| &text[from + at + sign.len()..])
}

/// The first words of a text.
fn first_words(text: &str, words: usize) -> &str {
    let text = &text[..text.floor_char_boundary(LONGEST.min(text.len()))];
    let cut = text.match_indices(char::is_whitespace).nth(words - 1);
    cut.map_or(text, |(at, _)| &text[..at])
}
