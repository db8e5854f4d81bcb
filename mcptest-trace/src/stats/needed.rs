//! How many runs a question needs.

use super::quantile::normal_upper_point;
use crate::number::ceil_to_u64;

/// The normal point of a power of 0.8.
pub(crate) const POWER_POINT: f64 = 0.841_621_2;

/// The least number of runs on each side with which a fall from all to none can reach `share`: the
/// smallest m with max πᵐ(1 − π)ᵐ = 4⁻ᵐ ≤ share. At least 1.
pub(crate) fn runs_for_share(share: f64) -> u32 {
    let reached = |runs: &u32| 0.25_f64.powi(i32::try_from(*runs).unwrap_or(i32::MAX)) <= share;
    (1..500).find(reached).unwrap_or(500)
}

/// The runs on each side that a drop of `drop` (a share, above 0) from the share `before` needs to be
/// noticed with probability 0.8 at the one-sided level `share`; `None` where there is no such drop.
pub(crate) fn runs_for_drop(before: f64, drop: f64, share: f64) -> Option<u64> {
    let now = before - drop;
    let possible = drop > 0.0 && before <= 1.0 && now >= -1e-12;
    if !(possible && share > 0.0 && share < 1.0) {
        return None;
    }
    let now = now.max(0.0);
    let spread = |p: f64| p * (1.0 - p);
    let middle = f64::midpoint(before, now);
    let root = normal_upper_point(share) * (2.0 * spread(middle)).sqrt()
        + POWER_POINT * (spread(before) + spread(now)).sqrt();
    ceil_to_u64(root * root / (drop * drop)).map(|runs| runs.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_numbers() {
        for (agents, runs) in [(3, 4), (10, 5), (30, 6), (100, 6), (1_000, 8)] {
            assert_eq!(runs_for_share(0.05 / f64::from(2 * agents)), runs);
        }
        for (before, drop, runs) in [
            (0.9, 0.1, 157),
            (0.9, 0.3, 25),
            (0.75, 0.1, 259),
            (1.0, 0.1, 58),
        ] {
            assert_eq!(
                runs_for_drop(before, drop, 0.05),
                Some(runs),
                "{before} {drop}"
            );
        }
    }

    #[test]
    fn a_drop_from_all_to_none_needs_a_run_at_least() {
        assert_eq!(runs_for_share(0.05), 3);
        assert_eq!(runs_for_drop(0.05, 0.1, 0.05), None);
        assert_eq!(runs_for_drop(1.0, 1.0, 0.4), Some(1));
        assert_eq!(runs_for_drop(0.5, 0.0, 0.05), None);
        assert_eq!(runs_for_share(0.0), 500);
        assert_eq!(runs_for_share(1.0), 1);
    }
}
