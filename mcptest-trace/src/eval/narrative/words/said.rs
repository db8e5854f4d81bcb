//! What the name of a tool says.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::trace::{reads_by_words, split_server, tool_name_words};

use super::lexicon::{Lexicon, stem};
use super::marks::{Mark, Marks, of};
use super::pattern;
use super::token::Token;

/// What the name of a tool says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) words: Vec<String>,
    pub(crate) stems: Vec<String>,
    pub(crate) verbs: BTreeSet<&'static str>,
    /// The families of these verbs.
    pub(crate) families: BTreeSet<usize>,
    /// What the rows of `[name]` say: that it only reads, delegates, hands the user over, says nothing of
    /// what it does or only that it changes something.
    marks: Marks,
    /// Its first word is a verb that the lexicon does not have.
    pub(crate) new_verb: Option<String>,
    /// Whether it says what it is done to: `cancel_order`, but not `git_commit`, `fs.delete`, `restart_service`.
    pub(crate) has_object: bool,
}

/// So many names are kept with what they say.
const KEPT: usize = 4096;

impl Said {
    /// What a name says, read once: agents share their tools.
    pub(crate) fn shared(name: &str) -> Arc<Self> {
        static NAMES: LazyLock<RwLock<HashMap<String, Arc<Said>>>> = LazyLock::new(RwLock::default);
        let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(name) {
            return Arc::clone(known);
        }
        drop(names);
        let said = Arc::new(Self::from_name(name));
        let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
        if names.len() < KEPT {
            names.insert(name.to_owned(), Arc::clone(&said));
        }
        said
    }

    pub(crate) fn from_name(name: &str) -> Self {
        let lexicon = Lexicon::get();
        let words = tool_name_words(name);
        let (group, own) = split_server(name);
        // *notes.delete*; the name of a server says nothing.
        let group = group.filter(|_| !name.starts_with("mcp__"));
        let group = group.map(tool_name_words).unwrap_or_default();
        let head = head(&words);
        let mut marks = marks(&words, own);
        // *list_delete*: its first word reads, and a later one changes something.
        let first_reads = reads_by_words(&words[..words.len().min(1)]);
        if first_reads && !reads_by_words(&words) {
            marks.remove(Mark::Reads);
        }
        // *turn_off_roaming*
        let phrasal = |head: &String| {
            let verb = base(head)?;
            let mut rest = words.iter().skip_while(|word| *word != head).skip(1);
            rest.find_map(|next| lexicon.phrasal(verb, next))
        };
        let verb = head.and_then(|head| phrasal(head).or_else(|| base(head)));
        let mut verbs: BTreeSet<&'static str> = verb.into_iter().collect();
        if head.is_none_or(|head| lexicon.is(head, Mark::MakingHead)) {
            // *apply_coupon_to_order* orders nothing.
            let whole = words
                .iter()
                .take_while(|word| !lexicon.is(word, Mark::Preposition));
            let whole: Vec<&String> = whole.collect();
            let nouns = whole.iter().filter(|word| Some(**word) != head);
            verbs.extend(nouns.filter_map(|word| lexicon.word(word)?.noun_of));
            // *add_star*
            let object = whole
                .last()
                .filter(|last| lexicon.lists("acts-itself", last));
            verbs.extend(object.and_then(|object| base(object)));
        }
        // *remove_star*
        let undone = words.last().map(|last| format!("un{last}"));
        let removes = head.is_some_and(|head| lexicon.akin(head, "remove"));
        verbs.extend(undone.filter(|_| removes).and_then(|undone| base(&undone)));
        // Which of the two it did, its name does not say.
        if marks.has(Mark::EitherVerb) {
            verbs.clear();
        }
        // *preview.transfer_funds*
        marks.add_if(
            group.iter().any(|word| lexicon.is(word, Mark::Fetches)),
            Mark::Reads,
        );
        let general = head.is_some_and(|head| lexicon.is(head, Mark::GenericName));
        marks.add_if(general, Mark::VagueName);
        let one = marks.has(Mark::VagueName) && words.len() == 1;
        marks.add_if(verbs.is_empty() || one, Mark::SilentName);
        // Only verbs that speech does not use for other things; `address_update` is named after its
        // object first.
        let object_last = words
            .last()
            .is_some_and(|last| lexicon.families(last).is_empty());
        let unknown = |word: &String| lexicon.word(word).is_none() && word.is_ascii();
        let reads = marks.has(Mark::Reads);
        let new = |word: &&String| !reads && object_last && unknown(word) && word.len() > 2;
        let families = verbs.iter().map(|verb| lexicon.families(verb));
        let stems = group.iter().chain(&words);
        let has_object = says_object(&group, &words, head, &verbs);
        Self {
            has_object,
            stems: stems.map(|word| stem(word).into_owned()).collect(),
            families: families.flatten().copied().collect(),
            marks,
            verbs,
            new_verb: words.first().filter(new).cloned(),
            words,
        }
    }

    /// It only reads.
    pub(crate) fn reads(&self) -> bool {
        self.marks.has(Mark::Reads)
    }

    /// It hands the work to another agent.
    pub(crate) fn delegates(&self) -> bool {
        self.marks.has(Mark::DelegatesWork)
    }

    /// It hands the user over to somebody.
    pub(crate) fn hands_over(&self) -> bool {
        self.marks.has(Mark::HandsUser)
    }

    /// Its name tells nothing of what it does.
    pub(crate) fn is_silent(&self) -> bool {
        self.marks.has(Mark::SilentName)
    }

    /// Its name tells nothing, or only that something is changed.
    pub(crate) fn is_vague(&self) -> bool {
        self.marks.meets(of![VagueName SilentName])
    }

    /// It returns pages of text, of nobody's records: `search_web`.
    pub(crate) fn gives_pages(&self) -> bool {
        self.marks.has(Mark::Pages)
    }

    /// Whether it does to a thing of this name what another verb tells: `send_certificate`, but not
    /// `post_page_comment` to a page.
    pub(crate) fn stands_in(&self, told: &str, noun: &str) -> bool {
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

    /// Whether its name has a noun, or another for the same thing.
    pub(crate) fn shares(&self, noun: &str) -> bool {
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

/// Whether a name has a word for what its tool is done to: any word after the verb but for the act itself
/// (`create_booking` books); before it a known noun, since others name whose tool it is (`git_commit`).
fn says_object(
    group: &[String],
    words: &[String],
    head: Option<&String>,
    verbs: &BTreeSet<&'static str>,
) -> bool {
    let lexicon = Lexicon::get();
    let of_act = |word: &String| {
        let known = lexicon.word(word).copied().unwrap_or_default();
        let act = known.noun_of.or(known.verb);
        act.is_some_and(|act| verbs.contains(act) || verbs.contains(&*format!("un{act}")))
    };
    let noun = |word: &String| {
        let word = stem(word);
        let acts = lexicon
            .word(&word)
            .is_some_and(|word| word.noun_of.is_some());
        acts || lexicon.names_a_thing(&word)
    };
    // A group stands after a name of one word: *fs.delete*.
    let words = words.strip_suffix(group).unwrap_or(words);
    let at = head.and_then(|head| words.iter().position(|word| word == head));
    let (before, after) = words.split_at(at.unwrap_or(0));
    let none = of![Preposition Particle Determiner AnyObject];
    let named = |word: &&String| !lexicon.marks(word).meets(none);
    after.iter().filter(named).any(|word| !of_act(word))
        || group
            .iter()
            .chain(before)
            .any(|word| noun(word) && !of_act(word))
}

/// What the rows of `patterns.txt` say of a name of these words, and of the tool's own name in it.
fn marks(words: &[String], own: &str) -> Marks {
    let lexicon = Lexicon::get();
    let token = |word: &String| {
        let known = lexicon.word(word).copied().unwrap_or_default();
        let mut marks = known.marks;
        let thing = lexicon.names_a_thing(word);
        marks.add_if(plain(word), Mark::Plain);
        marks.add_if(plain(word) && !thing, Mark::Changer);
        marks.add_if(reads_by_words(std::slice::from_ref(word)), Mark::Reader);
        marks.add_if(lexicon.word(word).is_some() || thing, Mark::Known);
        Token {
            range: 0..0,
            text: Cow::Owned(word.clone()),
            marks,
            verb: known.verb,
            noun_of: known.noun_of,
        }
    };
    let mut whole: Vec<Token<'_>> = tool_name_words(own).iter().map(token).collect();
    // *POST ServiceRequest*
    let method = own.split(' ').next().unwrap_or_default();
    if let Some(first) = whole
        .first_mut()
        .filter(|_| method.bytes().all(|byte| byte.is_ascii_uppercase()))
    {
        first.marks.add(Mark::Capitals);
    }
    let words: Vec<Token<'_>> = words.iter().map(token).collect();
    pattern::of_words("name", &words).with(pattern::of_words("own-name", &whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_tool_does() {
        let verbs = |name: &str| Said::from_name(name).verbs;
        assert!(verbs("create_reservation").contains("book"));
        assert!(!verbs("cancel_reservation").contains("book"));
        assert!(verbs("cancel_pending_order").contains("cancel"));
        assert!(!verbs("cancel_pending_order").contains("order"));
        assert!(verbs("open_close_window").is_empty());
        assert!(verbs("create_or_update_file").is_empty());
        assert!(!verbs("delete_open_orders").contains("open"));
        assert!(verbs("orderCancel").contains("cancel"));
        assert!(verbs("update_dns_record").contains("update"));
        let delegates = |name: &str| Said::from_name(name).delegates();
        assert!(delegates("run_agent") && delegates("Task") && delegates("handoff_to_billing"));
        assert!(!delegates("create_task") && !delegates("transfer_to_human_agents"));
        assert!(Said::from_name("POST ServiceRequest").is_silent());
    }
}
