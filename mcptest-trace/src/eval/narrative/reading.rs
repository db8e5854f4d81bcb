//! From sentences to claims: every verb in its place, given to the table of rules.

use std::ops::Range;

use super::context;
use super::group::{self, Group};
use super::lexicon::{Lexicon, stem};
use super::marks::{Mark, Marks, of};
use super::rules::{self, Rule};
use super::scope::{self, Scopes};
use super::text::{Block, Document, Kind};
use super::token::{self, Token, Words};
use super::tools::ToolBox;
use super::vocabulary::Vocabulary;

/// A claim as it is read, before any call is looked at.
#[derive(Debug, Clone)]
pub(super) struct Found<'v> {
    pub(super) rule: &'static Rule,
    pub(super) told: Told<'v>,
    /// Bytes of the claim in the document's text.
    pub(super) span: Range<usize>,
    /// Bytes of its sentence in the document's text.
    pub(super) sentence: Range<usize>,
}

/// What a claim tells, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Told<'v> {
    /// How the verb stands, from which the rule follows.
    pub(super) marks: Marks,
    /// The verb in its base form, and after it what else may be meant.
    pub(super) verbs: Vec<&'v str>,
    /// The verb that stands in the sentence.
    pub(super) spoken: &'v str,
    /// The nouns of its object, the head last.
    pub(super) object: Vec<String>,
    /// The identifiers of its object, in lower case.
    pub(super) identifiers: Vec<String>,
    /// Its object and what follows the verb.
    pub(super) clause: &'v str,
}

/// What the lexicon says of a verb that rules and verdicts ask for: of the verb as it stands, and of
/// those that are meant.
const OF_BASE: Marks = of![Light LightOnly Deal PassiveOnly HandsOver Composes];
const OF_VERBS: Marks = of![Generic Creating Consequence Lands Remade World Settles];

/// How far an object is looked for, in tokens.
const OBJECT: usize = 14;

/// Reads the claims of a closing.
pub(super) fn claims<'v>(
    document: &'v Document,
    vocabulary: &'v Vocabulary,
    tools: &ToolBox<'_>,
) -> Vec<Found<'v>> {
    let text = &document.text;
    let sentences = |block: &'v Block| {
        let sentences = token::sentences(text, &block.range).into_iter();
        let sentences = sentences.map(|range| {
            let words = token::tokens(text, &range, vocabulary);
            (range, words)
        });
        (block, sentences.collect::<Vec<_>>())
    };
    let blocks: Vec<_> = document.blocks.iter().map(sentences).collect();
    let mut told = (blocks.iter()).filter(|(block, _)| block.kind != Kind::TableHead);
    let asks = |(_, words): &(_, Vec<Token<'_>>)| context::asks_to_go_ahead(words);
    let asks = told.any(|(_, sentences)| sentences.iter().any(asks));
    let mut scopes = Scopes::default();
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut status_table = false;
    // The claim that leads in the list that follows.
    let mut leads_in: Option<usize> = None;
    for (block, sentences) in &blocks {
        let mut place = scopes.of(block);
        place.add_if(asks, Mark::AsksToGoAhead);
        place.add_if(status_table && block.kind == Kind::Row, Mark::Status);
        let before = found.len();
        for (sentence, words) in sentences {
            if block.kind == Kind::TableHead {
                status_table = words.any(0..words.len(), of![Label]);
                continue;
            }
            let code = document.code;
            let reader = Reader {
                text,
                words,
                tools,
                code,
                place,
                sentence,
            };
            reader.read(&mut found);
        }
        let Some((_, last)) = sentences.last() else {
            continue;
        };
        scopes.read(block, last);
        if !block.listed() {
            leads_in = leads_in_list(last, found.last()).then(|| found.len() - 1);
        } else if found[before..].iter().any(|claim| claim.rule.sure)
            && let Some(lead) = leads_in.take()
        {
            found[lead].told.marks.add(Mark::LeadsIn);
        }
    }
    found
}

/// Whether a claim is the last that a sentence tells before the colon that it ends in.
fn leads_in_list(words: &[Token<'_>], claim: Option<&Found<'_>>) -> bool {
    let (Some(first), Some(last), Some(claim)) = (words.first(), words.last(), claim) else {
        return false;
    };
    let after = words.partition_point(|token| token.range.start < claim.span.end);
    last.text == ":"
        && first.range.start <= claim.span.start
        && claim.told.identifiers.is_empty()
        && !words.any(after..words.len(), of![Finite Conjunction])
}

struct Reader<'a, 'v> {
    /// The document's text.
    text: &'v str,
    /// The tokens of the sentence.
    words: &'a [Token<'v>],
    tools: &'a ToolBox<'a>,
    /// Whether the closing shows code.
    code: bool,
    place: Marks,
    sentence: &'a Range<usize>,
}

impl<'v> Reader<'_, 'v> {
    fn read(&self, found: &mut Vec<Found<'v>>) {
        let question = context::question(self.words).unwrap_or(usize::MAX);
        let undone = scope::undone_label(self.words).unwrap_or(usize::MAX);
        let dated = context::dated(self.words);
        let mut before: Option<Group> = None;
        for at in 0..self.words.len() {
            let Some(mut group) = self.group(at, before.as_ref()) else {
                continue;
            };
            context::around(self.words, &mut group);
            group.marks = group.marks.with(self.place);
            group.add_if(question <= at, Mark::Question);
            let ours = group.has(Mark::Ours);
            group.add_if(undone < at && !ours, Mark::Undone);
            group.add_if(dated && !ours, Mark::Earlier);
            if let Some(before) = &before {
                group.add_if(self.beside(before, &group), Mark::Beside);
                // *It was moved by Priya, and the other one has been cancelled.*
                let by_others = before.has(Mark::Other) && before.marks.meets(of![WasDone HasBeen]);
                group.add_if(by_others && !ours, Mark::WorldDoes);
            }
            found.extend(self.claim(group.clone()));
            // *as you asked, and dropped the table*
            if self.words[at].verb.is_some() || !group.has(Mark::Other) {
                before = Some(group);
            }
        }
    }

    /// Whether *and* joins a group to one that is told as done.
    fn beside(&self, earlier: &Group, group: &Group) -> bool {
        let joined = (earlier.verb..group.start).any(|at| self.words.text(at) == "and");
        let done = earlier.marks.meets(of![Ours HasBeen]);
        joined && done && rules::first(earlier.marks).is_some_and(|rule| rule.sure)
    }

    fn group(&self, at: usize, before: Option<&Group>) -> Option<Group> {
        let token = &self.words[at];
        if token.is(Mark::AllSetWord) && self.words.text(at.wrapping_sub(1)) == "all" {
            return Some(Group {
                verb: at,
                start: at - 1,
                subject: at - 1..at - 1,
                marks: of![AllSet],
            });
        }
        let verb = token.verb.is_some() || token.marks.meets(of![DoneWord Past]);
        verb.then(|| group::read(self.words, at, before)).flatten()
    }

    /// What a group claims.
    fn claim(&self, mut group: Group) -> Option<Found<'v>> {
        let token = &self.words[group.verb];
        let next = group.verb + 1;
        if token.is(Mark::NeedsParticle) && !self.words.any(next..next + 3, of![Particle]) {
            return None;
        }
        let ours = group.has(Mark::Ours);
        let complete = group.has(Mark::IsComplete);
        let all_set = group.has(Mark::AllSet);
        let base = if complete || all_set {
            "complete"
        } else {
            token.verb?
        };
        let of_label = group.marks.meets(of![AfterNoun AfterLabel]);
        let follows = ours || all_set || group.has(Mark::Bare) && !of_label;
        let object = if follows {
            self.object_after(next)
        } else {
            group.subject.clone()
        };
        let words = &self.words[object.clone()];
        // *I made no change*
        group.add_if(follows && words.any(0..2, of![Negative]), Mark::Negative);
        let adjectival = group.has(Mark::Bare) && self.adjectival(next, follows);
        group.add_if(adjectival, Mark::Adjectival);
        let (verbs, noun) = self.verbs(&mut group, base, words)?;
        let known = || {
            let mut verbs = verbs.iter();
            verbs.any(|verb| self.tools.does(verb) || self.tools.named(verb).is_some())
        };
        let world = group.has(Mark::World) && !known();
        group.add_if(world, Mark::WorldDoes);
        if group.has(Mark::Deal) && !ours && !known() {
            return None;
        }
        // *Item returned: a lamp*
        let field = group.has(Mark::AfterNoun) && self.words.text(next) == ":";
        group.add_if(field, Mark::Field);
        group.add_if(noun, Mark::Nominal);
        let composed = group.has(Mark::Composes) && self.composed(ours, words);
        group.add_if(composed, Mark::PartOfAnswer);
        // *We have changed our opening hours* is no act for this user.
        let company = words.iter().take(2).any(|token| token.text == "our");
        group.add_if(company && ours, Mark::Other);
        let near = group.subject.start..group.verb + OBJECT;
        group.add_if(self.words.any(near, of![Identifier]), Mark::Named);
        let rule = rules::first(group.marks)?;
        let (first, last) = if follows {
            let subject = usize::from(ours && group.start > 0);
            (group.start - subject, object.end.max(next))
        } else {
            (group.subject.start.min(group.start), next)
        };
        Some(Found {
            rule,
            told: Told {
                marks: group.marks,
                spoken: if complete {
                    verbs.first().copied()
                } else {
                    token.verb
                }
                .unwrap_or(base),
                verbs,
                object: nouns(words),
                identifiers: identifiers(words),
                clause: &self.text[self.clause(&group, &object)],
            },
            span: self.trimmed(self.words[first].range.start..self.words[last - 1].range.end),
            sentence: self.sentence.clone(),
        })
    }

    /// The verbs that are meant, with what the lexicon says of them, and whether a noun says which;
    /// nothing where none is claimed.
    fn verbs(
        &self,
        group: &mut Group,
        base: &'v str,
        object: &[Token<'v>],
    ) -> Option<(Vec<&'v str>, bool)> {
        let lexicon = Lexicon::get();
        let complete = group.has(Mark::IsComplete);
        let all_set = group.has(Mark::AllSet);
        let of_base = lexicon.marks(base).among(OF_BASE);
        let carried = base == "send" && object.any(0..object.len(), of![Carrier]);
        let light = of_base.has(Mark::Light) || all_set || carried;
        let noun = light.then(|| action(object)).flatten();
        let needs_noun = of_base.has(Mark::LightOnly) || complete || all_set;
        let looks_up = of_base.has(Mark::PassiveOnly)
            && group.has(Mark::Ours)
            && (needs_noun || !self.tools.does(base) && action(object).is_none())
            && self.tools.named(base).is_none()
            && !object
                .first()
                .is_some_and(|first| matches!(&*first.text, "a" | "an" | "another"));
        if noun.is_none() && needs_noun || looks_up {
            return None;
        }
        let thing = noun.is_some_and(|noun| noun.is(Mark::Thing));
        let mut verbs: Vec<&'v str> = noun.and_then(|noun| noun.noun_of).into_iter().collect();
        if noun.is_none() || thing && !complete || carried {
            verbs.insert(if carried { 0 } else { verbs.len() }, base);
        }
        let of_verbs = verbs.iter().map(|verb| lexicon.marks(verb).among(OF_VERBS));
        group.marks = of_verbs.fold(group.marks.with(of_base), Marks::with);
        Some((verbs, noun.is_some() && !(complete && thing)))
    }

    /// From the object to where the clause ends.
    fn clause(&self, group: &Group, object: &Range<usize>) -> Range<usize> {
        let start = object.start.min(group.verb);
        let after = group.verb + 1..self.words.len().min(group.verb + 1 + OBJECT);
        let within = after.take_while(|at| !self.words.is(*at, Mark::Parts));
        self.words[start].range.start..self.words[within.last().unwrap_or(group.verb)].range.end
    }

    /// A range of the text without the signs at its ends.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let sign = |c: char| !c.is_alphanumeric();
        let rest = self.text[range.clone()].trim_start_matches(sign);
        let start = range.end - rest.len();
        start..start + rest.trim_end_matches(sign).len()
    }

    /// The object after an active verb.
    fn object_after(&self, from: usize) -> Range<usize> {
        let words = self.words;
        let leads = |at: &usize| {
            words.is(*at, Mark::Particle) && !words.is(*at, Mark::Determiner)
                || words.text(*at) == ":"
        };
        let from = from + (from..words.len()).take_while(leads).count();
        let ends = |at: &usize| {
            let word = words.marks(*at);
            let verb_next = words.marks(at + 1).meets(of![Participle Ours Adverb]);
            // *both orders, #W12 and #W13*
            let named = || {
                let named = (at + 1..words.len()).find(|at| words.text(*at) != "#");
                named.is_some_and(|at| words.is(at, Mark::Identifier))
            };
            word.meets(of![Parts Ours])
                || word.has(Mark::Comma) && !named()
                || word.has(Mark::Conjunction) && verb_next
        };
        let most = words.len().min(from + OBJECT);
        from..(from..most).find(ends).unwrap_or(most)
    }

    /// Whether a participle may describe the noun after it.
    fn adjectival(&self, next: usize, follows: bool) -> bool {
        let words = self.words;
        let most = words.len().min(next + OBJECT);
        let parts = |at: usize| at >= words.len() || words.is(at, Mark::Parts);
        let end = (next..most).find(|at| parts(*at)).unwrap_or(most);
        let label = words.text(end) == ":";
        // *Cancelled orders from Berlin: two*
        if label && words.marks(end + 1).meets(of![Number Count]) && parts(end + 2) {
            return true;
        }
        if !words.is(next, Mark::Content) || words.is(next, Mark::Particle) {
            // *Created: 2024-01-05*; where no tool does it, *Created: May 3* and *Assigned to: Tessa*, but
            // not *Refunded to: VISA*
            let verb = words[next - 1].verb.filter(|verb| !self.tools.does(verb));
            let acts = |verb| {
                Lexicon::get()
                    .marks(verb)
                    .meets(of![Generic Creating Settles])
            };
            let value =
                |at: usize, of: Marks| words.text(at) == ":" && words.marks(at + 1).meets(of);
            let labelled = words.is(next, Mark::Preposition) && words.text(next + 1) == ":";
            return value(next, of![Number])
                || verb.is_some() && value(next, of![Date])
                || labelled && verb.is_some_and(|verb| !acts(verb));
        }
        let own = words[next].noun_of.is_some() || words.is(next, Mark::Quoted);
        let settled = words.any(next..end, of![Identifier Number Preposition]);
        // *Approved invoices are sent on Fridays*
        let finite = words.any(next..end, of![Be Modal]);
        !follows || finite || !own && (label || !settled)
    }

    /// Whether the object is a part of the answer itself.
    fn composed(&self, ours: bool, object: &[Token<'_>]) -> bool {
        let head = nouns(object).pop();
        let part = head.is_some_and(|noun| {
            let mut writes = self.tools.all_writes();
            Lexicon::get().is(&noun, Mark::Answer)
                && !writes.any(|(_, tool)| tool.said.shares(&noun))
        });
        // Without a tool that writes, the code that the closing shows is what was changed.
        part || self.code && ours && self.tools.all_writes().next().is_none()
    }
}

/// The noun of an object that names an action; a pure one before one that is a thing too.
fn action<'a, 'v>(object: &'a [Token<'v>]) -> Option<&'a Token<'v>> {
    // *a request to cancel the order* is a request.
    let own =
        |token: &&Token<'_>| token.text != "to" && !token.marks.meets(of![Relative Condition]);
    let rest = object.iter().skip_while(|token| token.is(Mark::Determiner));
    let nouns = rest.take_while(own);
    let mut nouns = nouns.filter(|token| token.noun_of.is_some() && !token.is(Mark::Quoted));
    let first = nouns.next()?;
    let pure = |noun: &&Token<'_>| !noun.is(Mark::Thing);
    Some([first].into_iter().chain(nouns).find(pure).unwrap_or(first))
}

/// The nouns of an object up to its first preposition, the head last.
fn nouns(object: &[Token<'_>]) -> Vec<String> {
    let rest = (object.iter()).skip_while(|token| token.is(Mark::Preposition));
    let first = rest.take_while(|token| !token.marks.meets(of![Preposition Parts]));
    let nouns = first.filter(|token| token.is(Mark::Content));
    nouns.map(|token| stem(&token.text).into_owned()).collect()
}

fn identifiers(object: &[Token<'_>]) -> Vec<String> {
    let named = object.iter().filter(|token| token.is(Mark::Identifier));
    named.map(|token| token.text.clone().into_owned()).collect()
}
