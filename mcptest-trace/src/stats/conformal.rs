//! The threshold that a stated share of future passing runs will meet.
//!
//! n passed runs, a share s: k = ⌊(n + 1)(1 − s)⌋, and the threshold is the k-th worst goodness; a run
//! equal to it passes. A new passing run of the same agents then passes with probability at least
//! 1 − k / (n + 1) (conformal prediction: Vovk, Gammerman and Shafer 2005); with 95% confidence at
//! least Beta⁻¹(0.05; n − k + 1, k) of passing runs pass (Wilks 1941). A promise on average, and a
//! promise with confidence.
//!
//! For agents that are not among these, runs of one agent are not independent: with G agents that have
//! a passing run, each of its n runs weighs 1 / ((G + 1) n) and the agent to come 1 / (G + 1)
//! (hierarchical conformal prediction: Lee, Barber and Willett 2023).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::quantile::beta_point;
use crate::number::to_f64;

/// The share of passing runs that a threshold shall keep: a percentage, in whole numbers throughout.
///
/// ```
/// use mcptest_trace::stats::conformal::Share;
///
/// let share = Share::percent(95).unwrap();
/// assert_eq!((share.allowed(18), share.allowed(19), share.allowed(59)), (0, 1, 3));
/// assert_eq!(share.runs_needed(), Some(19));
/// assert_eq!(Share::percent(90).unwrap().allowed(9), 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    percent: u32,
    runs: u32,
}

impl Share {
    /// This percentage of runs; `None` unless it is 1 to 100.
    #[must_use]
    pub fn percent(percent: u32) -> Option<Self> {
        (1..=100)
            .contains(&percent)
            .then_some(Self { percent, runs: 1 })
    }

    /// This percentage of cases that judge so many runs each: 1 − (1 − s) / r of the runs.
    #[must_use]
    pub fn for_cases(self, runs: u32) -> Self {
        Self {
            runs: runs.max(1),
            ..self
        }
    }

    /// The share that may be missed, as a fraction.
    fn missed(self) -> (u64, u64) {
        (u64::from(100 - self.percent), 100 * u64::from(self.runs))
    }

    /// k = ⌊(n + 1)(1 − s)⌋ of n runs.
    #[must_use]
    pub fn allowed(self, runs: usize) -> usize {
        let (missed, of) = self.missed();
        let allowed = (runs as u128 + 1) * u128::from(missed) / u128::from(of);
        usize::try_from(allowed).unwrap_or(usize::MAX)
    }

    /// The fewest runs, or agents, that can promise this share: s / (1 − s), rounded up. `None` for
    /// all: no number can.
    #[must_use]
    pub fn runs_needed(self) -> Option<u64> {
        let (missed, of) = self.missed();
        (missed > 0).then(|| of.div_ceil(missed) - 1)
    }

    /// The share of runs, 0 to 1.
    #[must_use]
    pub fn value(self) -> f64 {
        let (missed, of) = self.missed();
        1.0 - crate::number::to_f64(missed) / crate::number::to_f64(of)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.runs {
            1 => write!(f, "{}% of passing runs", self.percent),
            runs => write!(f, "{}% of cases of {runs} runs", self.percent),
        }
    }
}

/// The goodness of passing runs, by agent; larger is better.
#[derive(Debug, Clone)]
pub(crate) struct Passing {
    /// From the worst to the best, each with its agent.
    runs: Vec<(f64, usize)>,
    /// How many runs each agent has.
    counts: Vec<usize>,
    /// What an agent weighs, so that the weight of each run is whole.
    unit: u128,
}

impl Passing {
    /// The passing runs of these agents.
    pub(crate) fn new(agents: &[Vec<f64>]) -> Self {
        let each = agents.iter().enumerate();
        let mut runs: Vec<(f64, usize)> = each
            .flat_map(|(agent, runs)| runs.iter().map(move |goodness| (*goodness, agent)))
            .collect();
        runs.sort_by(|left, right| left.0.total_cmp(&right.0));
        let counts: Vec<usize> = agents.iter().map(Vec::len).collect();
        let unit = unit(&counts);
        Self { runs, counts, unit }
    }

    /// The runs, without those of an agent.
    fn count_without(&self, agent: Option<usize>) -> usize {
        self.runs.len() - agent.map_or(0, |agent| self.counts[agent])
    }

    /// The k-th worst goodness, or the worst one where k is 0; `None` of no run. The runs of an agent
    /// may be left out.
    pub(crate) fn threshold(&self, share: Share, left_out: Option<usize>) -> Option<f64> {
        let k = share.allowed(self.count_without(left_out)).max(1);
        let others = self
            .runs
            .iter()
            .filter(|(_, agent)| Some(*agent) != left_out);
        others.map(|(goodness, _)| *goodness).nth(k - 1)
    }

    /// The threshold for agents that are not among these: the best such that what is strictly worse
    /// and the agent to come weigh 1 − s at most. `None` when there are too few agents. The runs of
    /// an agent may be left out.
    pub(crate) fn threshold_for_new_agents(
        &self,
        share: Share,
        left_out: Option<usize>,
    ) -> Option<f64> {
        let with_runs = self.counts.iter().enumerate();
        let agents = with_runs.filter(|(agent, runs)| **runs > 0 && Some(*agent) != left_out);
        let (missed, of) = share.missed();
        // of · (Σ weights strictly worse + the agent to come) ≤ missed · (G + 1).
        let all = (agents.count() as u128 + 1) * self.unit;
        let bound = u128::from(missed) * all / u128::from(of);
        let mut weight = self.unit;
        let mut best = None;
        let equals = self
            .runs
            .chunk_by(|left, right| left.0.total_cmp(&right.0).is_eq());
        for equal in equals {
            if weight > bound {
                break;
            }
            let others = equal.iter().filter(|(_, agent)| Some(*agent) != left_out);
            let added = others.map(|(_, agent)| self.unit.div_ceil(self.counts[*agent] as u128));
            let added: u128 = added.sum();
            if added > 0 {
                best = Some(equal[0].0);
            }
            weight += added;
        }
        best
    }
}

/// 1 − k / (n + 1): the probability with which a new passing run meets the k-th worst of n at least.
pub(crate) fn promised_probability(runs: usize, k: usize) -> f64 {
    1.0 - to_f64(k.max(1)) / to_f64(runs + 1)
}

/// The share of passing runs that meets the k-th worst of n with 95% confidence; `None` of no run.
pub(crate) fn confident_share(runs: usize, k: usize) -> Option<f64> {
    let k = k.max(1);
    (runs >= k).then(|| beta_point(0.05, to_f64(runs - k + 1), to_f64(k)))
}

/// What an agent weighs, so that the weight of each run is whole; where that is too large, weights
/// are rounded up, to the safe side.
fn unit(counts: &[usize]) -> u128 {
    const LARGEST: u128 = 1_000_000_000_000_000_000;
    let gcd = |mut a: u128, mut b: u128| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let counts = counts.iter().filter(|count| **count > 0);
    counts.fold(1, |unit, count| {
        let count = *count as u128;
        (unit / gcd(unit, count) * count).min(LARGEST)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn threshold(goodness: &[f64], share: Share) -> Option<f64> {
        Passing::new(&[goodness.to_vec()]).threshold(share, None)
    }

    fn threshold_for_new_agents(agents: &[Vec<f64>], share: Share) -> Option<f64> {
        Passing::new(agents).threshold_for_new_agents(share, None)
    }

    fn share(percent: u32) -> Share {
        Share::percent(percent).unwrap()
    }

    #[test]
    fn a_new_agent_needs_as_many_agents_as_a_run_needs_runs() {
        let agents: Vec<Vec<f64>> = (1..=20).map(|value| vec![f64::from(value)]).collect();
        let of = |agents: &[Vec<f64>]| threshold_for_new_agents(agents, share(95));
        assert_eq!((of(&agents), of(&agents[..18])), (Some(1.0), None));
        assert!((confident_share(59, 1).unwrap() - 0.950_492).abs() < 1e-6);
    }

    #[test]
    fn the_worked_numbers() {
        for (runs, k, kept) in [
            (18, 0, 0.947_368),
            (19, 1, 0.95),
            (38, 1, 0.974_359),
            (39, 2, 0.95),
            (59, 3, 0.95),
            (93, 4, 0.957_447),
        ] {
            assert_eq!(share(95).allowed(runs), k);
            assert!(
                (promised_probability(runs, k) - kept).abs() < 1e-6,
                "{runs}"
            );
        }
        for (runs, k, kept) in [(19, 1, 0.854_131), (36, 1, 0.920_153), (93, 2, 0.950_006)] {
            assert!(
                (confident_share(runs, k).unwrap() - kept).abs() < 1e-6,
                "{runs}"
            );
        }
        assert_eq!(confident_share(0, 0), None);
        assert!((promised_probability(11, 0) - 0.916_667).abs() < 1e-6);
        assert_eq!(share(100).runs_needed(), None);
        assert_eq!(share(90).runs_needed(), Some(9));
        assert_eq!(share(80).runs_needed(), Some(4));
        // Of four runs a case, 98.75% of the runs.
        assert!((share(95).for_cases(4).value() - 0.9875).abs() < 1e-12);
        assert_eq!(share(95).for_cases(4).runs_needed(), Some(79));
        assert_eq!((Share::percent(0), Share::percent(101)), (None, None));
    }

    #[test]
    fn every_percentage_is_exact_in_whole_numbers() {
        for percent in 1..=100 {
            for runs in 0..500_u32 {
                let k = u32::try_from(share(percent).allowed(runs as usize)).unwrap();
                assert!(k * 100 <= (runs + 1) * (100 - percent));
                assert!((k + 1) * 100 > (runs + 1) * (100 - percent));
            }
        }
    }

    #[test]
    fn nothing_has_no_threshold() {
        assert_eq!(threshold(&[], share(95)), None);
        assert_eq!(threshold(&[3.0, 1.0, 2.0], share(95)), Some(1.0));
        assert_eq!(threshold_for_new_agents(&[], share(95)), None);
        assert_eq!(
            threshold_for_new_agents(&[vec![], vec![1.0]], share(50)),
            Some(1.0)
        );
    }

    proptest! {
        #[test]
        fn fewer_than_k_runs_are_strictly_worse(
            goodness in prop::collection::vec(-5..5_i8, 1..60), percent in 1..=100_u32,
        ) {
            let goodness: Vec<f64> = goodness.into_iter().map(f64::from).collect();
            let at = threshold(&goodness, share(percent)).unwrap();
            let worse = goodness.iter().filter(|value| **value < at).count();
            prop_assert!(worse < share(percent).allowed(goodness.len()).max(1));
        }

        #[test]
        fn with_one_run_an_agent_new_agents_are_new_runs(
            goodness in prop::collection::vec(-50..50_i8, 1..60), percent in 1..=99_u32,
        ) {
            let goodness: Vec<f64> = goodness.into_iter().map(f64::from).collect();
            let agents: Vec<Vec<f64>> = goodness.iter().map(|value| vec![*value]).collect();
            let share = share(percent);
            let expected = threshold(&goodness, share).filter(|_| share.allowed(goodness.len()) > 0);
            let found = threshold_for_new_agents(&agents, share);
            // Ties may allow a better one than the k-th worst, never a worse one.
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                prop_assert!(found >= expected);
                let worse = goodness.iter().filter(|value| **value < found).count();
                prop_assert!(worse < share.allowed(goodness.len()));
            }
        }

        #[test]
        fn leaving_an_agent_out_is_not_having_it(
            agents in prop::collection::vec(prop::collection::vec(0..6_u8, 0..5), 1..30), percent in 1..=99_u32,
        ) {
            let agents: Vec<Vec<f64>> = agents
                .into_iter()
                .map(|runs| runs.into_iter().map(f64::from).collect())
                .collect();
            let (all, share) = (Passing::new(&agents), share(percent));
            for left_out in 0..agents.len() {
                let mut others = agents.clone();
                others.remove(left_out);
                let without = Some(left_out);
                prop_assert_eq!(all.threshold(share, without), threshold(&others.concat(), share));
                let found = all.threshold_for_new_agents(share, without);
                prop_assert_eq!(found, threshold_for_new_agents(&others, share));
            }
        }

        #[test]
        fn weights_are_those_of_the_definition(
            agents in prop::collection::vec(prop::collection::vec(0..6_u8, 1..5), 1..30), percent in 1..=99_u32,
        ) {
            let agents: Vec<Vec<f64>> = agents
                .into_iter()
                .map(|runs| runs.into_iter().map(f64::from).collect())
                .collect();
            let count = agents.len() as f64;
            let weight = |at: f64| {
                let worse = agents.iter().map(|runs| {
                    runs.iter().filter(|value| **value < at).count() as f64 / runs.len() as f64
                });
                (worse.sum::<f64>() + 1.0) / (count + 1.0)
            };
            let all = agents.iter().flatten().copied();
            let missed = f64::from(100 - percent) / 100.0;
            let fitting = all.filter(|at| weight(*at) <= missed + 1e-12);
            let expected = fitting.fold(None, |best: Option<f64>, at| Some(best.map_or(at, |b| b.max(at))));
            prop_assert_eq!(threshold_for_new_agents(&agents, share(percent)), expected);
        }
    }
}
