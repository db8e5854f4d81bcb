//! Reading a mapping key by key, noting every problem on the way.

use super::problems::Problems;
use crate::{Diagnostic, Entry, Node, Span, nearest, quoted_list};

/// How many of the known keys are named where none is near.
const NAMED: usize = 12;

/// Whether a key is the author's own, where such keys may be.
pub(super) fn is_own_key(key: &str) -> bool {
    key.starts_with("x-")
}

/// A mapping being read. Every key that is asked for is known; [`Fields::finish`] reports the rest.
#[derive(Debug)]
pub struct Fields<'n> {
    owner: &'static str,
    entries: Vec<&'n Entry>,
    /// Whether `x-…` keys are the author's own.
    own_keys: bool,
    /// Where to point when a key is missing.
    pub span: Span,
    asked: Vec<&'static str>,
    /// Those of them that are told together, by this word.
    together: Option<(&'static str, Vec<&'static str>)>,
    /// Known, but nothing to recommend.
    tolerated: Vec<&'static str>,
    /// Keys that are missing unless one of them is misspelt, and what to say of them then.
    missing: Vec<(Vec<&'static str>, Diagnostic)>,
}

impl<'n> Fields<'n> {
    /// Opens a mapping; `owner` is what it describes, e.g. `an agent`.
    pub fn open(node: &'n Node, owner: &'static str, problems: &mut Problems) -> Option<Self> {
        if let Some(entries) = node.entries() {
            let span = entries.first().map_or(node.span, |entry| entry.key_span);
            return Some(Self {
                owner,
                entries: entries.iter().collect(),
                own_keys: false,
                span,
                asked: Vec::new(),
                together: None,
                tolerated: Vec::new(),
                missing: Vec::new(),
            });
        }
        problems.expected(&format!("a mapping for {owner}"), node);
        None
    }

    /// Lets keys that begin with `x-` be whatever the author wants, e.g. a place for anchors.
    pub(super) fn with_own_keys(mut self) -> Self {
        self.own_keys = true;
        self
    }

    /// Makes help texts name these keys by one word, `called`, and not each key by its name.
    pub(super) fn summarize_keys(&mut self, called: &'static str, keys: Vec<&'static str>) {
        self.together = Some((called, keys));
    }

    /// Adds entries that are not there themselves.
    pub(super) fn with_defaults(mut self, defaults: impl IntoIterator<Item = &'n Entry>) -> Self {
        self.entries.extend(defaults);
        self
    }

    /// Every entry, those of defaults last.
    pub(super) fn entries(&self) -> &[&'n Entry] {
        &self.entries
    }

    fn is_own_key(&self, key: &str) -> bool {
        self.own_keys && is_own_key(key)
    }

    /// The entry of a key.
    pub fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        self.entries.iter().copied().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub fn get(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// What is read of a key's value; nothing where the key is not there.
    pub(super) fn read<T: Default>(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
        read: impl FnOnce(&'n Node, &mut Problems) -> T,
    ) -> T {
        let node = self.get(key);
        node.map_or_else(T::default, |node| read(node, problems))
    }

    /// Whether a key is there.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The value of a key that must be there.
    pub fn required(&mut self, key: &'static str, problems: &mut Problems) -> Option<&'n Node> {
        let node = self.get(key);
        if node.is_none() {
            let message = format!("{} needs `{key}`", self.owner);
            let problem = Diagnostic::at(self.span, message).help(format!("add `{key}:`"));
            self.missing(&[key], problem, problems);
        }
        node
    }

    /// Reports that none of some keys is there. A key that looks like one of them may be known to whoever asks for it
    /// later: [`Fields::finish`] tells.
    pub(super) fn missing(
        &mut self,
        keys: &[&'static str],
        problem: Diagnostic,
        problems: &mut Problems,
    ) {
        if self.misspells(keys) {
            self.missing.push((keys.to_vec(), problem));
        } else {
            problems.push(problem);
        }
    }

    /// Whether one of the keys seems to be there misspelt. [`Fields::finish`] reports it as that,
    /// so it need not be reported as missing too.
    #[must_use]
    pub fn misspells(&self, keys: &[&'static str]) -> bool {
        let entries = self.entries.iter();
        entries
            .filter(|entry| !self.asked.contains(&entry.key.as_str()))
            .filter(|entry| !self.is_own_key(&entry.key))
            .any(|entry| nearest(&entry.key, keys.iter().copied()).is_some())
    }

    /// The entry of whichever of several spellings is there; two at once are a problem.
    pub fn either(
        &mut self,
        keys: [&'static str; 2],
        problems: &mut Problems,
    ) -> Option<&'n Entry> {
        let [first, second] = keys.map(|key| self.entry(key));
        if let (Some(first), Some(second)) = (first, second) {
            problems.push(
                Diagnostic::new(format!(
                    "`{}` and `{}` say the same thing",
                    first.key, second.key
                ))
                .label(second.key_span, "again here")
                .secondary_label(first.key_span, "first here")
                .help("keep one of the two"),
            );
        }
        first.or(second)
    }

    /// Takes every entry of some keys that are known, but nothing to recommend.
    pub(crate) fn take_matching(
        &mut self,
        wanted: &[&'static str],
    ) -> impl Iterator<Item = &'n Entry> + use<'n> {
        self.tolerated.extend(wanted);
        let wanted = wanted.to_vec();
        let entries = self.entries.clone();
        entries
            .into_iter()
            .filter(move |entry| wanted.contains(&entry.key.as_str()))
    }

    /// Reports every key that nothing asked for, and keys that are missing and not among these, misspelt.
    pub fn finish(mut self, problems: &mut Problems) {
        for (keys, problem) in std::mem::take(&mut self.missing) {
            if !self.misspells(&keys) {
                problems.push(problem);
            }
        }
        for entry in &self.entries {
            let key = entry.key.as_str();
            let known = self.asked.contains(&key) || self.tolerated.contains(&key);
            if !known && !self.is_own_key(key) {
                let message = format!("unknown key `{}` in {}", entry.key, self.owner);
                let problem = Diagnostic::at(entry.key_span, message);
                // A key that is only tolerated is not recommended, but it may be what was meant.
                let [asked, tolerated] =
                    [&self.asked, &self.tolerated].map(|keys| keys.iter().copied());
                let near = nearest(key, asked).or_else(|| nearest(key, tolerated));
                let mut problem = problem.help(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => self.describe_known_keys(),
                });
                problem.known_keys = self.asked.iter().copied().map(str::to_owned).collect();
                problems.push(problem);
            }
        }
    }

    /// The known keys in words: the first of them where they are many.
    fn describe_known_keys(&self) -> String {
        let (called, together) = match &self.together {
            Some((called, keys)) => (Some(called), keys.as_slice()),
            None => (None, [].as_slice()),
        };
        let alone = self.asked.iter().copied();
        let alone: Vec<&str> = alone.filter(|key| !together.contains(key)).collect();
        let (named, more) = alone.split_at(alone.len().min(NAMED));
        let mut text = format!("known keys: {}", quoted_list(named.iter().copied()));
        if !more.is_empty() {
            text += &format!(" and {} more", more.len());
        }
        if let Some(called) = called {
            text += &format!(", or {called}");
        }
        text
    }
}
