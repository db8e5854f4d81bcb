//! Telling copies from runs, and runs that behave alike from others.
//!
//! A digest has 128 bits, holds within one process, and is equal for what is equal by value: neither
//! the order of keys nor the spelling of a number (`1`, `1.0`) makes a difference.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::canonical::{as_integer, sorted};
use super::{AsTrace, Trace};

/// What stands for a value when it is compared with many others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Digest(u64, u64);

impl Digest {
    pub(super) fn from_value(value: &Value) -> Self {
        Self::with(|hasher| hash(value, hasher))
    }

    fn from_behaviour(trace: &Trace) -> Self {
        Self::with(|hasher| {
            trace.tool_calls.len().hash(hasher);
            for call in &trace.tool_calls {
                (&call.name, &call.server).hash(hasher);
                hash(&call.args, hasher);
            }
            for result in &trace.tool_results {
                (result.call_index, result.is_error).hash(hasher);
                hash(&result.result, hasher);
            }
            trace.closing().hash(hasher);
        })
    }

    fn with(feed: impl Fn(&mut DefaultHasher)) -> Self {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            feed(&mut hasher);
            hasher.finish()
        };
        Self(half(0), half(1))
    }
}

fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(flag) => (1_u8, flag).hash(hasher),
        Value::Number(number) => match as_integer(number) {
            Some(whole) => (2_u8, whole).hash(hasher),
            None => (3_u8, number.as_f64().unwrap_or_default().to_bits()).hash(hasher),
        },
        Value::String(text) => (4_u8, text).hash(hasher),
        Value::Array(items) => {
            (5_u8, items.len()).hash(hasher);
            for item in items {
                hash(item, hasher);
            }
        }
        Value::Object(map) => {
            (6_u8, map.len()).hash(hasher);
            for (key, item) in sorted(map) {
                key.hash(hasher);
                hash(item, hasher);
            }
        }
    }
}

/// The runs that behave alike, as groups of their indices: the same calls with the same arguments,
/// the same results and the same closing message, whatever the tokens, the times and the turns
/// between. Every run is in one group; groups and their runs are in the order of the runs.
///
/// Runs that behave alike are runs all the same: a deterministic agent may do the same twice. It is
/// worth telling, since they say less about an agent than runs that differ.
///
/// ```
/// use mcptest_trace::trace::group_alike;
/// use serde_json::json;
///
/// let run = |said: &str, tokens: u64| json!({
///     "tool_calls": [{ "name": "search" }],
///     "final_response": said,
///     "conversation": { "tokens": { "total": tokens } },
/// });
/// let groups = group_alike(&[run("Found it.", 10), run("Nothing.", 10), run("Found it.", 12)]);
/// assert_eq!(groups, [vec![0, 2], vec![1]]);
/// ```
#[must_use]
pub fn group_alike<T: AsTrace>(runs: &[T]) -> Vec<Vec<usize>> {
    let mut places: BTreeMap<Digest, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let digest = Digest::from_behaviour(&run.as_trace());
        let place = *places.entry(digest).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json_eq;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn every_part_of_the_behaviour_counts() {
        let run = json!({
            "tool_calls": [{ "name": "a", "server": "s", "args": { "x": 1 } }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": "r" }],
            "final_response": "f",
        });
        for (pointer, other) in [
            ("/tool_calls/0/name", json!("b")),
            ("/tool_calls/0/server", json!("t")),
            ("/tool_calls/0/args/x", json!(2)),
            ("/tool_results/0/is_error", json!(true)),
            ("/tool_results/0/result", json!("q")),
            ("/final_response", json!("g")),
        ] {
            let mut changed = run.clone();
            *changed.pointer_mut(pointer).unwrap() = other;
            assert_eq!(group_alike(&[run.clone(), changed]).len(), 2, "{pointer}");
        }
        let mut slower = run.clone();
        slower["conversation"] = json!({ "duration_ms": 7, "tokens": { "total": 9 } });
        assert_eq!(group_alike(&[run, slower]), [vec![0, 1]]);
        assert!(group_alike::<Trace>(&[]).is_empty());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2..3i32).prop_map(Value::from),
            (-4..6i32).prop_map(|half| Value::from(f64::from(half) / 2.0)),
            "[ab1]{0,1}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 2, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..2).prop_map(Value::from),
                prop::collection::btree_map("[xy]", inner, 0..2)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn digests_are_equal_exactly_when_values_are(left in value(), right in value()) {
            prop_assert_eq!(
                Digest::from_value(&left) == Digest::from_value(&right),
                json_eq(&left, &right)
            );
        }
    }
}
