//! Identifiers and brackets set apart from their noun, and what joins words.

use std::ops::Range;

use super::marks::{Mark, Marks, of};
use super::token::{Token, TokenQueries};

/// How far a list or an object is looked for, in tokens.
pub(crate) const OBJECT: usize = 14;

/// What joins what follows to what stands before it.
pub(crate) const JOINT: Marks = of![Comma Conjunction];

/// Whether a token is an *and* before another verb.
pub(crate) fn joins_verb(words: &[Token<'_>], at: usize) -> bool {
    words.is(at, Mark::Conjunction) && words.marks(at + 1).meets(of![Participle Ours Adverb])
}

/// Whether a token may stand in a list of identifiers.
fn lists(words: &[Token<'_>], at: usize) -> bool {
    words.marks(at).meets(JOINT.with(of![Identifier Number])) || words.text(at) == "#"
}

/// Whether a sign sets a list of identifiers apart from its noun: *both orders, #W12 and #W13*, but not
/// *order W12, W13 is shipped*.
pub(crate) fn list_after(words: &[Token<'_>], sign: usize) -> bool {
    let most = words.len().min(sign + OBJECT);
    let end = (sign + 1..most).find(|at| !lists(words, *at));
    let end = end.unwrap_or(most);
    let closed = end == words.len()
        || words.marks(end).meets(of![Sign Preposition])
        || words.is(end - 1, Mark::Comma)
        || joins_verb(words, end - 1);
    closed && !words.is(sign + 1, Mark::Conjunction) && words.any(sign..end, of![Identifier])
}

/// Where a list of identifiers begins that is set apart between its noun and a verb: *Both orders, #W12
/// and #W13, have been cancelled.*
pub(crate) fn list_before(words: &[Token<'_>], end: usize) -> usize {
    let Some(sign) = end
        .checked_sub(1)
        .filter(|at| words.marks(*at).meets(of![Parts Comma]))
    else {
        return end;
    };
    let back = (sign.saturating_sub(OBJECT)..sign).rev();
    let first = back
        .take_while(|at| lists(words, *at))
        .last()
        .unwrap_or(sign);
    let opens = first.saturating_sub(usize::from(!words.is(first, Mark::Comma)));
    let listed = words.any(first..sign, of![Identifier Number]);
    // *Your request for a lamp, from order W12, has been submitted.*
    let phrase = (sign.saturating_sub(OBJECT)..sign)
        .rev()
        .find(|at| words.marks(*at).meets(of![Parts Comma Finite Participle]));
    let phrase = phrase
        .filter(|at| *at > 0 && words.is(*at, Mark::Comma) && words.is(at + 1, Mark::Preposition));
    if let Some(opens) = phrase {
        return opens;
    }
    if listed && words.marks(opens).meets(of![Parts Comma]) {
        opens
    } else {
        end
    }
}

/// Tokens that a bracket holds at most to be read apart from its sentence.
const ASIDE: usize = 24;

/// The brackets within a sentence that are read apart from it: *your order (a lamp) has been sent*. One that
/// lists identifiers belongs to the sentence.
pub(crate) fn asides(words: &[Token<'_>]) -> Vec<Range<usize>> {
    let mut aside = Vec::new();
    let bracket = |at: usize| matches!(words.text(at), "(" | ")");
    for open in (1..words.len()).filter(|at| words.text(*at) == "(") {
        let most = words.len().min(open + ASIDE);
        let Some(close) = (open + 1..most).find(|at| bracket(*at)) else {
            continue;
        };
        let prose = (open + 1..close).any(|at| !lists(words, at));
        let next = words.marks(close + 1);
        let goes_on = close + 1 < words.len() && (!next.has(Mark::Sign) || next.has(Mark::Comma));
        // *has (not yet) been*, *cancelled (by the shop) and*, *(if you agree) is booked*
        let of_verb = words.marks(open - 1).meets(of![Have Be Modal])
            || words.is(open - 1, Mark::Participle) && words.any(open..close, of![Earlier])
            || words.is(open - 1, Mark::Participle)
                && (open..close).any(|at| words.text(at) == "by")
            || words.marks(open + 1).meets(of![Condition]) && words.is(close + 1, Mark::BePresent);
        if !of_verb
            && words.text(close) == ")"
            && prose
            && goes_on
            && !words.is(open - 1, Mark::Sign)
        {
            aside.push(open..close + 1);
        }
    }
    aside
}
