//! A part of a text, to be shown.

use std::ops::Range;

use serde::Serialize;

use super::super::views::Encoding;

/// A part of a text, and a part of that which is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MarkedText {
    /// What stands around it, and it.
    pub text: String,
    /// What is meant, in bytes of `text`.
    pub mark: Range<usize>,
    /// What is meant once its encoding is taken off, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Encoded>,
}

/// A text that stands somewhere in an encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Encoded {
    /// The encoding; of two, the inner one.
    pub encoding: Encoding,
    /// The text without it, or its beginning.
    pub text: String,
}

/// The most bytes that are shown of a value.
const LONGEST: usize = 240;

impl Encoded {
    /// A value of a text that is behind another.
    pub(super) fn new(encoding: Option<Encoding>, text: &str, span: &Range<usize>) -> Option<Self> {
        let end = text.floor_char_boundary(span.end.min(span.start + LONGEST));
        Some(Self {
            encoding: encoding?,
            text: text[span.start..end].to_owned(),
        })
    }
}

impl MarkedText {
    /// A part of a text with so much before and behind it that it can be understood.
    pub(super) fn around(text: &str, span: Range<usize>, decoded: Option<Encoded>) -> Self {
        const AROUND: usize = 60;
        let end = text.floor_char_boundary(span.end.min(span.start + LONGEST));
        let from = text.floor_char_boundary(span.start.saturating_sub(AROUND));
        let to = text.ceil_char_boundary(end.saturating_add(AROUND));
        let before = if from > 0 { "…" } else { "" };
        let behind = if to < text.len() { "…" } else { "" };
        let at = before.len() + span.start - from;
        let mark = at..at + end - span.start;
        let decoded = decoded.filter(|decoded| decoded.text != text[span.start..end]);
        Self {
            text: format!("{before}{}{behind}", &text[from..to]),
            mark,
            decoded,
        }
    }
}
