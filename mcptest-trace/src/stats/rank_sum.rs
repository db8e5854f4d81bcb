//! The exact rank sum (Wilcoxon, Mann and Whitney) with ties, one-sided, and its sum over agents.
//!
//! Tied values share the mean of their ranks; ranks are doubled, so that all is whole numbers. The law
//! of the sum is counted over all choices of that many ranks.

use super::law::{Law, MOST_WORK, Moments, Statistic};
use crate::number::{to_f64, to_u64};

/// Doubled rank sum of one sample among both, with its law when both come from one source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RankSum {
    seen: u64,
    law: Statistic,
}

impl RankSum {
    /// Ranks `sample` among itself and `others`; no value may be NaN.
    pub(crate) fn rank(sample: &[f64], others: &[f64]) -> Self {
        let mut values: Vec<(f64, bool)> = Vec::with_capacity(sample.len() + others.len());
        values.extend(sample.iter().map(|value| (*value, true)));
        values.extend(others.iter().map(|value| (*value, false)));
        values.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut doubled = Vec::with_capacity(values.len());
        let mut seen = 0;
        for tied in values.chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq()) {
            // Ranks first..=last have the mean (first + last) / 2.
            let first = doubled.len() + 1;
            let rank = to_u64(2 * first + tied.len() - 1);
            seen += rank * to_u64(tied.iter().filter(|(_, mine)| *mine).count());
            doubled.extend(tied.iter().map(|_| rank));
        }
        Self {
            seen,
            law: law(&doubled, sample.len()),
        }
    }

    /// P(rank sum ≥ what was seen): small when the sample is larger than the others.
    pub(crate) fn p_larger(&self) -> f64 {
        self.law.at_least(self.seen)
    }

    /// P(rank sum ≤ what was seen): small when the sample is smaller than the others.
    pub(crate) fn p_smaller(&self) -> f64 {
        self.law.at_most(self.seen)
    }

    /// The smallest p for a larger sample that these values can lead to; 0 of an approximation.
    pub(crate) fn smallest_p(&self) -> f64 {
        self.law.smallest()
    }

    /// Whether the law is exact, and not a normal approximation.
    pub(crate) fn is_exact(&self) -> bool {
        self.law.is_exact()
    }

    /// The sum over agents, each ranked within itself.
    pub(crate) fn sum<'a>(agents: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut seen, mut laws) = (0, Vec::new());
        for agent in agents {
            seen += agent.seen;
            laws.push(agent.law.clone());
        }
        Self {
            seen,
            law: Statistic::sum(&laws),
        }
    }
}

/// The law of the sum of `wanted` of these doubled ranks.
fn law(doubled: &[u64], wanted: usize) -> Statistic {
    let total: u64 = doubled.iter().sum();
    let fewer = wanted.min(doubled.len() - wanted);
    // The sum of the others is the total less this one: the smaller choice is counted.
    let largest: u64 = doubled.iter().rev().take(fewer).sum();
    let work = u128::from(largest) * (fewer as u128) * (doubled.len() as u128);
    if work > MOST_WORK {
        return Statistic::Normal(moments(doubled, wanted));
    }
    let places = usize::try_from(largest).unwrap_or(usize::MAX) + 1;
    // ways[k][s]: choices of k of the ranks so far with the sum s.
    let mut ways = vec![vec![0.0_f64; places]; fewer + 1];
    ways[0][0] = 1.0;
    for rank in doubled {
        let rank = usize::try_from(*rank).unwrap_or(usize::MAX);
        for k in (1..=fewer).rev() {
            let (smaller, larger) = ways.split_at_mut(k);
            let (from, to) = (&smaller[k - 1], &mut larger[0]);
            for (sum, add) in to.iter_mut().skip(rank).zip(from) {
                *sum += add;
            }
        }
    }
    let Some(mut counts) = ways.pop() else {
        return Statistic::Exact(Law::certain(0));
    };
    if fewer == wanted {
        return Statistic::Exact(Law::from_weights(0, &counts));
    }
    counts.reverse();
    Statistic::Exact(Law::from_weights(total - largest, &counts))
}

/// Mean and variance of the sum of `wanted` ranks drawn without replacement.
fn moments(doubled: &[u64], wanted: usize) -> Moments {
    let (all, wanted) = (to_f64(doubled.len()), to_f64(wanted));
    let mean = doubled.iter().map(|rank| to_f64(*rank)).sum::<f64>() / all;
    let squares: f64 = doubled
        .iter()
        .map(|rank| (to_f64(*rank) - mean).powi(2))
        .sum();
    let tied = doubled.iter().any(|rank| rank % 2 == 1)
        || doubled.windows(2).any(|pair| pair[0] == pair[1]);
    Moments {
        mean: wanted * mean,
        variance: wanted * (all - wanted) / (all * (all - 1.0)) * squares,
        step: if tied { 1 } else { 2 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_worked_samples() {
        let before = [1000.0, 1100.0, 1050.0, 1200.0];
        let now = [1500.0, 1300.0, 1250.0, 1600.0];
        let ranked = RankSum::rank(&now, &before);
        assert!((ranked.p_larger() / 0.014_285_714_285_714 - 1.0).abs() < 1e-12);
        assert!((ranked.p_smaller() - 1.0).abs() < 1e-15);
        assert!((ranked.smallest_p() - 1.0 / 70.0).abs() < 1e-12);
        let two = RankSum::sum([&ranked, &ranked]);
        assert!((two.p_larger() - 1.0 / 4900.0).abs() < 1e-15);
    }

    #[test]
    fn all_equal_and_empty_samples_are_no_evidence() {
        for (sample, others) in [
            (vec![5.0; 3], vec![5.0; 4]),
            (vec![], vec![1.0]),
            (vec![1.0], vec![]),
        ] {
            let ranked = RankSum::rank(&sample, &others);
            assert!(
                (ranked.p_larger() - 1.0).abs() < 1e-12 && (ranked.p_smaller() - 1.0).abs() < 1e-12
            );
        }
        assert!((RankSum::sum([]).p_larger() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn large_samples_are_approximated_near_the_exact_law() {
        let before: Vec<f64> = (0..40).map(f64::from).collect();
        let now: Vec<f64> = (0..40).map(|value| f64::from(value) + 7.5).collect();
        let exact = RankSum::rank(&now, &before);
        let mut doubled: Vec<u64> = (1..=80).map(|rank| 2 * rank).collect();
        let normal = Statistic::Normal(moments(&doubled, 40));
        assert!(exact.is_exact());
        assert!((normal.at_least(exact.seen) - exact.p_larger()).abs() < 2e-3);
        doubled = (1..=400).map(|rank| 2 * rank).collect();
        assert!(!law(&doubled, 200).is_exact());
    }

    /// By the definition: all choices, mid-ranks by counting.
    fn slow(sample: &[f64], others: &[f64]) -> f64 {
        let all: Vec<f64> = sample.iter().chain(others).copied().collect();
        let rank = |value: f64| {
            let below = all.iter().filter(|other| **other < value).count();
            let equal = all.iter().filter(|other| **other == value).count();
            2 * below + equal + 1
        };
        let sum_of = |mask: u32| -> usize {
            (0..all.len())
                .filter(|k| mask >> k & 1 == 1)
                .map(|k| rank(all[k]))
                .sum()
        };
        let seen = sum_of((1 << sample.len()) - 1);
        let choices =
            (0..1_u32 << all.len()).filter(|mask| mask.count_ones() as usize == sample.len());
        let (mut count, mut extreme) = (0.0, 0.0);
        for mask in choices {
            count += 1.0;
            extreme += if sum_of(mask) >= seen { 1.0 } else { 0.0 };
        }
        extreme / count
    }

    proptest! {
        #[test]
        fn the_law_counts_all_choices(
            sample in prop::collection::vec(0..6_u8, 0..6), others in prop::collection::vec(0..6_u8, 0..6),
        ) {
            let real = |values: &[u8]| values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (sample, others) = (real(&sample), real(&others));
            let ranked = RankSum::rank(&sample, &others);
            prop_assert!((ranked.p_larger() - slow(&sample, &others)).abs() < 1e-12);
            let back = RankSum::rank(&others, &sample);
            prop_assert!((ranked.p_larger() - back.p_smaller()).abs() < 1e-12);
        }
    }
}
