//! Sessions that are copies of another one's beginning.
//!
//! A session that is forked begins with a copy of the talk so far, and nothing points to where it came
//! from. One that goes no further than another is no run of its own.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::report::Reports;
use mcptest_import::Digest;
use mcptest_session::json::text;

/// The shortest beginning that two sessions do not share by chance where nothing but their words tells them apart: a
/// question, what was done, an answer.
const SHORTEST: usize = 3;

/// The runs that may be forks.
#[derive(Debug, Default)]
pub(super) struct Forks {
    runs: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    number: u32,
    id: String,
    /// A digest of every beginning.
    beginnings: Vec<Digest>,
    /// The shortest beginning that is no other run's by chance.
    shortest: usize,
}

impl Forks {
    /// Adds a run. `records`: what it was read from. A copy keeps the identifiers of the model's answers; two runs that
    /// say the same have others.
    pub(super) fn add<'r>(
        &mut self,
        number: u32,
        id: &str,
        recording: &Value,
        mut records: impl Iterator<Item = &'r Value> + Clone,
    ) {
        let answer = records.clone().find_map(|it| text(&it["message"], "id"));
        let first = answer.or_else(|| records.find_map(|record| text(record, "uuid")));
        let turns = recording["trace"]["conversation"]["turns"].as_array();
        let mut state = Digest::from_parts(&["turns", first.unwrap_or_default()]);
        let mut beginnings = Vec::new();
        for turn in turns.into_iter().flatten() {
            state = state.chain(&mcptest_trace::trace::canonical_json(turn));
            beginnings.push(state);
        }
        self.runs.push(Run {
            number,
            id: id.to_owned(),
            beginnings,
            shortest: if first.is_some() { 1 } else { SHORTEST },
        });
    }

    /// The runs that are the beginning of another one. Those that share a longer one are noted.
    pub(super) fn left_out(&self, reports: &mut Reports) -> HashSet<u32> {
        let mut holders: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            for beginning in &run.beginnings {
                holders.entry(*beginning).or_default().push(index);
            }
        }
        let mut left_out = HashSet::new();
        for (index, run) in self.runs.iter().enumerate() {
            let (id, beginnings) = (&run.id, &run.beginnings);
            let Some(whole) = beginnings.last() else {
                continue;
            };
            // Of equal ones the first stays.
            let longer = |other: &&usize| {
                let length = self.runs[**other].beginnings.len();
                length > beginnings.len() || length == beginnings.len() && **other < index
            };
            if let Some(other) = holders[whole].iter().find(longer) {
                let other = &self.runs[*other].id;
                if beginnings.len() >= run.shortest {
                    reports.add_note(&format!("`{id}` is only the beginning of `{other}`, and is left out: it is no run of its own"));
                    left_out.insert(run.number);
                }
                continue;
            }
            let shared = beginnings
                .get(run.shortest - 1)
                .map(|early| &holders[early]);
            if shared.is_some_and(|holders| holders.iter().any(|other| *other < index)) {
                reports.add_note(&format!(
                    "`{id}` begins like another session: the two runs are not independent, so statistics give them too much weight"
                ));
            }
        }
        left_out
    }
}
