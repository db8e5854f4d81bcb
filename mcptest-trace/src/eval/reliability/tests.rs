use proptest::prelude::*;
use serde_json::json;

use super::*;

const PASS: bool = true;
const FAIL: bool = false;

#[test]
fn the_recommended_number_of_runs_is_the_seeds() {
    assert_eq!(recommend_runs(0.05, Confidence::NinetyFive), Some(385));
    assert_eq!(recommend_runs(0.05, Confidence::Ninety), Some(271));
    assert_eq!(recommend_runs(0.05, Confidence::NinetyNine), Some(664));
    assert_eq!(recommend_runs(0.098, Confidence::NinetyFive), Some(100));
    assert_eq!(
        recommend_runs(1e-300, Confidence::NinetyFive),
        Some(u64::MAX)
    );
    for width in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(recommend_runs(width, Confidence::NinetyFive), None);
    }
}

#[test]
fn the_decay_curve_is_the_seeds_and_never_falls_short_of_a_whole_percent() {
    assert_eq!(
        summarize(&[PASS, PASS, PASS, FAIL]).decay_curve,
        [100, 100, 100, 31]
    );
    assert_eq!(summarize(&[PASS, FAIL]).decay_curve, [100, 25]);
    assert_eq!(summarize(&[PASS; 3000]).decay_curve, vec![100; 3000]);
    assert_eq!(summarize(&[FAIL; 3]).decay_curve, [0; 3]);
}

#[test]
fn the_decay_curve_agrees_with_whole_number_arithmetic() {
    for runs in 1..=25_u32 {
        for passes in 0..=runs {
            let exact = 100 * u128::from(passes).pow(runs) / u128::from(runs).pow(runs);
            let mut outcomes = vec![PASS; passes as usize];
            outcomes.resize(runs as usize, FAIL);
            let curve = summarize(&outcomes).decay_curve;
            assert_eq!(
                curve.last().copied().map(u128::from),
                Some(exact),
                "{passes}/{runs}"
            );
        }
    }
}

#[test]
fn spread_is_none_when_all_are_alike_and_full_when_half_pass() {
    let spread = |outcomes: &[bool]| summarize(outcomes).variance_amplification;
    assert_eq!(spread(&[PASS, FAIL, PASS, FAIL]), 100);
    assert_eq!(spread(&[PASS; 4]), 0);
    assert_eq!(spread(&[FAIL; 4]), 0);
    assert_eq!(spread(&[PASS, PASS, PASS, FAIL]), 87);
    assert_eq!(spread(&[PASS, FAIL, FAIL, FAIL, FAIL]), 80);
}

#[test]
fn late_failures_cost_more() {
    let graceful = |outcomes: &[bool]| summarize(outcomes).graceful_degradation;
    assert_eq!(graceful(&[FAIL, PASS, PASS, PASS]), 90);
    assert_eq!(graceful(&[PASS, PASS, PASS, FAIL]), 60);
    assert_eq!(graceful(&[PASS; 7]), 100);
    assert_eq!(graceful(&[FAIL; 7]), 0);
    // 100 · 1 / 3 is 33.3, 100 · 2 / 3 is 66.7.
    assert_eq!((graceful(&[PASS, FAIL]), graceful(&[FAIL, PASS])), (33, 67));
}

#[test]
fn estimators_of_three_passes_in_four() {
    let summary = summarize(&[PASS, FAIL, PASS, PASS]);
    assert_eq!(summary.pass_hat, [0.75, 0.5, 0.25, 0.0]);
    assert_eq!(summary.pass_at, [0.75, 1.0, 1.0, 1.0]);
    assert_eq!(
        (summary.pass_rate, summary.pass_at_k, summary.passhat_k),
        (75.0, true, false)
    );
}

#[test]
fn the_wilson_interval_is_the_textbooks() {
    // 8 of 10 at 95 percent: 0.4901 to 0.9433.
    let mut outcomes = vec![PASS; 8];
    outcomes.resize(10, FAIL);
    let summary = summarize(&outcomes);
    assert!((summary.ci_low - 49.016).abs() < 1e-2, "{}", summary.ci_low);
    assert!(
        (summary.ci_high - 94.332).abs() < 1e-2,
        "{}",
        summary.ci_high
    );
    assert_eq!(summarize(&[PASS; 10]).ci_high, 100.0);
    assert_eq!(summarize(&[FAIL; 10]).ci_low, 0.0);
}

#[test]
fn no_run_tells_nothing() {
    let summary = summarize(&[]);
    assert_eq!(
        summary.metrics_object(),
        json!({ "reliability": {
            "runs": 0, "pass_at_k": 0, "passhat_k": 0, "pass_rate": 0.0,
            "variance_amplification": 0, "graceful_degradation": 0, "decay_curve": [],
            "ci_low": 0.0, "ci_high": 100.0, "half_width": 100.0, "recommended_runs": 385,
            "pass_at": [], "pass_hat": [],
        }})
    );
}

#[test]
fn one_run_is_all_or_nothing() {
    for (outcome, percent) in [(PASS, 100), (FAIL, 0)] {
        let summary = summarize(&[outcome]);
        let target = |name: &str| summary.resolve_target(&format!("reliability.{name}"));
        for name in ["pass_at_k", "passhat_k", "graceful_degradation"] {
            assert_eq!(target(name), Some(json!(percent)), "{name}");
        }
        assert_eq!(target("variance_amplification"), Some(json!(0)));
        assert_eq!(summary.pass_hat, summary.pass_at);
    }
}

#[test]
fn many_runs_stay_finite() {
    let outcomes: Vec<bool> = (0..100_000).map(|run| run % 3 != 0).collect();
    let summary = summarize(&outcomes);
    assert!(
        summary
            .pass_hat
            .iter()
            .chain(&summary.pass_at)
            .all(|p| (0.0..=1.0).contains(p))
    );
}

fn outcomes() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(any::<bool>(), 1..40)
}

proptest! {
    #[test]
    fn every_number_stays_in_its_range(outcomes in outcomes()) {
        let summary = summarize(&outcomes);
        prop_assert!(summary.decay_curve.iter().all(|entry| *entry <= 100));
        prop_assert!(summary.variance_amplification <= 100);
        prop_assert!(summary.graceful_degradation <= 100);
        prop_assert!(0.0 <= summary.ci_low && summary.ci_low <= summary.pass_rate);
        prop_assert!(summary.pass_rate <= summary.ci_high && summary.ci_high <= 100.0);
    }

    #[test]
    fn the_first_estimate_of_both_kinds_is_the_pass_rate(outcomes in outcomes()) {
        let summary = summarize(&outcomes);
        prop_assert_eq!(100.0 * summary.pass_hat[0], summary.pass_rate);
        prop_assert!((100.0 * summary.pass_at[0] - summary.pass_rate).abs() < 1e-9);
    }

    #[test]
    fn more_runs_are_harder_to_pass_all_and_easier_to_pass_one(outcomes in outcomes()) {
        let summary = summarize(&outcomes);
        prop_assert!(summary.pass_hat.is_sorted_by(|left, right| left >= right));
        prop_assert!(summary.pass_at.is_sorted());
        prop_assert_eq!(summary.pass_hat.last() == Some(&1.0), summary.passhat_k);
        prop_assert_eq!(summary.pass_at.last() == Some(&1.0), summary.pass_at_k);
    }

    #[test]
    fn the_order_of_the_runs_matters_only_to_decay_and_grace(
        (outcomes, shuffled) in outcomes()
            .prop_flat_map(|outcomes| (Just(outcomes.clone()), Just(outcomes).prop_shuffle())),
    ) {
        let ReliabilitySummary { graceful_degradation, decay_curve, .. } = summarize(&outcomes);
        let shuffled = ReliabilitySummary { graceful_degradation, decay_curve, ..summarize(&shuffled) };
        prop_assert_eq!(shuffled, summarize(&outcomes));
    }

    #[test]
    fn estimators_are_the_ratios_of_binomials(passes in 0u32..12, failures in 0u32..12) {
        let choose = |from: u32, count: u32| -> f64 {
            if count > from { return 0.0; }
            f64::from((0..count).fold(1, |product, i| product * (from - i) / (i + 1)))
        };
        let runs = passes + failures;
        let outcomes: Vec<bool> = (0..runs).map(|run| run < passes).collect();
        let summary = summarize(&outcomes);
        for (k, (hat, at)) in (1..=runs).zip(summary.pass_hat.iter().zip(&summary.pass_at)) {
            prop_assert!((hat - choose(passes, k) / choose(runs, k)).abs() < 1e-12);
            prop_assert!((at - (1.0 - choose(failures, k) / choose(runs, k))).abs() < 1e-12);
        }
    }

    #[test]
    fn the_recommended_runs_buy_the_width_and_one_fewer_does_not(percent in 1u32..50) {
        let width = f64::from(percent) / 100.0;
        for confidence in [Confidence::Ninety, Confidence::NinetyFive, Confidence::NinetyNine] {
            let runs = recommend_runs(width, confidence).unwrap();
            let runs = usize::try_from(runs).unwrap();
            prop_assert!(confidence_band(runs, confidence) <= width + 1e-9);
            prop_assert!(runs == 1 || confidence_band(runs - 1, confidence) > width - 1e-9);
        }
    }
}
