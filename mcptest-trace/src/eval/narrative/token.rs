//! Sentences and tokens of a block.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::identifier::is_identifier;
use super::lexicon::{Lexicon, Word, lower};
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

impl Token<'_> {
    pub(super) fn is(&self, mark: Mark) -> bool {
        self.marks.has(mark)
    }

    /// Whether it is a tick: *✅*.
    pub(super) fn ticks(&self) -> bool {
        let tick = self.marks.contains(of![Sign BeforeSubject]);
        tick && !self.marks.meets(of![Parts NotYet])
    }
}

/// What is asked of the tokens of a sentence. Outside it there is nothing.
pub(super) trait TokenQueries {
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

    /// Whether a token may begin a date; *May* is a modal.
    fn date(&self, at: usize) -> bool {
        self.marks(at).meets(of![Date Number Modal])
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

/// Digits of a year.
const YEAR: usize = 4;
/// Tokens that a time has at most.
const TIME: usize = 6;

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
        let mut push = |word| tokens.push(token(range.clone(), word, *is_word, vocabulary));
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
    mark_codes(text, &mut tokens);
    // *on May 20*, *in May*, but not *flight 20 may have*
    for at in 0..tokens.len() {
        let near = |at: usize| tokens.marks(at).meets(of![Number Preposition]);
        let verb = tokens.marks(at + 1).meets(of![Base Adverb Negative]);
        let month = tokens.is(at + 1, Mark::Number) || near(at.wrapping_sub(1)) && !verb;
        if tokens[at].text == "may" && month {
            tokens[at].marks = of![Date Grammatical];
        }
        // *from January 11 to January 15, 2025, has been*
        let day = tokens.is(at, Mark::Number) && tokens.is(at.wrapping_sub(1), Mark::Date);
        let year = tokens.text(at + 1) == "," && tokens.text(at + 2).len() == YEAR;
        if day && year && tokens.is(at + 2, Mark::Number) {
            // But *As of May 3, 2025, your order has been cancelled*.
            let after = at + 3 + usize::from(tokens.text(at + 3) == ",");
            let goes_on = tokens
                .marks(after)
                .meets(of![Have Be BePresent BePast IsOrHas]);
            let commas = [at + 1, after - 1].into_iter().filter(|_| goes_on);
            for comma in commas {
                if tokens.text(comma) == "," {
                    tokens[comma].marks = of![Date Grammatical];
                }
            }
        }
        // *all events before 2 have been deleted*, but not *After 30 days it is deleted*
        let of_time = of![Number Date];
        let ends =
            (at + 1..tokens.len().min(at + TIME)).find(|at| !tokens.marks(*at).meets(of_time));
        let ends = ends.unwrap_or(tokens.len());
        let closed = ends == tokens.len() || tokens.marks(ends).meets(of![Be Have Had Parts Comma]);
        let time = tokens.is(at, Mark::Preposition)
            && ends > at + 1
            && at > 0
            && !tokens.marks(at - 1).meets(of![Parts Comma])
            && closed;
        if time {
            let clause = of![Condition Presupposed BeforeSubject];
            tokens[at].marks = tokens[at].marks.without(clause);
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
    vocabulary: &'v Vocabulary,
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
    let content = !marks.meets(of![Grammatical Number Identifier Sign]);
    marks.add_if(content, Mark::Content);
    Token {
        range,
        text,
        marks,
        verb,
        noun_of,
    }
}

/// Letters that a code in capitals has at least.
const CODE: usize = 5;

/// Takes a code in capitals after its noun for a number: *reservation HATHAT*.
fn mark_codes(text: &str, tokens: &mut [Token<'_>]) {
    let capitals = |token: &Token<'_>| {
        let mut letters = text[token.range.clone()].bytes();
        let known = token.verb.is_some() || token.noun_of.is_some() || token.is(Mark::Participle);
        let plain = token.is(Mark::Content) && !known;
        plain && letters.all(|letter| letter.is_ascii_uppercase())
    };
    for at in 1..tokens.len() {
        let code = capitals(&tokens[at]) && tokens[at].range.len() >= CODE;
        let noun = tokens[at - 1].is(Mark::Content) && !capitals(&tokens[at - 1]);
        if code && noun {
            tokens[at].marks = of![Number];
        }
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
