//! The events of a stream, read: what is no JSON as it is written, and what cannot be read at all.

use std::collections::BTreeSet;

use mcptest_trace::text::pluralize;
use serde_json::Value;

use super::sse::Event;
use super::{Assembled, arguments};
use crate::lossless::{Change, Parsed, describe_error, parse_piece, rejoin_surrogates};

/// What is seen while events are read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    changes: BTreeSet<Change>,
    /// Events that hold something and cannot be read, and why the first of them cannot.
    unread: usize,
    first: Option<String>,
}

impl Reading {
    /// What an event holds. Nothing where it is no JSON; one that begins as JSON is then told.
    pub(super) fn value(&mut self, event: &Event) -> Option<Value> {
        let data = event.data.trim_start_matches('\u{feff}').trim();
        if !data.starts_with(['{', '[']) || data == "[DONE]" {
            return None;
        }
        match parse_piece(data.as_bytes()) {
            Ok(Parsed { value, changes }) => {
                // Half a character may find its other half in another event.
                let changes = changes.into_iter().filter(|it| *it != Change::Half);
                self.changes.extend(changes);
                Some(value)
            }
            Err(error) => {
                self.unread += 1;
                self.first.get_or_insert_with(|| describe_error(&error));
                None
            }
        }
    }

    /// Notes what was read otherwise elsewhere.
    pub(super) fn changed(&mut self, changes: impl IntoIterator<Item = Change>) {
        self.changes.extend(changes);
    }

    /// The answer when all events are read.
    pub(super) fn end(mut self, mut assembled: Assembled) -> Assembled {
        let values = assembled.body.iter_mut().chain(&mut assembled.error);
        let halves = values.fold(false, |any, value| rejoin_surrogates(value) | any);
        self.changes.extend(halves.then_some(Change::Half));
        if let Some(body) = &assembled.body {
            arguments::changes(body, &mut self.changes);
        }
        assembled.changes = self.changes.into_iter().collect();
        assembled.unread = self.first.map(|first| {
            let events = pluralize(self.unread, "event");
            format!("{events} of the stream cannot be read; the first one {first}")
        });
        assembled
    }
}
