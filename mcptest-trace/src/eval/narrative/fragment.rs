//! Verbs without subject or auxiliary, as lists, labels and headlines have them: *- Added two bags*,
//! *Order W12: cancelled*, *1 bag added*.

use std::ops::Range;

use super::clause::{self, Chain};
use super::phrase::noun_phrase;
use super::reading::{Manner, Reading, View, Voice};
use super::sentence::Place;
use super::token::Kind;
use super::token::Token;
use super::verb::{Form, looks_past};
use super::words;

impl View<'_> {
    /// When only filler stands before `at`: the tokens of the label it follows, empty without one.
    pub(super) fn at_start(&self, at: usize) -> Option<Range<usize>> {
        let mut index = at;
        while index > 0 {
            let token = &self.tokens[index - 1];
            let filler = token.kind == Kind::Check
                || token.is(",")
                || token.is("!")
                || (token.is_word()
                    && (words::is_adverb(&token.text) || words::is_conjunction(&token.text)))
                || (token.kind == Kind::Number && index == 1);
            if !filler {
                break;
            }
            index -= 1;
        }
        if index == 0 {
            return Some(0..0);
        }
        let mark = &self.tokens[index - 1];
        if mark.kind != Kind::Mark
            || !matches!(mark.text.as_str(), ":" | "—" | "(" | ";" | "." | "!")
        {
            return None;
        }
        let mut from = clause::stretch_start(self.tokens, index - 1);
        // ***#103 – Typo**: closed*: the label goes on before the dash.
        if mark.text == ":" && from >= 2 && self.tokens[from - 1].is("—") {
            from = clause::stretch_start(self.tokens, from - 1);
        }
        let label = from..index - 1;
        Some(if matches!(mark.text.as_str(), ":" | "—") {
            label
        } else {
            index..index
        })
    }

    /// A verb without subject or auxiliary: an item of a list, a value after a label, a headline.
    pub(super) fn read_fragment(
        &self,
        verb: usize,
        form: &Form,
        chain: &Chain<'_>,
    ) -> Option<Reading> {
        if !self.fragments_count || clause::done_by_other(self.tokens, verb) {
            return None;
        }
        let Some(label) = self.at_start(chain.start) else {
            return self.read_reduced(verb, form, chain);
        };
        if form.base && !self.past_context {
            return None;
        }
        if self.opens_phrase(verb + 1) {
            // *(added yesterday)*
            if matches!(
                self.text(verb + 1),
                "yesterday" | "last" | "earlier" | "today"
            ) {
                return None;
            }
            let told = self.place != Place::Heading && self.tells_of_object(verb);
            return told.then(|| Reading {
                subject: label,
                ..self.active(verb, chain.start, Manner::Fragment)
            });
        }
        // *Cancelled: reservation ABC123*. A field of a record names no thing.
        let heads = self.text(verb + 1) == ":" && chain.auxiliaries.is_empty();
        if heads && label.is_empty() && self.opens_phrase(verb + 2) {
            let phrase = noun_phrase(self.tokens, verb + 2, self.tokens.len());
            let named = !phrase.names.is_empty() || words::is_definite(self.text(verb + 2));
            return named.then(|| self.active(verb, chain.start, Manner::Fragment));
        }
        // A bare participle: *Reservation ABC123: cancelled*. A field of a record is none.
        let field = clause::dated(self.tokens, verb)
            || self.tokens.get(verb + 1).is_some_and(|next| {
                matches!(next.text.as_str(), ":" | "at" | "by" | "on" | "since")
            });
        let state = self.tokens[label.clone()].iter().any(|token| {
            matches!(
                token.text.as_str(),
                "status" | "state" | "stage" | "condition" | "current" | "result"
            )
        });
        let confirmed =
            chain.adverbs.contains(&"successfully") || self.text(verb + 1) == "successfully";
        let named = label.clone().any(|at| self.tokens[at].is_name());
        let fits = !field
            && !state
            && form.participle
            && self.place != Place::Heading
            && (confirmed || named || (!label.is_empty() && self.text(verb + 1) == "to"));
        fits.then_some(Reading {
            voice: Voice::Passive,
            manner: Manner::Fragment,
            subject: label,
            group: chain.start,
        })
    }

    /// Whether *Updated X* at the start of a clause tells of an action, and is not a noun with a
    /// participle before it (*Updated details:*, *Cancelled flights are refunded*).
    pub(super) fn tells_of_object(&self, verb: usize) -> bool {
        let definite = self.tokens.get(verb + 1).is_some_and(|next| {
            next.kind != Kind::Word
                || words::is_determiner(&next.text)
                || words::is_pronoun(&next.text)
        });
        if definite {
            return true;
        }
        let mut end = verb + 1;
        while self.opens_phrase(end) || self.text(end) == "of" {
            if self.tokens[end].is_name() {
                return true;
            }
            end += 1;
        }
        let labelled = self.tokens.get(end).is_some_and(|token| token.is(":"))
            || self.tokens.last().is_some_and(|token| token.is(":"));
        let clause = clause::after(self.tokens, verb);
        let finite =
            (end..clause.end).any(|at| self.tokens[at].finite && !relative_before(self.tokens, at));
        !labelled && !finite
    }

    /// A noun and its participle with the auxiliary left out: *1 checked bag added*.
    pub(super) fn read_reduced(
        &self,
        verb: usize,
        form: &Form,
        chain: &Chain<'_>,
    ) -> Option<Reading> {
        let ends = !self.opens_phrase(verb + 1)
            && !self.tokens.get(verb + 1).is_some_and(|next| {
                matches!(next.text.as_str(), "and" | "or") && self.opens_phrase(verb + 2)
            });
        if !form.participle || !ends {
            return None;
        }
        let stretch = clause::stretch_start(self.tokens, chain.start);
        let comma = (stretch..chain.start).rev().find(|at| {
            let joins = self.tokens[*at].is("and") && (stretch..*at).any(|at| self.tokens[at].past);
            self.tokens[*at].is(",") || joins
        });
        let start = comma.map_or(stretch, |comma| comma + 1);
        let subject = &self.tokens[start..chain.start];
        let verbless = !self
            .tokens
            .iter()
            .any(|token| token.is_word() && (token.finite || words::is_first_person(&token.text)));
        let checked = self.tokens[..chain.start]
            .iter()
            .any(|token| token.kind == Kind::Check)
            || self.tokens[verb..]
                .iter()
                .any(|token| token.kind == Kind::Check);
        let short = (self.tokens.len() <= 12 && start == 0) || (verbless && comma.is_some());
        let labelled = start > 0 && matches!(self.tokens[start - 1].text.as_str(), ":" | "(");
        // *### Files Updated* heads a list; ***Bag Added*** is a message.
        let plural = subject
            .last()
            .is_some_and(|token| words::singular(&token.text) != token.text);
        let heads_list = self.place == Place::Heading
            && !checked
            && (plural || self.tokens.last().is_some_and(|token| token.is(":")));
        let first = subject.first()?;
        // *Stage: Qualified → Proposal sent* is a value, *0 rows deleted* a denial.
        let valued = self.tokens[..start].iter().any(|token| token.is("stage"));
        if valued || self.denied(start..chain.start) {
            return None;
        }
        let nominal = subject.iter().enumerate().all(|(at, token)| {
            let word = token.text.as_str();
            // *the saved card*
            let attributive =
                is_attributive(word) || at > 0 && words::is_definite(&subject[at - 1].text);
            token.kind != Kind::Word
                || !(words::is_finite_auxiliary(word)
                    || words::is_be(word)
                    || words::is_first_person(word)
                    || words::listed("you he she they who it which that not no never none nothing if when as once", word))
                    && !looks_past(word) | attributive
        });
        let person = subject.last().is_some_and(|token| {
            words::listed(
                "customer client airline team manager author reviewer maintainer company seller \
                vendor bank user",
                &token.text,
            )
        });
        let definite = words::is_definite(&first.text) && !checked;
        let later_finite = clause::after(self.tokens, verb).any(|at| self.tokens[at].finite);
        // *The flight was dropped and the card removed*: the auxiliary is not said again.
        let elided = comma.is_some_and(|comma| {
            self.tokens[comma].is("and")
                && (stretch..comma).any(|at| {
                    let chain = clause::chain(self.tokens, at);
                    self.tokens[at].past
                        && chain.last().is_some_and(words::is_be)
                        && self.read_passive(at, &chain, false).is_some()
                })
        });
        let told = self.place != Place::Prose || short || labelled || checked || elided;
        let fits = told
            && nominal
            && !heads_list
            && !person
            && (!definite || elided)
            && !later_finite
            && !clause::dated(self.tokens, verb);
        fits.then_some(Reading {
            voice: Voice::Passive,
            manner: Manner::Fragment,
            subject: start..chain.start,
            group: chain.start,
        })
    }
}

fn relative_before(tokens: &[Token], at: usize) -> bool {
    (at.saturating_sub(2)..at).any(|at| {
        matches!(
            tokens[at].text.as_str(),
            "which" | "that" | "who" | "you" | "it" | "there"
        )
    })
}

/// Participles that are used as adjectives of any noun.
fn is_attributive(word: &str) -> bool {
    words::listed(
        "checked updated requested required new detailed related affected selected named \
                shared failed red used set unused deprecated duplicated added expired attached \
                scheduled unread outdated nested linked read",
        word,
    )
}
