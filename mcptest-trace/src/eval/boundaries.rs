//! What stands in a text as a whole: not as a part of a longer word, number, address or identifier.
//!
//! `7` is not in `17`, `7.5`, `A-7` or `112-7-1234567`; `user_1` is not in `user_12`; `anne@x.org` is not in
//! `joanne@x.org`; `https://x.org/a` is not in `https://x.org/a/b`. Signs that set values apart (`/`, `:`, `=`,
//! quotes, brackets, `#`) join the parts of an address alone.

use std::borrow::Cow;

use serde_json::Value;
use unicode_normalization::char::is_combining_mark;

use crate::trace::json_eq;

/// Whether `wanted` stands in `text` without being a part of something longer. An empty text stands nowhere.
pub(super) fn contains_whole(text: &str, wanted: &str) -> bool {
    let (Some(first), Some(last)) = (wanted.chars().next(), wanted.chars().next_back()) else {
        return false;
    };
    let is_address = is_address(wanted);
    text.match_indices(wanted).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + wanted.len()..]);
        let is_longer = extends_left(wanted, first, before)
            || word_continues(last, after.chars())
            || is_address && address_continues(last, after.chars());
        !is_longer || is_time_of_day(wanted, after)
    })
}

/// Whether a text is an address: of the web, or a path from a root.
fn is_address(text: &str) -> bool {
    let rooted = ["/", "~/", "./", "../", "\\"];
    let drive = |text: &str| text.as_bytes().get(1..3) == Some(b":\\".as_slice());
    text.contains("://")
        || text.len() > 1 && rooted.iter().any(|root| text.starts_with(root))
        || drive(text)
}

/// Whether what is wanted is the end of a longer word or address.
fn extends_left(wanted: &str, first: char, before: &str) -> bool {
    // The last part of a path, a file's ending, the host of a mail address.
    let is_part = wanted.len() > 1 && matches!(first, '/' | '\\' | '~' | '.' | '@');
    is_part && before.chars().next_back().is_some_and(extends_word)
        || word_continues(first, before.chars().rev())
}

/// Whether an address has more parts: `https://x.org/a` in `https://x.org/a/b?k=1`.
fn address_continues(last: char, mut after: impl Iterator<Item = char>) -> bool {
    let joins = |sign: char| matches!(sign, '/' | '\\' | '?' | '&' | '#' | '=' | ':');
    match after.next() {
        Some(sign) if joins(sign) => after.next().is_some_and(extends_word),
        Some(next) => joins(last) && extends_word(next),
        None => false,
    }
}

/// Whether a word goes on beyond `edge`, its outermost character.
fn word_continues(edge: char, beyond: impl Iterator<Item = char>) -> bool {
    if !extends_word(edge) {
        return false;
    }
    let mut beyond = beyond.filter(|next| !has_no_width(*next));
    match (beyond.next(), beyond.next()) {
        (Some(next), _) if extends_word(next) || is_combining_mark(next) => true,
        (Some('-' | '\u{2010}' | '\u{2011}' | '\u{2212}' | '.' | '@' | '+'), Some(next)) => {
            extends_word(next)
        }
        // *O'Brien* and *don't*, but not *A-1's*.
        (Some('\'' | '\u{2019}'), Some(next)) => {
            let is_end = !beyond.next().is_some_and(extends_word);
            extends_word(next) && !(next == 's' && is_end)
        }
        (Some(','), Some(next)) => edge.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}

/// Whether a character is not seen, and parts nothing.
fn has_no_width(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
    )
}

/// Whether a date is followed by its time of day: `2024-05-20` in `2024-05-20T15:00:00`.
fn is_time_of_day(date: &str, after: &str) -> bool {
    let digits =
        |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = date.split('-');
    let lengths = [4, 2, 2];
    let is_date = lengths
        .iter()
        .all(|length| parts.next().is_some_and(|part| digits(part, *length)));
    let time = after.strip_prefix('T').and_then(|time| time.get(..2));
    is_date && parts.next().is_none() && time.is_some_and(|hour| digits(hour, 2))
}

/// Whether a character makes a word longer. Scripts that are written without spaces have no such words.
pub(super) fn extends_word(character: char) -> bool {
    let unspaced = matches!(
        u32::from(character),
        0x0E00..=0x0EFF // Thai, Lao
            | 0x1000..=0x109F // Burmese
            | 0x1780..=0x17FF // Khmer
            | 0x3040..=0x30FF // Hiragana, Katakana
            | 0x3400..=0x9FFF // Han
            | 0xAC00..=0xD7AF // Hangul, whose particles follow a word at once
            | 0xF900..=0xFAFF
            | 0x20000..=0x3FFFF
    );
    character == '_' || character.is_alphanumeric() && !unspaced
}

/// Whether a scalar that is no text stands in a text: a number in any spelling, `true`, `null`.
pub(super) fn contains_scalar(text: &str, scalar: &Value) -> bool {
    match scalar {
        Value::Number(number) => contains_number(text, scalar, &number.to_string()),
        other => contains_whole(text, &other.to_string()),
    }
}

/// Whether a text is a number, a boolean or `null` as it is spelt: `"7"` and `"7.0"` spell 7.
pub(super) fn spells_scalar(text: &str, scalar: &Value) -> bool {
    match scalar {
        Value::Number(_) => {
            let is_spelling = |spelling: String| spelling == text;
            parse_plain_number(text).is_some_and(|number| json_eq(&number, scalar))
                || is_spelling(scalar.to_string())
        }
        Value::Bool(true) => text == "true",
        Value::Bool(false) => text == "false",
        Value::Null => text == "null",
        _ => false,
    }
}

/// The number that a text spells, plainly: no zeros before it, no sign but a minus.
pub(super) fn parse_plain_number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.split_once('.').map_or(digits, |(whole, _)| whole);
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits
            .chars()
            .all(|character| character.is_ascii_digit() || character == '.')
        && (whole == "0" || !whole.starts_with('0'));
    if !plain {
        return None;
    }
    let fits = |value: &Value| value.is_i64() || value.is_u64() || digits.contains('.');
    let value: Value = serde_json::from_str(text).ok()?;
    fits(&value).then_some(value)
}

/// Whether a number stands in a text as a whole, in any spelling, `spelt` among them.
pub(super) fn contains_number(text: &str, wanted: &Value, spelt: &str) -> bool {
    let joins = |character: char| extends_word(character) || matches!(character, '.' | ',' | '-');
    let is = |token: &str| {
        token == spelt || parse_plain_number(token).is_some_and(|found| json_eq(&found, wanted))
    };
    let named =
        |run: &str| run.contains(|character: char| character.is_alphabetic() || character == '_');
    let text = normalize_numbers(text);
    let mut runs = text.split(|character| !joins(character));
    runs.any(|run| {
        if !named(run) {
            return any_number(run, &is);
        }
        // What has a letter is a name: no number in it stands for itself.
        let mut pieces = run.split(',').map(|piece| piece.trim_end_matches('.'));
        pieces.any(|piece| piece == spelt || !named(piece) && any_number(piece, &is))
    })
}

/// A text in which a minus is a dash, and what sets the thousands of a number apart is a comma: `1'250`.
fn normalize_numbers(text: &str) -> Cow<'_, str> {
    let is_odd = |sign: char| {
        matches!(
            sign,
            '\u{2212}' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' | '\u{2009}'
        )
    };
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for (at, sign) in text.char_indices() {
        let after = &text[at + sign.len_utf8()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let is_group = digits == 3 && plain.ends_with(|last: char| last.is_ascii_digit());
        plain.push(match sign {
            '\u{2212}' => '-',
            sign if is_odd(sign) && is_group => ',',
            sign => sign,
        });
    }
    Cow::Owned(plain)
}

/// Whether the parts between dashes are one identifier or one date, and no numbers of their own: `112-3456789-1234567`.
fn is_single_value(run: &str) -> bool {
    let parts: Vec<&str> = run.split('-').filter(|part| !part.is_empty()).collect();
    let is_date = || parts.iter().map(|part| part.len()).eq([4, 2, 2]);
    let has_digits = parts
        .iter()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let padded = |part: &&str| part.len() > 1 && part.starts_with('0');
    match parts.as_slice() {
        [one, other] => {
            let long = one.len().max(other.len()) > 3 && one.len() != other.len();
            has_digits && (long || parts.iter().any(padded))
        }
        [_, _, _, ..] => has_digits && !is_date(),
        _ => false,
    }
}

/// Whether one of the numbers of a run of digits, points, commas and dashes is wanted. A dash is a sign
/// unless it stands behind a digit.
fn any_number(run: &str, is: &impl Fn(&str) -> bool) -> bool {
    if is_single_value(run.trim_matches([',', '.'])) {
        return false;
    }
    let mut negative = false;
    run.split('-').any(|part| {
        let signed = |token: &str, first: bool| {
            if negative && first {
                is(&format!("-{token}"))
            } else {
                is(token)
            }
        };
        let part = part.trim_matches([',', '.']);
        let found = if let Some(plain) = without_group_separators(part) {
            signed(&plain, true)
        } else {
            let mut pieces = part.split(',').enumerate();
            pieces.any(|(index, piece)| signed(piece.trim_end_matches('.'), index == 0))
        };
        negative = part.is_empty();
        found
    })
}

/// A number whose thousands are set apart by commas, without them: `1,250.00`.
fn without_group_separators(run: &str) -> Option<String> {
    let (whole, _) = run.split_once('.').unwrap_or((run, ""));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let grouped = whole.contains(',')
        && (1..=3).contains(&first.len())
        && digits(first)
        && groups.all(|group| group.len() == 3 && digits(group));
    grouped.then(|| run.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_text_stands_whole_between_what_sets_values_apart() {
        for text in [
            "A-1",
            "order A-1.",
            "\"A-1\"",
            "/orders/A-1",
            "id:A-1",
            "id=A-1&x",
            "#A-1",
            "(A-1)",
            "A-1, A-2",
            "A-1's",
            "订单A-1已取消",
            "A-1 - shipped",
            "A-1\u{2014}shipped",
        ] {
            assert!(contains_whole(text, "A-1"), "{text}");
        }
        for text in [
            "A-10", "A-1-2", "BA-1", "B-A-1", "A-1.2", "x.A-1", "A-1_b", "A-1é",
        ] {
            assert!(!contains_whole(text, "A-1"), "{text}");
        }
    }

    #[test]
    fn addresses_names_and_words_are_not_found_in_longer_ones() {
        for (text, wanted) in [
            ("joanne@x.org", "anne@x.org"),
            ("anne@x.org.uk", "anne@x.org"),
            ("mary-anne@x.org", "anne@x.org"),
            ("a+anne@x.org", "anne@x.org"),
            ("user_12", "user_1"),
            ("banana", "a"),
            ("concatenate", "cat"),
            ("report.pdf", "report"),
            ("/etc/passwd.bak", "/etc/passwd"),
            ("anything", ""),
        ] {
            assert!(!contains_whole(text, wanted), "{wanted} in {text}");
        }
        assert!(contains_whole("mail to anne@x.org.", "anne@x.org"));
        for (text, wanted) in [
            ("https://x.org/a/b?k=1", "https://x.org/a"),
            ("https://x.org/a?q=1&p=2", "https://x.org/a?q=1"),
            ("https://x.org/secret", "https://x.org/"),
            ("https://x.org:8443/a", "https://x.org"),
            ("/home/anne/docs/x.txt", "/home/anne"),
            ("/home/anne/docs/x.txt", "/docs/x.txt"),
            ("config.env", ".env"),
            ("C:\\Users\\anne", "C:\\Users"),
            ("joe@anne", "@anne"),
            ("O'Brien", "Brien"),
            ("don\u{2019}t", "don"),
            ("Ann\u{2010}Marie", "Ann"),
            ("cafe\u{301}", "cafe"),
            ("A-1\u{200b}0", "A-1"),
        ] {
            assert!(!contains_whole(text, wanted), "{wanted} in {text}");
        }
        for (text, wanted) in [
            ("see https://x.org/a, please", "https://x.org/a"),
            ("<https://x.org/a/>", "https://x.org/a/"),
            ("rm /etc/passwd: no", "/etc/passwd"),
            ("the files of /home/anne.", "/home/anne"),
            ("'Ann' and \"Bob\"", "Ann"),
            ("Ann's", "Ann"),
            ("/orders/A-1/items", "A-1"),
        ] {
            assert!(contains_whole(text, wanted), "{wanted} in {text}");
        }
        assert!(contains_whole("from 2024-05-20T15:00:00Z", "2024-05-20"));
        assert!(!contains_whole("2024-05-20Torres", "2024-05-20"));
        assert!(contains_whole("banana a", "a"));
    }

    #[test]
    fn numbers_are_whole_in_any_spelling() {
        let five = json!(5);
        for text in [
            "5", "take 5.", "(5)", "a, 5, b", "2-5", "5.0", "1, 5", "x=5;", "a-1,5", "共5件",
            "$5.00",
        ] {
            assert!(contains_scalar(text, &five), "5 in {text}");
        }
        for text in [
            "-5",
            "15",
            "5.1",
            "2.5",
            "A5",
            "5px",
            "1.5.2",
            "x: -5",
            "1,005",
            "05",
            "A-5",
            "5-piece",
            "A1-5",
            "a_5",
            "555-5555555",
            "123-5-6789",
            "05-5",
            "\u{2212}5",
            "5'000",
            "5\u{a0}000",
            "5\u{202f}000",
        ] {
            assert!(!contains_scalar(text, &five), "5 in {text}");
        }
        for amount in [json!(1250), json!(1250.0)] {
            for text in [
                "for $1,250.00 in all",
                "for 1,250, in all",
                "1,250-1,300",
                "CHF 1'250.00",
                "1\u{202f}250 EUR",
            ] {
                assert!(contains_scalar(text, &amount), "{amount} in {text}");
            }
            assert!(!contains_scalar("11,250", &amount));
        }
        assert!(
            contains_scalar("at -5 degrees", &json!(-5)) && !contains_scalar("2-5", &json!(-5))
        );
        assert!(contains_scalar("at \u{2212}5 degrees", &json!(-5)));
        assert!(
            contains_scalar("on 2024-05-20", &json!(20))
                && contains_scalar("2019-2024", &json!(2024))
        );
        for part in [112, 3_456_789, 1_234_567] {
            assert!(!contains_scalar("order 112-3456789-1234567", &json!(part)));
        }
        let long = json!(9_007_199_254_740_993_u64);
        assert!(contains_scalar("id 9007199254740993", &long));
        assert!(!contains_scalar("id 9007199254740992", &long));
    }

    #[test]
    fn words_of_json_are_whole_words() {
        assert!(
            contains_scalar("it is true.", &json!(true))
                && !contains_scalar("untrue", &json!(true))
        );
        assert!(
            contains_scalar("null", &json!(null)) && !contains_scalar("nullable", &json!(null))
        );
    }

    #[test]
    fn a_text_spells_a_scalar() {
        for text in ["7", "7.0"] {
            assert!(
                spells_scalar(text, &json!(7)) && spells_scalar(text, &json!(7.0)),
                "{text}"
            );
        }
        for text in ["17", "07", " 7", "7 ", "7,0", "seven", ""] {
            assert!(!spells_scalar(text, &json!(7)), "{text}");
        }
        assert!(spells_scalar("true", &json!(true)) && !spells_scalar("True", &json!(true)));
        assert!(!spells_scalar("7", &json!("7")));
    }

    proptest! {
        #[test]
        fn a_number_occurs_between_words_and_not_in_a_longer_one(number: i64, digit in 1..9_u8) {
            let (alone, longer) = (format!("is {number}, or so"), format!("is {number}{digit}, or so"));
            prop_assert!(contains_scalar(&alone, &json!(number)));
            prop_assert!(!contains_scalar(&longer, &json!(number)));
        }

        #[test]
        fn a_word_stands_between_spaces_and_not_in_a_longer_word(word in "[a-z0-9][a-z0-9@._-]{0,8}[a-z0-9]", letter in "[a-z0-9]") {
            let between = format!("say {word}, please");
            prop_assert!(contains_whole(&between, &word));
            let longer = [format!("say {letter}{word}"), format!("say {word}{letter}")];
            let repeats = |text: &str| text.match_indices(word.as_str()).count() > 1;
            prop_assert!(longer.iter().all(|text| repeats(text) || !contains_whole(text, &word)));
        }

        #[test]
        fn no_text_is_too_odd(text in ".{0,20}", wanted in ".{0,3}", number: f64) {
            contains_whole(&text, &wanted);
            contains_scalar(&text, &json!(number));
            prop_assert!(text.is_empty() || contains_whole(&text, &text));
        }
    }
}
