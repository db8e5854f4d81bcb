//! `snapshot: { tools: true }`: the tools that runs were offered.

use std::fs;

use mcptest_suite::Style;
use serde_json::{Value, json};

use super::super::case_verdict::{CaseOutcome, Context};
use super::{calls, case, loaded};

/// Judges the agent's `snapshot` beside accepted snapshots, without writing any.
fn judged(runs: &[Value], accepted: &[(&str, &str)]) -> Result<CaseOutcome, String> {
    let (folder, suite) = loaded("", "  snapshot: { tools: true }\n", runs);
    let suite = suite.into_read_only(crate::record::RecordCommand::default());
    let snapshots = folder.path().join("suites/snapshots");
    fs::create_dir(&snapshots).unwrap();
    for (name, text) in accepted {
        let text = format!("---\nsource: suites/s.yml\n---\n{text}\n");
        fs::write(snapshots.join(name), text).unwrap();
    }
    let context = Context {
        name: "s::agent::snapshot".to_owned(),
        agent: "s::agent".to_owned(),
        suite: "s".to_owned(),
        ignored: false,
        told: true,
        checked: false,
        package: "demo".to_owned(),
        style: Style::Plain,
    };
    let verdict = case::judge(
        &suite,
        &suite.find_case("agent::snapshot").unwrap(),
        &context,
    );
    let left = fs::read_dir(&snapshots).unwrap().count();
    assert_eq!(left, accepted.len(), "nothing is written");
    verdict
}

const OUTLINE: (&str, &str) = (
    "s-agent-snapshot.snap",
    "run 1\n  1. s::find\n  stopped: completed\n",
);

const TOOLS: (&str, &str) = (
    "s-agent-snapshot-tools.snap",
    "desk::cancel(id: string) #0a\n\ndesk::find\n  annotations:\n    {\n      \"readOnlyHint\": true\n    }\n  description:\n    Finds an order.\n    Never changes one.\n  input_schema:\n    {\n      \"type\": \"object\"\n    }\n",
);

fn run(tools: &Value) -> Value {
    json!({ "trace": calls(&["find"]), "tools": tools })
}

fn find(description: &str) -> Value {
    json!({
        "name": "find", "server": "desk", "description": description, "input_schema": { "type": "object" },
        "annotations": { "readOnlyHint": true },
    })
}

#[test]
fn the_same_tools_in_any_order_hold() {
    let first = find("Finds an order.\nNever changes one.");
    for tools in [
        json!([first, "desk::cancel(id: string) #0a"]),
        json!(["desk::cancel(id: string) #0a", first]),
    ] {
        let held = judged(&[run(&tools)], &[OUTLINE, TOOLS]);
        assert!(held.is_ok(), "{}", held.unwrap_err());
    }
}

#[test]
fn a_changed_description_is_a_diff_to_accept() {
    let tools = json!([
        find("Finds an order, or cancels it."),
        "desk::cancel(id: string) #0a"
    ]);
    let text = judged(&[run(&tools)], &[OUTLINE, TOOLS]).unwrap_err();
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("snapshot_tools_changed", text);
    });
    // So is anything else that is recorded of a tool, known here or not.
    for (key, value) in [
        (
            "input_schema",
            json!({ "type": "object", "required": ["id"] }),
        ),
        ("annotations", json!({ "readOnlyHint": false })),
        ("name", json!("find_order")),
        ("server", json!("shop")),
        ("output_schema", json!({})),
    ] {
        let mut changed = find("Finds an order.\nNever changes one.");
        changed[key] = value;
        let tools = json!([changed, "desk::cancel(id: string) #0a"]);
        let text = judged(&[run(&tools)], &[OUTLINE, TOOLS]).unwrap_err();
        assert!(
            text.contains(
                "the recorded runs differ from suites/snapshots/s-agent-snapshot-tools.snap"
            ),
            "{key}: {text}"
        );
    }
    let fewer = json!([find("Finds an order.\nNever changes one.")]);
    judged(&[run(&fewer)], &[OUTLINE, TOOLS]).unwrap_err();
}

#[test]
fn a_recording_without_a_list_of_tools_fails_and_accepts_nothing() {
    let outline = (
        OUTLINE.0,
        "run 1\n  1. s::find\n  stopped: completed\n\nrun 2\n  1. s::find\n  stopped: completed\n",
    );
    let none = json!({ "trace": calls(&["find"]) });
    let text = judged(&[run(&json!([])), none.clone()], &[outline, TOOLS]).unwrap_err();
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("snapshot_tools_unlisted", text);
    });
    // An empty snapshot is not what such a recording says.
    let empty = (TOOLS.0, "");
    judged(&[none], &[OUTLINE, empty]).unwrap_err();
    // None that were offered is a list.
    let offered_none = judged(&[run(&json!([]))], &[OUTLINE, (TOOLS.0, "no tools")]);
    assert!(offered_none.is_ok(), "{}", offered_none.unwrap_err());
}

#[test]
fn runs_that_were_offered_different_tools_are_told() {
    let two =
        "run 1\n  1. s::find\n  stopped: completed\n\nrun 2\n  1. s::find\n  stopped: completed\n";
    let lists = "offered to run 1:\n\ndesk::cancel\n\noffered to run 2:\n\ndesk::find(id)\n";
    let runs = [
        run(&json!(["desk::cancel"])),
        run(&json!(["desk::find(id)"])),
    ];
    let held = judged(&runs, &[(OUTLINE.0, two), (TOOLS.0, lists)]);
    let shown = match held {
        Ok(CaseOutcome::Holds(Some(shown))) => shown,
        other => panic!("{other:?}"),
    };
    for part in [
        "not all runs were offered the same tools: run 1; run 2",
        "only the name is recorded of `desk::cancel`, so the snapshot does not show a change of their descriptions",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    // One list for all is something else.
    judged(
        &runs,
        &[
            (OUTLINE.0, two),
            (TOOLS.0, "desk::cancel\n\ndesk::find(id)\n"),
        ],
    )
    .unwrap_err();
}
