//! `calls`: what a run may take.

use serde_json::json;

use super::{calls, failure, holds, judge, shows, trace};

#[test]
fn a_run_takes_no_more_than_it_may() {
    let run = trace(
        &[
            ("search", json!({}), json!("error")),
            ("search", json!({}), json!("three pages")),
            ("fetch", json!({}), json!("a page")),
        ],
        "Here it is.",
    );
    holds(judge(
        "  calls: { max: 3, max_errors: 1 }\n",
        std::slice::from_ref(&run),
    ));
    let few = "  calls: { max: 2, max_errors: 0, max_tokens: 5000 }\n";
    shows!("calls_too_many", judge(few, &[run, calls(&["search"])]));
}

#[test]
fn errors_that_no_recording_tells_are_not_within_a_limit() {
    let mut run = calls(&["search"]);
    run["tool_results"] = json!([{ "call_index": 0, "result": "Error: no such page" }]);
    let limit = "  calls: { max_errors: 0 }\n";
    shows!("calls_errors_unknown", judge(limit, &[run]));
}

#[test]
fn unknown_errors_are_told_once_for_all_calls() {
    let mut run = calls(&["search", "fetch", "save"]);
    let silent = |call: usize| json!({ "call_index": call, "result": "a page" });
    run["tool_results"] = json!([silent(0), silent(1), silent(2)]);
    let text = failure(judge("  calls: { max: 1 }\n", &[run]));
    let told = "calls: search, fetch, save\n  the recording does not say of any of these calls if it ended in an error\n";
    assert!(text.contains(told), "{text}");
}
