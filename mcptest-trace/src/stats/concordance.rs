//! Does a value of all runs of an agent go with how many of them passed? Concordance over pairs of
//! agents, with a delete-one-agent jackknife interval.

use serde::Serialize;

use super::quantile::normal_95;
use crate::number::to_f64;

/// How often the agent with more passed runs has the better value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Concordance {
    /// Over pairs that differ in passed runs, equal values by half; ½ tells nothing.
    pub concordance: f64,
    /// The 95% interval, within 0 and 1; `None` where leaving out an agent leaves no pair.
    pub interval: Option<(f64, f64)>,
}

/// The concordance of agents: how good the value of each is (larger is better), and how many of its runs
/// passed. `None` without two that differ in passed runs.
pub(crate) fn concordance(agents: &[(f64, usize)]) -> Option<Concordance> {
    // Sums over agents do not rest on the order that they came in.
    let mut agents = agents.to_vec();
    agents.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    // What each agent adds as one of a pair, so that leaving one out costs nothing.
    let each: Vec<(f64, f64)> = agents
        .iter()
        .enumerate()
        .map(|(place, agent)| {
            let others = agents
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            others.fold((0.0, 0.0), |(won, pairs), (_, other)| {
                match pair(*agent, *other) {
                    Some(score) => (won + score, pairs + 1.0),
                    None => (won, pairs),
                }
            })
        })
        .collect();
    let won: f64 = each.iter().map(|(won, _)| won).sum::<f64>() / 2.0;
    let pairs: f64 = each.iter().map(|(_, pairs)| pairs).sum::<f64>() / 2.0;
    if pairs <= 0.0 {
        return None;
    }
    let concordance = won / pairs;
    let without: Option<Vec<f64>> = each
        .iter()
        .map(|(own, of)| (pairs > *of).then(|| (won - own) / (pairs - of)))
        .collect();
    Some(Concordance {
        concordance,
        interval: without.map(|without| {
            let half = normal_95() * jackknife(&without);
            // It is a share, whatever its error.
            ((concordance - half).max(0.0), (concordance + half).min(1.0))
        }),
    })
}

/// 1 where the agent with more passed runs has the better value, ½ where the values are equal; `None`
/// where equally many passed.
fn pair(left: (f64, usize), right: (f64, usize)) -> Option<f64> {
    let (more, fewer) = match left.1.cmp(&right.1) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => (left.0, right.0),
        std::cmp::Ordering::Less => (right.0, left.0),
    };
    // Means over runs that are equal may differ in their last bits.
    Some(
        if (more - fewer).abs() <= 1e-12 * more.abs().max(fewer.abs()) {
            0.5
        } else if more > fewer {
            1.0
        } else {
            0.0
        },
    )
}

/// √((A − 1) / A · Σ (value − mean)²) of the values without one agent each.
fn jackknife(without: &[f64]) -> f64 {
    let count = to_f64(without.len());
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
    ((count - 1.0) / count * squares).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_values_are_half_a_pair() {
        let found = concordance(&[(1.0, 0), (2.0, 2), (2.0, 3), (3.0, 4)]).unwrap();
        assert_eq!(found.concordance, 5.5 / 6.0);
    }

    #[test]
    fn what_has_no_pair_is_none() {
        assert_eq!(concordance(&[]), None);
        assert_eq!(concordance(&[(1.0, 2), (5.0, 2)]), None);
        let two = concordance(&[(1.0, 2), (5.0, 3)]).unwrap();
        assert_eq!((two.concordance, two.interval), (1.0, None));
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_pairs(agents in prop::collection::vec((0..5_u8, 0..4_usize), 0..12)) {
            let agents: Vec<(f64, usize)> = agents.iter().map(|(value, passed)| (f64::from(*value), *passed)).collect();
            let slow = |agents: &[(f64, usize)]| {
                let (mut won, mut pairs) = (0.0, 0.0);
                for (place, left) in agents.iter().enumerate() {
                    for right in &agents[..place] {
                        if let Some(score) = pair(*left, *right) {
                            won += score;
                            pairs += 1.0;
                        }
                    }
                }
                (pairs > 0.0).then(|| won / pairs)
            };
            let found = concordance(&agents);
            prop_assert_eq!(found.is_some(), slow(&agents).is_some());
            if let Some(found) = found {
                prop_assert!((found.concordance - slow(&agents).unwrap()).abs() < 1e-12);
                let without: Option<Vec<f64>> = (0..agents.len())
                    .map(|left_out| {
                        let mut rest = agents.clone();
                        rest.remove(left_out);
                        slow(&rest)
                    })
                    .collect();
                prop_assert_eq!(found.interval.is_some(), without.is_some());
                if let (Some((low, high)), Some(without)) = (found.interval, without) {
                    let half = normal_95() * jackknife(&without);
                    let near = |bound: f64, wanted: f64| (bound - wanted.clamp(0.0, 1.0)).abs() < 1e-9;
                    prop_assert!(near(low, found.concordance - half) && near(high, found.concordance + half));
                }
            }
        }
    }
}
