//! The interval of a ratio between two small samples (Moses), exact at any number of runs.
//!
//! All ratios candidate / baseline, sorted: their median estimates the shift, and the k-th smallest and
//! k-th largest bound it, where k is the largest with P(U ≤ k − 1) ≤ 0.025 for Mann and Whitney's U
//! (no ties assumed). Too few runs have no such k; a bootstrap would give an interval all the same, and
//! a false one.

use serde::Serialize;

use super::law::MOST_WORK;
use super::quantile::{normal_95, normal_upper};
use crate::number::{ceil_to_u64, to_f64};

/// A shift between two samples as a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Shift {
    /// The median of all ratios.
    pub ratio: f64,
    /// The interval, where the runs are enough for one of 95%.
    pub interval: Option<ShiftInterval>,
}

/// The interval of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ShiftInterval {
    /// The k-th smallest ratio.
    pub low: f64,
    /// The k-th largest ratio.
    pub high: f64,
    /// The confidence that is attained: 0.95 or more.
    pub confidence: f64,
}

/// The shift from `baseline` to `candidate`. `None` when a sample is empty or a value is not above 0.
pub(crate) fn shift(baseline: &[f64], candidate: &[f64]) -> Option<Shift> {
    let above = |value: &f64| value.is_finite() && *value > 0.0;
    if !baseline.iter().chain(candidate).all(above) {
        return None;
    }
    let mut ratios: Vec<f64> = candidate
        .iter()
        .flat_map(|now| baseline.iter().map(move |before| now / before))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let upper = *ratios.get(ratios.len() / 2)?;
    let ratio = if ratios.len().is_multiple_of(2) {
        f64::midpoint(ratios[ratios.len() / 2 - 1], upper)
    } else {
        upper
    };
    let interval = bound(baseline.len(), candidate.len()).map(|(k, confidence)| ShiftInterval {
        low: ratios[k - 1],
        high: ratios[ratios.len() - k],
        confidence,
    });
    Some(Shift { ratio, interval })
}

/// The largest k with P(U ≤ k − 1) ≤ 0.025, and 1 − 2 P(U ≤ k − 1).
fn bound(baseline: usize, candidate: usize) -> Option<(usize, f64)> {
    if baseline == 0 || candidate == 0 {
        return None;
    }
    if baseline as u128 * candidate as u128 * baseline.min(candidate) as u128 > MOST_WORK {
        return approximate_bound(to_f64(baseline), to_f64(candidate));
    }
    let law = mann_whitney(baseline.min(candidate), baseline.max(candidate));
    let mut tail = 0.0;
    let mut found = None;
    for (index, probability) in law.iter().enumerate() {
        tail += probability;
        if tail > 0.025 + 1e-12 {
            break;
        }
        found = Some((index + 1, 1.0 - 2.0 * tail));
    }
    found
}

/// k and its confidence by the normal approximation of U, with half a step of continuity.
fn approximate_bound(m: f64, n: f64) -> Option<(usize, f64)> {
    let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
    let below = m * n / 2.0 - normal_95() * deviation;
    // P(U ≤ k − 1) = Φ((k − ½ − mn/2) / s).
    let k = usize::try_from(ceil_to_u64(below + 0.5)?.checked_sub(1)?).ok()?;
    let tail = normal_upper((m * n / 2.0 + 0.5 - to_f64(k)) / deviation);
    (k > 0).then_some((k, 1.0 - 2.0 * tail))
}

/// P(U = u), u = 0, 1, …, of two samples without ties: the coefficients of the Gaussian binomial.
fn mann_whitney(m: usize, n: usize) -> Vec<f64> {
    let places = m * n + 1;
    let mut law = vec![0.0; places];
    law[0] = 1.0;
    // Multiply by (1 − q^(n+i)) / (1 − q^i) · i / (n + i) for i = 1..=m: probabilities throughout.
    for i in 1..=m {
        for u in (n + i..places).rev() {
            law[u] -= law[u - n - i];
        }
        for u in i..places {
            law[u] += law[u - i];
        }
        let scale = to_f64(i) / to_f64(n + i);
        for probability in &mut law {
            *probability *= scale;
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_samples() {
        let found = shift(
            &[1000.0, 1100.0, 1050.0, 1200.0],
            &[1500.0, 1300.0, 1250.0, 1600.0],
        )
        .unwrap();
        let interval = found.interval.unwrap();
        assert!((found.ratio - 1.275).abs() < 1e-12);
        assert!(
            (interval.low - 1.041_666_666_7).abs() < 1e-9 && (interval.high - 1.6).abs() < 1e-12
        );
        assert!((interval.confidence - 0.971_428_571_4).abs() < 1e-9);
    }

    #[test]
    fn six_runs_a_side_attain_what_the_table_says() {
        let (k, confidence) = bound(6, 6).unwrap();
        assert_eq!(k, 6);
        assert!((confidence - 0.958_874).abs() < 1e-6);
        assert_eq!(bound(3, 3), None);
        assert_eq!(bound(1, 39), Some((1, 0.95)));
        assert_eq!(bound(0, 4), None);
    }

    #[test]
    fn the_approximation_of_many_runs_is_near_the_exact_bound() {
        let (exact, attained) = bound(60, 80).unwrap();
        let (near, confidence) = approximate_bound(60.0, 80.0).unwrap();
        assert!(exact.abs_diff(near) <= 2, "{exact} {near}");
        assert!(attained >= 0.95 && (confidence - attained).abs() < 2e-3);
        assert!(bound(2_000, 2_000).unwrap().1 > 0.9499);
        let law = mann_whitney(60, 80);
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_ratio_is_none() {
        assert_eq!(shift(&[], &[1.0]), None);
        assert_eq!(shift(&[1.0], &[]), None);
        assert_eq!(shift(&[0.0], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn the_law_is_symmetric_and_whole(m in 1..12_usize, n in 1..12_usize) {
            let law = mann_whitney(m, n);
            prop_assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (low, high) in law.iter().zip(law.iter().rev()) {
                prop_assert!((low - high).abs() < 1e-9);
            }
        }

        #[test]
        fn the_interval_holds_its_estimate(
            before in prop::collection::vec(1.0..100.0, 1..8), now in prop::collection::vec(1.0..100.0, 1..8),
        ) {
            let found = shift(&before, &now).unwrap();
            if let Some(interval) = found.interval {
                prop_assert!(interval.low <= found.ratio && found.ratio <= interval.high);
                prop_assert!(interval.confidence >= 0.95 - 1e-12);
            }
        }
    }
}
