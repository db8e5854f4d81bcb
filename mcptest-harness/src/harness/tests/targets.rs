//! What gates say their targets are, against what they compute.

use std::collections::BTreeSet;

use mcptest_suite::Subject;
use mcptest_suite::model::GateKind;
use serde_json::{Value, json};

use super::{loaded, trace};
use crate::eval::{Metrics as _, PlaybackReport};
use crate::gate::Scores;

const TOP: &str = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\nprices: { m: { prompt: 1.25, completion: 10 } }\n";

/// An agent with the example of every gate, each asked for all that not every run has, so that it is computed.
fn every_gate() -> String {
    let mut agent = "  system_prompt: Help with bookings.\n".to_owned();
    for gate in crate::gates() {
        let sometimes = gate.targets.iter().filter(|target| !target.always);
        let asked = sometimes.map(|target| {
            let name = target.name;
            format!("{{ target: {name}, matcher: {{ exact: null }} }}")
        });
        let asked: Vec<String> = asked.collect();
        let (keys, block) = gate
            .example
            .rsplit_once(&format!("{}: {{", gate.kind.name()))
            .unwrap();
        // How many runs there are is said once for all.
        let keys = keys
            .split(", ")
            .filter(|key| !key.is_empty() && !key.starts_with("runs:"));
        for key in keys {
            agent += &format!("  {key}\n");
        }
        let (name, block) = (gate.kind.name(), block.trim_end_matches('}').trim());
        let expect = match asked.as_slice() {
            [] => String::new(),
            asked => format!("expect: [{}]", asked.join(", ")),
        };
        let parts: Vec<&str> = [block, &expect]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        agent += &format!("  {name}: {{ {} }}\n", parts.join(", "));
    }
    agent
}

/// A run that has all that can be had: a hit fault, a spiral of tokens, claims.
fn rich() -> Value {
    let search = ("search", json!({ "q": "a" }), json!("error"));
    let mut run = trace(&[search], "I updated ticket T-7 and deleted notes.txt.");
    let tokens = [1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500, 6000];
    let steps = tokens.map(|tokens| json!({ "prompt": tokens, "completion": 1 }));
    run["conversation"]["steps"] = json!(steps);
    run["conversation"]["turns"] = json!([
        { "role": "user", "content": "hi" }, { "role": "assistant", "content": "I updated ticket T-7." },
    ]);
    run["conversation"]["duration_ms"] = json!(900);
    run["tool_results"][0]["duration_ms"] = json!(40);
    let signals = json!({ "confidence": 0.9, "coherence": 1.0 });
    json!({
        "trace": run, "system_prompt": "Help with bookings.", "signals": signals, "outcome": { "passed": true },
    })
}

/// The paths of a gate's metrics; what is no object is a target.
fn paths(prefix: &str, metrics: &Value, found: &mut BTreeSet<String>) {
    match metrics {
        Value::Object(map) => {
            for (key, value) in map {
                let path = match prefix {
                    "" => key.clone(),
                    prefix => format!("{prefix}.{key}"),
                };
                paths(&path, value, found);
            }
        }
        Value::Null => {}
        _ => _ = found.insert(prefix.to_owned()),
    }
}

fn is_what_it_declares(kind: GateKind, all: &[Value]) {
    let known = crate::gates();
    let known = known.iter().find(|gate| gate.kind == kind).unwrap();
    let mut found = BTreeSet::new();
    for metrics in all {
        let mut of_one = BTreeSet::new();
        paths("", metrics, &mut of_one);
        for target in known.targets.iter().filter(|target| target.always) {
            assert!(
                of_one.contains(target.name),
                "`{}` is missing in {metrics}",
                target.name
            );
        }
        found.extend(of_one);
    }
    let declared: BTreeSet<String> = known
        .targets
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(found, declared, "{}", kind.name());
}

#[test]
fn gates_compute_the_targets_they_declare() {
    let mut plain = rich();
    plain["trace"]["tool_calls"] = json!([{ "name": "fetch" }]);
    plain["trace"]["tool_results"] = json!([]);
    plain["trace"]["conversation"]["steps"] = json!([{ "prompt": 10, "completion": 1 }]);
    let (_folder, suite) = loaded(TOP, &every_gate(), &[rich(), plain]);
    let subject = Subject { agent: 0, model: 0 };
    let runs = suite.runs(subject).as_ref().unwrap();
    let snapshots = suite.snapshots(subject);
    let input = suite.input(subject, runs, &snapshots);
    let mut judged = BTreeSet::new();
    for gate in &suite.gates(subject).gates {
        let scores = match gate.kind {
            // It judges what a program does, and this agent has none.
            GateKind::Playback => Scores::EachRun(vec![PlaybackReport::default().metrics()]),
            _ => gate.judge(&input).scores,
        };
        let each_run = match scores {
            Scores::None => false,
            Scores::Together(metrics) => {
                is_what_it_declares(gate.kind, &[metrics]);
                false
            }
            Scores::EachRun(metrics) => {
                is_what_it_declares(gate.kind, &metrics);
                true
            }
        };
        judged.insert((gate.kind, each_run));
    }
    let known = crate::gates().into_iter();
    let known: BTreeSet<_> = known.map(|gate| (gate.kind, gate.each_run)).collect();
    assert_eq!(judged, known);
}

#[test]
fn every_kind_of_gate_is_implemented() {
    let known = crate::gates().into_iter().map(|gate| gate.kind);
    assert_eq!(known.collect::<Vec<_>>(), GateKind::ALL);
}
