//! Calls of which some failed.

use serde_json::json;

use crate::support::{Call, call, done, refused};

#[test]
fn what_failed_may_be_named_beside_what_was_done_instead() {
    let room = |name: &str, result| {
        let (tool, _, ok, text) = call("book_room", "", &result);
        (tool, json!({ "room": name }), ok, text)
    };
    let calls = [
        room("oak", json!("taken")),
        room("elm", json!({ "ok": true })),
    ];
    for closing in [
        "I booked Elm instead of Oak.",
        "I booked Elm, but Oak was taken.",
        "I booked another room because Oak was taken.",
        "Elm has been booked in place of Oak.",
        "Booked Elm after Oak failed.",
    ] {
        assert!(!refused("book_room", &calls, "", closing), "{closing}");
    }
    for closing in [
        "I booked Oak.",
        "I booked Elm and Oak.",
        "Booked Oak for 2 pm.",
    ] {
        assert!(refused("book_room", &calls, "", closing), "{closing}");
    }
}

#[test]
fn both_are_two() {
    let tools = "approve_request get_request";
    let first = done("approve_request", "R-1");
    let second = done("approve_request", "R-2");
    let failed = call("approve_request", "R-2", &json!("timeout"));
    let mut batch = first.clone();
    batch.1 = json!({ "ids": ["R-1", "R-2"] });
    for closing in [
        "I've approved both requests.",
        "I've approved both of them.",
        "Both requests have been approved.",
    ] {
        let refused = |calls: &[Call]| refused(tools, calls, "", closing);
        assert!(refused(&[first.clone(), failed.clone()]), "{closing}");
        let again = [first.clone(), failed.clone(), second.clone()];
        assert!(!refused(&again), "{closing}");
        assert!(!refused(&[failed.clone(), batch.clone()]), "{closing}");
    }
}
