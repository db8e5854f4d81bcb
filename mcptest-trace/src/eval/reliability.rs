//! `reliability`: how often does the agent pass, and how much do these runs tell?

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the expected values are exact")]
mod tests;

use super::measure::{Measure, Unit};
use super::metrics::{Metrics, metrics};
use crate::number::{share, to_f64, to_u64, to_usize};
use crate::setters::setters;
use crate::stats::wilson_bounds;
use serde::Serialize;
use serde_json::Value;

/// Confidence of an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Confidence {
    /// 90 percent.
    Ninety,
    /// 95 percent.
    #[default]
    NinetyFive,
    /// 99 percent.
    NinetyNine,
}

impl Confidence {
    /// The critical value of the standard normal distribution (seed 4).
    const fn critical_value(self) -> f64 {
        match self {
            Self::Ninety => 1.645,
            Self::NinetyFive => 1.96,
            Self::NinetyNine => 2.576,
        }
    }
}

/// How many runs pin the pass rate to within `half_width` (a fraction, not a percentage), whatever
/// the rate. `None` when the width is not a positive number.
///
/// ```
/// use mcptest_trace::eval::{Confidence, recommend_runs};
///
/// assert_eq!(recommend_runs(0.05, Confidence::NinetyFive), Some(385));
/// assert_eq!(recommend_runs(0.0, Confidence::NinetyFive), None);
/// ```
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and saturating at the largest count is meant"
)]
pub fn recommend_runs(half_width: f64, confidence: Confidence) -> Option<u64> {
    let positive = half_width.is_finite() && half_width > 0.0;
    let ratio = confidence.critical_value() / half_width;
    let runs = ratio * ratio * 0.25;
    // A count that is whole but for the rounding of the division must not cost another run.
    positive.then(|| (runs * (1.0 - 1e-12)).ceil().max(1.0) as u64)
}

/// How far the pass rate may be off after a number of runs, in the worst case, as a fraction; at
/// most 1.0, which is what no run at all tells.
///
/// ```
/// use mcptest_trace::eval::{Confidence, confidence_band};
///
/// assert!((confidence_band(100, Confidence::NinetyFive) - 0.098).abs() < 1e-12);
/// assert_eq!(confidence_band(0, Confidence::NinetyFive), 1.0);
/// ```
#[must_use]
pub fn confidence_band(runs: usize, confidence: Confidence) -> f64 {
    if runs == 0 {
        return 1.0;
    }
    (confidence.critical_value() * (0.25 / to_f64(runs)).sqrt()).min(1.0)
}

/// What the outcomes of a number of runs come to.
///
/// Source: seeds 3 and 4, "Reliability reporting", and spec 3, "reliability". From the pass/fail
/// outcomes of `n` runs, `c` of them passed:
///
/// - `decay_curve[k-1] = floor(100 · (c_k / k)^k)`, `c_k` the passes among the first `k` runs;
/// - `variance_amplification = round(100 · σ / 0.5)`, `σ` the population standard deviation;
/// - `graceful_degradation = round(100 · Σ position · pass / Σ position)`, positions from 1;
/// - `pass_at[k-1] = 1 − C(n−c, k) / C(n, k)` and `pass_hat[k-1] = C(c, k) / C(n, k)`, unbiased:
///   at least one and every one of `k` runs passes;
/// - `ci_low`, `ci_high`: the Wilson score interval of the pass rate;
/// - `half_width = z · √(0.25 / n)` and `recommended_runs = ceil((z / width)² · 0.25)`, both by
///   Wald's interval in the worst case of a pass rate of one half.
///
/// The same input gives the same bits everywhere: only `+ − × ÷ √` are used, which every platform
/// rounds alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReliabilitySummary {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that passed.
    pub passes: usize,
    /// Whether at least one run passed.
    pub pass_at_k: bool,
    /// Whether every run passed; not when there was none.
    pub passhat_k: bool,
    /// Share of passes in percent, not rounded; 0 without a run.
    pub pass_rate: f64,
    /// Spread of the outcomes, `0..=100`: 0 all alike, 100 half and half.
    pub variance_amplification: u64,
    /// `0..=100`: 100 when all passed, lower the later failures come; 0 without a run.
    pub graceful_degradation: u64,
    /// The k-th power of the share of passes among the first `k` runs in percent, rounded down; index 0 is `k = 1`.
    pub decay_curve: Vec<u64>,
    /// Lower end of the Wilson interval of the pass rate in percent; 0 without a run.
    pub ci_low: f64,
    /// Upper end of the Wilson interval of the pass rate in percent; 100 without a run.
    pub ci_high: f64,
    /// Worst-case half-width that this number of runs buys, in percent.
    pub half_width: f64,
    /// Number of runs that the wanted half-width needs.
    pub recommended_runs: u64,
    /// Unbiased estimate that at least one of `k` runs passes; index 0 is `k = 1`.
    pub pass_at: Vec<f64>,
    /// Unbiased estimate that all of `k` runs pass; index 0 is `k = 1`.
    pub pass_hat: Vec<f64>,
}

impl ReliabilitySummary {
    /// The value of a target such as `reliability.pass_at_k`; arrays whole. `pass_at_k` and
    /// `passhat_k` read 0 or 100.
    ///
    /// ```
    /// use mcptest_trace::eval::summarize;
    /// use serde_json::json;
    ///
    /// let summary = summarize(&[true, true, true, false]);
    /// assert_eq!(summary.resolve_target("reliability.pass_at_k"), Some(json!(100)));
    /// assert_eq!(summary.resolve_target("reliability.passhat_k"), Some(json!(0)));
    /// assert_eq!(summary.resolve_target("reliability.decay_curve"), Some(json!([100, 100, 100, 31])));
    /// assert_eq!(summary.resolve_target("reliability.mood"), None);
    /// ```
    #[must_use]
    pub fn resolve_target(&self, target: &str) -> Option<Value> {
        let path = format!("/{}", target.replace('.', "/"));
        self.metrics_object().pointer(&path).cloned()
    }

    /// Every target, as an object below the key `reliability`.
    #[must_use]
    pub fn metrics_object(&self) -> Value {
        self.metrics()
    }
}

metrics! { ReliabilitySummary as summary {
    Measure::new("reliability.runs", Unit::Count)
        .only_describes("how many runs there are")
        .at_least(1.0) => summary.runs,
    Measure::new("reliability.pass_at_k", Unit::AllOrNothing)
        .higher_is_better("100 when at least one run passes") => summary.pass_at_k,
    Measure::new("reliability.passhat_k", Unit::AllOrNothing)
        .higher_is_better("100 when every run passes") => summary.passhat_k,
    Measure::new("reliability.variance_amplification", Unit::Percent)
        .lower_is_better("0 when all runs end alike, 100 when half pass and half fail") => summary.variance_amplification,
    Measure::new("reliability.graceful_degradation", Unit::Percent)
        .higher_is_better("100 when all runs pass, the lower the later failures come") => summary.graceful_degradation,
    Measure::new("reliability.pass_rate", Unit::Percent)
        .higher_is_better("the share of runs that pass") => summary.pass_rate,
    Measure::new("reliability.decay_curve", Unit::Percent)
        .higher_is_better("the k-th power of the share of passes among the first k runs; index 0 is k = 1")
        .list() => summary.decay_curve.clone(),
    Measure::new("reliability.ci_low", Unit::Percent)
        .higher_is_better("lower end of the confidence interval of the pass rate") => summary.ci_low,
    Measure::new("reliability.ci_high", Unit::Percent)
        .higher_is_better("upper end of the confidence interval of the pass rate") => summary.ci_high,
    Measure::new("reliability.half_width", Unit::Percent)
        .lower_is_better("how far the pass rate may be off, in the worst case") => summary.half_width,
    Measure::new("reliability.recommended_runs", Unit::Count)
        .only_describes("how many runs the wanted half-width needs")
        .at_least(1.0) => summary.recommended_runs,
    Measure::new("reliability.pass_at", Unit::Fraction)
        .higher_is_better("chance that one of k runs passes; index 0 is k = 1")
        .list() => summary.pass_at.clone(),
    Measure::new("reliability.pass_hat", Unit::Fraction)
        .higher_is_better("pass^k: the chance that all of k runs pass; index 0 is k = 1")
        .list() => summary.pass_hat.clone(),
} }

/// Summarises outcomes with the defaults: 95 percent confidence, a half-width of 5 percent.
///
/// ```
/// use mcptest_trace::eval::summarize;
///
/// assert_eq!(summarize(&[false, true, true, true]).graceful_degradation, 90);
/// assert_eq!(summarize(&[true, true, true, false]).graceful_degradation, 60);
/// ```
#[must_use]
pub fn summarize(outcomes: &[bool]) -> ReliabilitySummary {
    summarize_with(outcomes, &ReliabilityOptions::default())
}

/// How surely the pass rate must be known.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReliabilityOptions {
    /// Confidence of the intervals.
    pub confidence: Confidence,
    /// The wanted half-width, as a fraction. One that is not a positive number is never reached: it
    /// recommends the largest number of runs.
    pub half_width: f64,
}

impl Default for ReliabilityOptions {
    /// 95 percent confidence, a half-width of 5 percent.
    fn default() -> Self {
        Self {
            confidence: Confidence::default(),
            half_width: 0.05,
        }
    }
}

setters! {
    ReliabilityOptions {
        with_confidence(confidence: Confidence);
    }
}

/// [`summarize`] with options.
#[must_use]
pub fn summarize_with(outcomes: &[bool], options: &ReliabilityOptions) -> ReliabilitySummary {
    let ReliabilityOptions {
        confidence,
        half_width,
    } = *options;
    let runs = outcomes.len();
    let passes = outcomes.iter().filter(|passed| **passed).count();
    let z = confidence.critical_value();
    let (ci_low, ci_high) = wilson_bounds(passes, runs, z).unwrap_or((0.0, 1.0));
    ReliabilitySummary {
        runs,
        passes,
        pass_at_k: passes > 0,
        passhat_k: runs > 0 && passes == runs,
        pass_rate: 100.0 * share(passes, runs).unwrap_or(0.0),
        variance_amplification: variance_amplification(passes, runs),
        graceful_degradation: graceful_degradation(outcomes),
        decay_curve: decay_curve(outcomes),
        ci_low: 100.0 * ci_low,
        ci_high: 100.0 * ci_high,
        half_width: 100.0 * confidence_band(runs, confidence),
        recommended_runs: recommend_runs(half_width, confidence).unwrap_or(u64::MAX),
        pass_at: draw_probabilities(runs - passes, runs)
            .map(|all_fail| 1.0 - all_fail)
            .collect(),
        pass_hat: draw_probabilities(passes, runs).collect(),
    }
}

/// `C(marked, k) / C(runs, k)` for `k` from 1 to `runs`: the chance that `k` runs drawn without
/// putting back are all marked. A running product, so nothing overflows.
fn draw_probabilities(marked: usize, runs: usize) -> impl Iterator<Item = f64> {
    (0..runs).scan(1.0, move |chance, drawn| {
        *chance = *chance * to_f64(marked.saturating_sub(drawn)) / to_f64(runs - drawn);
        Some(*chance)
    })
}

fn decay_curve(outcomes: &[bool]) -> Vec<u64> {
    let passes = outcomes.iter().scan(0, |passes, &passed| {
        *passes += usize::from(passed);
        Some(*passes)
    });
    let entry = |(index, passes): (usize, usize)| {
        let runs = index + 1;
        // Apart from 100, reached only when all passed, a whole percentage arises only from one
        // pass in two runs, where the arithmetic is exact; so plain rounding down is right.
        let rate = share(passes, runs).unwrap_or(0.0);
        to_u64(to_usize(100.0 * power(rate, runs)))
    };
    passes.enumerate().map(entry).collect()
}

/// `base` to a whole power by squaring; `f64::powi` may differ between platforms.
fn power(mut base: f64, mut exponent: usize) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            product *= base;
        }
        base *= base;
        exponent /= 2;
    }
    product
}

/// `σ / 0.5` is `2 · √(passes · failures) / runs`.
fn variance_amplification(passes: usize, runs: usize) -> u64 {
    if runs == 0 {
        return 0;
    }
    let spread = (to_f64(passes) * to_f64(runs - passes)).sqrt();
    to_u64(to_usize((200.0 * spread / to_f64(runs)).round()))
}

fn graceful_degradation(outcomes: &[bool]) -> u64 {
    let positions = 1..=outcomes.len() as u64;
    let total: u64 = positions.clone().sum();
    let held: u64 = positions
        .zip(outcomes)
        .filter(|(_, passed)| **passed)
        .map(|(at, _)| at)
        .sum();
    // Half up: (100 · held / total) + 1/2, rounded down.
    (200 * held + total).checked_div(2 * total).unwrap_or(0)
}
