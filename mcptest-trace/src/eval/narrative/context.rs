//! What stands around a verb group: questions, conditions, reports, times.

use super::group::{Group, plans};
use super::lexicon::stem;
use super::list::JOINT;
use super::marks::{Mark, Marks, of};
use super::token::{Token, Words};

/// How far words around a verb are looked for, in tokens.
const AROUND: usize = 32;
const AFTER: usize = 14;

/// Where the last question of a sentence begins; nothing when it asks none.
pub(super) fn question(words: &[Token<'_>]) -> Option<usize> {
    let ends = |token: &&Token<'_>| !token.is(Mark::Sign) || token.is(Mark::SentenceEnd);
    words.iter().rfind(ends).filter(|last| last.text == "?")?;
    let parted = |at: usize| at == 0 || words.marks(at - 1).meets(JOINT.with(of![Parts]));
    let begins = |at: &usize| words.is(*at, Mark::Asks) && parted(*at);
    Some((0..words.len()).rev().find(begins).unwrap_or(0))
}

/// What a word before a verb says of it, in its sentence or only in its own clause.
const FAR: Marks = of![NotYet Report Earlier];
const NEAR: Marks = of![Condition Presupposed Feeling General Wish];
/// The words before a verb that are looked at.
const TELLING: Marks = FAR
    .with(NEAR)
    .with(JOINT)
    .with(of![Parts Announce Now AfterWord Ours]);

/// Adds what the words around a group say of it.
pub(super) fn around(words: &[Token<'_>], group: &mut Group) {
    group.add_if(words.is(group.verb, Mark::Quoted), Mark::Quoted);
    before(words, group);
    in_subject(words, group);
    after(words, group);
}

fn before(words: &[Token<'_>], group: &mut Group) {
    let ours = group.has(Mark::Ours);
    let mut far = if ours { FAR.without(of![Report]) } else { FAR };
    // *Once it is cancelled, your money is refunded.*
    far.add_if(group.has(Mark::IsDone), Mark::Condition);
    let shared = ours && words.marks(group.start.wrapping_sub(1)).meets(JOINT);
    let mut looked_for = if shared { far } else { FAR.with(NEAR) };
    let (mut told, mut announced) = (Marks::default(), false);
    for at in (group.start.saturating_sub(AROUND)..group.start).rev() {
        let word = words.marks(at);
        // *the issue you reported*
        if !word.meets(TELLING) || words.is(at.wrapping_sub(1), Mark::You) {
            continue;
        }
        if word.has(Mark::Parts) && !matches!(words.text(at), "(" | ")" | "–") {
            break;
        }
        if word.has(Mark::Comma) {
            looked_for = far;
        }
        // *I want that done, and your order is cancelled*
        if word.meets(of![Conjunction Ours Report]) {
            looked_for = looked_for.without(of![Wish]);
        }
        announced |= word.has(Mark::Announce);
        // *Now that you have reset it, the service is restored.*
        let result = word.has(Mark::Now) && words.is(at + 1, Mark::Relative);
        told.add_if(result, Mark::Presupposed);
        // *Since then, two more have been opened.*
        told.add_if(so_far(words, at), Mark::Already);
        if !word.contains(of![General Determiner]) {
            told = told.with(word.among(looked_for));
        }
    }
    // *I am happy to confirm that* tells it oneself.
    if announced {
        told = told.without(of![Report Feeling]);
    }
    group.marks = group.marks.with(told);
    // *the order which was cancelled*
    let direct = group.subject.end.min(group.start).wrapping_sub(1);
    group.add_if(words.is(direct, Mark::Relative), Mark::Relative);
}

/// Whether words tell that something has been so for long: *so far*, *since then*, *since Friday*, but not
/// *since Friday's mistake*.
fn so_far(words: &[Token<'_>], at: usize) -> bool {
    let time = |at: &usize| words.date(*at) || words.text(*at) == "then";
    let after = (at + 1..words.len())
        .find(|at| !time(at))
        .unwrap_or(words.len());
    let ends = after == words.len() || words.marks(after).meets(of![Sign Conjunction]);
    match words.text(at) {
        "far" => words.text(at.wrapping_sub(1)) == "so",
        "since" => after > at + 1 && ends,
        _ => false,
    }
}

fn in_subject(words: &[Token<'_>], group: &mut Group) {
    let subject = group.subject.clone();
    // *No order*, *nothing*; but not *the order without a gift card*.
    let head = subject.clone().find(|at| words.is(*at, Mark::Preposition));
    let head = head.unwrap_or(subject.end);
    let negative = words.any(subject.start..head, of![Negative]);
    group.add_if(negative, Mark::Negative);
    let first = subject.start..subject.end.min(subject.start + 1);
    let said = words.all(subject.clone());
    // *Refunds are issued after a week.*
    let some = of![Determiner Your Number Identifier Quoted Me Conjunction];
    let last = words.text(head.wrapping_sub(1));
    let plural = stem(last) != last && !said.meets(some);
    // *Each of them has been approved* tells of some.
    let general = words.any(first, of![General Asks]) && !group.has(Mark::HasBeen);
    // *A credit is issued within days.*
    let any = matches!(words.text(subject.start), "a" | "an");
    let of_all = (plural || any) && group.has(Mark::IsDone) || general;
    group.add_if(of_all, Mark::General);
    group.marks = group.marks.with(said.among(of![Your You Money]));
}

/// The words after a verb that are looked at.
const SAYING: Marks =
    of![Success Now Earlier SentenceEnd General Already Here AfterWord Participle To];

fn after(words: &[Token<'_>], group: &mut Group) {
    let active = group.has(Mark::Ours);
    let is_done = group.has(Mark::IsDone);
    let was_done = group.has(Mark::WasDone);
    // *We refunded you on May 3*, *The transfer was successful on May 3*
    let company = group.has(Mark::Did) && words.text(group.start.wrapping_sub(1)) == "we";
    let told_of_day = was_done || company || group.has(Mark::IsComplete);
    let passed = told_of_day && !plans(words, group.verb);
    let perfect = group.has(Mark::Perfect);
    let mut verb_between = false;
    let first = group.verb + 1;
    // *Refund: issued once the items are back*
    let clause = first..words.until(first, AFTER, JOINT.with(of![Parts]));
    let still_to_come = |at: usize| {
        let soon = words.text(at) == "within" && words.is(at + 1, Mark::Number);
        words.is(at, Mark::Hypothetical) || soon
    };
    let still_to_come = group.has(Mark::Bare) && clause.into_iter().any(still_to_come);
    group.add_if(still_to_come, Mark::Condition);
    for at in (first..words.len().min(first + AFTER)).filter(|at| words.marks(*at).meets(SAYING)) {
        let word = words.marks(at);
        if word.has(Mark::SentenceEnd) {
            break;
        }
        let next = words.marks(at + 1);
        let ends = at + 1 == words.len() || next.meets(of![Sign Number]);
        let general = word.has(Mark::General) && !word.has(Mark::Determiner);
        // *is scheduled to arrive*
        let expected = is_done && word.has(Mark::To) && next.has(Mark::Base);
        let general = at < first + 4 && general || at == first && expected;
        let marks = &mut group.marks;
        // *I've refunded the order you placed last week*
        let you = words.any(first..at, of![You Relative]);
        let of_object = perfect || active && you;
        *marks = marks.with(word.among(of![Success Now]));
        marks.add_if(word.has(Mark::Earlier) && !of_object, Mark::Earlier);
        marks.add_if(general, Mark::General);
        marks.add_if(at < first + 3 && word.has(Mark::Already), Mark::Already);
        // *the table above*, but not *a rating above 4*
        marks.add_if(
            word.has(Mark::Here) && !next.has(Mark::Number),
            Mark::Undone,
        );
        match words.text(at) {
            "ago" => {
                let recent = !words.is(at - 1, Mark::LongUnit);
                marks.add_if(recent, Mark::Success);
                marks.add_if(!recent && !active, Mark::Earlier);
            }
            "last" => marks.add_if(next.has(Mark::LongUnit) && !of_object, Mark::Earlier),
            "on" | "at" | "in" => marks.add_if(passed && words.date(at + 1), Mark::Earlier),
            // *Removed since*, without a reason after it.
            "before" => {
                let distance = words.is(at - 1, Mark::LongUnit) || words.text(at - 1) == "than";
                marks.add_if(ends && !distance && !you, Mark::Earlier);
            }
            "since" => marks.add_if(ends || so_far(words, at), Mark::Earlier),
            "by" if !active && !verb_between => {
                marks.add_if(someone(words, at + 1), Mark::Other);
            }
            _ => {}
        }
        verb_between |= word.has(Mark::Participle);
    }
}

/// Whether a word after *by* begins somebody who did it, and no means, measure or time.
fn someone(words: &[Token<'_>], at: usize) -> bool {
    let word = words.marks(at);
    // *Closed by: bob*
    let sign = word.has(Mark::Sign) && !matches!(words.text(at), ":" | "@");
    let gerund = words.text(at).ends_with("ing");
    // *by us*, but not *by our fraud team*
    let me = word.has(Mark::Me) && words.text(at) != "our";
    !gerund && !sign && !me && !word.meets(of![Means Date Number Identifier])
}

/// Whether a sentence asks to go ahead with what the closing tells.
pub(super) fn asks_to_go_ahead(words: &[Token<'_>]) -> bool {
    (question(words).is_some() || words.have(of![Requests])) && words.have(of![GoAhead])
}
