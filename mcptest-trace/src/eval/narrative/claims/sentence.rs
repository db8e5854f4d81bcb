//! From a sentence to its claims: every verb in its place, given to the table of rules.

use std::ops::Range;

use super::context;
use super::group::{self, Group};
use super::object;
use super::rules::{self, Rule};
use super::scope::{self};
use crate::eval::narrative::calls::tools::{Tool, ToolBox};
use crate::eval::narrative::details::detail::Detail;
use crate::eval::narrative::details::reader;
use crate::eval::narrative::document::text::Document;
use crate::eval::narrative::words::lexicon::{Lexicon, OF_VERB, stem};
use crate::eval::narrative::words::list::OBJECT;
use crate::eval::narrative::words::marks::{Mark, Marks, of};
use crate::eval::narrative::words::pattern::Stretches;
use crate::eval::narrative::words::token::{Token, TokenQueries};

/// A claim as it is read, before any call is looked at.
#[derive(Debug, Clone)]
pub(crate) struct FoundClaim<'v> {
    pub(crate) rule: &'static Rule,
    pub(crate) told: Told<'v>,
    /// Bytes of the claim in the document's text.
    pub(crate) span: Range<usize>,
    /// Bytes of its sentence in the document's text.
    pub(crate) sentence: Range<usize>,
}

/// What a claim tells, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Told<'v> {
    /// How the verb stands, from which the rule follows.
    pub(crate) marks: Marks,
    /// The verb in its base form, and after it what else may be meant.
    pub(crate) verbs: Vec<&'v str>,
    /// The verb that stands in the sentence.
    pub(crate) spoken: &'v str,
    /// The nouns of its object, the head last.
    pub(crate) object: Vec<String>,
    /// The identifiers of its object, in lower case.
    pub(crate) identifiers: Vec<String>,
    /// How many things its object is, if it says so.
    pub(crate) quantity: Option<usize>,
    /// What else it names.
    pub(crate) details: Vec<Detail>,
    /// Its object and what follows the verb.
    pub(crate) clause: &'v str,
}

impl Told<'_> {
    /// Whether the name of a tool has a noun of the object.
    pub(crate) fn shares(&self, tool: &Tool<'_>) -> bool {
        self.object.iter().any(|noun| tool.said.shares(noun))
    }
}

/// What the lexicon says of a verb that rules and verdicts ask for: of the verb as it stands, and of
/// those that are meant.
const OF_BASE: Marks = of![Light LightOnly Deal PassiveOnly HandsOver Composes Levies];
const OF_VERBS: Marks = of![Generic Creating Consequence Lands MakingHead Remade World Settles];

/// Reads the claims of a sentence.
#[derive(Clone, Copy)]
pub(crate) struct SentenceReader<'a, 'v, 't> {
    pub(crate) document: &'v Document,
    /// The tokens of the sentence.
    pub(crate) words: &'a [Token<'v>],
    /// These with those in brackets that are read apart.
    pub(crate) all: &'a [Token<'v>],
    pub(crate) tools: &'a ToolBox<'t>,
    /// What its place says of it.
    pub(crate) place: Marks,
    pub(crate) sentence: &'a Range<usize>,
}

impl<'v> SentenceReader<'_, 'v, '_> {
    /// Reads what the sentence claims.
    pub(crate) fn read(&self, found: &mut Vec<FoundClaim<'v>>) {
        let question = context::question(self.words);
        let undone = scope::undone_label(self.words);
        let stretches = Stretches::from_tokens(self.words);
        // The group before, and whether it surely claims.
        let mut before: Option<Group> = None;
        let mut claimed = false;
        for at in 0..self.words.len() {
            let Some(mut group) = group::read(self.words, &stretches, at, before.as_ref()) else {
                continue;
            };
            group.marks = group.marks.with(self.place);
            group.add_if(question.is_some_and(|from| from <= at), Mark::Question);
            let ours = group.has(Mark::Ours);
            group.add_if(!ours && undone.is_some_and(|from| from < at), Mark::Undone);
            if let Some(before) = &before {
                let joined = (before.verb..group.start).any(|at| self.words.text(at) == "and");
                let done = before.marks.meets(of![Ours HasBeen]);
                group.add_if(claimed && joined && done, Mark::Beside);
                // *It was moved by Priya, and the other one has been cancelled.*
                let by_others = before.has(Mark::Other) && before.marks.meets(of![WasDone HasBeen]);
                group.add_if(by_others && !ours, Mark::WorldDoes);
            }
            let claim = self.claim(group.clone());
            // *as you asked, and dropped the table*
            if self.words[at].verb.is_some() || !group.has(Mark::Other) {
                claimed = claim.as_ref().is_some_and(|claim| claim.rule.sure);
                before = Some(group);
            }
            found.extend(claim);
        }
    }

    /// A subject, with the label before it where it has no noun: *Refund: $184 issued to your card*.
    fn with_label(&self, subject: Range<usize>) -> Range<usize> {
        let bare = !self.words.any(subject.clone(), of![Content]);
        let labelled = bare && subject.start > 0 && self.words.text(subject.start - 1) == ":";
        let named = labelled && self.words.any(0..subject.start, of![Content]);
        if named { 0..subject.end } else { subject }
    }

    /// What a group claims.
    fn claim(&self, mut group: Group) -> Option<FoundClaim<'v>> {
        let token = &self.words[group.verb];
        let next = group.verb + 1;
        let lexicon = Lexicon::get();
        let of_verb = lexicon.marks(token.verb.unwrap_or_default());
        group.marks = group.marks.with(token.marks.among(OF_VERB));
        group.add_if(of_verb.meets(of![Generic Creating Settles]), Mark::Acts);
        group.add_if(
            token.verb.is_some_and(|verb| self.tools.does(verb)),
            Mark::ToolVerb,
        );
        group.add_if(
            token.verb.is_some_and(|verb| lexicon.plans(verb)),
            Mark::Plans,
        );
        group.apply("object", self.words);
        if group.has(Mark::Nothing) {
            return None;
        }
        let (ours, follows) = (group.has(Mark::Ours), group.has(Mark::Follows));
        // *You're now enrolled in autopay.*
        let subject = self.words.all(group.subject.clone());
        let of_you = subject.has(Mark::You) && !subject.has(Mark::Content);
        // *the request we submitted*
        let noun = group::noun_before(self.words, &group).filter(|_| ours);
        let object = if let Some(noun) = noun {
            noun
        } else if follows || of_you {
            object::after(self.words, group.verb)
        } else {
            self.with_label(group.subject.clone())
        };
        let words = &self.words[object.clone()];
        let mut verbs = self.verbs(&mut group, words)?;
        // *turned off roaming*, *turned the lights off*
        let phrasal = |at| lexicon.phrasal(token.verb?, self.words.text(at));
        let ends = |at: usize| {
            let follows = of![Determiner Your Me Content Number Identifier];
            let away = self.words.text(at) != "back" && !self.words.marks(at + 1).meets(follows);
            at == next || away
        };
        let mut clause = next..self.words.until(next, OBJECT, of![Parts Comma Conjunction]);
        let phrasal = clause.find_map(|at| phrasal(at).filter(|_| ends(at)));
        if phrasal.is_some() {
            // A suite may name the tools of the verb alone.
            let asked = |verb: &&str| token.verb != Some(*verb) || self.tools.named(verb).is_some();
            verbs.retain(asked);
            verbs.extend(phrasal);
        }
        let does = |verb: &&str| self.tools.does(verb) || self.tools.named(verb).is_some();
        group.add_if(verbs.iter().any(does), Mark::ToolDoes);
        // *the refund was sent*, but not *the order was placed in May*
        let act = group.has(Mark::WasDone) && !words.have(of![Thing]);
        if group.has(Mark::IsDone) || act {
            let mut nouns = object::nouns(words);
            let of_act = |noun: &String| lexicon.word(noun).and_then(|noun| noun.noun_of);
            nouns.retain(|noun| !act || !of_act(noun).is_some_and(|act| verbs.contains(&act)));
            let just = |verb: &&str| self.tools.does_just(verb, &nouns);
            group.add_if(verbs.iter().any(just), Mark::OfTool);
        }
        // Without a tool that writes, the code that the closing shows is what was changed.
        let shown = || self.document.code && ours && self.tools.only_read();
        // *I've drafted a reply*, where a tool creates drafts
        let drafts = group.has(Mark::NameOnly) && token.verb.is_some_and(|it| self.tools.says(it));
        let composed = object::of_answer(words) && !drafts || shown();
        let composed = group.has(Mark::Composes) && composed;
        group.add_if(composed, Mark::PartOfAnswer);
        group.apply("claim", self.words);
        let rule = rules::first(group.marks)?;
        let (first, last) = if follows {
            let subject = usize::from(ours && group.start > 0);
            (group.start - subject, object.end.max(next))
        } else {
            (group.subject.start.min(group.start), next)
        };
        // From the object to where the clause ends, or a reason or a contrast begins.
        let ends = of![Parts Comma Condition Presupposed Relative Negative];
        let clause = object.start.min(group.verb)..self.words.until(next, OBJECT, ends);
        let spoken = token.verb.filter(|_| !group.has(Mark::IsComplete));
        let spoken = phrasal.or(spoken);
        Some(FoundClaim {
            rule,
            told: Told {
                marks: group.marks,
                spoken: spoken.or_else(|| verbs.first().copied())?,
                verbs,
                object: object::of_act(words),
                identifiers: self.identifiers(&object),
                quantity: object::quantity(self.words, &object),
                details: reader::find(self.words, &self.document.text, &object, group.verb),
                clause: self.whole_words(self.bytes(clause)),
            },
            span: self.trimmed(self.bytes(first..last)),
            sentence: self.sentence.clone(),
        })
    }

    /// The identifiers of an object, or else those in a bracket within it.
    fn identifiers(&self, object: &Range<usize>) -> Vec<String> {
        let named = object::identifiers(&self.words[object.clone()]);
        if !named.is_empty() || object.is_empty() || self.all.len() == self.words.len() {
            return named;
        }
        let starts = |at: usize| {
            self.words
                .get(at)
                .map_or(usize::MAX, |token| token.range.start)
        };
        let place = |at| {
            self.all
                .partition_point(|token| token.range.start < starts(at))
        };
        object::identifiers(&self.all[place(object.start)..place(object.end)])
    }

    /// The verbs that are meant; marks what the lexicon says of them, and whether a noun says which.
    /// Nothing where none is claimed.
    fn verbs(&self, group: &mut Group, object: &[Token<'v>]) -> Option<Vec<&'v str>> {
        let lexicon = Lexicon::get();
        let complete = group.has(Mark::IsComplete);
        let done = group.marks.meets(of![IsComplete AllSet SuccessOf]);
        let verb = self.words[group.verb].verb;
        let base = if done { "complete" } else { verb? };
        // *marked for return*, *marked the shoes for return*
        let next = group.verb + 1;
        let mut clause = next..self.words.until(next, OBJECT, of![Parts Comma Conjunction]);
        let does = |verb| self.tools.does(verb);
        // *marked the reminder as complete*
        let purpose = clause.find_map(|at| match &*self.words[at].text {
            "for" => self.words.get(at + 1)?.noun_of,
            "as" => self.words.get(at + 1)?.verb.filter(|act| does(act)),
            _ => None,
        });
        // *submitted for return*, where no tool submits
        let marks = |act| match base {
            "mark" => !does("flag"),
            "submit" => does(act) && !does(base),
            _ => false,
        };
        let purpose = purpose.filter(|act| marks(act));
        // *set a reminder*, where a tool adds one and none sets any
        let head = object::nouns(object).pop().unwrap_or_default();
        let made = |made: &&'static str| self.tools.does_to(made, &head);
        let sets = base == "set" && matches!(object.text(0), "a" | "an" | "another");
        let sets = sets && !self.tools.does_to(base, &head);
        let made = ["add", "create"].into_iter().find(made).filter(|_| sets);
        let base = purpose.or(made).unwrap_or(base);
        let of_base = lexicon.marks(base).among(OF_BASE);
        let carried = base == "send" && object.have(of![Carrier]);
        let light = of_base.has(Mark::Light) || done || carried;
        // *I've opened a dispute*, where a tool disputes.
        let makes = |noun: &&Token<'v>| {
            let does = |verb| self.tools.does(verb) && !lexicon.is(verb, Mark::Generic);
            let does = noun.noun_of.is_some_and(does);
            let makes = base == "send" || lexicon.is(base, Mark::MakingHead);
            // *I've created a reservation*, but not *I've added your email*
            let sends = base == "send" || noun.noun_of == Some("send");
            let makes = makes && !(sends && noun.is(Mark::Thing));
            let head = object::nouns(object).pop();
            let head = head.filter(|head| *head == stem(&noun.text));
            let makes = |head: String| makes && does && !self.tools.does_to(base, &head);
            light || head.is_some_and(makes)
        };
        let noun = object::action(object).filter(makes);
        // *All writes succeeded.*
        let wrote = object.iter().find(|token| done && token.is(Mark::Wrote));
        let wrote = wrote
            .filter(|_| noun.is_none())
            .and_then(|token| token.verb);
        // *I've started the pump*, but not *I've started looking into it*
        let begins = object.text(0).ends_with("ing") || object.marks(0).has(Mark::To);
        let by_tool = || !begins && !lexicon.is(base, Mark::Generic) && self.tools.says(base);
        let named = || by_tool() || self.tools.named(base).is_some();
        let needs_noun = of_base.has(Mark::LightOnly) && !named() || done;
        let some = || matches!(object.text(0), "a" | "an" | "another");
        let looks_up = of_base.has(Mark::PassiveOnly)
            && group.has(Mark::Ours)
            && (needs_noun || !self.tools.does(base) && object::action(object).is_none())
            && self.tools.named(base).is_none()
            && !some();
        if noun.is_none() && wrote.is_none() && needs_noun || looks_up {
            return None;
        }
        let thing = noun.is_some_and(|noun| noun.is(Mark::Thing));
        let act = wrote.or_else(|| noun.and_then(|noun| noun.noun_of));
        let mut verbs: Vec<&'v str> = act.into_iter().collect();
        if act.is_none() || thing && !complete || carried || !light {
            verbs.insert(if light && !carried { verbs.len() } else { 0 }, base);
        }
        let of_verbs = verbs.iter().map(|verb| lexicon.marks(verb).among(OF_VERBS));
        group.marks = of_verbs.fold(group.marks.with(of_base), Marks::with);
        group.add_if(act.is_some() && !(complete && thing), Mark::Nominal);
        Some(verbs)
    }

    /// The bytes of some tokens.
    fn bytes(&self, tokens: Range<usize>) -> Range<usize> {
        self.words[tokens.start].range.start..self.words[tokens.end - 1].range.end
    }

    /// A part of the text, to where its last word ends: `top10.xlsx` is three tokens.
    fn whole_words(&self, range: Range<usize>) -> &'v str {
        let rest = &self.document.text[range.end..self.sentence.end.max(range.end)];
        let more = rest.find(char::is_whitespace).unwrap_or(rest.len());
        &self.document.text[range.start..range.end + more]
    }

    /// A range of the text without the signs at its ends.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let sign = |c: char| !c.is_alphanumeric();
        let rest = self.document.text[range.clone()].trim_start_matches(sign);
        let start = range.end - rest.len();
        start..start + rest.trim_end_matches(sign).len()
    }
}
