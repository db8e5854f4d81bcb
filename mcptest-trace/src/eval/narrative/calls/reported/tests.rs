use super::*;
use serde_json::json;

fn parse_result(tool: &str, result: impl Into<Value>) -> Reported {
    reported(tool, &json!({}), &result.into())
}

fn failed(tool: &str, result: Value) -> bool {
    matches!(parse_result(tool, result), Reported::Failed(_))
}

/// The forms in which results come.
fn forms(result: &Value) -> [Value; 5] {
    let text = result.to_string();
    [
        result.clone(),
        json!(text),
        json!({ "content": [{ "type": "text", "text": text }] }),
        json!({ "content": [], "structuredContent": result }),
        json!({ "result": result }),
    ]
}

#[test]
fn a_result_that_says_that_the_call_failed_is_known_in_every_form() {
    for (tool, result) in [
        ("pay_invoice", json!({ "success": false })),
        ("pay_invoice", json!({ "ok": false, "id": 3 })),
        ("pay_invoice", json!({ "ok": 0 })),
        ("pay_invoice", json!({ "isSuccess": "false" })),
        (
            "pay_invoice",
            json!({ "error": { "code": 402, "message": "insufficient funds" } }),
        ),
        ("pay_invoice", json!({ "error": "insufficient funds" })),
        (
            "pay_invoice",
            json!({ "errors": [{ "message": "no" }], "data": null }),
        ),
        ("pay_invoice", json!({ "errorMessage": "card expired" })),
        (
            "pay_invoice",
            json!({ "status": "failed", "reason": "insufficient funds" }),
        ),
        ("pay_invoice", json!({ "status": "ERROR" })),
        ("pay_invoice", json!({ "status": 422, "message": "amount" })),
        ("pay_invoice", json!({ "statusCode": 500 })),
        ("pay_invoice", json!({ "status_code": "404" })),
        (
            "pay_invoice",
            json!({ "code": 403, "message": "not yours" }),
        ),
        ("pay_invoice", json!({ "status": "declined" })),
        ("pay_invoice", json!({ "paid": false })),
        (
            "pay_invoice",
            json!({ "message": "Error: insufficient funds" }),
        ),
        (
            "pay_invoice",
            json!([{ "success": false }, { "success": false }]),
        ),
        (
            "merge_pull_request",
            json!({ "merged": false, "message": "conflict" }),
        ),
        ("send_email", json!({ "sent": false })),
        ("send_email", json!({ "status": "queued", "dry_run": true })),
        ("delete_row", json!({ "affected_rows": 0 })),
        (
            "delete_row",
            json!({ "deletedCount": 0, "acknowledged": true }),
        ),
        (
            "update_row",
            json!({ "matched_count": 1, "modified_count": 0 }),
        ),
        ("update_row", json!({ "updated": 0, "inserted": 0 })),
    ] {
        for form in forms(&result) {
            assert!(failed(tool, form.clone()), "{tool}: {form}");
        }
    }
}

#[test]
fn a_result_that_says_no_such_thing_is_none() {
    for (tool, result) in [
        (
            "pay_invoice",
            json!({ "success": true, "error": null, "errors": [], "failed": 0 }),
        ),
        ("pay_invoice", json!({ "error": "" })),
        ("pay_invoice", json!({ "error": "none", "error_code": 0 })),
        ("pay_invoice", json!({ "status": 200 })),
        (
            "pay_invoice",
            json!({ "status": "completed", "message": "No card failed." }),
        ),
        ("pay_invoice", json!({ "id": 3, "code": 404 })),
        ("pay_invoice", json!({ "paid": true, "archived": false })),
        ("pay_invoice", json!(null)),
        ("pay_invoice", json!([])),
        ("pay_invoice", json!("")),
        ("pay_invoice", json!("Paid. 0 failed.")),
        ("edit_file", json!("Error handling was added to src/a.rs.")),
        ("reject_application", json!({ "status": "rejected" })),
        ("update_row", json!({ "inserted": 0, "updated": 1 })),
        ("update_task", json!({ "id": 1, "deleted": false })),
        ("get_payment", json!({ "status": "failed" })),
        ("list_orders", json!({ "cancelled": 0 })),
    ] {
        for form in forms(&result) {
            assert_eq!(
                parse_result(tool, form.clone()),
                Reported::Nothing,
                "{tool}: {form}"
            );
        }
    }
}

#[test]
fn a_text_that_begins_with_error_says_it() {
    for text in [
        "Error: insufficient funds",
        "error: insufficient funds",
        "ERROR insufficient funds",
        "Error while paying the invoice",
        "[error] insufficient funds",
        "Error",
        "ValueError: bad amount",
        "Failed to pay: card expired",
        "Could not pay the invoice.",
        "Traceback (most recent call last):",
        "0 rows affected",
        "Deleted 0 files.",
    ] {
        assert!(failed("delete_file", json!(text)), "{text}");
    }
    assert_eq!(
        parse_result("delete_file", json!("3 rows affected, 0 updated")),
        Reported::Nothing
    );
}

#[test]
fn what_only_sounds_so_is_doubtful() {
    for result in [
        json!("The invoice was not found."),
        json!({ "message": "Invoice not found" }),
        json!({ "success": true, "error": "one item left out" }),
        json!({ "failed": 2, "succeeded": 5 }),
        json!([{ "success": false }, { "success": true }]),
        json!({ "status": "skipped" }),
    ] {
        let reported = parse_result("pay_invoice", result.clone());
        assert!(
            matches!(reported, Reported::Doubtful(_)),
            "{result}: {reported:?}"
        );
    }
    let page = format!("{} not found", "word ".repeat(200));
    assert_eq!(parse_result("fetch_page", json!(page)), Reported::Nothing);
}

#[test]
fn what_was_asked_for_and_comes_back_is_no_failure() {
    for (tool, args, result) in [
        (
            "update_order_status",
            json!({ "status": "rejected" }),
            json!({ "status": "rejected" }),
        ),
        (
            "review_expense",
            json!({ "decision": "reject" }),
            json!({ "status": "rejected" }),
        ),
        (
            "mark_payment",
            json!({ "status": "declined" }),
            json!({ "id": 1, "status": "declined" }),
        ),
        (
            "create_mock",
            json!({ "status_code": 503 }),
            json!({ "id": 1, "status_code": 503 }),
        ),
        (
            "create_post",
            json!({ "draft": true }),
            json!({ "created": true, "published": false }),
        ),
        (
            "create_task",
            json!({}),
            json!({ "id": 5, "completed": 0, "archived": 0 }),
        ),
        (
            "create_invoice",
            json!({}),
            json!({ "id": 5, "total": 120, "paid": 0 }),
        ),
        (
            "save_note",
            json!({}),
            json!({ "saved": true, "deleted": 0 }),
        ),
        (
            "send_message",
            json!({}),
            json!({ "errcode": 0, "errmsg": "ok" }),
        ),
        (
            "send_message",
            json!({}),
            json!({ "error": { "code": 0, "message": "OK" } }),
        ),
        (
            "create_alert",
            json!({}),
            json!("Failed payments alert created (id 4)"),
        ),
        (
            "submit_report",
            json!({}),
            json!("Error report submitted, ticket #55"),
        ),
        (
            "list_failed_jobs",
            json!({}),
            json!([{ "id": "j_77", "error": "OOM" }]),
        ),
        (
            "get_build",
            json!({}),
            json!({ "id": 7, "errors": ["E0308"] }),
        ),
    ] {
        let reported = reported(tool, &args, &result);
        assert!(
            !matches!(reported, Reported::Failed(_)),
            "{tool} {args}: {result}"
        );
    }
}

#[test]
fn what_stands_below_or_in_other_words_is_known_too() {
    for result in [
        json!({ "status": "failed: insufficient funds" }),
        json!({ "status": "payment_failed" }),
        json!({ "content": "Error: insufficient funds" }),
        json!(["Error: insufficient funds"]),
        json!(false),
        json!({ "exit_code": 1, "stderr": "no" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "success": false } }),
        json!({ "data": { "success": false }, "meta": {} }),
        json!({ "status": "ok", "result": { "success": false } }),
        json!({ "body": "{\"error\": \"no\"}" }),
    ] {
        assert!(failed("pay_invoice", result.clone()), "{result}");
    }
    assert!(failed(
        "get_order",
        json!({ "error": "no such order", "code": 7 })
    ));
}

#[test]
fn a_dry_run_changes_nothing() {
    for args in [
        json!({ "dry_run": true }),
        json!({ "dryRun": "true" }),
        json!({ "validate_only": true }),
    ] {
        let reported = reported("delete_logs", &args, &json!({ "would_delete": 14 }));
        assert!(matches!(reported, Reported::Failed(_)), "{args}");
    }
    let real = reported(
        "delete_logs",
        &json!({ "dry_run": false }),
        &json!({ "deleted": 14 }),
    );
    assert_eq!(real, Reported::Nothing);
}

#[test]
fn what_says_so_is_quoted() {
    let by = |result| match parse_result("pay_invoice", result) {
        Reported::Failed(by) => by,
        other => format!("{other:?}"),
    };
    assert_eq!(
        by(json!({ "error": "no funds", "success": false })),
        "`success: false`"
    );
    assert_eq!(by(json!({ "error": "no funds" })), "`error: no funds`");
    assert_eq!(by(json!("Error: no\nfunds")), "\"Error: no\"");
    assert!(by(json!({ "error": "x".repeat(500) })).chars().count() < 100);
}

#[test]
fn however_it_is_spelt() {
    for (tool, result) in [
        (
            "pay_invoice",
            json!([{ "type": "text", "text": "{\"success\": false}" }]),
        ),
        ("pay_invoice", json!({ "content": "{\"success\": false}" })),
        ("pay_invoice", json!("```json\n{\"success\": false}\n```")),
        ("pay_invoice", json!("{'success': False, 'error': None}")),
        ("pay_invoice", json!("Result: {\"success\": false}")),
        (
            "pay_invoice",
            json!({ "content": { "type": "text", "text": "Error: x" } }),
        ),
        ("pay_invoice", json!({ "content": ["Error: x"] })),
        ("pay_invoice", json!({ "paid": "false" })),
        ("send_message", json!({ "message_sent": false })),
        ("delete_row", json!({ "affected_rows": "0" })),
        ("delete_row", json!({ "rowCount": 0 })),
        ("delete_row", json!({ "changes": 0 })),
        ("delete_row", json!({ "removed": 0 })),
        ("delete_row", json!({ "updated_count": 0 })),
        ("delete_row", json!({ "deleted": [] })),
        ("update_row", json!({ "changed": false })),
        ("update_row", json!({ "modified": false })),
        ("delete_row", json!({ "message": "0 rows affected" })),
        ("delete_row", json!("Query OK, 0 rows affected (0.00 sec)")),
        ("delete_row", json!("DELETE 0")),
        ("update_row", json!("UPDATE 0")),
        ("delete_row", json!("No rows deleted")),
        ("delete_row", json!("Nothing was deleted.")),
        ("update_row", json!("No changes were made.")),
        ("pay_invoice", json!({ "status": "402" })),
        ("pay_invoice", json!({ "status": "402 Payment Required" })),
        ("pay_invoice", json!({ "code": 403 })),
        ("pay_invoice", json!({ "code": "404" })),
        ("pay_invoice", json!({ "status": { "code": 402 } })),
        ("pay_invoice", json!({ "status": false })),
        ("pay_invoice", json!({ "status": "failed (locked)" })),
        ("pay_invoice", json!({ "status": "Failed to pay" })),
        ("pay_invoice", json!({ "status": "unsuccessful" })),
        ("pay_invoice", json!({ "payment_status": "failed" })),
        ("pay_invoice", json!({ "result": false })),
        ("pay_invoice", json!({ "isSuccessful": false })),
        ("pay_invoice", json!({ "success": "0" })),
        ("pay_invoice", json!({ "results": [{ "success": false }] })),
        (
            "pay_invoice",
            json!({ "data": { "payInvoice": { "success": false } } }),
        ),
        ("pay_invoice", json!({ "exit_code": "1" })),
        ("pay_invoice", json!("success: false")),
        ("pay_invoice", json!("status: failed")),
        ("pay_invoice", json!("Status code: 500")),
        ("pay_invoice", json!({ "simulated": true })),
        ("delete_row", json!({ "would_delete": 1 })),
        ("delete_row", json!("DRY RUN: a")),
        ("delete_row", json!("Would delete a")),
        ("pay_invoice", json!({ "type": "error" })),
        ("pay_invoice", json!({ "error_description": "x" })),
        ("pay_invoice", json!({ "errorDetails": "x" })),
        ("pay_invoice", json!("<tool_use_error>x</tool_use_error>")),
        ("pay_invoice", json!("MCP error -32602: x")),
    ] {
        assert!(failed(tool, result.clone()), "{tool}: {result}");
    }
    for args in [
        json!({ "options": { "dry_run": true } }),
        json!({ "mode": "dry_run" }),
        json!({ "flags": ["--dry-run"] }),
        json!({ "args": "pods --dry-run=client" }),
    ] {
        let reported = reported("delete_logs", &args, &json!({ "ok": true }));
        assert!(matches!(reported, Reported::Failed(_)), "{args}");
    }
}

#[test]
fn what_is_spelt_like_a_failure_is_none() {
    for (tool, args, result) in [
        ("mark_failed", json!({}), json!({ "status": "failed" })),
        ("cancel_job", json!({}), json!({ "status": "aborted" })),
        ("pay_invoice", json!({}), json!("Errors: 0")),
        ("pay_invoice", json!({}), json!("Errors: none")),
        ("pay_invoice", json!({}), json!({ "errors": [null] })),
        (
            "deploy_app",
            json!({}),
            json!("Build finished. Errors: 0. Deployed."),
        ),
        (
            "create_order",
            json!({}),
            json!({ "id": 3, "payment_status": "failed" }),
        ),
        (
            "create_log",
            json!({ "type": "error" }),
            json!({ "id": 3, "type": "error" }),
        ),
        ("delete_rows", json!({}), json!("404 rows deleted")),
        ("create_todo", json!({}), json!({ "id": 3, "done": false })),
        (
            "delete_rows",
            json!({ "dry_run": "false" }),
            json!({ "deleted": 3 }),
        ),
        (
            "kubectl_apply",
            json!({ "args": "--dry-run=none" }),
            json!("applied"),
        ),
        (
            "add_note",
            json!({ "text": "Do a dry run first" }),
            json!({ "id": 3 }),
        ),
        ("add_label", json!({}), json!({ "labels": [], "id": 3 })),
        (
            "update_user",
            json!({}),
            json!({ "user_id": "007", "code": "402" }),
        ),
    ] {
        let reported = reported(tool, &args, &result);
        assert_eq!(reported, Reported::Nothing, "{tool} {args}: {result}");
    }
}

#[test]
fn a_line_for_errors_without_one_is_no_failure() {
    for text in [
        "Error: (none)",
        "Output: refunded 18.00 EUR\nError: (none)",
        "Error: (none)\nOutput: refunded",
        "Error:\nOutput: refunded",
        "error: null",
        "Error: 0",
        "Errors: []",
        "Error: -",
        "exit code 0",
        "Exit code: 0\nrefunded",
        "Output: a\nb\nError: (none)\nExit Code: 0\nSignal: (none)",
    ] {
        assert_eq!(parse_result("refund", text), Reported::Nothing, "{text}");
    }
    for text in [
        "Error: no such order",
        "Error: (none of them)",
        "Error:\n  no such order",
        "Output: (empty)\nError: no such order\nExit Code: 1",
        "Output: a\nb\nError: (none)\nExit Code: 1\nSignal: (none)",
        "exit code 1",
        "Process exited with status 2.",
        "Command exited with code 127",
    ] {
        assert!(failed("refund", json!(text)), "{text}");
    }
    assert_eq!(
        parse_result("refund", json!({ "error": "(none)" })),
        Reported::Nothing
    );
    assert!(failed("refund", json!({ "error": "none left" })));
}

#[test]
fn a_code_is_found_in_a_line_of_a_page() {
    let page = |line: &str| {
        let rows: Vec<String> = (0..40)
            .map(|row| format!("row {row} has status ok"))
            .collect();
        format!("{}\n{line}\n{}", rows.join("\n"), rows.join("\n"))
    };
    for line in [
        "Exit code: 3",
        "PROCESS EXITED WITH STATUS 2",
        "return code 1",
    ] {
        assert!(failed("run_script", json!(page(line))), "{line}");
    }
    for line in ["Exit code: 0", "the code 7 has an exit", "row 41"] {
        assert_eq!(
            parse_result("run_script", page(line)),
            Reported::Nothing,
            "{line}"
        );
    }
}

#[test]
fn every_list_of_keys_is_found_by_its_keys() {
    for (at, row) in ROWS.iter().enumerate() {
        for key in row.keys {
            let key = (*key).to_owned();
            let listed = Listed::keys([&key].into_iter());
            assert!(listed.has_row(at) && listed.has_rows(), "{key}");
        }
    }
    for key in WORDS {
        let key = (*key).to_owned();
        assert!(Listed::keys([&key].into_iter()).has_words(), "{key}");
    }
    let other = "customer".to_owned();
    let listed = Listed::keys([&other].into_iter());
    assert!(!listed.has_rows() && !listed.has_words());
}
