//! Finds every completed action that a closing claims.

use std::ops::Range;

use super::clause;
use super::phrase::{self, Object};
use super::reading::{Manner, View, Voice};
use super::sentence::{Place, Sentence, sentences};
use super::token::{Kind, Token, tokens};
use super::verb::{Lexicon, looks_past};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub verb: String,
    pub voice: Voice,
    pub manner: Manner,
    /// Singular words of the object; the last is its head.
    pub nouns: Vec<String>,
    /// Whether the object is a proper name.
    pub proper: bool,
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

struct Read {
    sentence: Sentence,
    tokens: Vec<Token>,
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
    for (index, read) in all.iter().enumerate() {
        let view = view(&all, index, proposal, lexicon);
        for (at, token) in read.tokens.iter().enumerate() {
            let form = lexicon.form(&token.text).filter(|_| token.is_word());
            let Some(form) = form.filter(|_| !idiom(&read.tokens, at)) else {
                continue;
            };
            if let Some(reading) = view.read(at, form) {
                let object = phrase::object(&view, at, &reading);
                if told_here(&read.tokens, at) || denies_object(&read.tokens, at) {
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
                found.push(claim);
            }
        }
    }
    found
}

fn view<'t>(all: &'t [Read], index: usize, proposal: bool, lexicon: &Lexicon) -> View<'t> {
    let read = &all[index];
    let intro = read.sentence.intro.and_then(|intro| all.get(intro));
    let mut blocked = proposal;
    let recounted = intro.is_some_and(|intro| {
        intro
            .tokens
            .iter()
            .any(|token| words::is_record(&token.text))
            || intro
                .tokens
                .windows(2)
                .any(|pair| pair[0].is("you") && pair[1].is("have"))
    });
    blocked |= intro.is_some_and(|intro| !told_as_done(intro));
    // `set` and `put` read as past where the items around them are in the past.
    let past = |other: &Read| {
        other
            .tokens
            .iter()
            .find(|token| token.is_word())
            .and_then(|token| lexicon.form(&token.text))
            .is_some_and(|form| form.past && !form.base)
    };
    // Near items are enough, and keep a list of any length cheap.
    let near = &all[index.saturating_sub(20)..(index + 20).min(all.len())];
    let siblings = near.iter().filter(|other| {
        other.sentence.place == Place::Item && other.sentence.intro == read.sentence.intro
    });
    let reports = intro.is_some_and(|intro| {
        intro.tokens.iter().any(|token| {
            words::listed(
                "done did made changes completed performed applied took taken",
                &token.text,
            )
        })
    });
    let past_context =
        read.sentence.place == Place::Item && (siblings.into_iter().any(past) || reports);
    View {
        tokens: &read.tokens,
        place: read.sentence.place,
        fragments_count: !blocked && !recounted,
        recounted,
        past_context,
        question: clause::question_start(&read.tokens),
    }
}

/// Whether the introduction of a list leaves its fragments to tell what was done: it neither plans
/// nor recounts, or says in so many words that the agent did it (*I've made the requested changes:*).
fn told_as_done(intro: &Read) -> bool {
    let any = |test: fn(&str) -> bool| {
        intro
            .tokens
            .iter()
            .any(|token| token.is_word() && test(&token.text))
    };
    let did = |word: &str| {
        (looks_past(word) && !words::is_reporting(word) && word != "requested") || word == "done"
    };
    let own = any(words::is_first_person) && any(did) && !any(words::denies_or_supposes);
    let theirs = intro
        .tokens
        .windows(2)
        .any(|pair| pair[0].is("you") && words::is_have(&pair[1].text));
    own || !(any(words::proposes) || any(words::recounts) || theirs)
}

/// Whether a sentence asks the user to let the agent go ahead: then what is listed is a proposal.
fn asks_to_go_ahead(tokens: &[Token]) -> bool {
    let any = |words: &[&str]| {
        tokens
            .iter()
            .any(|token| words.contains(&token.text.as_str()))
    };
    let asks = tokens.iter().rev().take(2).any(|token| token.is("?"));
    (asks && any(&["proceed", "confirm", "ahead", "apply", "correct"]))
        || (any(&["please"]) && any(&["confirm"]))
        || (any(&["confirm"]) && any(&["proceed"]))
}

/// Fixed phrases in which the verb has another meaning.
fn idiom(tokens: &[Token], at: usize) -> bool {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    let soon = |sought: &str| (at + 1..at + 3).any(|index| word(index) == sought);
    match tokens[at].text.as_str() {
        "put" => {
            soon("together") || matches!(word(at + 1), "simply" | "differently" | "another" | "up")
        }
        "set" => {
            matches!(word(at + 1), "out" | "off" | "about" | "of" | "forth")
                || (at > 0 && matches!(word(at - 1), "all" | "a" | "the" | "data"))
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

/// *removed nothing*, *made and deleted no files*.
fn denies_object(tokens: &[Token], verb: usize) -> bool {
    tokens.get(verb + 1).is_some_and(|next| {
        matches!(
            next.text.as_str(),
            "no" | "nothing" | "none" | "neither" | "zero" | "nobody"
        )
    })
}

fn build(
    closing: &str,
    read: &Read,
    verb: usize,
    subject: &Range<usize>,
    object: &Object,
) -> Found {
    let tokens = &read.tokens;
    let name = |at: &usize| {
        let token = &tokens[*at];
        let shown = closing[token.span.clone()]
            .trim_matches(['`', '"', '“', '”', '\'', '‘', '’'])
            .trim()
            .to_owned();
        Name {
            text: token.text.clone(),
            key: is_key(token, &shown),
            shown,
        }
    };
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
        nouns: object.phrase.nouns.clone(),
        proper: object.phrase.proper && capitals * 2 < all.max(1),
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

/// Names at the head of the items that follow a sentence about several things: *The reservations
/// have been cancelled:* and a list of them.
fn listed(closing: &str, all: &[Read], index: usize, nouns: &[String]) -> Vec<Name> {
    let mut found = Vec::new();
    for item in all.iter().skip(index + 1) {
        if item.sentence.intro != Some(index) {
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
