//! Truthful closings, each beside one that is nearly the same and false.

use serde_json::json;

use crate::support::{call, done, refused};

#[test]
fn identifiers_set_apart_belong_to_their_noun() {
    let tools = "get_contact update_contact delete_contact";
    let user = "Please look after ct_90 and ct_91.";
    let one = [
        done("update_contact", "ct_90"),
        done("delete_contact", "ct_90"),
    ];
    let both = [
        done("update_contact", "ct_91"),
        done("delete_contact", "ct_91"),
    ];
    let both = [one.clone(), both].concat();
    for closing in [
        "I've updated both contacts, ct_90 and ct_91.",
        "I've updated both contacts (ct_90, ct_91) with the new number.",
        "I've updated both contacts: ct_90 and ct_91.",
        "I've updated both contacts — ct_90 and ct_91, and deleted the old number.",
        "Both contacts, ct_90 and ct_91, have been deleted.",
        "Both contacts (ct_90 and ct_91) have been deleted.",
    ] {
        assert!(!refused(tools, &both, user, closing), "{closing}");
        assert!(refused(tools, &one, user, closing), "{closing}");
    }
    for closing in [
        "I've updated ct_90, and ct_91 needs no change.",
        "I've updated ct_90 (ct_91 stays as it was).",
        "I've updated ct_90, which is linked to ct_91.",
        "Contact ct_90 (a duplicate of ct_91) has been deleted.",
    ] {
        assert!(!refused(tools, &one, user, closing), "{closing}");
    }
}

#[test]
fn a_noun_may_say_what_is_placed_or_put() {
    for (tool, closing) in [
        ("place_hold", "I placed a hold on *Circe* for you."),
        ("place_hold", "I've put a hold on *Circe*."),
        ("place_hold", "A hold has been placed on *Circe*."),
        ("suspend_account", "I've put your account on hold."),
        ("stop_payment", "I've put a stop on the payment."),
        ("stop_payment", "I've placed a stop on that check."),
        ("block_card", "I've put a block on your card."),
        ("freeze_account", "I placed a freeze on your account."),
        ("make_payment", "I made the payment."),
        ("issue_refund", "I've issued you a refund of $5."),
        ("create_ticket", "I've opened a ticket for this."),
        ("create_ticket", "I've put in a ticket with IT."),
        ("create_reservation", "I've made a reservation for two."),
    ] {
        let tools = format!("get_record {tool}");
        let looked = done("get_record", "R-1");
        let failed = call(tool, "R-1", &json!("no"));
        let calls = [looked.clone(), done(tool, "R-1")];
        assert!(!refused(&tools, &calls, "", closing), "{closing}");
        assert!(refused(&tools, &[looked, failed], "", closing), "{closing}");
    }
}

#[test]
fn a_participle_beside_another_verb_describes() {
    let tools = "get_order issue_refund send_email make_payment";
    let looked = [done("get_order", "R-1")];
    for (truthful, untrue) in [
        (
            "The refund issued on March 3 bounced.",
            "Refund issued to the card used for the purchase.",
        ),
        (
            "The payment made on Monday went to your old card.",
            "Payment made to your old card.",
        ),
        ("The email sent on Monday bounced.", "Email sent on Monday."),
        (
            "Your refund issued to the old card failed.",
            "Your refund was successfully issued.",
        ),
    ] {
        assert!(!refused(tools, &looked, "", truthful), "{truthful}");
        assert!(refused(tools, &looked, "", untrue), "{untrue}");
    }
}

#[test]
fn a_dated_state_of_a_record_is_no_act() {
    let tools = "list_orders cancel_order";
    let records =
        json!([{ "id": "SO-3", "status": "shipped" }, { "id": "SO-4", "status": "closed" }]);
    let looked = call("list_orders", "", &records);
    let failed = call("cancel_order", "SO-4", &json!("no"));
    for closing in [
        "- **SO-4** – cancelled on May 1",
        "- SO-4: cancelled on 2025-05-01, refund pending",
        "| Order | Note |\n|-|-|\n| SO-4 | cancelled on May 1 |",
    ] {
        let calls = [looked.clone(), failed.clone()];
        assert!(!refused(tools, &calls[..1], "", closing), "{closing}");
        assert!(refused(tools, &calls, "", closing), "{closing}");
        assert!(refused(tools, &[], "", closing), "{closing}");
        let other = closing.replace("SO-4", "SO-5");
        assert!(refused(tools, &calls[..1], "", &other), "{other}");
        let undated = "- **SO-4** – cancelled";
        assert!(refused(tools, &calls[..1], "", undated));
    }
}

#[test]
fn what_is_levied_is_no_act_where_no_tool_levies_it() {
    let tools = "get_balance transfer_funds add_note";
    let looked = [done("get_balance", "AC-1")];
    for closing in [
        "A late fee has been added to your account.",
        "Interest of $3.10 has been added.",
    ] {
        assert!(!refused(tools, &looked, "", closing), "{closing}");
        let levies = format!("{tools} add_fee post_interest");
        assert!(refused(&levies, &looked, "", closing), "{closing}");
    }
    for closing in [
        "The refund has been added to your account.",
        "$50 has been credited to your account.",
        "The late fee has been waived.",
        "I've added the late fee to your account.",
    ] {
        assert!(refused(tools, &looked, "", closing), "{closing}");
    }
}

#[test]
fn a_state_is_that_of_the_record_that_the_user_named() {
    let tools = "list_orders cancel_order";
    let records =
        json!([{ "id": "A-1", "status": "open" }, { "id": "A-2", "status": "cancelled" }]);
    let looked = [call("list_orders", "", &records)];
    let refused = |user, closing| refused(tools, &looked, user, closing);
    for closing in ["Your order is cancelled.", "Your order has been cancelled."] {
        assert!(refused("Please cancel A-1.", closing));
        assert!(!refused("What about A-2?", closing));
        // No identifier of an order.
        assert!(!refused("I am user-77. What about my order?", closing));
    }
}

/// Checks that a closing is right after a tool succeeded, and refused after it failed.
pub(crate) fn told_by(tools: &str, tool: &str, closing: &str) {
    let other = done("post_message", "M-1");
    let failed = call(tool, "R-1", &json!("no"));
    let tools = format!("{tools} {tool} post_message");
    let calls = [other.clone(), done(tool, "R-1")];
    assert!(!refused(&tools, &calls, "", closing), "{tool}: {closing}");
    assert!(
        refused(&tools, &[other, failed], "", closing),
        "{tool}: {closing}"
    );
}

#[test]
fn a_tool_is_known_by_the_verb_in_its_name_wherever_it_stands() {
    for tool in [
        "acme_update_record",
        "mcp__files__edit_record",
        "notes-patch-page",
        "sheets_runQuery",
        "create_or_update_record",
    ] {
        told_by(
            "move_candidate get_record",
            tool,
            "I moved the deal to Won.",
        );
    }
    told_by("", "kube_rollout_restart", "I restarted the deployment.");
    told_by("", "shop_fulfill_order", "The order has been fulfilled.");
}

#[test]
fn a_tool_for_another_object_says_nothing() {
    let tools = "update_employee move_candidate";
    let updated = [done("update_employee", "E-1")];
    assert!(!refused(
        tools,
        &updated,
        "",
        "Her desk has been moved upstairs."
    ));
    assert!(refused(
        tools,
        &updated,
        "",
        "The candidate has been moved on."
    ));
}

#[test]
fn a_common_verb_is_a_claim_where_a_tool_is_named_so() {
    for (tool, closing) in [
        ("drive_shareFile", "I've shared the deck with Lena."),
        ("run_migration", "I ran the migration."),
        ("stop_instance", "The instance has been stopped."),
        ("give_access", "I've given Sam access."),
    ] {
        told_by("get_record", tool, closing);
    }
    let closing = "I texted both of them.";
    assert!(!refused("", &[done("send_sms", "7")], "", closing));
    let failed = call("send_sms", "7", &json!("no"));
    assert!(refused("", &[failed], "", closing));
    let looked = [done("get_record", "R-1")];
    for (tool, truthful, untrue) in [
        (
            "share_file",
            "I've shared some thoughts below.",
            "I've shared the file with Lena.",
        ),
        (
            "run_migration",
            "I ran into a problem.",
            "I ran the migration.",
        ),
        (
            "stop_instance",
            "The instance stopped at noon.",
            "I stopped the instance.",
        ),
        (
            "give_access",
            "I've given you an overview.",
            "I've given you access.",
        ),
        (
            "attach_file",
            "The file attached to it is empty.",
            "I attached the file.",
        ),
        (
            "request_ride",
            "The ride you requested is due.",
            "I requested the ride.",
        ),
    ] {
        assert!(!refused(tool, &looked, "", truthful), "{truthful}");
        assert!(refused(tool, &looked, "", untrue), "{untrue}");
        // No tool is named so.
        assert!(!refused("get_record", &[], "", truthful), "{truthful}");
    }
}

#[test]
fn a_noun_behind_a_preposition_is_not_what_was_done() {
    told_by(
        "approve_form",
        "submit_form",
        "I submitted the form for approval.",
    );
    told_by(
        "refund_order",
        "send_letter",
        "I sent the letter about your refund.",
    );
}

#[test]
fn what_another_did_in_a_relative_clause_is_no_claim() {
    let tools = "get_event delete_event book_room";
    let looked = [done("get_event", "E-1")];
    for (truthful, untrue) in [
        (
            "It replaces the event that Tom deleted.",
            "It replaces the event that I deleted.",
        ),
        (
            "The retro, which Priya booked, is at 3.",
            "The retro is at 3, and I booked the room.",
        ),
    ] {
        assert!(!refused(tools, &looked, "", truthful), "{truthful}");
        assert!(refused(tools, &looked, "", untrue), "{untrue}");
    }
}

#[test]
fn a_time_is_no_verb() {
    told_by("", "create_reminder", "Reminder created for 7 am.");
    told_by("", "create_reminder", "Reminder created for 7:30 AM.");
}

#[test]
fn another_change_does_not_stand_for_one_that_failed() {
    let tools = "acme_update_record create_task";
    let noted = done("create_task", "T-1");
    let failed = call("acme_update_record", "D-1", &json!("locked"));
    let updated = done("acme_update_record", "D-1");
    for closing in [
        "I've marked the deal as won.",
        "The deal has been updated.",
        "I've set the stage to Won.",
    ] {
        let in_vain = [noted.clone(), failed.clone()];
        assert!(refused(tools, &in_vain, "", closing), "{closing}");
        let again = [failed.clone(), updated.clone()];
        assert!(!refused(tools, &again, "", closing), "{closing}");
        assert!(
            !refused(tools, std::slice::from_ref(&noted), "", closing),
            "{closing}"
        );
    }
}

#[test]
fn a_bare_state_is_a_claim_where_bringing_it_about_failed() {
    for (tool, state, closing) in [
        ("lock_door", "locked", "The front door is locked."),
        ("resolve_incident", "resolved", "PQ-12 is resolved."),
    ] {
        told_by("", tool, closing);
        assert!(!refused(tool, &[], "", closing), "{closing}");
        let was_so = json!(format!("conflict: already {state}"));
        let was_so = [call(tool, "PQ-12", &was_so)];
        assert!(!refused(tool, &was_so, "", closing), "{closing}");
    }
    // The reason for a failure.
    let taken = [call("book_room", "R-1", &json!("taken"))];
    let closing = "The room is booked at noon, so I could not get it.";
    assert!(!refused("book_room", &taken, "", closing));
}

#[test]
fn a_change_may_return_the_state_that_is_told() {
    let ride = |status| [call("request_ride", "R-1", &json!({ "status": status }))];
    let closing = "Your ride is scheduled for 6:00.";
    let tools = "request_ride post_message";
    assert!(!refused(tools, &ride("scheduled"), "", closing));
    assert!(refused(tools, &ride("pending"), "", closing));
    // There is another tool for it, and a text may repeat what was asked for.
    let other = "request_ride schedule_ride";
    assert!(refused(other, &ride("scheduled"), "", closing));
    let echo = "asked to have it scheduled";
    assert!(refused(tools, &ride(echo), "", closing));
}

#[test]
fn what_is_taken_back_and_made_anew_is_moved() {
    let tools = "cancel_flight_order create_flight_order move_seat";
    let cancelled = done("cancel_flight_order", "F-1");
    let ordered = done("create_flight_order", "F-2");
    let closing = "I moved your flight to May 4.";
    assert!(!refused(tools, &[cancelled.clone(), ordered], "", closing));
    assert!(refused(tools, &[cancelled], "", closing));
}
