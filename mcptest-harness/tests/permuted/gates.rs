//! Runs under other numbers, and agents in another order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use crate::package::{Judged, OnDisk, agents, same_data, suite};
use crate::runs::{order, runs};

/// What two orders come to is the same, case by case.
fn same(
    one: &BTreeMap<String, Judged>,
    other: &BTreeMap<String, Judged>,
    what: impl Fn(&Judged, bool) -> Value,
) -> Result<(), TestCaseError> {
    prop_assert!(one.keys().eq(other.keys()));
    for (name, judged) in one {
        same_data(name, &what(judged, false), &what(&other[name], true))?;
    }
    Ok(())
}

/// A judged package without what says where in the suite an agent stands.
fn without_places(judged: &Judged) -> Value {
    fn leave_out(value: &mut Value) {
        if let Value::Object(map) = value {
            for place in ["asked", "place", "line", "text"] {
                map.remove(place);
            }
            map.values_mut().for_each(leave_out);
        }
        value
            .as_array_mut()
            .into_iter()
            .flatten()
            .for_each(leave_out);
    }
    let mut data = serde_json::to_value(&judged.result).unwrap();
    data["suite"]["digest"] = Value::Null;
    leave_out(&mut data);
    data["made_of"] = judged.made_of.clone().into();
    data
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_number_of_a_run_changes_nothing_else(
        (runs, order) in (2..6_usize).prop_flat_map(|count| (runs(count), order(count))),
    ) {
        let suite = suite(runs.len());
        let one = OnDisk::with_runs(&suite, &runs).judged();
        let other = OnDisk::with_runs(&suite, order.iter().map(|run| &runs[*run])).judged();
        let as_it_is: Vec<usize> = (0..runs.len()).collect();
        same(&one, &other, |judged, permuted| {
            judged.without_names(if permuted { &order } else { &as_it_is })
        })?;
    }

    #[test]
    fn the_order_of_agents_changes_nothing(
        runs in runs(2), order in order(agents(&suite(2)).1.len()),
    ) {
        let suite = suite(2);
        let (top, agents) = agents(&suite);
        let permuted: String = order.iter().map(|agent| agents[*agent].as_str()).collect();
        let one = OnDisk::with_runs(&suite, &runs).judged();
        let other = OnDisk::with_runs(&format!("{top}{permuted}"), &runs).judged();
        same(&one, &other, |judged, _| without_places(judged))?;
    }
}
