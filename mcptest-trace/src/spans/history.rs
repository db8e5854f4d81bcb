//! What is new of what a model call was sent: requests hold all that was said before.
//!
//! Parts of messages are compared, not messages: an answer may be cut into messages in one way where it is
//! written and in another where it is sent back.

use std::collections::{HashMap, HashSet};

/// For each part that was sent, whether it is new, after a call that was sent `known` and answered `answer`.
///
/// Known is the beginning that both share; what stands before the answer and was there before; and the answer
/// itself, in whatever order its parts stand. Where the answer is not found, calls and results that are known
/// by their identifiers are.
#[must_use]
pub fn mark_new_parts(known: &[String], answer: &[String], sent: &[String]) -> Vec<bool> {
    let all: Vec<&String> = known.iter().chain(answer).collect();
    let both = all.iter().zip(sent);
    let shared = both.take_while(|(known, sent)| **known == *sent).count();
    let (length, end) = longest_sent_suffix(&all[shared..], &sent[shared..]);
    let there: HashSet<&String> = all.iter().copied().collect();
    let history = if length > 0 {
        shared + end
    } else if shared == 0 {
        // The beginning was cut, and the answer with it.
        sent.iter().take_while(|part| there.contains(part)).count()
    } else {
        shared
    };
    let is_open = |(index, part): &(usize, &&String)| {
        let of_answer = *index >= known.len();
        let is_met = *index < shared || *index >= all.len() - length;
        !is_met && (of_answer || length == 0 && history == shared && has_identifier(part))
    };
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (_, part) in all.iter().enumerate().filter(is_open) {
        *open.entry(part.as_str()).or_default() += 1;
    }
    let parts = sent.iter().enumerate();
    let is_new = parts.map(|(index, part)| {
        if index < shared || index < history && there.contains(part) {
            return false;
        }
        match open.get_mut(part.as_str()).filter(|open| **open > 0) {
            Some(open) => {
                *open -= 1;
                false
            }
            None => true,
        }
    });
    is_new.collect()
}

/// The longest end of what is known that was sent: how long it is, and where it ends there.
fn longest_sent_suffix(known: &[&String], sent: &[String]) -> (usize, usize) {
    // Backwards, an end of the one at an end of the other is a beginning that both share.
    let back = known.iter().rev().map(|part| Some(part.as_str()));
    let sent_back = sent.iter().rev().map(|part| Some(part.as_str()));
    let both: Vec<Option<&str>> = back.chain([None]).chain(sent_back).collect();
    let shared = prefix_lengths(&both);
    let lengths = shared.into_iter().skip(known.len() + 1);
    let lengths = lengths.zip((1..=sent.len()).rev());
    lengths.max().unwrap_or_default()
}

/// For each place of a list, how many parts from there on are those with which the list begins (the Z function).
fn prefix_lengths<T: PartialEq>(all: &[T]) -> Vec<usize> {
    let mut lengths = vec![0; all.len()];
    // The stretch that is known to be a beginning and ends last.
    let (mut from, mut to) = (0, 0);
    for place in 1..all.len() {
        let known = if place < to {
            lengths[place - from].min(to - place)
        } else {
            0
        };
        let rest = all[known..].iter().zip(&all[place + known..]);
        let length = known + rest.take_while(|(one, other)| one == other).count();
        lengths[place] = length;
        if place + length > to {
            (from, to) = (place, place + length);
        }
    }
    lengths
}

/// Whether a part is a call or a result with an identifier.
fn has_identifier(part: &str) -> bool {
    let begins = ["[\"call\",\"", "[\"result\",\""];
    begins.iter().any(|begin| part.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parts as words; those in capitals have an identifier.
    fn new(known: &str, answer: &str, sent: &str) -> String {
        let parts = |words: &str| -> Vec<String> {
            let part = |word: &str| {
                if word.chars().all(char::is_uppercase) {
                    format!("[\"call\",\"{word}\"]")
                } else {
                    word.to_owned()
                }
            };
            words.split_whitespace().map(part).collect()
        };
        let is_new = mark_new_parts(&parts(known), &parts(answer), &parts(sent));
        let words = sent.split_whitespace().zip(is_new);
        let words = words.filter_map(|(word, is_new)| is_new.then_some(word));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_follows_the_answer_is_new() {
        for (known, answer, sent, expected) in [
            ("", "", "go", "go"),
            ("go", "looking A B", "go looking A B found", "found"),
            // In another order, and with results between.
            ("go", "looking A B", "go A B looking found", "found"),
            ("go", "looking A B", "go looking A one B two", "one two"),
            // The answer is not sent back, or does not stand among the spans.
            ("go", "A", "go", ""),
            ("go", "", "go A one", "A one"),
            // Words repeat.
            ("yes", "ok", "yes ok yes", "yes"),
            ("yes ok yes", "ok", "yes ok yes ok yes", "yes"),
            // The beginning is cut, or summed up.
            ("go A one more", "B", "more B two", "two"),
            ("go A one more", "B", "summary more B two", "summary two"),
            ("go A one more", "B", "go summary B two", "summary two"),
            ("go A one more", "B", "go summary A two", "summary two"),
            // Another talk.
            ("go A", "done", "title", "title"),
        ] {
            assert_eq!(
                new(known, answer, sent),
                expected,
                "{known} | {answer} | {sent}"
            );
        }
    }

    #[test]
    fn an_identifier_that_repeats_is_new_where_it_follows_the_answer() {
        assert_eq!(new("go A one", "A", "go A one A two"), "two");
        assert_eq!(new("go A R more", "A", "more A R"), "R");
    }

    proptest! {
        #[test]
        fn the_longest_end_is_the_one_that_a_look_at_all_finds(
            known in proptest::collection::vec("[ab]", 0..8), sent in proptest::collection::vec("[ab]", 0..10),
        ) {
            let known: Vec<&String> = known.iter().collect();
            let length = |end: usize| {
                let both = known.iter().rev().zip(sent[..end].iter().rev());
                both.take_while(|(known, sent)| **known == *sent).count()
            };
            let plain = (0..=sent.len()).map(|end| (length(end), end)).max();
            prop_assert_eq!(Some(longest_sent_suffix(&known, &sent)), plain);
        }
    }
}
