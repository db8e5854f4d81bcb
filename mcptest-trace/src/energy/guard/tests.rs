//! Behaviour of the growth-ratio guard.

use proptest::prelude::*;

use super::*;

fn guard(options: GuardOptions) -> GrowthRatioGuard {
    GrowthRatioGuard::new(options).unwrap()
}

/// Runs a guard over steps until it stops.
fn run(options: GuardOptions, tokens: &[u64]) -> GrowthRatioGuard {
    let mut guard = guard(options);
    for tokens in tokens {
        if guard.record(Step::new(*tokens)).is_err() {
            break;
        }
    }
    guard
}

#[test]
fn the_papers_figure_trips_at_step_eight() {
    let guard = run(
        GuardOptions::default(),
        &[1000, 1100, 1050, 1200, 1500, 2800, 3500, 4500],
    );
    assert_eq!(guard.baseline(), Some(1050.0));
    let ratios: Vec<String> = guard.history()[3..]
        .iter()
        .map(|step| format!("{:.2}", guard.ratio(step.tokens).unwrap()))
        .collect();
    assert_eq!(ratios, ["1.14", "1.43", "2.67", "3.33", "4.29"]);
    assert_eq!(
        guard.stopped(),
        Some(EnergyError::Tripped {
            step: 8,
            ratio: 4500.0 / 1050.0,
            baseline: 1050.0,
            threshold: 2.0,
            streak: 3,
            tokens: 16_650,
            drift: None,
        })
    );
}

#[test]
fn the_baseline_is_the_true_median_of_an_even_warm_up() {
    let options = GuardOptions {
        warmup_turns: 4,
        ..GuardOptions::default()
    };
    assert_eq!(
        run(options, &[400, 100, 200, 5_000]).baseline(),
        Some(300.0)
    );
    let options = GuardOptions {
        warmup_turns: 2,
        ..options
    };
    assert_eq!(run(options, &[1, 2]).baseline(), Some(1.5));
}

#[test]
fn a_run_that_ends_in_its_warm_up_neither_trips_nor_freezes() {
    let guard = run(GuardOptions::default(), &[9_000_000, u64::MAX]);
    assert_eq!((guard.status(), guard.baseline()), (Status::Stable, None));
}

#[test]
fn the_streak_runs_while_the_gate_is_still_shut() {
    // Above 2x from step 4 on; 8,000 tokens are exceeded only at step 9.
    let tokens = [500, 500, 500, 1100, 1100, 1100, 1100, 1100, 1100];
    let guard = run(GuardOptions::default(), &tokens);
    let Some(EnergyError::Tripped {
        step,
        streak,
        tokens,
        ..
    }) = guard.stopped()
    else {
        panic!("{:?}", guard.stopped());
    };
    assert_eq!((step, streak, tokens), (9, 6, 8_100));
}

#[test]
fn the_gate_must_be_exceeded_and_the_threshold_too() {
    let tokens = [1000, 1000, 1000, 2001, 2001, 2001];
    let at_gate = GuardOptions {
        budget_gate: 9_003,
        ..GuardOptions::default()
    };
    assert_eq!(run(at_gate, &tokens).status(), Status::Warning);
    let below = GuardOptions {
        budget_gate: 9_002,
        ..at_gate
    };
    assert_eq!(run(below, &tokens).status(), Status::Tripped);
    let exactly_twice = [1000, 1000, 1000, 2000, 2000, 2000, 2000];
    assert_eq!(run(below, &exactly_twice).status(), Status::Stable);
}

#[test]
fn a_step_at_the_baseline_starts_the_streak_anew() {
    let tokens = [1000, 1000, 1000, 5000, 5000, 1000, 5000, 5000];
    assert_eq!(run(GuardOptions::default(), &tokens).streak(), 2);
}

#[test]
fn freezing_comes_first_at_a_tie_and_only_one_of_both_happens() {
    let tokens = [1000, 1000, 1000, 3000, 3000, 3000, 3000];
    let tie = GuardOptions {
        token_budget: 12_000,
        ..GuardOptions::default()
    };
    let guard = run(tie, &tokens);
    assert_eq!(
        guard.stopped(),
        Some(EnergyError::Frozen {
            step: 6,
            tokens: 12_000,
            budget: 12_000
        })
    );
    let roomier = GuardOptions {
        token_budget: 12_001,
        ..tie
    };
    assert_eq!(run(roomier, &tokens).status(), Status::Tripped);
}

#[test]
fn a_stop_is_sticky_and_later_steps_are_not_counted() {
    let mut guard = run(
        GuardOptions::default(),
        &[1000, 1000, 1000, 4000, 4000, 4000],
    );
    let stopped = guard.stopped().unwrap();
    assert_eq!(guard.record(Step::new(1)), Err(stopped));
    assert_eq!((guard.history().len(), guard.tokens()), (6, 15_000));
    assert_eq!(guard.status(), Status::Tripped);
}

#[test]
fn an_adaptive_threshold_follows_the_spread_within_its_bounds() {
    let adapted = |k: f64, tokens: &[u64]| {
        let options = GuardOptions {
            adaptive: true,
            adaptive_k: k,
            warmup_turns: tokens.len(),
            ..GuardOptions::default()
        };
        run(options, tokens).threshold()
    };
    // Quartiles 75 and 175 of median 100 (interpolated): 1 + 2 · 100 / 100.
    assert_eq!(adapted(2.0, &[0, 100, 100, 400]), 3.0);
    assert_eq!(adapted(2.0, &[1000, 1000, 1000, 1000]), 1.5);
    assert_eq!(adapted(50.0, &[10, 1000, 2000, 3000, 9000]), 5.0);
}

#[test]
fn an_adaptive_threshold_of_a_short_warm_up_is_two_and_a_half_at_least() {
    let options = GuardOptions {
        adaptive: true,
        ..GuardOptions::default()
    };
    assert_eq!(run(options, &[1000, 1, 9000]).threshold(), 2.5);
    let options = GuardOptions {
        ratio_threshold: 3.5,
        ..options
    };
    assert_eq!(run(options, &[1000, 1, 9000]).threshold(), 3.5);
}

#[test]
fn without_a_baseline_of_its_own_only_the_budget_stops_a_run() {
    let tokens = [0, 0, 0, 40_000, 40_000, 15_000];
    let guard = run(GuardOptions::default(), &tokens);
    assert_eq!((guard.baseline(), guard.streak()), (Some(0.0), 0));
    assert_eq!(guard.status(), Status::Stable);
    assert_eq!(
        run(GuardOptions::default(), &[0, 0, 0, 100_000]).status(),
        Status::Frozen
    );
}

#[test]
fn growth_must_be_confirmed_by_drift_where_it_is_asked_for() {
    let options = GuardOptions {
        drift_threshold: Some(0.7),
        ..GuardOptions::default()
    };
    let run = |drifts: [Option<f64>; 3]| {
        let mut guard = guard(options);
        for tokens in [1000, 1000, 1000] {
            guard.record(Step::new(tokens)).unwrap();
        }
        for drift in drifts {
            let _ = guard.record(Step {
                tokens: 4000,
                drift,
                ..Step::default()
            });
        }
        (guard.status(), guard.drift())
    };
    assert_eq!(run([Some(0.5), Some(1.0), Some(0.9)]).0, Status::Tripped);
    assert_eq!(run([Some(0.5), Some(0.75), Some(0.75)]).0, Status::Warning);
    assert_eq!(run([None, Some(0.75), None]), (Status::Tripped, Some(0.75)));
    assert_eq!(run([None, None, Some(f64::NAN)]), (Status::Warning, None));
}

fn any_tokens() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(
        prop_oneof![0..20_000_u64, Just(0), Just(u64::MAX), any::<u64>()],
        0..40,
    )
}

proptest! {
    #[test]
    fn the_first_stop_is_the_one_its_definition_gives(
        tokens in prop::collection::vec(0..9_000_u64, 0..40),
        window in 1..5_usize,
        budget_gate in 0..30_000_u64,
        token_budget in 1..120_000_u64,
    ) {
        let options = GuardOptions { window, budget_gate, token_budget, ..GuardOptions::default() };
        let guard = run(options, &tokens);

        let mut first = tokens.iter().take(3).copied().collect::<Vec<_>>();
        first.sort_unstable();
        let high = |index: usize| index >= 3 && first[1] > 0 && tokens[index] > 2 * first[1];
        let expected = (3..tokens.len()).find_map(|index| {
            let spent: u64 = tokens[..=index].iter().sum();
            let streak = (0..=index).rev().take_while(|index| high(*index)).count();
            if spent >= token_budget {
                Some((Status::Frozen, index + 1))
            } else if streak >= window && spent > budget_gate {
                Some((Status::Tripped, index + 1))
            } else {
                None
            }
        });
        prop_assert_eq!(guard.stopped().map(|stop| (stop.status(), stop.step())), expected);
    }

    #[test]
    fn scaling_every_count_changes_no_ratio(
        tokens in prop::collection::vec(1..9_000_u64, 4..20),
        scale in 1..1_000_u64,
    ) {
        let options = GuardOptions { token_budget: u64::MAX, budget_gate: 0, ..GuardOptions::default() };
        let scaled: Vec<u64> = tokens.iter().map(|tokens| tokens * scale).collect();
        let (plain, scaled) = (run(options, &tokens), run(options, &scaled));
        prop_assert_eq!(plain.status(), scaled.status());
        prop_assert_eq!(plain.history().len(), scaled.history().len());
    }

    #[test]
    fn no_count_overflows_and_no_number_is_nan(tokens in any_tokens(), adaptive: bool, warmup_turns in 1..8_usize) {
        let options = GuardOptions { adaptive, warmup_turns, token_budget: u64::MAX, ..GuardOptions::default() };
        let guard = run(options, &tokens);
        prop_assert!(guard.threshold().is_finite());
        prop_assert!(guard.baseline().is_none_or(f64::is_finite));
        prop_assert!(guard.ratio(u64::MAX).is_none_or(f64::is_finite));
        prop_assert!(guard.report().ratios.iter().all(|ratio| ratio.is_finite()));
        prop_assert!(!guard.report().to_string().contains("NaN"));
    }
}
