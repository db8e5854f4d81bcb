//! Where something stands in a JSON text: line, column and the text around it.
//!
//! Nothing here runs for a text that is as it should be.

use std::borrow::Cow;
use std::fmt;

use crate::text::escape_line;
use serde_json::Value;

use super::number;

/// Characters of a line that are shown before and after the place.
const AROUND: usize = 48;

/// A place in a file, with the text around it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// The line, or the part of it around the place, cleaned.
    pub excerpt: String,
    /// The character of the excerpt that is meant, from 0.
    pub mark: usize,
}

impl Place {
    /// The place of a byte, in a text whose first line is `first_line` of its file.
    pub(super) fn of(bytes: &[u8], offset: usize, first_line: usize) -> Self {
        let offset = offset.min(bytes.len());
        let (before, after) = bytes.split_at(offset);
        let start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let breaks = before.split(|byte| *byte == b'\n').count() - 1;
        let until = after.iter().position(|byte| *byte == b'\n');
        let left = String::from_utf8_lossy(&before[start..]);
        let right = String::from_utf8_lossy(&after[..until.unwrap_or(after.len())]);
        let column = left.chars().count() + 1;
        let (left, right) = (last(&left), first(right.trim_end()));
        let cleaned = escape_line(left.trim_start());
        Self {
            line: first_line + breaks,
            column,
            mark: cleaned.chars().count(),
            excerpt: format!("{cleaned}{}", escape_line(&right)),
        }
    }
}

/// The end of a text.
fn last(text: &str) -> Cow<'_, str> {
    match text.char_indices().rev().nth(AROUND) {
        Some((at, cut)) => format!("…{}", &text[at + cut.len_utf8()..]).into(),
        None => text.into(),
    }
}

/// The beginning of a text.
fn first(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(AROUND) {
        Some((at, _)) => format!("{}…", &text[..at]).into(),
        None => text.into(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Something that a [`Value`] of the text does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) path: String,
    pub(super) offset: usize,
    pub(super) what: Loss,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loss {
    /// A key that stood in the same object before.
    Key,
    /// A number that would be rounded, as it is spelt.
    Number(String),
}

/// Every key that stands twice and every number of a valid JSON text that is not kept.
pub(super) fn losses(bytes: &[u8]) -> Vec<Lost> {
    let mut walk = Walk::new(bytes, None);
    walk.value();
    walk.lost
}

/// The byte at which the value of a path begins in a valid JSON text; of a path that leads nowhere,
/// the value that it leaves. `None` for a text that does not begin with a value.
pub(super) fn find(bytes: &[u8], path: &str) -> Option<usize> {
    let mut walk = Walk::new(bytes, Some(path));
    walk.value();
    walk.best.map(|(_, offset)| offset)
}

/// The byte at which the key of a path begins, as [`find`] finds its value.
pub(super) fn find_key(bytes: &[u8], path: &str) -> Option<usize> {
    let mut walk = Walk::new(bytes, Some(path));
    walk.value();
    walk.key.or(walk.best.map(|(_, offset)| offset))
}

/// One walk through a JSON text that was parsed before, so that it is valid and not nested too deep.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The path of the value that is being read.
    path: String,
    wanted: Option<&'a str>,
    /// The longest path found that the wanted one begins with, and its value.
    best: Option<(usize, usize)>,
    /// The key of the wanted path.
    key: Option<usize>,
    lost: Vec<Lost>,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8], wanted: Option<&'a str>) -> Self {
        Self {
            bytes,
            at: 0,
            path: String::new(),
            wanted,
            best: None,
            key: None,
            lost: Vec::new(),
        }
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self) {
        let Some(byte) = self.peek() else { return };
        self.note();
        match byte {
            b'{' => self.entries(b'}', Self::member),
            b'[' => self.entries(b']', Self::element),
            b'"' => {
                self.text();
            }
            _ => self.word(),
        }
    }

    /// Notes the value here if the wanted path leads through it.
    fn note(&mut self) {
        let Some(wanted) = self.wanted else { return };
        let length = self.path.len();
        let leads = wanted
            .strip_prefix(self.path.as_str())
            .is_some_and(|rest| length == 0 || rest.is_empty() || rest.starts_with(['.', '[']));
        if leads && self.best.is_none_or(|(best, _)| length > best) {
            self.best = Some((length, self.at));
        }
    }

    /// What stands between the brackets, entry by entry.
    fn entries(&mut self, end: u8, mut entry: impl FnMut(&mut Self, usize, &mut Keys)) {
        self.at += 1;
        let mut keys = Keys::new();
        let length = self.path.len();
        for index in 0.. {
            match self.peek() {
                None => return,
                Some(byte) if byte == end => break,
                Some(b',') => self.at += 1,
                Some(_) => {}
            }
            entry(self, index, &mut keys);
            self.path.truncate(length);
        }
        self.at += 1;
    }

    fn member(&mut self, _: usize, keys: &mut Keys) {
        self.peek();
        let start = self.at;
        let key = self.text();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&key);
        if self.wanted == Some(self.path.as_str()) {
            self.key.get_or_insert(start);
        }
        if !keys.insert(key) && self.wanted.is_none() {
            self.lose(start, Loss::Key);
        }
        if self.peek() == Some(b':') {
            self.at += 1;
        }
        self.value();
    }

    fn element(&mut self, index: usize, _: &mut Keys) {
        self.path.push_str(&format!("[{index}]"));
        self.value();
    }

    /// A string, read past its end.
    fn text(&mut self) -> String {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.bytes[start..].iter().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at = start + offset + 1;
                    return serde_json::from_slice(&self.bytes[start..self.at]).unwrap_or_default();
                }
                _ => {}
            }
        }
        self.at = self.bytes.len();
        String::new()
    }

    /// A number, `true`, `false` or `null`, read past its end.
    fn word(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:]}[{\"".contains(byte);
        // At least one byte, so that the walk ends whatever stands here.
        self.at += rest.iter().position(ends).unwrap_or(rest.len()).max(1);
        let word = String::from_utf8_lossy(&rest[..self.at - start]);
        let is_number = word.starts_with(|sign: char| sign == '-' || sign.is_ascii_digit());
        if is_number && !number::is_kept(&word) {
            let word = word.into_owned();
            self.lose(start, Loss::Number(word));
        }
    }

    fn lose(&mut self, offset: usize, what: Loss) {
        let path = self.path.clone();
        self.lost.push(Lost { path, offset, what });
    }
}

/// The keys of an object.
type Keys = std::collections::HashSet<String>;

/// Whether a text is a JSON object.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "{\n  \"a\": [1, {\"b.c\": \"\\\"}\"}],\n  \"d\": {\"e\": null}\n}";

    fn found(path: &str) -> &str {
        &TEXT[find(TEXT.as_bytes(), path).unwrap()..]
    }

    #[test]
    fn a_path_leads_to_its_value() {
        assert!(found("a").starts_with("[1"));
        assert!(found("a[1]").starts_with("{\"b.c\""));
        assert!(found("a[1].b.c").starts_with("\"\\\"}\""));
        assert!(found("d.e").starts_with("null"));
        assert!(found("").starts_with("{\n"));
    }

    #[test]
    fn a_key_is_found_before_its_value() {
        let key = |path| &TEXT[find_key(TEXT.as_bytes(), path).unwrap()..];
        assert!(key("d.e").starts_with("\"e\": null"));
        assert!(key("a[1].b.c").starts_with("\"b.c\":"));
        assert!(key("d.f").starts_with("{\"e\""));
    }

    #[test]
    fn a_path_that_leads_nowhere_ends_where_it_leaves() {
        assert!(found("d.f.g").starts_with("{\"e\""));
        assert!(found("a[7]").starts_with("[1"));
        assert!(found("ab").starts_with("{\n"));
    }

    #[test]
    fn what_is_lost_is_named_with_its_path() {
        let text = r#"{"a":{"b":1,"b":[{},18446744073709551616,1e300,-0,1.10]},"a":0,"c":12345678901234567890,"d":[true,0.12345678901234567890]}"#;
        let losses = losses(text.as_bytes());
        let named: Vec<_> = losses
            .iter()
            .map(|lost| (lost.path.as_str(), &lost.what))
            .collect();
        let number = Loss::Number("18446744073709551616".to_owned());
        let fraction = Loss::Number("0.12345678901234567890".to_owned());
        let expected = [
            ("a.b", &Loss::Key),
            ("a.b[1]", &number),
            ("a", &Loss::Key),
            ("d[1]", &fraction),
        ];
        assert_eq!(named, expected);
        assert!(text[losses[0].offset..].starts_with("\"b\":["));
    }

    #[test]
    fn the_place_has_line_column_and_excerpt() {
        let place = Place::of(TEXT.as_bytes(), find(TEXT.as_bytes(), "d.e").unwrap(), 1);
        assert_eq!((place.line, place.column), (3, 14));
        assert_eq!(place.excerpt, "\"d\": {\"e\": null}");
        assert_eq!(place.excerpt.split_at(place.mark).1, "null}");
    }

    #[test]
    fn long_and_hostile_lines_are_cut_and_cleaned() {
        let text = format!("{}\u{1b}[31mX{}", "a".repeat(1000), "b".repeat(1000));
        let place = Place::of(text.as_bytes(), 1005, 7);
        assert_eq!((place.line, place.column), (7, 1006));
        assert!(!place.excerpt.contains('\u{1b}'));
        assert!(place.excerpt.chars().count() < 120, "{}", place.excerpt);
        assert_eq!(place.excerpt.chars().nth(place.mark), Some('X'));
    }

    proptest! {
        #[test]
        fn no_text_stops_a_walk(bytes in prop::collection::vec(any::<u8>(), 0..60), path in ".{0,8}") {
            let text = String::from_utf8_lossy(&bytes);
            losses(text.as_bytes());
            if let Some(offset) = find(&bytes, &path) {
                Place::of(&bytes, offset, 1);
            }
        }

        #[test]
        fn no_json_like_text_stops_a_walk(text in "[\\[\\]{}\",:a1 ]{0,40}") {
            losses(text.as_bytes());
            find(text.as_bytes(), "a[1].a");
        }
    }
}
