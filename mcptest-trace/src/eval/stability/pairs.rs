//! How alike the paths of several runs are, pair by pair.
//!
//! Tools and arguments are numbers here: each is looked at as text once, however many runs are compared.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::iter::repeat_n;

use super::lanes::{Common, LaneWord, Lanes, Path};
use crate::number::{share, to_f64};
use crate::trace::{Trace, value_json};

/// Lanes for runs whose positions fit one short word.
const SHORT_LANES: usize = 128;

/// Lanes for longer runs: so few that what is written stays in the nearest cache.
pub(super) const LONG_LANES: usize = 32;

/// From how many longer runs on it pays to compare with all lanes, filled or not, and not run by run.
const MANY: usize = 12;

/// The bytes that lanes may take; one run alone takes what it needs.
const BUDGET: usize = 4 << 20;

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
    pub(super) fn from_traces(traces: &[&Trace]) -> Self {
        let (mut tools, mut servers) = (Numbers(HashMap::new()), Numbers(HashMap::new()));
        let mut arguments: Numbers<String> = Numbers(HashMap::new());
        let mut by_text: HashMap<&[u8], u32> = HashMap::new();
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
                let mut number = || arguments.number(value_json(&call.args));
                // Runs of one agent have most arguments in common, also as they are written.
                let argument = match call.args.text() {
                    Some(text) => *by_text.entry(text).or_insert_with(number),
                    None => number(),
                };
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
            let same = to_f64(pairs(*count));
            sums.similarity.add(same, 1);
            sums.consistency.add(same, 1);
        }
        // Where there are very many tools, short runs take too much memory side by side as well.
        let few_tools = Lanes::<u16, SHORT_LANES>::bytes(SHORT, self.tools) <= BUDGET;
        let mut end = 0;
        while end < distinct.len() {
            let (rest, start) = (&distinct[end..], end);
            let (calls, _, _) = rest[0];
            if few_tools && calls <= SHORT {
                end += short_batch_len(rest);
                sums.compare::<u16, SHORT_LANES>(&distinct[..end], start, self.tools);
            } else if let Some(beside) = long_batch_len(rest, self.tools) {
                end += beside;
                sums.compare::<u64, LONG_LANES>(&distinct[..end], start, self.tools);
            } else {
                end += 1;
                sums.compare::<u64, 1>(&distinct[..end], start, self.tools);
            }
        }
        Pairs {
            similarity: sums.similarity.total() / to_f64(total),
            consistency: sums.consistency.total() / to_f64(total),
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
pub(super) type Distinct<'a> = (usize, usize, &'a Path);

/// Whether two paths have as many calls, and weigh the same.
fn can_share_lanes((calls, count, _): &Distinct<'_>, (other, times, _): &Distinct<'_>) -> bool {
    (calls, count) == (other, times)
}

/// Calls that fit one short word.
const SHORT: usize = u16::BITS as usize;

/// How many of these runs, the first of which is short, are put side by side: those alike where they
/// are many, for what they have in common is then counted.
fn short_batch_len(runs: &[Distinct<'_>]) -> usize {
    let runs = &runs[..runs.len().min(SHORT_LANES)];
    let (many, first) = (SHORT_LANES / 4, &runs[0]);
    match runs.partition_point(|run| can_share_lanes(first, run)) {
        same if same >= many => same,
        _ => runs.partition_point(|(calls, _, _)| *calls <= SHORT),
    }
}

/// How many of these runs are put side by side: those of about as many words as the first; `None`
/// where they are few, or take too much memory.
pub(super) fn long_batch_len(runs: &[Distinct<'_>], tools: usize) -> Option<usize> {
    let words = |run: &Distinct<'_>| run.0.div_ceil(u64::BITS as usize);
    let most = words(&runs[0]) * 5 / 4;
    let runs = &runs[..runs.len().min(LONG_LANES)];
    let beside = runs.partition_point(|run| words(run) <= most);
    let bytes = Lanes::<u64, LONG_LANES>::bytes(runs[beside - 1].0, tools);
    (beside >= MANY && bytes <= BUDGET).then_some(beside)
}

#[derive(Default)]
struct Sums {
    similarity: Sum,
    consistency: Sum,
}

impl Sums {
    /// Compares the runs from `start` on with all before them and with each other.
    fn compare<W: LaneWord, const N: usize>(
        &mut self,
        runs: &[Distinct<'_>],
        start: usize,
        tools: usize,
    ) {
        let beside = &runs[start..];
        let mut lanes = Lanes::<W, N>::new(beside.iter().map(|(_, _, path)| *path), tools);
        let (calls, _, _) = beside[0];
        // Short paths that are alike have few things in common: these are counted first.
        let countable = calls <= SHORT && can_share_lanes(&beside[0], &beside[beside.len() - 1]);
        let base = calls + 1;
        let mut table = vec![0; if countable { base.pow(3) } else { 0 }];
        let mut next = 0_usize;
        for others in runs[..runs.len() - 1].chunk_by(can_share_lanes) {
            // The table is looked through after each group of runs, which has to pay.
            let counted = countable && others.len() * beside.len() >= table.len() / 16;
            for other in others {
                next += 1;
                let found = lanes.compare(other.2).zip(beside);
                for (common, run) in found.skip(next.saturating_sub(start)) {
                    if counted {
                        let key = (common.longest * base + common.aligned) * base + common.same;
                        table[key] += 1;
                    } else {
                        self.add(common, 1, run, other);
                    }
                }
            }
            for (key, times) in table
                .iter_mut()
                .enumerate()
                .filter(|(_, times)| counted && **times > 0)
            {
                let common = Common {
                    longest: key / base / base,
                    aligned: key / base % base,
                    same: key % base,
                };
                self.add(common, std::mem::take(times), &beside[0], &others[0]);
            }
        }
    }

    /// Adds what two paths have in common, so many times.
    fn add(&mut self, common: Common, times: usize, run: &Distinct<'_>, other: &Distinct<'_>) {
        let weight = to_f64(run.1 * other.1);
        let similarity = 2.0 * to_f64(common.longest) / to_f64(run.0 + other.0);
        self.similarity.add(weight * similarity, times);
        let consistency = share(common.same, common.aligned).unwrap_or(1.0);
        self.consistency.add(weight * consistency, times);
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

impl<T: Eq + std::hash::Hash> Numbers<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(value).or_insert(next)
    }
}

/// A sum taken from the smallest value on, as [`unordered_sum`](crate::number::unordered_sum) takes it, of few different values: no
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
