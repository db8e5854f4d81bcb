//! An import that is repeated, and imports that meet recordings which are there already.

use serde_json::{Value, json};

use super::{Desk, lines, record};
use mcptest_trace::record::store::Store;

use crate::import::store::layout;
use crate::import::writing::Sink;

fn files(desk: &Desk) -> Vec<(String, Vec<u8>)> {
    let root = desk.path().join("suites");
    let files = walkdir::WalkDir::new(&root)
        .sort_by_file_name()
        .into_iter()
        .flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            (
                entry
                    .path()
                    .strip_prefix(&root)
                    .unwrap()
                    .display()
                    .to_string(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_same_import_writes_the_same_bytes_and_a_second_one_nothing() {
    let text = lines(&[
        record("a", "p", "1"),
        record("b", "q", "2"),
        record("c", "p", "3"),
    ]);
    let import = || {
        let desk = Desk::new();
        desk.write("runs.jsonl", &text);
        let said = desk.import(&["runs.jsonl"]);
        assert_eq!(said.status, 0, "{said:?}");
        desk
    };
    let (one, other) = (import(), import());
    assert_eq!(files(&one), files(&other));
    let before = files(&one);
    let said = one.import(&["runs.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(files(&one), before);
    assert!(
        said.out.contains("\nagent  present\np            2\nq            1\nall 2        3\nthe same in all rows: agent begins with `runs: `, model m, new 0,"),
        "{said:?}"
    );
}

#[test]
fn talks_that_begin_alike_stay_apart_when_they_are_imported_again() {
    let talk = |id: &str, then: &str| {
        json!({ "id": id, "model": "m", "messages": [
            { "role": "user", "content": "Cancel my order." },
            { "role": "assistant", "content": "Which one?" },
            { "role": "user", "content": then },
            { "role": "assistant", "content": "Done." },
        ] })
    };
    let desk = Desk::new();
    let talks = [talk("a", "A-1"), talk("b", "A-2"), talk("c", "A-3")];
    desk.write("runs.jsonl", lines(&talks));
    assert_eq!(desk.import(&["runs.jsonl"]).status, 0);
    let before = files(&desk);
    for again in [&["runs.jsonl"][..], &["runs.jsonl", "--replace"]] {
        let said = desk.import(again);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(files(&desk), before, "{said:?}");
    }
}

#[test]
fn more_runs_of_an_agent_get_the_next_numbers() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    desk.write("two.jsonl", lines(&[record("b", "p", "2")]));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    assert_eq!(desk.import(&["two.jsonl", "--agent", "x"]).status, 0);
    let names = desk.recorded();
    assert_eq!(names, ["x__m/run-1.json", "x__m/run-2.json"]);
}

#[test]
fn a_lone_recording_is_moved_into_the_folder() {
    let desk = Desk::new();
    desk.write(
        "one.jsonl",
        lines(&[record("a", "p", "1"), record("b", "p", "2")]),
    );
    desk.write(
        "suites/cassettes/x__m.json",
        json!({ "schema_version": "v1", "model": "m", "user_prompt": "p",
        "trace": { "tool_calls": [] } })
        .to_string(),
    );
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let names = desk.recorded();
    assert_eq!(
        names,
        ["x__m/run-1.json", "x__m/run-2.json", "x__m/run-3.json"]
    );
    assert!(desk.suite().contains("runs: 3"), "{}", desk.suite());
}

#[test]
fn another_run_of_the_same_identifier_is_reported_and_nothing_is_overwritten() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    desk.write("two.jsonl", lines(&[record("a", "p", "2")]));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let before = files(&desk);
    let said = desk.import(&["two.jsonl", "--agent", "x"]);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(
        said.err.contains("is here already with different content"),
        "{said:?}"
    );
    assert_eq!(files(&desk), before);
    assert_eq!(
        desk.import(&["two.jsonl", "--agent", "x", "--replace"])
            .status,
        0
    );
    assert_eq!(desk.recording()["trace"]["final_response"], "2");
    assert_eq!(
        std::fs::read_dir(desk.path().join("suites/cassettes"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn without_new_runs_nothing_is_replaced() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let before = files(&desk);
    let layout = layout(&desk.path().join("suites/cassettes"), "x__m", false);
    let store = Store::new(&layout).unwrap();
    Sink::replacing(&store).unwrap().finish().unwrap();
    assert_eq!(files(&desk), before);
}

#[test]
fn a_name_that_is_given_is_no_other_agents() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    desk.write("two.jsonl", lines(&[record("b", "p", "2")]));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let said = desk.import(&["two.jsonl", "--agent", "y"]);
    assert_eq!(said.status, 0, "{said:?}");
    let names = desk.recorded();
    assert_eq!(names, ["x__m/run-1.json", "y__m/run-1.json"]);
    assert!(said.out.contains("- name: \"y\""), "{said:?}");
}

#[test]
fn numbers_beyond_64_bits_stay_in_the_run() {
    let desk = Desk::new();
    let text = r#"{"model":"m","messages":[{"role":"user","content":"p"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"n\":123456789012345678901234567890}"}}]}]}"#;
    desk.write("a.jsonl", text);
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        desk.recording()
            .to_string()
            .contains("123456789012345678901234567890"),
        "{}",
        desk.recording()
    );
}

#[test]
fn two_runs_of_one_import_with_one_identifier() {
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            record("a", "p", "1"),
            record("a", "p", "2"),
            record("a", "p", "1"),
        ]),
    );
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err
            .contains("two runs with one identifier\n --> a.jsonl:2"),
        "{said:?}"
    );
    assert!(said.out.contains("the same run twice"), "{said:?}");
    assert_eq!(desk.recording()["trace"]["final_response"], "1");
}

#[test]
fn lines_are_written_where_they_are_asked_for_and_grow_there() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    desk.write("two.jsonl", lines(&[record("b", "p", "2")]));
    assert_eq!(
        desk.import(&["one.jsonl", "--agent", "x", "--jsonl"])
            .status,
        0
    );
    assert_eq!(desk.import(&["two.jsonl", "--agent", "x"]).status, 0);
    let runs = desk.recordings();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|(name, _)| name == "x__m.jsonl"));
}

#[test]
fn a_check_writes_nothing_and_says_the_same() {
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[record("a", "p", "1"), json!({ "no": "run" })]),
    );
    let checked = desk.import(&["a.jsonl", "--check"]);
    assert!(!desk.path().join("suites").exists());
    let said = desk.import(&["a.jsonl"]);
    let note = "nothing was written, because of `--check`\n";
    assert!(checked.out.contains(note), "{checked:?}");
    let done = |text: &str| text.replace(note, "").replace("can be", "is");
    assert_eq!(
        (checked.status, done(&checked.out), done(&checked.err)),
        (said.status, said.out, said.err)
    );
}

#[test]
fn an_entry_that_asks_the_same_gets_the_runs_and_others_are_proposed() {
    let desk = Desk::new();
    desk.write("suites/x.yml", "agents:\n  - { name: Desk, model: m, prompt: p, runs: 1, expect: [{ target: tool_calls.length, matcher: { exact: 0 } }] }\n");
    let before = desk.suite();
    desk.write(
        "a.jsonl",
        lines(&[record("a", "p", "1"), record("b", "q", "2")]),
    );
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(desk.suite(), before);
    let names = desk.recorded();
    assert_eq!(names, ["Desk__m/run-1.json", "a__q__m/run-1.json"]);
    assert!(
        said.out
            .contains("add them below `agents:`\n  - name: \"a: q\"\n"),
        "{said:?}"
    );
}

#[test]
fn secrets_are_in_no_file_and_no_message() {
    let key = "sk-proj-0123456789abcdefABCDEF";
    let desk = Desk::new();
    desk.write(
        "a.jsonl",
        lines(&[
            json!({ "model": "m", "messages": [{ "role": "user", "content": format!("use {key}") },
            { "role": "assistant", "content": format!("used {key}") },
            { "role": "tool", "tool_call_id": "x", "content": key }] }),
        ]),
    );
    let said = desk.import(&["a.jsonl"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.out.contains("redacted: api key: 4"), "{said:?}");
    for (name, bytes) in files(&desk) {
        assert!(!String::from_utf8(bytes).unwrap().contains(key), "{name}");
        assert!(!name.contains(key));
    }
    assert!(
        !said.err.contains(key) && !said.out.contains(key),
        "{said:?}"
    );
    assert!(
        desk.suite().contains("use [redacted api key]"),
        "{}",
        desk.suite()
    );
}

#[test]
fn the_tools_of_many_agents_are_said_once() {
    let desk = Desk::new();
    let records: Vec<Value> = (0..150)
        .map(|number| {
            let call = json!({ "id": "c", "function": { "name": "get", "arguments": "{}" } });
            json!({ "model": "m", "messages": [
                { "role": "user", "content": format!("question {number}") },
                { "role": "assistant", "tool_calls": [call] },
                { "role": "tool", "tool_call_id": "c", "content": "x" },
                { "role": "assistant", "content": "done" },
            ] })
        })
        .collect();
    desk.write("runs.jsonl", lines(&records));
    let said = desk.import(&["runs.jsonl"]);
    assert_eq!(said.status, 0, "{}", said.err);
    let suite = desk.suite();
    let times = |part: &str| suite.matches(part).count();
    assert_eq!(times("  - name: "), 150);
    assert_eq!(
        (times("x-tools: &tools [\"get\"]"), times("tools: *tools")),
        (1, 150)
    );
}

#[test]
fn entries_that_are_too_many_to_be_shown_are_reported() {
    let desk = Desk::new();
    let record = |text: &str| {
        json!({ "model": "m", "messages": [
            { "role": "user", "content": text },
            { "role": "assistant", "content": "done" },
        ] })
    };
    let long: Vec<Value> = ["a", "b", "c"]
        .map(|text| record(&text.repeat(3 << 20)))
        .to_vec();
    desk.write("runs.jsonl", lines(&long));
    for (why, there) in [
        ("no suite was written", false),
        ("entries are not shown", true),
    ] {
        if there {
            desk.write(
                "suites/x.yml",
                "agents: [{ name: other, model: m, prompt: p, calls: { max: 1 } }]",
            );
        }
        let said = desk.import(&["runs.jsonl", "--check"]);
        assert_eq!(said.status, 1);
        assert!(
            said.err.contains(&format!("error[import]: {why}\n")),
            "{}",
            said.err
        );
        assert!(said.err.contains("--group-by"), "{}", said.err);
        assert!(said.out.len() < 10_000);
    }
}

/// An agent that does the same three times did it three times; a copy of the log did nothing more.
#[test]
fn records_that_are_equal_and_have_no_identifier_are_runs_of_their_own() {
    let nameless = |said: &str| {
        let mut record = record("", "p", said);
        record.as_object_mut().unwrap().remove("id");
        record
    };
    let desk = Desk::new();
    let log = [nameless("a"), nameless("a"), nameless("b"), nameless("a")];
    desk.write("log.jsonl", lines(&log));
    let said = desk.import(&["--agent", "x", "log.jsonl"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.out
            .contains("equal records without an identifier in one file: each record is a run"),
        "{said:?}"
    );
    let ids: Vec<String> = desk
        .recordings()
        .iter()
        .map(|(_, run)| run["imported"]["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(ids[1], format!("{}-2", ids[0]));
    assert_eq!(ids[3], format!("{}-3", ids[0]));
    // The same file, a copy of it, and one with less in it hold nothing new.
    desk.write("copy.jsonl", lines(&log));
    desk.write("less.jsonl", lines(&log[..2]));
    let written = files(&desk);
    for again in [
        &["log.jsonl"][..],
        &["copy.jsonl"],
        &["less.jsonl"],
        &["log.jsonl", "copy.jsonl"],
    ] {
        let said = desk.import(&[&["--agent", "x"], again].concat());
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(files(&desk), written, "{again:?}");
    }
    // And all can be taken back.
    desk.import(&["--agent", "x", "--undo", "log.jsonl"]);
    assert_eq!(desk.recordings().len(), 0);
}
