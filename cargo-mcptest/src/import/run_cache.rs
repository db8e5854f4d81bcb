//! Runs, read and mapped once more. Records may hold many runs, such as the results of an evaluation in one file: these
//! records are not read again for each run.

use std::collections::VecDeque;

use serde_json::Value;

use super::plan::ImportPlan;
use super::report::Reports;
use mcptest_import::Reading;

/// Of how many records the runs are kept. The runs of one task may stand in several files, by turns.
const MOST: usize = 4;

/// The runs of the records that were read last.
#[derive(Debug, Default)]
pub(super) struct RunCache(VecDeque<CachedRuns>);

/// The runs of some records.
#[derive(Debug)]
struct CachedRuns {
    /// Their number in the plan.
    number: u32,
    /// The runs that were not asked for yet.
    runs: Vec<Option<Value>>,
    /// The place of the first record, in words; its file, and its number there.
    place: String,
    file: String,
    record: u32,
}

impl RunCache {
    /// A run of a plan, and where it comes from. The reports are told why it cannot be read.
    pub(super) fn run(
        &mut self,
        index: u32,
        plan: &ImportPlan,
        reading: &Reading<'_>,
        reports: &mut Reports,
    ) -> Option<(Value, String)> {
        let (kind, joined, ordinal) = plan.place(index);
        let number = plan.run_id(index);
        let has_run = |of: &CachedRuns| {
            of.number == number && of.runs.get(ordinal).is_some_and(Option::is_some)
        };
        if !self.0.iter().any(has_run) {
            let read = reading.map(kind, joined);
            let (mapped, records) = read.map_err(|error| reports.add_unreadable(&error)).ok()?;
            let first = records.first()?;
            let runs = mapped.into_iter();
            self.0.truncate(MOST - 1);
            self.0.push_front(CachedRuns {
                number,
                runs: runs.map(|run| Some(run.ok()?.imported.cassette)).collect(),
                place: first.location(),
                file: first.input.name(),
                record: first.number(),
            });
        }
        let of_records = self.0.iter_mut().find(|of| has_run(of))?;
        let mut run = of_records.runs.get_mut(ordinal)?.take()?;
        if kind.is_foreign() {
            let imported = &mut run["imported"];
            imported["from"] = kind.name().into();
            imported["file"] = of_records.file.as_str().into();
            imported["record"] = of_records.record.into();
            if let Some(id) = imported["id"].as_str() {
                imported["id"] = plan.id(index, id).into();
            }
        }
        Some((run, of_records.place.clone()))
    }
}
