//! What stands beside a claimed verb: a gerund told as done, verbs joined over one object, a lone
//! participle, and objects that are a part of the answer itself.

use super::extract::{Found, Read, build, denies_object};
use super::phrase;
use super::reading::{Manner, View, Voice};
use super::token::Token;
use super::verb::Lexicon;
use super::words;

/// *After deleting the branch, I created the issue*: the first is told as done as well.
pub(super) fn earlier_claim(
    closing: &str,
    read: &Read,
    view: &View<'_>,
    at: usize,
    lexicon: &Lexicon,
) -> Option<Found> {
    let tokens = &read.tokens;
    if at != 1 || !tokens[0].is("after") || !tokens[1].text.ends_with("ing") {
        return None;
    }
    let verb = lexicon.lemma(&tokens[1].text)?;
    let comma = tokens.iter().position(|token| token.is(","))?;
    let own = words::is_first_person(view.text(comma + 1));
    let told = tokens
        .get(comma + 2)
        .is_some_and(|next| next.past || words::is_have(&next.text));
    if !own || !told || denies_object(tokens, at) || comma >= view.question {
        return None;
    }
    let reading = view.active(at, at, Manner::Finite);
    let object = phrase::object(view, at, &reading);
    let mut claim = build(closing, read, at, &reading.subject, &object);
    verb.clone_into(&mut claim.verb);
    Some(claim)
}

/// Notes the verb of a claim and those joined with it directly before, over the same object.
pub(super) fn join(found: &mut [Found], claim: &mut Found) {
    const NEAR: usize = 3;
    for other in found.iter_mut().rev().take(NEAR) {
        let same = other.sentence == claim.sentence
            && other.span.end == claim.span.end
            && other.nouns == claim.nouns
            && other.verb != claim.verb;
        if same && !claim.nouns.is_empty() {
            other.joined.push(claim.verb.clone());
            claim.joined.push(other.verb.clone());
        }
    }
}

/// *Deleted.*, with nothing else but adverbs.
pub(super) fn says_only(tokens: &[Token], verb: usize) -> bool {
    tokens.iter().enumerate().all(|(at, token)| {
        at == verb || token.is(".") || token.is("!") || words::is_adverb(&token.text)
    })
}

/// Whether what was made is a part of the answer itself: *a poem*, *my answer*, *your text*.
pub(super) fn is_answer(tokens: &[Token], verb: usize, claim: &Found) -> bool {
    const SAID: &str = "poem haiku joke essay story answer response text explanation outline";
    const MADE: &str = "plan list table draft summary";
    let Some((head, rest)) = claim.nouns.split_last() else {
        return false;
    };
    let plain = |noun: &String| words::listed("short brief quick simple detailed concise", noun);
    let open = tokens
        .get(verb + 1)
        .is_some_and(|next| matches!(next.text.as_str(), "a" | "an" | "my"));
    let makes = matches!(
        claim.verb.as_str(),
        "create" | "write" | "update" | "edit" | "add"
    );
    claim.voice == Voice::Active
        && makes
        && claim.names.is_empty()
        && claim.names_around.is_empty()
        && claim.around.is_empty()
        && rest.iter().all(plain)
        && (words::listed(SAID, head) || open && words::listed(MADE, head))
}
