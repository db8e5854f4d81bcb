//! Compares claims with calls.

use std::cell::RefCell;
use std::collections::HashMap;

use super::evidence::{Ending, Evidence, holds};
use super::extract::{Found, Name};
use super::family;
use super::nouns;
use super::report::Finding;
use super::verb::Lexicon;

/// How near a call is to doing what a claim says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nearness {
    /// Its name or its arguments carry the verb.
    Direct,
    /// Its name carries a verb for the same action.
    Synonym,
    /// It changes something that may hold the object.
    Changing,
}

/// The calls of a run, and what else is known of it.
pub(super) struct Matcher<'r> {
    pub calls: &'r [Evidence],
    /// Tool names as recorded.
    pub tools: &'r [String],
    pub lexicon: &'r Lexicon,
    /// Tools that count as doing a verb, by verb.
    pub evidence: &'r std::collections::BTreeMap<String, Vec<String>>,
    /// What the user said, lower case.
    pub said: &'r [String],
    /// Names that were looked for in the run, and whether they occur.
    pub known: RefCell<HashMap<String, bool>>,
}

/// What came of comparing a claim with all calls.
pub(super) struct Outcome {
    /// Calls that could have supported it.
    pub considered: Vec<(usize, Finding)>,
    /// Whether it is supported.
    pub supported: bool,
}

impl Matcher<'_> {
    pub(super) fn compare(&self, claim: &Found) -> Outcome {
        let required: Vec<&Name> = claim
            .names
            .iter()
            .filter(|name| self.must_be_carried(name))
            .collect();
        let nearby: Vec<&Name> = claim
            .names_around
            .iter()
            .filter(|name| self.must_be_carried(name))
            .collect();
        let mut considered = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            let Some(nearness) = self.nearness(claim, index) else {
                continue;
            };
            let finding = match call.ending {
                Ending::Failed => Finding::Failed,
                Ending::Unanswered => Finding::Unanswered,
                Ending::Succeeded
                    if !carries_any(call, &required)
                        || (required.is_empty() && !carries_any(call, &nearby)) =>
                {
                    Finding::OtherIdentifier
                }
                Ending::Succeeded if self.object_fits(claim, index, nearness) => Finding::Supports,
                Ending::Succeeded if nearness == Nearness::Changing => continue,
                Ending::Succeeded => Finding::OtherObject,
            };
            if nearness == Nearness::Changing
                && finding != Finding::Supports
                && !self.object_fits(claim, index, nearness)
            {
                continue;
            }
            considered.push((index, finding));
        }
        let supports = |name: &str| {
            considered.iter().any(|(index, finding)| {
                *finding == Finding::Supports && self.calls[*index].carries(name)
            })
        };
        let any = considered
            .iter()
            .any(|(_, finding)| *finding == Finding::Supports);
        let supported = any && required.iter().all(|name| supports(&name.text));
        Outcome {
            considered,
            supported,
        }
    }

    /// Whether the trace knows the name as a key, so that a supporting call has to carry it.
    pub(super) fn must_be_carried(&self, name: &Name) -> bool {
        let exact = || {
            self.calls.iter().any(|call| {
                call.scalars
                    .iter()
                    .chain(&call.results)
                    .any(|(_, text)| *text == name.text)
            })
        };
        self.knows(&name.text) && (name.key || exact())
    }

    /// Whether the name occurs in any call, any result or what the user said.
    pub(super) fn knows(&self, name: &str) -> bool {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let known = self.calls.iter().any(|call| call.carries(name))
            || self.said.iter().any(|said| holds(said, name));
        self.known.borrow_mut().insert(name.to_owned(), known);
        known
    }

    pub(super) fn nearness(&self, claim: &Found, index: usize) -> Option<Nearness> {
        let call = &self.calls[index];
        let verb = claim.verb.as_str();
        let named = |verb: &str| {
            self.evidence
                .get(verb)
                .is_some_and(|tools| tools.contains(&self.tools[index]))
        };
        let carries_verb = call
            .name
            .iter()
            .any(|word| word == verb || self.lexicon.lemma(word) == Some(verb));
        if named(verb) || carries_verb && !call.reading {
            return Some(Nearness::Direct);
        }
        if call.reading {
            return None;
        }
        if call.told.contains(verb) {
            return Some(Nearness::Direct);
        }
        // *All updates have been made*, whatever tools made them.
        if claim.nominal && claim.nouns.is_empty() && matches!(verb, "update" | "edit") {
            return Some(Nearness::Changing);
        }
        if nouns::is_money(verb) && call.reports_money(verb) {
            return Some(Nearness::Direct);
        }
        // *created and published it*: the call that does one of the two is not the other.
        let other = |word: &String| {
            let lemma = self.lexicon.lemma(word);
            lemma.is_some_and(|lemma| claim.joined.iter().any(|verb| verb == lemma))
        };
        let outward = matches!(verb, "upload" | "publish" | "send" | "post");
        if outward && call.name.iter().any(other) {
            return None;
        }
        let synonymous = call.synonyms.contains(verb);
        // Money moves as a part of what is bought, changed or cancelled.
        let money = claim.nouns.iter().any(|noun| nouns::is_money(noun))
            && (family::done_by_changing(verb) || verb == "send");
        if money && !synonymous {
            return Some(Nearness::Changing);
        }
        // A tool whose own verb undoes or only speaks is no synonym, whatever else its name holds.
        let about = |noun: &String| call.topics.contains(noun);
        let given = verb == "add"
            && call.name.iter().any(|word| word == "send")
            && claim.nouns.iter().any(about);
        if family::done_by_changing(verb) && !given && call.opposed.contains(verb) && !synonymous {
            return None;
        }
        // Writing a file tells nobody.
        if call.editor && matches!(verb, "send" | "post" | "publish" | "merge") {
            return None;
        }
        if synonymous || verb == "send" && call.invites(&claim.nouns) {
            return Some(Nearness::Synonym);
        }
        let general = call.executor || call.editor;
        (general || family::done_by_changing(verb)).then_some(Nearness::Changing)
    }
}

fn carries_any(call: &Evidence, names: &[&Name]) -> bool {
    names.is_empty() || names.iter().any(|name| call.carries(&name.text))
}
