//! What stands around a verb group: questions, conditions, reports, times.

use super::group::{Group, clause_before};
use super::lexicon::{Lexicon, stem};
use super::list::JOINT;
use super::marks::{Mark, Marks, of};
use super::token::{Token, TokenQueries};

/// How far words around a verb are looked for, in tokens.
const AROUND: usize = 32;
const AFTER: usize = 14;
/// How far before *that* a word is that denies what follows.
const DENIED: usize = 6;

/// Where the last question of a sentence begins; nothing when it asks none.
pub(super) fn question(words: &[Token<'_>]) -> Option<usize> {
    let ends = |token: &&Token<'_>| !token.is(Mark::Sign) || token.is(Mark::SentenceEnd);
    let last = words.iter().rfind(ends)?;
    // *I sent a mail titled "Soon?"*
    if last.text != "?" || last.is(Mark::Quoted) {
        return None;
    }
    let parted = |at: usize| at == 0 || words.marks(at - 1).meets(JOINT.with(of![Parts]));
    let begins = |at: &usize| words.is(*at, Mark::Asks) && parted(*at);
    Some((0..words.len()).rev().find(begins).unwrap_or(0))
}

/// What a word before a verb says of it, in its sentence or only in its own clause.
const FAR: Marks = of![NotYet Report Earlier];
const NEAR: Marks = of![Condition Presupposed Feeling General];
/// The words before a verb that are looked at.
const TELLING: Marks = FAR
    .with(NEAR)
    .with(of![Parts Comma Announce Negative Now Wish]);

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
    let (mut told, mut announced, mut near) = (Marks::default(), false, true);
    // *I can't confirm that your order has been cancelled.*
    let of_that = words.text(group.subject.start.wrapping_sub(1)) == "that";
    let mut denied = false;
    for at in (group.start.saturating_sub(AROUND)..group.start).rev() {
        let word = words.marks(at);
        if !word.meets(TELLING) && words.text(at) != "far" {
            continue;
        }
        let aside = word.has(Mark::Quoted) || matches!(words.text(at), "(" | ")" | "–");
        if word.has(Mark::Parts) && !aside {
            break;
        }
        if word.has(Mark::Comma) {
            looked_for = far;
            near = false;
        }
        let governs = word.has(Mark::Wish) && near && !ours && wished(words, at, group.start);
        told.add_if(governs, Mark::Condition);
        // *Please confirm the deletion was successful.*
        let asked = words.text(at) == "confirm"
            && words.is(at.wrapping_sub(1), Mark::Requests)
            && !words.any(at..group.start, JOINT);
        told.add_if(asked && !ours, Mark::Report);
        announced |= word.has(Mark::Announce) && !asked;
        let not = word.has(Mark::Negative) && !word.has(Mark::Preposition);
        // *that nothing has been done*, but not *the order that never came has been cancelled*
        let start = group.subject.start;
        let that = (at < start || at == start && words.text(at) != "never") && start < at + DENIED;
        denied |= of_that && near && not && that;
        // *Now that you have reset it, the service is restored.*
        let result = word.has(Mark::Now) && words.is(at + 1, Mark::Relative);
        told.add_if(result && !ours, Mark::Report);
        // *Since then, two more have been opened.*
        told.add_if(so_far(words, at) && !ours, Mark::Earlier);
        let relative = word.has(Mark::Past) && of_you(words, at);
        if !(relative || word.contains(of![General Determiner])) {
            told = told.with(word.among(looked_for));
        }
    }
    // *I am happy to confirm that* tells it oneself.
    if announced {
        told = told.without(of![Report Feeling]);
    }
    told.add_if(denied, Mark::Report);
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

/// Whether a verb is in a clause about a noun: *the issue you reported*.
fn of_you(words: &[Token<'_>], verb: usize) -> bool {
    words.is(verb.wrapping_sub(1), Mark::You) && words.is(verb.wrapping_sub(2), Mark::Content)
}

/// Whether a wish is for the verb group that begins at `start`: *make sure it is booked*, but not *the
/// refund you wanted*, *I made sure it is booked*.
fn wished(words: &[Token<'_>], at: usize, start: usize) -> bool {
    let made = words.is(at.wrapping_sub(1), Mark::Past);
    // *sure that your order is cancelled*, but not *get that order cancelled*
    let beside = |at: usize| {
        let that = words.is(at, Mark::Relative);
        words.marks(at).meets(JOINT.with(of![Ours Report]))
            || that && words.marks(at + 1).meets(of![Ours Your Third Determiner])
    };
    // *make sure that*, but not *I am sure that*
    let made_so = words.is(at.wrapping_sub(1), Mark::Base);
    !of_you(words, at) && !made && (made_so || !(at + 1..start).any(beside))
}

fn in_subject(words: &[Token<'_>], group: &mut Group) {
    let subject = group.subject.clone();
    // *No order*, *nothing*; but not *the order without a gift card*.
    let head = subject.clone().find(|at| words.is(*at, Mark::Preposition));
    let head = head.unwrap_or(subject.end);
    // *The customer who hadn't replied has been moved.*
    let of_clause = words.is(subject.start.wrapping_sub(1), Mark::Relative)
        && words.any(subject.clone(), of![Past Have]);
    // *No refund, case, or dispute has been opened.*
    let before = clause_before(words, subject.start, AROUND);
    let none_of = words.text(subject.start) == "or"
        && words.any(before.clone(), of![Negative])
        && !words.any(before, of![Finite]);
    let negative = words.any(subject.start..head, of![Negative]) && !of_clause || none_of;
    group.add_if(negative, Mark::Negative);
    let said = words.all(subject.clone());
    // *Refunds are issued after a week.*
    let some = of![Determiner Number Quoted Conjunction];
    let yours = of![Your You Identifier Me];
    // *Transfers made after 5 p.m. are processed on the next day.*
    let mut back = (subject.start..head).rev();
    let noun = back.find(|at| !words.is(*at, Mark::Participle));
    let head = noun.map_or(subject.start, |at| at + 1);
    let last = words.text(head.wrapping_sub(1));
    let plural = head > subject.start
        && words.is(head - 1, Mark::Content)
        && stem(last) != last
        && !words.any(subject.start..head, some)
        && !said.meets(yours);
    group.add_if(plural && group.has(Mark::IsDone), Mark::General);
    group.marks = group.marks.with(said.among(of![Your You Money]));
}

/// What a word after a verb says of it.
const SAID: Marks = of![Success Now Earlier];
/// The words after a verb that are looked at.
const SAYING: Marks = SAID.with(of![SentenceEnd General Already Here AfterWord Participle To]);

fn after(words: &[Token<'_>], group: &mut Group) {
    let active = group.has(Mark::Ours);
    let bare = group.has(Mark::Bare);
    let is_done = group.has(Mark::IsDone);
    let was_done = group.has(Mark::WasDone);
    let perfect = group.has(Mark::Perfect);
    let mut verb_between = false;
    let first = group.verb + 1;
    // *Refund: issued once the items are back*
    let clause = first..words.until(first, AFTER, JOINT.with(of![Parts]));
    let told_later = group.has(Mark::Bare) && group.start > 0;
    let still_to_come = |at: usize| {
        let soon = words.text(at) == "within" && words.is(at + 1, Mark::Number);
        words.is(at, Mark::Hypothetical) || soon
    };
    let still_to_come = told_later && clause.into_iter().any(still_to_come);
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
        let of_object = perfect || words.any(first..at, of![You Relative]);
        let said = if active && of_object {
            SAID.without(of![Earlier])
        } else {
            SAID
        };
        *marks = marks.with(word.among(said));
        marks.add_if(general, Mark::General);
        let already = at < first + 3 && word.has(Mark::Already) && !bare;
        marks.add_if(already, Mark::Already);
        // *the table above*, but not *a rating above 4*, *Booking confirmed — details below*
        let here = word.has(Mark::Here) && !next.has(Mark::Number);
        let verb = words[group.verb].verb;
        let composes = verb.is_some_and(|verb| Lexicon::get().is(verb, Mark::Composes));
        let parted = || !active && !composes && words.any(first..at, of![Parts]);
        marks.add_if(here && !parted(), Mark::PartOfAnswer);
        match words.text(at) {
            "ago" => {
                let recent = at > first && !words.is(at - 1, Mark::LongUnit);
                marks.add_if(recent, Mark::Success);
                marks.add_if(!recent && !active, Mark::Earlier);
            }
            "last" => {
                // *14 mails from last month*
                let whose = words.text(at - 1) == "from" || active && of_object;
                let earlier = next.has(Mark::LongUnit) && !whose;
                marks.add_if(earlier, Mark::Earlier);
            }
            "on" | "at" | "in" => marks.add_if(was_done && words.date(at + 1), Mark::Earlier),
            // *Removed since*, without a reason after it.
            "before" => {
                let distance = words.is(at - 1, Mark::LongUnit) || words.text(at - 1) == "than";
                let you = words.any(first..at, of![You Relative]);
                marks.add_if(ends && !distance && !you, Mark::Earlier);
            }
            "since" => marks.add_if((ends || so_far(words, at)) && !active, Mark::Earlier),
            "far" => marks.add_if(so_far(words, at) && !active && !told_later, Mark::Earlier),
            "by" if at < first + 8 && !active && !verb_between => {
                marks.add_if(someone(words, at + 1, at == first), Mark::Other);
            }
            _ => {}
        }
        verb_between |= word.has(Mark::Participle);
    }
}

/// Whether a word after *by* begins somebody who did it, and no means, measure or time.
fn someone(words: &[Token<'_>], at: usize, direct: bool) -> bool {
    let word = words.marks(at);
    // *Closed by: bob*
    let sign = word.has(Mark::Sign) && !matches!(words.text(at), ":" | "@");
    let gerund = words.text(at).ends_with("ing");
    // *by us*, *by our team*, but not *by our fraud team* right after the verb
    let ours = words.text(at) == "our" && words.is(at + 1, Mark::Content);
    let named = ours && direct && words.marks(at + 2).meets(of![Content Third]);
    let me = word.has(Mark::Me) && !named;
    at < words.len() && !gerund && !sign && !me && !word.meets(of![Means Date Number Identifier])
}

/// Whether a sentence asks to go ahead with what the closing tells.
pub(super) fn asks_to_go_ahead(words: &[Token<'_>]) -> bool {
    (question(words).is_some() || words.have(of![Requests])) && words.have(of![GoAhead])
}
