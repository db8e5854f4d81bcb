//! Whether a call that does the verb of a claim also fits its object.

use super::evidence::Evidence;
use super::extract::{Found, Name, is_file_name};
use super::family;
use super::matching::{Matcher, Nearness};
use super::nouns;
use super::words;

impl Matcher<'_> {
    pub(super) fn object_fits(&self, claim: &Found, index: usize, nearness: Nearness) -> bool {
        let call = &self.calls[index];
        let nouns: Vec<&str> = claim
            .nouns
            .iter()
            .map(String::as_str)
            .filter(|noun| !nouns::is_generic(noun))
            .collect();
        let in_name = |noun: &str| call.topics.iter().any(|word| nouns::same(noun, word));
        let in_arguments = |noun: &str| call.arguments.iter().any(|word| nouns::same(noun, word));
        let cleared = |noun: &str| {
            family::takes_away(&claim.verb)
                && call.cleared.iter().any(|word| nouns::same(noun, word))
        };
        let carried = claim.names.iter().any(|name| call.carries(&name.text));
        if call.executor || call.editor {
            return self.text_fits(claim, call, &nouns, nearness);
        }
        if nouns
            .iter()
            .any(|noun| in_name(noun) || in_arguments(noun) || cleared(noun))
            || (carried && nearness != Nearness::Changing)
        {
            return true;
        }
        // *wrote the report to /tmp/r.md*: the path says more than the noun.
        let placed = nearness != Nearness::Changing
            && claim.names_around.iter().any(|name| {
                (name.text.contains('/') || is_file_name(&name.text)) && call.takes(&name.text)
            });
        if placed {
            return true;
        }
        if nearness == Nearness::Direct
            && nouns::is_money(&claim.verb)
            && call.reports_money(&claim.verb)
        {
            return true;
        }
        // *Access was revoked* by taking the user out of what gave it.
        let expelled = claim.verb == "revoke"
            && nouns.iter().any(|noun| nouns::same(noun, "access"))
            && call.topics.iter().any(|topic| {
                words::listed("user member collaborator group team role share", topic)
            });
        if expelled {
            return true;
        }
        // A tool for items does it to things of any name: *the keyboard has been exchanged*.
        let items = nearness == Nearness::Direct
            && call.topics.iter().any(|topic| nouns::is_any_thing(topic))
            && claim
                .nouns
                .last()
                .is_some_and(|noun| !nouns::is_grouped(noun));
        if items {
            return true;
        }
        let vague = nouns.is_empty() || claim.proper;
        let explained = || {
            !call.topics.is_empty()
                && call
                    .topics
                    .iter()
                    .all(|topic| claim.around.iter().any(|noun| nouns::same(noun, topic)))
        };
        match nearness {
            Nearness::Changing if nouns.iter().any(|noun| nouns::is_money(noun)) => call
                .result_words
                .iter()
                .chain(&call.arguments)
                .any(|word| nouns::is_money(word)),
            Nearness::Changing => {
                claim.nominal && nouns.is_empty() && claim.names.is_empty()
                    || vague
                        && !claim.names.is_empty()
                        && claim.names.iter().any(|name| call.takes(&name.text))
            }
            _ => {
                vague || call.topics.is_empty() || explained() || self.echoed(claim, &nouns, index)
            }
        }
    }

    /// Whether the call's own result shows the object, and no other call has it in its name.
    pub(super) fn echoed(&self, claim: &Found, nouns: &[&str], index: usize) -> bool {
        let shown = |noun: &&str| {
            self.calls[index]
                .result_words
                .iter()
                .any(|word| nouns::same(noun, word))
        };
        let nearer = |noun: &&str| {
            let others = self.calls.iter().filter(|call| {
                !call.reading && call.topics.iter().any(|topic| nouns::same(noun, topic))
            });
            others.into_iter().any(|call| {
                call.name
                    .iter()
                    .any(|word| self.lexicon.lemma(word) == Some(claim.verb.as_str()))
            })
        };
        nouns.iter().any(|noun| shown(noun) && !nearer(noun))
    }

    /// Whether a call that runs commands or edits text did what the claim says.
    pub(super) fn text_fits(
        &self,
        claim: &Found,
        call: &Evidence,
        nouns: &[&str],
        nearness: Nearness,
    ) -> bool {
        let carried = claim
            .names
            .iter()
            .chain(&claim.names_around)
            .any(|name| call.takes(&name.text));
        let spoken = || {
            nouns
                .iter()
                .copied()
                .chain(claim.around.iter().map(String::as_str))
                .filter(|noun| !nouns::is_generic(noun))
                .any(|noun| call.speaks_of(noun))
        };
        // A name that occurs nowhere in the run is for the comparison of arguments to judge.
        let unnamed = claim.names.is_empty()
            || (nearness != Nearness::Changing
                && !claim.names.iter().any(|name| self.knows(&name.text)));
        let takes_away = family::takes_away(&claim.verb);
        // A plain name that nothing in the run holds was not there to be taken away.
        let plain = |name: &str| {
            name.contains('_') && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        if takes_away
            && claim.names.iter().any(|name| plain(&name.text))
            && !claim.names.iter().any(|name| self.knows(&name.text))
        {
            return false;
        }
        let spoken = || spoken() || nouns.iter().any(|noun| call.holds_kind(noun));
        let vague = nouns.is_empty() && unnamed;
        // *removed the global lock*, *added error handling*: code says such things in its own words.
        let inside = unnamed
            && family::done_by_changing(&claim.verb)
            && !nouns.iter().any(|noun| nouns::is_grouped(noun))
            && !(takes_away && call.only_adds());
        // A statement names the table, not what its rows are.
        let row = |noun: &&str| words::listed("record row entry data value", noun);
        if call.executor {
            return call.changes
                && (carried
                    || spoken()
                    || (nearness == Nearness::Direct && (vague || nouns.iter().any(row)))
                    || (inside && call.writes));
        }
        // *updated `package.json`*, where no file of that kind was touched.
        let other_file = |name: &Name| {
            let ending = name.text.rsplit_once('.').map_or("", |(_, ending)| ending);
            is_file_name(&name.text)
                && !self.knows(&name.text)
                && !self.calls.iter().any(|call| call.speaks_of_kind(ending))
        };
        if claim.nouns.is_empty() && claim.names.iter().any(other_file) {
            return false;
        }
        // Editing text takes away lines, not files.
        let whole = nouns.last().is_some_and(|noun| {
            words::listed(
                "file directory folder branch repository issue commit pr",
                noun,
            )
        });
        let textual = family::done_by_changing(&claim.verb) || nearness != Nearness::Changing;
        textual
            && !(whole && takes_away && nearness == Nearness::Changing)
            && (carried
                || spoken()
                || vague
                || inside
                || nearness == Nearness::Direct && nouns.is_empty())
    }
}
