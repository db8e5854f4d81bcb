//! Target paths: `tool_calls[*].args.city`, `["a.b"][-1].length`.

use std::fmt;

use crate::Span;

/// A path to what an assertion looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Target {
    /// The path as it is written.
    pub text: String,
    /// Where it is written.
    pub span: Span,
    /// Its steps; never empty.
    pub segments: Vec<Segment>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segment {
    /// A key of an object; `length` also counts the elements of a list or the characters of text.
    Key(String),
    /// An element of a list; a negative index counts from the end.
    Index(i64),
    /// Every element of a list.
    Every,
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) if is_identifier(key) => f.write_str(key),
            Self::Key(key) => write!(
                f,
                "[\"{}\"]",
                key.replace('\\', "\\\\").replace('"', "\\\"")
            ),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Every => f.write_str("[*]"),
        }
    }
}

fn is_identifier(key: &str) -> bool {
    !key.trim().is_empty() && !key.contains(['.', '[', ']', '"'])
}

/// What is wrong with a path, and at which byte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TargetError {
    /// Byte offset into the path.
    pub at: usize,
    /// What was expected there.
    pub message: String,
}

impl Target {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// The first place that is not part of a path.
    ///
    /// ```
    /// use mcptest_suite::model::{Segment, Target};
    /// use mcptest_suite::Span;
    ///
    /// let target = Target::parse("tool_calls[-1].name", Span::default())?;
    /// assert_eq!(target.segments[1], Segment::Index(-1));
    /// # Ok::<(), mcptest_suite::model::TargetError>(())
    /// ```
    pub fn parse(text: &str, span: Span) -> Result<Self, TargetError> {
        let mut parser = Parser { text, at: 0 };
        let mut segments = Vec::new();
        loop {
            match parser.peek() {
                None if segments.is_empty() => return Err(parser.error("a path, found nothing")),
                None => break,
                Some('[') => segments.push(parser.bracket()?),
                Some('.') if !segments.is_empty() => {
                    parser.at += 1;
                    segments.push(parser.key()?);
                }
                Some(_) if segments.is_empty() => segments.push(parser.key()?),
                Some(_) => return Err(parser.error("`.`, `[` or the end")),
            }
        }
        Ok(Self {
            text: text.to_owned(),
            span,
            segments,
        })
    }

    /// The steps up to `end`, as text.
    #[must_use]
    pub fn prefix(&self, end: usize) -> String {
        let mut out = String::new();
        for segment in &self.segments[..end.min(self.segments.len())] {
            let part = segment.to_string();
            if !out.is_empty() && !part.starts_with('[') {
                out.push('.');
            }
            out.push_str(&part);
        }
        out
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn error(&self, expected: &str) -> TargetError {
        TargetError {
            at: self.at,
            message: format!("expected {expected}"),
        }
    }

    fn key(&mut self) -> Result<Segment, TargetError> {
        let rest = &self.text[self.at..];
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let key = &rest[..end];
        if let Some(stray) = key.find([']', '"']) {
            self.at += stray;
            return Err(self.error("a key; quote an unusual one as `[\"…\"]`"));
        }
        if key.trim().is_empty() {
            return Err(self.error("a key"));
        }
        self.at += end;
        Ok(Segment::Key(key.to_owned()))
    }

    fn bracket(&mut self) -> Result<Segment, TargetError> {
        self.at += 1;
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let Some(end) = rest.find(']') else {
            return Err(self.error("`n]`, `-n]`, `*]` or a quoted key"));
        };
        let inside = &rest[..end];
        let segment = match inside {
            "*" => Segment::Every,
            number => number.parse().map(Segment::Index).map_err(|_| {
                self.error("a whole number, `*` or a quoted key between the brackets")
            })?,
        };
        self.at += end + 1;
        Ok(segment)
    }

    fn quoted(&mut self) -> Result<Segment, TargetError> {
        let start = self.at;
        self.at += 1;
        let mut key = String::new();
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match character {
                '"' if self.peek() == Some(']') => {
                    self.at += 1;
                    return Ok(Segment::Key(key));
                }
                '"' => return Err(self.error("`]` after the quoted key")),
                '\\' => {
                    let Some(escaped) = self.peek() else { break };
                    self.at += escaped.len_utf8();
                    key.push(escaped);
                }
                other => key.push(other),
            }
        }
        self.at = start;
        Err(self.error("a closing `\"]`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(text: &str) -> Vec<Segment> {
        Target::parse(text, Span::default()).unwrap().segments
    }

    #[test]
    fn keys_indices_wildcards_and_quoted_keys() {
        let key = |key: &str| Segment::Key(key.to_owned());
        assert_eq!(
            segments("a.b[0][*][-2][\"c.\\\"d\"].length"),
            [
                key("a"),
                key("b"),
                Segment::Index(0),
                Segment::Every,
                Segment::Index(-2),
                key("c.\"d"),
                key("length")
            ]
        );
    }

    #[test]
    fn a_prefix_reads_as_it_would_be_written() {
        let target = Target::parse("a[0].b[\"x.y\"].c", Span::default()).unwrap();
        let prefixes: Vec<_> = (0..=5).map(|end| target.prefix(end)).collect();
        assert_eq!(
            prefixes,
            [
                "",
                "a",
                "a[0]",
                "a[0].b",
                "a[0].b[\"x.y\"]",
                "a[0].b[\"x.y\"].c"
            ]
        );
    }

    #[test]
    fn a_blank_key_is_written_in_quotes() {
        let target = Target::parse("a[\" \"]", Span::default()).unwrap();
        assert_eq!(target.prefix(2), "a[\" \"]");
    }

    #[test]
    fn what_is_not_a_path_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            (".a", 0),
            ("a.", 2),
            ("a..b", 2),
            ("a[", 2),
            ("a[x]", 2),
            ("a[0]b", 4),
            ("a[\"b]", 2),
            ("a]b", 1),
            ("a[99999999999999999999]", 2),
            ("a[\"b\"x]", 5),
        ] {
            assert_eq!(
                Target::parse(text, Span::default()).unwrap_err().at,
                at,
                "{text}"
            );
        }
    }
}
