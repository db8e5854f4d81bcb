//! Runs that went on since they were imported.

use serde_json::{Value, json};

use super::{Desk, lines};

/// The lines of a session: a question, a lookup, an answer; then a question more, and its answer.
fn session(id: &str) -> Vec<Value> {
    let line = |number: usize, kind: &str, content: Value| {
        json!({ "type": kind, "uuid": format!("{id}{number}"), "parentUuid": (number > 1).then(|| format!("{id}{}", number - 1)),
            "sessionId": id, "timestamp": format!("2026-08-01T10:00:0{number}.000Z"),
            "message": { "id": format!("m{number}"), "role": kind, "model": "m", "content": content } })
    };
    let call = json!([{ "type": "tool_use", "id": "t", "name": "Read", "input": { "file": id } }]);
    vec![
        line(1, "user", json!("Look at it.")),
        line(2, "assistant", call),
        line(
            3,
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t", "content": "x" }]),
        ),
        line(
            4,
            "assistant",
            json!([{ "type": "text", "text": format!("It is {id}.") }]),
        ),
        line(5, "user", json!("Sure?")),
        line(6, "assistant", json!([{ "type": "text", "text": "Yes." }])),
    ]
}

/// The closings of the recordings, in their order.
fn closings(desk: &Desk) -> Vec<Value> {
    let recordings = desk.recordings().into_iter();
    recordings
        .map(|(_, run)| run["trace"]["final_response"].clone())
        .collect()
}

#[test]
fn a_session_that_went_on_is_reported_and_taken_by_replace() {
    for form in [
        &["logs", "--agent", "x"][..],
        &["logs", "--agent", "x", "--jsonl"],
    ] {
        let desk = Desk::new();
        desk.write("logs/a.jsonl", lines(&session("a")[..2]));
        desk.write("logs/b.jsonl", lines(&session("b")[..4]));
        assert_eq!(desk.import(form).status, 0);
        let before = desk.recordings();
        desk.write("logs/a.jsonl", lines(&session("a")[..4]));
        let said = desk.import(form);
        assert_eq!((said.status, desk.recordings()), (1, before), "{said:?}");
        assert!(said.err.contains("if the run went on since"), "{said:?}");
        let said = desk.import(&[form, &["--replace"]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(closings(&desk), ["It is a.", "It is b."]);
    }
}

/// Sessions that begin with the same words are told apart by what is recorded of them, in whatever order they come.
#[test]
fn sessions_that_begin_alike_keep_their_recordings_when_others_come() {
    let one = |id: &str, more: usize| {
        let mut all = session(id);
        all[4]["message"]["content"] = format!("Sure, {id}?").into();
        all.truncate(more);
        lines(&all)
    };
    let desk = Desk::new();
    for id in ["b", "c", "d"] {
        desk.write(&format!("logs/{id}.jsonl"), one(id, 6));
    }
    // Two of one agent, as nothing tells them apart yet.
    for id in ["e", "f"] {
        desk.write(&format!("logs/{id}.jsonl"), one(id, 4));
    }
    assert_eq!(desk.import(&["logs"]).status, 0);
    let before = desk.files();
    let runs = before.len();
    desk.write("logs/a.jsonl", one("a", 6));
    desk.write("logs/e.jsonl", one("e", 6));
    let said = desk.import(&["logs"]);
    assert_eq!(said.status, 1, "{said:?}");
    let after = desk.files();
    let stays = |(path, bytes): (&_, &_)| after.get(path) == Some(bytes);
    assert!(before.iter().all(stays), "{after:?}");
    assert_eq!(after.len(), runs + 1, "{after:?}");
    let again = desk.import(&["logs"]);
    assert_eq!(
        (again.status, desk.files() == after),
        (1, true),
        "{again:?}"
    );
}
