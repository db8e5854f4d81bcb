//! Estimates from the outcomes of runs: by looking at every choice of runs, and at the definition of an interval.

use mcptest_trace::eval::summarize;
use mcptest_trace::stats::wilson;
use proptest::prelude::*;

/// The share of all choices of `k` outcomes that fit.
fn share_of_choices(outcomes: &[bool], k: u32, fits: impl Fn(&[bool]) -> bool) -> f64 {
    let (mut fitting, mut all) = (0.0, 0.0);
    for mask in (0..1_u32 << outcomes.len()).filter(|mask| mask.count_ones() == k) {
        let chosen = outcomes.iter().enumerate();
        let chosen = chosen.filter(|(place, _)| mask >> place & 1 == 1);
        let chosen: Vec<bool> = chosen.map(|(_, outcome)| *outcome).collect();
        all += 1.0;
        fitting += f64::from(u8::from(fits(&chosen)));
    }
    fitting / all
}

/// The share at which the score test no longer rejects, between `inside` and `outside`.
fn bound(share: f64, trials: f64, z: f64, outside: f64) -> f64 {
    let rejects = |p: f64| (share - p).powi(2) > z * z * p * (1.0 - p) / trials;
    let (mut inside, mut outside) = (share, outside);
    for _ in 0..200 {
        let middle = f64::midpoint(inside, outside);
        if rejects(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    inside
}

proptest! {
    #[test]
    fn pass_at_k_and_pass_hat_k_are_shares_of_all_choices(outcomes in prop::collection::vec(any::<bool>(), 1..9)) {
        let summary = summarize(&outcomes);
        for (k, (hat, at)) in (1..).zip(summary.pass_hat.iter().zip(&summary.pass_at)) {
            let all = share_of_choices(&outcomes, k, |chosen| chosen.iter().all(|passed| *passed));
            let any = share_of_choices(&outcomes, k, |chosen| chosen.iter().any(|passed| *passed));
            prop_assert!((hat - all).abs() < 1e-12, "{k}: {hat} {all}");
            prop_assert!((at - any).abs() < 1e-12, "{k}: {at} {any}");
        }
    }

    #[test]
    fn wilson_is_what_the_score_test_does_not_reject(trials in 1..400_u64, passes in 0..400_u64, level in 0..3_usize) {
        let passes = passes.min(trials);
        let (level, z) = [
            (0.9, 1.644_853_626_951_472_2),
            (0.95, 1.959_963_984_540_054),
            (0.99, 2.575_829_303_548_900_4),
        ][level];
        let (share, n) = (passes as f64 / trials as f64, trials as f64);
        let interval = wilson(passes, trials, level).unwrap();
        prop_assert!((interval.low - bound(share, n, z, 0.0)).abs() < 1e-7, "{interval:?}");
        prop_assert!((interval.high - bound(share, n, z, 1.0)).abs() < 1e-7, "{interval:?}");
        if trials < 60 && level == 0.95 {
            let mut outcomes = vec![true; usize::try_from(passes).unwrap()];
            outcomes.resize(usize::try_from(trials).unwrap(), false);
            let summary = summarize(&outcomes);
            prop_assert!((summary.ci_low - 100.0 * interval.low).abs() < 1e-3, "{summary:?}");
            prop_assert!((summary.ci_high - 100.0 * interval.high).abs() < 1e-3, "{summary:?}");
        }
    }
}
