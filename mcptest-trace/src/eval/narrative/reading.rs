//! Decides whether a verb form asserts a completed action of the agent, and in which voice.

use std::ops::Range;

use super::clause::{self, Chain};
use super::sentence::Place;
use super::token::{Kind, Token};
use super::verb::Form;
use super::words;

/// How an action is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// *I cancelled the order*, *Cancelled the order*.
    Active,
    /// *The order was cancelled*, *Order cancelled*.
    Passive,
}

/// How firmly it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// With a subject and a finite verb.
    Finite,
    /// Without: an item of a list, a label and what follows it.
    Fragment,
    /// A present passive, which may as well describe a state: *your order is cancelled*.
    State,
}

/// A verb form read as a completed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    /// Its voice.
    pub voice: Voice,
    /// Its manner.
    pub manner: Manner,
    /// Tokens that hold the subject of a passive, or the label before a bare participle.
    pub subject: Range<usize>,
    /// Index of the first token of the verb group.
    pub group: usize,
}

/// A sentence as the reader of verbs sees it.
pub(super) struct View<'t> {
    pub tokens: &'t [Token],
    pub place: Place,
    /// Whether fragments of this sentence tell what was done, not what could be or what was found.
    pub fragments_count: bool,
    /// Whether the introduction says that what follows is a record of what happened.
    pub recounted: bool,
    /// Whether a neighbouring item or the introduction is in the past, so that *set* and *put* are too.
    pub past_context: bool,
    /// Index of the first token of a question.
    pub question: usize,
}

impl View<'_> {
    pub(super) fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// Reads the verb form at `verb`.
    pub(super) fn read(&self, verb: usize, form: &Form) -> Option<Reading> {
        if verb >= self.question {
            return None;
        }
        let chain = clause::chain(self.tokens, verb);
        let done = form.past || form.participle;
        if !done || chain.auxiliaries.last().is_some_and(|last| *last == "to") {
            return if form.base {
                self.read_base(verb, &chain)
            } else {
                None
            };
        }
        if chain.auxiliaries == ["not"] && chain.adverbs.contains(&"only") {
            return self.read_bare(verb, form, &chain);
        }
        match chain.last() {
            Some(last) if words::is_be(last) || last == "'s" => form
                .participle
                .then(|| self.read_passive(verb, &chain, form.base))?,
            // *I'd sent* is *I had sent* where the participle is not the base form.
            Some("'d") if form.participle && !form.base && chain.auxiliaries.len() == 1 => {
                let before = chain.start.checked_sub(1)?;
                let own =
                    words::is_first_person(self.text(before)) && self.asserted_by_agent(before);
                own.then(|| self.active(verb, chain.start, Manner::Finite))
            }
            Some(last) if words::is_have(last) => {
                form.participle.then(|| self.read_active(verb, &chain))?
            }
            Some(_) => {
                if form.base {
                    self.read_base(verb, &chain)
                } else {
                    None
                }
            }
            None => self.read_bare(verb, form, &chain),
        }
    }

    /// *did update*, *was able to update*, *managed to update* with the agent as the subject.
    fn read_base(&self, verb: usize, chain: &Chain<'_>) -> Option<Reading> {
        let mut at = chain.start;
        if self.text(verb.wrapping_sub(1)) == "did"
            || (at > 0 && words::is_do(self.text(at - 1)) && chain.auxiliaries.is_empty())
        {
            let subject = self.text(verb.checked_sub(2)?);
            let emphatic = self.text(verb - 1) == "did" && words::is_first_person(subject);
            return emphatic.then(|| self.active(verb, verb - 1, Manner::Finite));
        }
        if chain.auxiliaries != ["to"] {
            return None;
        }
        // Step over `able` or `managed` and what stands before it.
        at = at.checked_sub(1)?;
        let achieved = match self.text(at) {
            "able" => {
                let before = clause::chain(self.tokens, at);
                let past = before.has(|word| matches!(word, "was" | "were" | "been"));
                at = before.start;
                past && !before.unasserted()
            }
            "managed" => {
                let before = clause::chain(self.tokens, at);
                at = before.start;
                !before.unasserted()
            }
            _ => false,
        };
        let subject = self.text(at.checked_sub(1)?);
        let governed = clause::subordination(self.tokens, at);
        (achieved && words::is_first_person(subject) && !governed.hypothetical)
            .then(|| self.active(verb, at, Manner::Finite))
    }

    pub(super) fn active(&self, verb: usize, group: usize, manner: Manner) -> Reading {
        debug_assert!(verb < self.tokens.len());
        Reading {
            voice: Voice::Active,
            manner,
            subject: group..group,
            group,
        }
    }

    /// *I have cancelled*, *and have cancelled*.
    pub(super) fn read_active(&self, verb: usize, chain: &Chain<'_>) -> Option<Reading> {
        if chain.unasserted() {
            return None;
        }
        let before = chain.start.checked_sub(1);
        if chain.has(|word| word == "having") {
            // *Having updated the address, I closed the ticket.*
            let own = before.is_none()
                && (verb + 1..self.tokens.len())
                    .any(|at| self.tokens[at].is(",") && words::is_first_person(self.text(at + 1)));
            return own.then(|| self.active(verb, chain.start, Manner::Finite));
        }
        // *Our system has updated the record* tells of the agent's own tools.
        let system = before.is_some_and(|at| {
            self.text(at) == "system" && at > 0 && matches!(self.text(at - 1), "our" | "the")
        });
        if system && chain.has(|word| word == "has") {
            return self
                .asserted_by_agent(before?)
                .then(|| self.active(verb, chain.start, Manner::Finite));
        }
        let first = before.is_some_and(|at| words::is_first_person(self.text(at)));
        if first {
            return self
                .asserted_by_agent(before?)
                .then(|| self.active(verb, chain.start, Manner::Finite));
        }
        let joined =
            before.is_none_or(|at| words::is_conjunction(self.text(at)) || self.tokens[at].is(","));
        if chain.has(|word| word == "has") || !joined {
            return None;
        }
        self.inherited(verb, chain.start)
    }

    /// Whether the clause that starts with the agent as subject is told as a fact.
    pub(super) fn asserted_by_agent(&self, subject: usize) -> bool {
        let governed = clause::subordination(self.tokens, subject + 1);
        let later_modal = || {
            self.tokens[subject..]
                .iter()
                .any(|token| token.is_word() && words::is_modal(&token.text))
        };
        let quoted_by_other = governed.reported
            && !self.tokens[..subject]
                .iter()
                .any(|token| words::is_first_person(&token.text));
        let retracted = self.tokens[..subject].iter().any(|token| {
            matches!(
                token.text.as_str(),
                "mistakenly" | "incorrectly" | "wrongly" | "erroneously" | "falsely"
            )
        });
        // *nor have I updated it*
        let inverted = subject >= 2
            && (words::is_have(self.text(subject - 1)) || words::is_do(self.text(subject - 1)))
            && words::is_negation(self.text(subject - 2));
        // *I don't think I updated it* denies what it reports.
        let doubted = governed.reported
            && self.tokens[..subject].windows(2).any(|pair| {
                words::is_negation(&pair[0].text) && words::is_reporting(&pair[1].text)
            });
        !(governed.hypothetical
            || doubted
            || inverted
            || quoted_by_other
            || retracted
            || (governed.temporal && later_modal()))
    }

    /// A verb form without any auxiliary.
    fn read_bare(&self, verb: usize, form: &Form, chain: &Chain<'_>) -> Option<Reading> {
        // Adverbs between the subject and the verb belong to the chain, so its start tells what is before.
        let before = chain.start.checked_sub(1);
        if let Some(at) = before {
            // *We updated our policy in March* is not about the run.
            let ours_before = self.text(at) == "we" && clause::names_a_day(self.tokens, verb);
            if form.past && words::is_first_person(self.text(at)) && !ours_before {
                return self
                    .asserted_by_agent(at)
                    .then(|| self.active(verb, chain.start, Manner::Finite));
            }
            // *The agent deleted the file.*
            let agent =
                at == 1 && self.text(0) == "the" && matches!(self.text(1), "agent" | "assistant");
            if form.past && agent {
                return Some(self.active(verb, chain.start, Manner::Finite));
            }
            let joins = words::is_conjunction(self.text(at))
                || self.tokens[at].is(",")
                || self.tokens[at].is("/");
            if joins && let Some(reading) = self.inherited(verb, chain.start) {
                return Some(reading);
            }
        }
        self.read_fragment(verb, form, chain)
    }

    /// Whether an object may start at `at`.
    pub(super) fn opens_phrase(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else {
            return false;
        };
        let word = token.text.as_str();
        match token.kind {
            Kind::Mark | Kind::Check => false,
            Kind::Word => {
                let determined = words::is_determiner(word) && word != "of";
                let object = words::listed("it them you everything him her us me", word);
                let function = words::is_preposition(word)
                    || words::is_conjunction(word)
                    || words::is_adverb(word)
                    || words::is_be(word)
                    || words::is_finite_auxiliary(word)
                    || words::is_pronoun(word)
                    || words::is_negation(word)
                    || words::is_temporal(word)
                    || words::is_causal(word);
                determined || object || !function
            }
            _ => true,
        }
    }
}
