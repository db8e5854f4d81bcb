//! One run compared with many at once.
//!
//! Runs of one length stand side by side, each in a lane: what is done to one is done to its neighbours
//! by the same instructions, without a branch.

use super::pairs::Path;

/// Runs in a block: so many that what is written stays in the nearest cache.
pub(super) const LANES: usize = 128;

/// Some positions of a path, a bit each.
pub(super) trait Word: Copy {
    /// How many positions.
    const BITS: usize;
    const NONE: Self;
    const ALL: Self;
    /// With one position more, counted from the start of the path.
    fn with(self, position: usize) -> Self;
    /// How many of its positions it lacks.
    fn lacks(self) -> u32;
    /// This word of a row after one more call to the tool with these places, and the carry that it
    /// hands to the next word, having had one from the word before.
    fn grown(self, places: Self, carry: Self) -> (Self, Self);
}

macro_rules! word {
    ($word:ident, $carry:expr) => {
        impl Word for $word {
            const BITS: usize = $word::BITS as usize;
            const NONE: Self = 0;
            const ALL: Self = $word::MAX;

            fn with(self, position: usize) -> Self {
                self | 1 << (position % <Self as Word>::BITS)
            }

            fn lacks(self) -> u32 {
                self.count_zeros()
            }

            fn grown(self, places: Self, carry: Self) -> (Self, Self) {
                let matched = self & places;
                let sum = self.wrapping_add(matched).wrapping_add(carry);
                let lost = self & !sum;
                ((sum | (self & !places)), $carry(matched | lost))
            }
        }
    };
}

// Short paths have one word, which has no next.
word!(u16, |_| 0);
word!(u64, |carries: u64| carries >> 63);

/// What two runs have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Common {
    /// The length of the longest common subsequence of their tools.
    pub(super) longest: usize,
    /// At how many positions both called the same tool.
    pub(super) aligned: usize,
    /// At how many of these with the same arguments.
    pub(super) same: usize,
}

/// Runs with the same number of calls.
pub(super) struct Block<W> {
    lanes: usize,
    /// Words of a lane.
    words: usize,
    /// Where the runs have each tool: for each word of each tool, all lanes.
    places: Vec<W>,
    /// What each run called, and with what: for each position, all lanes.
    tools: Vec<u32>,
    arguments: Vec<u32>,
    rows: Vec<W>,
    carry: Vec<W>,
    longest: Vec<u32>,
    aligned: Vec<u32>,
    same: Vec<u32>,
}

impl<W: Word> Block<W> {
    /// Of runs with so many calls to tools whose numbers are below `all_tools`.
    pub(super) fn of(runs: &[&Path], calls: usize, all_tools: usize) -> Self {
        let (lanes, words) = (runs.len(), calls.div_ceil(W::BITS));
        let mut places = vec![W::NONE; all_tools * words * lanes];
        let (mut tools, mut arguments) = (vec![0; calls * lanes], vec![0; calls * lanes]);
        for (lane, run) in runs.iter().enumerate() {
            for (index, (tool, argument)) in run.tools.iter().zip(&run.arguments).enumerate() {
                let word = *tool as usize * words + index / W::BITS;
                let place = &mut places[word * lanes + lane];
                *place = place.with(index);
                tools[index * lanes + lane] = *tool;
                arguments[index * lanes + lane] = *argument;
            }
        }
        Self {
            lanes,
            words,
            places,
            tools,
            arguments,
            rows: vec![W::NONE; words * lanes],
            carry: vec![W::NONE; lanes],
            longest: vec![0; lanes],
            aligned: vec![0; lanes],
            same: vec![0; lanes],
        }
    }

    /// What another run has in common with each of these, from a lane on.
    pub(super) fn compare(&mut self, run: &Path, from: usize) -> impl Iterator<Item = Common> {
        self.find_longest(&run.tools, from);
        self.find_aligned(run, from);
        let aligned = self.aligned[from..].iter().zip(&self.same[from..]);
        let found = self.longest[from..].iter().zip(aligned);
        found.map(|(longest, (aligned, same))| Common {
            longest: *longest as usize,
            aligned: *aligned as usize,
            same: *same as usize,
        })
    }

    /// The longest common subsequence, a word of positions at a time (Crochemore, Iliopoulos, Pinzon
    /// and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence
    /// problem", 2001): a zero bit of a row marks a position where it grows.
    fn find_longest(&mut self, tools: &[u32], from: usize) {
        let (lanes, words) = (self.lanes, self.words);
        self.rows.fill(W::ALL);
        for tool in tools {
            self.carry.fill(W::NONE);
            let places = &self.places[*tool as usize * words * lanes..];
            for word in (0..words).map(|word| word * lanes) {
                let row = &mut self.rows[word..][from..lanes];
                let carry = &mut self.carry[from..lanes];
                let places = &places[word..][from..lanes];
                for ((row, carry), places) in row.iter_mut().zip(carry).zip(places) {
                    (*row, *carry) = row.grown(*places, *carry);
                }
            }
        }
        // No bit past a run's end is ever cleared: no tool has a place there.
        self.longest.fill(0);
        for row in self.rows.chunks_exact(lanes) {
            for (longest, word) in self.longest.iter_mut().zip(row) {
                *longest += word.lacks();
            }
        }
    }

    fn find_aligned(&mut self, run: &Path, from: usize) {
        self.aligned.fill(0);
        self.same.fill(0);
        let columns = self.tools.chunks_exact(self.lanes);
        let columns = columns.zip(self.arguments.chunks_exact(self.lanes));
        let calls = run.tools.iter().zip(&run.arguments);
        for ((tool, argument), (tools, arguments)) in calls.zip(columns) {
            let counts = self.aligned[from..].iter_mut().zip(&mut self.same[from..]);
            let theirs = tools[from..].iter().zip(&arguments[from..]);
            for ((aligned, same), (other_tool, other_argument)) in counts.zip(theirs) {
                let here = u32::from(tool == other_tool);
                *aligned += here;
                *same += here & u32::from(argument == other_argument);
            }
        }
    }
}
