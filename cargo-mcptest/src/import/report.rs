//! What could not be imported, and what was left out on purpose.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcptest_trace::text::{escape_line, pluralize};
use serde_json::{Value, json};

use mcptest_import::Lost;
use mcptest_import::NO_ANSWER;
use mcptest_import::NO_CALL;
use mcptest_import::shorten;
use mcptest_import::{Change, Unreadable};

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
    reasons: BTreeMap<&'static str, Reason>,
    notes: BTreeMap<String, usize>,
    /// What was read otherwise than it is written, and in how many records.
    changes: BTreeMap<Change, usize>,
}

#[derive(Debug, Default)]
struct Reason {
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
    pub(super) fn add(&mut self, reason: &'static str, place: &str, detail: &str) {
        let of_reason = self.reasons.entry(reason).or_default();
        of_reason.count += 1;
        let lines = detail.lines().map(escape_line);
        let text = shorten(&lines.collect::<Vec<_>>().join("\n"), LONGEST);
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
            Change::Cut => self.add("is cut", place, change.describe()),
            _ => *self.changes.entry(change).or_default() += 1,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.reasons.values().map(|reason| reason.count).sum()
    }

    /// The reports as text, as compilers draw errors.
    pub(super) fn render(&self) -> String {
        let mut out = String::new();
        for (reason, Reason { details, count }) in &self.reasons {
            let mut shown = 0;
            for detail in details.iter().take(DETAILS) {
                shown += detail.count;
                // Writing to a string cannot fail.
                _ = writeln!(out, "error[import]: {reason}{}", detail.count_suffix());
                for place in detail.places.iter().take(PLACES) {
                    _ = writeln!(out, " --> {place}");
                }
                if let Some(more @ 1..) = detail.count.checked_sub(PLACES) {
                    _ = writeln!(out, " --> and {}", pluralize(more, "more place"));
                }
                let text = detail.text.replace('\n', "\n      ");
                _ = writeln!(out, "  = {text}\n  = help: {}", help_for(reason));
            }
            if let Some(more @ 1..) = count.checked_sub(shown) {
                _ = writeln!(out, "error[import]: {reason}: {more} more");
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
        let reason = |(reason, of): (&&str, &Reason)| {
            let shown = of.details.iter().flat_map(|detail| {
                let places = detail.places.iter();
                places.map(|place| json!({ "place": place, "detail": detail.text }))
            });
            let shown: Vec<Value> = shown.take(KEPT).collect();
            json!({ "reason": reason, "count": of.count, "shown": shown })
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

/// What to do about a reason.
fn help_for(reason: &str) -> &'static str {
    match reason {
        "cannot be read" => "check the path, and that you may read the file",
        "cannot be unpacked" | "is no archive that can be read" => {
            "write or copy the archive again, whole and without a password"
        }
        "is cut" => "export it again; only the part before the cut was imported",
        "is too large" => "shorten what the record holds besides the run, or leave the record out",
        "is no JSON" => "correct it, unpack it, or export it again, as JSON in UTF-8",
        "no run has the score that is asked for" => {
            "name another score with `--score NAME`; these runs have no outcome"
        }
        "no run has the field to group by" => {
            "name a field that the records have: `--group-by /POINTER`"
        }
        "no model is named" => "name the model that ran with `--model NAME`",
        "the user says nothing" => "give the prompt with `--prompt TEXT`",
        "has no known format" => {
            "if the file holds runs, give their format with `--from FORMAT`; else leave the file out"
        }
        "is not read as it is" => "convert the file as the message says, and import the new file",
        "lacks its request" => "import the log of requests and responses instead",
        "is here already with different content" => {
            "if the run went on since, or was corrected, replace all runs of the agent: give `--replace` and all its files; \
             else import the run under another name with `--agent`"
        }
        "would change another suite" => {
            "give the agent of one of the suites another name, or put that suite into a folder of its own, with its own \
             recordings"
        }
        "two runs with one identifier" => {
            "the first is imported; if they are two runs, give the second an identifier of its own"
        }
        "orphan result" | "result that belongs to no certain call" | "second result of a call" => {
            "the run is imported without this result; to keep the result, add the identifier of its call"
        }
        NO_CALL => {
            "the run is imported with its texts; to judge its calls, export them as `tool_calls` of the agent's messages"
        }
        NO_ANSWER => "export the answers whole, or import the log of another client",
        "no answer" | "holds no run" | "holds nothing" => {
            "leave it out, or export it with what the agent answered"
        }
        "content was not captured" => "switch this on where the agent runs, and record new runs",
        "missing parent" | "incomplete export" => "export it again, with the missing part",
        _ => {
            "everything else is imported; if this part matters to your tests, correct the record and import it again"
        }
    }
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
