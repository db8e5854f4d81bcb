//! Reading recorded runs from files.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::cassette::{Run, parse_run, parse_run_text};
use super::digest::Digest;
use super::error::CassetteError;
use super::foreign_file;
use super::origin::Origin;

/// The largest cassette file that is read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

/// The most lines of a file that are listed with what is wrong with them.
const LINES_SHOWN: usize = 5;

/// Reads a file: one run, or one run a line when its name ends in `.jsonl`. `shown` is the path as
/// messages name it.
#[must_use]
pub fn read_file(path: &Path, shown: &str) -> Vec<Result<Run, CassetteError>> {
    let mut runs = read(path, shown);
    let mut errors = runs
        .iter_mut()
        .filter_map(|run| run.as_mut().err())
        .peekable();
    if errors.peek().is_some() && path.is_symlink() {
        // Whoever made the link chose the file: none of its text is shown.
        for error in errors {
            error.problems.iter_mut().for_each(|flaw| flaw.place = None);
            "the file is a link, so its text is not shown; record the run again in its place"
                .clone_into(&mut error.help);
        }
    }
    runs
}

fn read(path: &Path, shown: &str) -> Vec<Result<Run, CassetteError>> {
    let whole = Origin::file(shown);
    let refuse = |problem: String, help: &str| {
        vec![Err(CassetteError::new(&whole, vec![problem.into()], help))]
    };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err((problem, help)) => return refuse(problem, help),
    };
    if path
        .extension()
        .is_none_or(|extension| extension != "jsonl")
    {
        return vec![parse_run_text(&Arc::new(bytes), &whole)];
    }
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let filled = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let mut runs = Vec::new();
    let mut broken = false;
    for (index, line) in filled {
        let origin = Origin::line(shown, index + 1);
        let run = parse_run(line.trim_ascii(), &origin);
        let first_error = !broken && run.is_err();
        if first_error && serde_json::from_slice::<IgnoredAny>(line).is_err() {
            // The whole file may be something else; the first line that is no JSON asks.
            broken = true;
            if let Some((problem, help)) = foreign_file::diagnose(&bytes) {
                return refuse(problem, help);
            }
            if foreign_file::count_values(&bytes).is_some_and(|values| values > 0) {
                return refuse(
                    "is JSON over several lines, and a `.jsonl` file holds one run a line"
                        .to_owned(),
                    "if the file is one run, name it `.json`; if not, write each run on one line (`jq -c . FILE`)",
                );
            }
        }
        runs.push(run);
    }
    runs
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, (String, &'static str)> {
    let unreadable = |error: std::io::Error| {
        (
            format!("cannot be read: {error}"),
            "check that the file may be read",
        )
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > MAX_BYTES {
        let message = format!("has {length} bytes; at most {MAX_BYTES} are read");
        return Err((message, "record it again with smaller results, or cut them"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// Reads every file, by its path and its shown path, in order. Two runs that are equal in every
/// value, `recorded_at` included, are one run copied, not two runs. Runs that only behave alike are
/// runs ([`group_alike`](super::group_alike) tells them).
///
/// # Errors
///
/// Every run that cannot be used, and every copy; of a file with many such lines the first, and how
/// many more there are.
pub fn read_runs(files: &[(PathBuf, String)]) -> Result<Vec<Run>, Vec<CassetteError>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut errors = Vec::new();
    // The places of the runs so far, by mark: only those of one mark are looked at whole.
    let mut by_mark: HashMap<u64, Vec<usize>> = HashMap::new();
    for (path, shown) in files {
        let mut of_file = Vec::new();
        for run in read_file(path, shown) {
            match run {
                Ok(run) => {
                    let alike = by_mark.entry(run.recorded.mark()).or_default();
                    let is_copy =
                        |earlier: &&Run| earlier.recorded.digest() == run.recorded.digest();
                    let mut earlier = alike.iter().rev().filter_map(|place| runs.get(*place));
                    of_file.extend(
                        earlier
                            .find(is_copy)
                            .map(|earlier| copy_error(&run, earlier)),
                    );
                    alike.push(runs.len());
                    runs.push(run);
                }
                Err(error) => of_file.push(error),
            }
        }
        errors.extend(limit_errors(of_file, shown));
    }
    if errors.is_empty() {
        Ok(runs)
    } else {
        Err(errors)
    }
}

/// The runs that are equal in every value but for when they were recorded and how long they took, as groups of
/// their indices, each of two or more. They may be copies; an agent that does the same every time has such runs
/// too.
#[must_use]
pub fn group_equal_but_for_time(runs: &[Run]) -> Vec<Vec<usize>> {
    // Most runs differ in what is at hand, and only those that do not are looked at whole.
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        let trace = &run.trace;
        let tokens = trace.conversation.tokens;
        let names: Vec<&str> = trace.tool_calls.iter().map(|it| it.name.as_str()).collect();
        let key = (tokens.total, trace.final_response.as_deref(), names);
        alike.entry(key).or_default().push(place);
    }
    let mut groups = Vec::new();
    for places in alike.into_values().filter(|places| places.len() > 1) {
        let mut equal: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
        for place in places {
            if let Some(digest) = runs[place].recorded.timeless_digest() {
                equal.entry(digest).or_default().push(place);
            }
        }
        groups.extend(equal.into_values().filter(|places| places.len() > 1));
    }
    groups.sort();
    groups
}

fn copy_error(run: &Run, first: &Run) -> CassetteError {
    let origin = &first.origin;
    let problem = if run.recorded.text() == first.recorded.text() {
        format!("is a byte-for-byte copy of {origin}, not a run of its own")
    } else {
        format!(
            "is a copy of {origin}, not a run of its own: every value is the same, `recorded_at` included"
        )
    };
    let help = "remove one of the two, or record the run again";
    CassetteError::new(&run.origin, vec![problem.into()], help)
}

/// The first errors of a file, and how many more there are.
fn limit_errors(mut errors: Vec<CassetteError>, shown: &str) -> Vec<CassetteError> {
    let more = errors.len().saturating_sub(LINES_SHOWN);
    if more > 0 {
        errors.truncate(LINES_SHOWN);
        let origin = Origin::file(shown);
        let problem = format!("and {more} more lines that cannot be used");
        let help = "correct the lines that are shown first; the others may have the same cause";
        errors.push(CassetteError::new(&origin, vec![problem.into()], help));
    }
    errors
}
