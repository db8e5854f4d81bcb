//! The words of the reader, read once from `lexicon.txt`. No list of words stands in code.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::NarrativeOptions;
use super::marks::{Mark, Marks, of};
use super::tools::{KnownTools, name_words};

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word<'v> {
    /// Its classes, and which form of its verb it is.
    pub(super) marks: Marks,
    /// The verb's base form.
    pub(super) verb: Option<&'v str>,
    /// The verb whose action the noun names.
    pub(super) noun_of: Option<&'v str>,
}

/// The forms of a verb.
pub(super) const FORMS: Marks = of![Base Present Past Participle Gerund];

/// The data file, read.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    words: HashMap<String, Word<'static>>,
    /// The lines of [verbs] that a verb stands in.
    families: HashMap<&'static str, Vec<usize>>,
    irregular: HashMap<&'static str, (&'static str, &'static str)>,
    contractions: HashMap<&'static str, Vec<&'static str>>,
    clitics: Vec<(&'static str, &'static str)>,
    same_things: HashMap<&'static str, usize>,
    /// Classes that have all words of others.
    unions: Vec<(Mark, Marks)>,
}

impl Lexicon {
    /// The one lexicon.
    pub(super) fn get() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| Self::parse(include_str!("lexicon.txt")))
    }

    pub(super) fn word(&self, word: &str) -> Option<&Word<'static>> {
        self.words.get(word)
    }

    /// The classes of a word.
    pub(super) fn marks(&self, word: &str) -> Marks {
        self.word(word).map(|word| word.marks).unwrap_or_default()
    }

    pub(super) fn is(&self, word: &str, mark: Mark) -> bool {
        self.marks(word).has(mark)
    }

    /// The words that a contraction stands for, or that are written as one with a clitic: *I've*.
    pub(super) fn apart<'w>(&self, word: &'w str) -> Option<Vec<&'w str>>
    where
        'static: 'w,
    {
        if let Some(words) = self.contractions.get(word) {
            return Some(words.clone());
        }
        let clitic = self.clitics.iter().find_map(|(ending, stands_for)| {
            let rest = word.strip_suffix(ending).filter(|rest| !rest.is_empty())?;
            Some(vec![rest, *stands_for])
        });
        clitic.or_else(|| word.strip_suffix("'s").map(|owner| vec![owner]))
    }

    /// Whether two verbs are of one family.
    pub(super) fn akin(&self, a: &str, b: &str) -> bool {
        let families = |verb| self.families.get(verb).map_or(&[][..], Vec::as_slice);
        a == b
            || families(a)
                .iter()
                .any(|family| families(b).contains(family))
    }

    /// Whether a verb stands in a family.
    pub(super) fn is_verb(&self, verb: &str) -> bool {
        self.families.contains_key(verb)
    }

    /// Whether two stems name the same thing.
    pub(super) fn same_thing(&self, a: &str, b: &str) -> bool {
        let group = |word| self.same_things.get(word);
        a == b || group(a).is_some() && group(a) == group(b)
    }

    /// The forms of a verb, with what each is.
    fn forms(&self, base: &str) -> Vec<(String, Marks)> {
        let vowel = |c: Option<char>| c.is_some_and(|c| "aeiou".contains(c));
        let mut back = base.chars().rev();
        let (last, before, third) = (back.next(), back.next(), back.next());
        let hisses = ["s", "x", "z", "ch", "sh", "o"];
        // The stem before `-ed` and `-ing`; both spellings of `cancel(l)ed`.
        let twice = last.is_some_and(|c| c.is_ascii_lowercase() && !"aeiouwxy".contains(c))
            && vowel(before)
            && !vowel(third);
        let doubled = last.filter(|_| twice).map(|last| format!("{base}{last}"));
        let y = base.strip_suffix('y').filter(|_| !vowel(before));
        let e = base.strip_suffix('e').filter(|stem| !stem.ends_with('e'));
        let present = match y {
            Some(stem) => format!("{stem}ies"),
            None if hisses.iter().any(|end| base.ends_with(end)) => format!("{base}es"),
            None => format!("{base}s"),
        };
        let form = |text: String, mark| (text, Marks::of(&[mark]));
        let done = of![Past Participle];
        let mut forms = vec![
            form(base.to_owned(), Mark::Base),
            form(present, Mark::Present),
            form(format!("{}ing", e.unwrap_or(base)), Mark::Gerund),
        ];
        forms.extend(
            doubled
                .iter()
                .map(|stem| form(format!("{stem}ing"), Mark::Gerund)),
        );
        if let Some((past, participle)) = self.irregular.get(base) {
            forms.push(form((*past).to_owned(), Mark::Past));
            forms.push(form((*participle).to_owned(), Mark::Participle));
        } else if let Some(stem) = y {
            forms.push((format!("{stem}ied"), done));
        } else {
            forms.push((
                format!("{}ed", base.strip_suffix('e').unwrap_or(base)),
                done,
            ));
            forms.extend(doubled.map(|stem| (format!("{stem}ed"), done)));
        }
        forms
    }

    fn parse(text: &'static str) -> Self {
        let mut lexicon = Self::default();
        let mut section = "";
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = name;
            } else if !line.starts_with('#') {
                lexicon.line(section, line, number);
            }
        }
        for word in lexicon.words.values_mut() {
            for (mark, of) in &lexicon.unions {
                word.marks.add_if(word.marks.meets(*of), *mark);
            }
        }
        let verbs: Vec<&str> = lexicon.families.keys().copied().collect();
        for verb in verbs {
            for (form, marks) in lexicon.forms(verb) {
                let word = lexicon.words.entry(form).or_default();
                // `found` is a form of one verb only; of two, the first by the alphabet counts.
                if word.verb.is_none_or(|known| verb <= known) {
                    let same = word.verb.is_none_or(|known| verb == known);
                    let kept = if same {
                        word.marks
                    } else {
                        word.marks.without(FORMS)
                    };
                    (word.verb, word.marks) = (Some(verb), kept.with(marks));
                }
            }
        }
        lexicon
    }

    fn line(&mut self, section: &str, line: &'static str, number: usize) {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        match (section, words.as_slice()) {
            ("verbs", [_, members @ ..]) => {
                for verb in members {
                    self.families.entry(verb).or_default().push(number);
                }
            }
            ("irregular", [base, past, participle]) => {
                self.irregular.insert(base, (past, participle));
            }
            ("nouns", [noun, verb, thing @ ..]) => {
                for form in [(*noun).to_owned(), format!("{noun}s")] {
                    let word = self.words.entry(form).or_default();
                    word.noun_of = Some(verb);
                    word.marks.add_if(!thing.is_empty(), Mark::Thing);
                }
            }
            ("contractions", [short, words @ ..]) => {
                self.contractions.insert(short, words.to_vec());
            }
            ("clitics", [ending, word]) => self.clitics.push((ending, word)),
            ("same-things", words) => {
                self.same_things
                    .extend(words.iter().map(|word| (*word, number)));
            }
            (section, words) => {
                let Some(mark) = Mark::named(section) else {
                    return;
                };
                if let ["=", of @ ..] = words {
                    let of: Vec<Mark> = of.iter().copied().filter_map(Mark::named).collect();
                    self.unions.push((mark, Marks::of(&of)));
                    return;
                }
                for word in words {
                    self.words
                        .entry((*word).to_owned())
                        .or_default()
                        .marks
                        .add(mark);
                }
            }
        }
    }
}

/// The lexicon together with the verbs that one suite and its tools add.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    added: HashMap<String, (String, Marks)>,
}

impl Vocabulary {
    /// The verbs of the lexicon, those of the options, and those that name known tools.
    pub(super) fn new(options: &NarrativeOptions, tools: &KnownTools) -> Self {
        let lexicon = Lexicon::get();
        let asked = options.verbs.iter().chain(options.evidence.keys());
        let asked = asked.map(|verb| base(verb));
        // Of a tool's name only verbs that speech does not use for other things; `address_update` is
        // named after its object first.
        let named = tools.names().filter_map(|name| {
            let words = name_words(name);
            let (head, last) = (words.first()?, words.last()?);
            let new = lexicon.word(head).is_none() && head.len() > 2 && head.is_ascii();
            (new && !lexicon.is_verb(last)).then(|| head.clone())
        });
        let mut added: HashMap<String, (String, Marks)> = HashMap::new();
        for verb in asked.chain(named) {
            for (form, marks) in lexicon.forms(&verb) {
                let known = added
                    .entry(form)
                    .or_insert_with(|| (verb.clone(), Marks::default()));
                if known.0 == verb {
                    known.1 = known.1.with(marks);
                }
            }
        }
        Self { added }
    }

    /// What is known of a word in lower case.
    pub(super) fn word(&self, text: &str) -> Word<'_> {
        let lexicon = Lexicon::get();
        let mut word = lexicon.word(text).copied().unwrap_or_default();
        if word
            .verb
            .is_some_and(|verb| lexicon.is(verb, Mark::NameOnly))
        {
            (word.verb, word.marks) = (None, word.marks.without(FORMS));
        }
        let added = (!self.added.is_empty()).then(|| self.added.get(text));
        if let Some((verb, marks)) = added.flatten() {
            word.verb = Some(verb);
            word.marks = word.marks.without(FORMS).with(*marks);
        }
        let other = word.marks.has(Mark::OtherVerb)
            || word.marks.is_empty() && text.len() > 4 && text.ends_with("ed");
        if other && word.verb.is_none() {
            word.marks.add(Mark::Past);
            word.marks.add(Mark::Participle);
        }
        word
    }
}

/// The base form of a verb as an option spells it: its first word, inflected or not.
fn base(verb: &str) -> String {
    let verb = verb.trim().to_lowercase();
    let first = verb.split_whitespace().next().unwrap_or_default();
    let known = Lexicon::get().word(first).and_then(|word| word.verb);
    known.unwrap_or(first).to_owned()
}

/// The tools that a suite names for each verb, by the verb's base form.
pub(super) fn evidence(options: &NarrativeOptions) -> BTreeMap<String, Vec<String>> {
    let mut by_verb: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (verb, tools) in &options.evidence {
        by_verb
            .entry(base(verb))
            .or_default()
            .extend(tools.iter().cloned());
    }
    by_verb
}

/// A word cut down so that singular and plural agree.
pub(super) fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 2) {
            return format!("{stem}{instead}");
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_file_is_known() {
        let own = [
            "verbs",
            "irregular",
            "nouns",
            "contractions",
            "clitics",
            "same-things",
        ];
        let lines = include_str!("lexicon.txt").lines();
        for section in lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')) {
            let known = Mark::named(section).is_some() || own.contains(&section);
            assert!(known, "unknown section {section}");
        }
    }

    #[test]
    fn forms_follow_from_spelling() {
        let lexicon = Lexicon::get();
        for (form, base) in [
            ("cancelled", "cancel"),
            ("canceled", "cancel"),
            ("modified", "modify"),
            ("submitted", "submit"),
            ("refunded", "refund"),
            ("sent", "send"),
            ("transferring", "transfer"),
            ("deployed", "deploy"),
        ] {
            let verb = lexicon.word(form).and_then(|word| word.verb);
            assert_eq!(verb, Some(base), "{form}");
        }
    }
}
