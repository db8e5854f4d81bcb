//! Sessions that are copies of another one's beginning.
//!
//! A session that is forked begins with a copy of the talk so far, and nothing points to where it came
//! from. One that goes no further than another is no run of its own.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::digest::Digest;
use super::report::Reports;

/// The shortest beginning that two sessions do not share by chance: a question, what was done, an answer.
const SHORTEST: usize = 3;

/// The runs that may be forks, each with a digest of every beginning.
#[derive(Debug, Default)]
pub(super) struct Forks {
    runs: Vec<(u32, String, Vec<Digest>)>,
}

impl Forks {
    pub(super) fn add(&mut self, run: u32, id: &str, recording: &Value) {
        let turns = recording["trace"]["conversation"]["turns"].as_array();
        let mut state = Digest::of(&["turns"]);
        let mut beginnings = Vec::new();
        for turn in turns.into_iter().flatten() {
            state = state.then(&mcptest_trace::trace::canonical_json(turn));
            beginnings.push(state);
        }
        self.runs.push((run, id.to_owned(), beginnings));
    }

    /// The runs that are the beginning of another one. Those that share a longer one are noted.
    pub(super) fn left_out(&self, reports: &mut Reports) -> HashSet<u32> {
        let mut holders: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (index, (_, _, beginnings)) in self.runs.iter().enumerate() {
            for beginning in beginnings {
                holders.entry(*beginning).or_default().push(index);
            }
        }
        let mut left_out = HashSet::new();
        for (index, (run, id, beginnings)) in self.runs.iter().enumerate() {
            let Some(whole) = beginnings.last() else {
                continue;
            };
            // Of equal ones the first stays.
            let longer = |other: &&usize| {
                let length = self.runs[**other].2.len();
                length > beginnings.len() || length == beginnings.len() && **other < index
            };
            if let Some(other) = holders[whole].iter().find(longer) {
                let other = &self.runs[*other].1;
                if beginnings.len() >= SHORTEST {
                    reports.note(&format!("`{id}` is only the beginning of `{other}`, and is left out: it is no run of its own"));
                    left_out.insert(*run);
                }
                continue;
            }
            let shared = beginnings.get(SHORTEST - 1).map(|early| &holders[early]);
            if shared.is_some_and(|holders| holders.iter().any(|other| *other < index)) {
                reports.note(&format!(
                    "`{id}` begins like another session: the two runs are not independent, so statistics give them too much weight"
                ));
            }
        }
        left_out
    }
}
