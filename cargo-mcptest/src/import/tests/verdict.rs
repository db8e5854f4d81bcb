//! How good runs were, as teams keep it beside their messages.

use serde_json::{Value, json};

use super::{Desk, ImportOutput, lines};

/// Records of two runs, with what is known of each beside the messages.
fn records(of_runs: &[Value]) -> String {
    let record = |(number, known): (usize, &Value)| {
        let mut record = json!({ "id": format!("r{number}"), "model": "m", "messages": [
            { "role": "user", "content": "hi" }, { "role": "assistant", "content": "hello" } ] });
        for (key, value) in known.as_object().unwrap() {
            record[key] = value.clone();
        }
        record
    };
    let records: Vec<Value> = of_runs.iter().enumerate().map(record).collect();
    lines(&records)
}

fn import(of_runs: &[Value], options: &[&str]) -> (Desk, ImportOutput) {
    let desk = Desk::new();
    desk.write("runs.jsonl", records(of_runs));
    let said = desk.import(&[&["runs.jsonl"], options].concat());
    (desk, said)
}

fn outcomes(desk: &Desk) -> Vec<Value> {
    let recordings = desk.recordings().into_iter();
    recordings.map(|(_, run)| run["outcome"].clone()).collect()
}

#[test]
fn passed_is_read_however_it_is_spelt() {
    for (yes, no) in [
        (json!(true), json!(false)),
        (json!(1), json!(0)),
        (json!(1.0), json!(0.0)),
        (json!("true"), json!("false")),
        (json!("True"), json!("False")),
    ] {
        let (desk, said) = import(&[json!({ "passed": yes }), json!({ "passed": no })], &[]);
        assert_eq!(said.status, 0, "{said:?}");
        let expected = [json!({ "passed": true }), json!({ "passed": false })];
        assert_eq!(outcomes(&desk), expected, "{yes}: {said:?}");
        assert!(!said.out.contains("`passed`"), "{said:?}");
    }
}

/// What `passed` counts is not said: two tests, or twenty percent.
#[test]
fn what_is_no_verdict_is_none_and_is_said() {
    for value in [
        json!(2),
        json!(0.2),
        json!("maybe"),
        json!([true]),
        json!({}),
    ] {
        let (desk, said) = import(&[json!({ "passed": value })], &[]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(desk.recording()["outcome"], Value::Null, "{value}");
        assert!(said.out.contains("note: `passed` "), "{value}: {said:?}");
    }
}

#[test]
fn a_field_decides_when_it_is_named_and_is_said_when_it_is_not() {
    for (name, path, yes, no) in [
        ("success", "success", json!(true), json!(false)),
        ("outcome", "outcome", json!("pass"), json!("fail")),
        ("outcome", "outcome", json!("Passed"), json!("FAILED")),
        ("success", "success", json!(1), json!(0)),
        ("passed", "metadata.passed", json!(true), json!(false)),
        ("score", "metadata.score", json!("1.0"), json!("0")),
    ] {
        let record = |value: &Value| match path.split_once('.') {
            Some((holder, key)) => json!({ holder: { key: value } }),
            None => json!({ path: value }),
        };
        let both = [record(&yes), record(&no)];
        let (desk, said) = import(&both, &[]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(outcomes(&desk), [Value::Null, Value::Null], "{path}");
        let note = format!("note: `{path}` is not read: `--score {name}` reads it (2 runs)\n");
        assert_eq!(said.out.matches(&note).count(), 1, "{path}: {said:?}");
        assert_eq!(desk.recordings()[0].1["imported"].get("notes"), None);

        let (desk, said) = import(&both, &["--score", name]);
        assert_eq!(said.status, 0, "{said:?}");
        let passed: Vec<Value> = outcomes(&desk)
            .iter()
            .map(|it| it["passed"].clone())
            .collect();
        assert_eq!(passed, [true, false], "{path}: {said:?}");
        assert!(!said.out.contains("is not read"), "{said:?}");
        assert!(said.out.contains("1 of 2"), "{said:?}");
    }
}

#[test]
fn a_reward_needs_the_point_from_which_on_a_run_passed() {
    let both = [json!({ "score": 0.9 }), json!({ "score": 0.2 })];
    let (desk, said) = import(&both, &["--score", "score"]);
    assert_eq!(
        outcomes(&desk),
        [json!({ "reward": 0.9 }), json!({ "reward": 0.2 })]
    );
    assert!(
        said.out
            .contains("note: 2 runs with a reward that is neither 0 nor 1"),
        "{said:?}"
    );
    assert!(said.out.contains("`--pass-at"), "{said:?}");
    let (desk, said) = import(&both, &["--score", "score", "--pass-at", "0.5"]);
    assert_eq!(
        outcomes(&desk),
        [
            json!({ "reward": 0.9, "passed": true }),
            json!({ "reward": 0.2, "passed": false })
        ]
    );
    assert!(!said.out.contains("neither 0 nor 1"), "{said:?}");
}

#[test]
fn a_name_that_no_record_has_is_reported() {
    for known in [json!({}), json!({ "passed": true })] {
        let (desk, said) = import(&[known], &["--score", "nosuch"]);
        assert_eq!(said.status, 1, "{said:?}");
        assert!(
            said.err
                .contains("error[import]: no run has the score that is asked for\n"),
            "{said:?}"
        );
        assert!(said.err.contains("`nosuch`"), "{said:?}");
        assert_eq!(desk.recording()["outcome"], Value::Null);
    }
    let (_, said) = import(&[json!({ "good": 1 }), json!({})], &["--score", "good"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("note: no score `good`\n"), "{said:?}");
    let (_, said) = import(
        &[json!({ "good": 1 }), json!({ "good": "so so" })],
        &["--score", "good"],
    );
    assert!(
        said.out.contains("note: score `good` is no verdict\n"),
        "{said:?}"
    );
}

#[test]
fn logged_calls_have_the_verdict_of_their_last_line() {
    let call = |asked: Value, said: &str, more: Value| {
        let mut line = json!({ "request": { "model": "m", "messages": asked },
            "response": { "id": said, "choices": [{ "message": { "role": "assistant", "content": said }, "finish_reason": "stop" }] } });
        for (key, value) in more.as_object().unwrap() {
            line[key] = value.clone();
        }
        line
    };
    let user = |text: &str| json!({ "role": "user", "content": text });
    let first = call(json!([user("hi")]), "a", json!({ "passed": true }));
    let asked = json!([user("hi"), { "role": "assistant", "content": "a" }, user("and")]);
    let last = call(asked, "b", json!({ "passed": false }));
    let desk = Desk::new();
    desk.write("log.jsonl", lines(&[first, last]));
    let said = desk.import(&["log.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.recording()["outcome"], json!({ "passed": false }));
}

#[test]
fn messages_of_other_makers_have_verdicts_too() {
    for messages in [
        json!([{ "role": "user", "content": "hi" },
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": "x" }, { "type": "text", "text": "hello" }] }]),
        json!([{ "type": "human", "content": "hi" }, { "type": "ai", "content": "hello" }]),
    ] {
        let desk = Desk::new();
        let record = json!({ "model": "m", "messages": messages, "success": "no", "passed": 1 });
        desk.write("run.json", record.to_string());
        let said = desk.import(&["run.json", "--score", "success"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(
            desk.recording()["outcome"],
            json!({ "passed": false }),
            "{said:?}"
        );
    }
}
