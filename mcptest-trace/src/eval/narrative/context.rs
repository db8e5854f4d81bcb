//! What stands around a verb group: questions, conditions, reports, times, headings.

use super::group::{Group, joint};
use super::lexicon::stem;
use super::marks::{Mark, Marks, of};
use super::text::{Block, Kind};
use super::token::{Token, any};

/// How far words around a verb are looked for, in tokens.
const AROUND: usize = 32;
const AFTER: usize = 14;
/// Bytes of the end of a block that leads in.
const LEAD: usize = 400;
/// Words that a heading or a label has at most.
const LABEL: usize = 8;

/// Where the last question of a sentence begins; nothing when it asks none.
pub(super) fn question(tokens: &[Token<'_>]) -> Option<usize> {
    let ends =
        |token: &&Token<'_>| !token.is(Mark::Sign) || matches!(&*token.text, "?" | "." | "!");
    tokens.iter().rfind(ends).filter(|last| last.text == "?")?;
    let begins = |at: &usize| {
        let after = at.checked_sub(1).map(|before| &tokens[before]);
        let parted = |token: &Token<'_>| token.parts() || joint(token);
        tokens[*at].is(Mark::Asks) && after.is_none_or(parted)
    };
    Some((0..tokens.len()).rev().find(begins).unwrap_or(0))
}

/// What a word before a verb says of it, in its sentence or only in its own clause.
const BEFORE: Marks = of![NotYet Report Earlier];
const NEAR: Marks = of![Condition Presupposed Feeling General];
/// The words before a verb that are looked at.
const TELLING: Marks = BEFORE.with(NEAR).with(of![Parts Comma Announce Now]);

/// Adds what the words around a group say of it.
pub(super) fn around(tokens: &[Token<'_>], group: &mut Group, question: Option<usize>) {
    let quoted = tokens[group.verb].is(Mark::Quoted);
    group.add_if(
        question.is_some_and(|from| from <= group.verb),
        Mark::Question,
    );
    group.add_if(quoted, Mark::Quoted);
    before(tokens, group);
    in_subject(tokens, group);
    after(tokens, group);
}

fn before(tokens: &[Token<'_>], group: &mut Group) {
    let from = group.start.saturating_sub(AROUND);
    let mut told = Marks::default();
    let ours = group.has(Mark::Ours);
    // What is said of the verb that this one shares a subject with is known already.
    let shared = ours && group.start > 0 && joint(&tokens[group.start - 1]);
    let far = BEFORE.without(Marks::of(if ours { &[Mark::Report] } else { &[] }));
    // *Once it is cancelled, your money is refunded.*
    let far = if group.has(Mark::IsDone) {
        far.with(of![Condition])
    } else {
        far
    };
    let mut looked_for = if shared { far } else { BEFORE.with(NEAR) };
    let mut announced = false;
    for at in (from..group.start).rev() {
        let token = &tokens[at];
        if !token.marks.meets(TELLING) {
            continue;
        }
        let aside = token.is(Mark::Quoted) || token.is(Mark::Aside);
        if token.parts() && !aside {
            break;
        }
        if token.is(Mark::Comma) {
            looked_for = far;
        }
        announced |= token.is(Mark::Announce);
        // *Now that you have reset it, the service is restored.*
        let result = token.is(Mark::Now) && tokens[at + 1].is(Mark::Relative);
        told.add_if(result && !ours, Mark::Report);
        // *the issue you reported*
        let relative = token.is(Mark::Past) && at > 1 && {
            tokens[at - 1].is(Mark::You) && tokens[at - 2].is_content()
        };
        if !(relative || token.is(Mark::General) && token.is(Mark::Determiner)) {
            told = told.with(token.marks.among(looked_for));
        }
    }
    // *I am happy to confirm that* tells it oneself.
    if announced {
        told = told.without(of![Report Feeling]);
    }
    group.marks = group.marks.with(told);
    // *the order which was cancelled*
    let direct = group.subject.end.min(group.start).checked_sub(1);
    let relative = direct.is_some_and(|at| tokens[at].is(Mark::Relative));
    group.add_if(relative, Mark::Relative);
}

fn in_subject(tokens: &[Token<'_>], group: &mut Group) {
    let subject = &tokens[group.subject.clone()];
    // *No order*, *nothing*; but not *the order without a gift card*.
    let head = subject.iter().position(|token| token.is(Mark::Preposition));
    let head = &subject[..head.unwrap_or(subject.len())];
    let first = subject.get(..1).unwrap_or_default();
    let marks = &mut group.marks;
    marks.add_if(any(head, of![Negative]), Mark::Negative);
    marks.add_if(any(first, of![General Asks]), Mark::General);
    // *Refunds are issued after a week.*
    let some = of![Determiner Your Number Identifier Quoted Me Conjunction];
    let plural = head
        .last()
        .is_some_and(|noun| noun.is_content() && stem(&noun.text) != noun.text);
    let of_all = plural && marks.has(Mark::IsDone) && !any(subject, some);
    marks.add_if(of_all, Mark::General);
    marks.add_if(any(subject, of![Your]), Mark::Your);
    marks.add_if(any(subject, of![You]), Mark::You);
    marks.add_if(any(subject, of![Money]), Mark::Money);
}

/// What a word after a verb says of it.
const SAID: Marks = of![Success Now Earlier];
/// The words after a verb that are looked at.
const SAYING: Marks =
    SAID.with(of![SentenceEnd General Already Here AfterWord Participle Relative To]);

fn after(tokens: &[Token<'_>], group: &mut Group) {
    let active = group.has(Mark::Ours);
    let past = group.has(Mark::WasDone);
    let mut verb_between = false;
    let rest = &tokens[group.verb + 1..(group.verb + 1 + AFTER).min(tokens.len())];
    for (at, token) in rest.iter().enumerate() {
        if !token.marks.meets(SAYING) {
            continue;
        }
        if token.is(Mark::SentenceEnd) {
            break;
        }
        let next = rest.get(at + 1);
        let next_is = |mark| next.is_some_and(|next: &Token<'_>| next.is(mark));
        let ends = next.is_none_or(|next| next.is(Mark::Sign) || next.is(Mark::Number));
        let general = at < 4 && token.is(Mark::General) && !token.is(Mark::Determiner);
        let marks = &mut group.marks;
        *marks = marks.with(token.marks.among(SAID));
        marks.add_if(general, Mark::General);
        marks.add_if(at < 3 && token.is(Mark::Already), Mark::Already);
        marks.add_if(token.is(Mark::Here), Mark::PartOfAnswer);
        // *I have noted that you …*
        let clause = of![Ours You Your Third Determiner];
        let said = at == 0 && active && token.is(Mark::Relative);
        marks.add_if(
            said && next.is_some_and(|next| next.marks.meets(clause)),
            Mark::PartOfAnswer,
        );
        // *is scheduled to arrive*
        let expected = at == 0 && marks.has(Mark::IsDone) && token.is(Mark::To);
        let acts = next.is_some_and(|next| next.is(Mark::Base));
        marks.add_if(expected && acts, Mark::General);
        let date = next_is(Mark::Number) || next_is(Mark::Date);
        let word = if token.is(Mark::AfterWord) {
            &*token.text
        } else {
            ""
        };
        match word {
            "ago" => {
                let recent = at > 0 && rest[at - 1].is(Mark::RecentUnit);
                marks.add(if recent { Mark::Success } else { Mark::Earlier });
            }
            "last" => marks.add_if(next_is(Mark::LongUnit), Mark::Earlier),
            "on" | "at" | "in" => marks.add_if(past && date, Mark::Earlier),
            // *Removed since*, without a reason after it.
            "before" => marks.add_if(ends, Mark::Earlier),
            "since" => marks.add_if(ends && !active, Mark::Earlier),
            "by" if at < 8 && !active && !verb_between => {
                marks.add_if(next.is_some_and(someone), Mark::Other);
            }
            _ => {}
        }
        verb_between |= token.is(Mark::Participle);
    }
}

/// Whether a word after *by* begins somebody who did it, and no means, measure or time.
fn someone(word: &Token<'_>) -> bool {
    // *Closed by: bob*
    let sign = word.is(Mark::Sign) && !matches!(&*word.text, ":" | "@");
    let gerund = word.text.ends_with("ing") && !word.is(Mark::Determiner);
    !gerund && !sign && !word.marks.meets(of![Me Means Date Number Identifier])
}

/// What headings, labels and lead-ins say of the blocks after them.
#[derive(Default)]
pub(super) struct Scopes {
    heading: Marks,
    lead: Marks,
}

impl Scopes {
    /// What is said of a block.
    pub(super) fn of(&mut self, block: &Block) -> Marks {
        if block.kind == Kind::Heading {
            self.heading = Marks::default();
        }
        if !block.listed() {
            self.lead = Marks::default();
        }
        self.heading.with(self.lead)
    }

    /// Reads what the last sentence of a block says of those after it.
    pub(super) fn read(&mut self, block: &Block, sentence: &[Token<'_>]) {
        let lead = sentence.partition_point(|token| token.range.start + LEAD < block.range.end);
        let tokens = &sentence[lead..];
        let ends_open = tokens.last().is_some_and(|token| token.text == ":");
        let full = tokens.iter().any(|token| matches!(&*token.text, "." | "!"));
        let short = tokens.len() <= LABEL && !full && !block.listed();
        let titled = block.kind == Kind::Heading || block.bold && short;
        let found = if ends_open || titled || short {
            scope(tokens)
        } else {
            Marks::default()
        };
        if titled {
            self.heading = found;
        } else if !block.listed() || ends_open {
            self.lead = found;
            self.lead.add_if(question(tokens).is_some(), Mark::Question);
        }
    }
}

/// Whether a heading or a lead-in says that what follows is not done, or is another's.
fn scope(tokens: &[Token<'_>]) -> Marks {
    // *You requested these changes:*
    let theirs = any(tokens.get(..1).unwrap_or_default(), of![You]) && !any(tokens, of![Be]);
    let mut scope = Marks::default();
    scope.add_if(theirs || any(tokens, of![NotDone]), Mark::Undone);
    scope
}

/// Whether a label at the head of a sentence says that what follows is not done: *Next steps: …*.
pub(super) fn undone_label(tokens: &[Token<'_>]) -> Option<usize> {
    let colon = tokens
        .iter()
        .take(LABEL)
        .position(|token| token.text == ":")?;
    scope(&tokens[..colon]).has(Mark::Undone).then_some(colon)
}

/// Whether a sentence is an entry of a log: *May 2 — fee charged*.
pub(super) fn dated(tokens: &[Token<'_>]) -> bool {
    // *May* is a modal.
    let date = |token: &&Token<'_>| token.marks.meets(of![Date Number Modal]);
    let length = tokens.iter().take(LABEL).take_while(date).count();
    let first = tokens.first().is_some_and(|first| {
        first.is(Mark::Date) || length > 1 || length > 0 && first.text.contains([':', '-', '/'])
    });
    first && tokens.get(length).is_some_and(Token::parts)
}

/// Whether a sentence asks to go ahead with what the closing tells.
pub(super) fn asks_to_go_ahead(tokens: &[Token<'_>]) -> bool {
    any(tokens, of![GoAhead]) && (question(tokens).is_some() || any(tokens, of![Requests]))
}
