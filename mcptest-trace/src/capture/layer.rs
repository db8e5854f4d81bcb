//! The layer that sees the spans.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Map;
use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::SetGlobalDefaultError;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use super::fields::Fields;
use super::files::redactor;
use super::state::{PendingWork, State};
use crate::record::say;

/// A layer for `tracing` that writes a cassette for each run of an agent; [`capture()`](super::capture()) makes it.
#[derive(Debug)]
pub struct Capture {
    folder: PathBuf,
    secrets: Vec<(String, String)>,
    /// A session records the run, or plays it.
    is_in_session: bool,
    state: Mutex<State>,
}

impl Capture {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            secrets: Vec::new(),
            is_in_session: std::env::var_os("MCPTEST_MODE").is_some(),
            state: Mutex::default(),
        }
    }

    /// A value that must not get into a file: it is replaced by `[redacted NAME]` wherever it stands. The values of
    /// environment variables that hold keys need not be named.
    #[must_use]
    pub fn secret(mut self, name: &str, value: &str) -> Self {
        self.secrets.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the layer the program's only subscriber. A program that has one adds the layer to it instead, by `with`.
    ///
    /// # Errors
    ///
    /// The program has a subscriber.
    pub fn install(self) -> Result<(), SetGlobalDefaultError> {
        let subscriber = tracing_subscriber::registry()
            .with(self)
            .with(LevelFilter::INFO);
        tracing::subscriber::set_global_default(subscriber)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is to be written, while other spans may begin and end.
    fn perform(&self, work: &PendingWork) {
        for line in &work.said {
            say(line);
        }
        if work.runs.is_empty() {
            return;
        }
        let written = redactor(&self.secrets).and_then(|redactor| {
            let mut runs = work.runs.iter();
            runs.try_for_each(|(file, state, run)| file.write(*state, run, &self.folder, &redactor))
        });
        if let Err(error) = written {
            let mut more = PendingWork::default();
            self.state()
                .warn_once(format!("a run is not written: {error}"), &mut more);
            more.said.iter().for_each(|line| say(line));
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if self.is_in_session {
            return;
        }
        let metadata = attributes.metadata();
        let mut fields = Map::new();
        attributes.record(&mut Fields(&mut fields));
        let span = context.span(id);
        let parent = span.and_then(|span| Some(span.parent()?.id().into_u64()));
        let named = (metadata.name(), metadata.target());
        let work = self.state().begin(id.into_u64(), parent, named, fields);
        self.perform(&work);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.state().record(id.into_u64(), values);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        if std::thread::panicking() {
            self.state().panicked(id.into_u64());
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let work = self.state().end(id.into_u64());
        self.perform(&work);
    }
}
