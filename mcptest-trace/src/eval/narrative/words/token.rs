//! Tokens, and what is asked of those of a sentence.

use std::borrow::Cow;
use std::ops::Range;

use super::marks::{Mark, Marks};

/// A word or a sign of a sentence.
#[derive(Debug, Clone)]
pub(crate) struct Token<'v> {
    /// Bytes in the document's plain text.
    pub(crate) range: Range<usize>,
    /// In lower case, apostrophes straight.
    pub(crate) text: Cow<'v, str>,
    pub(crate) marks: Marks,
    /// The verb it is a form of.
    pub(crate) verb: Option<&'v str>,
    /// The verb whose action it names as a noun.
    pub(crate) noun_of: Option<&'v str>,
}

impl Token<'_> {
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.marks.has(mark)
    }
}

/// What is asked of the tokens of a sentence. Outside it there is nothing.
pub(crate) trait TokenQueries {
    fn tokens(&self) -> &[Token<'_>];

    fn marks(&self, at: usize) -> Marks {
        let token = self.tokens().get(at);
        token.map(|token| token.marks).unwrap_or_default()
    }

    fn is(&self, at: usize, mark: Mark) -> bool {
        self.marks(at).has(mark)
    }

    fn text(&self, at: usize) -> &str {
        self.tokens().get(at).map_or("", |token| &token.text)
    }

    /// The marks on all tokens of a range together.
    fn all(&self, range: Range<usize>) -> Marks {
        let tokens = self.tokens().iter().take(range.end).skip(range.start);
        tokens.fold(Marks::default(), |all, token| all.with(token.marks))
    }

    /// Whether one of these marks is on any token of a range.
    fn any(&self, range: Range<usize>, wanted: Marks) -> bool {
        let mut tokens = self.tokens().iter().take(range.end).skip(range.start);
        tokens.any(|token| token.marks.meets(wanted))
    }

    /// Whether one of these marks is on any token.
    fn have(&self, wanted: Marks) -> bool {
        self.any(0..usize::MAX, wanted)
    }

    /// Where the first token with one of these marks stands, at most so many after a place.
    fn until(&self, from: usize, most: usize, ends: Marks) -> usize {
        let last = self.tokens().len().min(from + most);
        let mut clause = from..last;
        clause
            .find(|at| self.marks(*at).meets(ends))
            .unwrap_or(last)
    }
}

impl TokenQueries for [Token<'_>] {
    fn tokens(&self) -> &[Token<'_>] {
        self
    }
}
