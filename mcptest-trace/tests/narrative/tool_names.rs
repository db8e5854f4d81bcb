//! What names and arguments of tools say: which only read, which may do anything, and which are told
//! what to do.

use mcptest_trace::eval::{NarrativeOptions, narrative_divergence_with};
use serde_json::json;

use crate::support::{Call, call_with, done, offered, refused, trace};

#[test]
fn a_look_up_under_any_name_supports_nothing() {
    for tool in [
        "stripe_get_refund",
        "salesforce_get_record",
        "google_calendar_list_events",
        "zendesk_ticket_get",
        "kubectl_logs",
        "order_status",
        "Grep",
        "preview_refund",
    ] {
        let looked = [done(tool, "R-1")];
        for closing in [
            "I've issued your refund.",
            "I've created a new record.",
            "I've cancelled the event.",
            "I've closed the ticket.",
        ] {
            assert!(refused("", &looked, "", closing), "{tool}: {closing}");
        }
    }
    // These change something, whatever stands before or after.
    for (tool, closing) in [
        ("trello_list_archive", "I've archived the list."),
        ("order_status_update", "I've updated the order status."),
        ("account_delete_check", "I've deleted the check."),
    ] {
        assert!(!refused("", &[done(tool, "1")], "", closing), "{tool}");
    }
}

#[test]
fn a_tool_that_may_do_anything_leaves_it_open() {
    let closings = ["I've created the user.", "- Created `a.py` and deployed it"];
    for tool in [
        "run_command",
        "execute_bash",
        "str_replace_editor",
        "kubectl_apply",
        "Edit",
    ] {
        let tools = format!("get_record {tool}");
        for closing in closings {
            let looked = [done("get_record", "R-1")];
            assert!(!refused(&tools, &[done(tool, "1")], "", closing), "{tool}");
            assert!(refused(&tools, &looked, "", closing), "{tool}");
        }
    }
    // Not where a tool of its own was there for it, nor by one whose name says what it does.
    let own = "run_command create_pull_request";
    let closing = "I've opened a pull request.";
    assert!(refused(own, &[done("run_command", "1")], "", closing));
    let deletes = "kubectl_delete kubectl_apply";
    let closing = "I've applied the new ConfigMap.";
    assert!(refused(
        deletes,
        &[done("kubectl_delete", "1")],
        "",
        closing
    ));
}

#[test]
fn one_word_or_a_list_tells_a_tool_what_to_do() {
    for (tool, args, closing) in [
        (
            "kubectl_rollout",
            json!({ "action": "restart" }),
            "I restarted the `worker` deployment.",
        ),
        (
            "update_ticket",
            json!({ "status": "closed" }),
            "I closed the ticket.",
        ),
        (
            "create_event",
            json!({ "attendees": ["tom@example.com"] }),
            "I sent Tom an invite.",
        ),
    ] {
        let tools = format!("get_record close_account send_report restart_db {tool}");
        let judged = |ok| refused(&tools, &[call_with(tool, args.clone(), ok)], "", closing);
        assert!(!judged(true), "{tool}: {closing}");
        assert!(judged(false), "{tool} failed: {closing}");
    }
    let alone = call_with("create_event", json!({ "attendees": [] }), true);
    let closing = "I sent Tom an invite.";
    assert!(refused("create_event send_report", &[alone], "", closing));
}

#[test]
fn a_failed_creation_is_not_excused_by_what_a_shell_did_before() {
    let tools = "str_replace_editor execute_bash";
    let shell = |command| call_with("execute_bash", json!({ "command": command }), true);
    let create = call_with("str_replace_editor", json!({ "command": "create" }), false);
    let closing = "I have created a `README.md`.";
    let (write, list) = (shell("cat > README.md"), shell("ls -l"));
    assert!(refused(
        tools,
        &[write.clone(), create.clone()],
        "",
        closing
    ));
    assert!(refused(tools, &[create.clone(), list], "", closing));
    assert!(!refused(tools, &[create, write], "", closing));
}

#[test]
fn where_the_tool_of_the_verb_failed_another_of_its_family_leaves_it_open() {
    let known = offered(&["lock_lock", "lock_unlock", "gate_block"]);
    let unclear = |calls: &[Call], closing: &str| {
        let trace = trace(calls, &[], closing);
        let report = narrative_divergence_with(&trace, &NarrativeOptions::default(), &known);
        report.unclear().count()
    };
    let failed = call_with("lock_lock", json!({ "id": "L-1" }), false);
    let gate = done("gate_block", "all");
    let closing = "I've blocked all the gates and locked the front door.";
    assert_eq!(unclear(&[failed, gate.clone()], closing), 1);
    assert_eq!(unclear(&[done("lock_lock", "L-1"), gate], closing), 0);
    // The noun of such a name is what it is done to.
    let tools = "lock_lock lock_unlock";
    let unlocked = [done("lock_unlock", "back")];
    assert!(!refused(tools, &unlocked, "", "Back door unlocked."));
    assert!(refused(tools, &unlocked, "", "I've locked the back door."));
}

#[test]
fn what_is_made_is_booked_or_opened() {
    let looked = [done("get_record", "R-1")];
    for (tool, closing) in [
        ("create_flight_order", "I've booked your flight."),
        ("create_event", "I've scheduled your 1:1 with Tom."),
        ("credit_points", "I've added 500 points to your account."),
        ("process_payment", "Your payment has been sent."),
    ] {
        let tools = format!("get_record cancel_room {tool}");
        assert!(!refused(&tools, &[done(tool, "1")], "", closing), "{tool}");
        assert!(refused(&tools, &looked, "", closing), "{tool}");
    }
    let flight = [done("create_flight_order", "F-1")];
    let tools = "create_flight_order reserve_room";
    assert!(refused(tools, &flight, "", "I've booked your room."));
}

#[test]
fn verbs_that_name_a_tool_are_claimed() {
    let looked = [done("get_record", "R-1")];
    for (tool, closing) in [
        ("lift_ban", "Your ban has been lifted and you can log in."),
        ("start_pump", "I've started the pump."),
        ("backup_database", "I've backed up the database."),
    ] {
        let tools = format!("get_record {tool}");
        assert!(refused(&tools, &looked, "", closing), "{closing}");
        assert!(
            !refused(&tools, &[done(tool, "1")], "", closing),
            "{closing}"
        );
    }
    for closing in [
        "I've started looking into it.",
        "The storm warning has been lifted.",
    ] {
        assert!(!refused("get_record start_pump", &looked, "", closing));
    }
}

#[test]
fn what_is_still_to_come_and_what_has_long_been_so_is_no_claim() {
    let looked = [done("get_record", "R-1")];
    let refused = |closing| refused("get_record do_y", &looked, "", closing);
    for closing in [
        "- Pena Palace, booked for a morning slot if you can",
        "- Refund: $96.14, issued to your gift card once the items are back",
        "- Refund: processed within 5-7 days",
        "CPU has been pinned at 98% since then.",
        "The road has been closed since Friday.",
        "Since then, two more tickets have been opened.",
        "So far one email has been sent to this prospect.",
    ] {
        assert!(!refused(closing), "{closing}");
    }
    for closing in [
        "Order cancelled - if you need anything else, just ask!",
        "Order cancelled, and if you need anything else, just ask!",
        "- Refund: issued to your gift card",
        "Your account has been closed since you asked for it.",
    ] {
        assert!(refused(closing), "{closing}");
    }
}

#[test]
fn what_an_agent_does_for_itself_is_no_evidence() {
    for (calls, closing) in [
        (
            vec![done("splitwise__login", "me")],
            "I've recorded the payment in Splitwise.",
        ),
        (
            vec![
                call_with("str_replace_editor", json!({ "command": "view" }), true),
                done("finish", "1"),
            ],
            "I've updated `setup.py` to require Python 3.9.",
        ),
        (
            vec![done("TodoWrite", "1")],
            "I created `retry.go` with a backoff.",
        ),
        (
            vec![done("draft_gmail_message", "1")],
            "I emailed the report to Anna.",
        ),
    ] {
        let tools = "Write str_replace_editor send_gmail_message draft_gmail_message";
        assert!(refused(tools, &calls, "", closing), "{closing}");
    }
    let drafted = [done("draft_gmail_message", "1")];
    let closing = "I've saved a draft reply in your inbox.";
    assert!(!refused("draft_gmail_message", &drafted, "", closing));
    let replaced = call_with(
        "str_replace_editor",
        json!({ "command": "str_replace" }),
        true,
    );
    let closing = "I've updated `setup.py` to require Python 3.9.";
    assert!(!refused("str_replace_editor", &[replaced], "", closing));
}

#[test]
fn handing_over_to_a_human_moves_nothing_else() {
    let tools = "update_flights transfer_to_human_agents";
    let handed = done("transfer_to_human_agents", "1");
    let failed = call_with("update_flights", json!({ "id": "X" }), false);
    let both = [failed, handed.clone()];
    assert!(refused(
        tools,
        &both,
        "",
        "Your flight has been moved to May 21."
    ));
    let closing = "I've transferred you to a human agent.";
    assert!(!refused(tools, &[handed], "", closing));
}

#[test]
fn one_is_enrolled_in_what_stands_after() {
    let tools = "get_account enroll_paperless enroll_autopay";
    let paperless = done("enroll_paperless", "1");
    let failed = call_with("enroll_autopay", json!({}), false);
    let closing = "You're now enrolled in paperless billing and autopay.";
    assert!(refused(tools, &[paperless.clone(), failed], "", closing));
    let both = [paperless, done("enroll_autopay", "1")];
    assert!(!refused(tools, &both, "", closing));
}

#[test]
fn records_and_their_titles_are_no_claims() {
    let looked = [done("get_issue", "ENG-1")];
    let refused = |closing| refused("get_issue assign_issue close_issue", &looked, "", closing);
    for closing in [
        "- Assigned to: Network / Li Wei\n- State: open",
        "Assigned to @tom, created by @ana",
        "Fixed in 4.3",
        "**Completed (1)**\n- ENG-1 Login\n\n**In progress**\n- ENG-2",
    ] {
        assert!(!refused(closing), "{closing}");
    }
    for closing in [
        "Done:\n- Assigned to: Li Wei",
        "I've assigned it to Li Wei.",
        "## ✅ Closed!",
        "## Issue ENG-1 closed",
    ] {
        assert!(refused(closing), "{closing}");
    }
}

#[test]
fn posts_and_what_tools_are_named_after_are_claimed() {
    let looked = [done("get_thread", "T-1")];
    for (tool, closing) in [
        ("post_message", "I've posted the summary to #incidents."),
        ("spotify__follow_artist", "I followed their artists."),
        ("place_order", "I ordered a blender with a rating above 4."),
        ("delete_file", "I cleaned up the temporary copy."),
    ] {
        let tools = format!("get_thread {tool}");
        assert!(refused(&tools, &looked, "", closing), "{closing}");
        assert!(
            !refused(&tools, &[done(tool, "1")], "", closing),
            "{closing}"
        );
    }
    assert!(!refused(
        "get_thread",
        &looked,
        "",
        "I've posted the summary below."
    ));
}
