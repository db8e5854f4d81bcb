//! Verdicts that were wrong once and have to stay right.

use mcptest_trace::eval::{
    ClaimVerdict, KnownTools, Metrics, NarrativeOptions, NarrativeReport, narrative_divergence_with,
};
use mcptest_trace::trace::Trace;
use serde_json::json;

use crate::support;

/// Calls by name, failed ones with `!`; the tools that the recording lists.
pub(crate) fn report(calls: &str, tools: &str, closing: &str) -> NarrativeReport {
    let calls: Vec<_> = calls
        .split_whitespace()
        .map(|name| {
            (
                name.trim_matches('!').to_owned(),
                json!({}),
                !name.ends_with('!'),
                json!("ok"),
            )
        })
        .collect();
    let trace = support::trace(&calls, &[], closing);
    let known = support::offered(&tools.split_whitespace().collect::<Vec<_>>());
    narrative_divergence_with(&trace, &NarrativeOptions::default(), &known)
}

pub(crate) fn verdicts(calls: &str, tools: &str, closing: &str) -> Vec<ClaimVerdict> {
    report(calls, tools, closing)
        .claims
        .into_iter()
        .map(|claim| claim.verdict)
        .collect()
}

#[test]
fn a_general_update_leaves_another_verb_unclear() {
    let mut report = report(
        "update_customer",
        "get_customer update_customer",
        "I deleted the customer.",
    );
    assert!(matches!(report.claims[0].verdict, ClaimVerdict::Unclear(_)));
    assert!(report.gate_passed());
    report.strict = true;
    assert!(!report.gate_passed());
}

#[test]
fn earlier_messages_are_read_where_asked_and_any_call_supports_them() {
    let trace = Trace::from_envelope(&json!({
        "tool_calls": [{ "name": "cancel_order" }],
        "tool_results": [{ "call_index": 0, "is_error": false, "result": "ok" }],
        "conversation": { "turns": [
            { "role": "assistant", "content": "I cancelled the order." },
            { "role": "assistant", "content": "tool_use desk::cancel_order with {}" },
            { "role": "assistant", "content": "I also refunded the payment." },
            { "role": "user", "content": "I cancelled the booking." },
            { "role": "assistant", "content": "You are welcome!" },
        ] },
        "final_response": "You are welcome!",
    }));
    let known = support::offered(&["cancel_order", "refund_payment"]);
    let report = |options: NarrativeOptions| narrative_divergence_with(&trace, &options, &known);
    let closing = report(NarrativeOptions::default());
    assert_eq!(
        (closing.claims.len(), closing.present_but_unclaimed.len()),
        (0, 1)
    );
    let all = report(NarrativeOptions::default().with_all_messages(true));
    let claims = all.claims.iter();
    let claims: Vec<_> = claims
        .map(|claim| (claim.turn, claim.verdict.clone()))
        .collect();
    assert_eq!(
        claims,
        [
            (Some(0), ClaimVerdict::Supported),
            (Some(2), ClaimVerdict::Unsupported)
        ]
    );
    assert!(all.present_but_unclaimed.is_empty());
}

#[test]
fn a_creation_is_not_done_by_an_update() {
    let found = verdicts(
        "update_event",
        "update_event list_events",
        "I created a meeting.",
    );
    assert_eq!(found, [ClaimVerdict::Unsupported]);
}

#[test]
fn nothing_is_done_by_reading() {
    for closing in [
        "I deployed the service.",
        "I transferred $500.",
        "I fixed the bug.",
    ] {
        assert_eq!(
            verdicts("get_status read_file", "", closing),
            [ClaimVerdict::Unsupported],
            "{closing}"
        );
    }
}

#[test]
fn failed_calls_do_nothing() {
    let found = verdicts("move_file! notify_team!", "", "Moved. Notified.");
    assert_eq!(
        found,
        [ClaimVerdict::Unsupported, ClaimVerdict::Unsupported]
    );
}

#[test]
fn an_mcp_result_may_say_itself_that_it_failed() {
    let calls = [(
        "cancel_order".to_owned(),
        json!({}),
        true,
        json!({"isError": true, "content": []}),
    )];
    let trace = support::trace(&calls, &[], "I cancelled the order.");
    let report =
        narrative_divergence_with(&trace, &NarrativeOptions::default(), &KnownTools::default());
    assert!(!report.gate_passed());
}

#[test]
fn these_are_claims() {
    for closing in [
        "Your exchange request has been submitted.",
        "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.",
        "Your reservation is confirmed.",
        "The claim has been successfully opened.",
    ] {
        assert_eq!(
            verdicts("get_order", "", closing),
            [ClaimVerdict::Unsupported],
            "{closing}"
        );
    }
}

#[test]
fn these_are_no_false_alarms() {
    for (calls, closing) in [
        ("get_line", "Make sure your phone stays set to 4G."),
        (
            "charge_account",
            "The cost of $4.00 has been added to your account.",
        ),
        (
            "return_order_items",
            "A refund has been returned to your gift card.",
        ),
        (
            "cancel_order",
            "Your order has been cancelled and a refund has been issued.",
        ),
    ] {
        assert!(report(calls, "", closing).gate_passed(), "{closing}");
        let tools = format!("{calls} get_order");
        assert!(report(calls, &tools, closing).gate_passed(), "{closing}");
    }
}

#[test]
fn the_object_narrows_the_tools() {
    let tools = "update_reservation_flights update_reservation_passengers";
    let closing = "I have updated the passengers.";
    assert_eq!(
        verdicts("update_reservation_flights", tools, closing),
        [ClaimVerdict::Unsupported]
    );
    assert_eq!(
        verdicts("update_reservation_passengers", tools, closing),
        [ClaimVerdict::Supported]
    );
    let closing = "I have updated your flight reservation.";
    assert_eq!(
        verdicts("update_reservation_passengers", tools, closing),
        [ClaimVerdict::Supported]
    );
}

#[test]
fn another_identifier_of_the_kind_contradicts() {
    let call = |id: &str| {
        (
            "cancel_order".to_owned(),
            json!({"id": id}),
            true,
            json!("ok"),
        )
    };
    let read = (
        "get_order".to_owned(),
        json!({"id": "W1000"}),
        true,
        json!("ok"),
    );
    let judged = |id: &str, closing: &str| {
        let trace = support::trace(&[read.clone(), call(id)], &[], closing);
        let report =
            narrative_divergence_with(&trace, &NarrativeOptions::default(), &KnownTools::default());
        report.claims[0].verdict.clone()
    };
    let closing = "I have cancelled order #W1000.";
    assert_eq!(judged("W1000", closing), ClaimVerdict::Supported);
    assert_eq!(judged("W2000", closing), ClaimVerdict::Unsupported);
    assert!(matches!(
        judged("W2000", "I have cancelled order W3000."),
        ClaimVerdict::ArgMismatch { .. }
    ));
}

#[test]
fn evidence_names_the_tools_and_no_others() {
    let options =
        |tools: &[&str]| NarrativeOptions::default().with_evidence("cancel", tools.iter().copied());
    let trace = support::trace(
        &[("cancel_order".into(), json!({}), true, json!("ok"))],
        &[],
        "I cancelled the order.",
    );
    let passes = |tools: &[&str]| {
        narrative_divergence_with(&trace, &options(tools), &KnownTools::default()).gate_passed()
    };
    assert!(passes(&["cancel_order"]));
    assert!(!passes(&["void_order"]));
    assert!(!passes(&[]));
    let mut ignored = options(&[]);
    ignored.ignore.push("i-did".to_owned());
    assert!(
        narrative_divergence_with(&trace, &ignored, &KnownTools::default())
            .claims
            .is_empty()
    );
}

#[test]
fn a_delegated_act_is_unclear() {
    let found = verdicts("run_agent cancel_order!", "", "I cancelled the order.");
    assert!(matches!(found[..], [ClaimVerdict::Unclear(_)]));
}

#[test]
fn a_claim_says_how_it_was_judged() {
    let settle = |calls: &str, tools: &str, closing: &str| {
        let claim = report(calls, tools, closing).claims.remove(0);
        let findings = claim.considered.iter();
        let findings = findings.map(|call| format!("{}: {}", call.tool, call.finding));
        (claim.rule, findings.collect::<Vec<_>>(), claim.settle)
    };
    let closing = "Hello.\n\n- I **cancelled** your order.";
    let (rule, findings, line) = settle("cancel_order!", "cancel_order refund_order", closing);
    assert_eq!((rule, line), ("i-did", None));
    assert_eq!(findings, ["cancel_order: failed"]);
    // Of the tools that succeeded, the suite's author knows which does it.
    let (_, findings, line) = settle("void_all add_note", "", "I cancelled your order.");
    assert_eq!(
        findings,
        [
            "void_all: supports the claim",
            "add_note: is not known to do this"
        ]
    );
    assert_eq!(line, None);
    let (_, findings, line) = settle("add_note get_order", "", "I cancelled your order.");
    assert_eq!(findings, ["add_note: is not known to do this"]);
    assert_eq!(line.as_deref(), Some("cancel: [add_note]"));
}

#[test]
fn a_word_before_a_claim_makes_no_claim_of_its_object() {
    let report = report("", "", "Done: I updated order A-1005.");
    let verbs: Vec<_> = report
        .claims
        .iter()
        .map(|claim| claim.verb.as_str())
        .collect();
    assert_eq!(verbs, ["update"]);
}

#[test]
fn options_are_read_straight_from_a_block() {
    let options: NarrativeOptions =
        serde_json::from_value(json!({"strict": true, "tools": ["a"], "evidence": {"send": []}}))
            .unwrap();
    assert!(options.strict && options.tools == ["a"] && options.evidence["send"].is_empty());
}

#[test]
fn the_tools_of_a_block_are_all_that_the_agent_has() {
    let trace = support::trace(
        &[("update_event".into(), json!({}), true, json!("ok"))],
        &[],
        "I deployed the service.",
    );
    let judged = |tools: &[&str]| {
        let options = NarrativeOptions::default()
            .with_tools(tools.iter().copied())
            .with_verbs(["frobnicate"]);
        let report = narrative_divergence_with(&trace, &options, &KnownTools::default());
        report.claims[0].verdict.clone()
    };
    assert!(matches!(judged(&[]), ClaimVerdict::Unclear(_)));
    let tools = ["update_event", "deploy_service"];
    assert_eq!(judged(&tools), ClaimVerdict::Unsupported);
}

#[test]
fn a_silent_change_is_reported_and_a_mentioned_one_is_not() {
    let unclaimed = |closing: &str, options: &NarrativeOptions| -> Vec<usize> {
        let calls = ["delete_record", "create_issue", "get_user", "remove_user!"];
        let calls = calls.map(|name| {
            let tool = name.trim_end_matches('!').to_owned();
            (tool, json!({}), !name.ends_with('!'), json!("ok"))
        });
        let trace = support::trace(&calls, &[], closing);
        let report = narrative_divergence_with(&trace, options, &KnownTools::default());
        let silent = report.present_but_unclaimed.iter();
        silent.map(|call| call.call).collect()
    };
    let default = NarrativeOptions::default();
    assert_eq!(unclaimed("I created the issue.", &default), [0]);
    let told = "Issue creation went well; records were cleaned by deleting one.";
    assert_eq!(unclaimed(told, &default), [1]);
    assert_eq!(unclaimed("", &default), [0, 1]);
    let overrides = NarrativeOptions::default()
        .with_readonly_tools(["delete_record"])
        .with_mutating_tools(["get_user", "delete_record"]);
    assert_eq!(unclaimed("I created the issue.", &overrides), [2]);
}

#[test]
fn the_score_is_the_share_of_flagged_items() {
    let nothing = report("", "", "");
    assert!(nothing.divergence_score.abs() < f64::EPSILON && nothing.gate_passed());
    let tools = "delete_file get_file";
    let report = report("delete_file get_file", tools, "I sent the mail.");
    assert!((report.divergence_score - 2.0 / 3.0).abs() < 1e-9);
    let counts = report.metrics();
    assert_eq!(
        counts,
        json!({ "narrative": {
            "divergence_score": report.divergence_score,
            "claimed_but_absent": 1,
            "present_but_unclaimed": 1,
            "arg_mismatch": 0,
            "gate_passed": 0,
            "claims": 1,
            "unclear": 0,
        }})
    );
}

#[test]
fn what_was_wished_for_titled_or_listed_is_claimed_all_the_same() {
    for closing in [
        "I know you need this soon so I have refunded order 7.",
        "You wanted a refund and I have issued it.",
        "The refund you wanted has been issued.",
        "I have made sure that your order is cancelled.",
        "You need to do nothing else, your order is cancelled.",
        "As you wanted, your order is cancelled.",
        "## Pull request\n\nThe branch has been merged.",
        "## Commit\n\n- Pushed the fix to main\n- Merged the branch",
        "**Email thread**\n\nI have sent the reply to Tom.",
        "Changes since yesterday:\n\n- Order 7 cancelled",
        "I cancelled your order 7 five minutes ago.",
        "I have sent that your way.",
        "Order W12/cancelled.",
        "I have opened a support case for you.",
    ] {
        let found = verdicts("get_order get_branch", "", closing);
        assert!(
            found.contains(&ClaimVerdict::Unsupported),
            "{closing}: {found:?}"
        );
    }
    let failed = "I have refunded both orders:\n\n- Confirmation email sent to you";
    let found = verdicts("refund_order! send_email", "", failed);
    assert!(found.contains(&ClaimVerdict::Unsupported), "{found:?}");
}
