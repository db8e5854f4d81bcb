#![allow(clippy::float_cmp, reason = "exact results are what is asked for")]

mod lanes;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::pairs::Sum;
use super::*;
use crate::eval::Metrics;
use crate::number::unordered_sum;
use lanes::brute_force;

fn run(tools: &[(&str, i32)], tokens: u64, turns: &[&str]) -> Value {
    let calls: Vec<Value> = tools
        .iter()
        .map(|(name, argument)| json!({ "name": name, "server": "s", "args": { "n": argument } }))
        .collect();
    let turns: Vec<Value> = turns
        .iter()
        .map(|text| json!({ "role": "assistant", "content": text }))
        .collect();
    json!({ "tool_calls": calls, "conversation": { "tokens": { "total": tokens }, "turns": turns } })
}

#[test]
fn an_empty_trace_is_perfectly_stable() {
    for envelope in [
        json!({}),
        json!(null),
        json!({ "tool_calls": "x", "conversation": 3 }),
    ] {
        assert_eq!(agent_stability(&envelope).scores(), [1.0; 4], "{envelope}");
    }
}

#[test]
fn tokens_spent_against_no_call_are_no_progress_whatever_the_turns() {
    assert_eq!(
        agent_stability(&run(&[], 10, &["hi"])).cost_per_progress,
        0.0
    );
}

#[test]
fn a_fresh_tool_on_every_call_is_thrashing() {
    let thrash = agent_stability(&run(&[("a", 0), ("b", 0), ("c", 0)], 0, &[]));
    assert_eq!(thrash.tool_usage_stability, 0.0);
    let half = agent_stability(&run(&[("a", 0), ("a", 1), ("b", 0)], 0, &[]));
    assert_eq!(half.tool_usage_stability, 0.5);
    // 1 − 4/5 rounds to 0.19999999999999996; the score is one fifth.
    let fifth = agent_stability(&run(
        &[("a", 0), ("a", 1), ("b", 0), ("c", 0), ("d", 0), ("e", 0)],
        0,
        &[],
    ));
    assert_eq!(fifth.tool_usage_stability, 0.2);
}

#[test]
fn lengths_count_characters_and_the_deviation_is_that_of_the_population() {
    let even = agent_stability(&run(&[], 0, &["🚀🚀", "ab"]));
    assert_eq!(even.response_consistency, 1.0);
    // Lengths 2 and 6: mean 4, population deviation 2.
    assert_eq!(
        agent_stability(&run(&[], 0, &["ab", "abcdef"])).response_consistency,
        0.5
    );
    assert_eq!(
        agent_stability(&run(&[], 0, &["", ""])).response_consistency,
        1.0
    );
    let swinging = agent_stability(&run(&[], 0, &["", "", "", "", "", "a long answer"]));
    assert_eq!(swinging.response_consistency, 0.0);
}

#[test]
fn user_turns_are_not_answers() {
    let envelope = json!({ "conversation": { "turns": [
        { "role": "user", "content": "a very long question" },
        { "role": "assistant", "content": "ok" },
    ] } });
    assert_eq!(agent_stability(&envelope).response_consistency, 1.0);
}

#[test]
fn repeats_are_told_by_name_server_and_arguments_by_value() {
    let envelope = json!({ "tool_calls": [
        { "name": "a", "server": "s", "args": { "x": 1, "y": { "p": 1, "q": 2 } } },
        { "name": "a", "server": "s", "args": { "y": { "q": 2, "p": 1 }, "x": 1 } },
        { "name": "a", "server": "t", "args": { "x": 1, "y": { "p": 1, "q": 2 } } },
        { "name": "a", "server": "s", "args": { "x": 1.0, "y": { "p": 1, "q": 2 } } },
    ] });
    assert_eq!(agent_stability(&envelope).redundancy, 0.5);
}

#[test]
fn cost_starts_to_fall_at_two_thousand_tokens_a_useful_call() {
    let cost = |tokens| agent_stability(&run(&[("a", 0), ("a", 0)], tokens, &[])).cost_per_progress;
    assert_eq!(cost(0), 1.0);
    assert_eq!(cost(2000), 1.0);
    assert_eq!(cost(4000), 0.5);
    assert_eq!(cost(8_000_000), 0.000_25);
}

#[test]
fn the_weakest_is_the_first_of_the_lowest() {
    let report = agent_stability(&run(&[("a", 0), ("b", 0)], 4000, &[]));
    assert_eq!(
        (report.weakest(), report.weakest_score()),
        ("tool_usage_stability", 0.0)
    );
}

#[test]
fn floors_compare_strictly() {
    let report = agent_stability(&run(&[("a", 0), ("a", 0)], 0, &[]));
    let floors = |floor| StabilityFloors {
        redundancy: floor,
        ..StabilityFloors::default()
    };
    assert!(drift_flags(&report, &floors(0.5)).is_empty());
    assert_eq!(drift_flags(&report, &floors(0.51)), ["redundancy"]);
    assert!(drift_flags(&report, &floors(0.0)).is_empty());
}

#[test]
fn runs_fold_into_mean_minimum_and_population_variance() {
    // Weakest scores 1.0, 0.5 and 0.0.
    let runs = [
        run(&[], 0, &[]),
        run(&[("a", 0), ("a", 0)], 0, &[]),
        run(&[], 9, &[]),
    ];
    let across = agent_stability_across(&runs).unwrap();
    assert_eq!((across.score, across.weakest_score), (0.5, 0.0));
    assert!((across.variance - 1.0 / 6.0).abs() < 1e-12);
    let metrics = across.metrics();
    assert_eq!(
        metrics["stability"]["redundancy"],
        json!({ "mean": 2.5 / 3.0, "min": 0.5 })
    );
    assert_eq!(metrics["stability"]["drift_flags"], json!(1));
}

#[test]
fn no_runs_have_no_report_and_one_run_agrees_with_itself() {
    assert_eq!(agent_stability_across::<Value>(&[]), None);
    let one = agent_stability_across(&[run(&[("a", 0)], 0, &[])]).unwrap();
    assert_eq!(
        (
            one.tool_sequence_similarity,
            one.argument_consistency,
            one.early_divergence
        ),
        (1.0, 1.0, 0)
    );
}

#[test]
fn paths_are_compared_pair_by_pair() {
    let across = |runs: &[Value]| agent_stability_across(runs).unwrap();
    let (empty, ab) = (run(&[], 0, &[]), run(&[("a", 0), ("b", 0)], 0, &[]));
    assert_eq!(
        across(&[empty.clone(), empty.clone()]).tool_sequence_similarity,
        1.0
    );
    assert_eq!(across(&[empty, ab.clone()]).tool_sequence_similarity, 0.0);
    // Same tools, one of two arguments differs.
    let other = across(&[ab.clone(), run(&[("a", 1), ("b", 0)], 0, &[])]);
    assert_eq!(
        (other.tool_sequence_similarity, other.argument_consistency),
        (1.0, 0.5)
    );
    assert_eq!(other.early_divergence, 0);
    // No aligned position: consistency is 1.
    assert_eq!(
        across(&[ab.clone(), run(&[("b", 0)], 0, &[])]).argument_consistency,
        1.0
    );
}

#[test]
fn a_run_that_stops_short_parts_at_its_own_length() {
    let abc = run(&[("a", 0), ("b", 0), ("c", 0)], 0, &[]);
    let short = |calls: usize| run(&[("a", 0), ("b", 0)][..calls], 0, &[]);
    let early = |calls| {
        agent_stability_across(&[abc.clone(), short(calls)])
            .unwrap()
            .early_divergence
    };
    assert_eq!((early(1), early(2)), (1, 0));
}

#[test]
fn early_divergence_wants_a_strict_majority_of_the_diverging_pairs() {
    // Pairs: (0,1) parts at 0, (0,2) at 2, (1,2) at 0.
    let runs = [
        run(&[("a", 0), ("b", 0), ("c", 0)], 0, &[]),
        run(&[("x", 0), ("b", 0), ("c", 0)], 0, &[]),
        run(&[("a", 0), ("b", 0), ("d", 0)], 0, &[]),
    ];
    assert_eq!(agent_stability_across(&runs).unwrap().early_divergence, 1);
    // One early and one late, and one pair that does not part: no majority.
    let tie = [
        run(&[("a", 0), ("b", 0), ("c", 0)], 0, &[]),
        run(&[("a", 0), ("b", 0), ("d", 0)], 0, &[]),
    ];
    assert_eq!(agent_stability_across(&tie).unwrap().early_divergence, 0);
}

fn any_run() -> impl Strategy<Value = Value> {
    let call = (prop::sample::select(vec!["a", "b", "c"]), 0..3i32);
    (
        prop::collection::vec(call, 0..6),
        0..20_000u64,
        prop::collection::vec(".{0,9}", 0..4),
    )
        .prop_map(|(calls, tokens, turns)| {
            run(
                &calls,
                tokens,
                &turns.iter().map(String::as_str).collect::<Vec<_>>(),
            )
        })
}

proptest! {
    #[test]
    fn every_score_is_in_range(runs in prop::collection::vec(any_run(), 1..7)) {
        let across = agent_stability_across(&runs).unwrap();
        for report in &across.runs {
            prop_assert!(report.scores().iter().all(|score| (0.0..=1.0).contains(score)));
        }
        for score in [across.score, across.weakest_score, across.tool_sequence_similarity, across.argument_consistency] {
            prop_assert!((0.0..=1.0).contains(&score));
        }
        prop_assert!((0.0..=0.25).contains(&across.variance));
        prop_assert!(across.weakest_score <= across.score + 1e-12);
    }

    #[test]
    fn grouping_equal_runs_changes_nothing(runs in prop::collection::vec(any_run(), 1..7)) {
        let across = agent_stability_across(&runs).unwrap();
        let (similarities, consistencies): (Vec<_>, Vec<_>) = brute_force(&runs).into_iter().unzip();
        let expected = |values: &[f64]| if values.is_empty() { 1.0 } else { mean(values) };
        prop_assert!((across.tool_sequence_similarity - expected(&similarities)).abs() < 1e-9);
        prop_assert!((across.argument_consistency - expected(&consistencies)).abs() < 1e-9);
    }

    #[test]
    fn a_sum_of_many_is_that_of_their_sorted_list(
        values in prop::collection::vec(prop::sample::select(vec![0.0, 0.1, 0.3, 2.0 / 3.0, 1.0, 7.5]), 0..200),
    ) {
        let mut sum = Sum::default();
        for value in &values {
            sum.add(*value, 1);
        }
        prop_assert_eq!(sum.total().to_bits(), unordered_sum(values).to_bits());
    }

    #[test]
    fn the_order_of_runs_does_not_matter(runs in prop::collection::vec(any_run(), 1..6)) {
        let reversed: Vec<Value> = runs.iter().rev().cloned().collect();
        let (one, other) = (agent_stability_across(&runs).unwrap(), agent_stability_across(&reversed).unwrap());
        prop_assert!((one.tool_sequence_similarity - other.tool_sequence_similarity).abs() < 1e-9);
        prop_assert!((one.variance - other.variance).abs() < 1e-9);
        prop_assert_eq!(one.early_divergence, other.early_divergence);
    }
}

proptest! {
    #[test]
    fn the_order_of_the_runs_makes_no_difference(
        tokens in prop::collection::vec(1..50_000_u64, 2..7),
        calls in prop::collection::vec(1..5_usize, 7),
    ) {
        let run = |(tokens, calls): (&u64, &usize)| {
            let calls: Vec<_> = (0..*calls).map(|call| json!({ "name": format!("t{call}") })).collect();
            json!({ "tool_calls": calls, "conversation": { "tokens": { "total": tokens } } })
        };
        let mut runs: Vec<_> = tokens.iter().zip(&calls).map(run).collect();
        let metrics = |runs: &[serde_json::Value]| {
            agent_stability_across(runs).unwrap().metrics()
        };
        let first = metrics(&runs);
        runs.reverse();
        prop_assert_eq!(&first, &metrics(&runs));
        runs.rotate_left(1);
        prop_assert_eq!(&first, &metrics(&runs));
    }
}

fn swinging() -> Value {
    json!({
        "tool_calls": [{ "name": "a" }, { "name": "a" }, { "name": "a" }],
        "conversation": {
            "turns": [
                { "role": "user", "content": "Do it, please." },
                { "role": "assistant", "content": "tool_use desk::a with {\"order\": \"A17\", \"reason\": \"late\"}" },
                { "role": "assistant", "content": "Done" },
                { "role": "assistant", "content": "Bye." },
            ],
            "tokens": { "total": 4000 },
        },
    })
}

#[test]
fn turns_that_stand_for_a_call_are_left_out_when_asked() {
    let all = agent_stability_with(&swinging(), &StabilityOptions::default());
    assert_eq!(all, agent_stability(&swinging()));
    assert!(all.response_consistency < 0.5);
    let options = StabilityOptions {
        turns: Turns::Said,
        ..StabilityOptions::default()
    };
    let said = agent_stability_with(&swinging(), &options);
    assert_eq!(said.response_consistency, 1.0);
    assert_eq!(said.scores()[0], all.scores()[0]);
    assert_eq!(said.scores()[2..], all.scores()[2..]);
}

#[test]
fn only_the_dimensions_that_count_make_the_weakest_score_and_raise_flags() {
    let runs = [swinging(), swinging()];
    let across = |scores: &[SubScore]| {
        let options = StabilityOptions {
            dimensions: Dimensions::from_scores(scores.iter().copied()).unwrap(),
            ..StabilityOptions::default()
        };
        agent_stability_across_with(&runs, options).unwrap()
    };
    let all = agent_stability_across(&runs).unwrap();
    assert_eq!(all, across(&SubScore::ALL));
    assert_eq!(all.runs[0].weakest(), "response_consistency");
    assert_eq!(all.metrics()["stability"]["drift_flags"], 4);

    let two = across(&[SubScore::CostPerProgress, SubScore::Redundancy]);
    assert_eq!(two.weakest_score, 1.0 / 3.0);
    assert_eq!((two.score, two.variance), (1.0 / 3.0, 0.0));
    assert_eq!(
        two.runs[0].weakest_among(two.options.dimensions),
        SubScore::Redundancy
    );
    let metrics = two.metrics();
    assert_eq!(metrics["stability"]["drift_flags"], 2);
    // What does not count is still measured.
    assert_eq!(
        metrics["stability"]["response_consistency"],
        all.metrics()["stability"]["response_consistency"]
    );
    assert_eq!(two.run_drift_flags(0), ["redundancy"]);
    let one = across(&[SubScore::CostPerProgress]);
    assert_eq!(
        (
            one.weakest_score,
            one.metrics()["stability"]["drift_flags"].clone()
        ),
        (0.5, json!(0))
    );
}

#[test]
fn what_a_useful_call_may_cost_is_an_option() {
    let par = |tokens| {
        let options = StabilityOptions {
            tokens_per_useful_call: tokens,
            ..StabilityOptions::default()
        };
        agent_stability_with(&run(&[("search", 1)], 8_000, &[]), &options).cost_per_progress
    };
    assert_eq!(par(TOKENS_PER_USEFUL_CALL), 0.25);
    assert_eq!(par(4_000.0), 0.5);
    assert_eq!(par(8_000.0), 1.0);
    assert_eq!(par(9_000.0), 1.0);
}
