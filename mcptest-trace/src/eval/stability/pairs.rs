//! How alike the paths of several runs are, pair by pair.
//!
//! Tools and arguments are numbers here: each is looked at as text once, however many runs are compared.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::iter::repeat_n;

use super::block::{Block, Common, LANES, Word};
use super::{float, share};
use crate::trace::{Trace, canonical_json};

/// What a run called: the numbers of its tools, and those of its arguments.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    pub(super) tools: Vec<u32>,
    pub(super) arguments: Vec<u32>,
}

/// Several runs as numbers.
pub(super) struct Paths {
    runs: Vec<Path>,
    /// How many tools there are in all.
    tools: usize,
    /// For each run, how many of its calls differ in tool, server or arguments, and how many of its
    /// tools.
    pub(super) distinct: Vec<(usize, usize)>,
}

impl Paths {
    pub(super) fn of(traces: &[&Trace]) -> Self {
        let (mut tools, mut servers) = (Numbers::default(), Numbers::default());
        let mut arguments: Numbers<String> = Numbers::default();
        let (mut runs, mut distinct) = (Vec::new(), Vec::new());
        for trace in traces {
            let calls = trace.tool_calls.len();
            let mut path = Path {
                tools: Vec::with_capacity(calls),
                arguments: Vec::with_capacity(calls),
            };
            let mut seen = Vec::with_capacity(calls);
            for call in &trace.tool_calls {
                let tool = tools.number(call.name.as_str());
                let argument = arguments.number(canonical_json(&call.args));
                seen.push((tool, servers.number(call.server.as_str()), argument));
                path.tools.push(tool);
                path.arguments.push(argument);
            }
            seen.sort_unstable();
            seen.dedup();
            let calls = seen.len();
            seen.dedup_by_key(|(tool, _, _)| *tool);
            distinct.push((calls, seen.len()));
            runs.push(path);
        }
        Self {
            runs,
            tools: tools.0.len(),
            distinct,
        }
    }

    /// Runs with the same calls are compared once.
    pub(super) fn compare(mut self) -> Pairs {
        let total = pairs(self.runs.len());
        if total == 0 {
            return Pairs {
                similarity: 1.0,
                consistency: 1.0,
                diverging: 0,
                early: 0,
            };
        }
        self.runs.sort_unstable();
        let mut distinct: Vec<Distinct<'_>> = self
            .runs
            .chunk_by(|path, next| path == next)
            .map(|same| (same[0].tools.len(), same.len(), &same[0]))
            .collect();
        distinct.sort_unstable();
        let mut sums = Sums::default();
        for (_, count, _) in &distinct {
            // Runs with the same calls are alike in everything.
            let same = float(pairs(*count));
            sums.similarity.add(same, 1);
            sums.consistency.add(same, 1);
        }
        let mut start = 0;
        for block in distinct
            .chunk_by(alike)
            .flat_map(|alike| alike.chunks(LANES))
        {
            let runs = &distinct[..start + block.len()];
            let (calls, _, _) = block[0];
            if calls <= u16::BITS as usize {
                sums.compare::<u16>(runs, start, self.tools);
            } else {
                sums.compare::<u64>(runs, start, self.tools);
            }
            start = runs.len();
        }
        Pairs {
            similarity: sums.similarity.total() / float(total),
            consistency: sums.consistency.total() / float(total),
            diverging: total - self.pairs_alike(|path| &path.tools),
            early: total - self.pairs_alike(|path| &path.tools[..path.tools.len().min(2)]),
        }
    }

    /// How many pairs of the sorted runs start with the same tools.
    fn pairs_alike(&self, start: impl Fn(&Path) -> &[u32]) -> usize {
        let alike = self.runs.chunk_by(|path, next| start(path) == start(next));
        alike.map(|same| pairs(same.len())).sum()
    }
}

/// The pairs of so many runs.
fn pairs(runs: usize) -> usize {
    runs * runs.saturating_sub(1) / 2
}

/// A path: how many calls it has, how many runs took it.
type Distinct<'a> = (usize, usize, &'a Path);

/// Whether two paths have as many calls, and weigh the same.
fn alike((calls, count, _): &Distinct<'_>, (other, times, _): &Distinct<'_>) -> bool {
    (calls, count) == (other, times)
}

#[derive(Default)]
struct Sums {
    similarity: Sum,
    consistency: Sum,
}

impl Sums {
    /// Compares the runs from `start` on, which are [`alike`], with all before them and with each other.
    fn compare<W: Word>(&mut self, runs: &[Distinct<'_>], start: usize, tools: usize) {
        let (calls, count, _) = runs[start];
        let paths: Vec<&Path> = runs[start..].iter().map(|(_, _, path)| *path).collect();
        let mut block = Block::<W>::of(&paths, calls, tools);
        // Short paths have few things in common: these are counted first.
        let base = calls + 1;
        let short = calls <= u16::BITS as usize;
        let mut table = vec![0; if short { base.pow(3) } else { 0 }];
        let mut lane = 0_usize;
        for others in runs[..runs.len() - 1].chunk_by(alike) {
            let (other_calls, other_count, _) = others[0];
            let calls = float(calls + other_calls);
            let weight = float(count * other_count);
            let mut add = |common: Common, times| {
                let similarity = 2.0 * float(common.longest) / calls;
                self.similarity.add(weight * similarity, times);
                let consistency = share(common.same, common.aligned);
                self.consistency.add(weight * consistency, times);
            };
            for (_, _, other) in others {
                lane += 1;
                for common in block.compare(other, lane.saturating_sub(start)) {
                    let key = (common.longest * base + common.aligned) * base + common.same;
                    match table.get_mut(key) {
                        Some(times) => *times += 1,
                        None => add(common, 1),
                    }
                }
            }
            for (key, times) in table
                .iter_mut()
                .enumerate()
                .filter(|(_, times)| **times > 0)
            {
                let common = Common {
                    longest: key / base / base,
                    aligned: key / base % base,
                    same: key % base,
                };
                add(common, std::mem::take(times));
            }
        }
    }
}

/// What all pairs of runs come to.
pub(super) struct Pairs {
    pub(super) similarity: f64,
    pub(super) consistency: f64,
    pub(super) diverging: usize,
    pub(super) early: usize,
}

/// A number for each different value, in the order they come.
struct Numbers<T>(HashMap<T, u32>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Eq + std::hash::Hash> Numbers<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(value).or_insert(next)
    }
}

/// A sum taken from the smallest value on, as [`sum`](super::sum) takes it, of few different values: no
/// two sequences of a hundred calls have more than some thousand similarities.
#[derive(Default)]
pub(super) struct Sum(HashMap<u64, usize, BuildHasherDefault<Mixed>>);

impl Sum {
    /// Adds a number that is not negative.
    pub(super) fn add(&mut self, value: f64, times: usize) {
        *self.0.entry(value.to_bits()).or_default() += times;
    }

    pub(super) fn total(self) -> f64 {
        let mut values: Vec<(u64, usize)> = self.0.into_iter().collect();
        // Numbers that are not negative are in the order of their bits.
        values.sort_unstable();
        let each = |(bits, times)| repeat_n(f64::from_bits(bits), times);
        values.into_iter().flat_map(each).sum()
    }
}

/// Hashes one `u64` by one multiplication: the keys are results, chosen by nobody.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
