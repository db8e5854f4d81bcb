//! HTML in a closing: its text, and where its elements part it.

use std::borrow::Cow;

/// What begins where an element parts blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    Paragraph,
    Heading,
    Item,
    Row,
}

/// A part of a block of HTML.
pub(crate) enum Part<'h> {
    /// A text, and where it stood in the block.
    Text(Cow<'h, str>, usize),
    /// An element begins or ends that parts blocks, and this begins.
    Ends(Break),
    /// Bold text begins, or ends.
    Bold(bool),
}

/// Elements whose text is not told by the agent: code, quotations, what is struck out or not shown.
const HIDDEN: [&str; 13] = [
    "blockquote",
    "code",
    "del",
    "head",
    "pre",
    "s",
    "script",
    "strike",
    "style",
    "svg",
    "template",
    "textarea",
    "title",
];

/// Entities, and what they stand for.
const ENTITIES: [(&str, &str); 14] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    ("&#39;", "'"),
    ("&nbsp;", " "),
    ("&lsquo;", "‘"),
    ("&rsquo;", "’"),
    ("&ldquo;", "“"),
    ("&rdquo;", "”"),
    ("&ndash;", "–"),
    ("&mdash;", "—"),
    ("&hellip;", "…"),
];

/// Whether HTML in a closing is told to the reader: the closing is HTML, or this is no page that was made.
pub(crate) fn is_told(closing: &str, block: &str) -> bool {
    let lower = block.to_ascii_lowercase();
    let page = ["<!doctype", "<html", "<head>", "<body"]
        .iter()
        .any(|page| lower.contains(page));
    !page || closing.trim_start().starts_with('<')
}

/// Whether a tag within a line opens, or closes, an element whose text is not told: `<del>`, `</del>`.
pub(crate) fn hides(html: &str) -> Option<bool> {
    let (name, _) = tag(html, 0)?;
    let closes = name.starts_with('/');
    let lower = name.trim_start_matches('/').to_ascii_lowercase();
    let hides = HIDDEN.contains(&&*lower) && !html.ends_with("/>");
    hides.then_some(!closes)
}

/// The parts of a block of HTML, in their order.
pub(crate) fn parts(block: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    // The elements that are open and hide what is in them.
    let mut hidden: Vec<&str> = Vec::new();
    let mut at = 0;
    while at < block.len() {
        let next = block[at..].find('<').map_or(block.len(), |next| at + next);
        if hidden.is_empty() {
            texts(&block[at..next], at, &mut parts);
        }
        let Some((tag, end)) = tag(block, next) else {
            if hidden.is_empty() && next < block.len() {
                parts.push(Part::Text(Cow::Borrowed("<"), next));
            }
            at = (next + 1).min(block.len());
            continue;
        };
        at = end;
        let (name, closes) = match tag.strip_prefix('/') {
            Some(name) => (name, true),
            None => (tag, false),
        };
        let lower = name.to_ascii_lowercase();
        if let Some(element) = HIDDEN.iter().find(|element| **element == lower) {
            let opened = hidden.iter().rposition(|open| open == element);
            match (closes, opened) {
                (true, Some(opened)) => hidden.truncate(opened),
                (false, _) if !block[..end].ends_with("/>") => hidden.push(element),
                _ => {}
            }
            continue;
        }
        if !hidden.is_empty() {
            continue;
        }
        parts.extend(match (&*lower, closes) {
            ("b" | "strong", _) => Some(Part::Bold(!closes)),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => Some(Part::Ends(Break::Heading)),
            ("li" | "dt" | "dd", false) => Some(Part::Ends(Break::Item)),
            ("tr", false) => Some(Part::Ends(Break::Row)),
            ("td" | "th", true) => Some(Part::Text(Cow::Borrowed(" | "), next)),
            ("br", _) => Some(Part::Text(Cow::Borrowed("\n"), next)),
            (
                "p" | "div" | "section" | "article" | "ul" | "ol" | "dl" | "table" | "hr"
                | "details" | "summary" | "header" | "footer" | "main" | "h1" | "h2" | "h3" | "h4"
                | "h5" | "h6" | "li" | "dt" | "dd" | "tr",
                _,
            ) => Some(Part::Ends(Break::Paragraph)),
            _ => None,
        });
    }
    parts
}

/// The name of the tag that begins at a place, with its `/`, and where it ends; a comment has none.
fn tag(block: &str, start: usize) -> Option<(&str, usize)> {
    let rest = block.get(start..)?.strip_prefix('<')?;
    if let Some(comment) = rest.strip_prefix("!--") {
        let end = comment
            .find("-->")
            .map_or(block.len(), |end| start + 4 + end + 3);
        return Some(("", end));
    }
    let named = rest.strip_prefix('/').unwrap_or(rest);
    if !named.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!') {
        return None;
    }
    let name = rest
        .find(|c: char| c.is_whitespace() || c == '>')
        .unwrap_or(rest.len());
    let end = rest
        .find('>')
        .map_or(block.len(), |end| start + 1 + end + 1);
    Some((rest[..name].trim_end_matches('/'), end))
}

/// Gives a text with its entities read.
fn texts<'h>(text: &'h str, start: usize, parts: &mut Vec<Part<'h>>) {
    let mut at = 0;
    while at < text.len() {
        let next = text[at..].find('&').map_or(text.len(), |next| at + next);
        if at < next {
            parts.push(Part::Text(Cow::Borrowed(&text[at..next]), start + at));
        }
        let Some(rest) = text.get(next..).filter(|rest| !rest.is_empty()) else {
            return;
        };
        let known = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        let (entity, sign) = known.copied().unwrap_or(("&", "&"));
        parts.push(Part::Text(Cow::Borrowed(sign), start + next));
        at = next + entity.len();
    }
}
