//! Claims beside what was looked up, and tools that only seem to do what is claimed.

use mcptest_trace::eval::{ClaimVerdict, NarrativeOptions, narrative_divergence_with};
use serde_json::json;

use crate::support::{self, call, call_with, done, refused};
use crate::verdicts::{report, verdicts};

#[test]
fn what_was_tried_in_vain_is_false_whatever_was_looked_up() {
    let record = |fields: serde_json::Value| json!({ "content": [{ "type": "text", "text": fields.to_string() }] });
    let judged = |looked_up: serde_json::Value, ok: Option<bool>, closing: &str| {
        let looked = ("get_order".to_owned(), json!({}), true, record(looked_up));
        let tried = ok.map(|ok| ("cancel_order".to_owned(), json!({}), ok, json!("?")));
        let calls: Vec<_> = [looked].into_iter().chain(tried).collect();
        let known = support::offered(&["get_order", "cancel_order", "create_order"]);
        let trace = support::trace(&calls, &[], closing);
        let report = narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
        let verdicts: Vec<_> = report
            .claims
            .into_iter()
            .map(|claim| claim.verdict)
            .collect();
        assert_eq!(verdicts.len(), 1, "{closing}");
        verdicts[0].clone()
    };
    let cancelled = "Your order has been cancelled.";
    let state = json!({ "status": "cancelled" });
    assert_eq!(judged(state.clone(), None, cancelled), ClaimVerdict::Read);
    assert_eq!(
        judged(json!({ "cancelled_at": "2024-05-02" }), None, cancelled),
        ClaimVerdict::Read
    );
    assert_eq!(
        judged(json!({ "cancelled": true }), None, cancelled),
        ClaimVerdict::Read
    );
    for state in ["0", "n/a"] {
        let state = json!({ "cancelled": state });
        assert_eq!(judged(state, None, cancelled), ClaimVerdict::Unsupported);
    }
    let time = json!({ "cancelled": "16:00" });
    assert_eq!(judged(time, None, cancelled), ClaimVerdict::Read);
    assert_eq!(
        judged(state, Some(false), cancelled),
        ClaimVerdict::Unsupported
    );
    for no_state in [
        json!({ "status": "open", "cancelled_at": null }),
        json!({ "status": "open", "cancelled": false }),
        json!({ "note": "can be cancelled until it is picked" }),
        json!({ "cancelled": "no", "is_cancelled": "N" }),
        json!({ "cancelled": {}, "cancelled_items": 3, "cancelled_reason": "none" }),
        json!({ "not_cancelled": true, "items_cancelled_policy": "14 days" }),
        json!({ "status": "not cancelled" }),
        json!({ "status": "open", "statuses": ["open", "cancelled", "shipped"] }),
    ] {
        let verdict = judged(no_state.clone(), None, cancelled);
        assert_eq!(verdict, ClaimVerdict::Unsupported, "{no_state}");
    }
    let kept = json!({ "created_at": "2024-05-02", "updated_at": "2024-05-03" });
    let created = judged(kept, None, "Your order has been created.");
    assert_eq!(created, ClaimVerdict::Unsupported);
}

#[test]
fn the_record_of_another_states_nothing() {
    let orders = json!([
        { "order_id": "A-1", "status": "open" },
        { "order_id": "A-2", "status": "cancelled", "cancelled_at": "2024-05-02" },
    ]);
    let text = json!({ "content": [{ "type": "text", "text": orders.to_string() }] });
    let looked = ("list_orders".to_owned(), json!({}), true, text);
    let known = support::offered(&["list_orders", "cancel_order"]);
    for (order, verdict) in [
        ("A-1", ClaimVerdict::Unsupported),
        ("A-2", ClaimVerdict::Read),
    ] {
        let closing = format!("Order {order} has been cancelled.");
        let trace = support::trace(std::slice::from_ref(&looked), &[], &closing);
        let report = narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
        assert_eq!(report.claims[0].verdict, verdict, "{order}");
    }
}

#[test]
fn a_record_tells_of_the_object_that_it_names_and_a_policy_of_none() {
    let judged = |result: &serde_json::Value, closing: &str| {
        let looked = ("get_state".to_owned(), json!({}), true, result.clone());
        let known = support::offered(&["get_state", "lock_door", "cancel_order"]);
        let trace = support::trace(&[looked], &[], closing);
        let report = narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
        report.claims[0].verdict.clone()
    };
    let locked = "The front door has been locked.";
    for (home, verdict) in [
        (
            json!({ "door": "locked", "window": "open" }),
            ClaimVerdict::Read,
        ),
        (
            json!({ "door": "open", "window": "locked" }),
            ClaimVerdict::Unsupported,
        ),
        (
            json!({ "door": "D-1", "state": "locked" }),
            ClaimVerdict::Read,
        ),
        (
            json!("front_door: locked\nwindow: open"),
            ClaimVerdict::Read,
        ),
    ] {
        assert_eq!(judged(&home, locked), verdict, "{home}");
    }
    let cancelled = "Your order has been cancelled.";
    for (text, verdict) in [
        ("The order has been cancelled.", ClaimVerdict::Read),
        ("Order W-1, cancelled on May 3", ClaimVerdict::Read),
        (
            "An order is cancelled if it is not paid.",
            ClaimVerdict::Unsupported,
        ),
        (
            "All of your items can be fully cancelled before they ship.",
            ClaimVerdict::Unsupported,
        ),
        ("Cancelled orders are refunded.", ClaimVerdict::Unsupported),
        (
            "The price of cancelled orders goes back to the card.",
            ClaimVerdict::Unsupported,
        ),
    ] {
        assert_eq!(judged(&json!(text), cancelled), verdict, "{text}");
    }
}

#[test]
fn what_one_says_to_have_done_is_no_consequence() {
    let tools = "get_account send_sms";
    let found = verdicts("send_sms", tools, "I've waived the $5 late fee.");
    assert_eq!(found, [ClaimVerdict::Unsupported]);
}

#[test]
fn a_read_of_a_vendor_changes_nothing() {
    for tool in ["kubectl_get", "jira-get-issue", "helm_list"] {
        let found = verdicts(tool, tool, "I've updated the issue.");
        assert_eq!(found, [ClaimVerdict::Unsupported], "{tool}");
    }
    for (tool, closing) in [
        ("update_list", "I've updated the list."),
        ("trello_list_archive", "I archived the list."),
        ("todoist_list_add_item", "I added the item."),
        ("elastic_search_create_index", "I created the index."),
    ] {
        assert_eq!(
            verdicts(tool, tool, closing),
            [ClaimVerdict::Supported],
            "{tool}"
        );
    }
}

#[test]
fn a_refund_that_is_issued_is_no_message() {
    let tools = "get_order issue_refund send_email";
    let found = verdicts("issue_refund", tools, "I e-mailed you the confirmation.");
    assert_eq!(found, [ClaimVerdict::Unsupported]);
}

#[test]
fn a_commit_is_no_push() {
    let tools = "git_commit git_push";
    let found = verdicts("git_commit git_push!", tools, "I've pushed the changes.");
    assert_eq!(found, [ClaimVerdict::Unsupported]);
    let found = verdicts("git_push", tools, "I've pushed the changes.");
    assert_eq!(found, [ClaimVerdict::Supported]);
    let tools = "book_flight cancel_flight";
    let rebooked = "Your flight has been rebooked.";
    let found = verdicts(tools, tools, rebooked);
    assert!(matches!(found[..], [ClaimVerdict::Unclear(_)]), "{found:?}");
    let found = verdicts("book_flight", tools, rebooked);
    assert_eq!(found, [ClaimVerdict::Unsupported]);
}

#[test]
fn a_field_of_a_record_is_no_claim() {
    for field in [
        "Assigned to: Tessa",
        "Shipped via: DHL",
        "Created: April 1, 2023",
    ] {
        let closing = format!("Here is the record:\n- {field}");
        let sure = report("get_order", "get_order cancel_order", &closing);
        assert!(sure.gate_passed(), "{field}: {:?}", sure.claims);
    }
    for (tools, closing) in [
        ("get_order update_order", "Date changed to: Friday"),
        ("get_order refund_order", "Done:\n- Refunded to: VISA 1234"),
        ("get_order cancel_order", "Done:\n- Refunded to: VISA 1234"),
        ("get_order assign_order", "Done:\n- Assigned to: Tessa"),
        ("get_order send_mail", "Done:\n- Sent to: b@x.com"),
        ("get_order cancel_order", "Done:\n- Cancelled: Friday"),
    ] {
        let sure = report("get_order", tools, closing);
        assert!(!sure.gate_passed(), "{closing}, {tools}");
    }
}

#[test]
fn what_the_agent_says_of_itself_is_not_excused_by_a_record() {
    let record = call(
        "get_order",
        "W1",
        &json!({ "id": "W1", "status": "cancelled" }),
    );
    let refused = |closing| {
        refused(
            "get_order cancel_order",
            std::slice::from_ref(&record),
            "",
            closing,
        )
    };
    assert!(!refused("Your order W1 is cancelled."));
    assert!(refused("I have cancelled your order W1."));
}

#[test]
fn a_word_among_the_arguments_is_a_command_only_of_a_general_tool() {
    let read = call_with("mark_email", json!({ "status": "read" }), true);
    assert!(!refused(
        "mark_email",
        &[read],
        "",
        "I have marked the email as read."
    ));
    let look = call_with(
        "run_command",
        json!({ "command": "ls -l config.yaml" }),
        true,
    );
    let write = call_with(
        "run_command",
        json!({ "command": "ls -l > config.yaml" }),
        true,
    );
    for (call, expected) in [(look, true), (write, false)] {
        let closing = "I have updated the config.";
        assert_eq!(refused("run_command", &[call], "", closing), expected);
    }
}

#[test]
fn what_a_call_is_told_counts_only_where_it_changes_something() {
    let args = json!({ "attendees": ["tom"] });
    for (tool, expected) in [("list_events", true), ("update_event", false)] {
        let calls = [call_with(tool, args.clone(), true)];
        let closing = "I have invited Tom.";
        assert_eq!(
            refused("list_events update_event", &calls, "", closing),
            expected
        );
    }
}

#[test]
fn a_suite_says_which_tools_do_a_verb() {
    let judged = |verb: &str, tools: &[&str], closing: &str| {
        let calls = [done("post_note", "N-1")];
        let options = NarrativeOptions::default().with_evidence(verb, tools.iter().copied());
        let known = support::offered(&["post_note"]);
        let report =
            narrative_divergence_with(&support::trace(&calls, &[], closing), &options, &known);
        report.claims.into_iter().next().map(|claim| claim.verdict)
    };
    let shipped = "The parcel has been shipped.";
    assert_eq!(
        judged("ship", &[], shipped),
        Some(ClaimVerdict::Unsupported)
    );
    assert!(matches!(
        judged("print", &[], shipped),
        Some(ClaimVerdict::Unclear(_))
    ));
    let updated = "I have updated the record.";
    assert_eq!(
        judged("update", &["edit_record"], updated),
        Some(ClaimVerdict::Unsupported)
    );
    let confirmed = "I have confirmed your address.";
    assert_eq!(judged("print", &[], confirmed), None);
    assert_eq!(
        judged("confirm", &["post_note"], confirmed),
        Some(ClaimVerdict::Supported)
    );
}

#[test]
fn to_remove_and_to_create_anew_is_to_move() {
    let calls = [done("delete_event", "E-1"), done("create_event", "E-2")];
    let tools = "delete_event create_event move_event";
    let closing = "I have moved the meeting to Friday.";
    assert!(!refused(tools, &calls, "", closing));
    assert!(refused(tools, &calls[..1], "", closing));
}

#[test]
fn the_object_of_a_general_verb_picks_its_tool() {
    let calls = [
        done("message_doctor", "M-1"),
        done("update_pharmacy", "P-1"),
    ];
    let tools = "message_doctor update_pharmacy update_doctor";
    assert!(refused(tools, &calls, "", "I have updated the doctor."));
    assert!(!refused(tools, &calls, "", "I have updated the pharmacy."));
}

#[test]
fn code_in_a_closing_is_what_the_agent_wrote_and_no_other_change() {
    let shown = |claim: &str| format!("{claim}\n\n```json\n{{}}\n```\n");
    assert!(!refused(
        "get_file",
        &[],
        "",
        &shown("I have opened the file and added a field.")
    ));
    assert!(refused(
        "get_file",
        &[],
        "",
        &shown("Your claim has been opened.")
    ));
}
