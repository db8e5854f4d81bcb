//! What an import says of what it meets, and leaves to be done.

use serde_json::Value;

use super::{Desk, lines, record};

/// Whichever comes first, and though the suite that named them is gone.
#[test]
fn prompts_that_begin_alike_stay_apart_in_another_order() {
    let desk = Desk::new();
    let long = "Cancel the order that I placed in your shop on Monday";
    let mut records: Vec<Value> = ["a", "b", "c"]
        .map(|id| record(id, &format!("{long}, {id}."), "1"))
        .to_vec();
    desk.write("runs.jsonl", lines(&records));
    assert_eq!(desk.import(&["runs.jsonl"]).status, 0);
    let before = desk.recordings();
    assert_eq!(before.len(), 3);
    records.rotate_left(1);
    for _ in 0..3 {
        records.swap(0, 1);
        std::fs::remove_file(desk.path().join("suites/x.yml")).unwrap();
        desk.write("runs.jsonl", lines(&records));
        let said = desk.import(&["runs.jsonl"]);
        assert!(!said.out.contains("passed over"), "{said:?}");
        assert_eq!(desk.recorded().len(), 3, "{said:?}");
    }
}

/// A suite is its author's: what is to be written there is said.
#[test]
fn a_suite_that_asks_for_fewer_runs_is_told_what_to_write() {
    let desk = Desk::new();
    desk.write("one.jsonl", lines(&[record("a", "p", "1")]));
    desk.write(
        "two.jsonl",
        lines(&[record("b", "p", "2"), record("c", "p", "3")]),
    );
    let said = desk.import(&["one.jsonl", "--agent", "x"]);
    assert!(!said.out.contains("`runs: "), "{said:?}");
    let first = desk.suite();
    let line = first
        .lines()
        .position(|line| line == "    runs: 1")
        .unwrap()
        + 1;
    let asks = |said: &str| {
        said.contains(&format!(
            "note: `x` has 3 recordings now: change `runs: 1` to `runs: 3` at suites/x.yml:{line}\n"
        ))
    };
    let said = desk.import(&["two.jsonl", "--agent", "x"]);
    assert!(asks(&said.out), "{said:?}");
    assert_eq!(desk.suite(), first);
    // It is so until somebody writes it.
    let said = desk.import(&["two.jsonl", "--agent", "x"]);
    assert!(asks(&said.out), "{said:?}");
    desk.write("suites/x.yml", first.replace("runs: 1", "runs: 3"));
    let said = desk.import(&["two.jsonl", "--agent", "x"]);
    assert!(!said.out.contains("`runs: "), "{said:?}");
    let said = desk.import(&["one.jsonl", "--agent", "x", "--replace"]);
    assert!(
        said.out
            .contains("`x` has 1 recording now: change `runs: 3` to `runs: 1`"),
        "{said:?}"
    );
}

/// They are stale to the suite, which asks for the new prompt.
#[test]
fn recordings_of_an_earlier_system_prompt_are_told() {
    let desk = Desk::new();
    let with = |id: &str, system: &str| {
        let mut record = record(id, "p", "1");
        record["system"] = system.into();
        lines(&[record])
    };
    desk.write("one.jsonl", with("a", "Be brief."));
    desk.write("two.jsonl", with("b", "Be kind."));
    assert_eq!(desk.import(&["one.jsonl", "--agent", "x"]).status, 0);
    let suite = desk.suite();
    assert!(suite.contains("Be brief."), "{suite}");
    let said = desk.import(&["two.jsonl", "--agent", "x", "--check"]);
    assert!(
        said.out
            .contains("`x` has another prompt in the suite, so these runs get their own agent"),
        "{said:?}"
    );
    desk.write("suites/x.yml", suite.replace("Be brief.", "Be kind."));
    let said = desk.import(&["two.jsonl", "--agent", "x"]);
    assert!(
        said.out.contains(
            "note: `x` has 1 recording with another prompt, system prompt or model: `--replace` replaces them \
             with these runs\n"
        ),
        "{said:?}"
    );
    let said = desk.import(&["two.jsonl", "--agent", "x", "--replace"]);
    assert_eq!(desk.recorded(), ["x__m/run-1.json"], "{said:?}");
    assert!(!said.out.contains("with another prompt"), "{said:?}");
}

/// Files are told apart where nothing else names an agent.
#[test]
fn a_task_in_several_files_is_told_to_be_several_agents() {
    let desk = Desk::new();
    let of_task = |id: &str| {
        let mut record = record(id, id, "1");
        record["task"] = "T".into();
        lines(&[record])
    };
    desk.write("one.jsonl", of_task("a"));
    desk.write("two.jsonl", of_task("b"));
    let files = ["one.jsonl", "two.jsonl", "--group-by", "task", "--check"];
    let told = "note: runs of one task are in several files, and each file becomes its own agent: `--agent NAME` makes one agent of all\n";
    let said = desk.import(&files);
    assert!(said.out.contains(told), "{said:?}");
    let said = desk.import(&[&files[..], &["--agent", "x"]].concat());
    assert!(said.out.contains("\nx      m        2"), "{said:?}");
    assert!(!said.out.contains(told), "{said:?}");
    let said = desk.import(&files[1..]);
    assert!(!said.out.contains(told), "{said:?}");
}
