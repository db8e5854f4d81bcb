//! Sentences and tokens of a block.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::identifier::is_identifier;
use super::lexicon::{Lexicon, lower};
use super::marks::{Mark, Marks, of};
use super::vocabulary::Vocabulary;

/// A word or a sign of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Token<'v> {
    /// Bytes in the document's plain text.
    pub(super) range: Range<usize>,
    /// In lower case, apostrophes straight.
    pub(super) text: Cow<'v, str>,
    pub(super) marks: Marks,
    /// The verb it is a form of.
    pub(super) verb: Option<&'v str>,
    /// The verb whose action it names as a noun.
    pub(super) noun_of: Option<&'v str>,
}

/// What is no word.
const NO_WORD: Marks = of![Number Identifier Sign];

impl Token<'_> {
    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks.has(mark)
    }

    /// Whether it parts two clauses, or a label from what it labels.
    pub(super) fn parts(&self) -> bool {
        self.is(Mark::Parts)
    }

    /// Whether it is a word of no grammatical class: mostly a noun or a name.
    pub(super) fn is_content(&self) -> bool {
        !self.is(Mark::Grammatical) && !self.marks.meets(NO_WORD)
    }
}

/// Whether one of these marks is on any of these tokens.
pub(super) fn any(tokens: &[Token<'_>], wanted: Marks) -> bool {
    tokens.iter().any(|token| token.marks.meets(wanted))
}

/// The sentences of a block, as ranges of the document's text.
pub(super) fn sentences(text: &str, block: &Range<usize>) -> Vec<Range<usize>> {
    // Without a sign that ends one before its end, a block is one sentence.
    let ends = ['.', '!', '?', '\n', '…', '。', '！', '？'];
    let whole = text[block.clone()].trim_end_matches(|c| c == ' ' || ends.contains(&c));
    let may_end = |byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'.' | b'!' | b'?');
    if !(whole.bytes().any(may_end) && whole.contains(ends)) {
        return vec![block.clone()];
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut joined = false;
    for (at, sentence) in text[block.clone()].split_sentence_bound_indices() {
        let start = block.start + at;
        let end = start + sentence.len();
        match found.last_mut() {
            Some(last) if joined => last.end = end,
            _ => found.push(start..end),
        }
        joined = ends_in_abbreviation(sentence);
    }
    found.retain(|range| text[range.clone()].chars().any(char::is_alphanumeric));
    found
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let Some(before) = sentence.trim_end_matches(' ').strip_suffix('.') else {
        return false;
    };
    let mut words = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '.'));
    let word = words.next().unwrap_or_default();
    let initial = word.len() == 1 && word.chars().all(char::is_uppercase);
    initial || Lexicon::get().is(&word.to_lowercase(), Mark::Abbreviation)
}

/// The tokens of a sentence.
pub(super) fn tokens<'v>(
    text: &'v str,
    sentence: &Range<usize>,
    vocabulary: &'v Vocabulary,
) -> Vec<Token<'v>> {
    let whole = &text[sentence.clone()];
    let mut parts: Vec<(Range<usize>, bool)> = Vec::new();
    let mut end = 0;
    for (at, word) in whole.unicode_word_indices() {
        // A sign between two words without spaces joins them: `ORD-004`, an address.
        match parts.last_mut() {
            Some((last, true)) if joins(whole, end..at) => {
                last.end = at + word.len();
            }
            _ => {
                if end < at && &whole[end..at] != " " {
                    parts.extend(signs(whole, end..at));
                }
                parts.push((at..at + word.len(), true));
            }
        }
        end = at + word.len();
    }
    parts.extend(signs(whole, end..whole.len()));
    let mut tokens = Vec::with_capacity(parts.len());
    for at in 0..parts.len() {
        let (part, is_word) = parts[at].clone();
        let range = sentence.start + part.start..sentence.start + part.end;
        if !is_word {
            tokens.push(token(range, whole[part].into(), of![Sign], vocabulary));
            continue;
        }
        let mut text = lower(&whole[part]);
        if text.contains('’') {
            text = text.replace('’', "'").into();
        }
        let apart = text.contains('\'').then(|| Lexicon::get().apart(&text));
        if let Some(mut words) = apart.flatten() {
            // *your order's been placed*
            let next = parts.get(at + 1).map(|next| lower(&whole[next.0.clone()]));
            let passive =
                next.is_some_and(|next| vocabulary.word(&next).marks.meets(of![Been Being]));
            if passive && words.len() == 1 {
                words.push("'s");
            }
            let words = words.iter().map(|word| Cow::Owned((*word).to_owned()));
            let word = |word| token(range.clone(), word, Marks::default(), vocabulary);
            tokens.extend(words.map(word));
            continue;
        }
        let marks = if is_identifier(&text) {
            of![Identifier]
        } else if text.contains(|c: char| c.is_ascii_digit()) {
            of![Number]
        } else {
            Marks::default()
        };
        tokens.push(token(range, text, marks, vocabulary));
    }
    mark_quoted(&mut tokens);
    tokens
}

/// Whether what stands between two words makes one of them: `ORD-004`, an address, `09:14`.
fn joins(whole: &str, gap: Range<usize>) -> bool {
    let digit = |c: u8| c.is_ascii_digit();
    let before = digit(whole.as_bytes()[gap.start - 1]);
    let after = digit(whole.as_bytes()[gap.end]);
    match &whole[gap] {
        "-" | "@" => true,
        ":" => before && after,
        "/" => before || after,
        _ => false,
    }
}

/// The signs between two words; what only says how the one before it is drawn is none.
fn signs(whole: &str, gap: Range<usize>) -> impl Iterator<Item = (Range<usize>, bool)> {
    let signs = whole[gap.clone()].char_indices();
    // *after 5 p.m. on Friday*
    let abbreviates = gap.end < whole.len()
        && ends_in_abbreviation(&whole[..whole.ceil_char_boundary(gap.start + 1)]);
    let signs = signs.filter(move |(_, sign)| {
        !(sign.is_whitespace() || *sign == '\u{fe0f}' || abbreviates && *sign == '.')
    });
    signs.map(move |(at, sign)| {
        let at = gap.start + at;
        (at..at + sign.len_utf8(), false)
    })
}

fn token<'v>(
    range: Range<usize>,
    text: Cow<'v, str>,
    marks: Marks,
    vocabulary: &'v Vocabulary,
) -> Token<'v> {
    let word = vocabulary.word(&text);
    Token {
        range,
        text,
        marks: marks.with(word.marks),
        verb: word.verb,
        noun_of: word.noun_of,
    }
}

/// Marks what stands between paired quotation marks.
fn mark_quoted(tokens: &mut [Token<'_>]) {
    let mut open: Option<(usize, &str)> = None;
    for at in 0..tokens.len() {
        let sign = &*tokens[at].text;
        if !tokens[at].is(Mark::Sign) {
            continue;
        }
        if let Some((from, closing)) = open {
            if closing.contains(sign) {
                for token in &mut tokens[from..at] {
                    token.marks.add(Mark::Quoted);
                }
                open = None;
            }
            continue;
        }
        let begins = at == 0 || tokens[at - 1].range.end < tokens[at].range.start;
        open = match sign {
            "“" | "„" => Some((at, "”“")),
            "«" => Some((at, "»")),
            "\"" if begins => Some((at, "\"")),
            "'" | "‘" if begins => Some((at, "'’")),
            _ => None,
        };
    }
}
