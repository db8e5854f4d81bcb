//! Verbs that share the subject of an earlier one: *I reviewed the ticket and closed it*, *has been
//! cancelled and refunded*.

use super::clause::{self};
use super::reading::{Manner, Reading, View};
use super::words;

impl View<'_> {
    /// A verb joined to an earlier one shares its subject: *I created the issue and notified the team*.
    pub(super) fn inherited(&self, verb: usize, group: usize) -> Option<Reading> {
        let stretch = clause::stretch_start(self.tokens, group);
        let before = group.checked_sub(1)?;
        let but =
            self.text(before) == "but" || (before > stretch && self.text(before - 1) == "but");
        let takes_object = self.opens_phrase(verb + 1);
        let conjunction = !self.tokens[before].is(",");
        if before > stretch && is_adjective(self.text(before - 1)) && takes_object {
            return None;
        }
        for at in (stretch..before).rev() {
            let word = self.text(at);
            if words::is_first_person(word) {
                let follows = self.verb_after(at + 1);
                let chain = follows.map(|at| clause::chain(self.tokens, at));
                let open = chain.is_none_or(|chain| !chain.unasserted())
                    && !words::is_modal(self.text(at + 1))
                    && (but || !words::is_negation(self.text(at + 2)));
                let reports = follows.is_some_and(|v| {
                    words::is_reporting(self.text(v)) && self.other_clause_between(v, before)
                });
                // *created, uploaded and published the package*
                let shared = matches!(self.text(verb + 1), "and" | ",")
                    && self.tokens.get(verb + 2).is_some_and(|next| next.past);
                let fits = takes_object || conjunction || shared;
                return (open && fits && !reports && self.asserted_by_agent(at))
                    .then(|| self.active(verb, group, Manner::Finite));
            }
            // *as you asked, and dropped it*
            let aside = at > stretch
                && self.text(at - 1) == "as"
                && self.tokens[at..=before].iter().any(|token| token.is(","));
            if !aside
                && matches!(word, "you" | "they" | "he" | "she" | "who")
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|next| next.past || words::is_have(&next.text))
            {
                return None;
            }
            if self.tokens[at].past {
                let chain = clause::chain(self.tokens, at);
                let passive = chain.last().is_some_and(words::is_be);
                // *A fix was proposed but closed*: what others brought up has a history of its own.
                if passive
                    && words::listed(
                        "proposed suggested reported requested raised introduced opened submitted filed discussed",
                        word,
                    )
                {
                    return None;
                }
                if passive && !takes_object {
                    let reading = self.read_passive(at, &chain, false)?;
                    let other = clause::done_by_other(self.tokens, verb)
                        || (chain.last() != Some("been") && clause::dated(self.tokens, verb));
                    return (!other).then_some(Reading {
                        group: verb,
                        ..reading
                    });
                }
                if chain.auxiliaries.is_empty()
                    && takes_object
                    && self.fragments_count
                    && let Some(label) = self.at_start(chain.start)
                {
                    return self.opens_phrase(at + 1).then(|| Reading {
                        subject: label,
                        ..self.active(verb, group, Manner::Fragment)
                    });
                }
            }
        }
        None
    }

    /// The first word at or after `at` that is not an auxiliary or adverb.
    pub(super) fn verb_after(&self, at: usize) -> Option<usize> {
        (at..self.tokens.len()).find(|at| {
            let word = self.text(*at);
            !(words::is_finite_auxiliary(word)
                || words::is_be(word)
                || words::is_adverb(word)
                || words::is_negation(word)
                || word == "to")
        })
    }

    /// Whether another clause with a verb of its own stands between a reporting verb and `end`.
    pub(super) fn other_clause_between(&self, reporting: usize, end: usize) -> bool {
        (reporting + 2..end).any(|at| {
            self.tokens[at].finite
                || (self.tokens[at].past && !words::is_determiner(self.text(at - 1)))
        })
    }
}

fn is_adjective(word: &str) -> bool {
    words::listed(
        "new old existing recent recently newly current open both either various many",
        word,
    )
}
