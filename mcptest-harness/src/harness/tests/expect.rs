//! The agent's own case: its assertions on every run.

use serde_json::json;

use super::{CaseOutcome, calls, holds, judge, shows, trace, verdicts};

#[test]
fn an_assertion_names_the_runs_that_break_it() {
    let agent = "  expect:\n  - target: tool_calls[0].name\n    matcher: { exact: search }\n    name: searches first\n    message: the policy asks for a search before anything else\n";
    holds(judge(agent, &[calls(&["search"]), calls(&["search", "x"])]));
    shows!(
        "expect-some-runs",
        judge(
            agent,
            &[
                calls(&["search"]),
                calls(&["fetch"]),
                calls(&["fetch", "x"]),
                calls(&["guess"])
            ]
        )
    );
}

#[test]
fn a_path_that_leads_nowhere_fails_also_under_not() {
    let agent =
        "  expect:\n  - { target: 'tool_calls[0].nmae', matcher: { not: { exact: search } } }\n";
    shows!("expect-typo", judge(agent, &[calls(&["search"])]));
    shows!("expect-no-call", judge(agent, &[calls(&[])]));
}

#[test]
fn what_is_judged_on_no_item_of_any_run_says_so() {
    let no_error = "{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }";
    let no_refund = "{ target: tool_names, matcher: { not: { contains: refund } } }";
    let said = "`tool_results[*].is_error` leads to no item in any run, so nothing was judged; if the list must be empty, write `exact: []`";
    let came = |expect: &str, traces: &[_]| {
        let agent = format!("  expect: [{expect}]\n");
        let runs: Vec<_> = traces
            .iter()
            .map(|trace| json!({ "trace": trace }))
            .collect();
        let mut verdicts = verdicts("", &agent, &runs, false);
        verdicts.remove(0).1.unwrap()
    };
    let none = [trace(&[], "Nothing."), trace(&[], "Nothing at all.")];
    let both = format!("{no_error}, {no_refund}");
    assert_eq!(
        came(no_error, &none),
        CaseOutcome::Undecided(said.to_owned())
    );
    assert_eq!(
        came(&both, &none),
        CaseOutcome::Holds(Some(said.to_owned()))
    );
    assert_eq!(
        came(&both, &[calls(&["search"]), calls(&[])]),
        CaseOutcome::Holds(None)
    );
}

#[test]
fn long_texts_are_compared_line_by_line() {
    let agent = "  expect:\n  - target: final_response\n    matcher:\n      exact: |\n        Dear customer,\n        the order was shipped on Monday.\n        Kind regards\n";
    let closing = "Dear customer,\nthe order was shipped on Tuesday.\nKind regards\n";
    shows!("expect-long-text", judge(agent, &[trace(&[], closing)]));
}

#[test]
fn structures_are_compared_place_by_place() {
    let agent = "  expect:\n  - { target: 'tool_calls[0].args', matcher: { exact: { city: Oslo, days: [1, 2] } } }\n";
    shows!(
        "expect-structure",
        judge(
            agent,
            &[trace(
                &[(
                    "a",
                    json!({ "city": "Bergen", "days": [1, 3], "unit": "C" }),
                    json!("ok")
                )],
                ""
            )]
        )
    );
}

#[test]
fn several_broken_assertions_are_all_shown() {
    let agent = "  expect:\n  - { target: tool_names, matcher: { contains: a } }\n  - { target: tool_names.length, matcher: { schema: { minimum: 2 } } }\n  - { target: truncated, matcher: { exact: false } }\n";
    shows!("expect-several", judge(agent, &[calls(&["b"])]));
}

#[test]
fn caps_that_a_run_exceeds_fail_it() {
    let mut run = calls(&["a", "b", "c"]);
    run["conversation"]["tokens"] = json!({ "total": 12_345 });
    run["conversation"]["steps"] = json!([{}, {}, {}, {}]);
    let caps = |turns: u32, tokens: u32, calls: u32| {
        format!(
            "  max_turns: {turns}\n  token_budget: {tokens}\n  max_tool_calls: {calls}\n  golden_path: {{ calls: [a, b, c] }}\n"
        )
    };
    holds(judge(&caps(4, 12_345, 3), &[run.clone()]));
    shows!("caps", judge(&caps(3, 12_000, 2), &[run]));
}

#[test]
fn hostile_text_is_shown_and_not_emitted() {
    let agent = "  expect: [{ target: final_response, matcher: { exact: fine } }]\n";
    shows!(
        "expect-hostile",
        judge(agent, &[trace(&[], "\u{1b}[2J\u{202e}evil\u{7}")])
    );
}

#[test]
fn a_part_of_a_name_is_told_from_the_name() {
    let agent = "  expect: [{ target: tool_names, matcher: { not: { contains: refund } } }]\n";
    shows!(
        "expect-part-of-a-name",
        judge(agent, &[calls(&["get_refund_policy"])])
    );
    let whole = judge(agent, &[calls(&["refund", "get_refund_policy"])]);
    assert!(!whole[0].1.as_ref().unwrap().contains("parts of names"));
}

#[test]
fn a_call_without_arguments_is_one_with_an_empty_object() {
    let expect = |matcher: &str| {
        format!("  expect: [{{ target: 'tool_calls[0].args', matcher: {matcher} }}]\n")
    };
    for args in [json!({ "name": "a" }), json!({ "name": "a", "args": null })] {
        let runs = [json!({ "tool_calls": [args] })];
        holds(judge(&expect("{ exact: {} }"), &runs));
        holds(judge(&expect("{ schema: { type: object } }"), &runs));
        holds(judge(
            &expect("{ not: { schema: { required: [id] } } }"),
            &runs,
        ));
        assert!(
            judge(&expect("{ not: { exact: {} } }"), &runs)[0]
                .1
                .is_some()
        );
    }
}

#[test]
fn what_is_not_seen_of_a_text_is_told() {
    let asks = |matcher: &str| {
        format!("  expect:\n  - {{ target: final_response, matcher: {{ {matcher} }} }}\n")
    };
    let said = |text: &str| {
        let mut run = calls(&["search"]);
        run["final_response"] = json!(text);
        [run]
    };
    let composed = "Z\u{fc}rich";
    let decomposed = said("In Zu\u{308}rich.");
    shows!(
        "expect-normalised-otherwise",
        judge(&asks(&format!("contains: {composed}")), &decomposed)
    );
    shows!(
        "expect-exactly-normalised-otherwise",
        judge(&asks(&format!("exact: In {composed}.")), &decomposed)
    );
    shows!(
        "expect-another-space",
        judge(&asks("exact: order 7"), &said("order\u{a0}7"))
    );
    // What differs more than that is told as ever.
    let other = super::failure(judge(&asks("contains: Bern"), &decomposed));
    assert!(!other.contains("normalised"), "{other}");
}

#[test]
fn runs_that_only_their_times_tell_apart_are_told_and_pass() {
    let agent = "  expect: [{ target: tool_names, matcher: { contains: [search] } }]\n";
    let run = |at: &str, took: u64, text: &str| {
        let mut trace = calls(&["search"]);
        trace["final_response"] = json!(text);
        trace["conversation"]["duration_ms"] = json!(took);
        json!({ "trace": trace, "recorded_at": at })
    };
    let came = |runs: &[serde_json::Value]| verdicts("", agent, runs, false).remove(0).1.unwrap();
    let [first, other, third] = [
        run("2026-01-01T10:00:00Z", 10, "Done."),
        run("2026-01-01T10:00:05Z", 12, "Done."),
        run("2026-01-01T10:00:09Z", 12, "All done."),
    ];
    assert_eq!(
        came(&[first.clone(), third.clone(), other.clone()]),
        CaseOutcome::Holds(Some(
            "runs 1, 3 differ only in their time of recording: copies of a run prove no more than one run".to_owned()
        ))
    );
    let mut slower = other;
    slower["trace"]["conversation"]["tokens"] = json!({ "total": 12 });
    assert_eq!(came(&[first, third, slower]), CaseOutcome::Holds(None));
}
