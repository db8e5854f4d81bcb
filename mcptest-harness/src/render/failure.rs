//! The one shape of a failure.

use mcptest_suite::{Diagnostic, Source, Style, escape};

use super::{Diff, Table};
use mcptest_trace::text::{escape_lookalikes, shorten};

/// Where a sentence is true for several runs, and each of them says more below it.
pub(crate) const SEE_RUNS: &str = "; see the runs below";

/// Why a case failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure {
    /// What does not hold, each with its place.
    pub(crate) findings: Vec<Finding>,
    /// Evidence for all of them together.
    pub(crate) evidence: Vec<Evidence>,
}

/// One thing that does not hold.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) problem: Diagnostic,
    /// What was found, where the place of the problem says it and the message does not.
    pub(crate) found: Option<String>,
    pub(crate) evidence: Vec<Evidence>,
}

/// What shows that it does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Lines of text; the first may be a title.
    Text(String),
    Table(Table),
    Diff(Diff),
}

impl Finding {
    pub(crate) fn new(problem: Diagnostic) -> Self {
        Self {
            problem,
            found: None,
            evidence: Vec::new(),
        }
    }

    pub(crate) fn show(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// The problem where it stands, then what shows it.
    pub(crate) fn render(&self, source: &Source, style: Style) -> String {
        let evidence = self.evidence.iter().map(|evidence| evidence.render(style));
        let parts = std::iter::once(self.problem.render(source, style)).chain(evidence);
        parts.collect::<Vec<_>>().join("\n\n")
    }
}

impl From<Finding> for Failure {
    fn from(finding: Finding) -> Self {
        Self {
            findings: vec![finding],
            evidence: Vec::new(),
        }
    }
}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Self {
        Finding::new(problem).into()
    }
}

impl Failure {
    /// The failure with a note wherever two of its words differ and look the same.
    pub(crate) fn with_words_told_apart(mut self) -> Self {
        let notes = escape_lookalikes(self.texts_mut());
        match self.findings.first_mut() {
            Some(first) => first.problem.notes.extend(notes),
            None => self.evidence.extend(notes.into_iter().map(Evidence::Text)),
        }
        self
    }

    /// Adds lines about names, each with its name, unless the name is told already.
    pub(crate) fn add_name_notes(&mut self, lines: Vec<(String, String)>) {
        let texts = self.texts_mut();
        let is_told = |name: &str| texts.iter().any(|text| has_word(text, name));
        let lines = lines.into_iter().filter(|(name, _)| !is_told(name));
        let lines: Vec<String> = lines.map(|(_, line)| line).collect();
        if !lines.is_empty() {
            self.evidence.push(Evidence::Text(lines.join("\n")));
        }
    }

    /// Everything that is said but in diffs, to be changed in place.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let findings = self.findings.iter_mut().flat_map(|finding| {
            let shown = finding.evidence.iter_mut().flat_map(Evidence::texts_mut);
            finding.problem.texts_mut().into_iter().chain(shown)
        });
        let shown = self.evidence.iter_mut().flat_map(Evidence::texts_mut);
        findings.chain(shown).collect()
    }

    /// What is wrong, without where and why.
    pub(crate) fn to_line(&self) -> String {
        let first = self.findings.first();
        let mut text = first.map_or(String::new(), |finding| finding.problem.message.clone());
        // A sentence that is true for all runs needs none of them. There is nothing below a line.
        if let Some(sentence) = text.strip_suffix(SEE_RUNS) {
            text = sentence.to_owned();
        // What cannot be used says why in what it shows.
        } else if let Some(Evidence::Text(shown)) =
            first.and_then(|finding| finding.evidence.first())
        {
            let why = shown.lines().next().unwrap_or_default();
            // A title of what follows says nothing by itself.
            if !why.ends_with(':') {
                text = format!("{text}: {}", why.trim_start_matches("- "));
            }
        }
        let text = shorten(&text, 200);
        match self.findings.len() {
            0 | 1 => text,
            several => format!("{text}; and {} more", several - 1),
        }
    }

    /// What is wrong, where and why, without how to run it again.
    pub(crate) fn findings_text(&self, source: &Source) -> String {
        let findings = self.findings.iter();
        let findings = findings.map(|finding| finding.render(source, Style::Plain));
        findings.collect::<Vec<_>>().join("\n\n")
    }

    /// The whole text; `rerun` is the command that runs the case alone.
    pub(crate) fn render(&self, source: &Source, rerun: &str, style: Style) -> String {
        let findings = self.findings.iter();
        let findings = findings.map(|finding| finding.render(source, style));
        let evidence = self.evidence.iter().map(|evidence| evidence.render(style));
        let parts = findings.chain(evidence).chain([rerun_line(rerun)]);
        parts.collect::<Vec<_>>().join("\n\n")
    }
}

/// Whether a text has a name that is no part of a longer word.
fn has_word(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
    })
}

/// How a failure ends.
pub(crate) fn rerun_line(rerun: &str) -> String {
    format!("run this case alone: {rerun}")
}

impl Evidence {
    /// Evidence with a note wherever two of its words differ and look the same.
    pub(crate) fn tell_words_apart(mut evidence: Vec<Self>) -> Vec<Self> {
        let notes = escape_lookalikes(evidence.iter_mut().flat_map(Self::texts_mut).collect());
        evidence.extend(notes.into_iter().map(Self::Text));
        evidence
    }

    /// The texts of the evidence, to be changed in place. A diff tells its own words apart.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Text(text) => vec![text],
            Self::Table(table) => table.cells_mut().collect(),
            Self::Diff(_) => Vec::new(),
        }
    }

    /// The text alone.
    pub(crate) fn to_plain_text(&self) -> String {
        self.text(Style::Plain)
    }

    fn text(&self, style: Style) -> String {
        match self {
            Self::Text(text) => escape(text).into_owned(),
            Self::Table(table) => table.render(),
            Self::Diff(diff) => diff.render(style),
        }
    }

    fn render(&self, style: Style) -> String {
        let text = self.text(style);
        let lines = text.lines().map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("  {line}")
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
