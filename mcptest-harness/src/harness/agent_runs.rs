//! What Rust checks see: the recorded runs of one agent test.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use mcptest_suite::model::{Agent, CheckOptions, Model};
use mcptest_suite::{Diagnostic, Source, Span, Style};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::remarks::note_alike;
use crate::eval::KnownTools;
use crate::gate::{Unplayable, runs_note};
use crate::record::PlayedRun;
use crate::render::{Evidence, Finding};
use crate::result::{self, Recording};
use crate::trace::Run;
use mcptest_trace::text::{shorten, truncate_lines};

/// The recorded runs of one agent test with one model; what a Rust check is given.
///
/// ```no_run
/// # use mcptest::AgentRuns;
/// /// No refund before the customer agreed.
/// fn asks_first(runs: &AgentRuns) -> Result<(), mcptest::CheckFailure> {
///     runs.each("a question comes before the first refund", |run| {
///         let refund = run.calls_of("refund").next();
///         let asked = run.trace.conversation.turns.iter().any(|turn| turn.content.ends_with('?'));
///         if refund.is_some() && !asked { Err("it refunded unasked".to_owned()) } else { Ok(()) }
///     })
/// }
/// ```
#[derive(Debug, Clone)]
pub struct AgentRuns {
    agent: String,
    model: String,
    source: Source,
    span: Span,
    checks: Vec<CheckOptions>,
    runs: Vec<Run>,
    /// The tools that the runs show, once a gate has asked for them.
    known_tools: OnceLock<KnownTools>,
    /// Which runs behave alike, once a failure has asked.
    alike: OnceLock<Option<String>>,
    /// The files of the runs, once a result has asked.
    recordings: OnceLock<Vec<Recording>>,
    /// What the agent's own code made of each run, once a gate has asked: it runs once for each.
    played: OnceLock<Vec<Result<PlayedRun, Unplayable>>>,
}

impl AgentRuns {
    pub(crate) fn new(source: &Source, agent: &Agent, model: &Model, runs: Vec<Run>) -> Self {
        Self {
            agent: agent.name.value.clone(),
            model: model.id.clone(),
            source: source.clone(),
            span: agent.name.span,
            checks: agent.checks.clone(),
            runs,
            known_tools: OnceLock::new(),
            alike: OnceLock::new(),
            recordings: OnceLock::new(),
            played: OnceLock::new(),
        }
    }

    pub(crate) fn known_tools(&self) -> &OnceLock<KnownTools> {
        &self.known_tools
    }

    pub(crate) fn played(&self) -> &OnceLock<Vec<Result<PlayedRun, Unplayable>>> {
        &self.played
    }

    /// Says which runs behave alike; nothing where all differ.
    pub(crate) fn alike_note(&self) -> Option<&String> {
        self.alike.get_or_init(|| note_alike(&self.runs)).as_ref()
    }

    /// The files of the runs, read once more for their digests.
    pub(crate) fn recordings(&self, package: &Path) -> &[Recording] {
        let made = || result::recordings(package, &self.runs);
        self.recordings.get_or_init(made)
    }

    /// The agent's name as the suite writes it.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The model's identifier.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What the agent writes below `checks:` for a check: YAML options of your own. `null` where it
    /// writes nothing.
    #[must_use]
    pub fn options(&self, check: &str) -> &Value {
        let given = self.checks.iter().find(|given| given.name.value == check);
        given.map_or(&Value::Null, |given| &given.options)
    }

    /// What the agent writes below `checks:` for a check, read as a type. Where the agent writes nothing, it is
    /// read from an empty mapping.
    ///
    /// # Errors
    ///
    /// The options are not of the type; the failure points at them in the suite.
    pub fn options_as<T: DeserializeOwned>(&self, check: &str) -> Result<T, CheckFailure> {
        let given = self.checks.iter().find(|given| given.name.value == check);
        let options = given
            .map(|given| given.options.clone())
            .filter(|options| !options.is_null());
        let options = options.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        serde_json::from_value(options).map_err(|error| {
            let span = given.map_or(self.span, |given| given.name.span);
            let problem =
                Diagnostic::at(span, format!("the options of `{check}` are wrong: {error}"));
            CheckFailure {
                text: Finding::new(problem).render(&self.source, Style::Plain),
            }
        })
    }

    /// The runs in order; never empty.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Run> {
        self.runs.iter()
    }

    /// Holds every run to something, and says which runs break it as the built-in gates do.
    ///
    /// # Errors
    ///
    /// The runs for which `holds` is an error, each with its words.
    pub fn each<E: fmt::Display>(
        &self,
        what: &str,
        holds: impl Fn(&Run) -> Result<(), E>,
    ) -> Result<(), CheckFailure> {
        let broken: Vec<(usize, String)> = self
            .runs
            .iter()
            .enumerate()
            .filter_map(|(index, run)| Some((index, holds(run).err()?.to_string())))
            .collect();
        if broken.is_empty() {
            return Ok(());
        }
        let places: Vec<usize> = broken.iter().map(|(index, _)| *index).collect();
        let message = format!(
            "{what}: does not hold in {} of {} runs",
            broken.len(),
            self.runs.len()
        );
        let problem = Diagnostic::at(self.span, message).note(runs_note(&self.runs, &places));
        let lines = broken
            .iter()
            .map(|(index, why)| format!("run {}: {}", index + 1, shorten(why, 300)));
        let finding =
            Finding::new(problem).show(Evidence::Text(truncate_lines(&lines.collect::<Vec<_>>())));
        Err(CheckFailure {
            text: finding.render(&self.source, Style::Plain),
        })
    }
}

impl<'a> IntoIterator for &'a AgentRuns {
    type Item = &'a Run;
    type IntoIter = std::slice::Iter<'a, Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A check that does not hold; `Display` and `Debug` are its text.
#[derive(Clone, PartialEq, Eq)]
pub struct CheckFailure {
    text: String,
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CheckFailure {}

/// What a check may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a check can return",
    note = "a check returns `()`, or a `Result` whose error implements `Debug`"
)]
pub trait Verdict {
    /// The verdict; an error is the failure text.
    #[doc(hidden)]
    fn verdict(self) -> Result<(), String>;
}

impl Verdict for () {
    fn verdict(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Debug> Verdict for Result<(), E> {
    fn verdict(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
    }
}
