//! A recorded call: how it ended, and what it was told.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::trace::{
    LazyValue, ToolCall, ToolResult, for_each_text, reads_by_name, to_snake_case, tool_name_words,
};
use serde_json::Value;

use super::reported::{Reported, reported_by, undone};
use crate::eval::narrative::words::identifier;
use crate::eval::narrative::words::lexicon::{Lexicon, lower, stem};
use crate::eval::narrative::words::marks::Mark;
use crate::eval::narrative::words::said::Said;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Succeeded,
    Failed,
    Unanswered,
}

/// A recorded call. What stands in it is read when a claim first asks for it.
#[derive(Debug)]
pub(crate) struct Call<'t> {
    /// Where it stands among the calls of the run.
    pub(crate) index: usize,
    /// What the name of its tool says, and whether the tool changes something.
    pub(crate) said: &'t Said,
    pub(crate) writes: bool,
    pub(crate) recorded: &'t ToolCall,
    pub(crate) ending: Ending,
    pub(crate) result: Option<&'t LazyValue>,
    /// What its result says itself of whether it worked, where it may be evidence.
    pub(crate) reported: Reported,
    /// The verbs that its result says were not done.
    undone: OnceCell<BTreeSet<&'static str>>,
    identifiers: OnceCell<BTreeSet<Cow<'t, str>>>,
    /// The verbs that it was told, and whether it was told only to read.
    told: OnceCell<BTreeSet<&'static str>>,
    reads: OnceCell<bool>,
}

impl<'t> Call<'t> {
    /// A call of a tool whose name says this, and that changes something or not.
    pub(crate) fn from_recorded(
        index: usize,
        recorded: &'t ToolCall,
        result: Option<&'t ToolResult>,
        said: &'t Said,
        writes: bool,
    ) -> Self {
        let reported = match result.filter(|result| writes && !result.is_error) {
            Some(result) => reported_by(said, writes, &recorded.args, &result.result),
            None => Reported::Nothing,
        };
        let ending = match (result, &reported) {
            (None, _) => Ending::Unanswered,
            (Some(result), _) if result.is_error => Ending::Failed,
            (_, Reported::Failed(_)) => Ending::Failed,
            _ => Ending::Succeeded,
        };
        Self {
            index,
            said,
            writes,
            recorded,
            ending,
            result: result.map(|result| &result.result),
            reported,
            undone: OnceCell::new(),
            identifiers: OnceCell::new(),
            told: OnceCell::new(),
            reads: OnceCell::new(),
        }
    }

    /// Whether it failed as things were so before: *the order was already cancelled*.
    pub(crate) fn refuses(&self, result: &Value) -> bool {
        let mut already = false;
        texts(result, &mut |text| {
            let mut words = text.split(|c: char| !c.is_alphabetic());
            already |= words.any(|word| Lexicon::get().is(&lower(word), Mark::Already));
        });
        already && self.ending == Ending::Failed
    }

    pub(crate) fn succeeded(&self) -> bool {
        self.ending == Ending::Succeeded
    }

    /// Whether its result says that one of these verbs was not done: `merged: false`.
    pub(crate) fn denies(&self, verbs: &[&str]) -> bool {
        let undone = self
            .undone
            .get_or_init(|| self.result.map(|result| undone(result)).unwrap_or_default());
        verbs.iter().any(|verb| undone.contains(verb))
    }

    /// The identifiers in its arguments and its result.
    pub(crate) fn identifiers(&self) -> &BTreeSet<Cow<'t, str>> {
        self.identifiers.get_or_init(|| {
            let mut found = BTreeSet::new();
            for value in [&self.recorded.args].into_iter().chain(self.result) {
                texts(value, &mut |text| identifier::collect(text, &mut found));
            }
            found
        })
    }

    pub(crate) fn args(&self) -> &'t Value {
        &self.recorded.args
    }

    /// Its arguments by their names.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (&'t String, &'t Value)> {
        self.args().as_object().into_iter().flatten()
    }

    /// The arguments that say what is done.
    fn telling(&self) -> impl Iterator<Item = (&'t String, &'t Value)> {
        let telling = |key: &str| Lexicon::get().lists("telling", &to_snake_case(key));
        self.arguments().filter(move |(key, _)| telling(key))
    }

    /// Whether an argument says that it does a verb: `attendees: […]`, or for a `general` tool one
    /// word: `action: restart`.
    pub(crate) fn is_told(&self, verbs: &[&str], general: bool) -> bool {
        let lexicon = Lexicon::get();
        let known = |word: &str| lexicon.word(&lower(word)).copied().unwrap_or_default();
        // *opened an issue*, told to create one; but not *suspended*, told to cancel.
        let makes = |verb: &str| lexicon.is(verb, Mark::MakingHead);
        let same = |verb: &str, told: &str| {
            verb == told || makes(verb) && makes(told) && lexicon.akin(verb, told)
        };
        self.telling().any(|(key, value)| {
            let verb = match value {
                Value::String(word) if general => known(word).verb,
                Value::Array(items) if !items.is_empty() => known(key).noun_of,
                _ => None,
            };
            verb.is_some_and(|told| verbs.iter().any(|verb| same(verb, told)))
        })
    }

    /// Whether an argument says to whom or where it does a verb: `assigned_to_email`; but not to
    /// somebody else than a claim names (*to Bob*).
    pub(crate) fn is_told_to(&self, verbs: &[&str], clause: &str) -> bool {
        let lexicon = Lexicon::get();
        let (_, whom) = clause.split_once(" to ").unwrap_or_default();
        let name = whom.split(|c: char| !c.is_alphanumeric()).next();
        let name = name.filter(|name| name.starts_with(char::is_uppercase));
        let fits = |value: &str| {
            let coded = value.contains(|c: char| c.is_ascii_digit());
            let value = value.to_lowercase();
            coded || name.is_none_or(|name| value.contains(&name.to_lowercase()))
        };
        let text = |value: &Value| value.as_str().is_some_and(|it| !it.is_empty() && fits(it));
        let mut given = self.arguments().filter(|(_, value)| text(value));
        given.any(|(key, _)| {
            let (done, rest) = key.split_once("_to").unwrap_or_default();
            let done = lexicon
                .word(done)
                .filter(|word| word.marks.has(Mark::Participle));
            let done = done.and_then(|word| word.verb);
            (rest.is_empty() || rest.starts_with('_')) && done.is_some_and(|it| verbs.contains(&it))
        })
    }

    /// Whether a flag says that it does a verb, or what one of these nouns names: `notify_guests: true`,
    /// `request_replacement: true`.
    pub(crate) fn is_flagged(&self, verbs: &[&str], nouns: &[String], clause: &str) -> bool {
        let lexicon = Lexicon::get();
        let mut set = self
            .arguments()
            .filter(|(_, value)| **value == Value::Bool(true));
        let known = |word: Option<&String>| {
            let known = word.and_then(|word| lexicon.word(word));
            known.copied().unwrap_or_default()
        };
        let named = |word: &String| {
            let stem = stem(word);
            nouns.iter().any(|noun| lexicon.same_thing(&stem, noun))
        };
        set.any(|(key, _)| {
            let words = tool_name_words(key);
            let (first, second) = (known(words.first()), known(words.get(1)));
            // *request_replacement*, but not *refund_eligible*
            let acts = first.marks.has(Mark::MakingHead) && second.noun_of.is_some();
            let spoken = |word: &String| {
                let mut spoken = clause.split(|c: char| !c.is_alphanumeric());
                spoken.any(|it| it.eq_ignore_ascii_case(word)) || named(word)
            };
            let acts = acts && words.get(1).is_some_and(spoken);
            // *notify_guests*, but not *delete_on_termination*
            let of_object = words.len() == 1 || words.iter().skip(1).any(named);
            let does = |told| verbs.iter().any(|verb| lexicon.akin(verb, told));
            acts || of_object && first.verb.is_some_and(does)
        })
    }

    /// Whether what it was told has a form of a verb, or of one of its family: `gh pr create`.
    pub(crate) fn mentions(&self, verb: &str) -> bool {
        let lexicon = Lexicon::get();
        let told = self.told.get_or_init(|| {
            let mut found = BTreeSet::new();
            for_each_text(&self.recorded.args, &mut |text| {
                let words = text.split(|c: char| !c.is_alphanumeric());
                found.extend(words.filter_map(|word| lexicon.word(&lower(word))?.verb));
            });
            found
        });
        told.contains(verb) || told.iter().any(|told| lexicon.akin(told, verb))
    }

    /// Whether an argument is a file, or a path that ends in it.
    pub(crate) fn is_given(&self, file: &str) -> bool {
        let mut given = false;
        for_each_text(&self.recorded.args, &mut |argument| {
            let folder = argument.strip_suffix(file);
            given |= folder.is_some_and(|it| it.is_empty() || it.ends_with(['/', '\\']));
        });
        given
    }

    /// Whether it changed something, as far as a call of a `general` tool tells: not `command: view`,
    /// nor `ls -l`.
    pub(crate) fn changed(&self, general: bool) -> bool {
        let reads = || self.telling().any(|(_, value)| only_reads(value));
        self.succeeded() && !(general && *self.reads.get_or_init(reads))
    }

    pub(crate) fn carries(&self, identifier: &str) -> bool {
        self.identifiers().contains(identifier)
    }

    /// Its other identifiers of the same kind.
    pub(crate) fn of_kind<'c>(&'c self, identifier: &'c str) -> impl Iterator<Item = &'c str> {
        let all = self.identifiers().iter().map(AsRef::as_ref);
        all.filter(move |other| *other != identifier && identifier::same_kind(other, identifier))
    }
}

/// Gives every text of a value, its keys among them.
fn texts<'t>(value: &'t Value, give: &mut impl FnMut(&'t str)) {
    match value {
        Value::String(text) => give(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, give)),
        Value::Object(fields) => {
            for (key, field) in fields {
                give(key);
                texts(field, give);
            }
        }
        _ => {}
    }
}

/// Whether a command only reads, by its first word.
fn only_reads(command: &Value) -> bool {
    let text = command.as_str().unwrap_or_default();
    let writes = text.contains(['>', '|', ';', '&']) || text.contains(" -delete");
    let word = text.split_whitespace().next().filter(|_| !writes);
    word.is_some_and(|word| Lexicon::get().is(&lower(word), Mark::Fetches) || reads_by_name(word))
}
