//! Exact tests beside a plain second implementation, which looks at every table and at every choice of runs.

use proptest::prelude::*;

use super::boschloo::boschloo;
use super::energy_distance::Distances;
use super::random::Stream;
use super::rank_sum::RankSum;
use super::stratified::{Passes, stratified};

/// Runs that passed, of all runs.
type Share = (usize, usize);

/// Every choice of `wanted` of `all` things, as bits.
fn choices(all: usize, wanted: usize) -> impl Iterator<Item = u32> {
    (0..1_u32 << all).filter(move |mask| mask.count_ones() as usize == wanted)
}

/// Fisher's one-sided p: of all ways to say which runs passed, the share in which as few pass now.
fn fisher(before: Share, now: Share) -> f64 {
    let runs = before.1 + now.1;
    let (mut extreme, mut all) = (0.0, 0.0);
    for mask in choices(runs, before.0 + now.0) {
        all += 1.0;
        let passed_now = (mask >> before.1).count_ones() as usize;
        extreme += f64::from(u8::from(passed_now <= now.0));
    }
    extreme / all
}

/// Boschloo's p: of all outcomes of all runs, the probability of one that Fisher's p calls as extreme, at the share of
/// passes where it is largest.
fn by_outcomes(before: Share, now: Share) -> f64 {
    let seen = fisher(before, now) * (1.0 + 1e-9);
    let runs = before.1 + now.1;
    // How many outcomes with so many passes are as extreme.
    let mut extreme = vec![0_u32; runs + 1];
    for mask in 0..1_u32 << runs {
        let passed_now = (mask >> before.1).count_ones() as usize;
        let passed_before = mask.count_ones() as usize - passed_now;
        if fisher((passed_before, before.1), (passed_now, now.1)) <= seen {
            extreme[passed_before + passed_now] += 1;
        }
    }
    let at = |share: f64| -> f64 {
        let counts = (0_i32..).zip(&extreme);
        let left = i32::try_from(runs).unwrap();
        let each = counts.map(|(passes, count)| {
            f64::from(*count) * share.powi(passes) * (1.0 - share).powi(left - passes)
        });
        each.sum()
    };
    let shares = (1..1000_u32).map(|thousandths| f64::from(thousandths) / 1000.0);
    shares.map(at).fold(0.0, f64::max)
}

/// The share of all ways to say which runs are of now, agent by agent, in which no more pass now than did.
fn permuted(agents: &[Passes]) -> f64 {
    // The passes now of each choice, all agents so far together.
    let mut sums = vec![0];
    for agent in agents {
        let runs = agent.before.1 + agent.now.1;
        // The first of them passed.
        let passed = (1_u32 << (agent.before.0 + agent.now.0)) - 1;
        let of_one: Vec<usize> = choices(runs, agent.now.1)
            .map(|mask| (mask & passed).count_ones() as usize)
            .collect();
        let more = sums
            .iter()
            .flat_map(|sum| of_one.iter().map(move |one| sum + one));
        sums = more.collect();
    }
    let seen: usize = agents.iter().map(|agent| agent.now.0).sum();
    let extreme = sums.iter().filter(|sum| **sum <= seen).count();
    extreme as f64 / sums.len() as f64
}

/// The energy distance of two sides by its definition.
fn energy(baseline: &[f64], candidate: &[f64]) -> f64 {
    let mean = |left: &[f64], right: &[f64]| {
        let all = left
            .iter()
            .flat_map(|a| right.iter().map(move |b| (a - b).abs()));
        all.sum::<f64>() / (left.len() * right.len()) as f64
    };
    2.0 * mean(baseline, candidate) - mean(baseline, baseline) - mean(candidate, candidate)
}

fn share() -> impl Strategy<Value = Share> {
    (1..5_usize).prop_flat_map(|runs| (0..=runs, Just(runs)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn boschloo_is_the_sum_over_all_outcomes(before in share(), now in share()) {
        let (found, slow) = (boschloo(before, now), by_outcomes(before, now));
        prop_assert!((found - slow).abs() < 1e-9, "{before:?} {now:?}: {found} {slow}");
    }

    #[test]
    fn the_test_of_a_suite_is_the_share_of_all_permutations(agents in prop::collection::vec((share(), share()), 1..4)) {
        let small = |(passed, runs): Share| (passed.min(3), runs.min(3));
        let agents = agents.into_iter().map(|(before, now)| Passes { before: small(before), now: small(now) });
        let agents: Vec<Passes> = agents.collect();
        let found = stratified(&agents);
        prop_assert!(found.exact);
        prop_assert!((found.worse - permuted(&agents)).abs() < 1e-9, "{found:?}");
        let back = agents.iter().map(|agent| Passes { before: agent.now, now: agent.before });
        let back: Vec<Passes> = back.collect();
        prop_assert!((found.better - permuted(&back)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_energy_test_is_the_share_of_all_assignments(
        baseline in prop::collection::vec(0..5_u8, 1..5), candidate in prop::collection::vec(0..5_u8, 1..5),
    ) {
        let real = |values: &[u8]| -> Vec<f64> { values.iter().map(|value| f64::from(*value)).collect() };
        let whole = [baseline, candidate];
        let (baseline, candidate) = (real(&whole[0]), real(&whole[1]));
        let all = [baseline.clone(), candidate.clone()].concat();
        let seen = energy(&baseline, &candidate);
        let (mut extreme, mut count) = (0.0, 0.0);
        for mask in choices(all.len(), baseline.len()) {
            let places = all.iter().enumerate();
            let (one, other): (Vec<_>, Vec<_>) = places.partition(|(place, _)| mask >> place & 1 == 1);
            let values = |side: Vec<(usize, &f64)>| -> Vec<f64> { side.iter().map(|(_, value)| **value).collect() };
            count += 1.0;
            extreme += f64::from(u8::from(energy(&values(one), &values(other)) >= seen - 1e-9));
        }
        let distances = Distances::new(&whole[0], &whole[1], |a, b| f64::from(a.abs_diff(*b))).unwrap();
        let found = distances.test(Stream::new("a", 0));
        prop_assert!(found.exhaustive);
        prop_assert!((found.energy - seen).abs() < 1e-9);
        prop_assert!((found.p - extreme / count).abs() < 1e-9, "{found:?} {}", extreme / count);
    }

    #[test]
    fn the_order_of_runs_says_nothing(
        (sample, shuffled) in prop::collection::vec(0..9_u8, 1..8)
            .prop_flat_map(|sample| (Just(sample.clone()), Just(sample).prop_shuffle())),
        others in prop::collection::vec(0..9_u8, 1..8),
    ) {
        let real = |values: &[u8]| -> Vec<f64> { values.iter().map(|value| f64::from(*value)).collect() };
        let rank_sum = |sample: &[u8]| RankSum::rank(&real(sample), &real(&others)).p_larger();
        prop_assert_eq!(rank_sum(&sample), rank_sum(&shuffled));
        let test = |sample: &[u8]| {
            let distances = Distances::new(sample, &others, |a, b| f64::from(a.abs_diff(*b))).unwrap();
            distances.test(Stream::new("a", 0))
        };
        prop_assert_eq!(test(&sample), test(&shuffled));
    }
}
