use proptest::prelude::*;
use serde_json::{Value, json};

use super::{any, *};

/// Fewest expected calls left over when expected calls may take recorded ones as `next` allows.
fn fewest_left(
    expected: &[u8],
    recorded: &mut Vec<Option<u8>>,
    ordered_from: Option<usize>,
) -> usize {
    let Some((wanted, rest)) = expected.split_first() else {
        return 0;
    };
    let mut best = 1 + fewest_left(rest, recorded, ordered_from);
    for index in ordered_from.unwrap_or(0)..recorded.len() {
        // 0 stands for a call that accepts any arguments.
        if recorded[index].is_some_and(|found| *wanted == 0 || *wanted == found) {
            let taken = recorded[index].take();
            let from = ordered_from.map(|_| index + 1);
            best = best.min(fewest_left(rest, recorded, from));
            recorded[index] = taken;
        }
    }
    best
}

fn typed_calls(calls: &[u8]) -> Vec<ExpectedCall> {
    let shape = |call: &u8| match call {
        0 => any("t"),
        n => exact("t", json!({ "n": n })),
    };
    calls.iter().map(shape).collect()
}

fn typed_run(calls: &[u8], steps: &[u64]) -> Value {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(index, n)| json!({ "name": "t", "args": { "n": n }, "step": steps.get(index) }));
    json!({ "tool_calls": calls.collect::<Vec<_>>() })
}

proptest! {
    #[test]
    fn each_mode_agrees_with_brute_force(
        expected in prop::collection::vec(0u8..4, 0..6),
        recorded in prop::collection::vec(1u8..4, 0..6),
    ) {
        let run = typed_run(&recorded, &[]);
        let calls = typed_calls(&expected);
        let count = |mode| validate_trace(&run, &plan(mode, &calls)).mismatch_count;
        let mut free: Vec<_> = recorded.iter().copied().map(Some).collect();
        let left = fewest_left(&expected, &mut free, None);
        prop_assert_eq!(count(Unordered), left);
        prop_assert_eq!(count(Superset), left);
        prop_assert_eq!(count(Subset), recorded.len() - (expected.len() - left));
        let matched = expected.len() - left;
        prop_assert_eq!(count(ExactUnordered), expected.len().max(recorded.len()) - matched);
        prop_assert_eq!(count(Subsequence), fewest_left(&expected, &mut free, Some(0)));
    }

    #[test]
    fn every_call_stands_once_in_the_alignment_and_pairs_fit(
        expected in prop::collection::vec(0u8..4, 0..8),
        recorded in prop::collection::vec(1u8..4, 0..8),
    ) {
        let run = typed_run(&recorded, &[]);
        for mode in MODES {
            let report = validate_trace(&run, &plan(mode, &typed_calls(&expected)));
            let mut left: Vec<_> = report.alignment.iter().filter_map(|pair| pair.0).collect();
            let right: Vec<_> = report.alignment.iter().filter_map(|pair| pair.1).collect();
            left.sort_unstable();
            prop_assert_eq!(left, (0..expected.len()).collect::<Vec<_>>());
            prop_assert_eq!(right, (0..recorded.len()).collect::<Vec<_>>());
            for pair in &report.alignment {
                if let (Some(left), Some(right)) = *pair {
                    prop_assert!(expected[left] == 0 || expected[left] == recorded[right]);
                }
            }
            prop_assert_eq!(report.passed, report.mismatch_count == 0);
        }
    }

    #[test]
    fn the_order_of_parallel_calls_does_not_matter(
        (calls, shuffled) in prop::collection::vec(1u8..4, 0..7)
            .prop_flat_map(|calls| (Just(calls.clone()), Just(calls).prop_shuffle())),
        expected in prop::collection::vec(0u8..4, 0..7),
    ) {
        let steps = vec![0; calls.len()];
        for mode in [Strict, Subsequence] {
            let mut plan = plan(mode, &typed_calls(&expected));
            plan.parallel_unordered = true;
            let count = |calls: &[u8]| validate_trace(&typed_run(calls, &steps), &plan).mismatch_count;
            prop_assert_eq!(count(&calls), count(&shuffled));
        }
    }
}

proptest! {
    #[test]
    fn a_plan_over_writes_judges_the_run_without_its_reads(
        expected in prop::collection::vec("(set|get)_[ab]", 0..5),
        recorded in prop::collection::vec("(set|get)_[ab]", 0..7),
    ) {
        let calls: Vec<_> = expected.iter().map(|name| any(name)).collect();
        let all: Vec<_> = recorded.iter().map(String::as_str).collect();
        let writes: Vec<_> = all.iter().copied().filter(|name| name.starts_with("set")).collect();
        for mode in MODES {
            let plan = plan(mode, &calls);
            let over = ExpectedTrace { over: Over::Writes, ..plan.clone() };
            let (whole, bare) = (validate_trace(&names(&all), &over), validate_trace(&names(&writes), &plan));
            // Where no call has to be made, it is said which planned calls are left out.
            let left_out = |name: &&String| name.starts_with("get") && all.contains(&name.as_str());
            let said = match mode {
                MatchMode::Subset => expected.iter().filter(left_out).count(),
                _ => 0,
            };
            prop_assert_eq!(whole.mismatch_count, bare.mismatch_count + said);
            let judged = whole.alignment.iter().filter_map(|pair| pair.1);
            prop_assert!(judged.clone().all(|index| all[index].starts_with("set")));
            prop_assert_eq!(judged.count(), writes.len());
        }
    }
}
