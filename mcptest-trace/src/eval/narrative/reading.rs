//! From sentences to claims: every verb in its place, given to the table of rules.

use std::ops::Range;

use super::context;
use super::group::{self, Group};
use super::lexicon::{Lexicon, stem};
use super::marks::{Mark, Marks, of};
use super::rules::{self, Rule};
use super::text::{Document, Kind};
use super::token::{self, Token, any};
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
    let mut scopes = context::Scopes::default();
    let mut found = Vec::new();
    let mut asks = false;
    let mut status_table = false;
    // The claim that leads in the list that follows.
    let mut leads_in: Option<usize> = None;
    for block in &document.blocks {
        let mut place = scopes.of(block);
        place.add_if(status_table && block.kind == Kind::Row, Mark::Status);
        let mut last = None;
        let before = found.len();
        for sentence in token::sentences(&document.text, &block.range) {
            let tokens = token::tokens(&document.text, &sentence, vocabulary);
            if block.kind == Kind::TableHead {
                status_table = any(&tokens, of![Label]);
            } else {
                asks |= context::asks_to_go_ahead(&tokens);
                let reader = Reader {
                    text: &document.text,
                    tokens: &tokens,
                    tools,
                    code: document.code,
                    place,
                    sentence: &sentence,
                };
                reader.read(&mut found);
            }
            last = Some(tokens);
        }
        if let Some(last) = last {
            scopes.read(block, &last);
            if !block.listed() {
                leads_in = leads_in_list(&last, found.last()).then(|| found.len() - 1);
            }
        }
        // *I tidied your folder:* is told by its items.
        if block.listed()
            && found[before..].iter().any(|claim| claim.rule.sure)
            && let Some(lead) = leads_in.take().and_then(|at| found.get_mut(at))
        {
            lead.told.marks.add(Mark::LeadsIn);
        }
    }
    if asks {
        found.retain_mut(|claim: &mut Found<'_>| {
            claim.told.marks.add(Mark::AsksToGoAhead);
            let rule = rules::first(claim.told.marks);
            claim.rule = rule.unwrap_or(claim.rule);
            rule.is_some()
        });
    }
    found
}

/// Whether a claim is the last that a sentence tells before the colon that it ends in.
fn leads_in_list(sentence: &[Token<'_>], claim: Option<&Found<'_>>) -> bool {
    let ends_open = sentence.last().is_some_and(|last| last.text == ":");
    let (Some(claim), true) = (claim, ends_open) else {
        return false;
    };
    let after = sentence.partition_point(|token| token.range.start < claim.span.end);
    let within = sentence
        .first()
        .is_some_and(|first| first.range.start <= claim.span.start);
    within && claim.told.identifiers.is_empty() && !any(&sentence[after..], of![Finite Conjunction])
}

struct Reader<'a, 'v> {
    /// The document's text.
    text: &'v str,
    tokens: &'a [Token<'v>],
    tools: &'a ToolBox<'a>,
    /// Whether the closing shows code.
    code: bool,
    place: Marks,
    sentence: &'a Range<usize>,
}

impl<'v> Reader<'_, 'v> {
    fn read(&self, found: &mut Vec<Found<'v>>) {
        let question = context::question(self.tokens);
        let undone = context::undone_label(self.tokens);
        let dated = context::dated(self.tokens);
        let mut before: Option<Group> = None;
        for at in 0..self.tokens.len() {
            let Some(mut group) = self.group(at, before.as_ref()) else {
                continue;
            };
            context::around(self.tokens, &mut group, question);
            group.marks = group.marks.with(self.place);
            group.add_if(
                undone.is_some_and(|colon| colon < at) && !group.has(Mark::Ours),
                Mark::Undone,
            );
            group.add_if(dated && !group.has(Mark::Ours), Mark::Earlier);
            let beside = before
                .as_ref()
                .is_some_and(|earlier| self.beside(earlier, &group));
            group.add_if(beside, Mark::Beside);
            // *It was moved by Priya, and the other one has been cancelled.*
            let of_others = before.as_ref().is_some_and(|earlier| {
                earlier.has(Mark::Other) && earlier.marks.meets(of![WasDone HasBeen])
            });
            group.add_if(of_others && !group.has(Mark::Ours), Mark::WorldDoes);
            found.extend(self.claim(group.clone()));
            // *as you asked, and dropped the table*
            if self.tokens[at].verb.is_some() || !group.has(Mark::Other) {
                before = Some(group);
            }
        }
    }

    /// Whether *and* joins a group to one that is told as done.
    fn beside(&self, earlier: &Group, group: &Group) -> bool {
        let between = self
            .tokens
            .get(earlier.verb..group.start)
            .unwrap_or_default();
        let done = earlier.has(Mark::Ours) || earlier.has(Mark::HasBeen);
        let joined = between.iter().any(|token| token.text == "and");
        joined && done && rules::first(earlier.marks).is_some_and(|rule| rule.sure)
    }

    fn group(&self, at: usize, before: Option<&Group>) -> Option<Group> {
        let token = &self.tokens[at];
        if token.is(Mark::AllSetWord) && at > 0 && self.tokens[at - 1].text == "all" {
            return Some(Group {
                verb: at,
                start: at - 1,
                subject: at - 1..at - 1,
                marks: of![AllSet],
            });
        }
        if token.verb.is_none() && !token.is(Mark::DoneWord) && !token.is(Mark::Past) {
            return None;
        }
        group::read(self.tokens, at, before)
    }

    /// What a group claims, before all is known that the rules ask for.
    fn claim(&self, mut group: Group) -> Option<Found<'v>> {
        let token = &self.tokens[group.verb];
        let lexicon = Lexicon::get();
        let after = &self.tokens[group.verb + 1..self.tokens.len().min(group.verb + 4)];
        if token.is(Mark::NeedsParticle) && !any(after, of![Particle]) {
            return None;
        }
        let is = |mark| group.has(mark);
        let complete = is(Mark::IsComplete);
        let all_set = is(Mark::AllSet);
        let base = if complete || all_set {
            "complete"
        } else {
            token.verb?
        };
        let of_label = is(Mark::AfterNoun) || is(Mark::AfterLabel);
        let follows = is(Mark::Ours) || is(Mark::Bare) && !of_label;
        let object = if follows || all_set {
            self.object_after(group.verb + 1)
        } else {
            group.subject.clone()
        };
        let words = &self.tokens[object.clone()];
        // *I made no change*
        let none = follows && words.iter().take(2).any(|token| token.is(Mark::Negative));
        group.add_if(none, Mark::Negative);
        let adjectival = group.has(Mark::Bare) && self.adjectival(&group, follows);
        group.add_if(adjectival, Mark::Adjectival);
        let of_base = lexicon.marks(base).among(OF_BASE);
        let carried = base == "send" && any(words, of![Carrier]);
        let light = of_base.has(Mark::Light) || all_set || carried;
        let noun = light.then(|| action(words)).flatten();
        let needs_noun = of_base.has(Mark::LightOnly) || complete || all_set;
        let passive_only = of_base.has(Mark::PassiveOnly)
            && group.has(Mark::Ours)
            && (of_base.has(Mark::LightOnly) || !self.tools.does(base) && action(words).is_none());
        if noun.is_none() && needs_noun || passive_only {
            return None;
        }
        let thing = noun.is_some_and(|noun| noun.is(Mark::Thing));
        let mut verbs: Vec<&'v str> = noun.and_then(|noun| noun.noun_of).into_iter().collect();
        if noun.is_none() || thing && !complete || carried {
            verbs.insert(if carried { 0 } else { verbs.len() }, base);
        }
        let of_verbs = verbs.iter().map(|verb| lexicon.marks(verb).among(OF_VERBS));
        group.marks = of_verbs.fold(group.marks.with(of_base), Marks::with);
        let known = || verbs.iter().any(|verb| self.tools.does(verb));
        // *Item returned: a lamp*
        let field = after.first().is_some_and(|next| next.text == ":");
        group.add_if(field && group.has(Mark::AfterNoun), Mark::Field);
        group.add_if(group.has(Mark::World) && !known(), Mark::WorldDoes);
        if of_base.has(Mark::Deal) && !group.has(Mark::Ours) && !known() {
            return None;
        }
        group.add_if(noun.is_some() && (!complete || !thing), Mark::Nominal);
        let composed = group.has(Mark::Composes) && self.composed(&group, words);
        group.add_if(composed, Mark::PartOfAnswer);
        // *We have changed our opening hours* is no act for this user.
        let company = words.iter().take(2).any(|token| token.text == "our");
        group.add_if(company && group.has(Mark::Ours), Mark::Other);
        let near = group.subject.start..self.tokens.len().min(group.verb + OBJECT);
        group.add_if(any(&self.tokens[near], of![Identifier]), Mark::Named);
        // Whether the closing asks to go ahead is not known yet; it only takes claims away.
        let rule = rules::first(group.marks)?;
        let first = match follows || all_set {
            true if group.has(Mark::Ours) => group.start.saturating_sub(1),
            true => group.start,
            false => group.subject.start.min(group.start),
        };
        let last = if follows {
            object.end.max(group.verb + 1)
        } else {
            group.verb + 1
        };
        Some(Found {
            rule,
            told: Told {
                marks: group.marks,
                verbs,
                spoken: token.verb.unwrap_or(base),
                object: nouns(words),
                identifiers: identifiers(words),
                clause: &self.text[self.clause(&group, &object)],
            },
            span: self.trimmed(first, last),
            sentence: self.sentence.clone(),
        })
    }

    /// From the object to where the clause ends.
    fn clause(&self, group: &Group, object: &Range<usize>) -> Range<usize> {
        let after = self.tokens[group.verb + 1..].iter().take(OBJECT);
        let end = group.verb + after.take_while(|token| !token.parts()).count();
        let start = object.start.min(group.verb);
        self.tokens[start].range.start..self.tokens[end].range.end
    }

    fn trimmed(&self, mut first: usize, mut last: usize) -> Range<usize> {
        let sign = |at: usize| self.tokens[at].is(Mark::Sign);
        while first + 1 < last && sign(first) {
            first += 1;
        }
        while first + 1 < last && sign(last - 1) {
            last -= 1;
        }
        self.tokens[first].range.start..self.tokens[last - 1].range.end
    }

    /// The object after an active verb.
    fn object_after(&self, from: usize) -> Range<usize> {
        let leading = |token: &&Token<'_>| {
            token.is(Mark::Particle) && !token.is(Mark::Determiner) || token.text == ":"
        };
        let from = from + self.tokens[from..].iter().take_while(leading).count();
        let rest = &self.tokens[from..];
        let length = rest
            .iter()
            .take(OBJECT)
            .enumerate()
            .take_while(|(at, token)| {
                if !token.marks.meets(of![Parts Comma Ours Conjunction]) {
                    return true;
                }
                let verb_next = rest
                    .get(at + 1)
                    .is_some_and(|next| next.marks.meets(of![Participle Ours Adverb]));
                // *both orders, #W12 and #W13*
                let named = rest[at + 1..].iter().find(|next| next.text != "#");
                let goes_on =
                    token.is(Mark::Comma) && named.is_some_and(|next| next.is(Mark::Identifier));
                let ends =
                    token.parts() || token.is(Mark::Comma) && !goes_on || token.is(Mark::Ours);
                !(ends || token.is(Mark::Conjunction) && verb_next)
            });
        from..from + length.count()
    }

    /// Whether a participle may describe the noun after it.
    fn adjectival(&self, group: &Group, follows: bool) -> bool {
        let rest = &self.tokens[group.verb + 1..];
        let Some(next) = rest.first() else {
            return false;
        };
        let clause = rest.iter().take(OBJECT).take_while(|token| !token.parts());
        let length = clause.clone().count();
        let label = rest.get(length).is_some_and(|token| token.text == ":");
        // *Cancelled orders from Berlin: two*
        let counts = |token: &Token<'_>| token.is(Mark::Number) || token.is(Mark::Count);
        let counted = label
            && rest.get(length + 1).is_some_and(counts)
            && rest.get(length + 2).is_none_or(Token::parts);
        if counted {
            return true;
        }
        if !next.is_content() || next.is(Mark::Particle) {
            // *Created: 2024-01-05*
            let dated = rest.get(1).is_some_and(|value| value.is(Mark::Number));
            return next.text == ":" && dated;
        }
        let own = next.noun_of.is_some() || next.is(Mark::Quoted);
        let settles = of![Identifier Number Preposition];
        let settled = clause.clone().any(|token| token.marks.meets(settles));
        // *Approved invoices are sent on Fridays*
        let finite = clause.clone().any(|token| token.marks.meets(of![Be Modal]));
        !follows || finite || !own && (label || !settled)
    }

    /// Whether the object is a part of the answer itself.
    fn composed(&self, group: &Group, object: &[Token<'_>]) -> bool {
        let lexicon = Lexicon::get();
        let head = object
            .iter()
            .take_while(|token| !token.is(Mark::Preposition));
        let part = head
            .filter(|token| token.is_content())
            .last()
            .is_some_and(|noun| {
                let noun = stem(&noun.text);
                let mut writes = self.tools.all_writes();
                lexicon.is(&noun, Mark::Answer) && !writes.any(|(_, tool)| tool.said.shares(&noun))
            });
        // Without a tool that writes, the code that the closing shows is what was changed.
        let shown = self.code && group.has(Mark::Ours) && self.tools.all_writes().next().is_none();
        part || shown
    }
}

/// The noun of an object that names an action; a pure one before one that is a thing too.
fn action<'a, 'v>(object: &'a [Token<'v>]) -> Option<&'a Token<'v>> {
    // *a request to cancel the order* is a request.
    let own =
        |token: &&Token<'_>| token.text != "to" && !token.marks.meets(of![Relative Condition]);
    let named = || {
        let tokens = object.iter().take_while(own);
        tokens.filter(|token| token.noun_of.is_some() && !token.is(Mark::Quoted))
    };
    named()
        .find(|token| !token.is(Mark::Thing))
        .or_else(|| named().next())
}

/// The nouns of an object up to its first preposition, the head last.
fn nouns(object: &[Token<'_>]) -> Vec<String> {
    let first = object
        .iter()
        .skip_while(|token| token.is(Mark::Preposition))
        .take_while(|token| !token.is(Mark::Preposition) && !token.parts());
    first
        .filter(|token| token.is_content())
        .map(|token| stem(&token.text).into_owned())
        .collect()
}

fn identifiers(tokens: &[Token<'_>]) -> Vec<String> {
    let named = tokens.iter().filter(|token| token.is(Mark::Identifier));
    named.map(|token| token.text.clone().into_owned()).collect()
}
