//! The verb group: a verb with its auxiliaries, the subject before it, and how the verb stands.

use std::ops::Range;

use super::lexicon::{FORMS, Lexicon};
use super::list::{JOINT, list_before};
use super::marks::{Mark, Marks, of};
use super::rules;
use super::token::{Token, TokenQueries};

/// How far a group, a subject or a clause is looked for, in tokens. Bounds keep reading linear.
const GROUP: usize = 8;
const SUBJECT: usize = 20;
const CLAUSE: usize = 32;
/// How far from its subject a verb may stand that shares it with others before it.
const SHARED: usize = 64;

/// A verb with what stands before it.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The verb's token.
    pub(super) verb: usize,
    /// The first token of the group.
    pub(super) start: usize,
    /// The subject's tokens; empty when it has none.
    pub(super) subject: Range<usize>,
    pub(super) marks: Marks,
}

impl Group {
    pub(super) fn has(&self, mark: Mark) -> bool {
        self.marks.has(mark)
    }

    pub(super) fn add_if(&mut self, holds: bool, mark: Mark) {
        self.marks.add_if(holds, mark);
    }
}

/// What an object after a verb begins with.
const OBJECT: Marks = of![Determiner Your Me Third Number Content];

/// What a word of the group says of the verb.
const SAID: Marks = of![Negative Modal Success Now Already General Earlier];

/// Reads the group that ends in the token `verb`; `before` is the group before it in the sentence.
/// Nothing when the verb tells of no completed action.
pub(super) fn read(words: &[Token<'_>], verb: usize, before: Option<&Group>) -> Option<Group> {
    if words.is(verb, Mark::AllSetWord) && words.text(verb.wrapping_sub(1)) == "all" {
        return Some(Group {
            verb,
            start: verb - 1,
            subject: verb - 1..verb - 1,
            marks: of![AllSet],
        });
    }
    if words[verb].verb.is_none() && !words.marks(verb).meets(of![DoneWord Past]) {
        return None;
    }
    // *went through*, but not *is through the portal*
    let through = words.text(verb) == "through";
    let of_way = words.text(verb.wrapping_sub(1)) != "went"
        || words.marks(verb + 1).meets(of![Determiner Your Me]);
    if through && of_way {
        return None;
    }
    let before_verb = (verb.saturating_sub(GROUP)..verb).rev();
    let start = before_verb
        .take_while(|at| words.is(*at, Mark::OfVerbGroup))
        .last();
    let start = start.unwrap_or(verb);
    let seen = words.all(start..verb);
    let form = words.marks(verb);
    let form_alone = form.among(FORMS.with(of![DoneWord]));
    let voice = rules::voice(seen.without(FORMS).with(form_alone))?;
    let mut group = Group {
        verb,
        start,
        subject: subject(words, start),
        marks: seen.among(SAID),
    };
    group.add_if(voice != Mark::WasAble && seen.has(Mark::To), Mark::Modal);
    // *Password last changed on March 2*
    let last = words.text(start.wrapping_sub(1)) == "last";
    group.add_if(seen.has(Mark::Had) || last, Mark::Earlier);
    group.add_if(form.contains(of![Base Past]), Mark::Ambiguous);
    if voice == Mark::Bare {
        let stands = bare(words, &mut group, before)?;
        group.marks = group.marks.with(stands);
    } else {
        group.marks.add(voice);
        actor(words, &mut group, voice, before);
    }
    Some(group)
}

/// The tokens of a clause before a place in it, at most so many.
pub(super) fn clause_before(words: &[Token<'_>], end: usize, most: usize) -> Range<usize> {
    let from = end.saturating_sub(most);
    let parted = (from..end).rev().find(|at| words.is(*at, Mark::Parts));
    parted.map_or(from, |at| at + 1)..end
}

/// The subject's tokens: back to where the clause begins.
fn subject(words: &[Token<'_>], end: usize) -> Range<usize> {
    let within = |at: &usize| {
        let marks = words.marks(*at);
        let ends = marks.meets(of![BeforeSubject Comma]) && !marks.has(Mark::Quoted);
        // *the order and its invoice* is one subject, *cancelled it and the refund* is not.
        let clause = || clause_before(words, *at, SUBJECT);
        let joins = || words.any(clause(), of![Finite Participle]);
        !(ends || marks.has(Mark::Conjunction) && joins())
    };
    let last = list_before(words, end);
    let back = (last.saturating_sub(SUBJECT)..last).rev();
    back.take_while(within).last().unwrap_or(end)..end
}

/// Who does the verb of a group with an auxiliary.
fn actor(words: &[Token<'_>], group: &mut Group, voice: Mark, before: Option<&Group>) {
    if !of![Perfect Did WasAble Progressive].has(voice) {
        return;
    }
    let last = words.marks(group.start.wrapping_sub(1));
    // *Have cancelled the order.*
    group.add_if(group.start == 0 || last.has(Mark::Ours), Mark::Ours);
    if last.meets(JOINT) {
        share(words, group, before);
    }
    // *You have successfully booked the room*, where a tool books.
    let before = &words[..group.start.saturating_sub(1)];
    let first = before.iter().all(|word| word.is(Mark::Sign));
    if voice == Mark::Perfect && last.has(Mark::You) && group.has(Mark::Success) && first {
        group.marks = group.marks.without(of![Perfect]).with(of![WasDone Deal]);
    }
    let told = of![Ours WasDone];
    group.add_if(!group.marks.meets(told), Mark::Other);
}

/// A verb joined to an earlier one: it shares the subject, and the auxiliaries and what blocks them.
/// No when there is none to share with.
fn share(words: &[Token<'_>], group: &mut Group, before: Option<&Group>) -> bool {
    let near = |earlier: &&Group| {
        let between = || earlier.verb + 1..group.start;
        // *one invoice this month*
        let inserted = between().any(|at| words.text(at) == ")");
        let parts = |at| {
            words.is(at, Mark::Third) && !words.is(at + 1, Mark::Content)
                || words.is(at, Mark::Finite)
                || words.is(at, Mark::Parts) && !(inserted && matches!(words.text(at), "(" | ")"))
        };
        between().len() < CLAUSE && !between().any(parts)
    };
    let Some(earlier) = before.filter(near) else {
        return false;
    };
    group.marks = group.marks.with(earlier.marks);
    if group.start - earlier.subject.start < SHARED {
        group.subject = earlier.subject.clone();
    }
    true
}

/// How a participle without an auxiliary stands; nothing when it is an adjective.
fn bare(words: &[Token<'_>], group: &mut Group, before: Option<&Group>) -> Option<Marks> {
    let Some(at) = group.start.checked_sub(1) else {
        return Some(of![Bare]);
    };
    let last = words.marks(at);
    let held = || have_before(words, group);
    Some(if last.has(Mark::Ours) {
        // *nor have I changed*
        let inverted = words
            .marks(at.wrapping_sub(1))
            .meets(of![Be Have Had Modal DidWord]);
        group.add_if(inverted, Mark::Question);
        group.marks.add(Mark::Ours);
        of![Did]
    } else if last.meets(JOINT) {
        // *your order, placed on 3 March and delivered on 9 March*
        // *the line is active and properly configured*
        let clause = || clause_before(words, at, CLAUSE);
        let state = || words.any(clause(), of![Be]);
        if describes(words, at, group.verb) {
            return None;
        }
        // *I will search for mails from Tom, sent last week*, *It will stay one-way, updated bag allowance*
        let next = group.verb + 1;
        let named = words.is(next, Mark::Content) && !words.is(next + 1, Mark::Content);
        let object = OBJECT.without(of![Content]).with(of![Identifier]);
        let object = named || words.marks(next).meets(object);
        let will = last.has(Mark::Comma) && !object && clause().any(|at| words.text(at) == "will");
        if will || dated(words, group.verb) || of_day(words, group.verb) {
            of![Other]
        } else if share(words, group, before) {
            // As that one stands, this one does.
            return Some(Marks::default());
        } else if state() || others_before(words, at) {
            of![Other]
        } else {
            of![Bare]
        }
    } else if last.has(Mark::Sign) && !words.is(at.wrapping_sub(1), Mark::Quoted) {
        group.add_if(matches!(words.text(at), "(" | "["), Mark::Bracketed);
        label(words, group, at);
        of![Bare]
    } else if last.has(Mark::You) || last.has(Mark::Third) && !last.has(Mark::Determiner) {
        // *you cancelled*; with *have* before it, *I have you booked*.
        if held() { of![HaveObject] } else { of![Other] }
    } else if last.meets(of![Determiner Preposition]) {
        // *the updated address*, *after deleted items*
        return None;
    } else if held() {
        of![HaveObject]
    } else {
        Marks::of(&[after_noun(words, group)])
    })
}

/// Whether a participle after a joint describes a noun as one before it does: *a locked gate, blocked
/// mailbox*.
fn describes(words: &[Token<'_>], joint: usize, verb: usize) -> bool {
    let mut back = (0..joint).rev();
    let other = back.find(|at| !words.is(*at, Mark::Content) || words.is(*at, Mark::Participle));
    other.is_some_and(|at| {
        let told = words.any(clause_before(words, at, CLAUSE), of![Ours Past]);
        let of_noun = words.is(at.wrapping_sub(1), Mark::Determiner) && at + 1 < joint;
        !told && of_noun && words.is(at, Mark::Participle) && words.is(verb + 1, Mark::Content)
    })
}

/// The noun that a verb without an object belongs to: *the request we submitted*.
pub(super) fn noun_before(words: &[Token<'_>], group: &Group) -> Option<Range<usize>> {
    let subject = group.start.checked_sub(1)?;
    let mut back = (subject.saturating_sub(3)..subject).rev();
    let first = back.find(|at| !words.is(*at, Mark::Content))?;
    let definite = words.marks(first).meets(of![Determiner Your]) && first + 1 < subject;
    let next = group.verb + 1;
    let ends =
        matches!(words.text(next), "." | "," | ";" | ")" | "") || words.is(next, Mark::Finite);
    (group.has(Mark::Did) && definite && ends).then_some(first..subject)
}

/// Whether somebody else has done something in the clause before a place: *The agent verified it, closed
/// the case*, but not *Located it, closed the case*, *As you asked, closed the case*.
fn others_before(words: &[Token<'_>], end: usize) -> bool {
    let clause = clause_before(words, end, CLAUSE);
    let acts = |at: usize| {
        let subject = at > clause.start && words.marks(at - 1).meets(of![Content You Third]);
        subject && words.is(at, Mark::Past)
    };
    !words.any(clause.clone(), of![Ours Presupposed]) && clause.clone().any(acts)
}

/// Whether a date follows a verb: *cancelled on May 1*.
fn dated(words: &[Token<'_>], verb: usize) -> bool {
    words.is(verb + 1, Mark::AfterWord) && words.date(verb + 2)
}

/// Whether a day does, which no plan is for: *sent Nov 3*, *created 2024-01-05*, but not *moved May 3*.
fn of_day(words: &[Token<'_>], verb: usize) -> bool {
    let digits = |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = words.text(verb + 1).split(['-', '/']);
    let day = words.is(verb + 1, Mark::Date) || parts.filter(|part| digits(part)).count() > 1;
    day && !words[verb]
        .verb
        .is_some_and(|verb| Lexicon::get().plans(verb))
}

/// A label before the sign at `sign` becomes the subject: *Order 7: cancelled*.
fn label(words: &[Token<'_>], group: &mut Group, sign: usize) {
    // *Flight 7 – ✅ Booked*
    let ticks = (1..=sign).rev().take_while(|at| words[*at].ticks());
    let ticks = ticks.count();
    group.add_if(ticks > 0, Mark::ToldDone);
    let sign = sign - ticks;
    let signs = (0..sign).rev().take_while(|at| words.is(*at, Mark::Sign));
    let signs = signs.count();
    let subject = subject(words, sign - signs);
    let cell = signs == 0 || words.text(sign - 1) == "|";
    let ends = matches!(words.text(sign), "." | "!" | "?" | ")" | "]");
    let labels = !subject.is_empty() && !words.any(subject.clone(), of![Ours]);
    // *Reason: ordered by mistake*
    let why = (subject.start..sign).any(|at| words.text(at) == "reason");
    group.add_if(why, Mark::Other);
    if words.is(sign, Mark::Parts) && cell && !ends && labels {
        group.add_if(words.any(subject.clone(), of![Label]), Mark::Status);
        // *Meeting 4: moved at 3 pm* says to when.
        let day = dated(words, group.verb) && words.text(group.verb + 1) != "at";
        group.add_if(day, Mark::Dated);
        group.marks.add(Mark::AfterLabel);
        group.subject = subject;
    }
}

/// A participle after its noun: *one bag added*; with an object after it, somebody else did it, and
/// beside another verb it describes the noun.
fn after_noun(words: &[Token<'_>], group: &mut Group) -> Mark {
    let next = group.verb + 1;
    // *Email sent asking for a date*
    let begins = group.subject.start == 0 || words.is(group.subject.start - 1, Mark::Parts);
    let goes_on = begins && words.text(next).ends_with("ing");
    let object = words.marks(next).meets(OBJECT) && !goes_on;
    let clause = next..words.until(next, CLAUSE, JOINT.with(of![Parts]));
    let finite = |range| words.any(range, of![Finite]);
    // *The refund issued on March 3 bounced.*
    let subject = group.subject.start;
    let definite = words.is(subject, Mark::Your) || words.text(subject) == "the";
    let signs = [
        definite,
        dated(words, group.verb),
        words.any(clause.clone(), of![Past]),
    ];
    let relative = signs.into_iter().filter(|sign| *sign).count() > 1;
    // *the event that Tom deleted*
    let of_noun = words.is(subject.wrapping_sub(1), Mark::Relative);
    let verb_too = relative || of_noun || finite(group.subject.clone()) || finite(clause);
    if object || verb_too || !words.is(group.verb, Mark::Participle) {
        return Mark::Other;
    }
    // *You have two bags and one seat booked* tells of no act.
    let status = finite(clause_before(words, group.subject.start, CLAUSE))
        || words.any(group.subject.clone(), of![Label]);
    group.marks.add(Mark::AfterNoun);
    group.add_if(status, Mark::Status);
    // *all invoices with amounts converted*
    let held = words.text(subject.wrapping_sub(1)) == "with" && !words.is(subject, Mark::Your);
    group.add_if(held, Mark::Presupposed);
    Mark::Bare
}

/// *I have … booked*: the subject holds *have* right after *I* or *we*.
fn have_before(words: &[Token<'_>], group: &Group) -> bool {
    let from = group.start.saturating_sub(GROUP);
    let mut back = (from..group.start).rev();
    let have = back.find(|at| words.is(*at, Mark::Have));
    have.is_some_and(|at| {
        let passive = (at..group.start).any(|at| words.is(at, Mark::Be) && words.text(at) != "got");
        words.is(at.wrapping_sub(1), Mark::Ours)
            && !passive
            && !words.any(at..group.start, of![Relative Parts])
    })
}
