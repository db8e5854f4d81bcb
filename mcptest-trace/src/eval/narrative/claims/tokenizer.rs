//! From a block to its sentences and their tokens.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::vocabulary::Vocabulary;
use crate::eval::narrative::words::identifier::is_identifier;
use crate::eval::narrative::words::lexicon::{Lexicon, Word, lower, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::pattern::{self, Place};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// The sentences of a block, as ranges of the document's text.
pub(crate) fn sentences(text: &str, block: &Range<usize>) -> Vec<Range<usize>> {
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
        // *https://x.org/o?id=7*
        let goes_on = sentence.starts_with(char::is_alphanumeric);
        match found.last_mut() {
            Some(last) if joined || goes_on && goes_on_at_once(&text[last.clone()]) => {
                last.end = end;
            }
            _ => found.push(start..end),
        }
        joined = ends_in_abbreviation(sentence);
    }
    found.retain(|range| text[range.clone()].chars().any(char::is_alphanumeric));
    found
}

/// Whether a sentence ends in a sign right behind a word: what follows at once is a part of it.
fn goes_on_at_once(sentence: &str) -> bool {
    let before = sentence.strip_suffix(['?', '!']);
    before.is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '/'))
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

/// Letters that a code in capitals has at least: *reservation HATHAT*.
const CODE: usize = 5;
/// Digits of a year.
const YEAR: usize = 4;

/// The tokens of a sentence.
pub(crate) fn tokens<'v>(
    text: &'v str,
    sentence: &Range<usize>,
    vocabulary: &'v Vocabulary<'_>,
) -> Vec<Token<'v>> {
    let whole = &text[sentence.clone()];
    let mut parts: Vec<(Range<usize>, bool)> = Vec::new();
    let mut end = 0;
    for (at, word) in whole.unicode_word_indices() {
        match parts.last_mut() {
            Some((last, true)) if joins(whole, end..at, word) => last.end = at + word.len(),
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
    for (at, (part, is_word)) in parts.iter().enumerate() {
        let range = sentence.start + part.start..sentence.start + part.end;
        let mut word = lower(&whole[part.clone()]);
        if !word.is_ascii() && word.contains('’') {
            word = word.replace('’', "'").into();
        }
        let capital = |byte: u8| byte.is_ascii_uppercase();
        let capitals = *is_word && whole[part.clone()].bytes().all(capital);
        let mut push = |word| {
            let mut token = token(range.clone(), word, *is_word, vocabulary);
            let known = token.marks.meets(of![Verb ActNoun Participle]);
            if capitals && token.is(Mark::Content) && !known {
                token.marks.add(Mark::Capitals);
                token.marks.add_if(range.len() >= CODE, Mark::Code);
            }
            tokens.push(token);
        };
        let apart = word.contains('\'').then(|| Lexicon::get().apart(&word));
        let Some(words) = apart.flatten() else {
            push(word);
            continue;
        };
        // *your order's been placed*, *the fan's now set to two*
        let marks = |at: usize| {
            let word = parts.get(at).map(|part| lower(&whole[part.0.clone()]));
            word.map_or(Marks::default(), |word| vocabulary.word(&word).marks)
        };
        let next = marks(at + 1);
        let now = next.has(Mark::Now) && marks(at + 2).has(Mark::Participle);
        let passive = now || next.meets(of![Been Being]);
        let lone = words.len() == 1 && passive;
        for word in words.into_iter().chain(lone.then_some("'s")) {
            push(word.to_owned().into());
        }
    }
    mark_quoted(&mut tokens);
    let near = tokens.all(0..usize::MAX);
    for at in 0..tokens.len() {
        let mut marks = tokens[at].marks;
        if marks.meets(of![Modal Comma Preposition Code Negative]) {
            let place = Place {
                subject: at..at,
                group: at..at,
                near,
            };
            pattern::apply("token", &tokens, &place, &mut marks);
            let of_date = marks.has(Mark::OfDate);
            tokens[at].marks = if of_date {
                of![Date Grammatical]
            } else {
                marks
            };
        }
    }
    tokens
}

/// Whether what stands between two words makes one of them: `ORD-004`, an address, `09:14`.
fn joins(whole: &str, gap: Range<usize>, word: &str) -> bool {
    let digit = |c: u8| c.is_ascii_digit();
    let before = digit(whole.as_bytes()[gap.start - 1]);
    let after = digit(whole.as_bytes()[gap.end]);
    match &whole[gap] {
        "-" | "@" => true,
        // *7 am* is no *be*.
        " " => before && word.eq_ignore_ascii_case("am"),
        ":" => before && after,
        // *4G/5G*, but not *W12/cancelled*.
        "/" => after,
        _ => false,
    }
}

/// The signs between two words; what only says how the one before it is drawn is none.
fn signs(whole: &str, gap: Range<usize>) -> impl Iterator<Item = (Range<usize>, bool)> {
    let signs = whole[gap.clone()].char_indices();
    // *after 5 p.m. on Friday*
    let abbreviates = whole[gap.clone()].starts_with('.')
        && gap.end < whole.len()
        && ends_in_abbreviation(&whole[..=gap.start]);
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
    is_word: bool,
    vocabulary: &'v Vocabulary<'_>,
) -> Token<'v> {
    let Word {
        mut marks,
        verb,
        noun_of,
    } = vocabulary.word(&text);
    let identifier = is_word && is_identifier(&text);
    let number = is_word && !identifier && text.contains(|c: char| c.is_ascii_digit());
    marks.add_if(!is_word, Mark::Sign);
    marks.add_if(identifier, Mark::Identifier);
    marks.add_if(number, Mark::Number);
    marks.add_if(number && text.contains([':', '-', '/']), Mark::Time);
    marks.add_if(number && text.len() == YEAR, Mark::Year);
    marks.add_if(text.ends_with("ing"), Mark::Ing);
    marks.add_if(verb.is_some(), Mark::Verb);
    marks.add_if(noun_of.is_some(), Mark::ActNoun);
    if text.ends_with('s') && stem(&text) != text {
        marks.add(Mark::Plural);
        marks.add_if(Lexicon::get().is(&stem(&text), Mark::Answer), Mark::Answer);
    }
    let parts = text.split(['-', '/']).filter(|part| part.len() > 1);
    let digits = parts.filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    marks.add_if(number && digits.count() > 1, Mark::Day);
    let tick = !is_word && marks.has(Mark::BeforeSubject) && !marks.meets(of![Parts NotYet]);
    marks.add_if(tick, Mark::Tick);
    let content = !marks.meets(of![Grammatical Number Identifier Sign]);
    marks.add_if(content, Mark::Content);
    let of_tool = marks.meets(of![Levied Answer]) && vocabulary.names_a_tool(&text);
    marks.add_if(of_tool, Mark::ToolNoun);
    Token {
        range,
        text,
        marks,
        verb,
        noun_of,
    }
}

/// Marks what stands between paired quotation marks.
fn mark_quoted(tokens: &mut [Token<'_>]) {
    let mut open: Option<(usize, &str)> = None;
    for at in 0..tokens.len() {
        if !tokens.is(at, Mark::Sign) {
            continue;
        }
        let sign = tokens.text(at);
        let begins = at == 0 || tokens[at - 1].range.end < tokens[at].range.start;
        match open {
            Some((from, closing)) if closing.contains(sign) => {
                let quoted = tokens[from..at].iter_mut();
                quoted.for_each(|token| token.marks.add(Mark::Quoted));
                open = None;
            }
            Some(_) => {}
            None => {
                open = match sign {
                    "“" | "„" => Some((at, "”“")),
                    "«" => Some((at, "»")),
                    "\"" if begins => Some((at, "\"")),
                    "'" | "‘" if begins => Some((at, "'’")),
                    _ => None,
                }
            }
        }
    }
}
