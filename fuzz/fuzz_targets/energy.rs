//! Tokens, drifts and options of any size: no guard and no analysis breaks, and no number that it gives is NaN.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcptest_trace::energy::{
    FailureReport, GrowthRatioGuard, GuardOptions, LyapunovMonitor, Step, Trajectory,
};

type Input = (
    Vec<(u64, Option<f64>, u64)>,
    f64,
    f64,
    u64,
    u64,
    usize,
    usize,
    bool,
);

fuzz_target!(|input: Input| {
    let (steps, threshold, drift, budget, gate, window, warmup, adaptive) = input;
    let steps: Vec<Step> = steps
        .iter()
        .map(|(tokens, drift, errors)| Step::new(*tokens).with_drift(*drift).with_errors(*errors))
        .collect();
    let options = GuardOptions::default()
        .with_ratio_threshold(threshold)
        .with_drift_threshold(drift)
        .with_token_budget(budget)
        .with_budget_gate(gate)
        .with_window(window % 64)
        .with_warmup_turns(warmup % 64)
        .with_adaptive(adaptive);
    let is_number = |value: Option<f64>| value.is_none_or(|value| !value.is_nan());
    if let Ok(mut guard) = GrowthRatioGuard::new(options) {
        for step in &steps {
            let was_stopped = guard.stopped().is_some();
            let told = guard.record(step.clone());
            // Who was stopped stays stopped.
            assert!(!was_stopped || told.is_err());
            assert!(is_number(guard.baseline()) && is_number(guard.drift()));
            assert!(!guard.threshold().is_nan());
        }
        assert!(is_number(guard.report().peak_ratio()));
    }
    if let Ok(mut monitor) = LyapunovMonitor::new(threshold, window % 64) {
        for step in &steps {
            _ = monitor.record(step.clone());
            assert!(is_number(monitor.energy()));
        }
    }
    let trajectory = Trajectory::new(&steps);
    assert!(trajectory.ratios().iter().all(|ratio| !ratio.is_nan()));
    assert!(is_number(FailureReport::diagnose(&trajectory).peak_ratio()));
});
