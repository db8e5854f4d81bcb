//! What could not be imported, and what was left out on purpose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcptest_trace::text::{escape_line, pluralize, truncate};
use serde_json::{Value, json};

use mcptest_import::{Change, LossReason, Lost, Unreadable};

use super::reason::Reason;

/// How many places of a reason are kept for programs.
const KEPT: usize = 20;

/// How many places of one detail, and how many details of one reason, are shown to people.
const PLACES: usize = 3;
const DETAILS: usize = 5;

/// How many notes are shown that say the same of different things.
const ALIKE: usize = 5;

/// How much of a detail is shown.
const LONGEST: usize = 1_500;

/// What an import could not read or map, by reason.
#[derive(Debug, Default)]
pub(super) struct Reports {
    reasons: BTreeMap<Reason, Reported>,
    notes: BTreeMap<String, usize>,
    /// What was read otherwise than it is written, and in how many records.
    changes: BTreeMap<Change, usize>,
}

#[derive(Debug, Default)]
struct Reported {
    /// The details, each once.
    details: Vec<Detail>,
    count: usize,
}

/// What is wrong, and where.
#[derive(Debug)]
struct Detail {
    text: String,
    /// The first places.
    places: Vec<String>,
    count: usize,
}

impl Reports {
    pub(super) fn add(&mut self, reason: impl Into<Reason>, place: &str, detail: &str) {
        let of_reason = self.reasons.entry(reason.into()).or_default();
        of_reason.count += 1;
        let lines = detail.lines().map(escape_line);
        let text = lines.collect::<Vec<_>>().join("\n");
        let text = truncate(&text, LONGEST).into_owned();
        let details = &mut of_reason.details;
        let known = details.iter().position(|detail| detail.text == text);
        let known = known.or_else(|| {
            (details.len() < KEPT).then(|| {
                details.push(Detail {
                    text,
                    places: Vec::new(),
                    count: 0,
                });
                details.len() - 1
            })
        });
        if let Some(detail) = known.and_then(|known| details.get_mut(known)) {
            detail.count += 1;
            if detail.places.len() < KEPT {
                detail.places.push(escape_line(place).into_owned());
            }
        }
    }

    pub(super) fn add_unreadable(&mut self, error: &Unreadable) {
        self.add(error.reason, &error.place, &error.detail);
    }

    pub(super) fn add_lost(&mut self, place: &str, lost: &Lost) {
        self.add(lost.reason, place, &lost.detail);
    }

    pub(super) fn add_note(&mut self, note: &str) {
        *self.notes.entry(note.to_owned()).or_default() += 1;
    }

    /// A record was read otherwise than it is written. What a console cut short is lost.
    pub(super) fn add_change(&mut self, place: &str, change: Change) {
        match change {
            Change::Cut => self.add(LossReason::Cut, place, change.describe()),
            _ => *self.changes.entry(change).or_default() += 1,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.reasons.values().map(|of_reason| of_reason.count).sum()
    }

    /// The reports as text, as compilers draw errors.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        for (reason, Reported { details, count }) in &self.reasons {
            let (name, help) = (reason.as_str(), reason.help());
            let mut shown = 0;
            for detail in details.iter().take(DETAILS) {
                shown += detail.count;
                // Writing to a string cannot fail.
                _ = writeln!(out, "error[import]: {name}{}", detail.count_suffix());
                for place in detail.places.iter().take(PLACES) {
                    _ = writeln!(out, " --> {place}");
                }
                if let Some(more @ 1..) = detail.count.checked_sub(PLACES) {
                    _ = writeln!(out, " --> and {}", pluralize(more, "more place"));
                }
                let text = detail.text.replace('\n', "\n      ");
                _ = writeln!(out, "  = {text}\n  = help: {help}");
            }
            if let Some(more @ 1..) = count.checked_sub(shown) {
                _ = writeln!(out, "error[import]: {name}: {more} more");
            }
        }
        out
    }

    /// The notes as text. Of many that differ in names and numbers alone, some are shown.
    pub(super) fn render_notes(&self) -> String {
        let changes = self.changes.iter().map(|(change, count)| {
            let records = pluralize(*count, "record");
            format!("note: {} ({records})\n", change.describe())
        });
        let mut out: String = changes.collect();
        let mut alike: BTreeMap<String, usize> = BTreeMap::new();
        for (note, count) in &self.notes {
            let shown = alike.entry(note_shape(note)).or_default();
            *shown += 1;
            if *shown > ALIKE {
                continue;
            }
            let runs = match count {
                1 => String::new(),
                _ => format!(" ({count} runs)"),
            };
            let meaning = explain_note(note).map_or_else(String::new, |it| format!(": {it}"));
            // Writing to a string cannot fail.
            _ = writeln!(out, "note: {}{runs}{meaning}", escape_line(note));
        }
        let more = alike.values().map(|count| count.saturating_sub(ALIKE));
        if let more @ 1.. = more.sum() {
            let more = pluralize(more, "more note");
            _ = writeln!(out, "note: {more} like these: `--format json` lists all");
        }
        out
    }

    pub(super) fn json(&self) -> (Value, Value) {
        let reason = |(reason, of): (&Reason, &Reported)| {
            let shown = of.details.iter().flat_map(|detail| {
                let places = detail.places.iter();
                places.map(|place| json!({ "place": place, "detail": detail.text }))
            });
            let shown: Vec<Value> = shown.take(KEPT).collect();
            json!({ "reason": reason.as_str(), "count": of.count, "shown": shown })
        };
        let note = |note: &str, count: &usize| json!({ "note": note, "count": count });
        let changes = self.changes.iter();
        let changes = changes.map(|(change, count)| note(change.describe(), count));
        let notes = self.notes.iter().map(|(text, count)| note(text, count));
        (
            self.reasons.iter().map(reason).collect(),
            changes.chain(notes).collect(),
        )
    }
}

impl Detail {
    /// How often it was found, where that is more than once.
    fn count_suffix(&self) -> String {
        match self.count {
            1 => String::new(),
            count => format!(" ({count} times)"),
        }
    }
}

/// A note without the names and numbers in it.
fn note_shape(note: &str) -> String {
    let words = note.split('`').step_by(2).collect::<Vec<_>>().join("`");
    words
        .chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

/// What a note means for who reads it, where its own words do not say so. A note itself is a part of its recording.
fn explain_note(note: &str) -> Option<&'static str> {
    Some(match note {
        "reasoning left out" => "recordings do not hold what a model thinks; no gate judges it",
        "ends in an unanswered call" => {
            "the record may be cut, or the run was stopped; leave the run out if it is not whole"
        }
        "the same run twice in the input" => "each run is imported once",
        "compaction left out" => {
            "recordings do not hold the summaries that an agent makes of its own history"
        }
        "notes of the program to the model left out" => "the user did not write them",
        "results of which only a preview was kept" => {
            "the recordings hold the preview; gates on these results see no more"
        }
        note if note.starts_with("tokens for ") => {
            "some token counts are missing, so the run has no tokens; `--estimate-tokens` estimates them from the length of the texts"
        }
        note if note.starts_with("records of the unknown type ") => {
            "the rest of these runs is imported; if a call is missing there, look at these records"
        }
        _ => return None,
    })
}
