//! What gates declare, against what they read.

use mcptest_suite::model::{Suite, Target};
use mcptest_suite::{Source, Span};
use serde_json::{Map, Value, json};

use super::expectation::keys;
use super::{AgentGates, GateReading, gates};
use crate::check::resolve;
use crate::trace::{Origin, parse_run};

/// The gates of the one agent of a suite.
fn read(agent: &str) -> AgentGates {
    let text = format!(
        "faults: [{{ name: hung, target: {{ tool: search }}, kind: hang }}]\nagents: [{{ name: a, model: m, prompt: p, {agent} }}]"
    );
    let mut reading = GateReading::default();
    let read = Suite::parse_with(Source::new("a.yml", "a.yml", text), &mut reading);
    let suite = read.unwrap_or_else(|error| panic!("{error}"));
    let (agents, _) = reading.finish(&suite.source, &[]).unwrap();
    agents.into_iter().next().unwrap()
}

/// What a schema says is meant where nothing stands, by key, at every depth.
fn usual(properties: &Value) -> Map<String, Value> {
    let mut usual = Map::new();
    for (key, property) in properties.as_object().into_iter().flatten() {
        let below = self::usual(&property["properties"]);
        match &property["default"] {
            Value::Null if below.is_empty() => {}
            Value::Null => _ = usual.insert(key.clone(), below.into()),
            value => _ = usual.insert(key.clone(), value.clone()),
        }
    }
    usual
}

#[test]
fn the_example_of_a_gate_loads_alone_and_what_is_usual_changes_nothing() {
    for gate in gates() {
        let name = gate.kind.name();
        let one = read(gate.example);
        let of_gate = one.get(gate.kind).unwrap();
        assert_eq!(one.gates.len(), 1, "{name}");
        let written: Vec<String> = usual(&gate.schema["properties"])
            .into_iter()
            .filter(|(key, _)| !gate.example.contains(&format!("{key}:")))
            // What fails a run is meant only where it stands.
            .filter(|(key, _)| key != "floors")
            .map(|(key, value)| format!("{key}: {value}"))
            .collect();
        let block = format!("{name}: {{ {}, ", written.join(", ")).replace("{ , ", "{ ");
        let example = gate.example.replace(&format!("{name}: {{"), &block);
        let two = read(&example.replace(", }", " }"));
        let of_usual = two.get(gate.kind).unwrap();
        assert_eq!(
            format!("{:?}", of_gate.gate),
            format!("{:?}", of_usual.gate),
            "{example}"
        );
    }
}

#[test]
fn the_plan_of_an_agent_is_what_is_expected_and_not_what_is_forbidden() {
    let plan = |gates: &str| read(gates).plan().join(" ");
    let expected = "trajectory: { mode: superset, calls: [{ name: b }], forbid: ['delete_*'] }";
    let forbidden = "trajectory: { forbid: ['delete_*'] }";
    let golden = "golden_path: { calls: [c, d] }";
    assert_eq!(plan(expected), "b");
    assert_eq!(plan(&format!("{expected}, {golden}")), "b");
    assert_eq!(plan(&format!("{forbidden}, {golden}")), "c d");
    assert_eq!(plan(forbidden), "");
}

/// Every path into a value, and one step beside each.
fn paths_into(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(format!("{path}.absent"));
    found.push(format!("{path}.length"));
    found.push(path.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                paths_into(value, &format!("{path}[\"{key}\"]"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                paths_into(item, &format!("{path}[{index}]"), found);
                paths_into(item, &format!("{path}[*]"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn the_parts_of_a_run_that_paths_lead_to_are_those_of_the_whole() {
    let said = json!({
        "tool_calls": [{ "name": "a", "own": { "b": [1, { "c": 2 }] } }, { "name": "a", "args": { "length": 3 } }],
        "tool_results": [
            { "call_index": 0, "is_error": false, "result": { "content": [{ "text": "t" }] } },
            { "call_index": 1, "result": { "isError": true } },
        ],
        "final_response": "said",
        "conversation": { "steps": [{ "prompt": 3 }], "tokens": { "total": 0 }, "turns": [] },
        "custom": { "kept": [true] },
    });
    let mut each_says = said.clone();
    each_says["tool_results"] = json!([
        { "call_index": 0, "is_error": true, "server": "", "result": ["t"] },
        { "call_index": 1, "is_error": false, "result": null },
    ]);
    let bare =
        json!({ "tool_calls": [], "conversation": { "tokens": null }, "tool_names": ["own"] });
    for trace in [said, each_says, bare] {
        let text = json!({
            "schema_version": "v1", "model": "m", "user_prompt": "p", "outcome": { "passed": true },
            "trace": trace,
        });
        let run = || parse_run(text.to_string().as_bytes(), &Origin::file("a.json")).unwrap();
        let whole = run();
        let mut paths = Vec::new();
        for (key, value) in whole.envelope().as_object().unwrap() {
            paths_into(value, key, &mut paths);
        }
        for key in [
            "final_response",
            "tool_results",
            "tool_results[0].result",
            "tool_calls[*].args",
            "tool_calls[-1].args",
            "tool_calls[-2].own",
            "tool_results[-2].is_error",
            "tool_calls[7].name",
            "tool_calls[-7].name",
        ] {
            paths.push(key.to_owned());
        }
        assert!(paths.len() > 20);
        for path in &paths {
            let target = Target::parse(path, Span::default()).unwrap();
            for beside in [
                None,
                Some("tool_calls[0].name"),
                Some("tool_results[0].is_error"),
            ] {
                let beside = beside.map(|path| Target::parse(path, Span::default()).unwrap());
                let paths: Vec<_> = beside.iter().chain([&target]).map(keys).collect();
                let parts = run();
                let parts = parts.envelope_for(&paths);
                let (of_parts, of_whole) =
                    (resolve(&target, &parts), resolve(&target, whole.envelope()));
                assert_eq!(of_parts.ok(), of_whole.ok(), "{path}");
            }
        }
    }
}
