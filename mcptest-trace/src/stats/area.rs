//! Does a value tell passed runs from failed ones? The area under the ROC curve, for runs in clusters.
//!
//! A = P(goodness of a passed run > of a failed run) + ½ P(equal). Its variance is Obuchowski's (1997)
//! for runs clustered by agent, its 95% interval is taken on the logit scale. A within agents counts
//! pairs of one agent only: without it, a metric that knows hard tasks from easy ones looks good.

use std::collections::BTreeMap;

use serde::Serialize;

use super::quantile::normal_95;
use super::rank_sum::RankSum;
use crate::number::to_f64;

/// A run with a value and an outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredRun<'a> {
    /// The agent that ran.
    pub(crate) agent: &'a str,
    /// How good the value is: larger is better.
    pub(crate) goodness: f64,
    /// Whether the run passed.
    pub(crate) passed: bool,
}

/// The area over all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Area {
    /// 0 to 1; ½ tells nothing.
    pub area: f64,
    /// Standard error; `None` with passed or failed runs of fewer than two agents.
    pub error: Option<f64>,
    /// The 95% interval; `None` without a standard error above 0, and for 0 and 1, which have no logit.
    pub interval: Option<(f64, f64)>,
}

/// The area over pairs of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AreaWithin {
    /// 0 to 1; ½ tells nothing.
    pub area: f64,
    /// Exact two-sided p of the stratified rank sum.
    pub p: f64,
    /// Agents with passed and failed runs.
    pub agents: usize,
}

/// What an agent adds.
#[derive(Default)]
struct Cluster {
    passed: f64,
    failed: f64,
    wins: f64,
    losses: f64,
}

/// The area over all pairs of a passed and a failed run; `None` without a pair.
pub(crate) fn area(runs: &[ScoredRun<'_>]) -> Option<Area> {
    let runs = sort_by_goodness(runs);
    let of = |passed: bool| -> Vec<f64> {
        let judged = runs.iter().filter(|run| run.passed == passed);
        judged.map(|run| run.goodness).collect()
    };
    let (passed, failed) = (of(true), of(false));
    if passed.is_empty() || failed.is_empty() {
        return None;
    }
    let (all_passed, all_failed) = (to_f64(passed.len()), to_f64(failed.len()));
    let mut clusters: BTreeMap<&str, Cluster> = BTreeMap::new();
    for run in &runs {
        let cluster = clusters.entry(run.agent).or_default();
        if run.passed {
            cluster.passed += 1.0;
            cluster.wins += share_below(&failed, run.goodness);
        } else {
            cluster.failed += 1.0;
            cluster.losses += 1.0 - share_below(&passed, run.goodness);
        }
    }
    let area = clusters.values().map(|cluster| cluster.wins).sum::<f64>() / all_passed;
    let error = variance(&clusters, area, all_passed, all_failed).map(f64::sqrt);
    Some(Area {
        area,
        error,
        interval: error.and_then(|error| logit_interval(area, error)),
    })
}

/// Sorts the runs from the worst on, so that sums over them do not depend on the order that they came in.
fn sort_by_goodness<'r, 'a>(runs: &'r [ScoredRun<'a>]) -> Vec<&'r ScoredRun<'a>> {
    let mut sorted: Vec<&ScoredRun<'_>> = runs.iter().collect();
    sorted.sort_by(|left, right| left.goodness.total_cmp(&right.goodness));
    sorted
}

/// The share of sorted values below this one, equal ones by half.
fn share_below(sorted: &[f64], value: f64) -> f64 {
    let below = sorted.partition_point(|other| *other < value);
    let equal = sorted[below..].partition_point(|other| *other <= value);
    (to_f64(below) + 0.5 * to_f64(equal)) / to_f64(sorted.len())
}

fn variance(
    clusters: &BTreeMap<&str, Cluster>,
    area: f64,
    passed: f64,
    failed: f64,
) -> Option<f64> {
    let (mut u_square, mut v_square, mut both) = (0.0, 0.0, 0.0);
    let (mut with_passed, mut with_failed) = (0, 0);
    for cluster in clusters.values() {
        let u = cluster.wins - cluster.passed * area;
        let v = cluster.losses - cluster.failed * area;
        u_square += u * u;
        v_square += v * v;
        both += u * v;
        with_passed += usize::from(cluster.passed > 0.0);
        with_failed += usize::from(cluster.failed > 0.0);
    }
    if with_passed < 2 || with_failed < 2 {
        return None;
    }
    let corrected = |count: usize| to_f64(count) / to_f64(count - 1);
    let variance = corrected(with_passed) * u_square / (passed * passed)
        + corrected(with_failed) * v_square / (failed * failed)
        + 2.0 * corrected(clusters.len()) * both / (passed * failed);
    Some(variance.max(0.0))
}

fn logit_interval(area: f64, error: f64) -> Option<(f64, f64)> {
    let spread = area * (1.0 - area);
    if spread <= 0.0 || error <= 0.0 {
        return None;
    }
    let logit = (area / (1.0 - area)).ln();
    let half = normal_95() * error / spread;
    let back = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    Some((back(logit - half), back(logit + half)))
}

/// The area over pairs of runs of one agent; `None` without such a pair.
pub(crate) fn area_within(runs: &[ScoredRun<'_>]) -> Option<AreaWithin> {
    let mut agents: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for run in sort_by_goodness(runs) {
        let (passed, failed) = agents.entry(run.agent).or_default();
        let side = if run.passed { passed } else { failed };
        side.push(run.goodness);
    }
    agents.retain(|_, (passed, failed)| !passed.is_empty() && !failed.is_empty());
    let (mut wins, mut pairs) = (0.0, 0.0);
    for (passed, failed) in agents.values() {
        let won: f64 = passed.iter().map(|value| share_below(failed, *value)).sum();
        wins += won * to_f64(failed.len());
        pairs += to_f64(passed.len() * failed.len());
    }
    let ranked: Vec<RankSum> = agents
        .values()
        .map(|(passed, failed)| RankSum::rank(passed, failed))
        .collect();
    let sum = RankSum::sum(&ranked);
    (pairs > 0.0).then(|| AreaWithin {
        area: wins / pairs,
        p: (2.0 * sum.p_larger().min(sum.p_smaller())).min(1.0),
        agents: agents.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORKED: [(&str, f64, bool); 8] = [
        ("a", 3.0, true),
        ("a", 1.0, false),
        ("b", 2.0, true),
        ("b", 2.5, false),
        ("c", 4.0, true),
        ("c", 2.0, false),
        ("d", 1.0, false),
        ("d", 5.0, true),
    ];

    fn judged<'a>(runs: &[(&'a str, f64, bool)]) -> Vec<ScoredRun<'a>> {
        let judged = |(agent, goodness, passed): &(&'a str, f64, bool)| ScoredRun {
            agent,
            goodness: *goodness,
            passed: *passed,
        };
        runs.iter().map(judged).collect()
    }

    #[test]
    fn equal_values_are_half_a_pair() {
        let runs = judged(&[("a", 2.0, true), ("a", 1.0, false), ("b", 1.0, true)]);
        assert_eq!(area(&runs).unwrap().area, 0.75);
    }

    #[test]
    fn the_worked_runs() {
        let found = area(&judged(&WORKED)).unwrap();
        assert_eq!(found.area, 0.906_25);
        assert!((found.error.unwrap() - 0.148_78).abs() < 1e-6);
        let (low, high) = found.interval.unwrap();
        assert!((low - 0.238_029).abs() < 1e-6 && (high - 0.996_668).abs() < 1e-6);
        let within = area_within(&judged(&WORKED)).unwrap();
        assert_eq!((within.area, within.agents), (0.75, 4));
        // Three of four agents order their pair rightly: 2 · 5/16.
        assert!((within.p - 0.625).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_pair_or_no_spread_is_said() {
        assert_eq!(area(&[]), None);
        assert_eq!(area(&judged(&WORKED[..1])), None);
        let one = area(&judged(&WORKED[..2])).unwrap();
        assert_eq!((one.area, one.error, one.interval), (1.0, None, None));
        let perfect = [
            ("a", 2.0, true),
            ("a", 1.0, false),
            ("b", 2.0, true),
            ("b", 1.0, false),
        ];
        let perfect = area(&judged(&perfect)).unwrap();
        assert_eq!(
            (perfect.area, perfect.error, perfect.interval),
            (1.0, Some(0.0), None)
        );
        let apart = [("a", 2.0, true), ("b", 1.0, false)];
        assert_eq!(area_within(&judged(&apart)), None);
    }

    proptest! {
        #[test]
        fn turning_the_values_round_mirrors_the_areas(
            runs in prop::collection::vec((0..4_u8, 0..6_u8, any::<bool>()), 0..20),
        ) {
            const NAMES: [&str; 4] = ["a", "b", "c", "d"];
            let runs: Vec<_> = runs.iter().map(|(a, g, p)| (NAMES[*a as usize], f64::from(*g), *p)).collect();
            let turned: Vec<_> = runs.iter().map(|(a, g, p)| (*a, -g, *p)).collect();
            let (there, back) = (area(&judged(&runs)), area(&judged(&turned)));
            prop_assert_eq!(there.is_some(), back.is_some());
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!((there.area + back.area - 1.0).abs() < 1e-12);
                if let (Some(a), Some(b)) = (there.interval, back.interval) {
                    prop_assert!((a.0 + b.1 - 1.0).abs() < 1e-9);
                    prop_assert!(a.0 <= there.area && there.area <= a.1);
                }
                let pairs = runs.iter().filter(|run| run.2).flat_map(|p| {
                    runs.iter().filter(|run| !run.2).map(move |f| (p.1, f.1))
                });
                let (mut won, mut count) = (0.0, 0.0);
                for (p, f) in pairs {
                    count += 1.0;
                    won += if p > f { 1.0 } else if p < f { 0.0 } else { 0.5 };
                }
                prop_assert!((there.area - won / count).abs() < 1e-12);
            }
            let (there, back) = (area_within(&judged(&runs)), area_within(&judged(&turned)));
            if let (Some(there), Some(back)) = (there, back) {
                prop_assert!((there.area + back.area - 1.0).abs() < 1e-12);
                prop_assert!((there.p - back.p).abs() < 1e-9);
            }
        }
    }
}
