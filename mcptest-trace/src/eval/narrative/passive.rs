//! Passives: *has been cancelled*, *was cancelled*, *is now cancelled*, and whose subject they have.

use std::ops::Range;

use super::clause::{self, Chain};
use super::reading::{Manner, Reading, View, Voice};
use super::token::Token;
use super::words;

impl View<'_> {
    /// *has been cancelled*, *was cancelled*, *is now cancelled*.
    pub(super) fn read_passive(
        &self,
        verb: usize,
        chain: &Chain<'_>,
        same_as_base: bool,
    ) -> Option<Reading> {
        let last = chain.last()?;
        let perfect = last == "been" && chain.has(|word| words::is_have(word) || word == "'s");
        let past = matches!(last, "was" | "were" | "got");
        let present = matches!(last, "is" | "are" | "'re" | "'s");
        let subject_end = chain.start;
        let before = subject_end.checked_sub(1);
        let before_word = before.map_or("", |at| self.text(at));
        if last == "'s" {
            // After a noun, `'s` before a participle is a possessive.
            if !words::is_pronoun(before_word) || matches!(before_word, "here" | "there" | "what") {
                return None;
            }
        }
        let uncompleted =
            !(perfect || past || present) || chain.has(|word| matches!(word, "had" | "having"));
        let unfit = chain
            .adverbs
            .iter()
            .any(|word| words::is_earlier_or_habitual(word));
        // *has been cancelled already*
        let earlier = matches!(self.text(verb + 1), "already" | "previously");
        let inverted = before.is_none() && !words::is_adverb(self.text(0)) && present;
        if uncompleted
            || earlier
            || chain.unasserted()
            || (unfit && !chain.adverbs.contains(&"not"))
            || inverted
        {
            return None;
        }
        let governed = clause::subordination(self.tokens, subject_end);
        let relative = matches!(before_word, "which" | "who" | "that" | "whose")
            && before.is_some_and(|at| at > 0 && !self.tokens[at - 1].is(","));
        if governed.hypothetical
            || governed.temporal
            || governed.reported
            || relative
            || (governed.causal && !perfect)
        {
            return None;
        }
        if before.is_some_and(|at| {
            words::is_hypothetical(self.text(at))
                || words::is_temporal(self.text(at))
                || self.text(at) == "as"
        }) {
            return None;
        }
        if self.recounted
            || clause::done_by_other(self.tokens, verb)
            || (!perfect && clause::dated(self.tokens, verb))
        {
            return None;
        }
        let subject = self.subject(subject_end);
        // *users whose access was revoked*
        if subject.clone().any(|at| self.text(at) == "whose") {
            return None;
        }
        if self.denied(subject.clone()) || (matches!(before_word, "which" | "who") && !perfect) {
            return None;
        }
        if !perfect && self.counts_found(subject.clone()) {
            return None;
        }
        let announced = chain
            .adverbs
            .iter()
            .any(|word| matches!(*word, "now" | "successfully" | "officially" | "fully"));
        if chain.adverbs.contains(&"all") && same_as_base {
            return None;
        }
        // *You are now booked on …* tells where the user stands, whatever was done for it.
        let manner = if present && (!announced || before_word == "you") {
            Manner::State
        } else {
            Manner::Finite
        };
        if manner == Manner::State
            && (same_as_base || clause::habitual(self.tokens, chain, verb) || governed.causal)
        {
            return None;
        }
        Some(Reading {
            voice: Voice::Passive,
            manner,
            subject,
            group: chain.start,
        })
    }

    /// Whether the subject says that it did not happen: *no changes*, *none of the files*.
    pub(super) fn denied(&self, subject: Range<usize>) -> bool {
        let opening = self.tokens[subject].iter().take(2);
        opening.into_iter().any(|token| {
            words::listed(
                "0 no none nothing neither nobody not zero what whatever who",
                &token.text,
            )
        })
    }

    /// *I found three issues: one was closed*: a mere count of what was looked up.
    fn counts_found(&self, subject: Range<usize>) -> bool {
        let count = |token: &Token| {
            words::listed(
                "one two three four five some another others several most both",
                &token.text,
            )
        };
        let looked_up = |token: &Token| {
            words::listed(
                "found there see saw listed returned retrieved shows",
                &token.text,
            )
        };
        !subject.is_empty()
            && self.tokens[subject.clone()].iter().all(count)
            && self.tokens[..subject.start].iter().any(looked_up)
    }

    /// The tokens of the subject that ends before `end`.
    pub(super) fn subject(&self, end: usize) -> Range<usize> {
        let stretch = clause::stretch_start(self.tokens, end);
        let mut start = stretch;
        let mut verbal = false;
        for at in stretch..end {
            if at > stretch {
                let before = &self.tokens[at - 1];
                verbal |= before.finite
                    || words::is_first_person(&before.text)
                    || before.past && at - 1 > stretch;
            }
            let token = &self.tokens[at];
            let opener = token.is_word()
                && (matches!(token.text.as_str(), "that" | "so")
                    || words::is_conjunction(&token.text));
            let lead = || at > stretch && self.leads_in(stretch..at);
            let names_follow = self.tokens.get(at + 1).is_none_or(Token::is_name);
            if at + 1 < end
                && ((opener && verbal && !names_follow)
                    || (token.is(",") && (verbal || lead()) && !names_follow)
                    || (token.is("that") && at > start))
            {
                start = at + 1;
            }
        }
        // *which has been cancelled*: the subject is what stands before the comma.
        if start + 1 == end
            && matches!(self.text(start), "which" | "who" | "that")
            && start > stretch
        {
            start = stretch;
        }
        start..end
    }

    /// Whether the tokens before a comma only lead in: *As requested,*, *Additionally,*, *In total,*.
    pub(super) fn leads_in(&self, range: Range<usize>) -> bool {
        let first = self.text(range.start);
        let function = words::is_preposition(first)
            || words::is_adverb(first)
            || words::is_conjunction(first)
            || words::is_temporal(first)
            || words::is_causal(first);
        function || first.ends_with("ing") || first.ends_with("ed") || range.len() == 1
    }
}
