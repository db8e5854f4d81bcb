//! Boschloo's exact unconditional test of two shares, one-sided, with its power.
//!
//! The statistic of a table is Fisher's one-sided p, P(X ≤ passed now) with X hypergeometric given all
//! passes; p is the largest probability, over the unknown share of passes, of a table with a statistic
//! at least as small. It keeps its level, as Fisher's test does, and loses far less power at 3 to 10
//! runs (Lydersen, Fagerland and Laake 2009, *Recommended tests for association in 2 × 2 tables*).
//!
//! Fisher's p grows with the passes now and falls with the passes before, so the tables with a
//! statistic up to a bound are a staircase: one pass over the passes before, for each share π of
//! {0.001, …, 0.999}, sums them.

use crate::number::{log_factorials, to_f64};

/// Tables whose statistics differ by no more than this factor are equally extreme.
const EQUAL: f64 = 1.0 + 1e-9;

/// Boschloo's test for fewer passes now than before, each as (passed, runs).
#[cfg(test)]
pub(super) fn boschloo(before: (usize, usize), now: (usize, usize)) -> f64 {
    Tables::new(before.1, now.1).p_worse(before.0.min(before.1), now.0.min(now.1))
}

/// Every table of so many runs before and now, with its statistic.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    before: usize,
    now: usize,
    /// Row = passes before, column = passes now.
    statistics: Vec<f64>,
    /// ln C(n, k) of both sides.
    ways_before: Vec<f64>,
    ways_now: Vec<f64>,
    /// For each π of the grid: the law of the passes before, and the cumulated one of the passes now.
    grid: Vec<(Vec<f64>, Vec<f64>)>,
}

/// Tables with a statistic up to a bound: for each number of passes before, how many numbers of
/// passes now, from 0 on, belong to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    widths: Vec<usize>,
}

impl Tables {
    /// All tables of `before` and `now` runs.
    pub(crate) fn new(before: usize, now: usize) -> Self {
        let logs = log_factorials(before + now);
        let ways =
            |n: usize| -> Vec<f64> { (0..=n).map(|k| logs[n] - logs[k] - logs[n - k]).collect() };
        let (ways_before, ways_now) = (ways(before), ways(now));
        let all = before + now;
        let mut statistics = vec![1.0; (before + 1) * (now + 1)];
        for passes in 0..=all {
            // P(X = x) for so many passes in all, cumulated from the least x.
            let least = passes.saturating_sub(before);
            let most = passes.min(now);
            let total = logs[all] - logs[passes] - logs[all - passes];
            let mut sum = 0.0;
            for x in least..most {
                sum += (ways_now[x] + ways_before[passes - x] - total).exp();
                statistics[(passes - x) * (now + 1) + x] = sum.min(1.0);
            }
        }
        let shares = (1..1000_u32).map(|thousandths| f64::from(thousandths) / 1000.0);
        let grid = shares.map(|share| {
            let column = cumulative(binomial(&ways_now, share));
            (binomial(&ways_before, share), column)
        });
        Self {
            before,
            now,
            statistics,
            grid: grid.collect(),
            ways_before,
            ways_now,
        }
    }

    fn statistic(&self, before: usize, now: usize) -> f64 {
        self.statistics[before * (self.now + 1) + now]
    }

    /// p for fewer passes now than before. Passes are at most the runs.
    pub(crate) fn p_worse(&self, before: usize, now: usize) -> f64 {
        let statistic = self.statistic(before, now);
        if statistic >= 1.0 {
            return 1.0;
        }
        self.size(&self.region(statistic))
    }

    /// p for more passes now than before: the same with passes and failures swapped.
    pub(crate) fn p_better(&self, before: usize, now: usize) -> f64 {
        self.p_worse(self.before - before, self.now - now)
    }

    /// The smallest p that so many passes before can lead to: none passes now.
    pub(crate) fn smallest_p(&self, before: usize) -> f64 {
        self.p_worse(before, 0)
    }

    fn region(&self, bound: f64) -> Region {
        let mut width = 0;
        let widths = (0..=self.before).map(|before| {
            while width <= self.now && self.statistic(before, width) <= bound * EQUAL {
                width += 1;
            }
            width
        });
        Region {
            widths: widths.collect(),
        }
    }

    /// The largest probability of a region when both shares are equal.
    fn size(&self, region: &Region) -> f64 {
        let sizes = self
            .grid
            .iter()
            .map(|(row, column)| region.probability_mass(row, column));
        sizes.fold(0.0, f64::max).min(1.0)
    }

    /// The largest region {statistic ≤ c} whose size is at most `level`; `None` when there is none.
    pub(crate) fn critical_region(&self, level: f64) -> Option<Region> {
        let mut bounds = self.statistics.clone();
        bounds.sort_by(f64::total_cmp);
        bounds.dedup_by(|next, kept| *next <= *kept * EQUAL);
        // The size grows with the bound.
        let fits = |bound: &f64| *bound < 1.0 && self.size(&self.region(*bound)) <= level;
        let fitting = bounds.partition_point(fits);
        fitting.checked_sub(1).map(|last| self.region(bounds[last]))
    }

    /// The probability of a region under these shares of passes.
    pub(crate) fn probability(&self, region: &Region, before: f64, now: f64) -> f64 {
        let column = cumulative(binomial(&self.ways_now, now));
        region.probability_mass(&binomial(&self.ways_before, before), &column)
    }

    /// The smallest drop, in whole points, that is noticed with probability 0.8 when the share of
    /// passes before is what it was; for the critical region of a level. `None` when no drop is.
    pub(crate) fn noticeable_drop(&self, region: &Region, passed_before: usize) -> Option<u32> {
        let before = to_f64(passed_before) / to_f64(self.before.max(1));
        let drops = (1..=100_u32).take_while(|drop| f64::from(*drop) <= before * 100.0 + 1e-9);
        drops.into_iter().find(|drop| {
            let now = (before - f64::from(*drop) / 100.0).max(0.0);
            self.probability(region, before, now) >= POWER
        })
    }
}

impl Region {
    /// The probability of the region, from the law of the passes before and the cumulative one of the passes now.
    fn probability_mass(&self, row: &[f64], column: &[f64]) -> f64 {
        let parts = row.iter().zip(&self.widths);
        let parts =
            parts.filter_map(|(passes, width)| Some(passes * column[width.checked_sub(1)?]));
        parts.sum()
    }
}

/// P(X ≤ k) from P(X = k).
fn cumulative(mut law: Vec<f64>) -> Vec<f64> {
    let mut sum = 0.0;
    for probability in &mut law {
        sum += *probability;
        *probability = sum;
    }
    law
}

/// The probability with which a drop is to be noticed.
const POWER: f64 = 0.8;

/// P(k of n) for k = 0..=n, where `ways` are the logarithms of C(n, k).
fn binomial(ways: &[f64], share: f64) -> Vec<f64> {
    let n = ways.len() - 1;
    let mut law = vec![0.0; n + 1];
    if share <= 0.0 {
        law[0] = 1.0;
    } else if share >= 1.0 {
        law[n] = 1.0;
    } else {
        let (pass, fail) = (share.ln(), (1.0 - share).ln());
        for (k, (probability, ways)) in law.iter_mut().zip(ways).enumerate() {
            *probability = (ways + to_f64(k) * pass + to_f64(n - k) * fail).exp();
        }
    }
    law
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_tables() {
        for (before, now, by_fisher, by_boschloo) in [
            ((4, 4), (0, 4), 0.014_285_7, 0.003_906_25),
            ((4, 4), (1, 4), 0.071_428_6, 0.035_156_2),
            ((3, 3), (0, 3), 0.05, 0.015_625),
            ((5, 5), (1, 5), 0.023_809_5, 0.010_742_2),
            ((10, 10), (6, 10), 0.043_343_7, 0.021_095_3),
            ((10, 10), (5, 10), 0.016_253_9, 0.006_389_62),
            ((18, 20), (11, 20), 0.015_475_2, 0.008_357_34),
            ((9, 10), (7, 12), 0.118_532, 0.075_025_2),
            ((6, 6), (1, 6), 0.007_575_76, 0.003_173_83),
            ((5, 6), (5, 6), 0.772_727, 0.613_291),
            ((6, 6), (4, 6), 0.227_273, 0.098_509_6),
        ] {
            // Six digits are given.
            let near = |found: f64, given: f64| (found / given - 1.0).abs() < 5e-6;
            let tables = Tables::new(before.1, now.1);
            let fisher = tables.statistic(before.0, now.0);
            assert!(near(fisher, by_fisher), "{before:?} {now:?}: {fisher}");
            let p = boschloo(before, now);
            assert!(near(p, by_boschloo), "{before:?} {now:?}: {p}");
        }
        assert!((boschloo((4, 4), (1, 4)) - 0.035_156_25).abs() < 1e-12);
        assert!((Tables::new(6, 6).p_better(0, 6) - 0.000_244_140_625).abs() < 1e-12);
    }

    #[test]
    fn the_drops_that_are_noticed() {
        for (runs, passed, level, drop) in [
            (4, 4, 0.05, Some(79)),
            (5, 5, 0.05, Some(68)),
            (10, 9, 0.05, Some(51)),
            (20, 18, 0.05, Some(35)),
            (6, 6, 0.006_25, Some(87)),
            (6, 5, 0.006_25, None),
            (6, 0, 0.006_25, None),
            (2, 1, 0.05, None),
            (0, 0, 0.05, None),
        ] {
            let tables = Tables::new(runs, runs);
            let region = tables.critical_region(level);
            let found = region.and_then(|region| tables.noticeable_drop(&region, passed));
            assert_eq!(found, drop, "{runs} {passed}");
        }
    }

    #[test]
    fn nothing_to_compare_is_no_evidence() {
        for (before, now) in [((0, 0), (0, 3)), ((0, 3), (0, 0)), ((0, 0), (0, 0))] {
            assert!((boschloo(before, now) - 1.0).abs() < 1e-15);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_region_is_the_set_that_the_definition_names(
            before in 0..9_usize, now in 0..9_usize, seen in 0.0..1.0_f64, passed in 0.0..1.0_f64,
        ) {
            let tables = Tables::new(before, now);
            let pick = |share: f64, most: usize| (share * (most as f64 + 1.0)) as usize;
            let statistic = tables.statistic(pick(seen, before), pick(passed, now));
            let region = tables.region(statistic);
            for i in 0..=before {
                for j in 0..=now {
                    let inside = tables.statistic(i, j) <= statistic * EQUAL;
                    prop_assert_eq!(j < region.widths[i], inside);
                }
            }
        }

        #[test]
        fn never_less_powerful_than_fisher_and_keeps_its_level(
            before in 1..9_usize, now in 1..9_usize, passed in 0..9_usize, kept in 0..9_usize,
        ) {
            let tables = Tables::new(before, now);
            let (passed, kept) = (passed.min(before), kept.min(now));
            let p = tables.p_worse(passed, kept);
            prop_assert!(p <= tables.statistic(passed, kept) * EQUAL);
            prop_assert!(p > 0.0 && p <= 1.0);
            if kept < now {
                prop_assert!(p <= tables.p_worse(passed, kept + 1) * EQUAL);
            }
            let level = 0.05;
            if let Some(region) = tables.critical_region(level) {
                prop_assert!(tables.size(&region) <= level);
                // Every table of the region is significant, and no other.
                for i in 0..=before {
                    for j in 0..=now {
                        prop_assert_eq!(j < region.widths[i], tables.p_worse(i, j) <= level);
                    }
                }
            }
        }
    }
}
