#![cfg_attr(
    test,
    allow(
        clippy::float_cmp,
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        reason = "tests make their own numbers"
    )
)]
//! Statistics over a few runs, one file a method.
//!
//! Here are means, Welch's t-test and intervals (§7.3.1). Pure functions, without a clock; what draws numbers takes a
//! seed. Samples that hold NaN or infinity, or are too few, give `None`; no result is
//! ever NaN.

pub(crate) mod area;
pub(crate) mod boschloo;
pub(crate) mod concordance;
pub mod conformal;
pub(crate) mod discovery;
pub(crate) mod energy_distance;
#[cfg(test)]
mod exact_tests;
mod interval;
mod law;
pub(crate) mod moses;
pub(crate) mod needed;
mod quantile;
pub mod random;
pub(crate) mod rank_sum;
pub(crate) mod sequence;
mod special;
pub(crate) mod stratified;

use serde::Serialize;

pub(crate) use interval::wilson_bounds;
pub use interval::{Interval, bootstrap_difference, bootstrap_mean, wilson};
pub use stratified::{MeanInterval, mean_interval};

use crate::number::{to_f64, unordered_mean, unordered_sum};
use special::student_two_sided;

/// Mean and spread of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// The mean, in the unit of the values.
    pub mean: f64,
    /// The sample standard deviation (n − 1), from two values on.
    pub deviation: Option<f64>,
}

impl Summary {
    /// Summarises a sample; `None` when it is empty or not all finite.
    ///
    /// ```
    /// use mcptest_trace::stats::Summary;
    ///
    /// // Condition A of §7.3.1: 18, 16 and 15 of 37 resolved.
    /// let summary = Summary::from_values(&[18.0, 16.0, 15.0].map(|k| 100.0 * k / 37.0)).unwrap();
    /// assert_eq!(summary.to_string(), "44.1 ± 4.1");
    /// ```
    #[must_use]
    pub fn from_values(values: &[f64]) -> Option<Self> {
        let mean = unordered_mean(values.to_vec())?;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        let squares = unordered_sum(squares.collect());
        let count = values.len();
        let usable = mean.is_finite() && squares.is_finite();
        usable.then(|| Self {
            count,
            mean,
            deviation: (count > 1).then(|| (squares / to_f64(count as u64 - 1)).sqrt()),
        })
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1}", self.mean)?;
        let deviation = self.deviation;
        deviation.map_or(Ok(()), |deviation| write!(f, " ± {deviation:.1}"))
    }
}

/// The result of Welch's t-test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Welch {
    /// The statistic; its sign is that of the difference of the means.
    pub t: f64,
    /// Degrees of freedom (Welch and Satterthwaite).
    pub df: f64,
    /// Two-sided p, 0 to 1.
    pub p: f64,
}

/// Welch's t-test for a difference of two means, without assuming equal spread.
///
/// t = (x̄ − ȳ) / √(s²ₓ/m + s²ᵧ/n), two-sided. `None` with fewer than two values in a sample, with
/// values that are not finite, or when neither sample varies (t is then undefined).
///
/// ```
/// use mcptest_trace::stats::welch;
///
/// // Conditions A and D of §7.3.1.
/// let test = welch(&[18.0, 16.0, 15.0], &[15.0, 16.0, 14.0]).unwrap();
/// assert_eq!(format!("t({:.2}) = {:.2}, p = {:.3}", test.df, test.t, test.p), "t(3.45) = 1.26, p = 0.285");
/// ```
#[must_use]
pub fn welch(left: &[f64], right: &[f64]) -> Option<Welch> {
    let (left, right) = (Summary::from_values(left)?, Summary::from_values(right)?);
    let error = |sample: &Summary| {
        let variance = sample.deviation?.powi(2);
        Some(variance / to_f64(sample.count))
    };
    let (from_left, from_right) = (error(&left)?, error(&right)?);
    let both = from_left + from_right;
    let t = (left.mean - right.mean) / both.sqrt();
    // Shares, because the squares of small errors would vanish.
    let share =
        |part: f64, sample: &Summary| (part / both).powi(2) / to_f64(sample.count as u64 - 1);
    let df = 1.0 / (share(from_left, &left) + share(from_right, &right));
    (t.is_finite() && df.is_finite()).then(|| Welch {
        t,
        df,
        p: student_two_sided(t, df),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 3] = [18.0, 16.0, 15.0];
    const D: [f64; 3] = [15.0, 16.0, 14.0];
    const E: [f64; 3] = [19.0, 15.0, 17.0];

    #[test]
    fn the_means_of_the_paper() {
        let shown = [A, D, E].map(|counts| {
            let rates = counts.map(|count| 100.0 * count / 37.0);
            Summary::from_values(&rates).unwrap().to_string()
        });
        assert_eq!(shown, ["44.1 ± 4.1", "40.5 ± 2.7", "45.9 ± 5.4"]);
    }

    #[test]
    fn the_tests_of_the_paper_from_its_exact_counts() {
        let shown = [(A, D), (A, E), (D, E)].map(|(left, right)| {
            let test = welch(&left, &right).unwrap();
            format!("t({:.2}) = {:.2}, p = {:.3}", test.df, test.t, test.p)
        });
        assert_eq!(
            shown,
            [
                "t(3.45) = 1.26, p = 0.285",
                "t(3.74) = -0.46, p = 0.672",
                "t(2.94) = -1.55, p = 0.221"
            ]
        );
    }

    #[test]
    fn what_cannot_be_computed_is_none() {
        assert_eq!(Summary::from_values(&[]), None);
        assert_eq!(Summary::from_values(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::from_values(&[f64::MAX, f64::MAX]), None);
        assert_eq!(Summary::from_values(&[3.0]).unwrap().deviation, None);
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn welch_is_antisymmetric_and_does_not_depend_on_the_unit(
            left in prop::collection::vec(-100.0..100.0, 2..8),
            right in prop::collection::vec(-100.0..100.0, 2..8),
        ) {
            let test = welch(&left, &right).unwrap();
            let back = welch(&right, &left).unwrap();
            prop_assert!((test.t + back.t).abs() < 1e-9 && (test.p - back.p).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&test.p) && test.df >= 1.0 - 1e-9);
            prop_assert!(test.df <= (left.len() + right.len() - 2) as f64 + 1e-6);
            let scale = |values: &[f64]| values.iter().map(|value| value * 8.0).collect::<Vec<_>>();
            let scaled = welch(&scale(&left), &scale(&right)).unwrap();
            prop_assert!((test.p - scaled.p).abs() < 1e-9);
        }

        #[test]
        fn no_sample_gives_nan(
            left in prop::collection::vec(any::<f64>(), 0..5),
            right in prop::collection::vec(any::<f64>(), 0..5),
        ) {
            if let Some(test) = welch(&left, &right) {
                prop_assert!(test.t.is_finite() && test.df.is_finite() && (0.0..=1.0).contains(&test.p));
            }
        }
    }
}
