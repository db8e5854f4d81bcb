//! The suite of these tests asks for all that a suite can ask of recorded runs.

use std::collections::BTreeSet;

use mcptest::result::CaseStatus;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::package::{OnDisk, suite};
use crate::runs::runs;

/// `playback` starts a program for each run by itself. The outline that `snapshot` keeps has the runs in their order.
const LEFT_OUT: [&str; 2] = ["playback", "snapshot"];

/// The suite of these tests, for messages.
const SUITE: &str = "`mcptest-harness/tests/permuted/suite.yml`";

/// The paths of all options that a schema has, below a path.
fn options(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (key, below) in properties.filter(|(key, _)| *key != "expect") {
        let path = format!("{path}.{key}");
        options(&path, below, found);
        found.insert(path);
    }
    options_of_items(path, schema, found);
    let forms = ["anyOf", "oneOf"].map(|forms| schema[forms].as_array());
    for form in forms.into_iter().flatten().flatten() {
        options(path, form, found);
    }
}

fn options_of_items(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    if let Some(items) = schema.get("items") {
        options(path, items, found);
    }
}

/// The paths of all keys that stand in a value, below a path.
fn keys(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    for (key, below) in value.as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        keys(&path, below, found);
        found.insert(path);
    }
    let items = value.as_array().into_iter().flatten();
    items.for_each(|item| keys(path, item, found));
}

#[test]
fn each_option_of_each_gate_is_in_the_suite() {
    let suite: Value = serde_saphyr::from_str(&suite(3)).unwrap();
    let mut asked = BTreeSet::new();
    keys("", &suite["agents"], &mut asked);
    let mut missing = Vec::new();
    for gate in mcptest::gates() {
        let name = gate.kind.name();
        if LEFT_OUT.contains(&name) {
            continue;
        }
        let mut known = BTreeSet::from([format!(".{name}")]);
        options(&format!(".{name}"), &gate.schema, &mut known);
        missing.extend(known.into_iter().filter(|path| !asked.contains(path)));
    }
    let list: Vec<&str> = missing
        .iter()
        .map(|path| path.trim_start_matches('.'))
        .collect();
    let list = list.join(", ");
    assert!(
        missing.is_empty(),
        "{SUITE} does not ask for {list}. Here every option is judged with the runs in each order. Add an agent there, or \
         add the option to an agent of its gate. The runs of `permuted/runs.rs` must have something to judge"
    );
}

/// A gate that judges none of the runs would hold in each order.
#[test]
fn each_gate_judges_such_runs_and_not_all_hold() {
    let mut runner = TestRunner::deterministic();
    let (mut judged, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..12 {
        let runs = runs(3).new_tree(&mut runner).unwrap().current();
        let cases = OnDisk::with_runs(&suite(3), &runs).judged();
        for (name, case) in cases {
            let computed = case.result.targets.iter().any(|target| {
                target.value.is_some() || target.per_run.iter().any(|value| !value.is_null())
            });
            if computed {
                judged.insert(name.clone());
            }
            if case.result.status == CaseStatus::Failed {
                failed.insert(name);
            }
        }
    }
    let package = OnDisk::new(&suite(3));
    let package = package.open();
    let gates = package
        .cases()
        .into_iter()
        .filter(|case| case.gate().is_some());
    let not_judged: Vec<String> = gates
        .map(|case| case.name().to_owned())
        .filter(|name| !judged.contains(name))
        .collect();
    let list = not_judged.join(", ");
    assert!(
        not_judged.is_empty(),
        "no target of these cases has a value in any run: {list}. Such a case holds in each order. Give the agent of \
         {SUITE} options that fit the runs of `permuted/runs.rs`, or give these runs what the gate judges"
    );
    let failed: Vec<String> = failed.into_iter().collect();
    assert!(
        failed.len() > 20,
        "too few cases of {SUITE} fail in some run, so that failures are not compared: {}",
        failed.join(", ")
    );
}
