//! Which mutants are the same run, against a look at all that they are made of.

use std::collections::BTreeSet;

use super::super::change::Change;
use super::super::fingerprint::Fingerprints;
use super::super::{Tools, sites};
use super::*;
use crate::trace::{ReadOnlyTools, canonical_json};

/// All that a change makes of a run: each call with its results, the closing, and what it says of the whole.
type Made = (Vec<(String, String, Vec<Value>)>, Option<String>, String);

fn made(run: &Run, change: &Change) -> Made {
    let trace = &run.trace;
    let mut calls: Vec<(String, String, Vec<Value>)> = Vec::new();
    for (place, call) in trace.tool_calls.iter().enumerate() {
        let (name, args) = if change.edited_call() == Some(place) {
            let (name, args) = change.apply_to_call(call);
            (name.to_owned(), args.into_owned())
        } else {
            (call.name.clone(), Value::clone(&call.args))
        };
        let results = trace.tool_results.iter();
        let results = results.filter(|result| result.call_index == place);
        let results = results.map(|result| json!([result.is_error, Value::clone(&result.result)]));
        let results = match change {
            Change::FailResult(failed) if *failed == place => vec![json!("failed")],
            Change::DropResult(dropped) if *dropped == place => Vec::new(),
            _ => results.collect(),
        };
        let args = if args.is_null() { json!({}) } else { args };
        let beside = json!([call.step, canonical_json(&args)]);
        calls.push((name, beside.to_string(), results));
    }
    if let Some(order) = change.order() {
        calls = order
            .into_iter()
            .map(|place| calls[place].clone())
            .collect();
    }
    let whole = match change {
        whole @ (Change::Claim(_)
        | Change::DropClosing
        | Change::Truncate(_)
        | Change::GrowTokens(_)
        | Change::StopReason) => format!("{whole:?}"),
        _ => String::new(),
    };
    (calls, trace.closing().map(str::to_owned), whole)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        prop::sample::select(vec!["", "x", "xx", "A1", "A2", "two words"]).prop_map(Value::from),
    ]
}

fn args() -> impl Strategy<Value = Value> {
    let value = scalar().prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a/~]{1,2}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    });
    let key = prop::sample::select(vec!["a", "b", "a/b", "~", "mcptest_extra"]);
    let object = prop::collection::btree_map(key, value, 0..3).prop_map(|map| json!(map));
    prop_oneof![9 => object, 1 => scalar()]
}

fn runs() -> impl Strategy<Value = Run> {
    let name = prop::sample::select(vec!["get_order", "find", "cancel_order", "cancelOrder"]);
    let result = prop::sample::select(vec!["ok", "ok", "Error: no"]);
    let call = (name, args(), result, 0..2_u64);
    let calls = prop::collection::vec((call, 1..3_usize), 0..5);
    calls.prop_map(|calls| {
        let calls = calls.into_iter();
        let calls = calls.flat_map(|(call, times)| vec![call; times]);
        let calls: Vec<_> = calls.collect();
        let made = calls.iter();
        let made = made.map(|(name, args, _, step)| json!({ "name": name, "args": args, "step": step }));
        let results = calls.iter().enumerate();
        let results = results.map(|(call, (_, _, result, _))| {
            json!({ "call_index": call, "is_error": result.starts_with("Error"), "result": text(result) })
        });
        run_of(&json!({
            "tool_calls": made.collect::<Vec<_>>(), "tool_results": results.collect::<Vec<_>>(),
            "final_response": "Done.", "conversation": { "stop_reason": "completed" },
        }))
    })
}

proptest! {
    #[test]
    fn a_mutant_is_new_if_nothing_before_is_made_of_the_same(run in runs()) {
        let options = MutantOptions::default();
        let names = ["cancelOrder", "cancel_order", "delete_x", "find", "get_order"];
        let tools = Tools { names: names.into(), read_only: ReadOnlyTools::new([], &BTreeSet::new(), &BTreeSet::new()), options: &options };
        let mut seen = Fingerprints::new(&run);
        let original = Change::Order(std::iter::once(0..run.trace.tool_calls.len()).collect());
        let mut known = vec![made(&run, &original)];
        for site in sites::find_sites(&run, &tools) {
            let made = made(&run, &site.change);
            let is_new = !known.contains(&made);
            prop_assert_eq!(seen.is_new(&site.change), is_new, "{:?}", site);
            known.push(made);
        }
    }
}
