//! What the name of a tool says.

use std::collections::BTreeSet;

use crate::trace::{apart, reads_by_words, words_of_tool};

use super::lexicon::{Lexicon, stem};
use super::marks::{Mark, Marks, of};

/// How much the name of a tool tells of what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    Nothing,
    /// That something is changed.
    Change,
    Verb,
}

/// What the name of a tool says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) words: Vec<String>,
    pub(super) stems: Vec<String>,
    pub(super) verbs: BTreeSet<&'static str>,
    /// The families of these verbs.
    pub(super) families: BTreeSet<usize>,
    /// It only reads.
    pub(super) reads: bool,
    pub(super) tells: Tells,
    /// It hands the work to another agent.
    pub(super) delegates: bool,
    /// It hands the user over to somebody.
    pub(super) hands_over: bool,
    /// Its first word is a verb that the lexicon does not have.
    pub(super) new_verb: Option<String>,
}

impl Said {
    pub(super) fn of(name: &str) -> Self {
        let lexicon = Lexicon::get();
        let words = words_of_tool(name);
        let (group, own) = apart(name);
        // *notes.delete*; the name of a server says nothing.
        let group = group
            .filter(|_| !name.starts_with("mcp__"))
            .map(words_of_tool);
        let group = group.unwrap_or_default();
        let is = |word: &String, mark| lexicon.is(word, mark);
        let head = head(&words);
        // *turn_off_roaming*
        let phrasal = |head: &String| {
            let verb = base(head)?;
            let mut rest = words.iter().skip_while(|word| *word != head).skip(1);
            rest.find_map(|next| lexicon.phrasal(verb, next))
        };
        let verb = head.and_then(|head| phrasal(head).or_else(|| base(head)));
        let mut verbs: BTreeSet<&'static str> = verb.into_iter().collect();
        if head.is_none_or(|head| is(head, Mark::MakingHead)) {
            // *apply_coupon_to_order* orders nothing.
            let whole = words.iter().take_while(|word| !is(word, Mark::Preposition));
            let nouns = whole.filter(|word| Some(*word) != head);
            verbs.extend(nouns.filter_map(|word| lexicon.word(word)?.noun_of));
        }
        // *open_close_window*, *start_or_stop_pump*
        if let Some(at) = words.iter().position(|word| Some(word) == head) {
            let or = words.get(at + 1).is_some_and(|word| word == "or");
            let second = words.get(at + 1 + usize::from(or));
            let both = |list| {
                let listed = |word| lexicon.lists(list, word);
                listed(&words[at]) && second.is_some_and(|it| *it != words[at] && listed(it))
            };
            // Which of the two it did, its name does not say.
            if or || both("moves") || both("locks") {
                verbs.clear();
            }
        }
        let delegate = |word: &String| is(word, Mark::Delegates);
        let handing = |word: &String| is(word, Mark::DelegatingHead) || delegate(word);
        let hands = |word: &String| base(word).is_none() || handing(word);
        let delegates = words.iter().any(delegate)
            && (words.iter()).all(|word| hands(word) && !is(word, Mark::People));
        // *preview.transfer_funds*
        let asks = group.iter().any(|word| is(word, Mark::Fetches));
        let reads = asks || lexicon.is_own(&words_of_tool(own)) || only_reads(&words);
        // Only verbs that speech does not use for other things; `address_update` is named after its
        // object first.
        let last = words.last();
        let object_last = last.is_some_and(|last| lexicon.families(last).is_empty());
        let unknown = |word: &String| lexicon.word(word).is_none() && word.is_ascii();
        let new = |word: &&String| !reads && object_last && unknown(word) && word.len() > 2;
        let families = verbs.iter().map(|verb| lexicon.families(verb));
        let mut heads = words.first().into_iter().chain(head);
        let anything = |word: &String| is(word, Mark::RunsAnything);
        let of_none = |word: &String| !plain(word) || is(word, Mark::GenericName);
        let last_two = words[words.len().saturating_sub(2)..].join("_");
        // *POST ServiceRequest*
        let method = own.split(' ').next().unwrap_or(own);
        let runs_anything = lexicon.lists("dispatchers", method)
            || lexicon.lists("dispatchers", &words_of_tool(own).join("_"))
            || lexicon.lists("dispatchers", &last_two)
            || words.last().is_some_and(anything)
            || words.iter().any(anything) && words.iter().all(of_none);
        let general = |word: &String| lexicon.marks(word).contains(of![GenericName Generic]);
        let general = heads.any(|word| is(word, Mark::GenericName)) || words.iter().any(general);
        let tells = match general {
            _ if runs_anything || verbs.is_empty() => Tells::Nothing,
            true if words.len() == 1 => Tells::Nothing,
            true => Tells::Change,
            false => Tells::Verb,
        };
        let stems = group.iter().chain(&words);
        Self {
            stems: stems.map(|word| stem(word).into_owned()).collect(),
            families: families.flatten().copied().collect(),
            reads,
            tells,
            verbs,
            delegates,
            hands_over: words.iter().any(|word| is(word, Mark::People))
                && words.iter().any(|word| is(word, Mark::HandsOver)),
            new_verb: words.first().filter(new).cloned(),
            words,
        }
    }

    /// Whether it does to a thing of this name what another verb tells: `send_certificate`, but not
    /// `post_page_comment` to a page.
    pub(super) fn stands_in(&self, told: &str, noun: &str) -> bool {
        let lexicon = Lexicon::get();
        // An email that is sent is not stored.
        let sent = lexicon
            .word(noun)
            .is_some_and(|noun| noun.noun_of == Some("send"));
        let plain = !self
            .words
            .iter()
            .any(|word| lexicon.is(word, Mark::Preposition));
        let mut stems = self.stems.last().into_iter();
        plain
            && !sent
            && stems.any(|stem| lexicon.same_thing(stem, noun))
            && self.verbs.iter().any(|verb| lexicon.stands_in(verb, told))
    }

    /// Whether it returns pages of text, of nobody's records: `search_web`.
    pub(super) fn gives_pages(&self) -> bool {
        let lexicon = Lexicon::get();
        self.words.iter().any(|word| lexicon.lists("pages", word))
    }

    /// Whether its name has a noun, or another for the same thing.
    pub(super) fn shares(&self, noun: &str) -> bool {
        let mut stems = self.stems.iter();
        stems.any(|stem| Lexicon::get().same_thing(stem, noun))
    }
}

/// The verb that a word is the base form of.
fn base(word: &str) -> Option<&'static str> {
    let known = Lexicon::get().word(word)?;
    known.verb.filter(|_| known.marks.has(Mark::Base))
}

/// Whether a word is a verb, and no noun too, such as `order`.
fn plain(word: &str) -> bool {
    base(word).is_some() && !Lexicon::get().is(word, Mark::Thing)
}

/// The word that says what a tool does; one that is a noun too only where no other word is a verb.
fn head(words: &[String]) -> Option<&String> {
    let lexicon = Lexicon::get();
    let noun = |word: &String| {
        lexicon
            .word(word)
            .is_some_and(|word| word.noun_of.is_some())
    };
    let (last, before) = words.split_last()?;
    // *lock_lock*, *lock_unlock*, *issue_write*: first what it is done to; but not *email_delete_email*.
    let object = last.strip_prefix("un").unwrap_or(last);
    let own = |word: &String| !plain(word) || lexicon.names_a_thing(word);
    let general = lexicon.is(last, Mark::GenericName) && !noun(last) && before.iter().all(own);
    let of_itself = object == words[0]
        && base(last).is_some()
        && !before.iter().skip(1).any(|word| plain(word));
    if !before.is_empty() && (of_itself || general) {
        return Some(last);
    }
    // *request_purchase_refund*, but not *request_cancel*
    let acts = |next: &String| base(next).is_some() && !noun(next);
    let makes = base(&words[0]).is_some() && lexicon.is(&words[0], Mark::MakingHead);
    let first = words
        .first()
        .filter(|_| makes && !words.get(1).is_some_and(acts));
    let plain = || words.iter().find(|word| plain(word));
    let any = || words.iter().find(|word| base(word).is_some());
    first.or_else(plain).or_else(any)
}

/// Whether a tool of these words only reads: `stripe_get_refund`, `kubectl_logs`, but not
/// `trello_list_archive`.
fn only_reads(words: &[String]) -> bool {
    let lexicon = Lexicon::get();
    let is = |word: &String, mark| lexicon.is(word, mark);
    let changes = |words: &[String]| {
        let mut verbs = words.iter().filter(|word| plain(word));
        verbs.any(|word| !lexicon.names_a_thing(word))
    };
    let reads_from = |at: usize| {
        let (whose, name) = words.split_at(at);
        let known = reads_by_words(name) && (at == 0 || !changes(&name[1..]));
        // *analyze_and_fix*
        let fetches = is(&name[0], Mark::Fetches) && name.get(1).is_none_or(|next| next != "and");
        (known || fetches) && !changes(whose)
    };
    // *truncate_logs* begins with a verb that nobody knows.
    let first_known = words.first().is_some_and(|first| {
        lexicon.word(first).is_some() || lexicon.names_a_thing(first) || words.len() == 1
    });
    let tells = |last: &String| is(last, Mark::Information) && first_known && !changes(words);
    lexicon.is_own(words) || (0..words.len()).any(reads_from) || words.last().is_some_and(tells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_tool_does() {
        let verbs = |name: &str| Said::of(name).verbs;
        assert!(verbs("create_reservation").contains("book"));
        assert!(!verbs("cancel_reservation").contains("book"));
        assert!(verbs("cancel_pending_order").contains("cancel"));
        assert!(!verbs("cancel_pending_order").contains("order"));
        assert!(verbs("open_close_window").is_empty());
        assert!(verbs("create_or_update_file").is_empty());
        assert!(!verbs("delete_open_orders").contains("open"));
        assert!(verbs("orderCancel").contains("cancel"));
        assert!(verbs("update_dns_record").contains("update"));
        let delegates = |name: &str| Said::of(name).delegates;
        assert!(delegates("run_agent") && delegates("Task") && delegates("handoff_to_billing"));
        assert!(!delegates("create_task") && !delegates("transfer_to_human_agents"));
        assert_eq!(Said::of("POST ServiceRequest").tells, Tells::Nothing);
    }
}
