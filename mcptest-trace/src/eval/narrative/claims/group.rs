//! The verb group: a verb with its auxiliaries, the subject before it, and how the verb stands.

use std::ops::Range;

use crate::eval::narrative::words::lexicon::{FORMS, Lexicon};
use crate::eval::narrative::words::list::{JOINT, list_before};
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::pattern::{self, Place, Stretches};
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// How far a group, a subject or a clause is looked for, in tokens. Bounds keep reading linear.
const GROUP: usize = 8;
const SUBJECT: usize = 20;
const CLAUSE: usize = 32;
/// How far from its subject a verb may stand that shares it with others before it.
const SHARED: usize = 64;

/// A verb with what stands before it.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The verb's token.
    pub(crate) verb: usize,
    /// The first token of the group.
    pub(crate) start: usize,
    /// The subject's tokens; empty when it has none.
    pub(crate) subject: Range<usize>,
    pub(crate) marks: Marks,
    /// What the tokens near it have.
    near: Marks,
}

impl Group {
    pub(crate) fn has(&self, mark: Mark) -> bool {
        self.marks.has(mark)
    }

    pub(crate) fn add_if(&mut self, holds: bool, mark: Mark) {
        self.marks.add_if(holds, mark);
    }

    pub(crate) fn apply(&mut self, section: &str, words: &[Token<'_>]) {
        let (subject, group) = (self.subject.clone(), self.start..self.verb + 1);
        pattern::apply(
            section,
            words,
            &Place {
                subject,
                group,
                near: self.near,
            },
            &mut self.marks,
        );
    }
}

/// What the words of a group say of its verb.
const KEPT: Marks = of![Negative Modal Success Now Already General Earlier Ambiguous Participle
    Did WasAble Progressive IsComplete HasBeen IsBeing IsDone WasDone Perfect Alone];

/// Reads the group that ends in the token `verb`; `before` is the group before it in the sentence.
/// Nothing when the verb tells of no completed action.
pub(crate) fn read(
    words: &[Token<'_>],
    stretches: &Stretches,
    verb: usize,
    before: Option<&Group>,
) -> Option<Group> {
    if words.is(verb, Mark::AllSetWord) && words.text(verb.wrapping_sub(1)) == "all" {
        return Some(Group {
            verb,
            start: verb - 1,
            subject: verb - 1..verb - 1,
            marks: of![AllSet],
            near: stretches.near(verb),
        });
    }
    // *the successful write operations*
    if words.text(verb) == "successful" && words.is(verb + 1, Mark::Wrote) {
        let definite = verb > 0 && words.marks(verb - 1).meets(of![Determiner Me]);
        let mut group = Group {
            verb,
            start: verb,
            subject: verb + 1..verb + 2,
            marks: of![SuccessOf],
            near: stretches.near(verb),
        };
        group.apply("around", words);
        return Some(group)
            .filter(|group| definite && words.text(verb - 1) != "a" && !group.has(Mark::Nothing));
    }
    if words[verb].verb.is_none() && !words.marks(verb).meets(of![DoneWord Past Worked]) {
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
    let form = words.marks(verb).among(FORMS.with(of![DoneWord Worked]));
    let mut marks = words.all(start..verb).without(FORMS).with(form);
    pattern::apply("voice", words, &Place::default(), &mut marks);
    if marks.has(Mark::Nothing) {
        return None;
    }
    marks = marks.among(KEPT);
    marks.add_if(words.is(verb, Mark::Quoted), Mark::Quoted);
    let base = words[verb].verb.unwrap_or_default();
    marks.add_if(Lexicon::get().plans(base), Mark::Plans);
    let shared = before.filter(|earlier| can_share(words, start, earlier));
    marks.add_if(shared.is_some(), Mark::CanShare);
    let subject = subject(words, start);
    let mut group = Group {
        verb,
        start,
        subject,
        marks,
        near: stretches.near(verb),
    };
    group.apply("stand", words);
    if let Some(earlier) = shared.filter(|_| group.has(Mark::Inherits)) {
        group.marks = group.marks.with(earlier.marks);
        if start - earlier.subject.start < SHARED {
            group.subject = earlier.subject.clone();
        }
    }
    if group.has(Mark::Signed) {
        label(words, &mut group);
    }
    group
        .marks
        .add_if(Lexicon::get().is(base, Mark::Composes), Mark::Composer);
    group.apply("around", words);
    (!group.has(Mark::Nothing)).then_some(group)
}

/// The tokens of a clause before a place in it, at most so many.
pub(crate) fn clause_before(words: &[Token<'_>], end: usize, most: usize) -> Range<usize> {
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
        !(ends && !in_list(words, *at) || marks.has(Mark::Conjunction) && joins())
    };
    let last = list_before(words, end);
    let back = (last.saturating_sub(SUBJECT)..last).rev();
    back.take_while(within).last().unwrap_or(end)..end
}

/// Whether a comma stands in a list after its noun: *orders W12, W13 are cancelled*, but not *order W12, W13 is
/// shipped*.
fn in_list(words: &[Token<'_>], comma: usize) -> bool {
    let item = |at: usize| words.marks(at).meets(of![Identifier Number]);
    if !words.is(comma, Mark::Comma) || !item(comma + 1) && words.text(comma + 1) != "#" {
        return false;
    }
    let lists = |at: &usize| item(*at) || words.marks(*at).meets(JOINT) || words.text(*at) == "#";
    let back = (comma.saturating_sub(CLAUSE)..comma).rev();
    let first = back.take_while(lists).last();
    let noun = first.and_then(|first| first.checked_sub(1));
    noun.is_some_and(|noun| words.is(noun, Mark::Plural) && words.is(noun, Mark::Content))
        && item(comma + 1 + usize::from(words.text(comma + 1) == "#"))
}

/// Whether a verb that is joined to an earlier one may share its subject and auxiliaries.
fn can_share(words: &[Token<'_>], start: usize, earlier: &Group) -> bool {
    let between = || earlier.verb + 1..start;
    // *one invoice this month*
    let inserted = between().any(|at| words.text(at) == ")");
    let parts = |at| {
        words.is(at, Mark::Third) && !words.is(at + 1, Mark::Content)
            || words.is(at, Mark::Finite)
            || words.is(at, Mark::Parts) && !(inserted && matches!(words.text(at), "(" | ")"))
    };
    between().len() < CLAUSE && !between().any(parts)
}

/// Takes the label before the sign before a verb for its subject: *Flight 7 – ✅ Booked*.
fn label(words: &[Token<'_>], group: &mut Group) {
    let back = |from: usize, mark| (0..from).rev().take_while(|at| words.is(*at, mark)).count();
    let ticks = back(group.start, Mark::Tick).min(group.start - 1);
    group.add_if(ticks > 0, Mark::ToldDone);
    let sign = group.start - 1 - ticks;
    let label = subject(words, sign - back(sign, Mark::Sign));
    if !label.is_empty() {
        let place = Place {
            subject: label.clone(),
            group: sign + 1..group.verb + 1,
            near: group.near,
        };
        pattern::apply("label", words, &place, &mut group.marks);
    }
    if group.has(Mark::AfterLabel) {
        group.subject = label;
    }
}

/// The noun that a verb without an object belongs to: *the request we submitted*.
pub(crate) fn noun_before(words: &[Token<'_>], group: &Group) -> Option<Range<usize>> {
    let subject = group.start.checked_sub(1)?;
    let mut back = (subject.saturating_sub(3)..subject).rev();
    let first = back.find(|at| !words.is(*at, Mark::Content))?;
    let definite = words.marks(first).meets(of![Determiner Your]) && first + 1 < subject;
    let next = group.verb + 1;
    let ends =
        matches!(words.text(next), "." | "," | ";" | ")" | "") || words.is(next, Mark::Finite);
    (group.has(Mark::Did) && definite && ends).then_some(first..subject)
}
