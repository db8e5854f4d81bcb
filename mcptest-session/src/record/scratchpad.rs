//! A past that is told as text: each request begins anew, and a message of the user holds what was said before.

use serde_json::Value;

use crate::exchange::Part;
use crate::lossless::parse_exact;

/// A shorter line of what the model said stands in many texts by chance.
const LONG_LINE: usize = 16;

/// What a text has more than an earlier one, if something was put into that at one place: what was put in, and what of
/// the earlier text stands after it. The place is the begin of a line, where it can be.
pub(crate) fn inserted_text<'a>(before: &str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let shared = shared_begin(before, after);
    if shared == before.len() {
        return Some((&after[shared..], ""));
    }
    let line = before[..shared].rfind('\n').map(|end| end + 1);
    line.into_iter().chain([shared]).find_map(|from| {
        let rest = &before[from..];
        let to = after.len().checked_sub(rest.len())?;
        let is_there = from > 0 && to >= from && after.ends_with(rest);
        is_there.then(|| (&after[from..to], &after[to..]))
    })
}

/// Whether a message of the user goes on with an earlier one: it is the same around the past, and it tells what the model
/// said last. `prompts`: what the user is known to ask.
pub(crate) fn continues_message(
    before: &str,
    after: &str,
    said: &[Part],
    prompts: &[String],
) -> bool {
    let is_same_around = || {
        let begin = shared_begin(before, after);
        let end = after.len() - begin - text_since(before, after).len();
        let around = [&before[..begin], &before[before.len() - end..]];
        let mut prompts = prompts
            .iter()
            .map(|it| it.trim())
            .filter(|it| !it.is_empty());
        prompts.any(|prompt| around.iter().any(|text| text.contains(prompt)))
    };
    let has_more = || inserted_text(before, after).is_some_and(|(more, _)| !more.trim().is_empty());
    if tells_answer(said, before, after) {
        return has_more() || is_same_around();
    }
    let more = inserted_text(before, after).filter(|_| is_same_around());
    more.is_some_and(|(more, _)| end_of_parts(said, more).is_some())
}

/// Where a text ends to tell what the model said, if it tells that in parts and in another form: at least two lines or
/// values of it, which have a third of its words or more. The names of fields and the form of JSON say nothing.
fn end_of_parts(said: &[Part], text: &str) -> Option<usize> {
    let mut leaves: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        for line in text.lines() {
            match parse_exact(line) {
                Some(value @ Value::Object(_)) => {
                    each_leaf(&value, &mut |leaf| leaves.push(leaf.to_owned()));
                }
                _ => leaves.push(line.to_owned()),
            }
        }
    };
    for part in said {
        if let Part::Text(text) | Part::Refusal(text) = part {
            match parse_exact(text) {
                Some(value @ Value::Object(_)) => each_leaf(&value, &mut add),
                _ => add(text),
            }
        }
    }
    let parts = leaves.iter().map(|leaf| words(leaf));
    let mut parts: Vec<Vec<&str>> = parts
        .map(|part| part.map(|(_, word)| word).collect())
        .collect();
    parts.retain(|part| !part.is_empty());
    let all: usize = parts.iter().map(Vec::len).sum();
    let (ends, text): (Vec<usize>, Vec<&str>) = words(text)
        .map(|(at, word)| (at + word.len(), word))
        .unzip();
    let told = parts.iter().filter_map(|part| {
        let at = text
            .windows(part.len())
            .position(|it| it == part.as_slice())?;
        Some((part.len(), ends[at + part.len() - 1]))
    });
    let told: Vec<(usize, usize)> = told.collect();
    let count: usize = told.iter().map(|(words, _)| words).sum();
    let end = told.iter().map(|(_, end)| *end).max();
    end.filter(|_| told.len() > 1 && count * 3 >= all)
}

/// The words of a text and where they begin, without the signs around them.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let words = text.split_inclusive(|sign: char| !(sign.is_alphanumeric() || sign == '_'));
    let words = words.map(move |word| {
        at += word.len();
        let own = word.trim_end_matches(|sign: char| !(sign.is_alphanumeric() || sign == '_'));
        (at - word.len(), own)
    });
    words.filter(|(_, word)| word.contains(char::is_alphanumeric))
}

fn each_leaf(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| each_leaf(item, take)),
        Value::Object(map) => map.values().for_each(|item| each_leaf(item, take)),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => take(&value.to_string()),
    }
}

/// Whether a text tells what the model said, and an earlier one does not, or tells it less often.
fn tells_answer(said: &[Part], before: &str, after: &str) -> bool {
    let is_new = |words: &str| {
        let times = |text: &str| text.matches(words).count();
        times(after) > times(before)
    };
    pieces(said).iter().any(|piece| is_new(piece))
}

/// What a message tells of a call, without the word before it that agents which act in text have.
pub(crate) fn without_label(text: &str) -> &str {
    let text = text.trim();
    match text.split_once(':') {
        Some((label, rest)) if label.eq_ignore_ascii_case("observation") => rest.trim(),
        _ => text,
    }
}

/// What a text has more than an earlier one: without what both begin with, and what both end with.
pub(crate) fn text_since<'a>(before: &str, after: &'a str) -> &'a str {
    let begin = shared_begin(before, after);
    let end = shared_end(&before[begin..], &after[begin..]);
    &after[begin..after.len() - end]
}

/// After which of these answers a text goes on: the last one that it tells, where each is told after the one before.
#[cfg(feature = "play")]
pub(crate) fn last_told_answer<'s>(
    answers: impl IntoIterator<Item = &'s [Part]>,
    text: &str,
) -> Option<usize> {
    let mut from = 0;
    let mut last = None;
    for (place, said) in answers.into_iter().enumerate() {
        let mut pieces = pieces(said);
        // What is long says more.
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
        let found = pieces.iter().find_map(|piece| {
            let at = text[from..].find(piece.as_str())?;
            Some(from + at + piece.len())
        });
        let in_parts = || Some(from + end_of_parts(said, &text[from..])?);
        if let Some(end) = found.or_else(in_parts) {
            from = end;
            last = Some(place);
        }
    }
    last
}

/// What stands in a text that tells an answer, whatever form the text gives it: the whole answer, its long lines, those of
/// the texts in its JSON, the names of the tools that it calls.
fn pieces(said: &[Part]) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut add_lines = |text: &str| {
        let lines = text.lines().map(str::trim);
        let long = lines.filter(|line| line.len() >= LONG_LINE);
        pieces.extend(long.map(str::to_owned));
    };
    let mut whole = String::new();
    for part in said {
        if let Part::Text(text) | Part::Refusal(text) = part {
            match parse_exact(text) {
                Some(value @ Value::Object(_)) => each_text(&value, &mut add_lines),
                _ => add_lines(text),
            }
            whole += text;
        }
    }
    pieces.push(whole.trim().to_owned());
    pieces.extend(said.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call.name.clone()),
        _ => None,
    }));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn each_text(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, take)),
        Value::Object(map) => map.values().for_each(|item| each_text(item, take)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How many bytes two texts begin with, both.
fn shared_begin(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.len_utf8()).sum()
}

/// How many bytes two texts end with, both.
fn shared_end(one: &str, other: &str) -> usize {
    let pairs = one.chars().rev().zip(other.chars().rev());
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Vec<Part> {
        vec![Part::Text(text.to_owned())]
    }

    #[test]
    fn what_was_put_into_a_text_begins_with_a_line() {
        assert_eq!(inserted_text("Q: a\n", "Q: a\nb\n"), Some(("b\n", "")));
        assert_eq!(
            inserted_text("Q\nBe quick", "Q\nBe so\nBe quick"),
            Some(("Be so\n", "Be quick"))
        );
        assert_eq!(
            inserted_text("Q\nrest\n", "Q\nred\nrest\n"),
            Some(("red\n", "rest\n"))
        );
        assert_eq!(inserted_text("ab", "axb"), Some(("x", "b")));
        assert_eq!(inserted_text("é!", "éü!"), Some(("ü", "!")));
        for other in ["Q: b\n", "P: a\nQ: a\n", ""] {
            assert_eq!(inserted_text("Q: a\n", other), None, "{other}");
        }
    }

    #[test]
    fn a_message_goes_on_with_another_where_it_tells_what_the_model_said() {
        let prompts = ["Refund 7.".to_owned()];
        let before = "Question: Refund 7.\n";
        let said = says("I look.\nAction: find_order 7");
        let goes_on = |after: &str| continues_message(before, after, &said, &prompts);
        assert!(goes_on(
            "Question: Refund 7.\nI look.\nAction: find_order 7\nObservation: sent\n"
        ));
        // The past is told in other words, and one line of it is the model's.
        assert!(goes_on(
            "Question: Refund 7.\nYou did: Action: find_order 7, it is sent\n"
        ));
        for other in [
            "Question: Refund 7.\nAgain, please.\n",
            "Question: Refund 8.\nI look.\nAction: find_order 7\n",
            "Write a title. Refund 7.: I look.\nAction: find_order 7",
        ] {
            assert!(!goes_on(other), "{other}");
        }
    }

    #[test]
    fn the_fields_of_what_the_model_said_may_be_told_in_another_order() {
        let said = says(
            "{\"next_tool_name\": \"find\", \"next_thought\": \"The order is not known yet.\"}",
        );
        let before = "[[ question ]]\nRefund 7.\n\n[[ trajectory ]]\n\n\nRespond.";
        let after = "[[ question ]]\nRefund 7.\n\n[[ trajectory ]]\n[[ thought_0 ]]\nThe order is not known yet.\n\n\nRespond.";
        assert!(continues_message(before, after, &said, &[]));
        #[cfg(feature = "play")]
        assert_eq!(
            last_told_answer([&said[..], &says("Done.")], after),
            Some(0)
        );
    }

    #[test]
    fn a_short_answer_may_be_told_in_parts_and_its_json_in_another_form() {
        let before = "[[ question ]]\nRefund 7.\n\n[[ trajectory ]]\n\n\nRespond.";
        let prompts = ["Refund 7.".to_owned()];
        let lines = says(
            "[[ next_thought ]]\nI look.\n\n[[ next_tool ]]\nfind\n\n[[ next_args ]]\n{\"order\":7}\n\n[[ completed ]]",
        );
        let fields = says(
            "{\"next_thought\":\"I look.\",\"next_tool\":\"find\",\"next_args\":{\"order\":7}}",
        );
        let told = |thought: &str, tool: &str| {
            format!(
                "[[ question ]]\nRefund 7.\n\n[[ trajectory ]]\n[[ thought_0 ]]\n{thought}\n\n[[ tool_0 ]]\n{tool}\n\n[[ args_0 ]]\n{{\"order\": 7}}\n\n\nRespond."
            )
        };
        for said in [&lines, &fields] {
            let after = told("I look.", "find");
            assert!(continues_message(before, &after, said, &prompts));
            #[cfg(feature = "play")]
            assert_eq!(last_told_answer([&said[..], &said[..]], &after), Some(0));
            for other in [told("I wait.", "pay"), before.to_owned()] {
                assert!(
                    !continues_message(before, &other, said, &prompts),
                    "{other}"
                );
            }
            assert!(!continues_message(
                "Another.\n",
                &told("I look.", "find"),
                said,
                &prompts
            ));
        }
    }

    #[cfg(feature = "play")]
    #[test]
    fn an_answer_that_is_given_twice_is_told_twice() {
        let said = says("I look.");
        let answers = || [&said[..], &said[..]];
        assert_eq!(last_told_answer(answers(), "Q"), None);
        assert_eq!(last_told_answer(answers(), "Q I look. no"), Some(0));
        assert_eq!(last_told_answer(answers(), "Q I look. no I look."), Some(1));
    }
}
