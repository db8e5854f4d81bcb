//! Passives that tell of a state which the run read, not of something it did.

use super::evidence::{Ending, holds};
use super::extract::Found;
use super::matching::Matcher;
use super::reading::{Manner, Voice};

impl Matcher<'_> {
    /// Whether a read-only call returned the state that a passive claim tells of.
    pub(super) fn was_read(&self, claim: &Found) -> bool {
        if claim.voice == Voice::Active {
            return false;
        }
        let told = |(key, value): &(String, String)| {
            let state = value.split_whitespace().count() <= 3
                && value
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| self.is_participle(word, &claim.verb));
            let flag = value != "false"
                && value != "null"
                && key
                    .to_lowercase()
                    .split('_')
                    .any(|word| self.is_participle(word, &claim.verb));
            state || (flag && !value.is_empty())
        };
        let readings = || {
            self.calls
                .iter()
                .filter(|call| call.reading && call.ending == Ending::Succeeded)
        };
        if claim.names.is_empty() {
            return claim.manner == Manner::State
                && readings().any(|call| call.results.iter().any(told));
        }
        claim.names.iter().all(|name| {
            readings().any(|call| {
                let near = |at: usize| {
                    let window =
                        &call.results[at.saturating_sub(12)..(at + 13).min(call.results.len())];
                    call.takes(&name.text) || window.iter().any(|(_, text)| holds(text, &name.text))
                };
                call.results
                    .iter()
                    .enumerate()
                    .any(|(at, scalar)| told(scalar) && near(at))
            })
        })
    }

    pub(super) fn is_participle(&self, word: &str, verb: &str) -> bool {
        self.lexicon
            .form(word)
            .is_some_and(|form| form.participle && form.lemma == verb)
    }

    /// Whether a present passive is about something the run dealt with, so that it tells of an
    /// action and not of the world.
    pub(super) fn is_about_the_run(&self, claim: &Found) -> bool {
        let named = claim.names.iter().any(|name| self.knows(&name.text));
        let topic = |noun: &String| {
            self.calls
                .iter()
                .any(|call| call.name.contains(noun) || call.arguments.contains(noun))
        };
        named || claim.yours || claim.nouns.iter().any(topic)
    }
}
