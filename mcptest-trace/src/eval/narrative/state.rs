//! Passives that tell of a state which the run read, not of something it did.

use super::evidence::{Ending, Evidence, holds};
use super::extract::Found;
use super::family;
use super::matching::Matcher;
use super::reading::{Manner, Voice};

impl Matcher<'_> {
    /// Whether a read-only call returned the state that a passive claim tells of: one that lasts,
    /// like *closed* or *cancelled*. That something was once updated or created shows nothing.
    pub(super) fn was_read(&self, claim: &Found) -> bool {
        let lasting = !family::done_by_changing(&claim.verb) || family::takes_away(&claim.verb);
        if claim.voice == Voice::Active || !lasting {
            return false;
        }
        let readings = || {
            self.calls
                .iter()
                .filter(|call| call.reading && call.ending == Ending::Succeeded)
        };
        if claim.names.is_empty() {
            let stated = |call: &Evidence| {
                call.results
                    .iter()
                    .any(|scalar| self.states(scalar, &claim.verb))
            };
            return claim.manner == Manner::State && readings().any(stated);
        }
        claim
            .names
            .iter()
            .all(|name| readings().any(|call| self.states_of(call, &name.text, &claim.verb)))
    }

    /// Whether a field holds the state: `status: cancelled`, `merged: true`, `closed_at: 2024-05-01`.
    fn states(&self, (key, value): &(String, String), verb: &str) -> bool {
        let holds_verb = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| self.is_participle(word, verb))
        };
        let flagged = !matches!(value.as_str(), "" | "false" | "null" | "0")
            && holds_verb(&key.to_lowercase());
        flagged || (value.split_whitespace().count() <= 3 && holds_verb(value))
    }

    /// Whether a result holds the state of the record with this name: the call asked for it, or the
    /// two stand in fields near each other or in one line of text.
    fn states_of(&self, call: &Evidence, name: &str, verb: &str) -> bool {
        let asked = call.takes(name);
        let near = |at: usize| {
            let window = &call.results[at.saturating_sub(12)..(at + 13).min(call.results.len())];
            asked || window.iter().any(|(_, text)| holds(text, name))
        };
        let line = |line: &str| {
            holds(line, name)
                && line
                    .split(|c: char| !c.is_alphanumeric())
                    .any(|word| self.is_participle(word, verb))
        };
        call.results.iter().enumerate().any(|(at, scalar)| {
            (self.states(scalar, verb) && near(at)) || scalar.1.lines().any(line)
        })
    }

    fn is_participle(&self, word: &str, verb: &str) -> bool {
        self.lexicon
            .form(word)
            .is_some_and(|form| form.participle && form.lemma == verb)
    }
}
