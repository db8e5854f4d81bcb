//! What a claim names besides identifiers, and results that say themselves that their call failed: closings
//! that differ in little.

use mcptest_trace::eval::{
    CallFinding, ClaimVerdict, KnownTools, NarrativeOptions, narrative_divergence,
    narrative_divergence_with,
};
use mcptest_trace::trace::OfferedTool;
use serde_json::{Value, json};

/// What becomes of the claims: the worst of their verdicts.
fn worst(calls: &[(&str, Value, Value)], tools: &[&str], closing: &str) -> &'static str {
    worst_asked("", calls, tools, closing)
}

/// The worst verdict of the claims, where the user asked for something.
fn worst_asked(
    asked: &str,
    calls: &[(&str, Value, Value)],
    tools: &[&str],
    closing: &str,
) -> &'static str {
    let made = calls.iter();
    let made: Vec<Value> = made
        .map(|(name, args, _)| json!({ "name": name, "args": args }))
        .collect();
    let results = calls.iter().enumerate();
    let results: Vec<Value> = results
        .map(
            |(at, (_, _, result))| json!({ "call_index": at, "is_error": false, "result": result }),
        )
        .collect();
    let turns = json!([{ "role": "user", "content": asked }]);
    let run = json!({ "tool_calls": made, "tool_results": results, "final_response": closing,
        "conversation": { "turns": turns } });
    let offered: Vec<OfferedTool> = tools
        .iter()
        .map(|tool| OfferedTool::from_line(tool))
        .collect();
    let known = KnownTools::offered(&offered);
    let report = narrative_divergence_with(&run, &NarrativeOptions::default(), &known);
    assert!(
        !report.claims.is_empty(),
        "no claim was read in {closing:?}"
    );
    let order = |verdict: &ClaimVerdict| match verdict {
        ClaimVerdict::Supported | ClaimVerdict::Read => (0, "holds"),
        ClaimVerdict::Unclear(_) => (1, "unclear"),
        ClaimVerdict::ArgMismatch { .. } => (2, "mismatch"),
        ClaimVerdict::Unsupported => (3, "unsupported"),
    };
    let verdicts = report.claims.iter().map(|claim| order(&claim.verdict));
    verdicts.max().unwrap().1
}

fn one(name: &'static str, args: Value) -> Vec<(&'static str, Value, Value)> {
    vec![(name, args, json!({ "ok": true }))]
}

#[test]
fn what_a_claim_names_is_compared_with_its_calls() {
    let lines = include_str!("details.txt").lines();
    let mut wrong = Vec::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let Some((expected, rest)) = line.split_once(" ; ") else {
            continue;
        };
        let (calls, closing) = rest.split_once(" | ").expect("a closing");
        let calls: Vec<_> = calls.split(" & ").map(call).collect();
        let found = worst(&calls, &[], &closing.replace("\\n", "\n"));
        if found != expected {
            wrong.push(format!("{found}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `tool {arguments}`, which succeeded, or with `!` before it did not.
fn call(text: &str) -> (&str, Value, Value) {
    let (text, ok) = text
        .strip_prefix('!')
        .map_or((text, true), |text| (text, false));
    let (name, args) = text.split_once(' ').expect("arguments");
    let args = serde_json::from_str(args).expect("JSON");
    (name, args, json!({ "ok": ok }))
}

#[test]
fn a_name_that_the_user_said_gives_no_address_to_it() {
    let sent = one("send_email", json!({ "to": "alice@example.com" }));
    let said = |asked| worst_asked(asked, &sent, &[], "I have sent the e-mail to Bob.");
    assert_eq!(said("Send the e-mail to Bob"), "unsupported");
    assert_eq!(said("Write to Bob, he is alice@example.com now."), "holds");
    let found = |answer: Value| {
        let mut calls = vec![("find_contact", json!({ "name": "Bob" }), answer)];
        calls.extend(sent.clone());
        worst(&calls, &[], "I have sent the e-mail to Bob.")
    };
    assert_eq!(found(json!({ "email": "alice@example.com" })), "holds");
    let both = json!([
        { "name": "Bob", "email": "bob@example.com" },
        { "name": "Alice", "email": "alice@example.com" }
    ]);
    assert_eq!(found(both), "unsupported");
}

#[test]
fn a_call_says_what_it_lacks_of_a_claim() {
    for (args, closing, lacks) in [
        (
            json!({ "order": 7 }),
            "I have cancelled orders 7 and 8.",
            "`8`",
        ),
        (
            json!({ "order": 7 }),
            "I have cancelled both orders.",
            "1 of 2",
        ),
    ] {
        let run = json!({
            "tool_calls": [{ "name": "cancel_order", "args": args }],
            "tool_results": [{ "call_index": 0, "is_error": false, "result": { "ok": true } }],
            "final_response": closing,
        });
        let report = narrative_divergence(&run, &NarrativeOptions::default());
        let considered = &report.claims[0].considered[0];
        assert_eq!(considered.finding, CallFinding::OtherDetail, "{closing}");
        assert_eq!(considered.said.as_deref(), Some(lacks), "{closing}");
    }
}

#[test]
fn a_result_that_says_that_the_call_failed_supports_nothing() {
    let pay = |result: Value| vec![("pay_invoice", json!({ "id": 3 }), result)];
    for (result, expected) in [
        (
            json!({ "success": false, "error": "insufficient funds" }),
            "unsupported",
        ),
        (
            json!({ "content": [{ "type": "text", "text": "{\"status\":\"failed\"}" }] }),
            "unsupported",
        ),
        (json!("Error: insufficient funds"), "unsupported"),
        (json!({ "paid": false }), "unsupported"),
        (json!("The invoice was not found."), "unclear"),
        (
            json!({ "success": true, "errors": [], "failed": 0 }),
            "holds",
        ),
        (json!({ "error": null }), "holds"),
    ] {
        let said = worst(&pay(result.clone()), &[], "I have paid the invoice.");
        assert_eq!(said, expected, "{result}");
    }
    let mut again = pay(json!({ "success": false }));
    again.extend(pay(json!({ "success": true })));
    assert_eq!(worst(&again, &[], "I have paid the invoice."), "holds");
    let dry = vec![(
        "delete_logs",
        json!({ "dry_run": true }),
        json!({ "would_delete": 14 }),
    )];
    assert_eq!(
        worst(&dry, &[], "I have deleted the 14 old log files."),
        "unsupported"
    );
    // The claim's own participle, by a tool of another name.
    let update = vec![(
        "update_pull_request",
        json!({ "n": 5 }),
        json!({ "merged": false }),
    )];
    assert_eq!(
        worst(
            &update,
            &["update_pull_request"],
            "I have merged the pull request."
        ),
        "unsupported"
    );
}

#[test]
fn a_verb_that_an_argument_covers_is_not_refused() {
    let create = one("create_ticket", json!({ "title": "x", "assignee": "Ann" }));
    let tools = ["create_ticket", "assign_ticket"];
    assert_eq!(
        worst(
            &create,
            &tools,
            "I created the ticket and assigned it to Ann."
        ),
        "holds"
    );
    assert_eq!(
        worst(
            &create,
            &tools,
            "I created the ticket and assigned it to Bob."
        ),
        "unsupported"
    );
    let none = one("create_ticket", json!({ "title": "x" }));
    assert_eq!(
        worst(
            &none,
            &tools,
            "I created the ticket and assigned it to Ann."
        ),
        "unsupported"
    );
}

#[test]
fn an_argument_of_the_verb_or_the_object_covers_a_claim() {
    for (tool, other, args, closing) in [
        (
            "create_ticket",
            "assign_ticket",
            json!({ "assignee": "ops" }),
            "I created the ticket and assigned it to the ops team.",
        ),
        (
            "create_ticket",
            "assign_ticket",
            json!({ "assignee": "ann@x.org" }),
            "I created the ticket and assigned it to ann@x.org.",
        ),
        (
            "create_task",
            "assign_task",
            json!({ "owner": "Ann" }),
            "I created the task and assigned it to Ann.",
        ),
        (
            "create_event",
            "invite_guest",
            json!({ "guests": ["Ann"] }),
            "I created the event and invited Ann.",
        ),
        (
            "create_pr",
            "request_review",
            json!({ "reviewers": ["ann"] }),
            "I opened the PR and requested a review from Ann.",
        ),
        (
            "create_ticket",
            "set_priority",
            json!({ "priority": "high" }),
            "I created the ticket and set its priority to high.",
        ),
        (
            "create_ticket",
            "add_label",
            json!({ "labels": ["bug"] }),
            "I created the ticket and added the label bug.",
        ),
        (
            "create_order",
            "apply_coupon",
            json!({ "coupon": "SAVE" }),
            "I placed the order and applied the coupon SAVE.",
        ),
        (
            "cancel_order",
            "refund_order",
            json!({ "id": 3, "refund": true }),
            "I cancelled the order and refunded you.",
        ),
        (
            "update_ticket",
            "add_comment",
            json!({ "id": 3, "comment": "Fixed." }),
            "I updated the ticket and added a comment.",
        ),
    ] {
        let tools = [tool, other];
        let covered = worst(&one(tool, args), &tools, closing);
        assert_eq!(covered, "holds", "{closing}");
        let without = worst(&one(tool, json!({ "id": 3 })), &tools, closing);
        assert_eq!(without, "unsupported", "{closing}");
    }
}

#[test]
fn an_argument_without_the_value_of_a_claim_covers_nothing() {
    for (tool, other, args, closing) in [
        (
            "create_ticket",
            "assign_ticket",
            json!({ "assignee": "ann@x.org" }),
            "I created the ticket and assigned it to bob@x.org.",
        ),
        (
            "create_ticket",
            "set_priority",
            json!({ "priority": "low" }),
            "I created the ticket and set its priority to high.",
        ),
        (
            "create_ticket",
            "add_label",
            json!({ "labels": [] }),
            "I created the ticket and added a label.",
        ),
        (
            "cancel_order",
            "refund_order",
            json!({ "id": 3, "refund": false }),
            "I cancelled the order and refunded you.",
        ),
        (
            "add_comment",
            "close_issue",
            json!({ "issue": 5 }),
            "I added a comment and closed the issue.",
        ),
        (
            "create_server",
            "delete_server",
            json!({ "delete_on_exit": true }),
            "I created the server and deleted the old one.",
        ),
    ] {
        let refused = worst(&one(tool, args), &[tool, other], closing);
        assert_eq!(refused, "unsupported", "{closing}");
    }
}

#[test]
fn what_the_user_asked_for_and_another_got_is_unsupported() {
    for (asked, tool, args, closing) in [
        (
            "Cancel order 8.",
            "cancel_order",
            json!({ "order": 7 }),
            "I have cancelled order 8.",
        ),
        (
            "Send it to bob@example.com",
            "send_email",
            json!({ "to": "al@example.com" }),
            "I have sent the email to bob@example.com.",
        ),
        (
            "Delete src/b.rs, please",
            "delete_file",
            json!({ "path": "src/a.rs" }),
            "I have deleted `src/b.rs`.",
        ),
    ] {
        let call = [(tool, args, json!({ "ok": true }))];
        assert_eq!(
            worst_asked(asked, &call, &[], closing),
            "unsupported",
            "{closing}"
        );
        assert_eq!(
            worst_asked("Please.", &call, &[], closing),
            "mismatch",
            "{closing}"
        );
    }
}
