//! Confidence intervals: seeded bootstrap and Wilson.

use serde::Serialize;

use super::special::normal_two_sided;
use crate::number::{mean, to_f64, to_usize};
use crate::stats::random::Stream;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Percentile bootstrap interval of the mean (§7.3.1): `resamples` means of as many values drawn
/// with replacement. The same seed gives the same interval everywhere, whatever the order of the values.
///
/// `level` lies between 0 and 1, e.g. 0.95. `None` for an empty sample, values that are not
/// finite, no resamples or another level.
///
/// ```
/// use mcptest_trace::stats::bootstrap_mean;
///
/// let rates = [18.0, 16.0, 15.0].map(|resolved| 100.0 * resolved / 37.0);
/// let interval = bootstrap_mean(&rates, 10_000, 0.95, 1).unwrap();
/// assert_eq!(format!("[{:.1}, {:.1}]", interval.low, interval.high), "[40.5, 48.6]");
/// ```
#[must_use]
pub fn bootstrap_mean(values: &[f64], resamples: usize, level: f64, seed: u64) -> Option<Interval> {
    let values = sorted(values);
    bootstrap(resamples, level, seed, |stream| {
        resampled_mean(&values, stream)
    })
}

/// Percentile bootstrap interval of the difference of two means, `left` − `right`.
///
/// As [`bootstrap_mean`]; both samples are drawn from, independently.
#[must_use]
pub fn bootstrap_difference(
    left: &[f64],
    right: &[f64],
    resamples: usize,
    level: f64,
    seed: u64,
) -> Option<Interval> {
    let (left, right) = (sorted(left), sorted(right));
    bootstrap(resamples, level, seed, |stream| {
        Some(resampled_mean(&left, stream)? - resampled_mean(&right, stream)?)
    })
}

/// Wilson's score interval of a share of successes, within 0 to 1.
///
/// Successes beyond `trials` count as `trials`. `None` without trials, or when `level` does not
/// lie between 0 and 1.
///
/// ```
/// use mcptest_trace::stats::wilson;
///
/// let interval = wilson(49, 148, 0.95).unwrap();
/// assert_eq!(format!("{:.3} {:.3}", interval.low, interval.high), "0.260 0.410");
/// ```
#[must_use]
pub fn wilson(successes: u64, trials: u64, level: f64) -> Option<Interval> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    let (low, high) = wilson_bounds(successes, trials, normal_two_sided(level))?;
    Some(Interval { low, high })
}

/// Both ends of Wilson's interval, where `z` is the normal point of the level. Only `+ − × ÷ √` are used, which
/// every platform rounds alike.
pub(crate) fn wilson_bounds<N: TryInto<u64> + Ord + Copy>(
    successes: N,
    trials: N,
    z: f64,
) -> Option<(f64, f64)> {
    let (share, n) = (
        to_f64(successes.min(trials)) / to_f64(trials),
        to_f64(trials),
    );
    let weight = z * z / n;
    let centre = (share + weight / 2.0) / (1.0 + weight);
    let spread = z / (1.0 + weight) * (share * (1.0 - share) / n + weight / (4.0 * n)).sqrt();
    let (low, high) = (centre - spread, centre + spread);
    (n > 0.0).then(|| (low.clamp(0.0, share), high.clamp(share, 1.0)))
}

fn bootstrap(
    resamples: usize,
    level: f64,
    seed: u64,
    statistic: impl Fn(&mut Stream) -> Option<f64>,
) -> Option<Interval> {
    if resamples == 0 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let mut stream = Stream::from_seed(seed);
    let mut means = (0..resamples)
        .map(|_| statistic(&mut stream).filter(|value| value.is_finite()))
        .collect::<Option<Vec<f64>>>()?;
    means.sort_by(f64::total_cmp);
    let tail = to_usize((1.0 - level) / 2.0 * to_f64(resamples));
    let skipped = tail.min((resamples - 1) / 2);
    let mut kept = means.iter().skip(skipped).take(resamples - 2 * skipped);
    let low = *kept.next()?;
    let high = kept.next_back().copied().unwrap_or(low);
    Some(Interval { low, high })
}

/// The values from the smallest on: a draw is of a value then, and not of a place.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn resampled_mean(values: &[f64], stream: &mut Stream) -> Option<f64> {
    mean(values.iter().map(|_| values[stream.below(values.len())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 3] = [18.0, 16.0, 15.0];
    const D: [f64; 3] = [15.0, 16.0, 14.0];
    const E: [f64; 3] = [19.0, 15.0, 17.0];

    fn rates(counts: [f64; 3]) -> [f64; 3] {
        counts.map(|count| 100.0 * count / 37.0)
    }

    #[test]
    fn the_intervals_of_the_paper() {
        let shown = [A, D, E].map(|counts| {
            let interval = bootstrap_mean(&rates(counts), 10_000, 0.95, 7).unwrap();
            format!("[{:.1}, {:.1}]", interval.low, interval.high)
        });
        assert_eq!(shown, ["[40.5, 48.6]", "[37.8, 43.2]", "[40.5, 51.4]"]);
        for (left, right, paper) in [
            (A, D, (-0.9, 8.1)),
            (A, E, (-8.1, 4.5)),
            (D, E, (-10.8, 0.0)),
        ] {
            let interval =
                bootstrap_difference(&rates(left), &rates(right), 10_000, 0.95, 7).unwrap();
            assert!(interval.contains(0.0));
            // One step of the discrete distribution is 0.9 points.
            assert!(
                (interval.low - paper.0).abs() < 1.0,
                "{interval:?} {paper:?}"
            );
            assert!(
                (interval.high - paper.1).abs() < 1.0,
                "{interval:?} {paper:?}"
            );
        }
    }

    #[test]
    fn the_seed_decides() {
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        let interval = |seed| bootstrap_mean(&values, 200, 0.9, seed).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
    }

    #[test]
    fn what_cannot_be_computed_is_none() {
        assert_eq!(bootstrap_mean(&[], 100, 0.95, 1), None);
        assert_eq!(bootstrap_mean(&[f64::NAN], 100, 0.95, 1), None);
        assert_eq!(bootstrap_mean(&[1.0], 0, 0.95, 1), None);
        assert_eq!(bootstrap_mean(&[1.0], 1, f64::NAN, 1), None);
        assert_eq!(bootstrap_difference(&[1.0], &[], 10, 0.95, 1), None);
        assert!(bootstrap_mean(&[1.0], 2, f64::MIN_POSITIVE, 1).is_some());
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(1, 2, 1.0), None);
    }

    #[test]
    fn wilson_has_its_known_ends() {
        // With no successes the upper end is z² / (n + z²).
        let none = wilson(0, 10, 0.95).unwrap();
        let z_squared = 1.959_963_985_f64.powi(2);
        assert_eq!(none.low, 0.0);
        assert!((none.high - z_squared / (10.0 + z_squared)).abs() < 1e-9);
        let all = wilson(99, 10, 0.95).unwrap();
        assert!(((1.0 - all.low) - none.high).abs() < 1e-12 && all.high == 1.0);
    }

    proptest! {
        #[test]
        fn wilson_holds_the_share_and_mirrors(trials in 1..500_u64, part in 0.0..=1.0, level in 0.01..0.999) {
            let successes = (part * trials as f64) as u64;
            let interval = wilson(successes, trials, level).unwrap();
            let mirror = wilson(trials - successes, trials, level).unwrap();
            prop_assert!(interval.contains(successes as f64 / trials as f64));
            prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
            prop_assert!((interval.low + mirror.high - 1.0).abs() < 1e-12);
        }

        #[test]
        fn a_bootstrap_interval_lies_within_the_values(
            values in prop::collection::vec(-10.0..10.0, 1..10),
            seed: u64,
            resamples in 1..60_usize,
            level in 0.01..0.99,
        ) {
            let interval = bootstrap_mean(&values, resamples, level, seed).unwrap();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(low - 1e-9 <= interval.low && interval.high <= high + 1e-9);
            prop_assert!(interval.low <= interval.high);
        }
    }
}
