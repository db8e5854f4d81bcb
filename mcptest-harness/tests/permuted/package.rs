//! A package with recorded runs, and what its cases come to.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcptest::judge::{Package, PackageCase};
use mcptest::result::CaseResult;
use proptest::prelude::*;
use serde_json::Value;
use similar::TextDiff;
use tempfile::TempDir;

use crate::runs::{PROMPT, SYSTEM_PROMPT};

/// The suite, which asks each gate in each way.
const SUITE: &str = include_str!("suite.yml");

/// Targets that say of runs in which order they came, as the page on gates has it.
const OF_THE_ORDER: [&str; 2] = [
    "reliability.decay_curve",
    "reliability.graceful_degradation",
];

/// The suite, for so many runs.
pub(crate) fn suite(runs: usize) -> String {
    let common = format!(
        "  - model: m\n    prompt: {PROMPT}\n    system_prompt: {SYSTEM_PROMPT}\n    runs: {runs}\n    cassette: runs"
    );
    SUITE.replace("  - COMMON", &common)
}

/// The agents of the suite, without what stands above them.
pub(crate) fn agents(suite: &str) -> (String, Vec<String>) {
    let (top, agents) = suite.split_once("agents:\n").unwrap();
    let agents = agents.split("  - model:").skip(1);
    let agents = agents.map(|agent| format!("  - model:{agent}"));
    (format!("{top}agents:\n"), agents.collect())
}

/// A package on disk.
pub(crate) struct OnDisk(TempDir);

impl OnDisk {
    pub(crate) fn new(suite: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("suites/s.yml", suite);
        folder
    }

    /// A package whose runs have the numbers 1, 2, ….
    pub(crate) fn with_runs<'r>(suite: &str, runs: impl IntoIterator<Item = &'r Value>) -> Self {
        let folder = Self::new(suite);
        for (run, number) in runs.into_iter().zip(1..) {
            folder.write(&format!("suites/runs/run-{number}.json"), &run.to_string());
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn open(&self) -> Package {
        let package = Package::open(self.path(), "shop", &["suites".into()]);
        assert_eq!(package.failures(), []);
        package
    }

    /// What each case comes to, by its name.
    pub(crate) fn judged(&self) -> BTreeMap<String, Judged> {
        let package = self.open();
        let cases = package.cases();
        let judged = cases
            .iter()
            .map(|case| (case.name().to_owned(), Judged::from_case(case)));
        judged.collect()
    }
}

/// What a case comes to.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) result: CaseResult,
    /// What its numbers were made of.
    pub(crate) made_of: Vec<String>,
}

impl Judged {
    fn from_case(case: &PackageCase<'_>) -> Self {
        let mut result = case.judge();
        result.duration_ms = None;
        Self {
            result,
            made_of: case.explain(),
        }
    }

    /// All of it but the numbers and the files of runs, as if each run had the place that it has in `order`:
    /// `order[place]` is the run that was read at this place.
    pub(crate) fn without_names(&self, order: &[usize]) -> Value {
        let mut data = serde_json::to_value(&self.result).unwrap();
        for of_runs in ["recordings", "run_verdicts", "runs"] {
            put_back(&mut data[of_runs], order);
        }
        for recording in data["recordings"].as_array_mut().into_iter().flatten() {
            let recording = recording.as_object_mut().unwrap();
            recording.retain(|key, _| key == "digest");
        }
        if let Some(targets) = data["targets"].as_array_mut() {
            targets.retain(|target| !OF_THE_ORDER.iter().any(|name| target["name"] == *name));
            for target in targets {
                put_back(&mut target["per_run"], order);
            }
        }
        let notes = data["notes"].as_array_mut().into_iter().flatten();
        notes.for_each(without_numbers);
        let failure = &mut data["failure"];
        for shown in ["text", "evidence"] {
            failure[shown] = Value::Null;
        }
        // What was found in the first of several runs names it.
        let summary = failure["summary"].as_str().unwrap_or_default();
        let summary = summary.split(", see the runs below").next();
        let summary = summary.and_then(|summary| summary.split(": run").next());
        failure["summary"] = summary.into();
        for finding in failure["findings"].as_array_mut().into_iter().flatten() {
            finding["evidence"] = Value::Null;
            let notes = finding["notes"].as_array_mut().into_iter().flatten();
            notes.for_each(without_numbers);
        }
        data["made_of"] = self.lines(order).into();
        data
    }

    /// The lines of what the numbers were made of, sorted, without the names of runs. A line that picks one run of
    /// several names it.
    fn lines(&self, order: &[usize]) -> Vec<String> {
        let lines = self.made_of.iter().flat_map(|text| text.lines());
        // The metadata of a session has each trace by its name, and is cut where it is long.
        let of_metadata = |line: &str| line.trim_start().starts_with(['"', '{', '}', ']', '…']);
        let lines = lines.filter(|line| !line.contains(" of run ") && !of_metadata(line));
        let renamed = lines.map(|line| {
            // What says of the runs which came first, or which of them are meant.
            let said = ["; decay curve", "; flagged"]
                .iter()
                .fold(line, |line, part| {
                    line.split(part).next().unwrap_or_default()
                });
            let mut line = said.trim_end_matches(',').to_owned();
            let places = order.iter().enumerate();
            let named = |(place, _): &(usize, &usize)| line.contains(&format!("run-{}", place + 1));
            if let Some((place, run)) = places.clone().find(named) {
                let number = place + 1;
                line = line.replace(&format!("run {number} ("), "(");
                line = line
                    .trim()
                    .trim_start_matches(&number.to_string())
                    .to_owned();
                line = line.replace(&format!("run-{number}"), &format!("run {run}"));
            }
            line
        });
        let mut lines: Vec<String> = renamed.collect();
        lines.sort();
        lines
    }
}

/// Holds if two orders come to the same; else their difference is told, line by line.
pub(crate) fn same_data(what: &str, there: &Value, here: &Value) -> Result<(), TestCaseError> {
    let lines = |data: &Value| serde_json::to_string_pretty(data).unwrap();
    let (one, other) = (lines(there), lines(here));
    let diff = TextDiff::from_lines(&one, &other);
    prop_assert!(there == here, "{what}:\n{}", diff.unified_diff());
    Ok(())
}

/// Puts what stands there for each run back to the place of the run.
fn put_back(of_runs: &mut Value, order: &[usize]) {
    let Some(list) = of_runs
        .as_array_mut()
        .filter(|list| list.len() == order.len())
    else {
        return;
    };
    let there = std::mem::take(list);
    let mut back = vec![Value::Null; order.len()];
    for (value, run) in there.into_iter().zip(order) {
        back[*run] = value;
    }
    *list = back;
}

/// Leaves out what could be the number or the file of a run.
fn without_numbers(text: &mut Value) {
    let words = text.as_str().unwrap_or_default().split([' ', ',', ';']);
    let words =
        words.filter(|word| !word.is_empty() && !word.contains(|sign: char| sign.is_ascii_digit()));
    // Of "run 1, run 2" and "runs 1, 2" the same is left, however many there are.
    let mut words: Vec<&str> = words
        .filter(|word| !matches!(*word, "run" | "runs"))
        .collect();
    words.dedup();
    *text = words.join(" ").into();
}
