//! The verbs that are looked for, in all their inflected forms.
//!
//! English verbs inflect regularly but for a closed set. Regular forms are made by rule (a final
//! *e* drops, a consonant and *y* become *ie*, a single final consonant after a single vowel
//! doubles); the irregular ones stand in a table of base verbs, and a prefix (*re-*, *un-*,
//! *over-*) keeps its base verb's forms.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

/// The verbs of the seed: each changes something.
pub(super) const MUTATING: [&str; 22] = [
    "create", "update", "delete", "remove", "send", "write", "post", "insert", "set", "put",
    "patch", "publish", "destroy", "drop", "add", "edit", "upload", "merge", "close", "cancel",
    "approve", "revoke",
];

/// Base, past and participle of verbs that do not take *-ed*.
const IRREGULAR: [(&str, &str, &str); 62] = [
    ("begin", "began", "begun"),
    ("bind", "bound", "bound"),
    ("break", "broke", "broken"),
    ("bring", "brought", "brought"),
    ("build", "built", "built"),
    ("buy", "bought", "bought"),
    ("cast", "cast", "cast"),
    ("catch", "caught", "caught"),
    ("choose", "chose", "chosen"),
    ("come", "came", "come"),
    ("cut", "cut", "cut"),
    ("deal", "dealt", "dealt"),
    ("do", "did", "done"),
    ("draw", "drew", "drawn"),
    ("feed", "fed", "fed"),
    ("find", "found", "found"),
    ("forget", "forgot", "forgotten"),
    ("freeze", "froze", "frozen"),
    ("get", "got", "gotten"),
    ("give", "gave", "given"),
    ("go", "went", "gone"),
    ("grow", "grew", "grown"),
    ("have", "had", "had"),
    ("hide", "hid", "hidden"),
    ("hit", "hit", "hit"),
    ("hold", "held", "held"),
    ("keep", "kept", "kept"),
    ("know", "knew", "known"),
    ("lead", "led", "led"),
    ("leave", "left", "left"),
    ("lend", "lent", "lent"),
    ("let", "let", "let"),
    ("lose", "lost", "lost"),
    ("make", "made", "made"),
    ("mean", "meant", "meant"),
    ("meet", "met", "met"),
    ("pay", "paid", "paid"),
    ("put", "put", "put"),
    ("read", "read", "read"),
    ("ride", "rode", "ridden"),
    ("rise", "rose", "risen"),
    ("run", "ran", "run"),
    ("say", "said", "said"),
    ("see", "saw", "seen"),
    ("sell", "sold", "sold"),
    ("send", "sent", "sent"),
    ("set", "set", "set"),
    ("shut", "shut", "shut"),
    ("speak", "spoke", "spoken"),
    ("spend", "spent", "spent"),
    ("split", "split", "split"),
    ("spread", "spread", "spread"),
    ("stand", "stood", "stood"),
    ("sweep", "swept", "swept"),
    ("take", "took", "taken"),
    ("teach", "taught", "taught"),
    ("tell", "told", "told"),
    ("think", "thought", "thought"),
    ("throw", "threw", "thrown"),
    ("understand", "understood", "understood"),
    ("win", "won", "won"),
    ("write", "wrote", "written"),
];

const PREFIXES: [&str; 9] = [
    "re", "un", "over", "under", "with", "out", "mis", "pre", "up",
];

/// What a form can be of its verb.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Form {
    /// The verb's base form.
    pub lemma: String,
    /// Usable as the simple past.
    pub past: bool,
    /// Usable as the past participle.
    pub participle: bool,
    /// The same as the base form.
    pub base: bool,
}

/// The verbs that are looked for, by inflected form.
#[derive(Debug, Clone, Default)]
pub(super) struct Lexicon {
    forms: BTreeMap<String, Form>,
    lemmas: BTreeMap<String, String>,
}

impl Lexicon {
    /// A lexicon of the given verbs, in any case; the first verb to use a form keeps it.
    pub(super) fn new<'v>(verbs: impl IntoIterator<Item = &'v str>) -> Self {
        let mut lexicon = Self::default();
        for verb in verbs {
            lexicon.add(&verb.trim().to_lowercase());
        }
        lexicon
    }

    fn add(&mut self, lemma: &str) {
        if lemma.is_empty() {
            return;
        }
        let mut note = |form: String, past: bool, participle: bool, base: bool| {
            let entry = self.forms.entry(form).or_insert_with(|| Form {
                lemma: lemma.to_owned(),
                ..Form::default()
            });
            if entry.lemma == lemma {
                entry.past |= past;
                entry.participle |= participle;
                entry.base |= base;
            }
        };
        note(lemma.to_owned(), false, false, true);
        for (past, participle) in past_forms(lemma) {
            note(past, true, false, false);
            note(participle, false, true, false);
        }
        for (form, entry) in &self.forms {
            if entry.lemma == lemma {
                self.lemmas
                    .entry(form.clone())
                    .or_insert_with(|| lemma.to_owned());
            }
        }
        for form in other_forms(lemma) {
            self.lemmas.entry(form).or_insert_with(|| lemma.to_owned());
        }
    }

    /// What the word is, when it is the base, past or participle of a verb that is looked for.
    pub(super) fn form(&self, word: &str) -> Option<&Form> {
        self.forms.get(word)
    }

    /// The same for a word of running text, where a hyphen may set off *re-*: *re-created*.
    pub(super) fn spoken(&self, word: &str) -> Option<&Form> {
        self.form(word)
            .or_else(|| self.form(word.strip_prefix("re-")?))
    }

    /// The verbs that are looked for.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        let bases = self.forms.values().filter(|form| form.base);
        bases.map(|form| form.lemma.as_str())
    }

    /// The verb of any form or derived noun: *cancels*, *cancelling*, *cancellation* are *cancel*.
    pub(super) fn lemma(&self, word: &str) -> Option<&str> {
        self.lemmas.get(word).map(String::as_str)
    }
}

/// Past and participle of a verb; two pairs where two spellings are in use.
fn past_forms(lemma: &str) -> Vec<(String, String)> {
    let irregular = |base: &str| {
        IRREGULAR
            .iter()
            .find(|(infinitive, ..)| *infinitive == base)
    };
    if let Some((_, past, participle)) = irregular(lemma) {
        return vec![((*past).to_owned(), (*participle).to_owned())];
    }
    for prefix in PREFIXES {
        if let Some((past, participle)) = lemma
            .strip_prefix(prefix)
            .and_then(|base| irregular(base.trim_start_matches('-')).map(|(_, p, pp)| (p, pp)))
        {
            let front = &lemma[..lemma.len()
                - lemma
                    .strip_prefix(prefix)
                    .map_or(0, |b| b.trim_start_matches('-').len())];
            return vec![(format!("{front}{past}"), format!("{front}{participle}"))];
        }
    }
    stems(lemma)
        .into_iter()
        .map(|stem| format!("{stem}ed"))
        .map(|form| (form.clone(), form))
        .collect()
}

/// What *-ed* is put behind; two stems where British and American spelling differ.
fn stems(lemma: &str) -> Vec<String> {
    let letters: Vec<char> = lemma.chars().collect();
    let vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    let last = |back: usize| {
        letters
            .len()
            .checked_sub(back)
            .and_then(|at| letters.get(at))
            .copied()
    };
    match (last(3), last(2), last(1)) {
        (_, _, Some('e')) => vec![lemma[..lemma.len() - 1].to_owned()],
        (_, Some(before), Some('y')) if !vowel(before) => {
            vec![format!("{}i", &lemma[..lemma.len() - 1])]
        }
        (Some(first), Some(middle), Some(end))
            if vowel(middle)
                && !vowel(first)
                && !vowel(end)
                && !matches!(end, 'w' | 'x' | 'y' | 'h') =>
        {
            let groups = letters
                .windows(2)
                .filter(|pair| vowel(pair[0]) && !vowel(pair[1]))
                .count();
            let doubled = format!("{lemma}{end}");
            if groups <= 1 {
                vec![doubled]
            } else {
                vec![lemma.to_owned(), doubled]
            }
        }
        _ => vec![lemma.to_owned()],
    }
}

/// The *-s* and *-ing* forms and the nouns of action made with *-ion*, *-al*, *-ment*.
fn other_forms(lemma: &str) -> Vec<String> {
    let mut forms = vec![
        format!("{lemma}s"),
        format!("{lemma}es"),
        format!("{lemma}ment"),
    ];
    if let Some(front) = lemma.strip_suffix('y') {
        forms.push(format!("{front}ies"));
    }
    for stem in stems(lemma) {
        let stem = stem
            .strip_suffix('i')
            .filter(|_| lemma.ends_with('y'))
            .map_or(stem.clone(), |front| format!("{front}y"));
        forms.push(format!("{stem}ing"));
        forms.push(format!("{stem}ion"));
        forms.push(format!("{stem}al"));
        forms.push(format!("{stem}ation"));
    }
    // A changed stem before the suffix: *add*, *addition*; *revoke*, *revocation*; *destroy*, *destruction*.
    for (verb, noun) in [
        ("add", "addition"),
        ("revoke", "revocation"),
        ("destroy", "destruction"),
        ("send", "sender"),
    ] {
        if verb == lemma {
            forms.push(noun.to_owned());
        }
    }
    forms
}

/// Whether the word can be the past or the participle of some verb, known or not.
pub(super) fn looks_past(word: &str) -> bool {
    (word.len() > 3
        && word.ends_with("ed")
        && !matches!(
            word,
            "need" | "indeed" | "hundred" | "speed" | "feed" | "seed" | "embed"
        ))
        || PAST.contains(word)
}

/// Irregular pasts and participles, with and without a prefix.
static PAST: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let forms = IRREGULAR
        .iter()
        .flat_map(|(_, past, participle)| [*past, *participle]);
    let prefixed = |form: &str| PREFIXES.map(|prefix| format!("{prefix}{form}"));
    forms
        .flat_map(|form| prefixed(form).into_iter().chain([form.to_owned()]))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_forms_follow_the_spelling_rules() {
        let lexicon = Lexicon::new(MUTATING);
        let cases = [
            ("created", "create"),
            ("dropped", "drop"),
            ("cancelled", "cancel"),
            ("canceled", "cancel"),
            ("edited", "edit"),
            ("destroyed", "destroy"),
            ("patched", "patch"),
            ("added", "add"),
            ("merged", "merge"),
            ("approved", "approve"),
        ];
        for (form, lemma) in cases {
            let found = lexicon.form(form).expect(form);
            assert!(
                found.past && found.participle && found.lemma == lemma,
                "{form}"
            );
        }
        assert_eq!(
            Lexicon::new(["apply"])
                .form("applied")
                .map(|form| form.past),
            Some(true)
        );
        assert!(lexicon.form("addeded").is_none());
    }

    #[test]
    fn irregular_forms_are_known_with_and_without_a_prefix() {
        let lexicon = Lexicon::new([
            "send",
            "write",
            "put",
            "set",
            "rewrite",
            "resend",
            "overwrite",
        ]);
        assert!(
            lexicon
                .form("wrote")
                .is_some_and(|form| form.past && !form.participle)
        );
        assert!(
            lexicon
                .form("written")
                .is_some_and(|form| !form.past && form.participle)
        );
        assert!(
            lexicon
                .form("put")
                .is_some_and(|form| form.past && form.participle && form.base)
        );
        assert!(lexicon.form("sended").is_none());
        for form in ["rewrote", "resent", "overwritten"] {
            assert!(lexicon.form(form).is_some(), "{form}");
        }
    }

    #[test]
    fn nouns_of_action_belong_to_their_verb() {
        let lexicon = Lexicon::new(MUTATING);
        for (noun, verb) in [
            ("cancellation", "cancel"),
            ("deletion", "delete"),
            ("removal", "remove"),
            ("updating", "update"),
            ("addition", "add"),
        ] {
            assert_eq!(lexicon.lemma(noun), Some(verb), "{noun}");
        }
    }
}
