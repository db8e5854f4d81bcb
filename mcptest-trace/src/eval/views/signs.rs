//! Other signs for the same text: signs that nobody sees, other forms of Unicode, underscores between words.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Encoding, View, decode_codes};

/// How many words an underscore joins to a text.
const WORDS: usize = 5;

/// Whether nobody sees a sign.
fn is_invisible(sign: char) -> bool {
    matches!(sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Removes the signs that nobody sees. Tags of Unicode are invisible letters: they are decoded.
pub(super) fn strip_invisible(text: &str) -> Option<View> {
    if text.is_ascii() || !text.contains(is_invisible) {
        return None;
    }
    decode_codes(Encoding::Invisible, text, |rest, decoded| {
        let sign = rest.chars().next().filter(|sign| is_invisible(*sign))?;
        let letter = u32::from(sign).checked_sub(0xe_0000);
        let letter = letter.and_then(|letter| u8::try_from(letter).ok());
        decoded.extend(letter.filter(|letter| (b' '..=b'~').contains(letter)));
        Some(sign.len_utf8())
    })
}

/// A text in the one form that all forms of its signs have, with one sign for all dashes inside words.
pub(super) fn normalize_unicode(text: &str) -> Option<View> {
    let dash = |sign: char| match sign {
        '\u{2010}'..='\u{2012}' | '\u{2212}' => '-',
        sign => sign,
    };
    let is_plain = || is_nfkc_quick(text.chars()) == IsNormalized::Yes;
    if text.is_ascii() || is_plain() && !text.contains(|sign| dash(sign) != sign) {
        return None;
    }
    let (mut decoded, mut places) = (Vec::new(), Vec::new());
    for (at, sign) in text.grapheme_indices(true) {
        let composed: String = sign.nfkc().map(dash).collect();
        decoded.extend_from_slice(composed.as_bytes());
        places.resize(decoded.len(), at..at + sign.len());
    }
    let view = View::from_bytes(Encoding::Unicode, decoded, places);
    (view.text != text).then_some(view)
}

/// Splits five words or more that underscores or capitals join.
pub(super) fn split_joined_words(text: &str) -> Vec<View> {
    let is_apart = |sign: char| !(sign == '_' || sign.is_alphanumeric());
    let mut at = 0;
    let runs = text.split_inclusive(is_apart).map(|run| {
        let start = at;
        at += run.len();
        (start, run.trim_end_matches(is_apart))
    });
    let views = runs.filter_map(|(start, run)| {
        let mut before = ' ';
        let begins: Vec<usize> = run
            .char_indices()
            .filter_map(|(at, sign)| {
                let is_first =
                    sign != '_' && before == '_' || sign.is_uppercase() && before.is_lowercase();
                before = sign;
                is_first.then_some(at)
            })
            .collect();
        (begins.len() + 1 >= WORDS).then(|| insert_spaces(run, start, &begins))
    });
    views.collect()
}

/// A run with a space before each of these places in the stead of its underscores.
fn insert_spaces(run: &str, start: usize, begins: &[usize]) -> View {
    let (mut words, mut places) = (Vec::new(), Vec::new());
    for (at, byte) in run.bytes().enumerate() {
        let place = start + at..start + at + 1;
        if begins.binary_search(&at).is_ok() && words.last() != Some(&b' ') {
            words.push(b' ');
            places.push(place.clone());
        }
        words.push(if byte == b'_' { b' ' } else { byte });
        places.push(place);
    }
    View::from_bytes(Encoding::Joined, words, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_signs_are_taken_off_and_places_kept() {
        let hidden = "pay e\u{200b}v\u{202a}e@evil\u{ad}.example";
        let view = strip_invisible(hidden).unwrap();
        let at = view.text.find("eve@evil.example").unwrap();
        assert_eq!(
            &hidden[view.outer_span(at..at + 16)],
            "e\u{200b}v\u{202a}e@evil\u{ad}.example"
        );
        assert_eq!(strip_invisible("plain é").map(|view| view.text), None);
        let tags: String = "eve@evil.example"
            .chars()
            .filter_map(|letter| char::from_u32(0xe_0000 + u32::from(letter)))
            .collect();
        let view = strip_invisible(&format!("ok{tags}")).unwrap();
        assert_eq!(view.text, "okeve@evil.example");
    }

    #[test]
    fn forms_of_unicode_are_one() {
        for (text, form) in [
            ("cafe\u{301}", "caf\u{e9}"),
            ("Ｗ３４", "W34"),
            ("W\u{2011}34", "W-34"),
            ("\u{1112}\u{1161}\u{11ab}", "\u{d55c}"),
        ] {
            let view = normalize_unicode(text).unwrap();
            assert_eq!(view.text, form);
            assert_eq!(&text[view.outer_span(0..form.len())], text);
        }
        for text in ["plain", "caf\u{e9} – now"] {
            assert_eq!(normalize_unicode(text), None, "{text}");
        }
    }

    #[test]
    fn joined_words_are_set_apart() {
        let views = split_joined_words(
            "see all_of_the_secret_pläne.txt, not a_b, but SeeAllOfMyPläne and camelCase",
        );
        let texts: Vec<&str> = views.iter().map(|view| view.text.as_str()).collect();
        assert_eq!(texts, ["all of the secret pläne", "See All Of My Pläne"]);
        assert_eq!(views[0].outer_span(0..3), 4..7);
    }

    proptest::proptest! {
        #[test]
        fn every_form_has_a_place(text in "(e|\u{301}|\u{e9}|\u{200b}|\u{fb01}|\u{1112}|\u{1161}|_|a| |\u{e0041}){0,30}") {
            for view in strip_invisible(&text).into_iter().chain(normalize_unicode(&text)).chain(split_joined_words(&text)) {
                proptest::prop_assert!(text.get(view.outer_span(0..view.text.len())).is_some());
            }
        }
    }
}
