//! The verb group: a verb with its auxiliaries, the subject before it, and how the verb stands.

use std::ops::Range;

use super::marks::{Mark, Marks, of};
use super::token::{Token, any};

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

    pub(super) fn add(&mut self, mark: Mark) {
        self.marks.add(mark);
    }

    pub(super) fn add_if(&mut self, holds: bool, mark: Mark) {
        self.marks.add_if(holds, mark);
    }
}

/// What a word of the group says of the verb.
const SAID: Marks = of![Negative Modal Success Now Already General Earlier];

/// Forms that tell of something done.
const DONE: Marks = of![Past Participle];

/// Reads the group that ends in the token `verb`; `before` is the group before it in the sentence.
/// Nothing when the verb tells of no completed action.
pub(super) fn read(tokens: &[Token<'_>], verb: usize, before: Option<&Group>) -> Option<Group> {
    let mut start = verb;
    let mut seen = Marks::default();
    while start > 0 && verb - start < GROUP && tokens[start - 1].is(Mark::OfVerbGroup) {
        start -= 1;
        seen = seen.with(tokens[start].marks);
    }
    let form = tokens[verb].marks;
    let voice = voice(seen, form)?;
    let mut group = Group {
        verb,
        start,
        subject: subject(tokens, start),
        marks: seen.among(SAID),
    };
    let marks = &mut group.marks;
    marks.add_if(voice != Mark::WasAble && (seen.has(Mark::To)), Mark::Modal);
    marks.add_if(seen.has(Mark::Had), Mark::Earlier);
    marks.add_if(
        form.has(Mark::Base) && form.has(Mark::Past),
        Mark::Ambiguous,
    );
    if voice == Mark::Bare {
        bare(tokens, &mut group, before)?;
    } else {
        group.add(voice);
        actor(tokens, &mut group, voice, before);
    }
    Some(group)
}

/// How a verb of this form stands after these auxiliaries; nothing when it tells of no completed
/// action.
fn voice(seen: Marks, form: Marks) -> Option<Mark> {
    let been = seen.has(Mark::Been);
    let have = seen.meets(of![Have Had]) || been && seen.has(Mark::IsOrHas);
    let present = seen.has(Mark::BePresent) || !been && seen.has(Mark::IsOrHas);
    let past = seen.has(Mark::BePast);
    if form.has(Mark::Base) && seen.has(Mark::DidWord) {
        Some(Mark::Did)
    } else if form.has(Mark::Base) && seen.has(Mark::To) {
        let told = !seen.has(Mark::Modal) && (past || have || !present);
        (seen.has(Mark::Able) && told).then_some(Mark::WasAble)
    } else if form.has(Mark::Gerund) {
        (present && !seen.has(Mark::Being)).then_some(Mark::Progressive)
    } else if !form.meets(DONE) {
        let state = form.has(Mark::DoneWord) && (present || past || been);
        state.then_some(Mark::IsComplete)
    } else if been {
        have.then_some(Mark::HasBeen)
    } else if seen.has(Mark::Being) {
        present.then_some(Mark::IsBeing)
    } else if present {
        Some(Mark::IsDone)
    } else if past {
        Some(Mark::WasDone)
    } else if have {
        Some(Mark::Perfect)
    } else {
        Some(Mark::Bare)
    }
}

/// The tokens of a clause before a place in it, at most so many.
fn clause_before<'t, 'v>(tokens: &'t [Token<'v>], end: usize, most: usize) -> &'t [Token<'v>] {
    let from = end.saturating_sub(most);
    let parted = tokens[from..end].iter().rposition(Token::parts);
    &tokens[parted.map_or(from, |at| from + at + 1)..end]
}

/// The subject's tokens: back to where the clause begins.
fn subject(tokens: &[Token<'_>], end: usize) -> Range<usize> {
    let mut start = end;
    while start > 0 && end - start < SUBJECT {
        let token = &tokens[start - 1];
        let ends = token.marks.meets(of![BeforeSubject Comma]);
        // *the order and its invoice* is one subject, *cancelled it and the refund* is not.
        let joins = token.is(Mark::Conjunction) && {
            let clause = clause_before(tokens, start - 1, SUBJECT);
            any(clause, of![Finite Participle])
        };
        if ends && !token.is(Mark::Quoted) || joins {
            break;
        }
        start -= 1;
    }
    start..end
}

/// How a verb stands that its subject does.
const ACTIVE: Marks = of![Perfect Did WasAble Progressive];

/// Who does the verb of a group with an auxiliary.
fn actor(tokens: &[Token<'_>], group: &mut Group, voice: Mark, before: Option<&Group>) {
    let active = Marks::of(&[voice]).meets(ACTIVE);
    let Some(last) = group.start.checked_sub(1).map(|at| &tokens[at]) else {
        // *Have cancelled the order.*
        group.add_if(active, Mark::Ours);
        return;
    };
    group.add_if(active && last.is(Mark::Ours), Mark::Ours);
    if active && joint(last) {
        share(tokens, group, before);
    }
    group.add_if(active && !group.has(Mark::Ours), Mark::Other);
}

/// Whether it joins what follows to what stands before it.
pub(super) fn joint(token: &Token<'_>) -> bool {
    token.marks.meets(of![Comma Conjunction])
}

/// A verb joined to an earlier one: it shares the subject, and the auxiliaries and what blocks them.
/// No when there is none to share with.
fn share(tokens: &[Token<'_>], group: &mut Group, before: Option<&Group>) -> bool {
    let parts = of![Finite Third Parts];
    let near = |earlier: &&Group| {
        let between = tokens
            .get(earlier.verb + 1..group.start)
            .unwrap_or_default();
        between.len() < CLAUSE && !any(between, parts)
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

/// A participle without an auxiliary; nothing when it is an adjective.
fn bare(tokens: &[Token<'_>], group: &mut Group, before: Option<&Group>) -> Option<()> {
    let Some(at) = group.start.checked_sub(1) else {
        group.add(Mark::Bare);
        return Some(());
    };
    let last = &tokens[at];
    let own = |mark| last.is(mark);
    let add = if own(Mark::Ours) {
        // *nor have I changed*
        let inverted = at > 0 && tokens[at - 1].is(Mark::Auxiliary);
        group.add_if(inverted, Mark::Question);
        group.add(Mark::Ours);
        Mark::Did
    } else if joint(last) {
        group.add_if(last.text == "or", Mark::Condition);
        // *your order, placed on 3 March and delivered on 9 March*
        let next = |at: usize, of: Marks| {
            let token = tokens.get(group.verb + at);
            token.is_some_and(|token| token.marks.meets(of))
        };
        if next(1, of![AfterWord]) && next(2, of![Date Number]) {
            group.add(Mark::Other);
            return Some(());
        }
        // *the line is active and properly configured*
        let state = any(clause_before(tokens, at, CLAUSE), of![Be]);
        match share(tokens, group, before) {
            true => return Some(()),
            false if state || parenthesis(tokens, group) => Mark::Other,
            false => Mark::Bare,
        }
    } else if own(Mark::Sign) {
        group.add_if(matches!(&*last.text, "(" | "["), Mark::Bracketed);
        label(tokens, group, at);
        Mark::Bare
    } else if own(Mark::You) || own(Mark::Third) && !own(Mark::Determiner) {
        // *you cancelled*; with *have* before it, *I have you booked*.
        let held = have_before(tokens, group);
        if held { Mark::HaveObject } else { Mark::Other }
    } else if last.marks.meets(of![Determiner Preposition]) {
        // *the updated address*, *after deleted items*
        return None;
    } else if have_before(tokens, group) {
        Mark::HaveObject
    } else {
        after_noun(tokens, group)
    };
    group.add(add);
    Some(())
}

/// Whether it stands between commas, with a verb after them: *his mail, sent on Friday, said so*.
fn parenthesis(tokens: &[Token<'_>], group: &Group) -> bool {
    let rest = &tokens[group.verb + 1..tokens.len().min(group.verb + CLAUSE)];
    let ends = rest.iter().position(|token| token.parts() || joint(token));
    let next = ends
        .filter(|at| rest[*at].is(Mark::Comma))
        .and_then(|at| rest.get(at + 1));
    tokens[group.start - 1].is(Mark::Comma)
        && next
            .is_some_and(|next| next.marks.meets(of![Report Finite Past]) && !next.is(Mark::Ours))
}

/// A label before the sign at `sign` becomes the subject: *Order 7: cancelled*.
fn label(tokens: &[Token<'_>], group: &mut Group, sign: usize) {
    let signs = tokens[..sign]
        .iter()
        .rev()
        .take_while(|token| token.is(Mark::Sign))
        .count();
    let subject = subject(tokens, sign - signs);
    let words = &tokens[subject.clone()];
    let cell = signs == 0 || tokens[sign - 1].text == "|";
    let ends = matches!(&*tokens[sign].text, "." | "!" | "?" | ")" | "]");
    if tokens[sign].parts() && cell && !ends && !words.is_empty() && !any(words, of![Ours]) {
        group.add_if(any(words, of![Label]), Mark::Status);
        group.add(Mark::AfterLabel);
        group.subject = subject;
    }
}

/// A participle after its noun: *one bag added*; with an object after it, somebody else did it, and
/// beside another verb it describes the noun.
fn after_noun(tokens: &[Token<'_>], group: &mut Group) -> Mark {
    let begins_object = of![Determiner Your Me Third Number];
    let object = tokens
        .get(group.verb + 1)
        .is_some_and(|next| next.marks.meets(begins_object) || next.is_content());
    let subject = &tokens[group.subject.clone()];
    let rest = &tokens[group.verb + 1..tokens.len().min(group.verb + CLAUSE)];
    let ends = rest.iter().position(|token| token.parts() || joint(token));
    let verb_too =
        any(subject, of![Finite]) || any(&rest[..ends.unwrap_or(rest.len())], of![Finite]);
    if object || verb_too || !tokens[group.verb].is(Mark::Participle) {
        return Mark::Other;
    }
    let clause = clause_before(tokens, group.subject.start, CLAUSE);
    group.add(Mark::AfterNoun);
    // *You have two bags and one seat booked* tells of no act.
    let status = any(clause, of![Finite]) || any(subject, of![Label]);
    group.add_if(status, Mark::Status);
    Mark::Bare
}

/// *I have … booked*: the subject holds *have* right after *I* or *we*.
fn have_before(tokens: &[Token<'_>], group: &Group) -> bool {
    let from = group.start.saturating_sub(GROUP);
    let have = tokens[from..group.start]
        .iter()
        .rposition(|token| token.is(Mark::Have));
    have.is_some_and(|at| {
        let ours = from + at > 0 && tokens[from + at - 1].is(Mark::Ours);
        let rest = &tokens[from + at..group.start];
        let passive = rest
            .iter()
            .any(|token| token.is(Mark::Be) && token.text != "got");
        ours && !passive && !any(rest, of![Relative Parts])
    })
}
