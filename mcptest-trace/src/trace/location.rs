//! Where something stands in a JSON text: line, column and the text around it.
//!
//! Nothing here runs for a text that is as it should be.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use crate::text::{escape_line, truncate};
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::number;

/// Characters of a line that are shown before and after the place.
const AROUND: usize = 48;

/// How deep a walk goes, which is deeper than what is read.
const DEEPEST: usize = 130;

/// A place in a file, with the text around it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// The line, or the part of it around the place, cleaned.
    pub excerpt: String,
    /// The character of the excerpt that is meant, from 0.
    pub mark: usize,
}

impl Location {
    /// The place of a byte, in a text whose first line is `first_line` of its file.
    pub(super) fn at_offset(bytes: &[u8], offset: usize, first_line: usize) -> Self {
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
        let (left, right) = (tail(&left), truncate(right.trim_end(), AROUND));
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
fn tail(text: &str) -> Cow<'_, str> {
    match text.char_indices().rev().nth(AROUND) {
        Some((at, cut)) => format!("…{}", &text[at + cut.len_utf8()..]).into(),
        None => text.into(),
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Something that a [`Value`] of the text does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LossyValue {
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
pub(super) fn losses(bytes: &[u8]) -> Vec<LossyValue> {
    Walk::through(bytes, None).lost
}

/// A JSON text in which each number that a [`Value`] would round is the text that `spell` makes of it, where
/// there are such numbers.
pub fn without_rounding(text: &str, spell: impl FnMut(&str) -> String) -> Option<String> {
    let (mut whole, mut copied, mut spell) = (String::new(), 0, spell);
    for lost in losses(text.as_bytes()) {
        if let Loss::Number(literal) = lost.what {
            whole.push_str(&text[copied..lost.offset]);
            whole.push_str(&Value::String(spell(&literal)).to_string());
            copied = lost.offset + literal.len();
        }
    }
    (copied > 0).then(|| whole + &text[copied..])
}

/// The byte at which the value of a path begins in a valid JSON text; of a path that leads nowhere,
/// the value that it leaves. `None` for a text that is no JSON.
pub(super) fn find_value(bytes: &[u8], path: &str) -> Option<usize> {
    let walk = Walk::through(bytes, Some(path));
    walk.best.map(|(_, offset)| offset)
}

/// The byte at which the key of a path begins, as [`find`] finds its value.
pub(super) fn find_key(bytes: &[u8], path: &str) -> Option<usize> {
    let walk = Walk::through(bytes, Some(path));
    walk.key.or(walk.best.map(|(_, offset)| offset))
}

/// One walk through a JSON text.
struct Walk<'a> {
    bytes: &'a [u8],
    /// The path of the value that is being read.
    path: String,
    wanted: Option<&'a str>,
    /// The longest path found that the wanted one begins with, and its value.
    best: Option<(usize, usize)>,
    /// The key of the wanted path.
    key: Option<usize>,
    lost: Vec<LossyValue>,
}

impl<'a> Walk<'a> {
    fn through(bytes: &'a [u8], wanted: Option<&'a str>) -> Self {
        let mut walk = Self {
            bytes,
            path: String::new(),
            wanted,
            best: None,
            key: None,
            lost: Vec::new(),
        };
        if let Ok(whole) = serde_json::from_slice(bytes) {
            walk.value(whole, 0);
        }
        walk
    }

    fn value(&mut self, value: &'a RawValue, depth: usize) {
        let text = value.get();
        let length = self.path.len();
        self.note(text);
        match text.as_bytes() {
            [b'{' | b'[', ..] if depth == DEEPEST => {}
            [b'{', ..] => {
                let mut keys = HashSet::new();
                let entries = serde_json::Deserializer::from_str(text).deserialize_map(Entries);
                for (key, value) in entries.unwrap_or_default() {
                    self.key(key.get(), &mut keys);
                    self.value(value, depth + 1);
                    self.path.truncate(length);
                }
            }
            [b'[', ..] => {
                let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
                for (index, item) in items.into_iter().enumerate() {
                    self.path.push_str(&format!("[{index}]"));
                    self.value(item, depth + 1);
                    self.path.truncate(length);
                }
            }
            [b'-' | b'0'..=b'9', ..] if !number::is_kept(text) => {
                self.note_loss(text, Loss::Number(text.to_owned()));
            }
            _ => {}
        }
    }

    /// Where a part of the text begins in it.
    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize)
    }

    /// Notes the value here if the wanted path leads through it.
    fn note(&mut self, text: &str) {
        let Some(wanted) = self.wanted else { return };
        let length = self.path.len();
        let leads = wanted
            .strip_prefix(self.path.as_str())
            .is_some_and(|rest| length == 0 || rest.is_empty() || rest.starts_with(['.', '[']));
        if leads && self.best.is_none_or(|(best, _)| length > best) {
            self.best = Some((length, self.offset(text)));
        }
    }

    /// Goes on to the value of a key, as it is spelt.
    fn key(&mut self, spelt: &str, keys: &mut HashSet<String>) {
        let key: String = serde_json::from_str(spelt).unwrap_or_default();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&key);
        if self.wanted == Some(self.path.as_str()) {
            self.key = self.key.or(Some(self.offset(spelt)));
        }
        if !keys.insert(key) && self.wanted.is_none() {
            self.note_loss(spelt, Loss::Key);
        }
    }

    fn note_loss(&mut self, part: &str, what: Loss) {
        self.lost.push(LossyValue {
            path: self.path.clone(),
            offset: self.offset(part),
            what,
        });
    }
}

/// Reads the keys and values of an object as they are spelt, also those that stand twice.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Whether a text is a JSON object.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_would_be_rounded_become_texts_and_all_else_stays() {
        let quoted = |text: &str| without_rounding(text, |number| format!("<{number}>"));
        assert_eq!(
            quoted(r#"{"b": [-18446744073709551616, {"a" :1e400}], "1180591620717411303424": "1180591620717411303424"}"#)
                .unwrap(),
            r#"{"b": ["<-18446744073709551616>", {"a" :"<1e400>"}], "1180591620717411303424": "1180591620717411303424"}"#
        );
        assert_eq!(
            quoted("12345678901234567890123").unwrap(),
            r#""<12345678901234567890123>""#
        );
        assert_eq!(quoted(r#"{"n":18446744073709551615,"n":0.1}"#), None);
        assert_eq!(quoted("no JSON 12345678901234567890123"), None);
    }

    const TEXT: &str = "{\n  \"a\": [1, {\"b.c\": \"\\\"}\"}],\n  \"d\": {\"e\": null}\n}";

    fn found(path: &str) -> &str {
        &TEXT[find_value(TEXT.as_bytes(), path).unwrap()..]
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
    fn a_text_that_nests_deeper_than_any_recording_stops_no_walk() {
        let (open, close) = ("[".repeat(200_000), "]".repeat(200_000));
        let text = format!(r#"{{"a":1e400,"b":{open}{close}}}"#);
        let lost = losses(text.as_bytes());
        assert_eq!(lost.len(), 1);
        assert_eq!(lost[0].what, Loss::Number("1e400".to_owned()));
        assert_eq!(find_value(text.as_bytes(), "a"), Some(5));
    }

    #[test]
    fn the_place_has_line_column_and_excerpt() {
        let place = Location::at_offset(
            TEXT.as_bytes(),
            find_value(TEXT.as_bytes(), "d.e").unwrap(),
            1,
        );
        assert_eq!((place.line, place.column), (3, 14));
        assert_eq!(place.excerpt, "\"d\": {\"e\": null}");
        assert_eq!(place.excerpt.split_at(place.mark).1, "null}");
    }

    #[test]
    fn long_and_hostile_lines_are_cut_and_cleaned() {
        let text = format!("{}\u{1b}[31mX{}", "a".repeat(1000), "b".repeat(1000));
        let place = Location::at_offset(text.as_bytes(), 1005, 7);
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
            if let Some(offset) = find_value(&bytes, &path) {
                Location::at_offset(&bytes, offset, 1);
            }
        }

        #[test]
        fn no_json_like_text_stops_a_walk(text in "[\\[\\]{}\",:a1 ]{0,40}") {
            losses(text.as_bytes());
            find_value(text.as_bytes(), "a[1].a");
        }
    }
}
