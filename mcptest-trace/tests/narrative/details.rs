//! What a claim names besides identifiers, and results that say themselves that their call failed: closings
//! that differ in little.

use mcptest_trace::eval::{ClaimVerdict, KnownTools, NarrativeOptions, narrative_divergence_with};
use mcptest_trace::trace::OfferedTool;
use serde_json::{Value, json};

/// What becomes of the claims: the worst of their verdicts.
fn worst(calls: &[(&str, Value, Value)], tools: &[&str], closing: &str) -> &'static str {
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
    let run = json!({ "tool_calls": made, "tool_results": results, "final_response": closing });
    let offered: Vec<OfferedTool> = tools
        .iter()
        .map(|tool| OfferedTool::in_line(tool))
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
fn details_are_compared_with_values_of_their_own_kind() {
    for (tool, args, closing, expected) in [
        (
            "refund_order",
            json!({ "order": 7, "amount": 5.0 }),
            "I have refunded $50.00 for order 7.",
            "mismatch",
        ),
        (
            "refund_order",
            json!({ "order": 7, "amount": 50 }),
            "I have refunded $50.00 for order 7.",
            "holds",
        ),
        (
            "refund_order",
            json!({ "order": 7, "amount_cents": 5000 }),
            "I have refunded $50 for order 7.",
            "holds",
        ),
        (
            "refund_order",
            json!({ "order": 7, "amount": "50.00" }),
            "I have refunded $50.",
            "holds",
        ),
        (
            "refund_order",
            json!({ "order": 7 }),
            "I have refunded $50.00.",
            "holds",
        ),
        (
            "refund_order",
            json!({ "order": 7, "amount": 1250 }),
            "I've refunded $1,250.",
            "holds",
        ),
        (
            "refuel_data",
            json!({ "gb_amount": 2 }),
            "I've refueled 2 GB of data for $10.",
            "holds",
        ),
        (
            "send_email",
            json!({ "to": "alice@example.com" }),
            "I have sent the email to bob@example.com.",
            "mismatch",
        ),
        (
            "send_email",
            json!({ "to": "Bob@Example.com" }),
            "I have sent the email to bob@example.com.",
            "holds",
        ),
        (
            "send_email",
            json!({ "to": ["a@x.org", "bob@example.com"] }),
            "I have sent the email to bob@example.com.",
            "holds",
        ),
        (
            "send_email",
            json!({ "user_id": "u1" }),
            "I have sent the email to bob@example.com.",
            "holds",
        ),
        (
            "delete_file",
            json!({ "path": "src/a.rs" }),
            "I have deleted `src/b.rs`.",
            "mismatch",
        ),
        (
            "delete_file",
            json!({ "path": "/repo/src/b.rs" }),
            "I have deleted `src/b.rs`.",
            "holds",
        ),
        (
            "delete_file",
            json!({ "path": "b.rs", "folder": "src" }),
            "I have deleted `src/b.rs`.",
            "holds",
        ),
        (
            "add_to_cart",
            json!({ "qty": 1 }),
            "I have added 2 units to your cart.",
            "mismatch",
        ),
        (
            "add_to_cart",
            json!({ "qty": 2 }),
            "I have added 2 units to your cart.",
            "holds",
        ),
        (
            "add_to_cart",
            json!({ "items": ["a", "b"] }),
            "I have added 2 items to your cart.",
            "holds",
        ),
        (
            "book_room",
            json!({ "date": "2024-05-04" }),
            "I've booked the room for May 3.",
            "mismatch",
        ),
        (
            "book_room",
            json!({ "date": "2024-05-03" }),
            "I've booked the room for May 3rd.",
            "holds",
        ),
        (
            "book_room",
            json!({ "start": "2024-05-04T02:00:00Z" }),
            "I've booked the room for May 3.",
            "holds",
        ),
        (
            "cancel_order",
            json!({ "order": 7 }),
            "I have cancelled order 8.",
            "mismatch",
        ),
        (
            "cancel_order",
            json!({ "order": 7 }),
            "I have cancelled order 7.",
            "holds",
        ),
        (
            "cancel_order",
            json!({ "order_id": "007" }),
            "I have cancelled order 7.",
            "holds",
        ),
        (
            "close_issue",
            json!({ "issue_number": 7 }),
            "Issue #8 has been closed.",
            "mismatch",
        ),
        (
            "close_issue",
            json!({ "repo": "x" }),
            "Issue #8 has been closed.",
            "holds",
        ),
        (
            "publish_post",
            json!({ "url": "https://x.org/a" }),
            "I've published the post at https://x.org/b.",
            "mismatch",
        ),
        (
            "publish_post",
            json!({ "url": "https://x.org/a/" }),
            "I've published the post at https://x.org/a.",
            "holds",
        ),
    ] {
        assert_eq!(
            worst(&one(tool, args.clone()), &[], closing),
            expected,
            "{args}: {closing}"
        );
    }
}

#[test]
fn each_of_a_list_needs_a_call_of_its_own() {
    let cancel = |order: u64| {
        (
            "cancel_order",
            json!({ "order": order }),
            json!({ "ok": true }),
        )
    };
    for (calls, closing, expected) in [
        (
            vec![cancel(7)],
            "I have cancelled both orders, 7 and 8.",
            "unsupported",
        ),
        (
            vec![cancel(7)],
            "I have cancelled orders 7 and 8.",
            "unsupported",
        ),
        (
            vec![cancel(7)],
            "Orders 7 and 8 have been cancelled.",
            "unsupported",
        ),
        (
            vec![cancel(7), cancel(8)],
            "I have cancelled orders 7 and 8.",
            "holds",
        ),
        (
            vec![cancel(7), cancel(8)],
            "I have cancelled both orders.",
            "holds",
        ),
        (
            vec![cancel(7)],
            "I have cancelled both orders.",
            "unsupported",
        ),
        (
            vec![cancel(7), cancel(8)],
            "I cancelled these orders: 7, 8 and 9.",
            "unsupported",
        ),
        (
            vec![cancel(7), cancel(8), cancel(9)],
            "I cancelled these orders: 7, 8 and 9.",
            "holds",
        ),
        (
            vec![cancel(7), cancel(8)],
            "I cancelled all three orders.",
            "unsupported",
        ),
    ] {
        assert_eq!(worst(&calls, &[], closing), expected, "{closing}");
    }
    for (tool, args, closing, expected) in [
        (
            "cancel_orders",
            json!({ "orders": [7, 8] }),
            "I have cancelled orders 7 and 8.",
            "holds",
        ),
        (
            "cancel_orders",
            json!({ "order_ids": "7,8" }),
            "I have cancelled orders 7 and 8.",
            "holds",
        ),
        (
            "cancel_orders",
            json!({ "all": true }),
            "I have cancelled orders 7 and 8.",
            "holds",
        ),
        (
            "cancel_reservation",
            json!({ "reservation_id": "R1" }),
            "I've cancelled both segments.",
            "holds",
        ),
        (
            "cancel_order",
            json!({ "order_id": "W12" }),
            "I have cancelled orders W12 and W13.",
            "unsupported",
        ),
        (
            "cancel_orders",
            json!({ "ids": ["W12", "W13"] }),
            "I have cancelled orders W12 and W13.",
            "holds",
        ),
        (
            "move_item",
            json!({ "item": "W12", "slot": "S3" }),
            "I've moved item W12 to slot S3.",
            "holds",
        ),
        (
            "update_ticket",
            json!({ "id": "ct_90" }),
            "I've updated ct_90, and ct_91 needs no change.",
            "holds",
        ),
    ] {
        assert_eq!(
            worst(&one(tool, args.clone()), &[], closing),
            expected,
            "{args}: {closing}"
        );
    }
}

#[test]
fn who_got_it_and_what_it_was_changed_to_are_compared() {
    for (tool, args, closing, expected) in [
        (
            "send_email",
            json!({ "to": "alice@example.com" }),
            "I have sent the e-mail to Bob.",
            "unsupported",
        ),
        (
            "send_email",
            json!({ "to": "bob@example.com" }),
            "I have sent the e-mail to Bob.",
            "holds",
        ),
        (
            "send_email",
            json!({ "to": "accounts@example.com" }),
            "I have sent the e-mail to Finance.",
            "holds",
        ),
        (
            "send_email",
            json!({ "to": "x@example.com", "body": "Dear Bob, …" }),
            "I have sent the e-mail to Bob.",
            "holds",
        ),
        (
            "send_email",
            json!({ "user": "u1" }),
            "I have sent the e-mail to Bob.",
            "holds",
        ),
        (
            "update_address",
            json!({ "address": "7 Oak Street" }),
            "I have updated the address to 5 Elm Street.",
            "unsupported",
        ),
        (
            "update_address",
            json!({ "address": "5 Elm St" }),
            "I have updated the address to 5 Elm Street.",
            "holds",
        ),
        (
            "update_address",
            json!({ "number": 5, "street": "Elm" }),
            "I have updated the address to 5 Elm Street.",
            "holds",
        ),
    ] {
        assert_eq!(
            worst(&one(tool, args.clone()), &[], closing),
            expected,
            "{args}: {closing}"
        );
    }
    let looked_up = vec![
        (
            "find_contact",
            json!({ "name": "Bob" }),
            json!({ "email": "x7@example.com" }),
        ),
        (
            "send_email",
            json!({ "to": "x7@example.com" }),
            json!({ "ok": true }),
        ),
    ];
    assert_eq!(
        worst(&looked_up, &[], "I have sent the e-mail to Bob."),
        "holds"
    );
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
fn a_closing_in_html_is_read() {
    let looked = one("get_order", json!({}));
    for closing in [
        "<p>Your order has been <b>cancelled</b>.</p>",
        "<ul><li>I have cancelled your order.</li></ul>",
        "<div>All right!<br>I&#39;ve cancelled your order.</div>",
    ] {
        assert_eq!(worst(&looked, &[], closing), "unsupported", "{closing}");
    }
}
