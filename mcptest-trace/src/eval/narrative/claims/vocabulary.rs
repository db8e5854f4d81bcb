//! The words of one suite: the lexicon, the verbs that the suite adds, and those in names of tools.

use crate::eval::narrative::calls::tools::ToolBox;
use crate::eval::narrative::options::NarrativeOptions;
use crate::eval::narrative::words::lexicon::{FORMS, Lexicon, OF_VERB, Word, Words, base, stem};
use crate::eval::narrative::words::marks::{Mark, Marks, of};

/// The lexicon together with the verbs that one suite and its tools add.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary<'t> {
    added: Words<String, (String, Marks)>,
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
        let lexicon = Lexicon::get();
        let asked = options.verbs.iter().chain(options.evidence.keys());
        let asked = asked.map(|verb| base(verb));
        let mut added: Words<String, (String, Marks)> = Words::default();
        let new = tools.all().filter_map(|tool| tool.said.new_verb.as_deref());
        for verb in asked.chain(new.map(str::to_owned)) {
            let of_verb = match lexicon.word(&verb) {
                Some(word) if word.verb == Some(&verb) => word.marks.among(of![NeedsParticle]),
                _ => Marks::default(),
            };
            for (form, marks) in lexicon.forms(&verb) {
                let known = added.entry(form).or_insert_with(|| (verb.clone(), of_verb));
                if known.0 == verb {
                    known.1 = known.1.with(marks);
                }
            }
        }
        let named = tools.writes().flat_map(|tool| &tool.said.verbs);
        let named = named.copied().collect();
        let nouns = tools.writes().flat_map(|tool| tool.said.stems.iter());
        Self {
            added,
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
