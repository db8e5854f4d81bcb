//! What the tags of HTML say of how a text looks. Any two pages share that: in a tag, such a value is a part, and is
//! told only where it stands by itself elsewhere. What a tag links to or shows is a value as in any text.

use std::ops::Range;

use super::words::RARE;
use super::{TextValue, ValueKind};

/// The longest tag.
const LONGEST: usize = 2048;

/// The tags whose names say nothing of where a text comes from.
const TAGS: [&str; 72] = [
    "!doctype",
    "a",
    "abbr",
    "article",
    "aside",
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figure",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "input",
    "ins",
    "label",
    "li",
    "link",
    "main",
    "mark",
    "meta",
    "nav",
    "ol",
    "p",
    "pre",
    "s",
    "section",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "style",
    "title",
    "wbr",
];

/// The attributes that say how a text looks.
const LOOKS: [&str; 27] = [
    "style",
    "class",
    "charset",
    "width",
    "height",
    "align",
    "valign",
    "border",
    "cellpadding",
    "cellspacing",
    "bgcolor",
    "color",
    "lang",
    "dir",
    "type",
    "rel",
    "role",
    "face",
    "size",
    "media",
    "http-equiv",
    "xmlns",
    "target",
    "colspan",
    "rowspan",
    "rules",
    "name",
];

/// Makes parts of the values that tags have. Words of tags and of the text between them are no stretch: the text
/// behind HTML has those of the text.
pub(super) fn demote_tag_values(text: &str, found: &mut Vec<TextValue>) {
    let marks = style_ranges(text);
    if marks.is_empty() {
        return;
    }
    found.retain_mut(|value| {
        let at = marks.partition_point(|mark| mark.end <= value.span.start);
        let mark = marks.get(at).filter(|mark| mark.start < value.span.end);
        let Some(mark) = mark else { return true };
        let inside = mark.start <= value.span.start && value.span.end <= mark.end;
        match value.kind {
            ValueKind::Words { rare, .. } => {
                value.kind = ValueKind::Part;
                inside && rare.count_ones() >= RARE
            }
            ValueKind::Date { day, .. } if inside => {
                value.kind = ValueKind::Date { day, part: true };
                true
            }
            _ if inside => {
                value.kind = ValueKind::Part;
                true
            }
            _ => true,
        }
    });
}

/// Whether a text is a tag that says how a text looks, and nothing else.
pub(in crate::eval) fn is_style_tag(text: &str) -> bool {
    let text = text.trim();
    style_ranges(text).first() == Some(&(0..text.len()))
}

/// The parts of the tags of a text that say how it looks.
fn style_ranges(text: &str) -> Vec<Range<usize>> {
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|place| at + place) {
        at = push_tag_ranges(text, start, &mut marks).unwrap_or(start + 1);
    }
    marks
}

/// The marks of the tag that begins at a place, and its end.
fn push_tag_ranges(text: &str, start: usize, marks: &mut Vec<Range<usize>>) -> Option<usize> {
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || "-:!".contains(sign);
    let inside = &text[start + 1..];
    let length = inside
        .bytes()
        .take(LONGEST)
        .position(|byte| matches!(byte, b'>' | b'<'))
        .filter(|length| inside.as_bytes()[*length] == b'>')?;
    let inside = &inside[..length];
    let end = start + 1 + length + 1;
    let named = inside.strip_prefix('/').unwrap_or(inside);
    let name = &named[..named.find(|sign| !is_name(sign)).unwrap_or(named.len())];
    let is_known = |known: &&str| known.eq_ignore_ascii_case(name);
    if !TAGS.iter().any(is_known) {
        return None;
    }
    let mut from = start;
    let mut rest = &named[name.len()..];
    while let Some(equals) = rest.find('=').filter(|_| !name.starts_with('!')) {
        let attribute = rest[..equals].trim_end();
        let attribute = attribute
            .rsplit(|sign| !is_name(sign))
            .next()
            .unwrap_or_default();
        let value = rest[equals + 1..].trim_start();
        let open = value.trim_start_matches('\\');
        let (value, behind) = match open.chars().next().filter(|sign| "\"'".contains(*sign)) {
            Some(quote) => open[1..].split_once(quote).unwrap_or((&open[1..], "")),
            None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
        };
        let is_view = ["width=", "text/html"]
            .iter()
            .any(|view| value.starts_with(view));
        let looks = LOOKS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(attribute))
            || is_view && attribute.eq_ignore_ascii_case("content");
        if !looks {
            let value_end = end - 1 - behind.len();
            let value_start = value_end - (rest.len() - equals - 1 - behind.len());
            marks.push(from..value_start);
            from = value_end;
        }
        rest = behind;
    }
    marks.push(from..end);
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tag_shows_or_links_to_is_no_mark() {
        let left = |text: &str| {
            let mut left = text.to_owned();
            for mark in style_ranges(text).into_iter().rev() {
                left.replace_range(mark, "|");
            }
            left
        };
        for (text, rest) in [
            ("<p>a</p>", "|a|"),
            ("<p style=\"font-size:14px\" class=x>a", "|a"),
            ("<P STYLE='a' >b< /p>", "|b< /p>"),
            (
                "<a class='x' href=\"https://a.example\" rel=n>b</a>",
                "|\"https://a.example\"|b|",
            ),
            ("<img src=a.png width=3><br/>", "|a.png||"),
            ("<td style=\\\"a\\\" id=\\\"b\\\">", "|\\\"b\\\"|"),
            (
                "<meta name=\"viewport\" content=\"width=device-width\">",
                "|",
            ),
            ("<!DOCTYPE html PUBLIC \"http://a.example\">", "|"),
            (
                "write <eve@evil.example>, <secret> and 1 < 2",
                "write <eve@evil.example>, <secret> and 1 < 2",
            ),
        ] {
            assert_eq!(left(text), rest, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_tag_is_too_odd(text in "(<p|</|>|=|\"|'|\\\\| |é|style|[a-z<>]){0,30}") {
            for mark in style_ranges(&text) {
                proptest::prop_assert!(text.get(mark).is_some());
            }
        }
    }
}
