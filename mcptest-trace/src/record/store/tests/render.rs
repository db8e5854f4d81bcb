//! The text of a run.

use proptest::prelude::*;
use serde_json::Map;

use super::super::render::compact;
use super::super::{render, render_line};
use super::*;

#[test]
fn the_known_keys_have_their_order_and_the_others_are_sorted() {
    let run = json!({
        "zebra": {"b": 1, "a": [{"d": [], "c": {}}]}, "apple": null, "outcome": {"reward": 1.0, "passed": true},
        "signals": {"coherence": 0.5}, "trace": {
            "zz": 1, "conversation": {
                "steps": [{"completion": 2, "prompt": 1}], "per_turn": [], "extra": 1,
                "turns": [{"content": "x", "role": "assistant"}], "message_count": 1, "duration_ms": 5,
                "tokens": {"total": 3, "completion": 2, "prompt": 1}, "stop_reason": "completed"},
            "final_response": "é🚀\n\"", "tool_results": [{"result": {"z": 1, "content": []}, "synthesized": {"kind": "hang", "fault": "f"}, "is_error": false, "server": "s", "call_index": 0}],
            "tool_calls": [{"inputs_digest": "d", "agent_id": "a", "caller": {"tool_id": "t", "kind": "k"}, "hop_index": 0,
                "step": 0, "args": {"name": 1, "args": {"z": 1, "name": 2}}, "server": "s", "name": "n"}]},
        "user_prompt": "u", "system_prompt": "s", "max_tokens": 10, "temperature": 0.0, "tools_fingerprint": "f",
        "recorded_at": "r", "model": "m", "agent_name": "a", "schema_version": "v1"});
    let expected = concat!(
        r#"{"schema_version":"v1","agent_name":"a","model":"m","recorded_at":"r","tools_fingerprint":"f","#,
        r#""temperature":0.0,"max_tokens":10,"system_prompt":"s","user_prompt":"u","trace":{"tool_calls":[{"#,
        r#""name":"n","server":"s","args":{"args":{"name":2,"z":1},"name":1},"step":0,"hop_index":0,"#,
        r#""caller":{"kind":"k","tool_id":"t"},"agent_id":"a","inputs_digest":"d"}],"tool_results":[{"#,
        r#""call_index":0,"server":"s","is_error":false,"synthesized":{"fault":"f","kind":"hang"},"#,
        r#""result":{"content":[],"z":1}}],"final_response":"é🚀\n\"","conversation":{"stop_reason":"completed","#,
        r#""tokens":{"prompt":1,"completion":2,"total":3},"duration_ms":5,"message_count":1,"#,
        r#""turns":[{"role":"assistant","content":"x"}],"per_turn":[],"steps":[{"prompt":1,"completion":2}],"#,
        r#""extra":1},"zz":1},"signals":{"coherence":0.5},"outcome":{"passed":true,"reward":1.0},"apple":null,"#,
        r#""zebra":{"a":[{"c":{},"d":[]}],"b":1}}"#,
    );
    assert_eq!(render_line(&run), expected);
}

#[test]
fn a_file_is_indented_by_two_spaces() {
    let run =
        json!({"model": "m", "schema_version": "v1", "trace": {"tool_calls": [], "x": [1, {}]}});
    let expected = "{\n  \"schema_version\": \"v1\",\n  \"model\": \"m\",\n  \"trace\": {\n    \
                    \"tool_calls\": [],\n    \"x\": [\n      1,\n      {}\n    ]\n  }\n}\n";
    assert_eq!(render(&run), expected);
}

#[test]
fn a_file_becomes_a_line_without_reading_its_numbers() {
    // A number that does not come back from reading as it was.
    let text = "{\n  \"a b\": [\n    244583941.80007038,\n    \" \\\" \\\\\"\n  ]\n}\n";
    assert_eq!(compact(text), r#"{"a b":[244583941.80007038," \" \\"]}"#);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-4000..4000_i32).prop_map(|number| Value::from(f64::from(number) / 8.0)),
        ".{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        proptest::sample::select(vec![
            "trace",
            "tool_calls",
            "name",
            "args",
            "conversation",
            "steps",
            "prompt",
            "model"
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// A copy of a value whose objects got their keys in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(map) => {
            let entries: Vec<_> = map.iter().collect();
            let entries = entries.into_iter().rev();
            let map: Map<_, _> = entries
                .map(|(key, value)| (key.clone(), reversed(value)))
                .collect();
            Value::Object(map)
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn both_texts_read_as_the_value_and_depend_on_nothing_else(value in value()) {
        let (file, line) = (render(&value), render_line(&value));
        prop_assert_eq!(&serde_json::from_str::<Value>(&file).unwrap(), &value);
        prop_assert_eq!(&serde_json::from_str::<Value>(&line).unwrap(), &value);
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(&compact(&file), &line);
        prop_assert_eq!(render(&reversed(&value)), file);
        prop_assert_eq!(render_line(&reversed(&value)), line);
    }
}
