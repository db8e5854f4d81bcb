//! What web pages and mails put around a text: HTML and quoted-printable.

use unicode_normalization::char::compose;

use super::{Encoding, View, decode_codes, hex_byte};

/// References that texts have, and what they stand for.
const REFERENCES: [(&str, char); 36] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("commat", '@'),
    ("period", '.'),
    ("colon", ':'),
    ("semi", ';'),
    ("comma", ','),
    ("sol", '/'),
    ("bsol", '\\'),
    ("lowbar", '_'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("plus", '+'),
    ("equals", '='),
    ("num", '#'),
    ("quest", '?'),
    ("excl", '!'),
    ("percnt", '%'),
    ("dollar", '$'),
    ("ast", '*'),
    ("lpar", '('),
    ("rpar", ')'),
    ("szlig", 'ß'),
    ("shy", '\u{ad}'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("ZeroWidthSpace", '\u{200b}'),
    ("NoBreak", '\u{2060}'),
];

/// The ends of references to a letter with an accent, and the accent: `&eacute;`.
const ACCENTS: [(&str, char); 8] = [
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circ", '\u{302}'),
    ("tilde", '\u{303}'),
    ("uml", '\u{308}'),
    ("ring", '\u{30a}'),
    ("caron", '\u{30c}'),
    ("cedil", '\u{327}'),
];

/// The longest reference, and the longest tag, that is taken off.
const REFERENCE: usize = 16;
const TAG: usize = 2048;

/// Removes the tags of HTML from a text, and decodes its character references.
pub(super) fn strip_html(text: &str) -> Option<View> {
    if !text.contains(['<', '&']) {
        return None;
    }
    decode_codes(Encoding::Html, text, |rest, decoded| {
        if let Some(inside) = rest.strip_prefix('<') {
            return skip_tag(inside, decoded);
        }
        let inside = rest.strip_prefix('&')?;
        let is_name = match inside.as_bytes() {
            [b'#', b'x' | b'X', ..] => u8::is_ascii_hexdigit,
            [b'#', ..] => u8::is_ascii_digit,
            _ => u8::is_ascii_alphanumeric,
        };
        let names = inside.bytes().take(REFERENCE).enumerate();
        let name = names.take_while(|(at, byte)| {
            matches!((at, byte), (0, b'#') | (1, b'x' | b'X')) || is_name(byte)
        });
        let name = name.count();
        let closed = inside[name..].starts_with(';');
        // A number needs no semicolon.
        let sign =
            decode_reference(&inside[..name]).filter(|_| closed || inside.starts_with('#'))?;
        decoded.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        Some(1 + name + usize::from(closed))
    })
}

/// The length of the tag that begins with what is inside. A tag that ends a line sets words apart.
fn skip_tag(inside: &str, decoded: &mut Vec<u8>) -> Option<usize> {
    const INLINE: [&str; 12] = [
        "a", "b", "i", "u", "em", "strong", "span", "code", "font", "mark", "small", "wbr",
    ];
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let is_name = |sign: char| sign.is_ascii_alphanumeric();
    let length = name.find(|sign| !is_name(sign))?;
    let begins =
        name.starts_with(|sign: char| sign.is_ascii_alphabetic()) || inside.starts_with("!--");
    let ends = name[length..].starts_with(['>', ' ', '/', '\n', '\t']) || inside.starts_with("!--");
    let end = inside.bytes().take(TAG).position(|byte| byte == b'>')?;
    if !(begins && ends) || inside[..end].contains('<') {
        return None;
    }
    if !INLINE
        .iter()
        .any(|inline| inline.eq_ignore_ascii_case(&name[..length]))
    {
        decoded.push(b' ');
    }
    Some(end + 2)
}

fn decode_reference(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        let known = REFERENCES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        return known
            .map(|(_, sign)| *sign)
            .or_else(|| accented_letter(name));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

/// The letter that a reference such as `eacute` stands for.
fn accented_letter(name: &str) -> Option<char> {
    let (letter, accent) = name.split_at_checked(1)?;
    let (_, accent) = ACCENTS.iter().find(|(known, _)| *known == accent)?;
    compose(letter.chars().next()?, *accent)
}

/// Decodes quoted-printable: `=40`, and an equals sign that ends a line.
pub(super) fn decode_quoted_printable(text: &str) -> Option<View> {
    if !text.contains('=') {
        return None;
    }
    decode_codes(Encoding::QuotedPrintable, text, |rest, decoded| {
        let behind = rest.strip_prefix('=')?;
        for end in ["\r\n", "\n"] {
            if behind.starts_with(end) {
                return Some(1 + end.len());
            }
        }
        let digits = behind.as_bytes().get(..2)?;
        let upper = digits.iter().all(|digit| !digit.is_ascii_lowercase());
        decoded.push(hex_byte(digits).filter(|_| upper)?);
        Some(3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(view: Option<View>) -> Option<String> {
        view.map(|view| view.text)
    }

    #[test]
    fn html_is_taken_off() {
        for (text_in, text_out) in [
            ("eve&#64;evil&period;example", "eve@evil.example"),
            ("a&#x40;b &amp; c&nbsp;d", "a@b & c d"),
            ("m&uuml;ller&#64evil&#46example", "müller@evil.example"),
            ("W&lowbar;3&hyphen;4", "W_3-4"),
            ("pay <b>GB33</b>BUKB<br/>now", "pay GB33BUKB now"),
            ("<p class=\"x\">Hello</p>there", " Hello there"),
        ] {
            assert_eq!(
                text(strip_html(text_in)).as_deref(),
                Some(text_out),
                "{text_in}"
            );
        }
        for plain in [
            "1 < 2 and 3 > 2",
            "Eve <eve@evil.example>",
            "a & b; c",
            "&unknown;",
            "a&amp b, &zuml;",
            "&#xD800;",
        ] {
            assert_eq!(text(strip_html(plain)), None, "{plain}");
        }
    }

    #[test]
    fn quoted_printable_is_taken_off() {
        assert_eq!(
            text(decode_quoted_printable("eve=40evil.exa=\r\nmple")).as_deref(),
            Some("eve@evil.example")
        );
        assert_eq!(
            text(decode_quoted_printable("M=C3=BCller")).as_deref(),
            Some("Müller")
        );
        assert_eq!(text(decode_quoted_printable("x=y, a=b1")), None);
    }
}
