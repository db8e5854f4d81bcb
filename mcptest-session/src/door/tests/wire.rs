//! The two requests.

use mcptest_trace::eval::{OwnAnswer, OwnAnswers, OwnReply};

use super::*;
use crate::folders::{self, Folder, FolderMap};

#[test]
fn a_tool_runs_once_and_is_given_back_afterwards() {
    let records = Door::recording();
    let seven = json!({ "order": 7 });
    assert_eq!(called(&records, "refund", &seven), json!({ "run": "t0" }));
    let inner = json!({ "name": "get_order", "args": {}, "inside": "t0" });
    assert_eq!(ask(&records, "call", &inner), (200, json!({ "run": "t1" })));
    assert_eq!(
        called(&records, "refund", &json!({ "order": 8 })),
        json!({ "run": "t2" })
    );
    let done = |request: Value| ask(&records, "done", &request);
    assert_eq!(done(json!({ "run": "t1", "left": true })), (200, json!({})));
    assert_eq!(
        done(json!({ "run": "t0", "result": { "paid": 18 } })).0,
        200
    );
    let error = json!({ "type": "CardDeclined", "module": "shop", "text": "no", "args": [7] });
    assert_eq!(done(json!({ "run": "t2", "error": error })).0, 200);
    let mut written = records.notes();
    for one in &mut written {
        assert!(one.as_object_mut().unwrap().remove("ms").unwrap().is_u64());
    }
    assert_eq!(
        Value::from(written.clone()),
        json!([
            { "name": "refund", "args": { "order": 7 }, "result": { "paid": 18 } },
            { "name": "get_order", "args": {}, "left": true },
            { "name": "refund", "args": { "order": 8 }, "error": error },
        ])
    );
    assert_eq!(records.calls()[1].inside, Some(0));
    let plays = Door::from_notes(&written);
    assert_eq!(
        called(&plays, "refund", &json!({ "order": 8 })),
        json!({ "error": error })
    );
    assert_eq!(
        called(&plays, "refund", &json!({ "order": 7.0 })),
        json!({ "result": { "paid": 18 }, "given": "t1" })
    );
    // What was given back does not run, so nobody can say how it ended.
    assert_eq!(ask(&plays, "done", &json!({ "run": "t0" })).0, 409);
    assert_eq!(
        divergence_messages(&plays),
        [
            "the code does not make the recorded call of the tool `get_order`, or no session sees it: its decorator is gone, or \
             it runs where `MCPTEST_TOOLS` is not set"
        ]
    );
}

#[test]
fn a_call_that_was_not_recorded_is_an_error_that_names_the_nearest_and_what_differs() {
    let notes = [
        json!({ "name": "refund", "args": { "order": 7, "note": "late" }, "result": 1 }),
        json!({ "name": "refund", "args": { "order": 9 }, "result": 2 }),
    ];
    let door = Door::from_notes(&notes);
    let none = "the recording has no call of `refund` with these arguments";
    for (name, args, words) in [
        (
            "refund",
            json!({ "order": 8, "note": "late" }),
            format!(
                "{none}; the nearest recorded call has {{\"note\":\"late\",\"order\":7}}: `order` is 8 and was 7"
            ),
        ),
        (
            "refund",
            json!({ "order": 9, "fast": true }),
            format!("{none}; the nearest recorded call has {{\"order\":9}}: `fast` is new"),
        ),
        (
            "charge",
            json!({}),
            "`charge` was not called when the run was recorded".to_owned(),
        ),
    ] {
        let error =
            json!({ "error": { "type": "ToolError", "text": format!("mcptest: {words}") } });
        assert_eq!(called(&door, name, &args), error);
        assert_eq!(
            divergence_messages(&door)
                .iter()
                .filter(|told| **told == words)
                .count(),
            1
        );
    }
    assert_eq!(
        called(&door, "refund", &json!({ "order": 9 })),
        json!({ "result": 2, "given": "t3" })
    );
    let again = called(&door, "refund", &json!({ "order": 9 }));
    assert_eq!(
        again["error"]["text"],
        "mcptest: `refund` is called once more with these arguments than when the run was recorded"
    );
    let unmade = "the code does not make the recorded call of the tool `refund`";
    assert_eq!(divergence_messages(&door).last().unwrap(), unmade);
}

#[test]
fn what_is_no_request_changes_nothing_and_is_no_answer() {
    let door = Door::recording();
    let is_refused = |path: &str, request: Value, status: u16| {
        let (own, said) = ask(&door, path, &request);
        assert_eq!(own, status, "{said}");
        let only = said.as_object().unwrap();
        assert!(only.len() == 1 && said["message"].as_str().unwrap().starts_with("mcptest: "));
    };
    is_refused("call", json!({}), 400);
    is_refused("call", json!({ "name": "a", "inside": "t0" }), 400);
    is_refused("done", json!({ "run": "t0" }), 409);
    is_refused("done", json!({ "run": "x" }), 409);
    is_refused("", json!({}), 404);
    is_refused("calls", json!({ "name": "a" }), 404);
    assert_eq!(door.calls(), []);
    called(&door, "a", &json!({}));
    is_refused(
        "done",
        json!({ "run": "t0", "result": 1, "left": true }),
        400,
    );
    assert_eq!(ask(&door, "done", &json!({ "run": "t0" })).0, 200);
    is_refused("done", json!({ "run": "t0", "result": 2 }), 409);
    assert_eq!(door.notes()[0]["result"], Value::Null);
    door.end();
    is_refused("call", json!({ "name": "a" }), 410);
    is_refused("done", json!({ "run": "t0" }), 410);
}

#[test]
fn code_that_cannot_use_what_it_is_given_says_so_once() {
    let result = json!({ "call_index": 0, "result": { "content": [{ "type": "text", "text": "It is paid." }] } });
    let trace = mcptest_trace::trace::Trace::from_envelope(&json!({
        "tool_calls": [{ "name": "refund", "args": { "order": 7 } }], "tool_results": [result],
    }));
    let notes = [
        json!({ "name": "find", "args": {}, "result": [7] }),
        json!({ "name": "close", "args": {}, "error": { "type": "E", "text": "no" } }),
    ];
    let door = plays(&notes, &trace);
    let refund = called(&door, "refund", &json!({ "order": 7, "state": {} }));
    assert_eq!(
        refund,
        json!({ "result": "It is paid.", "told": true, "given": "t0" })
    );
    assert_eq!(called(&door, "find", &json!({}))["given"], "t1");
    assert!(called(&door, "close", &json!({})).get("given").is_none());
    let unkept = |run: &str| {
        let request = json!({ "run": run, "unkept": "it is no receipt" });
        ask(&door, "done", &request).0
    };
    assert_eq!([unkept("t0"), unkept("t1")], [200, 200]);
    // It was said, it has no value, and it was never called.
    assert_eq!([unkept("t0"), unkept("t2"), unkept("t3")], [409, 409, 409]);
    let told = divergence_messages(&door);
    assert_eq!(
        told,
        [
            "the recording has only what the model was told of `refund`, and the code cannot use that as a result: it is no \
             receipt; record the run again, or let the tool run: `playback: { run: [refund] }`",
            "the code cannot use the recorded result of `find`: it is no receipt; record the run again, or let the tool run: \
             `playback: { run: [find] }`",
        ]
    );
}

#[test]
fn what_the_recording_only_names_is_not_told_as_new() {
    let door = Door::from_notes(&[
        json!({ "name": "refund", "args": { "order": 7 }, "omitted": ["state"], "call": 0, "result": 1 }),
    ]);
    let args = json!({ "order": 7, "state": { "user": 1 }, "fast": true });
    let error = called(&door, "refund", &args);
    let text = error["error"]["text"].as_str().unwrap();
    assert!(text.ends_with("{\"order\":7}: `fast` is new"), "{text}");
    let found = door.divergences(0);
    let values = (found[0].recorded.clone(), found[0].played.clone());
    assert_eq!(
        values,
        (
            Some(json!({ "order": 7 })),
            Some(json!({ "order": 7, "fast": true }))
        )
    );
}

#[test]
fn a_value_that_cannot_be_kept_is_told() {
    let door = Door::recording();
    called(&door, "connect", &json!({}));
    let unkept = json!({ "run": "t0", "unkept": "its value of the type `socket` is no JSON" });
    assert_eq!(ask(&door, "done", &unkept).0, 200);
    let (tool, why) = door.unkept().unwrap();
    assert_eq!(
        (tool.as_str(), why.as_str()),
        ("connect", "its value of the type `socket` is no JSON")
    );
}

#[test]
fn a_call_that_nobody_ended_is_written_without_a_result_and_played_as_an_error() {
    let records = Door::recording();
    called(&records, "wait", &json!({}));
    assert_eq!(records.notes(), [json!({ "name": "wait", "args": {} })]);
    let plays = Door::from_notes(&records.notes());
    assert_eq!(
        called(&plays, "wait", &json!({}))["error"]["text"],
        "mcptest: `wait` gave no answer when the run was recorded"
    );
}

#[test]
fn what_the_suite_answers_never_runs() {
    let result = OwnReply::Result(json!({ "refunded": 18 }));
    let declined = OwnReply::Error {
        kind: "CardDeclined".to_owned(),
        module: None,
        text: "card declined".to_owned(),
        args: Vec::new(),
    };
    let when = json!({ "amount": 0 }).as_object().unwrap().clone();
    let entries = vec![
        OwnAnswer::new("refund", result).with_times(1),
        OwnAnswer::new("charge", declined).with_when(when),
        OwnAnswer::new("get_order", OwnReply::Run),
    ];
    let door = Door::recording().with_answers(OwnAnswers::new(entries));
    let refund = || called(&door, "refund", &json!({}));
    assert_eq!(refund(), json!({ "result": { "refunded": 18 } }));
    let error = refund();
    let text = error["error"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("mcptest: `answers:` of the suite has no entry for this call of `refund`")
    );
    let charge = |amount: u32| called(&door, "charge", &json!({ "amount": amount }));
    let declined = json!({ "type": "CardDeclined", "text": "card declined" });
    assert_eq!(charge(0), json!({ "error": declined }));
    assert_eq!(charge(1)["error"]["type"], "ToolError");
    assert_eq!(
        called(&door, "get_order", &json!({})),
        json!({ "run": "t4" })
    );
    assert_eq!(called(&door, "other", &json!({})), json!({ "run": "t5" }));
    // Nobody can say how a tool ended that did not run.
    assert_eq!(
        ask(&door, "done", &json!({ "run": "t0", "result": 1 })).0,
        409
    );
    let written = door.notes();
    let by: Vec<bool> = written.iter().map(|one| one["by"] == "suite").collect();
    assert_eq!(by, [true, true, true, true, false, false]);
    assert_eq!(written[0]["result"], json!({ "refunded": 18 }));
    assert_eq!(door.answers().used(), [1, 1, 1]);
}

#[test]
fn what_control_flow_ended_is_not_played_and_is_told() {
    let door = Door::from_notes(&[json!({ "name": "approve", "args": {}, "left": true })]);
    let words = "control flow ended `approve` when the run was recorded, and that is not played; let the tool run: \
                 `playback: { run: [approve] }`";
    let error = json!({ "type": "ToolError", "text": format!("mcptest: {words}") });
    assert_eq!(
        called(&door, "approve", &json!({})),
        json!({ "error": error })
    );
    assert_eq!(divergence_messages(&door), [words]);
}

#[test]
fn the_folder_of_a_run_is_that_of_the_recording() {
    let recorded = |path: &str| {
        let text = format!("no file {path}/a.txt");
        let error = json!({ "type": "E", "text": text, "args": [format!("{path}/a.txt")] });
        json!([
            { "name": "read", "args": { "path": format!("{path}/b.txt") }, "result": [format!("{path}/b.txt")] },
            { "name": "read", "args": { "path": format!("{path}/a.txt") }, "error": error },
        ])
    };
    let (before, now) = ("/home/ann/desk", "/srv/b/desk");
    let own = |path: &str| [(Folder::Command, vec![path.to_owned()])];
    let mut cassette = json!({ "session": { "tools": recorded(before) } });
    let written = folders::write_folders(&own(before), &cassette).unwrap();
    cassette["session"]["folders"] = written;
    let mut folders = FolderMap::from_cassette(&cassette);
    let [(folder, forms)] = own(now);
    folders.add(folder, &forms);
    let notes = cassette["session"]["tools"].as_array().unwrap();
    let door = plays(notes, &mcptest_trace::trace::Trace::default());
    door.with_playing(|playing| playing.set_folders(&folders));
    let expected = recorded(now);
    for (place, key) in [(0, "result"), (1, "error")] {
        let call = &expected[place];
        assert_eq!(called(&door, "read", &call["args"])[key], call[key]);
    }
    assert_eq!(divergence_messages(&door), [""; 0]);
    // The run has what the recording has.
    assert_eq!(door.notes()[0]["args"], notes[0]["args"]);
}

#[test]
fn code_that_calls_again_and_again_what_was_not_recorded_is_ended() {
    let recorded = RecordedCalls::from_notes(&[], &mcptest_trace::trace::Trace::default());
    let stop = std::sync::Arc::new(tokio::sync::Notify::new());
    let playing =
        crate::door::CallPlayer::new(recorded, PlaybackOptions::suite_default(), Vec::new());
    let door = Door::playing(playing.with_stop(stop.clone()), Ticks::default());
    for order in 0..60 {
        let answer = called(&door, "refund", &json!({ "order": order }));
        assert!(answer["error"].is_object(), "{answer}");
        let is_ended = order >= 49;
        let text = answer["error"]["text"].as_str().unwrap();
        assert_eq!(
            text.contains("the run was ended after 50 calls"),
            is_ended,
            "{text}"
        );
    }
    assert_eq!(divergence_messages(&door).len(), 50);
    let told = futures_util::FutureExt::now_or_never(stop.notified());
    assert!(told.is_some());
}
