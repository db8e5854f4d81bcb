//! One vector a failure pattern, and how a report looks.

use proptest::prelude::*;

use super::super::status::Step;
use super::*;
use crate::energy::{GrowthRatioGuard, GuardOptions};

/// The report of a guard that was given these steps.
fn report_of(options: GuardOptions, steps: impl IntoIterator<Item = Step>) -> FailureReport {
    let mut guard = GrowthRatioGuard::new(options).unwrap();
    for step in steps {
        if guard.record(step).is_err() {
            break;
        }
    }
    guard.report()
}

fn report(tokens: &[u64]) -> FailureReport {
    report_of(
        GuardOptions::default(),
        tokens.iter().copied().map(Step::new),
    )
}

#[test]
fn healthy_is_what_nothing_stopped() {
    let report = report(&[1000, 1100, 1050, 1200, 1500, 1800, 2000, 2050]);
    assert_eq!(
        (report.pattern, report.status),
        (FailurePattern::Healthy, Status::Stable)
    );
    assert_eq!(report.tokens_projected, report.tokens_spent);
    assert!(report.recommendations.is_empty());
}

#[test]
fn early_explosion_is_a_large_step_among_the_first_three() {
    let report = report(&[1000, 1000, 9000, 9100, 9200, 9300]);
    assert_eq!(report.pattern, FailurePattern::EarlyExplosion);
    assert!(report.evidence[0].starts_with("step 3 took 9000 tokens, 9.00x the baseline"));
}

#[test]
fn early_explosion_comes_before_budget_exhaustion() {
    let report = report(&[1000, 1000, 98_000, 1000]);
    assert_eq!(
        (report.pattern, report.status),
        (FailurePattern::EarlyExplosion, Status::Frozen)
    );
}

#[test]
fn budget_exhaustion_is_a_steady_run_that_reaches_the_ceiling() {
    let report = report(&[12_000; 20]);
    assert_eq!(report.pattern, FailurePattern::BudgetExhaustion);
    assert_eq!((report.steps, report.status), (9, Status::Frozen));
    assert_eq!(report.confidence, 1.0);
}

#[test]
fn retry_storm_is_nearly_constant_cost_over_eight_steps() {
    let report = report(&[500, 500, 1100, 1100, 1100, 1100, 1100, 1100, 1100]);
    assert_eq!(
        (report.pattern, report.steps),
        (FailurePattern::RetryStorm, 9)
    );
    assert!(
        report.evidence[0].contains("coefficient of variation 0.27"),
        "{report}"
    );
}

#[test]
fn context_spiral_is_five_high_steps_that_rise() {
    let report = report(&[1000, 1000, 1000, 1600, 1900, 2600, 3900, 6100]);
    assert_eq!(
        (report.pattern, report.steps),
        (FailurePattern::ContextSpiral, 8)
    );
    assert_eq!(report.evidence[1], "above 2.00x the baseline since step 6");
    // 19,100 spent; the last three steps took 4,200 each on average.
    assert_eq!(report.tokens_projected, 19_100 + 42_000);
}

#[test]
fn policy_drift_is_growth_without_a_spiral_off_policy() {
    let options = GuardOptions {
        drift_threshold: Some(0.7),
        ..GuardOptions::default()
    };
    let tokens = [1000, 1000, 1000, 1200, 1100, 2500, 2400, 2600];
    let steps = tokens.map(|tokens| Step {
        tokens,
        drift: Some(0.9),
        ..Step::default()
    });
    let report = report_of(options, steps);
    assert_eq!(report.pattern, FailurePattern::PolicyDrift);
    assert!(report.evidence[0].starts_with("mean drift 0.90 over the last 3 steps"));
}

#[test]
fn gradual_degradation_is_what_remains() {
    let report = report(&[1000, 1000, 1000, 1200, 1100, 2500, 2400, 2600]);
    assert_eq!(
        (report.pattern, report.confidence),
        (FailurePattern::GradualDegradation, 0.5)
    );
}

#[test]
fn a_run_without_counts_says_so() {
    let report = report(&[0, 0, 0, 5000]);
    assert_eq!(
        (report.pattern, report.ratios.len()),
        (FailurePattern::Healthy, 0)
    );
    assert_eq!(
        report.evidence[1],
        "3 steps have no token count; growth may go unseen"
    );
}

#[test]
fn a_report_reads_as_follows() {
    let report = report(&[1000, 1000, 1000, 1600, 1900, 2600, 3900, 6100]);
    assert_eq!(
        report.to_string(),
        "\
tripped at step 8: context spiral, confidence 0.53
  energy  ▂▂▂▃▃▄▆█  baseline 1000 tokens, peak 6.10x
  tokens  19100 spent, 61100 after 10 more steps at this pace
  - the last 5 steps (1.60x, 1.90x, 2.60x, 3.90x, 6.10x) are above 1.5x and rise 4 times
  - above 2.00x the baseline since step 6
  1. Compress the history before each model call: the whole conversation is sent again with every call (here: the last 5 steps (1.60x, 1.90x, 2.60x, 3.90x, 6.10x) are above 1.5x and rise 4 times)
  2. Replace long tool responses by summaries once they were used: they make up most of a context that keeps growing
  3. Cap the number of turns: the cost of each further turn rises"
    );
}

#[test]
fn a_report_survives_serialisation() {
    let report = report(&[1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500]);
    let json = serde_json::to_string(&report).unwrap();
    assert!(
        json.starts_with(r#"{"pattern":"gradual_degradation","confidence":0.5,"status":"tripped""#)
    );
    let back: FailureReport = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (back.pattern, back.evidence),
        (report.pattern, report.evidence)
    );
}

#[test]
fn a_long_run_shares_bars() {
    let values: Vec<f64> = (0..121).map(f64::from).collect();
    let line = sparkline(&values, 0.0);
    assert_eq!(line.chars().count(), 41);
    assert!(line.starts_with('▁') && line.ends_with('█'));
    assert_eq!(sparkline(&[], 1.0), "");
    assert_eq!(sparkline(&[f64::NAN, 0.0], f64::NAN), "▁▁");
}

proptest! {
    #[test]
    fn no_trajectory_of_any_numbers_gives_nan(
        tokens in prop::collection::vec(any::<u64>(), 0..12),
        baseline in prop::option::of(prop::num::f64::ANY),
        threshold in prop::num::f64::ANY,
        drift in prop::option::of(prop::num::f64::ANY),
        drift_threshold in prop::option::of(prop::num::f64::ANY),
        window in 0..5_usize,
        status in prop::sample::select(vec![Status::Stable, Status::Tripped, Status::Frozen]),
    ) {
        let steps: Vec<_> = tokens
            .iter()
            .map(|tokens| Step { tokens: *tokens, errors: u64::MAX, drift })
            .collect();
        let steps = steps.as_slice();
        let estimated = false;
        let report = FailureReport::diagnose(&Trajectory {
            steps, baseline, status, threshold, window, drift_threshold, estimated,
        });
        prop_assert!((0.5..=1.0).contains(&report.confidence));
        prop_assert!(report.threshold.is_finite() && report.baseline.is_none_or(f64::is_finite));
        prop_assert!(report.ratios.iter().all(|ratio| ratio.is_finite()));
        prop_assert!(!report.to_string().contains("NaN"));
    }

    #[test]
    fn any_run_has_a_pattern_and_a_confidence(
        tokens in prop::collection::vec(prop_oneof![0..10_000_u64, any::<u64>()], 0..30),
        drift in prop::option::of(-3.0..3.0),
    ) {
        let steps = tokens.iter().map(|tokens| Step { tokens: *tokens, drift, ..Step::default() });
        let report = report_of(GuardOptions::default(), steps);
        prop_assert!((0.5..=1.0).contains(&report.confidence));
        prop_assert_eq!(report.pattern == FailurePattern::Healthy, !report.status.is_final());
        prop_assert!(report.tokens_projected >= report.tokens_spent);
        prop_assert!(!report.to_string().contains("NaN"));
    }
}
