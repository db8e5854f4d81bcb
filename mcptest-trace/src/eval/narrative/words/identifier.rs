//! Identifiers: `W3470184`, `ORD-004`, `gift_card_7245904`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::lexicon::lower;

/// Whether a word is an identifier: letters and digits, joined by `-` or `_`, with both a letter
/// and a digit, and no ordinal, size, time, count or number-and-word such as `500-piece`.
pub(crate) fn is_identifier(word: &str) -> bool {
    let word = word.trim_start_matches('#');
    let allowed = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    let has = |what: fn(&u8) -> bool| word.as_bytes().iter().any(what);
    let measure = || {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < word.len()
            && (rest.len() <= 3 || rest.starts_with('-'))
            && rest.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-')
    };
    word.len() >= 2
        && has(u8::is_ascii_alphabetic)
        && has(u8::is_ascii_digit)
        && word.bytes().all(allowed)
        && !measure()
}

/// The identifiers in a text, in lower case.
pub(crate) fn collect<'t>(text: &'t str, found: &mut BTreeSet<Cow<'t, str>>) {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
    for word in words.filter(|word| is_identifier(word)) {
        found.insert(lower(word));
    }
}

/// Whether two identifiers are of one kind: built alike, or both codes that mix letters and digits
/// over the same length.
pub(crate) fn same_kind(a: &str, b: &str) -> bool {
    let (shape_a, shape_b) = (shape(a), shape(b));
    let prefix = |text: &str| {
        let digits = text.find(|c: char| c.is_ascii_digit());
        text[..digits.unwrap_or(text.len())].to_lowercase()
    };
    let random = |shape: &[char]| shape.len() > 2 && !shape.contains(&'-');
    if random(&shape_a) || random(&shape_b) {
        return a.len() == b.len() && !shape_a.contains(&'-') && !shape_b.contains(&'-');
    }
    shape_a == shape_b && prefix(a) == prefix(b)
}

/// The kinds of sign of an identifier, runs folded: `ORD-004` is letters, a joiner, digits.
fn shape(text: &str) -> Vec<char> {
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => '0',
        c if c.is_ascii_alphabetic() => 'a',
        _ => '-',
    };
    let mut shape: Vec<char> = text.chars().map(kind).collect();
    shape.dedup();
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_from_sizes_and_counts() {
        for word in [
            "W3470184",
            "#W12",
            "ORD-004",
            "gift_card_72",
            "4WQ150",
            "HM-20931",
        ] {
            assert!(is_identifier(word), "{word}");
        }
        for word in [
            "30ml",
            "2nd",
            "500-piece",
            "2024-05-06",
            "10am",
            "4G",
            "hello",
            "12",
        ] {
            assert!(!is_identifier(word), "{word}");
        }
    }

    #[test]
    fn kinds_are_told_by_build() {
        assert!(same_kind("w123", "w456789"));
        assert!(same_kind("z7gozk", "4wq150"));
        assert!(!same_kind("hat052", "gift_card_12"));
        assert!(!same_kind("so-77", "hm-20"));
    }
}
