//! Are two sets of runs from one source? The energy statistic with a permutation test.
//!
//! E = 2 · mean d(between) − mean d(within baseline) − mean d(within candidate), means over all ordered
//! pairs with the zero diagonal (Székely and Rizzo 2013). The labels of the runs are permuted: all
//! assignments when there are at most 20,000, p = the share with E ≥ E observed − 1e−9; else 9,999
//! draws, p = (b + 1) / 10,000, never 0 (Phipson and Smyth 2010).
//!
//! The order in which the runs of a side come makes no difference to an agent's test. The suite's test
//! draws the labels of the runs in the order in which they come: with another order it makes other draws, as it
//! does with another seed.

use serde::Serialize;

use super::random::Stream;
use crate::number::to_f64;

/// Up to so many assignments are all looked at.
const MOST_ASSIGNMENTS: u64 = 20_000;

/// Otherwise so many are drawn.
const DRAWS: u32 = 9_999;

/// The smallest p of that many draws.
const SMALLEST_DRAWN: f64 = 1e-4;

/// Up to so many runs, the statistic of each assignment is computed once.
const MOST_KEPT: usize = 12;

/// A statistic at least as large as the observed one, up to rounding.
const ROUNDING: f64 = 1e-9;

/// What the permutations say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Permuted {
    /// The observed statistic, about 0 when both sides behave alike.
    pub energy: f64,
    /// The share of assignments with a statistic at least as large.
    pub p: f64,
    /// The smallest p that so many runs can lead to.
    pub smallest_p: f64,
    /// Whether all assignments were looked at.
    pub exhaustive: bool,
}

/// The distances of all runs of an agent; the baseline's runs come first, each side sorted.
#[derive(Debug, Clone)]
pub(crate) struct Distances {
    runs: usize,
    baseline: usize,
    /// Where each run is here, in the order in which they came.
    places: Vec<usize>,
    matrix: Vec<f64>,
    rows: Vec<f64>,
    total: f64,
}

impl Distances {
    /// The distances of `baseline` and `candidate`; `distance` is symmetric and 0 of a run and itself.
    /// `None` when a side has no run.
    pub(crate) fn new<T: Ord>(
        baseline: &[T],
        candidate: &[T],
        distance: impl Fn(&T, &T) -> f64,
    ) -> Option<Self> {
        if baseline.is_empty() || candidate.is_empty() {
            return None;
        }
        // Neither a sum nor a draw rests on the order of the runs then.
        let came: Vec<&T> = baseline.iter().chain(candidate).collect();
        let runs = came.len();
        let mut sorted: Vec<usize> = (0..runs).collect();
        let (before, now) = sorted.split_at_mut(baseline.len());
        for side in [before, now] {
            side.sort_by_key(|run| came[*run]);
        }
        let all: Vec<&T> = sorted.iter().map(|run| came[*run]).collect();
        let mut places = vec![0; runs];
        for (place, run) in sorted.into_iter().enumerate() {
            places[run] = place;
        }
        let mut matrix = vec![0.0; runs * runs];
        for row in 0..runs {
            for column in 0..row {
                let between = distance(all[row], all[column]);
                matrix[row * runs + column] = between;
                matrix[column * runs + row] = between;
            }
        }
        let rows: Vec<f64> = matrix.chunks(runs).map(|row| row.iter().sum()).collect();
        let total = rows.iter().sum();
        Some(Self {
            runs,
            baseline: baseline.len(),
            places,
            matrix,
            rows,
            total,
        })
    }

    /// The statistic when these runs are the baseline.
    fn statistic(&self, baseline: &[usize]) -> f64 {
        let within: f64 = baseline
            .iter()
            .map(|row| {
                let row = &self.matrix[row * self.runs..][..self.runs];
                baseline.iter().map(|column| row[*column]).sum::<f64>()
            })
            .sum();
        let between = baseline.iter().map(|row| self.rows[*row]).sum::<f64>() - within;
        let rest = self.total - 2.0 * between - within;
        let (mine, theirs) = (to_f64(self.baseline), to_f64(self.runs - self.baseline));
        2.0 * between / (mine * theirs) - within / (mine * mine) - rest / (theirs * theirs)
    }

    /// The observed statistic.
    pub(crate) fn energy(&self) -> f64 {
        let labels: Vec<usize> = (0..self.baseline).collect();
        let energy = self.statistic(&labels);
        // Equal sides have none, up to rounding.
        if energy.abs() < 1e-12 { 0.0 } else { energy }
    }

    /// The permutation test of this agent; the stream is used when there are too many assignments.
    pub(crate) fn test(&self, stream: Stream) -> Permuted {
        let energy = self.energy();
        let exhaustive = assignments(self.runs, self.baseline) <= MOST_ASSIGNMENTS;
        let p = if self.total <= 0.0 {
            1.0
        } else if exhaustive {
            self.share_of_all(energy)
        } else {
            drawn_p(&[self], stream, |_| 1.0, |_| None)
        };
        Permuted {
            energy,
            p,
            smallest_p: if exhaustive {
                self.share_of_all_alike()
            } else {
                SMALLEST_DRAWN
            },
            exhaustive,
        }
    }

    /// The share of the observed assignment among all; with equal sides the swapped one is as extreme.
    fn share_of_all_alike(&self) -> f64 {
        let alike = 1 + usize::from(self.runs == 2 * self.baseline);
        to_f64(alike) / to_f64(assignments(self.runs, self.baseline))
    }

    fn share_of_all(&self, observed: f64) -> f64 {
        let mut chosen: Vec<usize> = (0..self.baseline).collect();
        let (mut all, mut extreme) = (0, 0);
        loop {
            all += 1;
            extreme += usize::from(self.statistic(&chosen) >= observed - ROUNDING);
            // The next choice in order.
            let last = self.runs - self.baseline;
            let movable = (0..chosen.len())
                .rev()
                .find(|place| chosen[*place] < last + place);
            let Some(place) = movable else {
                return to_f64(extreme) / to_f64(all);
            };
            chosen[place] += 1;
            for next in place + 1..chosen.len() {
                chosen[next] = chosen[next - 1] + 1;
            }
        }
    }

    /// How many numbers a shuffle takes.
    fn shuffle_draws(&self) -> u64 {
        self.runs as u64 - 1
    }

    /// Weight of this agent in the suite's statistic: n m / (n + m).
    fn weight(&self) -> f64 {
        to_f64(self.baseline) * to_f64(self.runs - self.baseline) / to_f64(self.runs)
    }
}

/// C(n, k), or something above the bound.
fn assignments(n: usize, k: usize) -> u64 {
    let mut count: u64 = 1;
    for i in 1..=k.min(n - k) {
        count = count * (n + 1 - i) as u64 / i as u64;
        if count > MOST_ASSIGNMENTS {
            break;
        }
    }
    count
}

/// The suite's test: Σ n m / (n + m) · E over agents, each shuffled within itself from one stream,
/// 9,999 draws. The agents come in byte order of their stem.
pub(crate) fn suite_test(agents: &[&Distances], stream: Stream) -> Permuted {
    let energy = agents
        .iter()
        .map(|agent| agent.weight() * agent.energy())
        .sum();
    Permuted {
        energy,
        p: drawn_p(agents, stream, Distances::weight, |agent| {
            Some(&agent.places[..])
        }),
        smallest_p: SMALLEST_DRAWN,
        exhaustive: false,
    }
}

/// The share of the draws that are as extreme. `places` says where the runs of an agent are whose labels are
/// shuffled; without it they are shuffled as they are sorted.
fn drawn_p<'a>(
    agents: &[&'a Distances],
    mut stream: Stream,
    weight: impl Fn(&Distances) -> f64,
    places: impl Fn(&'a Distances) -> Option<&'a [usize]>,
) -> f64 {
    let observed: f64 = agents
        .iter()
        .map(|agent| weight(agent) * agent.energy())
        .sum();
    // A draw shuffles one agent after the other. What an agent keeps stays in the cache when all its
    // draws are made at once; the numbers are read by their place in the stream, so they are the same.
    let each: u64 = agents.iter().map(|agent| agent.shuffle_draws()).sum();
    let mut drawn = vec![0.0; DRAWS as usize];
    for &agent in agents {
        let mut shuffled = Shuffled::new(agent, places(agent));
        let (mut own, weight) = (stream.clone(), weight(agent));
        for sum in &mut drawn {
            *sum += weight * shuffled.draw(&mut own);
            own.skip(each - agent.shuffle_draws());
        }
        stream.skip(agent.shuffle_draws());
    }
    let extreme = drawn.iter().filter(|drawn| **drawn >= observed - ROUNDING);
    (to_f64(extreme.count()) + 1.0) / f64::from(DRAWS + 1)
}

/// An agent whose labels are shuffled again and again.
struct Shuffled<'a> {
    distances: &'a Distances,
    places: Option<&'a [usize]>,
    order: Vec<usize>,
    /// The statistic by set of baseline runs, as bits; NaN where it is not known yet.
    known: Vec<f64>,
}

impl<'a> Shuffled<'a> {
    fn new(distances: &'a Distances, places: Option<&'a [usize]>) -> Self {
        let kept = distances.runs <= MOST_KEPT;
        Self {
            distances,
            places,
            order: vec![0; distances.runs],
            known: vec![f64::NAN; if kept { 1 << distances.runs } else { 0 }],
        }
    }

    fn draw(&mut self, stream: &mut Stream) -> f64 {
        if self.distances.total <= 0.0 {
            stream.skip(self.distances.shuffle_draws());
            return 0.0;
        }
        stream.shuffle(&mut self.order);
        let baseline = &mut self.order[..self.distances.baseline];
        if let Some(places) = self.places {
            for run in &mut *baseline {
                *run = places[*run];
            }
        }
        if self.known.is_empty() {
            return self.distances.statistic(baseline);
        }
        let set = baseline.iter().fold(0, |set, run| set | 1 << run);
        if self.known[set].is_nan() {
            self.known[set] = self.distances.statistic(baseline);
        }
        self.known[set]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sequence::distance;
    use proptest::prelude::*;

    fn distances(baseline: &[&str], candidate: &[&str]) -> Distances {
        let d = |a: &&str, b: &&str| distance(a.as_bytes(), b.as_bytes());
        Distances::new(baseline, candidate, d).unwrap()
    }

    #[test]
    fn the_worked_example() {
        let found = distances(
            &["abc", "abc", "abc", "abcc"],
            &["abd", "abd", "abd", "abdd"],
        )
        .test(Stream::new("a", 0));
        assert!((found.energy - 0.651_786).abs() < 1e-6);
        assert!(found.exhaustive && (found.p - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(found.p, found.smallest_p);
    }

    #[test]
    fn equal_runs_are_no_evidence_and_too_many_assignments_are_drawn() {
        let same = distances(&["ab"; 12], &["ab"; 12]).test(Stream::new("a", 0));
        assert_eq!((same.energy, same.p), (0.0, 1.0));
        let other = distances(&["ab"; 12], &["cd"; 12]).test(Stream::new("a", 0));
        assert!(!other.exhaustive);
        assert!((other.p - 1e-4).abs() < 1e-12);
        assert_eq!(assignments(16, 8), 12_870);
        assert!(
            assignments(17, 8) > MOST_ASSIGNMENTS && assignments(4_000, 2_000) > MOST_ASSIGNMENTS
        );
    }

    #[test]
    fn a_side_without_runs_has_no_distances() {
        assert!(Distances::new::<u8>(&[], &[1], |_, _| 0.0).is_none());
    }

    #[test]
    fn an_agent_that_never_varies_takes_its_draws_all_the_same() {
        let varied = distances(&["a", "ab", "b", "a"], &["b", "bc", "c", "a"]);
        let alike = |names: &'static [&'static str]| distances(names, &["x", "x"]);
        let (constant, nearly) = (alike(&["x", "x"]), alike(&["x", "x"]));
        let with = suite_test(&[&constant, &varied], Stream::new("s", 0));
        let again = suite_test(&[&nearly, &varied], Stream::new("s", 0));
        assert_eq!(with, again);
        let mut stream = Stream::new("s", 0);
        let mut drawn = Shuffled::new(&constant, None);
        drawn.draw(&mut stream);
        let mut other = Stream::new("s", 0);
        other.shuffle(&mut [0; 4]);
        assert_eq!(stream.draw(), other.draw());
    }

    #[test]
    fn all_draws_of_an_agent_at_once_are_the_draws_one_after_the_other() {
        let agents = [
            distances(&["a", "ab", "b", "a"], &["b", "bc", "c", "a"]),
            distances(&["x", "x"], &["x", "x"]),
            distances(&["abc", "ab", "cab"], &["a", "cb", "cc", "abc", "b"]),
        ];
        let agents = agents.each_ref();
        let found = suite_test(&agents, Stream::new("s", 0));
        let (mut stream, mut shuffled) = (
            Stream::new("s", 0),
            agents.map(|agent| Shuffled::new(agent, Some(&agent.places[..]))),
        );
        let extreme = (0..DRAWS).filter(|_| {
            let parts = shuffled.iter_mut();
            let drawn: f64 = parts
                .map(|agent| agent.distances.weight() * agent.draw(&mut stream))
                .sum();
            drawn >= found.energy - ROUNDING
        });
        let p = (extreme.count() as f64 + 1.0) / f64::from(DRAWS + 1);
        assert_eq!(found.p, p);
        assert!(p > 0.001 && p < 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_statistic_is_the_definition(
            baseline in prop::collection::vec("[ab]{0,4}", 1..5), candidate in prop::collection::vec("[ab]{0,4}", 1..5),
        ) {
            let d = |a: &String, b: &String| distance(a.as_bytes(), b.as_bytes());
            let mean = |left: &[String], right: &[String]| {
                let all = left.iter().flat_map(|a| right.iter().map(move |b| d(a, b)));
                all.sum::<f64>() / (left.len() * right.len()) as f64
            };
            let expected = 2.0 * mean(&baseline, &candidate) - mean(&baseline, &baseline) - mean(&candidate, &candidate);
            let distances = Distances::new(&baseline, &candidate, d).unwrap();
            prop_assert!((distances.energy() - expected).abs() < 1e-12);
            let found = distances.test(Stream::new("a", 0));
            prop_assert!(found.p > 0.0 && found.p <= 1.0);
            // Which side is called the baseline makes no difference.
            let back = Distances::new(&candidate, &baseline, d).unwrap().test(Stream::new("a", 0));
            prop_assert!((found.p - back.p).abs() < 1e-12);
        }
    }
}
