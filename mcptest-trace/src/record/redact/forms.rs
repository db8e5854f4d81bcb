//! The forms a secret can stand in, as one regular expression.

use crate::eval::views::CONTROLS;

/// Secrets below this many bytes are not looked for in hex: they would be found everywhere.
const HEX: usize = 4;

/// Secrets below this many bytes are not looked for in base64.
const BASE64: usize = 6;

pub(super) const ALPHABET: &[u8; 64] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A backslash, which a URL may hold in percent encoding.
const BACKSLASH: &str = r"(?:\\|%(?:25)?5[cC])";

/// A pattern that matches a secret in each of its forms.
pub(super) fn pattern(secret: &str) -> String {
    let mut forms = vec![text_pattern(secret)];
    // A secret with backslashes may itself be taken from JSON text.
    if let Some(unescaped) = unescape_json(secret) {
        forms.push(text_pattern(&unescaped));
    }
    if secret.len() >= HEX {
        forms.push(secret.bytes().map(hex_pattern).collect());
    }
    if secret.len() >= BASE64 {
        for before in 0..3 {
            let run = base64(secret.as_bytes(), before);
            forms.push(run.into_iter().map(base64_character).collect());
        }
    }
    forms.join("|")
}

/// The secret as it is, in JSON text to two levels, and in percent encoding.
pub(super) fn text_pattern(secret: &str) -> String {
    let mut pattern = String::new();
    for (index, character) in secret.chars().enumerate() {
        if character.is_ascii_alphanumeric() {
            // In JSON text, an escaped line break before `ame` reads `name`.
            let mut controls = CONTROLS.iter().filter(|_| index == 0);
            match controls.find(|(letter, _)| *letter == character) {
                Some((_, control)) => {
                    let control = u32::from(*control);
                    pattern.push_str(&format!(r"(?:{character}|\x{control:02x})"));
                }
                None => pattern.push(character),
            }
            continue;
        }
        pattern.push_str(&format!("(?:{})", spellings(character).join("|")));
    }
    pattern
}

/// How encoders write a character that is no ASCII letter or digit.
fn spellings(character: char) -> Vec<String> {
    let escaped = regex::escape(&character.to_string());
    let mut spellings = Vec::new();
    match character {
        '\\' => {
            spellings.extend([4, 2].map(|count| format!("{BACKSLASH}{{{count}}}")));
        }
        '"' => spellings.extend(
            [3, 1]
                .map(|count| format!("{BACKSLASH}{{{count}}}\"|{BACKSLASH}{{{count}}}%(?:25)?22")),
        ),
        '/' => spellings.push(format!("{BACKSLASH}{{1,2}}/")),
        ' ' => spellings.push(r"\+".to_owned()),
        _ => {}
    }
    for (letter, _) in CONTROLS.iter().filter(|(_, it)| *it == character) {
        spellings.push(format!("{BACKSLASH}{{1,2}}{letter}"));
    }
    let mut units = [0; 2];
    let units = character.encode_utf16(&mut units);
    let unicode = units.iter().map(|unit| {
        let [high, low] = unit.to_be_bytes();
        format!(
            "{BACKSLASH}{{1,2}}u{}{}",
            hex_pattern(high),
            hex_pattern(low)
        )
    });
    spellings.push(unicode.collect());
    let mut bytes = [0; 4];
    let bytes = character.encode_utf8(&mut bytes).bytes();
    spellings.push(bytes.map(percent_pattern).collect());
    spellings.push(escaped);
    spellings
}

/// Percent encoding, once or twice.
fn percent_pattern(byte: u8) -> String {
    format!("%(?:25)?{}", hex_pattern(byte))
}

/// Two hex digits in either case.
fn hex_pattern(byte: u8) -> String {
    format!("{byte:02x}")
        .chars()
        .map(|digit| {
            if digit.is_ascii_digit() {
                digit.to_string()
            } else {
                format!("[{digit}{}]", digit.to_ascii_uppercase())
            }
        })
        .collect()
}

/// The base64 characters that a secret alone determines, with so many bytes (0 to 2) before it in
/// its group of three. Those at the ends that it shares with its neighbours are left out.
fn base64(secret: &[u8], before: usize) -> Vec<u8> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let bit = |index: usize| {
        let byte = bytes.get(index / 8).copied().unwrap_or_default();
        usize::from(byte >> (7 - index % 8) & 1)
    };
    let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    let characters = (from..to).map(|character| {
        let value = (0..6).fold(0, |value, index| value << 1 | bit(character * 6 + index));
        ALPHABET[value]
    });
    characters.collect()
}

/// A base64 character in the standard and the URL alphabet, also inside a URL or JSON text.
fn base64_character(character: u8) -> String {
    match character {
        b'+' => format!(
            r"(?:[+\-]|{}|{BACKSLASH}{{1,2}}u00{})",
            percent_pattern(b'+'),
            hex_pattern(b'+')
        ),
        b'/' => format!(
            r"(?:[/_]|{BACKSLASH}{{1,2}}/|{}|{BACKSLASH}{{1,2}}u00{})",
            percent_pattern(b'/'),
            hex_pattern(b'/')
        ),
        other => char::from(other).to_string(),
    }
}

/// A text with backslashes read as the inside of a JSON string, where it is one.
fn unescape_json(secret: &str) -> Option<String> {
    let has_escapes = secret.contains('\\');
    let read = || serde_json::from_str::<String>(&format!("\"{secret}\"")).ok();
    has_escapes
        .then(read)
        .flatten()
        .filter(|text| !text.is_empty())
}
