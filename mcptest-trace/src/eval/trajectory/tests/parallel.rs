//! Calls of one step.

use serde_json::json;

use super::*;

fn stepped(calls: &[(&str, u64)]) -> Value {
    let calls = calls
        .iter()
        .map(|(name, step)| json!({ "name": name, "step": step }));
    json!({ "tool_calls": calls.collect::<Vec<_>>() })
}

#[test]
fn parallel_calls_may_match_in_any_order_when_the_plan_says_so() {
    let run = stepped(&[("c", 0), ("b", 0), ("a", 0), ("d", 1)]);
    for mode in [Strict, Subsequence] {
        let mut plan = plan(mode, &["a", "b", "c", "d"].map(any));
        assert!(!validate_trace(&run, &plan).passed);
        plan.parallel_unordered = true;
        assert!(validate_trace(&run, &plan).passed, "{mode:?}");
        // Across steps the order still counts.
        let swapped = stepped(&[("d", 0), ("c", 1), ("b", 1), ("a", 1)]);
        assert!(!validate_trace(&swapped, &plan).passed, "{mode:?}");
        // Calls without a recorded step are not parallel.
        assert!(!validate_trace(&names(&["c", "b", "a", "d"]), &plan).passed);
    }
}

#[test]
fn a_parallel_step_that_differs_names_the_calls_left_over() {
    let mut plan = plan(Strict, &["a", "b", "c"].map(any));
    plan.parallel_unordered = true;
    let report = validate_trace(&stepped(&[("b", 0), ("x", 0), ("c", 0)]), &plan);
    assert_eq!(reasons(&report), ["position 0: expected `a`, recorded `x`"]);
    let report = validate_trace(&stepped(&[("x", 0), ("c", 0), ("b", 0), ("a", 0)]), &plan);
    assert_eq!(
        reasons(&report),
        ["1 call beyond the 3 expected, the first is `x`"]
    );
    assert_eq!(report.mismatches[0].recorded_index, Some(0));
}
