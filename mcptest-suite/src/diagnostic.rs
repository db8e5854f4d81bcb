//! What is wrong with a file, and how that is drawn.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Source, Span, escape_line};
use mcptest_trace::text::escape_lookalikes;
use mcptest_trace::text::{is_hostile, pluralize};

/// A place with words about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The words; may be empty.
    pub text: String,
}

/// One problem of a file: what is wrong, where, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// Where; `None` when it concerns the whole file.
    pub primary: Option<Label>,
    /// Other places that explain it.
    pub secondary: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// What to do next.
    pub helps: Vec<String>,
    /// Where a key is unknown: every key that could stand there. Helps name only a few of many.
    pub known_keys: Vec<String>,
}

impl Diagnostic {
    /// A problem of the whole file.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            known_keys: Vec::new(),
        }
    }

    /// A problem at a place.
    #[must_use]
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self::new(message).label(span, "")
    }

    /// Sets the place and the words beside its caret.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn secondary_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.helps.push(text.into());
        self
    }

    /// Everything that is said of the problem, to be changed in place.
    #[doc(hidden)]
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let labels = self.primary.iter_mut().chain(&mut self.secondary);
        let labels = labels.map(|label| &mut label.text);
        let texts = std::iter::once(&mut self.message).chain(labels);
        texts
            .chain(&mut self.notes)
            .chain(&mut self.helps)
            .collect()
    }

    /// A copy in which words that look alike are spelt with escapes, so that a reader can tell them apart.
    fn with_escaped_lookalikes(&self) -> Self {
        let mut told = self.clone();
        let notes = escape_lookalikes(told.texts_mut());
        told.notes.extend(notes);
        told
    }

    /// Draws the problem as rustc would.
    ///
    /// ```
    /// use mcptest_suite::{Diagnostic, Source, Span, Style};
    ///
    /// let source = Source::new("a.yml", "suites/a.yml", "agents:\n- nam: x\n");
    /// let drawn = Diagnostic::at(Span::new(10, 13), "unknown key `nam`")
    ///     .help("did you mean `name`?")
    ///     .render(&source, Style::Plain);
    /// assert_eq!(drawn, "\
    /// error: unknown key `nam`
    ///  --> suites/a.yml:2:3
    ///   |
    /// 2 | - nam: x
    ///   |   ^^^
    ///   |
    ///   = help: did you mean `name`?");
    /// ```
    #[must_use]
    pub fn render(&self, source: &Source, style: Style) -> String {
        self.with_escaped_lookalikes().draw(source, style)
    }

    fn draw(&self, source: &Source, style: Style) -> String {
        let path = escape_line(source.display_path()).into_owned();
        let message = escape_line(&self.message);
        let title = Level::ERROR.primary_title(&*message);
        let drawn;
        let mut group = if let Some(primary) = &self.primary {
            let text = source.text();
            // The renderer looks at all that it is given: these are the lines with a label.
            let labels = || std::iter::once(primary).chain(&self.secondary);
            let ranges = labels().map(|label| drawable_range(label.span, text));
            let lines = ranges.reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
            let lines = lines.unwrap_or_default();
            // What stands behind the last line is shown at its end.
            let first = if lines.start == text.len() {
                text.trim_end_matches(['\n', '\r']).len()
            } else {
                lines.start
            };
            let (line, start) = source.line_of(first);
            let end = text[lines.end..].find('\n');
            let end = end.map_or(text.len(), |at| lines.end + at + 1);
            drawn = EscapedSource::new(&text[start..end]);
            let draw = |label: &Label, kind: AnnotationKind| {
                let words = escape_line(&label.text).into_owned();
                let words = Some(words).filter(|words| !words.is_empty());
                let range = drawable_range(label.span, text);
                kind.span(drawn.escaped_range(range.start - start..range.end - start))
                    .label(words)
            };
            let secondary = self
                .secondary
                .iter()
                .map(|label| draw(label, AnnotationKind::Context));
            let snippet = Snippet::source(&*drawn.text)
                .line_start(line)
                .path(path)
                .annotation(draw(primary, AnnotationKind::Primary))
                .annotations(secondary);
            Group::with_title(title).element(snippet)
        } else {
            Group::with_title(title).element(annotate_snippets::Origin::path(path))
        };
        for note in &self.notes {
            group = group.element(Level::NOTE.message(escape_line(note).into_owned()));
        }
        for help in &self.helps {
            group = group.element(Level::HELP.message(escape_line(help).into_owned()));
        }
        style.renderer().render(&[group])
    }
}

/// A source text with its hostile characters shown as escapes. (The renderer shows some of them
/// itself, and emits others.)
struct EscapedSource<'a> {
    text: Cow<'a, str>,
    /// Where an escape took a character's place, and how many bytes longer the text is after it.
    longer: Vec<(usize, usize)>,
}

impl<'a> EscapedSource<'a> {
    fn new(source: &'a str) -> Self {
        let hostile = |c: char| is_hostile(c) && !matches!(c, '\n' | '\r');
        let mut drawn = Self {
            text: Cow::Borrowed(source),
            longer: Vec::new(),
        };
        if !source.contains(hostile) {
            return drawn;
        }
        let mut text = String::with_capacity(source.len() + 16);
        for (at, character) in source.char_indices() {
            if hostile(character) {
                text.extend(character.escape_unicode());
                let after = at + character.len_utf8();
                drawn.longer.push((at, text.len() - after));
            } else {
                text.push(character);
            }
        }
        drawn.text = Cow::Owned(text);
        drawn
    }

    /// Where a range of the source is in the drawn text.
    fn escaped_range(&self, range: Range<usize>) -> Range<usize> {
        let place = |offset: usize| {
            let before = self.longer.partition_point(|(at, _)| *at < offset);
            let longer = before.checked_sub(1).map_or(0, |last| self.longer[last].1);
            offset + longer
        };
        place(range.start)..place(range.end)
    }
}

/// The part of a span that can be drawn: on one line, and not empty where the line goes on.
fn drawable_range(span: Span, text: &str) -> Range<usize> {
    let range = span.clamp_to(text);
    let line_end = text[range.start..]
        .find(['\n', '\r'])
        .map_or(text.len(), |at| range.start + at);
    let end = range.end.min(line_end);
    if end > range.start || range.start == line_end {
        return range.start..end;
    }
    // An empty place: a caret under the character there.
    range.start..text.ceil_char_boundary(range.start + 1)
}

/// How text is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// ASCII without colour: the same bytes everywhere.
    #[default]
    Plain,
    /// ANSI colours, for a terminal.
    Colour,
    /// Box-drawing characters without colour.
    Unicode,
}

impl Style {
    fn renderer(self) -> Renderer {
        match self {
            Self::Plain => Renderer::plain(),
            Self::Colour => Renderer::styled(),
            Self::Unicode => Renderer::plain().decor_style(DecorStyle::Unicode),
        }
    }
}

/// Drawing looks at the whole file for each problem, and nobody reads more.
const MOST_DRAWN: usize = 100;

/// Everything that is wrong with one file; never empty.
#[derive(Debug, Clone)]
pub struct LoadError {
    source: Source,
    problems: Vec<Diagnostic>,
}

impl LoadError {
    /// The problems of a file, drawn in the order of their places.
    #[must_use]
    pub fn new(source: Source, mut problems: Vec<Diagnostic>) -> Self {
        let place = |problem: &Diagnostic| problem.primary.as_ref().map(|label| label.span);
        problems.sort_by_key(place);
        // What several agents share is noted with each of them.
        let mut once: Vec<Diagnostic> = Vec::with_capacity(problems.len());
        for problem in problems {
            let mut here = once
                .iter()
                .rev()
                .take_while(|known| place(known) == place(&problem));
            if !here.any(|known| *known == problem) {
                once.push(problem);
            }
        }
        Self {
            source,
            problems: once,
        }
    }

    /// The file.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The problems in the order of their places.
    #[must_use]
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// The problems drawn, the first hundred of a hopeless file, and a closing line that counts
    /// them all.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let drawn = self
            .problems
            .iter()
            .take(MOST_DRAWN)
            .map(|problem| problem.render(&self.source, style));
        let mut count = pluralize(self.problems.len(), "problem");
        if self.problems.len() > MOST_DRAWN {
            count += &format!(" (the first {MOST_DRAWN} are shown)");
        }
        let shown = escape_line(self.source.display_path());
        format!(
            "{}\n\n{shown}: {count}, nothing of this suite was run",
            drawn.collect::<Vec<_>>().join("\n\n")
        )
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Style::Plain))
    }
}

impl std::error::Error for LoadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_shown_and_never_emitted() {
        let source = Source::new("a", "a\u{1b}[31m.yml", "k\u{1b}[2J: 1\n");
        for style in [Style::Plain, Style::Unicode] {
            let drawn = Diagnostic::at(Span::new(0, 5), "bad \u{1b}[31m\nkey")
                .secondary_label(Span::new(7, 8), "\u{202e}here")
                .note("n\u{7}")
                .help("h\u{1b}")
                .render(&source, style);
            assert!(!drawn.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{drawn}");
        }
    }

    #[test]
    fn names_that_look_the_same_are_told_apart() {
        let source = Source::new("a", "a.yml", "tool: p\u{430}ypal\n");
        let drawn = Diagnostic::at(Span::new(6, 13), "unknown tool `p\u{430}ypal`")
            .help("did you mean `paypal`?")
            .render(&source, Style::Plain);
        assert_eq!(
            drawn,
            "error: unknown tool `p\\u{430}ypal`\n --> a.yml:1:7\n  |\n1 | tool: p\u{430}ypal\n  |       ^^^^^^\n  |\n  = note: `p\\u{430}ypal` and `paypal` look the same, but they differ in look-alike characters\n  = help: did you mean `paypal`?"
        );
    }

    #[test]
    fn a_caret_stands_under_its_place_beside_hostile_characters() {
        let source = Source::new("a", "a", "a\u{9b}b: \u{1b}c\n");
        let drawn = |start, end| {
            let problem = Diagnostic::at(Span::new(start, end), "x");
            let drawn = problem.render(&source, Style::Plain);
            drawn.lines().skip(3).take(2).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(drawn(3, 4), "1 | a\\u{9b}b: \\u{1b}c\n  |        ^");
        assert_eq!(drawn(1, 3), "1 | a\\u{9b}b: \\u{1b}c\n  |  ^^^^^^");
        assert_eq!(
            drawn(7, 8),
            "1 | a\\u{9b}b: \\u{1b}c\n  |                 ^"
        );
    }

    #[test]
    fn a_hopeless_file_is_not_drawn_without_end() {
        let source = Source::new("a", "a.yml", "x: 1\n".repeat(300));
        let problems = (0..300).map(|at| Diagnostic::at(Span::new(at * 5, at * 5 + 1), "no"));
        let drawn = LoadError::new(source, problems.collect()).to_string();
        assert_eq!(drawn.matches("error: no\n").count(), MOST_DRAWN);
        assert!(drawn.ends_with(
            "a.yml: 300 problems (the first 100 are shown), nothing of this suite was run"
        ));
    }

    #[test]
    fn no_span_can_break_the_drawing() {
        let text = "ü🚀\n\ta: b\r\n";
        let source = Source::new("a", "a", text);
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                let drawn =
                    Diagnostic::at(Span::new(start, end), "x").render(&source, Style::Plain);
                assert!(drawn.starts_with("error: x\n"));
            }
        }
        let empty = Source::new("a", "a", "");
        assert!(
            !Diagnostic::at(Span::new(0, 9), "x")
                .render(&empty, Style::Plain)
                .is_empty()
        );
    }

    #[test]
    fn the_same_problem_is_drawn_plain_and_in_unicode() {
        let source = Source::new("a", "a.yml", "one: 1\ntwo: 2\none: 3\n");
        let problem = Diagnostic::at(Span::new(14, 17), "duplicate key `one`")
            .label(Span::new(14, 17), "again here")
            .secondary_label(Span::new(0, 3), "first here");
        assert_eq!(
            problem.render(&source, Style::Plain),
            "error: duplicate key `one`\n --> a.yml:3:1\n  |\n1 | one: 1\n  | --- first here\n2 | two: 2\n3 | one: 3\n  | ^^^ again here"
        );
        assert_eq!(
            problem.render(&source, Style::Unicode),
            "error: duplicate key `one`\n  ╭▸ a.yml:3:1\n  │\n1 │ one: 1\n  │ ─── first here\n2 │ two: 2\n3 │ one: 3\n  ╰╴━━━ again here"
        );
    }
}
