//! `calls`: what a run may cost.

use serde_json::{Value, json};

use super::{calls, holds, judge_runs, shows};

const PRICES: &str = "prices: { m: { prompt: 1, completion: 4, cached: 0.1 }, dear: { prompt: 10, completion: 40 } }\n";

/// A run of these model calls.
fn run(steps: &Value) -> Value {
    let mut trace = calls(&["search"]);
    trace["conversation"]["steps"] = steps.clone();
    json!({ "trace": trace })
}

#[test]
fn a_run_costs_no_more_than_it_may() {
    // 1,600 + 80 + 400 and 400 millionths of a dollar.
    let long = run(&json!([
        { "prompt": 1600, "completion": 80 }, { "prompt": 400, "completion": 0 },
    ]));
    let short = run(&json!([{ "prompt": 200, "completion": 50 }]));
    let runs = [long, short];
    let judged = |block: &str| judge_runs(PRICES, &format!("  calls: {block}\n"), &runs);
    holds(judged("{ max_usd: 0.00232 }"));
    holds(judged(
        "{ expect: [{ target: calls.usd, matcher: { max: 0.00232 } }] }",
    ));
    shows!("calls_money", judged("{ max_usd: 0.0023 }"));
}

#[test]
fn what_is_above_a_limit_does_not_read_as_the_limit() {
    let run = run(&json!([{ "prompt": 3000, "completion": 1 }]));
    let judged = judge_runs(PRICES, "  calls: { max_usd: 0.003 }\n", &[run]);
    let text = super::failure(judged);
    assert!(
        text.contains("`max_usd` allows $0.003, found $0.003004"),
        "{text}"
    );
}

#[test]
fn money_that_nobody_knows_is_within_no_limit() {
    let other = run(&json!([
        { "prompt": 10, "completion": 1 }, { "prompt": 10, "completion": 1, "model": "m-mini" },
    ]));
    let unknown = run(&json!([{ "prompt": 10, "completion": 1 }, {}]));
    let none = json!({ "trace": calls(&["search"]) });
    let runs = [other, unknown, none];
    let judged = |block: &str| judge_runs(PRICES, &format!("  calls: {block}\n"), &runs);
    shows!("calls_money_unknown", judged("{ max_usd: 100 }"));
    let asked = "{ expect: [{ target: calls.usd, matcher: { max: 100 } }] }";
    shows!("calls_money_asserted", judged(asked));
    holds(judged(
        "{ expect: [{ target: calls.usd, matcher: { exact: null } }] }",
    ));
    // Counted by `reliability`, no run of them passes.
    let counted = "  calls: { max_usd: 100 }\n  reliability: { outcome: calls, expect: [{ target: reliability.pass_rate, matcher: { exact: 0 } }] }\n";
    holds(judge_runs(PRICES, counted, &runs));
}

#[test]
fn another_model_costs_what_it_costs() {
    let dear = run(&json!([{ "prompt": 100, "completion": 1, "model": "shop/dear-2026-03-01" }]));
    let limit = |usd: &str| format!("  calls: {{ max_usd: {usd} }}\n");
    holds(judge_runs(
        PRICES,
        &limit("0.00104"),
        std::slice::from_ref(&dear),
    ));
    super::failure(judge_runs(PRICES, &limit("0.00103"), &[dear]));
}

#[test]
fn prices_below_budget_are_read_too() {
    let budget =
        "budget: { per_suite_usd_cents: 5, prices: { m: { prompt: 1, completion: 4 } } }\n";
    let cheap = run(&json!([{ "prompt": 100, "completion": 1 }]));
    holds(judge_runs(
        budget,
        "  calls: { max_usd: 0.000104 }\n",
        &[cheap],
    ));
}
