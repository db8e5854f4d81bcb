//! One run compared with several at once.
//!
//! Runs of about one length stand side by side, each in a lane: what is done to one is done to its
//! neighbours by the same instructions, without a branch.

/// What a run called: the numbers of its tools, and those of its arguments.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    pub(super) tools: Vec<u32>,
    pub(super) arguments: Vec<u32>,
}

/// The number of no tool: runs shorter than their neighbours are filled up with it.
const NO_TOOL: u32 = u32::MAX;

/// Some positions of a path, a bit each.
pub(super) trait LaneWord: Copy {
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

macro_rules! lane_word {
    ($word:ident, $carry:expr) => {
        impl LaneWord for $word {
            const BITS: usize = $word::BITS as usize;
            const NONE: Self = 0;
            const ALL: Self = $word::MAX;

            fn with(self, position: usize) -> Self {
                self | 1 << (position % <Self as LaneWord>::BITS)
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
lane_word!(u16, |_| 0);
lane_word!(u64, |carries: u64| carries >> 63);

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

/// Up to `N` runs, side by side.
pub(super) struct Lanes<W, const N: usize> {
    /// Words of a lane: those of the longest run.
    words: usize,
    /// Where the runs have each tool: for each word of each tool, all lanes.
    places: Vec<[W; N]>,
    /// What each run called, and with what: for each position, all lanes.
    tools: Vec<[u32; N]>,
    arguments: Vec<[u32; N]>,
    rows: Vec<[W; N]>,
    longest: [u32; N],
    aligned: [u32; N],
    same: [u32; N],
}

impl<W: LaneWord, const N: usize> Lanes<W, N> {
    /// How many bytes it takes to compare runs of up to so many calls to so many tools.
    pub(super) const fn bytes(calls: usize, all_tools: usize) -> usize {
        let words = calls.div_ceil(W::BITS);
        let bits = words.saturating_mul(all_tools.saturating_add(1));
        let bits = bits.saturating_mul(size_of::<W>());
        let numbers = calls.saturating_mul(2 * size_of::<u32>());
        bits.saturating_add(numbers).saturating_mul(N)
    }

    /// Puts runs side by side. The numbers of their tools are below `all_tools`.
    pub(super) fn new<'a>(runs: impl Iterator<Item = &'a Path> + Clone, all_tools: usize) -> Self {
        let calls = runs.clone().map(|run| run.tools.len()).max().unwrap_or(0);
        let words = calls.div_ceil(W::BITS);
        let mut lanes = Self {
            words,
            places: vec![[W::NONE; N]; all_tools * words],
            tools: vec![[NO_TOOL; N]; calls],
            arguments: vec![[0; N]; calls],
            rows: vec![[W::NONE; N]; words],
            longest: [0; N],
            aligned: [0; N],
            same: [0; N],
        };
        for (lane, run) in runs.enumerate() {
            for (index, (tool, argument)) in run.tools.iter().zip(&run.arguments).enumerate() {
                let word = *tool as usize * words + index / W::BITS;
                let place = &mut lanes.places[word][lane];
                *place = place.with(index);
                lanes.tools[index][lane] = *tool;
                lanes.arguments[index][lane] = *argument;
            }
        }
        lanes
    }

    /// What another run has in common with each of these; nothing with a lane that is empty.
    pub(super) fn compare(&mut self, run: &Path) -> impl Iterator<Item = Common> {
        self.find_longest(&run.tools);
        self.find_aligned(run);
        let aligned = self.aligned.iter().zip(&self.same);
        let found = self.longest.iter().zip(aligned);
        found.map(|(longest, (aligned, same))| Common {
            longest: *longest as usize,
            aligned: *aligned as usize,
            same: *same as usize,
        })
    }

    /// The longest common subsequence, a word of positions at a time (Crochemore, Iliopoulos, Pinzon
    /// and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence
    /// problem", 2001): a zero bit of a row marks a position where it grows.
    fn find_longest(&mut self, tools: &[u32]) {
        self.rows.fill([W::ALL; N]);
        for tool in tools {
            let places = &self.places[*tool as usize * self.words..][..self.words];
            let mut carry = [W::NONE; N];
            for (row, places) in self.rows.iter_mut().zip(places) {
                for ((row, carry), places) in row.iter_mut().zip(&mut carry).zip(places) {
                    (*row, *carry) = row.grown(*places, *carry);
                }
            }
        }
        // No bit past a run's end is ever cleared: no tool has a place there.
        self.longest = [0; N];
        for row in &self.rows {
            for (longest, word) in self.longest.iter_mut().zip(row) {
                *longest += word.lacks();
            }
        }
    }

    /// At how many positions the tools are the same, and at how many the arguments too.
    fn find_aligned(&mut self, run: &Path) {
        (self.aligned, self.same) = ([0; N], [0; N]);
        let calls = run.tools.iter().zip(&run.arguments);
        let theirs = self.tools.iter().zip(&self.arguments);
        for ((tool, argument), (tools, arguments)) in calls.zip(theirs) {
            let counts = self.aligned.iter_mut().zip(&mut self.same);
            let theirs = tools.iter().zip(arguments);
            for ((aligned, same), (other_tool, other_argument)) in counts.zip(theirs) {
                let here = u32::from(tool == other_tool);
                *aligned += here;
                *same += here & u32::from(argument == other_argument);
            }
        }
    }
}
