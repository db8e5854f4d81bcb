//! Files of every format in which something is not what it should be: whatever it is, an import ends with
//! a status, and what it writes can be read.

use mcptest_trace::trace::{Origin, parse_run};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::talk::{FormatCapabilities, Talk, talk};
use super::{
    Desk, anthropic, atif, claude_code, codex, inspect, langsmith, lines, openai, otel, tau,
};

/// A talk in every format.
fn files(talk: &Talk) -> Vec<(&'static str, Vec<Value>)> {
    let otel = |form| vec![otel::export(&otel::spans(talk, form))];
    vec![
        ("openai", openai::log(talk)),
        (
            "openai",
            vec![json!({ "model": "m", "messages": openai::messages(talk, true) })],
        ),
        (
            "openai",
            vec![json!({ "model": "m", "messages": openai::items(talk) })],
        ),
        ("anthropic", anthropic::log(talk).0),
        ("otel", otel(otel::Form::Parts)),
        ("otel", otel(otel::Form::Events)),
        ("otel", otel(otel::Form::OpenLlmetry)),
        ("otel", otel(otel::Form::OpenInference)),
        ("claude-code", claude_code::session(talk)),
        ("codex", codex::rollout(talk)),
        ("atif", vec![atif::trajectory(talk)]),
        ("langsmith", vec![json!(langsmith::messages(talk))]),
        ("langsmith", langsmith::export(talk)),
        (
            "tau",
            vec![tau::results(&[tau::simulation(talk)], Some(talk))],
        ),
        ("inspect", vec![inspect::log(&[inspect::sample(talk)])]),
    ]
}

/// How many places a value has.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>(),
        Value::Object(map) => map.values().map(size).sum(),
        _ => 0,
    }
}

/// Puts another value in a place.
fn mangle(value: &mut Value, place: &mut usize, new: &Value) -> bool {
    if *place == 0 {
        *value = new.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| mangle(item, place, new)),
        Value::Object(map) => map.values_mut().any(|item| mangle(item, place, new)),
        _ => false,
    }
}

fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!(-1.5)),
        Just(json!(u64::MAX)),
        Just(json!("")),
        Just(json!("{\"a\": [")),
        Just(json!("data:image/png;base64,AAAA")),
        Just(json!([])),
        Just(json!([1, "a", null, []])),
        Just(json!({})),
        Just(json!({ "type": "text", "content": { "text": 1 } })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn whatever_is_odd_an_import_ends(talk in talk(FormatCapabilities::ALL), odd in prop::collection::vec((any::<usize>(), odd()), 1..25)) {
        for (format, mut values) in files(&talk) {
            for (place, new) in &odd {
                let whole: usize = values.iter().map(size).sum();
                let mut place = place % whole.max(1);
                let _ = values.iter_mut().any(|value| mangle(value, &mut place, new));
            }
            for name in ["a.jsonl", "a.json"] {
                let desk = Desk::new();
                let text = if name == "a.json" { format!("{:#}", json!(values)) } else { lines(&values) };
                desk.write(name, &text);
                let said = desk.import(&[name, "--from", format, "--model", "m", "--prompt", "p", "--subagents", "separate", "--group-by", "task"]);
                prop_assert!(said.status <= 2);
                for (name, run) in desk.recordings() {
                    let origin = Origin::file(name);
                    let read = parse_run(run.to_string().as_bytes(), &origin);
                    prop_assert!(read.is_ok(), "{read:?}");
                }
            }
        }
    }
}

/// What two imports of a format make of its lines must be the same: the second has each of them twice, side by
/// side and one file after the other, or, where they say themselves which was first, from the last to the first.
#[test]
fn lines_that_stand_there_twice_or_backwards_are_the_same_run() {
    let mut runner = TestRunner::deterministic();
    let all = FormatCapabilities::ALL;
    for _ in 0..6 {
        let talk = talk(all).new_tree(&mut runner).unwrap().current();
        let (anthropic, _) = anthropic::log(&talk);
        for (name, all, has_times) in [
            ("openai", openai::log(&talk), false),
            ("anthropic", anthropic, false),
            ("claude-code", claude_code::session(&talk), true),
            ("codex", codex::rollout(&talk), true),
            ("langsmith", langsmith::export(&talk), true),
        ] {
            let import = |text: String| {
                let desk = Desk::new();
                desk.write("a.jsonl", text);
                let said = desk.import(&["a.jsonl", "--from", name]);
                let runs = desk.recordings().into_iter();
                let traces: Vec<Value> = runs.map(|(_, run)| run["trace"].clone()).collect();
                (traces, format!("{name}: {said:?}"))
            };
            let (once, _) = import(lines(&all));
            let twice = all.iter().flat_map(|line| [line.clone(), line.clone()]);
            let twice: Vec<Value> = twice.collect();
            let backwards: Vec<Value> = all.iter().rev().cloned().collect();
            let mut others = vec![lines(&twice), lines(&all).repeat(2)];
            others.extend(has_times.then(|| lines(&backwards)));
            for other in others {
                let (found, said) = import(other);
                assert_eq!(found, once, "{said}");
            }
        }
    }
}
