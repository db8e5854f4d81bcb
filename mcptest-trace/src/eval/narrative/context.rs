//! What the sentences around one say of it: whether the list it stands in reports, plans or recounts.

use super::clause;
use super::extract::Read;
use super::reading::View;
use super::sentence::Place;
use super::token::Token;
use super::verb::{Lexicon, looks_past};
use super::words;

/// What the introduction of a list makes of its items.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Intro {
    recounted: bool,
    untold: bool,
    reports: bool,
}

impl Intro {
    pub(super) fn of(intro: &Read) -> Self {
        let tokens = &intro.tokens;
        let any = |test: fn(&str) -> bool| tokens.iter().any(|token| test(&token.text));
        let pair = |first: &str, second: &str| {
            tokens
                .windows(2)
                .any(|pair| pair[0].is(first) && pair[1].is(second))
        };
        Self {
            recounted: any(words::is_record) || pair("you", "have") || pair("release", "notes"),
            untold: !told_as_done(intro),
            reports: any(|word| {
                words::listed(
                    "done did made changes completed performed applied took taken",
                    word,
                )
            }),
        }
    }
}

/// The sentence at `index` with what its introduction and its neighbours make of it.
pub(super) fn view<'t>(
    all: &'t [Read],
    index: usize,
    intro: Intro,
    proposal: bool,
    lexicon: &Lexicon,
) -> View<'t> {
    let read = &all[index];
    let blocked = proposal || intro.untold;
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
    let mut siblings = near.iter().filter(|other| {
        other.sentence.place == Place::Item && other.sentence.intro == read.sentence.intro
    });
    let past_context = read.sentence.place == Place::Item && (intro.reports || siblings.any(past));
    View {
        tokens: &read.tokens,
        place: read.sentence.place,
        fragments_count: !blocked && !intro.recounted,
        recounted: intro.recounted,
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
pub(super) fn asks_to_go_ahead(tokens: &[Token]) -> bool {
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
