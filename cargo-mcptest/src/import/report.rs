//! What could not be imported, and what was left out on purpose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcptest_trace::text::{counted, escape_line};
use serde_json::{Value, json};

use super::event::Lost;
use super::input::{Change, Unreadable};
use super::json::shortened;

/// How many reports of one reason are shown.
const SHOWN: usize = 20;

/// How much of a detail is shown.
const LONGEST: usize = 1_500;

/// What is lost, by reason.
#[derive(Debug, Default)]
pub(super) struct Reports {
    reasons: BTreeMap<&'static str, Reason>,
    notes: BTreeMap<String, usize>,
    /// What was read otherwise than it is written, and in how many records.
    changes: BTreeMap<Change, usize>,
}

#[derive(Debug, Default)]
struct Reason {
    /// Place and detail.
    shown: Vec<(String, String)>,
    count: usize,
}

impl Reports {
    pub(super) fn lose(&mut self, reason: &'static str, place: &str, detail: &str) {
        let of_reason = self.reasons.entry(reason).or_default();
        of_reason.count += 1;
        if of_reason.shown.len() < SHOWN {
            let detail = shortened(&escape_line(detail), LONGEST);
            of_reason
                .shown
                .push((escape_line(place).into_owned(), detail));
        }
    }

    pub(super) fn unreadable(&mut self, error: &Unreadable) {
        self.lose(error.reason, &error.place, &error.detail);
    }

    pub(super) fn lost(&mut self, place: &str, lost: &Lost) {
        self.lose(lost.reason, place, &lost.detail);
    }

    pub(super) fn note(&mut self, note: &str) {
        *self.notes.entry(note.to_owned()).or_default() += 1;
    }

    /// A record was read otherwise than it is written. What a console cut short is lost.
    pub(super) fn changed(&mut self, place: &str, change: Change) {
        match change {
            Change::Cut => self.lose("is cut", place, change.told()),
            _ => *self.changes.entry(change).or_default() += 1,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.reasons.values().map(|reason| reason.count).sum()
    }

    /// The reports as text, as compilers draw errors.
    pub(super) fn drawn(&self) -> String {
        let mut out = String::new();
        for (reason, Reason { shown, count }) in &self.reasons {
            // What is the same of several places is said once.
            let mut told: Vec<(&str, String)> = Vec::new();
            for (place, detail) in shown {
                let place = format!(" --> {place}\n");
                match told.iter_mut().find(|(known, _)| known == detail) {
                    Some((_, places)) => places.push_str(&place),
                    None => told.push((detail, place)),
                }
            }
            for (detail, places) in told {
                // Writing to a string cannot fail.
                _ = writeln!(out, "error[import]: {reason}\n{places}  = {detail}");
                _ = writeln!(out, "  = help: {}", help(reason));
            }
            if *count > shown.len() {
                let more = count - shown.len();
                _ = writeln!(out, "error[import]: {reason}: {more} more");
            }
        }
        out
    }

    /// The notes as text.
    pub(super) fn notes(&self) -> String {
        let line = |(note, count): (&String, &usize)| match count {
            1 => format!("note: {}\n", escape_line(note)),
            _ => format!("note: {} ({count} runs)\n", escape_line(note)),
        };
        let changes = self.changes.iter().map(|(change, count)| {
            let records = counted(*count, "record");
            format!("note: {} ({records})\n", change.told())
        });
        changes.chain(self.notes.iter().map(line)).collect()
    }

    pub(super) fn json(&self) -> (Value, Value) {
        let reason = |(reason, of): (&&str, &Reason)| {
            let shown = of.shown.iter();
            let shown: Vec<Value> = shown
                .map(|(place, detail)| json!({ "place": place, "detail": detail }))
                .collect();
            json!({ "reason": reason, "count": of.count, "shown": shown })
        };
        let note = |note: &str, count: &usize| json!({ "note": note, "count": count });
        let changes = self.changes.iter();
        let changes = changes.map(|(change, count)| note(change.told(), count));
        let notes = self.notes.iter().map(|(text, count)| note(text, count));
        (
            self.reasons.iter().map(reason).collect(),
            changes.chain(notes).collect(),
        )
    }
}

/// What to do about a reason.
fn help(reason: &str) -> &'static str {
    match reason {
        "cannot be read" => "check the path, and that the file may be read",
        "cannot be unpacked" | "is no archive that can be read" => {
            "write or copy the archive again, whole and without a password"
        }
        "is cut" => "export it again; what came before the cut is imported",
        "is too large" => "cut what the record holds besides the run, or leave it out",
        "is no JSON" => "mend the record, or export it again",
        "no run has the score that is asked for" => {
            "name another with `--score NAME`; the runs are imported without an outcome"
        }
        "no run has what is grouped by" => {
            "name a field that the records have: `--group-by /POINTER`"
        }
        "no model is named" => "say which model ran with `--model NAME`",
        "the user says nothing" => "give the prompt with `--prompt TEXT`",
        "has no known format" => "say which format it has with `--from FORMAT`",
        "is not read as it is" => "give it in that form",
        "lacks its request" => "import the log of requests and responses instead",
        "is here already with another content" => {
            "where the run went on since, or was mended, swap all runs of the agent, with `--replace` and all its files; else \
             import it under another name with `--agent`"
        }
        "would change another suite" => {
            "give the agent of one of the suites another name, or put that suite into a folder of its own, with the \
             recordings that are its own"
        }
        "two runs with one identifier" => {
            "the first is imported; where they are two runs, give the second an identifier of its own"
        }
        "orphan result" | "result that belongs to no certain call" | "second result of a call" => {
            "the rest of the run is imported without this result"
        }
        _ => "the rest is imported",
    }
}
