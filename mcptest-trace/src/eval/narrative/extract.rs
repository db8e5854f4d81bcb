//! Finds every completed action that a closing claims.

use std::ops::Range;

use super::beside::{earlier_claim, is_answer, join, says_only};
use super::clause;
use super::context::{Intro, asks_to_go_ahead, view};
use super::nominal;
use super::phrase::{self, Object};
use super::reading::{Manner, View, Voice};
use super::sentence::{Sentence, sentences};
use super::table;
use super::token::{Kind, Token, tokens};
use super::verb::Lexicon;
use super::words;

/// A name in a claim: an identifier, code or a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// As it stands in the closing.
    pub shown: String,
    /// Lower case.
    pub text: String,
    /// Whether it looks like a key that a machine gave, so that it can be wrong.
    pub key: bool,
}

/// A claimed action before it is compared with the calls.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what a claim says of its object is a set of independent facts"
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub verb: String,
    pub voice: Voice,
    pub manner: Manner,
    /// Whether a noun names the action: *the cancellation has been completed*.
    pub nominal: bool,
    /// Singular words of the object; the last is its head.
    pub nouns: Vec<String>,
    /// Whether the object is a proper name.
    pub proper: bool,
    /// Whether the object can be a part of the closing itself: *a short poem*.
    pub answer: bool,
    /// Verbs joined with this one over the same object: *created, uploaded and published it*.
    pub joined: Vec<String>,
    /// Whether the object is said to be the user's.
    pub yours: bool,
    /// Names of the object itself.
    pub names: Vec<Name>,
    /// Nouns and names of the phrases around it.
    pub around: Vec<String>,
    pub names_around: Vec<Name>,
    /// Amounts of money, without sign and separators.
    pub amounts: Vec<String>,
    /// Bytes of the sentence and of the claim in the closing.
    pub sentence: Range<usize>,
    pub span: Range<usize>,
}

/// A sentence and its tokens.
pub(super) struct Read {
    pub sentence: Sentence,
    pub tokens: Vec<Token>,
}

/// All claimed actions, in the order of the text.
pub(super) fn claims(closing: &str, lexicon: &Lexicon) -> Vec<Found> {
    let all: Vec<Read> = sentences(closing)
        .into_iter()
        .map(|sentence| Read {
            tokens: tokens(closing, sentence.span.clone()),
            sentence,
        })
        .collect();
    let proposal = all.iter().any(|read| asks_to_go_ahead(&read.tokens));
    let mut found = Vec::new();
    let mut introduced = None;
    let mut intro = Intro::default();
    for (index, read) in all.iter().enumerate() {
        if introduced != read.sentence.intro {
            introduced = read.sentence.intro;
            let found = introduced.and_then(|intro| all.get(intro));
            intro = found.map(Intro::of).unwrap_or_default();
        }
        let view = view(&all, index, intro, proposal, lexicon);
        for (at, token) in read.tokens.iter().enumerate() {
            let Some(form) = lexicon.spoken(&token.text).filter(|_| token.is_word()) else {
                found.extend(nominal_claim(closing, read, &view, at, lexicon));
                found.extend(earlier_claim(closing, read, &view, at, lexicon));
                continue;
            };
            if idiom(&read.tokens, at) {
                continue;
            }
            let head = |span: &Range<usize>| tokens(closing, opening(closing, span));
            let cell = read.sentence.cell.as_ref();
            if let Some(cell) = cell.filter(|_| at < 3) {
                let row = head(&cell.row);
                let read_cell = table::read(&view, at, form, &row, &head(&cell.column));
                if let Some((reading, object)) = read_cell {
                    let mut claim = build(closing, read, at, &reading.subject, &object);
                    claim.verb.clone_from(&form.lemma);
                    claim.voice = reading.voice;
                    claim.manner = reading.manner;
                    claim.names = row
                        .iter()
                        .filter(|token| token.is_name())
                        .map(|token| name(closing, token))
                        .collect();
                    found.push(claim);
                    continue;
                }
            }
            let alone = || {
                let lone = all.len() == 1 && form.past && says_only(&read.tokens, at);
                lone.then(|| view.active(at, at, Manner::Fragment))
            };
            if let Some(reading) = view.read(at, form).or_else(alone) {
                let object = phrase::object(&view, at, &reading);
                if told_here(&read.tokens, at)
                    || shown_next(closing, read, at, &object)
                    || denies_object(&read.tokens, at)
                {
                    continue;
                }
                let mut claim = build(closing, read, at, &reading.subject, &object);
                claim.verb.clone_from(&form.lemma);
                claim.voice = reading.voice;
                claim.manner = reading.manner;
                if object.phrase.plural || claim.nouns.is_empty() {
                    claim
                        .names
                        .extend(listed(closing, &all, index, &claim.nouns));
                }
                if reading.voice == Voice::Active {
                    join(&mut found, &mut claim);
                }
                claim.answer = is_answer(&read.tokens, at, &claim);
                found.push(claim);
            }
        }
    }
    // A verb that is told before its sentence is read, or a noun after it, comes out of turn.
    found.sort_by_key(|claim| claim.span.start);
    found
}

/// The first bytes of a cell, so that a long one is not read again for every cell of its row.
fn opening(closing: &str, span: &Range<usize>) -> Range<usize> {
    let mut end = span.end.min(span.start + 200);
    while !closing.is_char_boundary(end) {
        end -= 1;
    }
    span.start..end
}

/// *The cancellation has been completed*.
fn nominal_claim(
    closing: &str,
    read: &Read,
    view: &View<'_>,
    at: usize,
    lexicon: &Lexicon,
) -> Option<Found> {
    let form = nominal::empty_form(&read.tokens[at].text).filter(|_| read.tokens[at].is_word())?;
    let reading = view.read(at, &form)?;
    if reading.manner == Manner::Fragment {
        return None;
    }
    let mut object = phrase::object(view, at, &reading);
    let (verb, done_to) = nominal::action(view, &reading, &object, lexicon)?;
    object.phrase = done_to;
    let mut claim = build(closing, read, at, &reading.subject, &object);
    claim.verb = verb;
    claim.voice = reading.voice;
    claim.manner = reading.manner;
    claim.nominal = true;
    Some(claim)
}

/// Fixed phrases in which the verb has another meaning.
fn idiom(tokens: &[Token], at: usize) -> bool {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let soon = |sought: &str| (at + 1..at + 3).any(|index| word(index) == sought);
    match tokens[at].text.as_str() {
        "put" => {
            let held = |index: usize| {
                matches!(
                    (word(index), word(index + 1)),
                    ("on", "hold")
                        | ("in", "touch" | "order")
                        | ("at", "risk" | "ease")
                        | ("at" | "to", "rest")
                )
            };
            (at + 1..at + 8).any(held)
                || soon("together")
                || matches!(word(at + 1), "simply" | "differently" | "another" | "up")
        }
        "set" => {
            matches!(
                word(at + 1),
                "out" | "aside" | "off" | "about" | "of" | "forth"
            ) || (at > 0 && matches!(word(at - 1), "all" | "a" | "the" | "data"))
        }
        "added" => matches!(word(at + 1), "up"),
        "dropped" => matches!(word(at + 1), "by" | "in" | "off" | "below" | "to" | "from"),
        "posted" | "updated" => at > 1 && word(at - 2) == "keep",
        _ => false,
    }
}

/// Whether what was written stands in the message itself: *I've created a summary below*.
fn told_here(tokens: &[Token], verb: usize) -> bool {
    let makes = words::listed(
        "created written wrote added put set posted drafted made",
        &tokens[verb].text,
    );
    let here = |at: usize| {
        matches!(tokens[at].text.as_str(), "below" | "above")
            || (tokens[at].is("here")
                && tokens
                    .get(at + 1)
                    .is_none_or(|next| next.kind == Kind::Mark || next.is("for")))
    };
    makes && clause::after(tokens, verb).any(here)
}

/// *I've written a function that does it:* and the code, or *Here's the email I drafted:* and its text.
fn shown_next(closing: &str, read: &Read, verb: usize, object: &Object) -> bool {
    let texts = "function script example snippet query regex template draft message email reply summary list plan \
        outline version program class code response post letter";
    let writes = words::listed("written wrote drafted", &read.tokens[verb].text);
    let makes = words::listed("created made", &read.tokens[verb].text)
        && (object.phrase.nouns.last()).is_some_and(|noun| words::listed(texts, noun));
    let rest = closing[read.sentence.span.end..].trim_start();
    (writes || makes)
        && object.phrase.names.is_empty()
        && object.names_around.is_empty()
        && closing[read.sentence.span.clone()].ends_with(':')
        && (rest.starts_with("```") || rest.starts_with('>') || rest.starts_with("---"))
}

/// *removed nothing*, *made and deleted no files*.
pub(super) fn denies_object(tokens: &[Token], verb: usize) -> bool {
    tokens.get(verb + 1).is_some_and(|next| {
        matches!(
            next.text.as_str(),
            "0" | "no" | "nothing" | "none" | "neither" | "zero" | "nobody"
        )
    })
}

fn name(closing: &str, token: &Token) -> Name {
    let shown = closing[token.span.clone()]
        .trim_matches(['`', '"', '“', '”', '\'', '‘', '’'])
        .trim()
        .to_owned();
    Name {
        text: token.text.clone(),
        key: is_key(token, &shown),
        shown,
    }
}

pub(super) fn build(
    closing: &str,
    read: &Read,
    verb: usize,
    subject: &Range<usize>,
    object: &Object,
) -> Found {
    let tokens = &read.tokens;
    let name = |at: &usize| name(closing, &tokens[*at]);
    let first = object.range.start.min(verb).min(if subject.is_empty() {
        verb
    } else {
        subject.start
    });
    let last = object.range.end.max(verb + 1).min(tokens.len());
    let byte_start = tokens[first].span.start;
    let byte_end = tokens[first..last]
        .iter()
        .map(|token| token.span.end)
        .max()
        .unwrap_or(byte_start);
    let titled = tokens
        .iter()
        .filter(|token| token.is_word() && token.text.len() > 3);
    let (capitals, all) = titled.fold((0_usize, 0_usize), |(capitals, all), token| {
        (capitals + usize::from(token.capital), all + 1)
    });
    Found {
        verb: String::new(),
        voice: Voice::Active,
        manner: Manner::Finite,
        nominal: false,
        nouns: object.phrase.nouns.clone(),
        proper: object.phrase.proper && capitals * 2 < all.max(1),
        answer: false,
        joined: Vec::new(),
        yours: tokens[first].is("your"),
        names: object.phrase.names.iter().map(name).collect(),
        around: object.around.clone(),
        names_around: object
            .names_around
            .iter()
            .filter(|at| !object.phrase.names.contains(at))
            .map(name)
            .collect(),
        amounts: object
            .amounts
            .iter()
            .map(|at| tokens[*at].text.replace(['$', '€', '£', ','], ""))
            .collect(),
        sentence: read.sentence.span.clone(),
        span: byte_start..byte_end,
    }
}

/// Whether a name looks like a key of a record, an address or a path.
fn is_key(token: &Token, shown: &str) -> bool {
    let spaced = shown.contains(char::is_whitespace);
    let upper = shown.len() >= 5 && shown.chars().all(|c| c.is_ascii_uppercase());
    let marked = shown
        .chars()
        .any(|c| c.is_ascii_digit() || matches!(c, '@' | '#' | '/'))
        || is_file_name(shown);
    !spaced && token.kind != Kind::Quotation && (upper || marked)
}

/// Whether the name ends like the name of a file, and not like a member of a program: `User.save`.
pub(super) fn is_file_name(shown: &str) -> bool {
    const ENDINGS: &str = "rs py js ts tsx jsx mjs json jsonl yml yaml toml md rst txt csv tsv html css scss sh sql go \
        java kt swift c h cc cpp hpp cs rb php xml lock ini cfg conf env log pdf png jpg jpeg svg gif doc docx xls xlsx \
        ppt pptx zip gz ipynb";
    shown
        .rsplit_once('.')
        .is_some_and(|(_, ending)| words::listed(ENDINGS, &ending.to_lowercase()))
}

/// Names of a list that are taken into the claim before it.
const MOST_LISTED: usize = 200;

/// Names at the head of the items that follow a sentence about several things: *The reservations
/// have been cancelled:* and a list of them.
fn listed(closing: &str, all: &[Read], index: usize, nouns: &[String]) -> Vec<Name> {
    let mut found = Vec::new();
    for item in all.iter().skip(index + 1).take(4 * MOST_LISTED) {
        if item.sentence.intro != Some(index) || found.len() >= MOST_LISTED {
            break;
        }
        let filler = |token: &Token| {
            let word = words::singular(&token.text);
            token.is_word()
                && (nouns.last() == Some(&word) || matches!(word.as_str(), "id" | "number"))
        };
        let at = item
            .tokens
            .iter()
            .position(|token| !(filler(token) || token.is(":")));
        let Some(token) = at
            .and_then(|at| item.tokens.get(at))
            .filter(|token| token.is_name() && item.sentence.opens_block)
        else {
            continue;
        };
        let shown = closing[token.span.clone()].trim_matches('`').to_owned();
        if is_key(token, &shown) {
            found.push(Name {
                text: token.text.clone(),
                key: true,
                shown,
            });
        }
    }
    found
}
