//! The words of one suite: the lexicon, the verbs that the suite adds, and those in names of tools.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::eval::narrative::calls::tools::ToolBox;
use crate::eval::narrative::options::NarrativeOptions;
use crate::eval::narrative::words::lexicon::{FORMS, Lexicon, OF_VERB, Word, Words, base, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// Forms of verbs, each with its verb and what it is.
type VerbForms = Words<String, (String, Marks)>;

/// So many lists of so many verbs at most are kept with their forms.
const KEPT: usize = 256;
const LONGEST: usize = 64;

/// The forms of some verbs, made once: the runs of an agent add the same verbs.
fn shared_forms(verbs: Vec<String>) -> Arc<VerbForms> {
    static FORMS: LazyLock<RwLock<HashMap<Vec<String>, Arc<VerbForms>>>> =
        LazyLock::new(RwLock::default);
    let known = FORMS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(forms) = known.get(&verbs) {
        return Arc::clone(forms);
    }
    drop(known);
    let forms = Arc::new(forms_of(&verbs));
    let mut known = FORMS.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() < KEPT && verbs.len() <= LONGEST {
        known.insert(verbs, Arc::clone(&forms));
    }
    forms
}

fn forms_of(verbs: &[String]) -> VerbForms {
    let lexicon = Lexicon::get();
    let mut added = VerbForms::default();
    for verb in verbs {
        let of_verb = match lexicon.word(verb) {
            Some(word) if word.verb == Some(verb) => word.marks.among(of![NeedsParticle]),
            _ => Marks::default(),
        };
        for (form, marks) in lexicon.forms(verb) {
            let known = added.entry(form).or_insert_with(|| (verb.clone(), of_verb));
            if known.0 == *verb {
                known.1 = known.1.with(marks);
            }
        }
    }
    added
}

/// The lexicon together with the verbs that one suite and its tools add.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary<'t> {
    added: Arc<VerbForms>,
    /// The verbs that name tools.
    named: Vec<&'static str>,
    /// Whether a tool sends something.
    sends: bool,
    /// The nouns in names of tools.
    nouns: Vec<&'t str>,
}

impl<'t> Vocabulary<'t> {
    /// The verbs of the lexicon, those of the options, and those that name known tools.
    pub(crate) fn new(options: &NarrativeOptions, tools: &ToolBox<'t>) -> Self {
        let asked = options.verbs.iter().chain(options.evidence.keys());
        let asked = asked.map(|verb| base(verb));
        let new = tools.all().filter_map(|tool| tool.said.new_verb.clone());
        let named = tools.writes().flat_map(|tool| &tool.said.verbs);
        let named = named.copied().collect();
        let nouns = tools.writes().flat_map(|tool| tool.said.stems.iter());
        Self {
            added: shared_forms(asked.chain(new).collect()),
            named,
            sends: tools.does("send"),
            nouns: nouns.map(String::as_str).collect(),
        }
    }

    /// Whether a tool does a verb that is too common in speech to be looked for elsewhere.
    fn names(&self, verb: &str) -> bool {
        self.named.contains(&verb) || self.sends && Lexicon::get().akin(verb, "send")
    }

    /// Whether the name of a tool that changes something has a noun.
    pub(crate) fn names_a_tool(&self, word: &str) -> bool {
        let noun = stem(word);
        let mut nouns = self.nouns.iter();
        nouns.any(|other| Lexicon::get().same_thing(other, &noun))
    }

    /// What is known of a word in lower case.
    pub(crate) fn word(&self, text: &str) -> Word<'_> {
        let of_verb = FORMS.with(OF_VERB);
        let mut word = Lexicon::get().word(text).copied().unwrap_or_default();
        if word.marks.has(Mark::NameOnly) && !word.verb.is_some_and(|verb| self.names(verb)) {
            (word.verb, word.marks) = (None, word.marks.without(of_verb));
        }
        let added = (!self.added.is_empty()).then(|| self.added.get(text));
        if let Some((verb, marks)) = added.flatten() {
            word.verb = Some(verb);
            word.marks = word.marks.without(of_verb).with(*marks);
        }
        let other = word.marks.has(Mark::OtherVerb)
            || word.marks.is_empty() && text.len() > 4 && text.ends_with("ed");
        if other && word.verb.is_none() {
            word.marks = word.marks.with(of![Past Participle]);
        }
        word
    }
}
