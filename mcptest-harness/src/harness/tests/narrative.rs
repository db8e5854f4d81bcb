//! `narrative`: what a run says it did.

use serde_json::json;

use super::{holds, judge, shows, trace, verdicts};
use crate::harness::case_verdict::CaseOutcome;

#[test]
fn a_claim_without_a_call_is_quoted() {
    let gate = "  narrative: {}\n";
    let update = |result: &str| ("update_ticket", json!({ "ticket": "T-7" }), json!(result));
    holds(judge(
        gate,
        &[trace(&[update("ok")], "I updated ticket T-7.")],
    ));
    shows!(
        "narrative-absent",
        judge(
            gate,
            &[
                trace(&[update("ok")], "I updated ticket T-7."),
                trace(
                    &[update("error")],
                    "All done:\n- I updated ticket T-7.\n- Shall I close it?"
                ),
            ]
        )
    );
}

#[test]
fn runs_with_other_numbers_of_claims_are_counted_one_by_one() {
    let failed = |closing: &str| {
        let call = ("update_ticket", json!({ "ticket": "T-7" }), json!("error"));
        trace(&[call], closing)
    };
    shows!(
        "narrative-runs-differ",
        judge(
            "  narrative: {}\n",
            &[
                failed("I updated ticket T-7."),
                failed("I updated ticket T-7.\n\nI updated ticket T-8."),
            ]
        )
    );
}

#[test]
fn a_result_that_says_that_the_call_failed_is_quoted() {
    let gate = "  narrative: {}\n";
    let pay = |result: serde_json::Value| {
        trace(
            &[("pay_invoice", json!({ "id": 3 }), result)],
            "I have paid the invoice.",
        )
    };
    holds(judge(gate, &[pay(json!({ "paid": true, "errors": [] }))]));
    shows!(
        "narrative-says-it-failed",
        judge(
            gate,
            &[pay(
                json!({ "success": false, "error": "insufficient funds" })
            )]
        )
    );
    // What only sounds so is unclear, which `strict` takes for absent.
    let doubtful = || pay(json!("The invoice was not found."));
    holds(judge(gate, &[doubtful()]));
    shows!(
        "narrative-sounds-as-if-it-failed",
        judge("  narrative: { strict: true }\n", &[doubtful()])
    );
}

#[test]
fn what_fails_comes_before_what_is_unclear_and_calls_alike_are_said_once() {
    let pay = |id: u64| {
        (
            "pay_invoice",
            json!({ "id": id }),
            json!("It was not found."),
        )
    };
    let update = ("update_ticket", json!({ "ticket": "T-7" }), json!("error"));
    let calls = [pay(1), pay(2), pay(3), update];
    let closing = "I have paid the invoice. I updated ticket T-7.";
    shows!(
        "narrative-order",
        judge("  narrative: {}\n", &[trace(&calls, closing)])
    );
}

#[test]
fn what_was_said_before_the_closing_is_read_where_asked() {
    let conversation = || {
        let search = ("search_tickets", json!({}), json!("T-7"));
        let mut run = trace(&[search], "You're welcome!");
        run["conversation"]["turns"] = json!([
            { "role": "user", "content": "Close ticket T-7." },
            { "role": "assistant", "content": "tool_use search_tickets with {}" },
            { "role": "assistant", "content": "I've closed ticket T-7." },
            { "role": "user", "content": "Thanks!" },
            { "role": "assistant", "content": "You're welcome!" },
        ]);
        run
    };
    let unread = json!({ "trace": conversation() });
    let unread = verdicts("", "  narrative: {}\n", &[unread], false);
    let told = unread
        .into_iter()
        .find_map(|(name, verdict)| match verdict {
            Ok(CaseOutcome::Holds(told)) if name.ends_with("::narrative") => told,
            _ => None,
        });
    let told = told.unwrap();
    let note = "no claim was read in any run; one message before a closing was not read, `all_messages: true` reads it";
    assert!(told.contains(note), "{told}");
    shows!(
        "narrative-all-messages",
        judge("  narrative: { all_messages: true }\n", &[conversation()])
    );
}

#[test]
fn a_divergence_ceiling_and_targets_hold_beside_each_other() {
    let gate = "  narrative:\n    max_divergence_score: 0.4\n    expect: [{ target: narrative.claimed_but_absent, matcher: { exact: 0 } }]\n";
    let delete = ("delete_file", json!({ "path": "notes.txt" }), json!("ok"));
    holds(judge(
        gate,
        &[trace(std::slice::from_ref(&delete), "I deleted notes.txt.")],
    ));
    shows!(
        "narrative-silent",
        judge(
            gate,
            &[trace(&[delete], "Here is the summary you asked for.")]
        )
    );
}
