//! What gates declare, against what they read.

use mcptest_suite::Source;
use mcptest_suite::model::Suite;
use serde_json::{Map, Value, json};

use super::{GateReading, gates};

/// What a schema says is meant where nothing stands, by key.
fn usual(properties: &Value) -> Map<String, Value> {
    let mut usual = Map::new();
    for (key, property) in properties.as_object().into_iter().flatten() {
        let below = self::usual_below(property);
        match &property["default"] {
            Value::Null if below.is_empty() => {}
            Value::Null => _ = usual.insert(key.clone(), below.into()),
            value => _ = usual.insert(key.clone(), value.clone()),
        }
    }
    usual
}

fn usual_below(property: &Value) -> Map<String, Value> {
    usual(&property["properties"])
}

/// What a gate of a suite is read as.
fn read(gate: &str, block: &Value) -> String {
    let mut agent = json!({
        "name": "a", "model": "m", "prompt": "p", "runs": 2, "inject": ["f"],
        "expect": [{ "target": "final_response", "matcher": { "contains": "x" } }],
    });
    agent[gate] = block.clone();
    let fault = json!({ "name": "f", "target": { "tool": "t" }, "kind": "hang" });
    let text = json!({ "faults": [fault], "agents": [agent] }).to_string();
    let mut reading = GateReading::default();
    let read = Suite::parse_with(Source::new("a.yml", "a.yml", text), &mut reading);
    let suite = read.unwrap_or_else(|error| panic!("{error}"));
    let (agents, _) = reading.finish(&suite.source, &[]).unwrap();
    format!("{:?}", agents[0].gates[0].gate)
}

#[test]
fn what_is_said_to_be_usual_is_what_is_read_where_nothing_stands() {
    for gate in gates() {
        let name = gate.kind.name();
        let needed = match name {
            "calls" => json!({ "max": 3 }),
            "golden_path" => json!({ "calls": ["a"] }),
            "trajectory" => json!({ "mode": "strict", "calls": [{ "name": "a" }] }),
            "trajectory_axes" => json!({ "order": [{ "first": "a", "second": "b" }] }),
            "stability" => json!({ "floors": {} }),
            _ => json!({}),
        };
        let mut written = needed.clone();
        for (key, value) in usual(&gate.schema["properties"]) {
            written[key] = value;
        }
        assert_eq!(read(name, &written), read(name, &needed), "{written}");
    }
}
