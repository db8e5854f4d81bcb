//! Patterns of tokens: the rows of `patterns.txt`, and how they are found around a verb.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::lexicon::{Lexicon, Words};
use super::marks::{Mark, Marks, of};
use super::token::Token;

/// Tokens that a repeated step takes at most. Bounds keep reading linear.
const MOST: usize = 32;

/// Classes that a word has wherever it stands.
const STEADY: Marks = of![AfterWord Relative Announce];
/// Tokens of a stretch whose marks are looked up together, and how many stretches a pattern reaches into on
/// either side: a subject may begin 64 tokens before its verb, and two repeated steps before that.
const STRETCH: usize = 64;
const REACH: usize = 3;

/// What one token has to be.
#[derive(Debug, Clone, Default)]
struct Form {
    of: Marks,
    not: Marks,
    word: Option<&'static str>,
    other_than: Vec<&'static str>,
}

impl Form {
    fn fits(&self, token: &Token<'_>) -> bool {
        token.marks.contains(self.of)
            && !token.marks.meets(self.not)
            && self.word.is_none_or(|word| token.text == word)
            && !self.other_than.iter().any(|word| token.text == *word)
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// Tokens that are one of these forms each, so many at least and at most.
    Tokens(Vec<Form>, usize, usize),
    /// What must not stand there.
    Not(Vec<Step>),
    /// No further token.
    Edge,
}

/// What a pattern is found around.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Anchor {
    /// The verb group.
    #[default]
    Group,
    /// The subject and the verb group.
    Clause,
    /// Nothing: what stands after it is within the subject.
    Subject,
}

/// A row: the marks that a pattern sets and takes away.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The line of the file, from 0.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests ask which rows fit"))]
    line: usize,
    sets: Marks,
    takes: Marks,
    needs: Marks,
    unless: Marks,
    anchor: Anchor,
    before: Vec<Step>,
    after: Vec<Step>,
}

/// The rows of a section.
#[derive(Debug, Default)]
struct Section {
    rows: Vec<Row>,
    /// What tokens near the verb have wherever a row fits, all of it: most rows are passed over by this alone.
    near: Vec<Marks>,
}

/// What stands around a place, read away from it.
struct Side<'a, 'v> {
    words: &'a [Token<'v>],
    /// The first token, and whether tokens before it follow.
    from: usize,
    back: bool,
}

impl<'a, 'v> Side<'a, 'v> {
    fn get(&self, at: usize) -> Option<&'a Token<'v>> {
        let at = if self.back {
            self.from.checked_sub(at + 1)?
        } else {
            self.from + at
        };
        self.words.get(at)
    }

    fn fits(&self, steps: &[Step], at: usize) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return true;
        };
        match step {
            Step::Edge => self.get(at).is_none() && self.fits(rest, at),
            Step::Not(steps) => !self.fits(steps, at) && self.fits(rest, at),
            Step::Tokens(forms, least, most) => {
                for count in 0..=*most {
                    if count >= *least && self.fits(rest, at + count) {
                        return true;
                    }
                    let token = self.get(at + count);
                    if !token.is_some_and(|token| forms.iter().any(|form| form.fits(token))) {
                        return false;
                    }
                }
                false
            }
        }
    }
}

/// Where a verb group and its subject stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) subject: Range<usize>,
    pub(crate) group: Range<usize>,
    /// What the tokens near it have.
    pub(crate) near: Marks,
}

/// What the tokens of a sentence have, by stretches.
#[derive(Debug)]
pub(crate) struct Stretches(Vec<Marks>);

impl Stretches {
    pub(crate) fn from_tokens(words: &[Token<'_>]) -> Self {
        Self(words.chunks(STRETCH).map(all).collect())
    }

    /// What the tokens near a place have.
    pub(crate) fn near(&self, at: usize) -> Marks {
        let at = at / STRETCH;
        let near = self
            .0
            .iter()
            .take(at + REACH + 1)
            .skip(at.saturating_sub(REACH));
        near.fold(Marks::default(), |all, marks| all.with(*marks))
    }
}

fn all(words: &[Token<'_>]) -> Marks {
    words
        .iter()
        .fold(Marks::default(), |all, token| all.with(token.marks))
}

/// What the rows of a section say of a few words as a whole.
pub(crate) fn of_words(section: &str, words: &[Token<'_>]) -> Marks {
    let mut marks = Marks::default();
    let place = Place {
        near: all(words),
        ..Place::default()
    };
    apply(section, words, &place, &mut marks);
    marks
}

/// Applies the rows of a section in turn to the marks of a verb.
pub(crate) fn apply(section: &str, words: &[Token<'_>], place: &Place, marks: &mut Marks) {
    let section = &SECTIONS[section];
    for (near, row) in section.near.iter().zip(&section.rows) {
        if place.near.contains(*near) && row.holds(words, place, *marks) {
            *marks = marks.without(row.takes).with(row.sets);
            #[cfg(test)]
            tests::FITTED.with_borrow_mut(|lines| lines.insert(row.line));
        }
    }
}

impl Row {
    fn holds(&self, words: &[Token<'_>], place: &Place, marks: Marks) -> bool {
        if !marks.contains(self.needs) || marks.meets(self.unless) {
            return false;
        }
        let (first, next, words_after) = match self.anchor {
            Anchor::Group => (place.group.start, place.group.end, words),
            Anchor::Clause => (place.subject.start, place.group.end, words),
            Anchor::Subject => {
                let subject = &words[..place.subject.end];
                (place.subject.start, place.subject.start, subject)
            }
        };
        let side = |words, from, back| Side { words, from, back };
        side(words, first, true).fits(&self.before, 0)
            && side(words_after, next, false).fits(&self.after, 0)
    }
}

static SECTIONS: LazyLock<Words<&'static str, Section>> =
    LazyLock::new(|| parse(include_str!("patterns.txt")));

/// Reads the rows: `marks [if marks] [unless marks]: pattern  // example`.
fn parse(text: &'static str) -> Words<&'static str, Section> {
    let mut sections: Words<&'static str, Section> = Words::default();
    let mut names: HashMap<&'static str, Vec<Form>> = HashMap::new();
    let mut section = "";
    let lines = text.lines().enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.starts_with('#')) {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some((name, forms)) = line.split_once(" = ") {
            let forms = forms_of(forms, &names);
            names.insert(name, forms);
        } else if let Some((head, pattern)) = line
            .split_once(": ")
            .or(line.strip_suffix(':').map(|head| (head, "")))
        {
            let row = Row::read(at, head, pattern, &names);
            let section = sections.entry(section).or_default();
            section.near.push(row.needed_near());
            section.rows.push(row);
        } else if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        }
    }
    sections
}

impl Row {
    fn read(
        line: usize,
        head: &'static str,
        pattern: &'static str,
        names: &HashMap<&'static str, Vec<Form>>,
    ) -> Self {
        let mut row = Self {
            line,
            ..Self::default()
        };
        let mut part = "";
        for word in head.split_whitespace() {
            let mark = |name| Marks::named([name]);
            match word {
                "if" | "unless" => part = word,
                _ if part == "if" => row.needs = row.needs.with(mark(word)),
                _ if part == "unless" => row.unless = row.unless.with(mark(word)),
                _ => match word.strip_prefix('-') {
                    Some(word) => row.takes = row.takes.with(mark(word)),
                    None => row.sets = row.sets.with(mark(word)),
                },
            }
        }
        let mut words = pattern.split_whitespace();
        let anchors = [
            ("V", Anchor::Group),
            ("SV", Anchor::Clause),
            ("S", Anchor::Subject),
        ];
        row.after = steps(&mut words, names, &mut |word, steps| {
            let anchor = anchors.into_iter().find(|(name, _)| *name == word);
            if let Some((_, anchor)) = anchor {
                row.anchor = anchor;
                row.before = reversed(std::mem::take(steps));
            }
            anchor.is_some()
        });
        row
    }

    /// What tokens near the verb have wherever it fits.
    fn needed_near(&self) -> Marks {
        let steps = || self.before.iter().chain(&self.after);
        let far = |step: &Step| matches!(step, Step::Tokens(_, _, most) if *most > MOST);
        if steps().any(far) {
            return Marks::default();
        }
        steps().fold(Marks::default(), |all, step| match step {
            Step::Tokens(forms, 1.., _) if forms.len() == 1 => {
                let of_word = forms[0].word.map(|word| Lexicon::get().marks(word));
                all.with(forms[0].of)
                    .with(of_word.unwrap_or_default().among(STEADY))
            }
            _ => all,
        })
    }
}

/// Reads steps up to the end or a `)-`.
fn steps(
    words: &mut impl Iterator<Item = &'static str>,
    names: &HashMap<&'static str, Vec<Form>>,
    anchor: &mut dyn FnMut(&'static str, &mut Vec<Step>) -> bool,
) -> Vec<Step> {
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (least, most, test) = match word {
            ")-" => break,
            "-(" => {
                found.push(Step::Not(steps(words, names, &mut |_, _| false)));
                continue;
            }
            "^" | "$" => {
                found.push(Step::Edge);
                continue;
            }
            _ if anchor(word, &mut found) => continue,
            _ => match word.rsplit_once(['*', '?', '+']) {
                Some((test, most)) if !test.is_empty() => {
                    let sign = &word[test.len()..=test.len()];
                    let most = most.parse().unwrap_or(if sign == "?" { 1 } else { MOST });
                    (usize::from(sign == "+"), most, test)
                }
                _ => (1, 1, word),
            },
        };
        found.push(Step::Tokens(forms_of(test, names), least, most));
    }
    found
}

/// Steps as they are met on the way back.
fn reversed(mut steps: Vec<Step>) -> Vec<Step> {
    steps.reverse();
    for step in &mut steps {
        if let Step::Not(inner) = step {
            *inner = reversed(std::mem::take(inner));
        }
    }
    steps
}

/// Reads what a token has to be: `:mark`, `word`, `NAME`, each with `!` before it, joined by `&` and `|`.
fn forms_of(text: &'static str, names: &HashMap<&'static str, Vec<Form>>) -> Vec<Form> {
    let mut forms = Vec::new();
    for one in text.split('|') {
        if let Some(named) = names.get(one) {
            forms.extend(named.iter().cloned());
            continue;
        }
        let mut form = Form::default();
        for part in one.split('&').filter(|part| *part != "_") {
            let (not, part) = match part.strip_prefix('!') {
                Some(part) if !part.is_empty() => (true, part),
                _ => (false, part),
            };
            let class = part.strip_prefix(':').filter(|class| !class.is_empty());
            let class = class.map(|class| Marks::named([class]));
            match (class, not) {
                (Some(class), false) => form.of = form.of.with(class),
                (Some(class), true) => form.not = form.not.with(class),
                (None, false) => form.word = Some(part),
                (None, true) => form.other_than.push(part),
            }
        }
        forms.push(form);
    }
    forms
}

#[cfg(test)]
mod tests;
