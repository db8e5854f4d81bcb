//! The files that an import is given: their records, and their formats.

use serde_json::Value;

use super::reason::Reason;
use super::report::Reports;
use mcptest_import::is_about_subagent;
use mcptest_import::{FormatKind, LossReason, Lost};
use mcptest_import::{Input, NamedFile, RecordPlace, Split};

/// How many records of a file are looked at for its format.
const SAMPLES: usize = 50;

/// Finds the records of every file, and its format.
pub(super) fn open(
    named: &[NamedFile],
    from: Option<FormatKind>,
    reports: &mut Reports,
) -> (Vec<Input>, Vec<(FormatKind, Vec<RecordPlace>)>) {
    let (mut inputs, mut files, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for file in named {
        let index = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
        let split = Input::split(file, index).map_err(|error| reports.add_unreadable(&error));
        let Ok(Split {
            input,
            parts,
            unreadable,
        }) = split
        else {
            continue;
        };
        if parts.is_empty() && unreadable.is_empty() {
            let what = "the file is empty, or its list is";
            reports.add(Reason::NoRecords, &input.shown, what);
        }
        for error in unreadable {
            reports.add_unreadable(&error);
        }
        if parts.is_empty() {
            continue;
        }
        match from.map_or_else(|| detect_kind(&input, &parts), Ok) {
            Ok(kind) => {
                files.push((kind, parts));
                inputs.push(input);
            }
            // The result of a trial is read with its trajectory, and the kind of a sub-agent with its session.
            Err(_) if file.found && is_companion_file(&input.name()) => {}
            Err(lost) => unknown.push((input.shown, lost)),
        }
    }
    for (place, lost) in unknown {
        if lost.reason == LossReason::UnknownFormat && !files.is_empty() {
            // Whoever gave the others knows the formats.
            reports.add(
                LossReason::UnknownFormat,
                &place,
                "no record in it looks like a run of a known format",
            );
        } else {
            reports.add_lost(&place, &lost);
        }
    }
    (inputs, files)
}

/// Whether a file of this name stands beside a run and tells something of it.
fn is_companion_file(name: &str) -> bool {
    name == "result.json" || is_about_subagent(name)
}

/// The format of a file, by its first records.
fn detect_kind(input: &Input, parts: &[RecordPlace]) -> Result<FormatKind, Lost> {
    if input.is_archive() {
        return FormatKind::detect(input, &Value::Null);
    }
    let mut found = FormatKind::detect(input, &Value::Null);
    for part in parts.iter().take(SAMPLES) {
        let record = match input.read(*part) {
            Ok(record) => record,
            Err(error) => {
                if error.reason == LossReason::StreamWithoutAnswer && found.is_err() {
                    found = Err(Lost::new(error.reason, error.detail));
                }
                continue;
            }
        };
        match FormatKind::detect(input, &record.value) {
            // Any talk without tools could be of this format; the next ones may tell.
            Ok(FormatKind::OpenAi) => found = Ok(FormatKind::OpenAi),
            Ok(kind) => return Ok(kind),
            Err(why) if found.is_err() => found = Err(why),
            Err(_) => {}
        }
    }
    found
}
