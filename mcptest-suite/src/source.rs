//! A file's text and places in it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A half-open range of byte offsets into a [`Source`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A span from `start` to `end`, both byte offsets.
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The nearest range that lies inside `text` on character boundaries and is not reversed, so
    /// that no renderer can be made to panic by a span.
    #[must_use]
    pub(crate) fn clamp_to(self, text: &str) -> Range<usize> {
        let start = text.floor_char_boundary(self.start);
        let end = text.ceil_char_boundary(self.end.max(start));
        start..end
    }
}

/// A value and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value with its place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A text file as it was read, shared by everything that points into it.
#[derive(Debug, Clone)]
pub struct Source {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    shown: String,
    text: String,
    /// Where each line begins; made when a place is first asked for.
    line_starts: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source with the path it was read from, the path to show (crate-relative, `/` between
    /// segments, the same on every machine), and its text.
    #[must_use]
    pub fn new(
        path: impl Into<PathBuf>,
        shown: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let inner = Inner {
            path: path.into(),
            shown: shown.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Where the file lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The path as it is shown to people.
    #[must_use]
    pub fn display_path(&self) -> &str {
        &self.inner.shown
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The text of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        &self.text()[span.clamp_to(self.text())]
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.text().floor_char_boundary(offset);
        let (line, start) = self.line_of(offset);
        (line, self.text()[start..offset].chars().count() + 1)
    }

    /// The line of a byte offset, from 1, and where it begins.
    pub(crate) fn line_of(&self, offset: usize) -> (usize, usize) {
        let starts = self.inner.line_starts.get_or_init(|| {
            let breaks = self.text().match_indices('\n');
            std::iter::once(0)
                .chain(breaks.map(|(at, _)| at + 1))
                .collect()
        });
        let line = starts.partition_point(|start| *start <= offset);
        (line, starts[line - 1])
    }
}

/// A path with `/` between its segments on every platform.
#[must_use]
pub fn portable_path(path: &Path) -> String {
    let segments = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    let joined = segments.collect::<Vec<_>>().join("/");
    // A root component is itself a slash.
    joined
        .strip_prefix("//")
        .map(|rest| format!("/{rest}"))
        .unwrap_or(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_brought_inside_the_text_on_character_boundaries() {
        let text = "a🚀b";
        assert_eq!(Span::new(2, 3).clamp_to(text), 1..5);
        assert_eq!(Span::new(5, 1).clamp_to(text), 5..5);
        assert_eq!(Span::new(90, 99).clamp_to(text), 6..6);
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let source = Source::new("x", "x", "ab\nü🚀c");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(9), (2, 3));
        assert_eq!(source.line_column(999), (2, 4));
    }

    #[test]
    fn absolute_and_relative_paths_show_with_slashes() {
        assert_eq!(portable_path(Path::new("/a/b.yml")), "/a/b.yml");
        assert_eq!(portable_path(Path::new("a/b.yml")), "a/b.yml");
    }
}
