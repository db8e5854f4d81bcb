//! What a person sees of a text: two texts with one look cannot be told apart by eye.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::{escape_line, is_hostile};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Characters that look alike: one of them, and the others. What Unicode itself calls a compatible form
/// of another character (full width, ligatures, mathematical letters) is not listed.
const ALIKE: &[(char, &str)] = &[
    ('a', "аɑα"),
    ('b', "Ьƅ"),
    ('c', "сᴄ"),
    ('d', "ԁ"),
    ('e', "е"),
    ('f', "ƒ"),
    ('g', "ɡց"),
    ('h', "һհ"),
    ('i', "іιıɩᎥ"),
    ('j', "јϳ"),
    ('l', "ӏ"),
    ('n', "ո"),
    ('o', "оοօᴏ"),
    ('p', "рρ"),
    ('q', "ԛ"),
    ('s', "ѕꜱ"),
    ('u', "υսᴜ"),
    ('v', "νѵᴠ"),
    ('w', "ԝᴡ"),
    ('x', "хχ×✕"),
    ('y', "уүγ"),
    ('z', "ᴢ"),
    ('A', "АΑᎪ"),
    ('B', "ВΒᏴ"),
    ('C', "СᏟ"),
    ('D', "Ꭰ"),
    ('E', "ЕΕᎬ"),
    ('F', "Ϝ"),
    ('G', "ԌᏀ"),
    ('H', "НΗᎻ"),
    ('I', "ІΙӀ"),
    ('J', "ЈͿᎫ"),
    ('K', "КΚᏦ"),
    ('L', "Ꮮ"),
    ('M', "МΜᎷ"),
    ('N', "Ν"),
    ('O', "ОΟՕ"),
    ('P', "РΡᏢ"),
    ('Q', "Ԛ"),
    ('R', "Ꭱ"),
    ('S', "ЅՏᏚ"),
    ('T', "ТΤᎢ"),
    ('U', "Ս"),
    ('V', "ѴᏙ"),
    ('W', "ԜᎳ"),
    ('X', "ХΧ"),
    ('Y', "ҮΥᎩ"),
    ('Z', "ΖᏃ"),
    ('3', "ЗƷӠ"),
    ('6', "б"),
    // Letters of Latin, Greek and Cyrillic that look like no ASCII letter.
    ('Đ', "ÐƉ"),
    ('ß', "β"),
    ('ə', "әǝ"),
    ('κ', "кĸ"),
    ('ε', "єɛ"),
    ('π', "п"),
    ('φ', "ф"),
    ('Γ', "Г"),
    ('Δ', "∆"),
    ('Π', "П∏"),
    ('Σ', "∑"),
    ('Φ', "Ф"),
    // The comma below a letter, and the cedilla.
    ('\u{327}', "\u{326}"),
    // Punctuation.
    ('-', "‐‒–—―−⁃˗"),
    ('\'', "’‘‛′´ʼʻʹʽꞌ"),
    ('"', "“”„‟″〃"),
    (',', "‚"),
    ('·', "•‧∙⋅・"),
    (':', "∶։꞉"),
    ('!', "ǃ"),
    ('/', "⁄∕⧸"),
    ('\\', "∖⧵"),
    ('|', "ǀ∣│"),
    ('<', "‹"),
    ('>', "›"),
    ('*', "∗⁎"),
    ('~', "∼˜〜"),
    ('^', "ˆ"),
    // Letters and digits of Arabic that some languages write with another character.
    ('ي', "یى"),
    ('ك', "ک"),
    ('٠', "۰"),
    ('١', "۱"),
    ('٢', "۲"),
    ('٣', "۳"),
    ('٧', "۷"),
    ('٨', "۸"),
    ('٩', "۹"),
    // Kana, and the Chinese characters of their shape.
    ('一', "ー"),
    ('二', "ニ"),
    ('三', "ミ"),
    ('八', "ハ"),
    ('力', "カ"),
    ('千', "チ"),
    ('口', "ロ"),
    ('夕', "タ"),
    ('工', "エ"),
    ('才', "オ"),
    ('卜', "ト"),
    ('へ', "ヘ"),
    ('り', "リ"),
];

static PLAIN: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let rows = ALIKE.iter();
    rows.flat_map(|(plain, others)| others.chars().map(|other| (other, *plain)))
        .collect()
});

/// The skeleton of a text as messages show it. Texts that look the same have one skeleton.
pub(super) fn visible_skeleton(text: &str) -> String {
    let shown = escape_line(text);
    if shown.is_ascii() {
        return shown.into_owned();
    }
    let seen = without_variation_selectors(&shown).map(prototype);
    seen.nfkd().map(prototype).collect()
}

/// A text as messages show it, without variation selectors and composed.
pub(super) fn composed_visible(text: &str) -> String {
    without_variation_selectors(&escape_line(text))
        .nfc()
        .collect()
}

/// The skeleton of a text: plain characters in place of those that look like them, and no invisible ones.
pub(super) fn skeleton(text: &str) -> String {
    prototype_characters(text).nfc().collect()
}

/// The first part of a text that looks like another text when both are read with plain characters, and is
/// not equal to it.
///
/// ```
/// use mcptest_trace::text::find_lookalike;
///
/// assert_eq!(find_lookalike("a b", "say a\u{a0}b."), Some("a\u{a0}b"));
/// assert_eq!(find_lookalike("a b", "say a b."), None);
/// ```
#[must_use]
pub fn find_lookalike<'t>(wanted: &str, text: &'t str) -> Option<&'t str> {
    let (wanted_plainly, _) = skeleton_with_ranges(wanted);
    if wanted_plainly.trim().is_empty() || text.contains(wanted) {
        return None;
    }
    let (plainly, places) = skeleton_with_ranges(text);
    let start = plainly.find(&wanted_plainly)?;
    let (from, to) = (
        places[start].start,
        places[start + wanted_plainly.len() - 1].end,
    );
    Some(&text[from..to])
}

/// The names among some that look like another of others and are not equal to it, each with this other.
#[must_use]
pub fn lookalike_pairs<'t>(
    some: impl IntoIterator<Item = &'t str>,
    others: impl IntoIterator<Item = &'t str>,
) -> Vec<(&'t str, &'t str)> {
    let others: HashMap<String, &str> = others
        .into_iter()
        .map(|it| (visible_skeleton(it), it))
        .collect();
    let pairs = some.into_iter();
    let pairs = pairs.filter_map(|it| Some((it, *others.get(&visible_skeleton(it))?)));
    pairs.filter(|(one, other)| one != other).collect()
}

/// The skeleton of a text with single spaces. For each byte of it, the range of the text that it was made of.
fn skeleton_with_ranges(text: &str) -> (String, Vec<Range<usize>>) {
    let (mut plainly, mut places) = (String::new(), Vec::<Range<usize>>::new());
    let mut letters = text.char_indices().peekable();
    while let Some((at, _)) = letters.next() {
        // A letter with its marks, whose order does not matter.
        while letters
            .next_if(|(_, mark)| is_combining_mark(*mark))
            .is_some()
        {}
        let end = letters.peek().map_or(text.len(), |(next, _)| *next);
        let letter: String = prototype_characters(&text[at..end])
            .map(|it| if it.is_whitespace() { ' ' } else { it })
            .collect();
        if letter == " " && plainly.ends_with(' ') {
            if let Some(last) = places.last_mut() {
                last.end = end;
            }
            continue;
        }
        plainly += &letter;
        places.resize(plainly.len(), at..end);
    }
    (plainly, places)
}

fn prototype_characters(text: &str) -> impl Iterator<Item = char> {
    let seen = without_variation_selectors(text).filter_map(|character| match character {
        '\n' | '\r' | '\t' => Some(character),
        blank if blank.is_whitespace() || blank == '\u{2800}' => Some(' '),
        hidden if is_hostile(hidden) => None,
        other => Some(prototype(other)),
    });
    seen.nfkd().map(prototype)
}

fn without_variation_selectors(text: &str) -> impl Iterator<Item = char> {
    let chooses_a_form =
        |character: &char| matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    text.chars().filter(move |it| !chooses_a_form(it))
}

fn prototype(character: char) -> char {
    if character.is_ascii() {
        return character;
    }
    PLAIN.get(&character).copied().unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_one_look() {
        let mut known = std::collections::BTreeSet::new();
        for (of, others) in ALIKE {
            assert!(known.insert(*of), "{of}");
            assert_eq!(prototype(*of), *of, "{of}");
            for other in others.chars() {
                assert!(!other.is_ascii() && known.insert(other), "{other}");
                assert_eq!(
                    visible_skeleton(&other.to_string()),
                    visible_skeleton(&of.to_string()),
                    "{other}"
                );
            }
        }
    }

    #[test]
    fn texts_that_look_alike_have_one_look() {
        for (one, other) in [
            ("paypal", "p\u{430}ypal"),
            ("A-1", "\u{410}-1"),
            ("O1", "\u{39f}1"),
            ("A-1", "A\u{2011}1"),
            ("A-1", "A\u{2010}1"),
            ("-1", "\u{2212}1"),
            ("A1", "\u{ff21}\u{ff11}"),
            ("file", "\u{fb01}le"),
            ("Z\u{fc}rich", "Zu\u{308}rich"),
            ("\u{c5}", "\u{212b}"),
            ("'", "\u{2019}"),
            ("...", "\u{2026}"),
            ("a;b", "a\u{37e}b"),
            ("\u{eb}", "\u{435}\u{308}"),
            ("\u{219}i", "\u{15f}i"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
            ("\u{304c}", "\u{304b}\u{3099}"),
            ("\u{2764}", "\u{2764}\u{fe0f}"),
        ] {
            assert_eq!(
                visible_skeleton(one),
                visible_skeleton(other),
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn a_part_is_found_however_it_is_written() {
        for (wanted, text, part) in [
            ("a b", "x a\u{a0}b y", Some("a\u{a0}b")),
            ("ab", "x a\u{ad}b y", Some("a\u{ad}b")),
            ("Z\u{fc}rich", "in Zu\u{308}rich.", Some("Zu\u{308}rich")),
            ("Zu\u{308}rich", "in Z\u{fc}rich.", Some("Z\u{fc}rich")),
            ("file", "a \u{fb01}le", Some("\u{fb01}le")),
            ("paypal", "at p\u{430}ypal", Some("p\u{430}ypal")),
            ("paypal", "at paypal, p\u{430}ypal", None),
            ("a b", "a \t b", Some("a \t b")),
            ("a b", "a\u{2800}b", Some("a\u{2800}b")),
            ("e\u{302}\u{323}!", "\u{1ec7}!", Some("\u{1ec7}!")),
            (
                "e\u{302}\u{323}!",
                "e\u{323}\u{302}!",
                Some("e\u{323}\u{302}!"),
            ),
            ("a b", "ab", None),
            (" ", "a", None),
            ("", "a", None),
            ("\u{200b}", "a", None),
            ("\u{308}", "u\u{308}", None),
        ] {
            assert_eq!(find_lookalike(wanted, text), part, "{wanted:?}");
        }
    }

    #[test]
    fn names_of_one_look_are_paired() {
        let pairs = lookalike_pairs(["paypal", "a", "b"], ["p\u{430}ypal", "a", "\u{432}"]);
        assert_eq!(pairs, [("paypal", "p\u{430}ypal")]);
    }

    #[test]
    fn what_a_person_sees_stays_different() {
        for (one, other) in [
            ("I1", "l1"),
            ("ab", "a\u{200b}b"),
            ("a b", "a\u{a0}b"),
            ("u", "\u{fc}"),
            ("\u{43c}", "m"),
            ("a b", "a  b"),
        ] {
            assert_ne!(
                visible_skeleton(one),
                visible_skeleton(other),
                "{one:?} {other:?}"
            );
        }
    }
}
