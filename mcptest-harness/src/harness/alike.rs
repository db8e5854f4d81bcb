//! Runs that behave alike: not copies, but nothing to choose between them.

use std::collections::BTreeMap;

use serde_json::json;

use crate::render::numbers;
use crate::trace::{Run, Trace, canonical_json};

/// Says which runs behave alike: the same calls, results, turns and closing. Nothing where all
/// differ.
pub(crate) fn alike(runs: &[Run]) -> Option<String> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        groups.entry(behaviour(&run.trace)).or_default().push(index);
    }
    let mut alike: Vec<Vec<usize>> = groups.into_values().filter(|runs| runs.len() > 1).collect();
    if alike.is_empty() {
        return None;
    }
    alike.sort_unstable();
    let named = alike.iter().take(SHOWN).map(|runs| numbers(runs));
    let mut named = named.collect::<Vec<_>>().join("; ");
    if alike.len() > SHOWN {
        named += &format!("; and {} more groups", alike.len() - SHOWN);
    }
    let count: usize = alike.iter().map(Vec::len).sum();
    Some(format!(
        "{count} of {} runs behave alike: {named}",
        runs.len()
    ))
}

/// How many groups are named.
const SHOWN: usize = 10;

/// What a run did, without what measures it.
fn behaviour(trace: &Trace) -> String {
    let calls = trace.tool_calls.iter();
    let calls: Vec<_> = calls
        .map(|call| json!([call.server, call.name, call.args]))
        .collect();
    let results = trace.tool_results.iter();
    let results: Vec<_> = results
        .map(|result| json!([result.call_index, result.is_error, result.result]))
        .collect();
    let turns = &trace.conversation.turns;
    canonical_json(&json!([calls, results, turns, trace.final_response]))
}
