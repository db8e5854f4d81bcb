//! What gates say their targets are, against what they compute.

use std::collections::BTreeSet;

use mcptest_suite::Subject;
use mcptest_suite::gates::{Confidence, Weights};
use mcptest_suite::model::GateKind;
use serde_json::{Value, json};

use super::{calls, loaded, trace};
use crate::eval::{
    SessionTrace, StabilityFloors, agent_stability_across, score_session, summarize_with,
};
use crate::gate::{Input, implementation};
use crate::trace::Signals;

const FAULT: &str = "faults:\n- { name: hung, target: { tool: search }, kind: hang }\n";

/// An agent with every gate that judges a run.
const PER_RUN: &str = "  inject: [hung]
  energy: { expect: [{ target: energy.drift, matcher: { schema: { maximum: 0.9 } } }] }
  golden_path: { calls: [search] }
  narrative: {}
  recovery: { allow_unexercised: true }
  trajectory: { mode: superset, calls: [{ name: search }] }
  trajectory_axes: { order: [{ first: search, second: fetch }] }
";

/// A run that has all that can be had: a hit fault, a spiral of tokens, claims.
fn rich() -> Value {
    let search = ("search", json!({ "q": "a" }), json!("error"));
    let mut run = trace(&[search], "I updated ticket T-7 and deleted notes.txt.");
    let tokens = [1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500, 6000];
    let steps = tokens.map(|tokens| json!({ "prompt": tokens, "completion": 0 }));
    run["conversation"]["steps"] = json!(steps);
    run["conversation"]["turns"] = json!([
        { "role": "user", "content": "hi" }, { "role": "assistant", "content": "I updated ticket T-7." },
    ]);
    json!({ "trace": run, "system_prompt": "Help with bookings." })
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

fn is_what_it_declares(gate: GateKind, all: &[Value]) {
    let mut found = BTreeSet::new();
    for metrics in all {
        let mut of_one = BTreeSet::new();
        paths("", metrics, &mut of_one);
        for target in gate.targets().iter().filter(|target| target.always) {
            assert!(
                of_one.contains(target.name),
                "`{}` is missing in {metrics}",
                target.name
            );
        }
        found.extend(of_one);
    }
    let declared: BTreeSet<String> = gate
        .targets()
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(found, declared, "{}", gate.name());
}

#[test]
fn gates_of_a_run_compute_the_targets_they_declare() {
    let policy = "  system_prompt: Help with bookings.\n";
    let agent = format!("{policy}{PER_RUN}");
    let mut plain = rich();
    plain["trace"]["tool_calls"] = json!([{ "name": "fetch" }]);
    plain["trace"]["tool_results"] = json!([]);
    plain["trace"]["conversation"]["steps"] = json!([{ "prompt": 10, "completion": 1 }]);
    let (_folder, suite) = loaded(FAULT, &agent, &[rich(), plain]);
    let subject = Subject { agent: 0, model: 0 };
    let runs = suite.recorded(subject).as_ref().unwrap().runs();
    let agent = suite.agent(subject);
    let judged = agent.gates.iter().map(|block| {
        let input = Input {
            suite: &suite.suite,
            agent,
            checks: suite.checks(subject),
            block,
            runs,
            snapshots: &suite.snapshots(subject),
        };
        let gate = implementation(&block.options).per_run().unwrap();
        let metrics = runs.iter().map(|run| gate.score(&input, run).metrics);
        is_what_it_declares(block.kind(), &metrics.collect::<Vec<_>>());
        block.kind()
    });
    let judged: BTreeSet<GateKind> = judged.collect();
    let all = GateKind::ALL.iter().filter(|kind| kind.per_run().is_some());
    assert_eq!(judged, all.copied().collect());
}

#[test]
fn gates_of_all_runs_compute_the_targets_they_declare() {
    let run = crate::trace::Trace::from_envelope(&calls(&["a"]));
    let across = agent_stability_across(&[&run, &run]).unwrap();
    let stability = across.metrics(&StabilityFloors::default());
    is_what_it_declares(GateKind::Stability, &[stability]);
    let reliability = summarize_with(&[true, false, true], Confidence::default(), 0.05);
    is_what_it_declares(GateKind::Reliability, &[reliability.metrics_object()]);
    let signals = Signals {
        confidence: Some(0.9),
        loop_detection: Some(1.0),
        tool_correctness: Some(1.0),
        coherence: Some(1.0),
    };
    let turn = |id: &str| SessionTrace {
        id: id.to_owned(),
        signals,
    };
    let session = score_session(&[turn("a"), turn("b")], &Weights::default());
    is_what_it_declares(GateKind::Session, &[session.metrics()]);
    assert!(GateKind::Snapshot.targets().is_empty());
}
