//! Definition: the cassette schema "v1".

use serde_json::json;

use super::{Desk, lines};

#[test]
fn a_recording_stays_as_it_is_with_fields_that_nobody_knows() {
    let run = json!({ "schema_version": "v1", "agent_name": "desk", "model": "m", "user_prompt": "p", "of_theirs": { "b": 1, "a": 2 },
        "trace": { "tool_calls": [{ "name": "find", "args": { "q": 1.5 } }], "tool_results": [] } });
    let desk = Desk::new();
    desk.write("a.json", run.to_string());
    assert_eq!(desk.import(&["a.json"]).status, 0);
    assert_eq!(desk.recording(), run);
    assert_eq!(desk.import(&["a.json"]).status, 0);
    assert_eq!(desk.recordings().len(), 1);
}

#[test]
fn a_recording_that_does_not_load_is_reported_with_the_readers_problems() {
    let good = json!({ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": { "tool_calls": [] } });
    let bad = json!({ "schema_version": "v1", "model": 3, "user_prompt": "p", "trace": { "tool_calls": [] } });
    let desk = Desk::new();
    desk.write("a.jsonl", lines(&[good, bad]));
    let said = desk.import(&["a.jsonl", "--agent", "desk"]);
    assert_eq!(said.status, 1, "{said:?}");
    assert!(
        said.err
            .contains(" --> a.jsonl:2\n  = `model`: expected a string, found 3"),
        "{said:?}"
    );
    assert_eq!(desk.recording()["agent_name"], "desk");
}
