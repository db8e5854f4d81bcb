//! The exact stratified test of a whole suite's passes (Birch; Cochran, Mantel and Haenszel).
//!
//! T = the passes now, over all agents. When no agent changed, each agent's share of T is
//! hypergeometric given its own passes, and the agents are independent: the law of T is their
//! convolution. With one run on each side this is `McNemar`'s exact test; with equal numbers of runs it
//! is the permutation test, within agents, of the mean difference. Agents are never pooled as if
//! their runs were one sample.

use super::law::{Law, Statistic};
use super::needed::POWER_POINT;
use super::quantile::{normal_upper_point, student_95};
use crate::number::{ceil_to_u64, log_factorials, mean, share, to_f64, to_u64};

/// Passes and runs of one agent on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passes {
    /// Passed and all runs before.
    pub(crate) before: (usize, usize),
    /// Passed and all runs now.
    pub(crate) now: (usize, usize),
}

impl Passes {
    /// The change of the share of passes, −1 to 1.
    pub(crate) fn difference(&self) -> f64 {
        let share = |(passed, runs)| share(passed, runs).unwrap_or(0.0);
        share(self.now) - share(self.before)
    }

    fn runs(&self) -> usize {
        self.before.1 + self.now.1
    }

    /// The law of the passes now, given all passes.
    fn law(&self) -> Law {
        let (before, now) = (self.before.1, self.now.1);
        let passes = self.before.0 + self.now.0;
        let logs = log_factorials(self.runs());
        let ways = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
        let (least, most) = (passes.saturating_sub(before), passes.min(now));
        let total = ways(self.runs(), passes);
        let weights: Vec<f64> = (least..=most)
            .map(|x| (ways(now, x) + ways(before, passes - x) - total).exp())
            .collect();
        Law::from_weights(to_u64(least), &weights)
    }
}

/// The suite's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stratified {
    /// P(T ≤ what was seen): small when fewer pass now.
    pub(crate) worse: f64,
    /// P(T ≥ what was seen): small when more pass now.
    pub(crate) better: f64,
    /// `worse` if no run passed now: Π C(n before, passed before) / C(all runs, passed before).
    pub(crate) smallest: f64,
    /// Whether the law is exact, and not a normal approximation.
    pub(crate) exact: bool,
}

/// Tests a suite, agent by agent.
pub(crate) fn stratified(agents: &[Passes]) -> Stratified {
    let laws: Vec<_> = agents
        .iter()
        .map(|agent| Statistic::Exact(agent.law()))
        .collect();
    let law = Statistic::sum(&laws);
    let seen = to_u64(agents.iter().map(|agent| agent.now.0).sum());
    Stratified {
        worse: law.at_most(seen),
        better: law.at_least(seen),
        smallest: smallest_p(agents),
        exact: law.is_exact(),
    }
}

fn smallest_p(agents: &[Passes]) -> f64 {
    let log: f64 = agents
        .iter()
        .map(|agent| {
            // C(n, x) / C(N, x) = Π (n − i) / (N − i) for i below x.
            let (passed, runs) = agent.before;
            let all = agent.runs();
            let factor = |i: usize| (to_f64(runs - i) / to_f64(all - i)).ln();
            (0..passed).map(factor).sum::<f64>()
        })
        .sum();
    log.exp()
}

/// A mean over agents with its interval for agents like these.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// Both ends of the 95% interval; `None` of fewer than two agents.
    pub interval: Option<(f64, f64)>,
}

/// An interval over agents needs so many of them.
pub(crate) const LEAST_FOR_INTERVAL: usize = 3;

/// Mean ± t₀.₉₇₅ · s / √A of one value an agent: paired differences, agents as clusters (Miller 2024,
/// *Adding Error Bars to Evals*). `None` of no value. Two agents are too few for an interval: with one degree of
/// freedom t is 12.7, and the interval says nothing.
///
/// ```
/// use mcptest_trace::stats::mean_interval;
///
/// let found = mean_interval(&[1.0, 2.0, 3.0]).unwrap();
/// let (low, high) = found.interval.unwrap();
/// assert_eq!(format!("{} [{low:.4}, {high:.4}]", found.mean), "2 [-0.4841, 4.4841]");
/// ```
#[must_use]
pub fn mean_interval(values: &[f64]) -> Option<MeanInterval> {
    let count = to_f64(values.len());
    let mean = mean(values.iter().copied())?;
    let interval = student_95(count - 1.0).filter(|_| values.len() >= LEAST_FOR_INTERVAL);
    let interval = interval.map(|t| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let half = t * (squares / (count * (count - 1.0))).sqrt();
        (mean - half, mean + half)
    });
    Some(MeanInterval { mean, interval })
}

/// The drop of the mean share of passes, 0 to 1 or more, that the suite's test notices with
/// probability 0.8 at the one-sided level `share`; `None` where no agent has runs on both sides.
pub(crate) fn noticeable_mean_drop(agents: &[Passes], share: f64) -> Option<f64> {
    let (mut variance, mut weight) = (0.0, 0.0);
    for agent in agents.iter().filter(|agent| agent.runs() > 1) {
        let all = to_f64(agent.runs());
        let product = to_f64(agent.before.1) * to_f64(agent.now.1);
        let q = (to_f64(agent.before.0 + agent.now.0) + 0.5) / (all + 1.0);
        variance += product * q * (1.0 - q) / (all - 1.0);
        weight += product / all;
    }
    (weight > 0.0).then(|| (normal_upper_point(share) + POWER_POINT) * variance.sqrt() / weight)
}

/// About how many runs a side and agent a drop of `margin` needs, from the drop that these agents'
/// runs would have noticed: it falls with the root of the runs.
pub(crate) fn runs_for_mean_drop(agents: &[Passes], noticed: f64, margin: f64) -> Option<u64> {
    let sides = to_f64(2 * agents.len());
    let runs = to_f64(agents.iter().map(Passes::runs).sum::<usize>()) / sides;
    let factor = noticed / margin;
    ceil_to_u64(runs * factor * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agent(before: usize, now: usize, runs: usize) -> Passes {
        Passes {
            before: (before, runs),
            now: (now, runs),
        }
    }

    #[test]
    fn the_worked_suites() {
        let six = [agent(4, 3, 4); 6];
        assert!((stratified(&six).worse / 0.015_625 - 1.0).abs() < 1e-12);
        let mut ten = vec![agent(4, 1, 4); 3];
        ten.extend([agent(4, 4, 4); 7]);
        assert!((stratified(&ten).worse / 0.000_364_431 - 1.0).abs() < 2e-6);
        // McNemar: 7 lost, 1 won, and what did not change says nothing.
        let mut pairs = vec![agent(1, 0, 1); 7];
        pairs.push(agent(0, 1, 1));
        pairs.extend([agent(1, 1, 1); 5]);
        assert!((stratified(&pairs).worse - 9.0 / 256.0).abs() < 1e-12);
    }

    #[test]
    fn the_smallest_p_is_that_of_a_candidate_without_a_pass() {
        let agents = [
            agent(6, 1, 6),
            agent(5, 5, 6),
            agent(0, 6, 6),
            agent(6, 4, 6),
        ];
        let found = stratified(&agents);
        assert!((found.smallest / 8.873_24e-9 - 1.0).abs() < 1e-5);
        let none = agents.map(|agent| Passes {
            now: (0, agent.now.1),
            ..agent
        });
        assert!((stratified(&none).worse / found.smallest - 1.0).abs() < 1e-9);
        assert!((found.worse - 0.5).abs() < 1e-9 && (found.better - 0.737_007).abs() < 1e-6);
        let noticed = noticeable_mean_drop(&agents, 0.025).unwrap();
        assert!((noticed - 0.378_882).abs() < 1e-6);
        assert_eq!(runs_for_mean_drop(&agents, noticed, 0.05), Some(345));
        let differences = agents.map(|agent| agent.difference());
        let found = mean_interval(&differences).unwrap();
        let (low, high) = found.interval.unwrap();
        assert!((found.mean + 0.041_666_7).abs() < 1e-7);
        assert!((low + 1.273_75).abs() < 1e-5 && (high - 1.190_41).abs() < 1e-5);
    }

    #[test]
    fn no_agent_is_no_evidence() {
        let found = stratified(&[]);
        assert!((found.worse - 1.0).abs() < 1e-15 && (found.smallest - 1.0).abs() < 1e-15);
        assert_eq!(mean_interval(&[]), None);
        assert_eq!(mean_interval(&[0.5]).unwrap().interval, None);
        assert_eq!(mean_interval(&[-0.5, 0.0]).unwrap().interval, None);
        assert_eq!(noticeable_mean_drop(&[], 0.05), None);
    }

    proptest! {
        #[test]
        fn one_run_a_side_is_mcnemar(lost in 0..12_u32, won in 0..12_u32) {
            let mut pairs = vec![agent(1, 0, 1); lost as usize];
            pairs.extend(vec![agent(0, 1, 1); won as usize]);
            let all = lost + won;
            let choose = |k: u32| (0..k).fold(1.0, |c, i| c * f64::from(all - i) / f64::from(i + 1));
            let p = (0..=won).map(choose).sum::<f64>() / 2.0_f64.powi(all as i32);
            prop_assert!((stratified(&pairs).worse - p).abs() < 1e-9);
        }

        #[test]
        fn swapping_the_sides_swaps_the_tails(
            passes in prop::collection::vec((0..5_usize, 0..4_usize), 0..8),
        ) {
            let agents: Vec<_> = passes
                .iter()
                .map(|(before, now)| Passes { before: (*before, 4), now: (*now, 3) })
                .map(|agent| Passes { before: (agent.before.0.min(4), 4), ..agent })
                .collect();
            let back: Vec<_> = agents.iter().map(|a| Passes { before: a.now, now: a.before }).collect();
            let (there, back) = (stratified(&agents), stratified(&back));
            prop_assert!((there.worse - back.better).abs() < 1e-9);
            prop_assert!(there.smallest <= there.worse * (1.0 + 1e-9));
        }
    }
}
