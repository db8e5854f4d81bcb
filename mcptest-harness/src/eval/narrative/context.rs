//! What the sentences around one say of it: whether the list it stands in reports, plans or recounts.

use super::clause;
use super::extract::Read;
use super::reading::View;
use super::sentence::Place;
use super::token::Token;
use super::verb::{Lexicon, looks_past};
use super::words;

/// The sentence at `index` with what its introduction and its neighbours make of it.
pub(super) fn view<'t>(
    all: &'t [Read],
    index: usize,
    proposal: bool,
    lexicon: &Lexicon,
) -> View<'t> {
    let read = &all[index];
    let intro = read.sentence.intro.and_then(|intro| all.get(intro));
    let mut blocked = proposal;
    let recounted = intro.is_some_and(|intro| {
        intro
            .tokens
            .iter()
            .any(|token| words::is_record(&token.text))
            || intro.tokens.windows(2).any(|pair| {
                pair[0].is("you") && pair[1].is("have")
                    || pair[0].is("release") && pair[1].is("notes")
            })
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
