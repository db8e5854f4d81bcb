//! `stability`: runs that are held against each other.

use serde_json::json;

use super::{calls, holds, judge, shows, trace, verdicts};

#[test]
fn stability_marks_the_weakest_cell_and_says_why() {
    let search = |q: &str| ("search", json!({ "q": q }), json!("ok"));
    let steady = trace(&[search("a"), search("b")], "");
    holds(judge(
        "  stability: {}\n",
        &[steady.clone(), trace(&[search("a"), search("c")], "")],
    ));
    let looping = trace(&[search("a"), search("a"), search("a"), search("b")], "");
    holds(judge(
        "  stability: {}\n",
        &[steady.clone(), looping.clone()],
    ));
    let worse = trace(&[search("a"), search("a"), search("a")], "");
    shows!(
        "stability-default",
        judge("  stability: {}\n", &[steady.clone(), worse])
    );
    shows!(
        "stability-floors",
        judge(
            "  stability: { floors: { redundancy: 0.8 } }\n",
            &[steady, looping]
        )
    );
}

#[test]
fn stability_explains_each_sub_score() {
    let mut wordy = calls(&[]);
    wordy["conversation"]["turns"] = json!([
        { "role": "assistant", "content": "ok" }, { "role": "assistant", "content": "x".repeat(900) },
    ]);
    let mut costly = calls(&["a"]);
    costly["conversation"]["tokens"] = json!({ "total": 90_000 });
    shows!(
        "stability-responses",
        judge("  stability: {}\n", &[wordy.clone(), calls(&["a"])])
    );
    shows!(
        "stability-cost",
        judge("  stability: {}\n", &[costly, calls(&["a"])])
    );
    shows!(
        "stability-tools",
        judge(
            "  stability: {}\n",
            &[calls(&["a", "b", "c"]), calls(&["a", "a"])]
        )
    );
}

#[test]
fn a_sub_score_of_nothing_is_told() {
    let told = |agent: &str| {
        let runs = [calls(&["a"]), calls(&["a"])].map(|trace| json!({ "trace": trace }));
        format!("{:?}", verdicts("", agent, &runs, false)[1])
    };
    let note = "`cost_per_progress` in 2 of 2 runs (it needs a token)";
    let found = told("  stability: { floors: { cost_per_progress: 0.9 } }\n");
    assert!(found.contains(note), "{found}");
    let found = told("  stability: { dimensions: [redundancy] }\n");
    assert!(!found.contains("judged on nothing"), "{found}");
}

#[test]
fn only_the_sub_scores_that_count_can_be_the_weakest() {
    let mut costly = calls(&["a", "a", "b"]);
    costly["conversation"]["tokens"] = json!({ "total": 90_000 });
    let other = calls(&["a"]);
    let gate = "  stability: { dimensions: [redundancy] }\n";
    holds(judge(gate, &[costly.clone(), other.clone()]));
    shows!(
        "stability-dimensions",
        judge(
            "  stability: { dimensions: [redundancy, tool_usage_stability], floors: { redundancy: 0.8 } }\n",
            &[costly, other]
        )
    );
    // Without a call there is no redundancy to speak of, however much was said.
    let mut said = calls(&[]);
    said["conversation"]["turns"] = json!([{ "role": "assistant", "content": "ok" }]);
    shows!(
        "stability-dimensions-without-data",
        judge(gate, &[said.clone(), said])
    );
}

#[test]
fn turns_that_stand_for_a_call_may_be_left_out() {
    let run = |tool: &str| {
        let mut run = calls(&["a"]);
        run["conversation"]["turns"] = json!([
            { "role": "assistant", "content": format!("tool_use desk::a with {tool}") },
            { "role": "assistant", "content": "Your order is on its way." },
            { "role": "assistant", "content": "It will be there soon!!!!" },
        ]);
        run
    };
    let runs = [run(&"x".repeat(900)), run("{}")];
    holds(judge("  stability: { turns: said }\n", &runs));
    let judged = judge("  stability: {}\n", &runs);
    let failed: String = judged.into_iter().filter_map(|(_, text)| text).collect();
    assert!(
        failed.contains("`response_consistency` of run 1"),
        "{failed}"
    );
    // A run that only calls tools says nothing.
    let mut silent = calls(&["a"]);
    silent["conversation"]["turns"] =
        json!([{ "role": "assistant", "content": "tool_use desk::a with {}" }]);
    let gate = "  stability: { dimensions: [response_consistency], turns: said }\n";
    shows!(
        "stability-said-by-nobody",
        judge(gate, &[silent.clone(), silent])
    );
}
