//! The texts behind a text: what it says once an encoding is taken off it. What is found behind an encoding
//! has its place in the text in front.

mod code;
mod lines;
mod mail;
mod markdown;
mod runs;
mod signs;

use std::cell::Cell;
use std::ops::Range;

use serde::Serialize;

/// The letters that JSON writes for control characters, behind a backslash.
pub(crate) const CONTROLS: [(char, char); 5] = [
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('b', '\u{8}'),
    ('f', '\u{c}'),
];

/// What is taken off a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Encoding {
    /// The escapes of a text in JSON.
    Json,
    /// The escapes of a text in program code: `\x41`, `\u{41}`, `\101`.
    Code,
    /// Percent encoding, as in URLs.
    Percent,
    /// Base64 of either alphabet.
    Base64,
    /// Two hexadecimal digits a byte.
    Hex,
    /// The references and tags of HTML.
    Html,
    /// Quoted-printable, as in mails.
    QuotedPrintable,
    /// The signs of Markdown around and inside words.
    Markdown,
    /// Signs that nobody sees, such as a space of no width.
    Invisible,
    /// Another form of the same signs in Unicode: a letter and its accent apart, letters of full width.
    Unicode,
    /// Words joined by underscores or capitals.
    Joined,
    /// A line break inside a value.
    Lines,
}

impl Encoding {
    /// Its name, as it stands before what is encoded: `base64`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Code => "the escapes of code",
            Self::Percent => "percent encoding",
            Self::Base64 => "base64",
            Self::Hex => "hex",
            Self::Html => "HTML",
            Self::QuotedPrintable => "quoted-printable",
            Self::Markdown => "Markdown",
            Self::Invisible => "a form with invisible signs",
            Self::Unicode => "another form of Unicode",
            Self::Joined => "joined words",
            Self::Lines => "a form with a line break",
        }
    }
}

/// What a text says once an encoding is taken off, with the places that its bytes come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) text: String,
    /// What was taken off, last.
    pub(crate) encoding: Encoding,
    /// Whether it is lines that stand beside each other in no other text: what a line break cuts in two.
    pub(super) is_cut: bool,
    /// Where each byte of it comes from.
    places: Vec<Range<usize>>,
}

impl View {
    /// The range of the encoded text that a range of this one comes from. Where lines stand beside each other twice, the
    /// end of a range may come from before its beginning.
    pub(crate) fn outer_span(&self, part: Range<usize>) -> Range<usize> {
        match (
            self.places.get(part.start),
            self.places.get(part.end.saturating_sub(1)),
        ) {
            (Some(first), Some(last)) => first.start.min(last.start)..first.end.max(last.end),
            _ => 0..0,
        }
    }

    /// The view of decoded bytes. A byte that is no text becomes a space, so that it hides nothing beside it.
    fn from_bytes(encoding: Encoding, mut bytes: Vec<u8>, places: Vec<Range<usize>>) -> Self {
        let mut from = 0;
        while let Err(error) = std::str::from_utf8(&bytes[from..]) {
            let at = from + error.valid_up_to();
            let end = error.error_len().map_or(bytes.len(), |length| at + length);
            bytes[at..end].fill(b' ');
            from = end;
        }
        Self {
            text: String::from_utf8(bytes).unwrap_or_default(),
            encoding,
            is_cut: encoding == Encoding::Lines,
            places,
        }
    }

    /// A run of an encoding that is taken out as a whole.
    fn from_run(encoding: Encoding, bytes: Vec<u8>, run: &Range<usize>) -> Option<Self> {
        let text = String::from_utf8(bytes).ok()?;
        let printable = |character: char| !character.is_control() || character.is_whitespace();
        let places = vec![run.clone(); text.len()];
        text.chars().all(printable).then_some(Self {
            text,
            encoding,
            is_cut: false,
            places,
        })
    }

    fn is_run(&self) -> bool {
        matches!(self.encoding, Encoding::Base64 | Encoding::Hex)
    }

    /// Whether it is of a run of plain words, which is base64 by chance alone.
    fn is_plain_words(&self, front: &str) -> bool {
        let run = &front[self.outer_span(0..self.text.len())];
        let is_word = |word: &str| {
            let rest = word.get(1..).unwrap_or_default();
            word.is_ascii() && (rest == rest.to_lowercase() || word == word.to_uppercase())
        };
        let digit = |byte: u8| byte.is_ascii_digit();
        self.is_run() && !run.bytes().any(digit) && run.split(['-', '_', '/', '+']).all(is_word)
    }

    /// Moves the places of a view of `front` to the text in front of `front`.
    fn rebased(self, front: &Self) -> Self {
        let places = self.places.into_iter().map(|place| front.outer_span(place));
        Self {
            places: places.collect(),
            encoding: self.encoding,
            is_cut: self.is_cut || front.is_cut,
            text: self.text,
        }
    }
}

/// Every text behind a text: JSON text to two levels, escapes of code, percent encoding, base64 and hex.
pub(crate) fn decoded_views(text: &str) -> Vec<View> {
    let mut views = Vec::new();
    if let Some(once) = decode_json_escapes(text) {
        if let Some(twice) = decode_json_escapes(&once.text) {
            views.push(twice.rebased(&once));
        }
        views.push(once);
    }
    views.extend(code::decode_code_escapes(text));
    views.extend(decode_percent(text));
    views.extend(runs::decode_runs(text));
    views
}

/// Every text behind a text, those behind what pages, mails and signs put around a text too, and behind two encodings.
pub(super) fn all_decoded_views(text: &str) -> Vec<View> {
    let once = |text: &str| {
        let mut views = decoded_views(text);
        views.extend(decode_form(text));
        views.extend(mail::strip_html(text));
        views.extend(mail::decode_quoted_printable(text));
        views.extend(markdown::strip_markdown(text));
        views.extend(signs::strip_invisible(text));
        views.extend(signs::normalize_unicode(text));
        views.extend(signs::split_joined_words(text));
        views.extend(lines::join_lines(text));
        views.retain(|view| !view.is_plain_words(text));
        views
    };
    let mut views = once(text);
    let twice = views.iter().flat_map(|front| {
        let behind = once(&front.text).into_iter();
        let nests = |view: &View| {
            let marks = matches!(view.encoding, Encoding::Percent | Encoding::Html);
            view.encoding != front.encoding || view.is_run() || marks
        };
        let other = behind.filter(nests);
        other.map(|view| view.rebased(front)).collect::<Vec<_>>()
    });
    let twice: Vec<View> = twice.collect();
    views.extend(twice);
    views
}

/// Decodes the percent encoding of a text.
#[cfg(feature = "store")]
#[must_use]
pub fn percent_decoded(text: &str) -> String {
    decode_percent(text).map_or_else(|| text.to_owned(), |view| view.text)
}

fn decode_percent(text: &str) -> Option<View> {
    decode_codes(Encoding::Percent, text, percent_byte)
}

/// The byte that a code of percent encoding stands for, and the length of the code.
fn percent_byte(rest: &str, decoded: &mut Vec<u8>) -> Option<usize> {
    let digits = rest.strip_prefix('%')?.as_bytes().get(..2)?;
    decoded.push(hex_byte(digits)?);
    Some(3)
}

/// Decodes the queries of URLs in a text as forms write them: a plus sign is a space.
fn decode_form(text: &str) -> Option<View> {
    let (in_query, has_plus) = (Cell::new(false), Cell::new(false));
    let view = decode_codes(Encoding::Percent, text, |rest, decoded| {
        match rest.chars().next()? {
            '+' if in_query.get() => {
                has_plus.set(true);
                decoded.push(b' ');
                Some(1)
            }
            '%' => percent_byte(rest, decoded),
            sign => {
                in_query
                    .set(!sign.is_whitespace() && (in_query.get() || matches!(sign, '?' | '=')));
                None
            }
        }
    });
    view.filter(|_| has_plus.get())
}

/// Decodes the escapes of JSON strings. What is no escape stays as it is.
fn decode_json_escapes(text: &str) -> Option<View> {
    decode_codes(Encoding::Json, text, |rest, decoded| {
        let (character, length) = parse_escape(rest)?;
        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Some(length)
    })
}

/// A text with its codes read, where it has any; `code` decodes the one that a text begins with, and
/// says how long it is.
fn decode_codes(
    encoding: Encoding,
    text: &str,
    code: impl Fn(&str, &mut Vec<u8>) -> Option<usize>,
) -> Option<View> {
    let (mut decoded, mut places) = (Vec::new(), Vec::new());
    let (mut at, mut found) = (0, false);
    while let Some(character) = text[at..].chars().next() {
        let read = code(&text[at..], &mut decoded);
        found |= read.is_some();
        let end = at + read.unwrap_or(character.len_utf8());
        if read.is_none() {
            decoded.extend_from_slice(&text.as_bytes()[at..end]);
        }
        places.resize(decoded.len(), at..end);
        at = end;
    }
    found.then(|| View::from_bytes(encoding, decoded, places))
}

/// The character that an escape at the beginning of a text stands for, and its length.
fn parse_escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let short = |character| Some((character, 2));
    match rest.chars().next()? {
        character @ ('"' | '\\' | '/') => short(character),
        'u' => {
            let unit = |at: usize| u16::from_str_radix(text.get(at..at + 4)?, 16).ok();
            let first = unit(2)?;
            let second = text
                .get(6..8)
                .filter(|next| *next == "\\u")
                .and_then(|_| unit(8));
            let pair = second.map(|second| vec![first, second]).unwrap_or_default();
            match char::decode_utf16(pair).next() {
                Some(Ok(character)) if character.len_utf16() == 2 => Some((character, 12)),
                _ => Some((char::from_u32(u32::from(first))?, 6)),
            }
        }
        letter => {
            let (_, control) = CONTROLS.iter().find(|(known, _)| *known == letter)?;
            short(*control)
        }
    }
}

/// The byte that two hex digits are.
fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(text: &str) -> Vec<String> {
        decoded_views(text)
            .into_iter()
            .map(|view| view.text)
            .collect()
    }

    #[test]
    fn each_encoding_is_taken_off() {
        assert!(behind(r"\u0073k-1").contains(&"sk-1".to_owned()));
        assert!(behind(r"\\u0073k-1").contains(&"sk-1".to_owned()));
        assert!(behind("%73k-1").contains(&"sk-1".to_owned()));
        assert!(behind("x: c2stdGVzdC0x!").contains(&"sk-test-1".to_owned()));
        assert!(behind("736b2d7465737431").contains(&"sk-test1".to_owned()));
        assert!(
            behind("nothing at all")
                .iter()
                .all(|text| !text.contains("nothing"))
        );
    }

    #[test]
    fn a_part_of_a_view_is_a_part_of_the_text() {
        let text = r"a \u0073k-1 b";
        let view = decoded_views(text).remove(0);
        let at = view.text.find("sk-1").unwrap();
        assert_eq!(&text[view.outer_span(at..at + 4)], r"\u0073k-1");
        let text = "é %73k";
        let view = decoded_views(text).remove(0);
        let at = view.text.find("sk").unwrap();
        assert_eq!(&text[view.outer_span(at..at + 2)], "%73k");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in r#"([\\u0-9a-f%"é🚀+/=]|[ -~]){0,40}"#) {
            for view in decoded_views(&text) {
                let whole = view.outer_span(0..view.text.len());
                proptest::prop_assert!(text.get(whole).is_some());
            }
        }
    }
}
