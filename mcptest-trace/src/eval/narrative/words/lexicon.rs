//! The words of the reader, read once from `lexicon.txt`. No list of words stands in code.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use memchr::memchr2_iter;

use super::marks::{Mark, Marks, of};
use crate::eval::narrative::options::NarrativeOptions;

/// A map by words.
pub(crate) type Words<K, V> = HashMap<K, V, BuildHasherDefault<Fnv>>;

/// FNV-1a: quick on words. What stands in the maps comes from the lexicon and the suite, so that no
/// closing can fill them with words that collide.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Word<'v> {
    /// Its classes, and which form of its verb it is.
    pub(crate) marks: Marks,
    /// The verb's base form.
    pub(crate) verb: Option<&'v str>,
    /// The verb whose action the noun names.
    pub(crate) noun_of: Option<&'v str>,
}

/// The forms of a verb.
pub(crate) const FORMS: Marks = of![Base Past Participle Gerund];

/// What is said of a verb and so of each of its forms.
pub(crate) const OF_VERB: Marks = of![NameOnly NeedsParticle];

/// The data file, read.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    words: Words<String, Word<'static>>,
    /// The lines of `[verbs]` that a verb stands in.
    families: Words<&'static str, Vec<usize>>,
    irregular: Words<&'static str, (&'static str, &'static str)>,
    phrasal: Vec<[&'static str; 3]>,
    contractions: Words<&'static str, Vec<&'static str>>,
    clitics: Vec<(&'static str, &'static str)>,
    same_things: Words<&'static str, usize>,
    quantities: Words<&'static str, usize>,
    /// The sections that only list words.
    lists: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// The sections whose rows are words on both sides of a `:`.
    sides: BTreeMap<&'static str, Vec<[Vec<&'static str>; 2]>>,
    long_names: Words<&'static str, Vec<&'static str>>,
    arguments: Words<&'static str, Vec<&'static str>>,
    /// Classes that have all words of others.
    unions: Vec<(Mark, Marks)>,
}

impl Lexicon {
    /// The one lexicon.
    pub(crate) fn get() -> &'static Self {
        static LEXICON: LazyLock<Lexicon> =
            LazyLock::new(|| Lexicon::parse(include_str!("lexicon.txt")));
        &LEXICON
    }

    pub(crate) fn word(&self, word: &str) -> Option<&Word<'static>> {
        self.words.get(word)
    }

    /// The classes of a word.
    pub(crate) fn marks(&self, word: &str) -> Marks {
        self.word(word).map(|word| word.marks).unwrap_or_default()
    }

    pub(crate) fn is(&self, word: &str, mark: Mark) -> bool {
        self.marks(word).has(mark)
    }

    /// The words that a contraction stands for, or that are written as one with a clitic: *I've*.
    pub(crate) fn apart<'w>(&self, word: &'w str) -> Option<Vec<&'w str>>
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

    /// The families of a verb.
    pub(crate) fn families(&self, verb: &str) -> &[usize] {
        self.families.get(verb).map_or(&[], Vec::as_slice)
    }

    /// Whether two verbs may tell of the same action.
    pub(crate) fn akin(&self, verb: &str, other: &str) -> bool {
        let families = self.families(verb);
        verb == other || (self.families(other).iter()).any(|family| families.contains(family))
    }

    /// Whether a verb tells of a day to come as well: *moved to May 3*, *booked on May 3*.
    pub(crate) fn plans(&self, verb: &str) -> bool {
        self.akin(verb, "schedule") || self.akin(verb, "postpone")
    }

    /// Whether two stems name the same thing.
    pub(crate) fn same_thing(&self, a: &str, b: &str) -> bool {
        let group = |word| self.same_things.get(word);
        a == b || group(a).is_some() && group(a) == group(b)
    }

    /// Whether a word, or words joined by `_`, stand in a section that only lists such.
    pub(crate) fn lists(&self, section: &str, words: &str) -> bool {
        let listed = self.lists.get(section);
        listed.is_some_and(|listed| listed.contains(words))
    }

    /// What a particle makes of a verb: *turn off*.
    pub(crate) fn phrasal(&self, verb: &str, particle: &str) -> Option<&'static str> {
        let mut rows = self.phrasal.iter();
        let row = rows.find(|[of, with, _]| (*of, *with) == (verb, particle))?;
        Some(row[2])
    }

    /// Whether a tool of the one verb may do what the other tells: *added*, by `send_…`.
    pub(crate) fn stands_in(&self, verb: &str, told: &str) -> bool {
        self.beside("stands-in", verb, told)
    }

    /// Whether a call of the one verb may be called the other where its arguments have all that is told: *paid*, by
    /// `transfer_…`.
    pub(crate) fn is_called(&self, verb: &str, told: &str) -> bool {
        self.beside("called", verb, told)
    }

    fn beside(&self, section: &str, verb: &str, told: &str) -> bool {
        let mut rows = self.sides.get(section).into_iter().flatten();
        rows.any(|[of, by]| of.contains(&told) && by.contains(&verb))
    }

    /// Whether an argument of this name says to whom a call does a verb: `owner`, of *assign*.
    pub(crate) fn is_argument_of(&self, verb: &str, key: &str) -> bool {
        let keys = self.arguments.get(verb);
        keys.is_some_and(|keys| keys.contains(&key))
    }

    /// The names that a first name is short for, or that are short for it: *Bob*, *Robert*.
    pub(crate) fn long_names(&self, name: &str) -> &[&'static str] {
        self.long_names.get(name).map_or(&[], Vec::as_slice)
    }

    /// How many a word says; the most there is for *all*.
    pub(crate) fn quantity(&self, word: &str) -> Option<usize> {
        let known = self.quantities.get(word).copied();
        known.or_else(|| word.parse().ok())
    }

    /// Whether a word is a noun that people and tools use for another.
    pub(crate) fn names_a_thing(&self, word: &str) -> bool {
        self.same_things.contains_key(word)
    }

    /// The forms of a verb, with what each is.
    pub(crate) fn forms(&self, base: &str) -> Vec<(String, Marks)> {
        let vowel = |c: u8| b"aeiou".contains(&c);
        let (stem, present, past) = match base.as_bytes() {
            [.., before, b'y'] if !vowel(*before) => (base, "ies", "ied"),
            [.., before, b'e'] if *before != b'e' => (&base[..base.len() - 1], "es", "ed"),
            [.., b's' | b'x' | b'z' | b'o'] | [.., b'c' | b's', b'h'] => (base, "es", "ed"),
            _ => (base, "s", if base.ends_with('e') { "d" } else { "ed" }),
        };
        let y = stem.strip_suffix('y').filter(|_| present == "ies");
        let form = |stem: &str, ending: &str, marks| (format!("{stem}{ending}"), marks);
        let mut forms = vec![
            form(base, "", of![Base]),
            form(y.unwrap_or(stem), present, Marks::default()),
            form(stem, "ing", of![Gerund]),
        ];
        // Both spellings of `cancel(l)ed`.
        let doubled = match base.as_bytes() {
            [.., third, before, last] if !vowel(*third) && vowel(*before) => {
                let twice = last.is_ascii_lowercase() && !b"aeiouwxy".contains(last);
                twice.then(|| format!("{base}{}", char::from(*last)))
            }
            _ => None,
        };
        forms.extend(doubled.iter().map(|stem| form(stem, "ing", of![Gerund])));
        if let Some((past, participle)) = self.irregular.get(base) {
            forms.push(form(past, "", of![Past]));
            forms.push(form(participle, "", of![Participle]));
        } else {
            forms.push(form(y.unwrap_or(stem), past, of![Past Participle]));
            forms.extend(doubled.map(|stem| form(&stem, "ed", of![Past Participle])));
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
        let of_verb = |verb| lexicon.marks(verb).among(OF_VERB);
        let verbs = lexicon.families.keys();
        let verbs: Vec<(&str, Marks)> = verbs.map(|verb| (*verb, of_verb(verb))).collect();
        for word in lexicon.words.values_mut() {
            for (mark, of) in &lexicon.unions {
                word.marks.add_if(word.marks.meets(*of), *mark);
            }
            word.marks = word.marks.without(OF_VERB);
        }
        for (verb, of_verb) in verbs {
            for (form, marks) in lexicon.forms(verb) {
                let word = lexicon.words.entry(form).or_default();
                // `found` is a form of one verb only; of two, the first by the alphabet counts.
                if word.verb.is_none_or(|known| verb <= known) {
                    if word.verb.is_some_and(|known| verb != known) {
                        word.marks = word.marks.without(FORMS.with(OF_VERB));
                    }
                    word.verb = Some(verb);
                    word.marks = word.marks.with(marks).with(of_verb);
                }
            }
        }
        lexicon
    }

    fn line(&mut self, section: &'static str, line: &'static str, number: usize) {
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
            ("phrasal", [verb, particle, other]) => self.phrasal.push([verb, particle, other]),
            ("contractions", [short, words @ ..]) => {
                self.contractions.insert(short, words.to_vec());
            }
            ("clitics", [ending, word]) => self.clitics.push((ending, word)),
            ("quantities", [word, many]) => {
                let many = many.parse().unwrap_or(usize::MAX);
                self.quantities.insert(word, many);
            }
            ("stands-in" | "called", words) => {
                let mut sides = words.split(|word| *word == ":").map(<[_]>::to_vec);
                let sides = sides.next().zip(sides.next());
                let rows = self.sides.entry(section).or_default();
                rows.extend(sides.map(|(of, by)| [of, by]));
            }
            ("arguments", [verb, keys @ ..]) => {
                self.arguments.insert(verb, keys.to_vec());
            }
            ("short-names", [short, long @ ..]) => {
                for long in long {
                    self.long_names.entry(short).or_default().push(long);
                    self.long_names.entry(long).or_default().push(short);
                }
            }
            ("same-things", words) => {
                self.same_things
                    .extend(words.iter().map(|word| (*word, number)));
            }
            (section, words) => {
                let Some(mark) = Mark::named(section) else {
                    self.lists.entry(section).or_default().extend(words);
                    return;
                };
                if let ["=", of @ ..] = words {
                    self.unions.push((mark, Marks::named(of.iter().copied())));
                    return;
                }
                for word in words {
                    let word = self.words.entry((*word).to_owned()).or_default();
                    word.marks.add(mark);
                }
            }
        }
    }
}

/// The base form of a verb as an option spells it: its first word, inflected or not.
pub(crate) fn base(verb: &str) -> String {
    let verb = verb.trim().to_lowercase();
    let first = verb.split_whitespace().next().unwrap_or_default();
    let known = Lexicon::get().word(first).and_then(|word| word.verb);
    known.unwrap_or(first).to_owned()
}

/// The tools that a suite names for each verb, by the verb's base form.
pub(crate) fn evidence(options: &NarrativeOptions) -> BTreeMap<String, Vec<&str>> {
    let mut by_verb: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (verb, tools) in &options.evidence {
        let of_verb = by_verb.entry(base(verb)).or_default();
        of_verb.extend(tools.iter().map(String::as_str));
    }
    by_verb
}

/// A word in lower case.
pub(crate) fn lower(word: &str) -> Cow<'_, str> {
    let is_lower = |c: u8| c.is_ascii() && !c.is_ascii_uppercase();
    if word.bytes().all(is_lower) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}

/// Whether a part, ASCII in lower case, stands in a text in any case.
pub(crate) fn contains_ignoring_case(text: &str, part: &str) -> bool {
    // By how often they stand in English texts.
    const LETTERS: &[u8; 26] = b"etaoinshrdlcumwfgypbvkjxqz";
    let (part, text) = (part.as_bytes(), text.as_bytes());
    let rank = |letter: &u8| LETTERS.iter().position(|other| other == letter);
    let Some((place, rarest)) = part.iter().enumerate().max_by_key(|(_, byte)| rank(byte)) else {
        return true;
    };
    let mut places = memchr2_iter(*rarest, rarest.to_ascii_uppercase(), text);
    places.any(|at| {
        let start = at.checked_sub(place);
        let found = start.and_then(|start| text.get(start..start + part.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(part))
    })
}

/// The first so many characters of a text.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most);
    end.map_or(text, |(end, _)| &text[..end])
}

/// A word cut down so that singular and plural agree.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    let word = lower(word);
    if !word.ends_with('s') {
        return word;
    }
    for (ending, instead) in [("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 2) {
            return Cow::Owned(format!("{stem}{instead}"));
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => {
            Cow::Owned(stem.to_owned())
        }
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
            "phrasal",
            "contractions",
            "clitics",
            "same-things",
            "quantities",
            "telling",
            "stands-in",
            "acts-itself",
            "called",
            "elsewhere",
            "tells-whom",
            "turns",
            "moves",
            "locks",
            "quoting",
            "ahead",
            "deeds",
            "groups",
            "first-names",
            "short-names",
            "greetings",
            "arguments",
            "currency",
            "sums",
            "gives",
            "file-endings",
        ];
        let lines = include_str!("lexicon.txt").lines();
        for section in lines.filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')) {
            let known = Mark::named(section).is_some() || own.contains(&section);
            assert!(known, "unknown section {section}");
        }
    }

    #[test]
    fn a_part_is_found_in_any_case() {
        for text in [
            "exit code 1",
            "EXIT CODE",
            "an eXiT",
            "eexit",
            "\u{130} Exit",
        ] {
            assert!(contains_ignoring_case(text, "exit"), "{text}");
        }
        for text in [
            "",
            "exi",
            "xit",
            "xitexi",
            "e xit",
            "ex\u{130}t",
            "\u{e9}xit",
        ] {
            assert!(!contains_ignoring_case(text, "exit"), "{text}");
        }
    }

    #[test]
    fn the_head_of_a_text_is_whole_characters() {
        assert_eq!(head("\u{e9}\u{1f600}ab", 2), "\u{e9}\u{1f600}");
        assert_eq!(head("ab", 2), "ab");
        assert_eq!(head("", 2), "");
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
