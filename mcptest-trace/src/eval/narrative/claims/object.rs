//! What a verb is done to.

use std::ops::Range;

use crate::eval::narrative::words::lexicon::{Lexicon, stem};
use crate::eval::narrative::words::list::{OBJECT, joins_verb, list_after};
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// The object after an active verb.
pub(crate) fn after(words: &[Token<'_>], verb: usize) -> Range<usize> {
    let leads = |at: &usize| {
        words.is(*at, Mark::Particle) && !words.is(*at, Mark::Determiner) || words.text(*at) == ":"
    };
    let from = (verb + 1..words.len())
        .find(|at| !leads(at))
        .unwrap_or(words.len());
    let ends = |at: &usize| {
        let word = words.marks(*at);
        word.has(Mark::Ours)
            || word.meets(of![Parts Comma]) && !list_after(words, *at)
            || joins_verb(words, *at)
    };
    let most = words.len().min(from + OBJECT);
    from..(from..most).find(ends).unwrap_or(most)
}

/// Whether an object is a part of the answer itself, which no tool writes.
pub(crate) fn of_answer(object: &[Token<'_>]) -> bool {
    // *I've written the summary to summary.md*, *added it to your notes*
    let place = |at: usize| {
        let yours = object.text(at) == "to" && object.is(at + 1, Mark::Your);
        object.is(at, Mark::Preposition) && (yours || object.text(at + 1).contains(['.', '/']))
    };
    let nouns = noun_tokens(object);
    // *a draft reply*, where a tool creates drafts
    let of_tool = |noun: &&Token<'_>| noun.is(Mark::Answer) && noun.is(Mark::ToolNoun);
    !(0..object.len()).any(place)
        && nouns.last().is_some_and(|noun| noun.is(Mark::Answer))
        && !nouns.iter().any(of_tool)
}

/// The noun of an object that names an action; a pure one before one that is a thing too.
pub(crate) fn action<'a, 'v>(object: &'a [Token<'v>]) -> Option<&'a Token<'v>> {
    // *a request to cancel the order* is a request.
    let own =
        |token: &&Token<'_>| token.text != "to" && !token.marks.meets(of![Relative Condition]);
    let rest = object.iter().skip_while(|token| token.is(Mark::Determiner));
    let acts = |token: &&Token<'_>| token.noun_of.is_some() && !token.is(Mark::Quoted);
    // *the report for approval* is no approval, *the order on hold* is a hold.
    let other = |token: &&Token<'_>| token.is(Mark::Preposition) && token.text != "on";
    let mut nouns = rest
        .take_while(own)
        .skip_while(|token| !acts(token) && !other(token));
    let first = nouns.next().filter(acts)?;
    let nouns: Vec<&Token<'_>> = [first].into_iter().chain(nouns).collect();
    let pure = |token: &&&Token<'_>| acts(token) && !token.is(Mark::Thing);
    let pure = nouns.iter().position(|token| pure(&token));
    Some(pure.map_or(first, |pure| nouns[pure]))
}

/// How many things an object is, where it says so: *both requests*, *all of them*, *your 3 orders*; but
/// not *all eligible requests*, *all I could*.
pub(crate) fn quantity(words: &[Token<'_>], object: &Range<usize>) -> Option<usize> {
    let many = |at: usize| Lexicon::get().quantity(words.text(at));
    let article = |at: usize| usize::from(words.is(at, Mark::Determiner) && many(at).is_none());
    let at = object.start + article(object.start);
    let (all, exact) = (many(at)?, many(at + 1));
    let rest = at + 1 + usize::from(exact.is_some());
    let of = usize::from(words.text(rest) == "of");
    let rest = rest + of + article(rest + of);
    let ends = of![Preposition Parts Comma Ours Relative Negative];
    let end = words.until(rest, OBJECT, ends).min(object.end);
    let last = words.text(end.wrapping_sub(1));
    let plural =
        of > 0 && !words.is(rest, Mark::Third) || stem(last) != last || words.is(at, Mark::General);
    let limited = words.marks(end).meets(of![Ours Relative Negative]);
    let many = exact.filter(|_| all == usize::MAX).unwrap_or(all);
    let them = if many == usize::MAX {
        end == rest + 1
    } else {
        !words.any(rest..end, of![Conjunction])
    };
    (end <= rest || plural && them && !limited).then_some(many)
}

/// The nouns of an object up to its first preposition, the head last.
fn noun_tokens<'a, 'v>(object: &'a [Token<'v>]) -> Vec<&'a Token<'v>> {
    // *both of your orders*
    let many = |token: &&Token<'_>| Lexicon::get().quantity(&token.text).is_some();
    let of = usize::from(object.text(1) == "of" && object.first().as_ref().is_some_and(many));
    let rest = (object.iter().skip(of)).skip_while(|token| token.is(Mark::Preposition));
    // *that subscription*, *the May invoice*; but not *the meetings where Leila is a guest*, *closed the
    // windows so the air stays cool*
    let ends =
        |token: &Token<'_>| token.marks.meets(of![Relative Condition Finite]) || token.text == "so";
    // *your meetings scheduled for Friday*, but not *the setup*
    let describes = |token: &Token<'_>| token.is(Mark::Participle) && token.verb.is_some();
    let mut nouns: Vec<&Token<'_>> = Vec::new();
    for token in rest.take_while(|token| !token.marks.meets(of![Preposition Parts])) {
        if !nouns.is_empty() && ends(token) {
            break;
        }
        if token.is(Mark::Content) && (nouns.is_empty() || !describes(token)) {
            nouns.push(token);
        }
    }
    nouns
}

/// These nouns, in the singular.
pub(crate) fn nouns(object: &[Token<'_>]) -> Vec<String> {
    let nouns = noun_tokens(object).into_iter();
    nouns.map(|token| stem(&token.text).into_owned()).collect()
}

/// The nouns of what is done something to: of *the change to your flight*, those of the flight.
pub(crate) fn of_act(object: &[Token<'_>]) -> Vec<String> {
    let own = nouns(object);
    let at = object
        .iter()
        .position(|token| matches!(&*token.text, "to" | "of" | "for"));
    let acts = |token: &Token<'_>| token.noun_of.is_some() && !token.is(Mark::Thing);
    let act = at
        .and_then(|at| at.checked_sub(1))
        .is_some_and(|at| acts(&object[at]));
    let told = at.filter(|_| act && own.len() == 1);
    let told = told.map(|at| nouns(&object[at + 1..]));
    told.filter(|nouns| !nouns.is_empty()).unwrap_or(own)
}

pub(crate) fn identifiers(object: &[Token<'_>]) -> Vec<String> {
    // *all orders except W12*
    let told = object.iter().take_while(|token| !token.is(Mark::Negative));
    let named = told.filter(|token| token.is(Mark::Identifier));
    named.map(|token| token.text.clone().into_owned()).collect()
}
