//! Calls of which some failed.

use serde_json::json;

use crate::support::{Call, call, call_with, done, refused};

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
        let other = (
            "approve_request".to_owned(),
            json!({ "ref": 1 }),
            true,
            json!("ok"),
        );
        assert!(refused(&[failed.clone(), other]), "{closing}");
        let again = [first.clone(), failed.clone(), second.clone()];
        assert!(!refused(&again), "{closing}");
        assert!(!refused(&[failed.clone(), batch.clone()]), "{closing}");
    }
}

#[test]
fn all_of_several_are_not_those_that_succeeded() {
    let tools = "get_request approve_request";
    let ok = |id| done("approve_request", id);
    let failed = call("approve_request", "R-3", &json!("timeout"));
    let some = [ok("R-1"), ok("R-2"), failed.clone()];
    let again = [ok("R-1"), failed.clone(), ok("R-2"), ok("R-3")];
    let mut batch = ok("R-1");
    batch.1 = json!({ "ids": ["R-1", "R-2", "R-3"] });
    let batch = [failed.clone(), batch];
    let unknown = [call_with("approve_request", json!({ "all": true }), true)];
    for closing in [
        "I've approved all three requests.",
        "I've approved all of them.",
        "I approved your three open requests.",
        "I've approved each of the requests.",
        "I've approved every request.",
        "Each of the requests has been approved.",
        "All requests have been approved.",
        "Approved 3 requests.",
    ] {
        let refused = |calls: &[Call]| refused(tools, calls, "", closing);
        assert!(refused(&some), "{closing}");
        assert!(!refused(&again), "{closing}");
        assert!(!refused(&batch), "{closing}");
        assert!(!refused(&unknown), "{closing}");
    }
    for closing in [
        "I approved two requests.",
        "I approved 2 of the 3 requests.",
        "I've approved all requests except R-3.",
        "All requests except R-3 have been approved.",
        "I've approved all the requests I could.",
        "I've approved all eligible requests; R-3 timed out.",
        "I've approved all requests that are open.",
        "Would you like all three requests approved?",
    ] {
        assert!(!refused(tools, &some, "", closing), "{closing}");
    }
}

#[test]
fn what_failed_may_have_been_put_right() {
    let made = |tool: &str, args, ok| {
        let (tool, _, _, text) = done(tool, "");
        (tool, args, ok, text)
    };
    let update = |of: &str, ok| {
        made(
            "update_travelers",
            json!({ "booking": "B-1", "of": of }),
            ok,
        )
    };
    let spelt = [update("ann bo", false), update("Ann, Bo", true)];
    let closing = "Both travelers have been updated.";
    assert!(!refused("update_travelers", &spelt, "", closing));
    let book = |room: &str, at: &str, ok| made("book_room", json!({ "room": room, "at": at }), ok);
    let oak = [book("oak", "9", true), book("oak", "10", false)];
    let elm = [oak.to_vec(), vec![book("elm", "10", true)]].concat();
    for closing in ["I've booked both rooms.", "All rooms have been booked."] {
        assert!(!refused("book_room", &elm, "", closing), "{closing}");
        assert!(refused("book_room", &oak, "", closing), "{closing}");
    }
    // Another tool did it, for one or for both.
    let mail = |to: &str, ok| made("send_email", json!({ "to": to }), ok);
    let sms = made("send_sms", json!({ "phone": "7" }), true);
    let mails = [mail("ann", true), mail("bo", false)];
    let both = [mails.to_vec(), vec![sms]].concat();
    let tools = "send_email send_sms";
    let closing = "I've notified both of them.";
    assert!(!refused(tools, &both, "", closing));
    assert!(refused(tools, &mails, "", closing));
}

#[test]
fn an_argument_without_a_value_names_nothing() {
    let noted = |note: &str, ok| call_with("cancel_order", json!({ "id": "W1", "note": note }), ok);
    let calls = [noted("", false), noted("late", true)];
    assert!(!refused(
        "cancel_order",
        &calls,
        "",
        "I cancelled order W1, as asked."
    ));
}
