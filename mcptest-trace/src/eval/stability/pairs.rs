//! How alike the paths of several runs are, pair by pair.
//!
//! Tools and arguments are numbers here: each is looked at as text once, however many runs are compared.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::iter::repeat_n;

use super::{float, share};
use crate::trace::{Trace, canonical_json};

/// What a run called: the numbers of its tools, and those of its arguments.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    pub(super) tools: Vec<u32>,
    pub(super) arguments: Vec<u32>,
}

/// Several runs as numbers.
pub(super) struct Paths {
    runs: Vec<Path>,
    /// How many tools there are in all.
    tools: usize,
    /// For each run, how many of its calls differ in tool, server or arguments.
    pub(super) distinct_calls: Vec<usize>,
}

impl Paths {
    pub(super) fn of(traces: &[&Trace]) -> Self {
        let (mut tools, mut servers) = (Numbers::default(), Numbers::default());
        let mut arguments: Numbers<String> = Numbers::default();
        let (mut runs, mut distinct_calls) = (Vec::new(), Vec::new());
        for trace in traces {
            let mut path = Path::default();
            let mut seen = HashSet::new();
            for call in &trace.tool_calls {
                let tool = tools.number(call.name.as_str());
                let argument = arguments.number(canonical_json(&call.args));
                seen.insert((tool, servers.number(call.server.as_str()), argument));
                path.tools.push(tool);
                path.arguments.push(argument);
            }
            distinct_calls.push(seen.len());
            runs.push(path);
        }
        Self {
            runs,
            tools: tools.0.len(),
            distinct_calls,
        }
    }

    /// Runs with the same calls are compared once.
    pub(super) fn compare(self) -> Pairs {
        let total = self.runs.len() * self.runs.len().saturating_sub(1) / 2;
        if total == 0 {
            return Pairs {
                similarity: 1.0,
                consistency: 1.0,
                diverging: 0,
                early: 0,
            };
        }
        let mut runs = self.runs;
        runs.sort_unstable();
        let distinct: Vec<(&Path, usize)> = runs
            .chunk_by(|path, next| path == next)
            .map(|same| (&same[0], same.len()))
            .collect();
        let (mut similarity, mut consistency) = (Sum::default(), Sum::default());
        let (mut diverging, mut early) = (0, 0);
        for (index, (left, count)) in distinct.iter().enumerate() {
            // Runs with the same calls are alike in everything.
            let same = count * (count - 1) / 2;
            similarity.add(float(same));
            consistency.add(float(same));
            let places = Places::of(left, self.tools);
            for (right, other) in &distinct[index + 1..] {
                let pairs = count * other;
                similarity.add(float(pairs) * places.similarity(right));
                consistency.add(float(pairs) * argument_consistency(left, right));
                if let Some(step) = divergence(left, right) {
                    diverging += pairs;
                    early += if step < 2 { pairs } else { 0 };
                }
            }
        }
        Pairs {
            similarity: similarity.total() / float(total),
            consistency: consistency.total() / float(total),
            diverging,
            early,
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
    pub(super) fn add(&mut self, value: f64) {
        *self.0.entry(value.to_bits()).or_default() += 1;
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

/// Where a run's path has each tool, 64 positions a word.
pub(super) struct Places {
    calls: usize,
    /// Words for a tool.
    words: usize,
    /// The words of all tools, one after the other.
    bits: Vec<u64>,
}

impl Places {
    /// Of a path whose tools are numbers below `tools`.
    pub(super) fn of(path: &Path, tools: usize) -> Self {
        let words = path.tools.len().div_ceil(64);
        let mut bits = vec![0; tools * words];
        for (index, tool) in path.tools.iter().enumerate() {
            bits[*tool as usize * words + index / 64] |= 1 << (index % 64);
        }
        Self {
            calls: path.tools.len(),
            words,
            bits,
        }
    }

    /// `2·LCS / (len a + len b)` of the tools of this path and another.
    pub(super) fn similarity(&self, other: &Path) -> f64 {
        let calls = self.calls + other.tools.len();
        if calls == 0 {
            1.0
        } else {
            let longest = self.longest_common_subsequence(&other.tools);
            2.0 * float(longest) / float(calls)
        }
    }

    /// The length of the longest common subsequence of the tools, 64 positions of this path at a
    /// time (Crochemore, Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for
    /// the longest common subsequence problem", 2001). Rows of up to four words stay in registers.
    fn longest_common_subsequence(&self, other: &[u32]) -> usize {
        match self.words {
            0 => 0,
            1 => self.grown([u64::MAX; 1], other),
            2 => self.grown([u64::MAX; 2], other),
            3 => self.grown([u64::MAX; 3], other),
            4 => self.grown([u64::MAX; 4], other),
            words => self.grown(vec![u64::MAX; words], other),
        }
    }

    /// A zero bit of the row marks a position where the subsequence grows.
    #[inline]
    fn grown(&self, mut row: impl AsMut<[u64]>, other: &[u32]) -> usize {
        let row = row.as_mut();
        let words = row.len();
        for tool in other {
            let places = &self.bits[*tool as usize * words..][..words];
            let mut carry = false;
            for (word, places) in row.iter_mut().zip(places) {
                let (sum, over) = word.overflowing_add(*word & places);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over | over_again;
                *word = sum | (*word & !places);
            }
        }
        // No bit past the path's end is ever cleared: no tool has a place there.
        row.iter().map(|word| word.count_zeros() as usize).sum()
    }
}

/// The share of the positions with the same tool that have the same arguments; 1 of none.
pub(super) fn argument_consistency(left: &Path, right: &Path) -> f64 {
    let calls = left.tools.len().min(right.tools.len());
    let tools = left.tools[..calls].iter().zip(&right.tools[..calls]);
    let arguments = left.arguments[..calls]
        .iter()
        .zip(&right.arguments[..calls]);
    let (mut all, mut same) = (0_u32, 0_u32);
    for ((tool, other), (argument, other_argument)) in tools.zip(arguments) {
        let aligned = u32::from(tool == other);
        all += aligned;
        same += aligned & u32::from(argument == other_argument);
    }
    share(same as usize, all as usize)
}

/// The step at which two tool sequences part.
fn divergence(left: &Path, right: &Path) -> Option<usize> {
    let (left, right) = (&left.tools, &right.tools);
    let parted = left
        .iter()
        .zip(right)
        .position(|(tool, other)| tool != other);
    parted.or_else(|| (left.len() != right.len()).then(|| left.len().min(right.len())))
}
