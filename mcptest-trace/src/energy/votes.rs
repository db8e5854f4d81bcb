//! Majority votes over packed bits, counted 64 components at a time with carry-save adders.

/// Words that are counted together: wide enough for vector registers, narrow enough to stay there.
pub(super) const LANES: usize = 4;

/// A block of packed components.
pub(super) type Lane = [u64; LANES];

/// Counters can hold 2^`PLANES` − 1 votes.
const PLANES: usize = 40;

/// Votes, each cast so many times.
pub(super) struct Ballots<T> {
    /// For each binary digit of the counts, the highest first: the votes whose count has it.
    digits: Vec<Vec<T>>,
    all: u64,
}

impl<T: Copy> Ballots<T> {
    pub(super) fn from_counts(counted: &[(T, usize)]) -> Self {
        let counts = || counted.iter().map(|(_, count)| *count);
        let digits = usize::BITS - counts().max().unwrap_or_default().leading_zeros();
        let has = |digit: u32| {
            let votes = counted.iter().filter(|(_, count)| count >> digit & 1 == 1);
            votes.map(|(vote, _)| *vote).collect()
        };
        Self {
            digits: (0..digits).rev().map(has).collect(),
            all: counts().map(|count| count as u64).sum(),
        }
    }
}

/// Component-wise majority of the ballots; `tie_break` votes too when their number is even.
///
/// A vote that is cast several times is added once for each binary digit of its count: the counters
/// double from digit to digit.
#[inline]
pub(super) fn majority<T>(
    ballots: &Ballots<T>,
    tie_break: Lane,
    vote: impl Fn(&T) -> Lane,
) -> Lane {
    let mut votes = Votes::default();
    for (round, cast) in ballots.digits.iter().enumerate() {
        if round > 0 {
            votes.double();
        }
        let (sixteens, rest) = cast.as_chunks::<16>();
        for sixteen in sixteens {
            votes.add_sixteen(|index| vote(&sixteen[index]));
        }
        if !rest.is_empty() {
            votes.add_sixteen(|index| rest.get(index).map_or([0; LANES], &vote));
        }
    }
    if ballots.all.is_multiple_of(2) {
        votes.add(tie_break, 0);
    }
    // Of an odd number of votes 2m + 1, more than m.
    votes.more_than(ballots.all / 2)
}

/// Upright counters: bit `b` of every counter stands in `planes[b]`, so one instruction works on
/// all counters of a word.
struct Votes {
    planes: [Lane; PLANES],
    /// Carries into plane 4 and up that wait for a second one, so that a full adder takes both.
    waiting: [Lane; PLANES - 4],
    /// Groups of sixteen added so far; its binary digits say which carries are waiting.
    sixteens: u64,
}

impl Default for Votes {
    fn default() -> Self {
        Self {
            planes: [[0; LANES]; PLANES],
            waiting: [[0; LANES]; PLANES - 4],
            sixteens: 0,
        }
    }
}

impl Votes {
    /// Adds 2^`plane` to every counter whose bit is set.
    fn add(&mut self, mut carry: Lane, plane: usize) {
        for plane in &mut self.planes[plane..] {
            if carry == [0; LANES] {
                break;
            }
            (*plane, carry) = carry_save(*plane, carry, [0; LANES]);
        }
    }

    /// Adds eight votes with seven full adders (Harley and Seal) and gives the carry into plane 3.
    #[inline]
    fn add_eight(&mut self, vote: impl Fn(usize) -> Lane) -> Lane {
        let [ones, twos, fours, ..] = self.planes;
        let (ones, two_a) = carry_save(ones, vote(0), vote(1));
        let (ones, two_b) = carry_save(ones, vote(2), vote(3));
        let (twos, four_a) = carry_save(twos, two_a, two_b);
        let (ones, two_c) = carry_save(ones, vote(4), vote(5));
        let (ones, two_d) = carry_save(ones, vote(6), vote(7));
        let (twos, four_b) = carry_save(twos, two_c, two_d);
        let (fours, carry) = carry_save(fours, four_a, four_b);
        self.planes[..3].copy_from_slice(&[ones, twos, fours]);
        carry
    }

    /// Adds sixteen votes, then hands the carry upwards like an odometer: on average one more adder.
    #[inline]
    fn add_sixteen(&mut self, vote: impl Fn(usize) -> Lane) {
        let eight = self.add_eight(&vote);
        let other = self.add_eight(|index| vote(8 + index));
        let (eights, mut carry) = carry_save(self.planes[3], eight, other);
        self.planes[3] = eights;
        let mut digits = self.sixteens;
        for (plane, waiting) in self.planes[4..].iter_mut().zip(&mut self.waiting) {
            if digits & 1 == 0 {
                *waiting = carry;
                break;
            }
            (*plane, carry) = carry_save(*plane, *waiting, carry);
            digits >>= 1;
        }
        self.sixteens += 1;
    }

    /// Hands all carries that wait upwards.
    fn settle(&mut self) {
        while self.sixteens > 0 {
            let digit = self.sixteens.trailing_zeros() as usize;
            self.add(self.waiting[digit], digit + 4);
            self.sixteens &= self.sixteens - 1;
        }
    }

    /// Doubles every counter.
    fn double(&mut self) {
        self.settle();
        self.planes.copy_within(..PLANES - 1, 1);
        self.planes[0] = [0; LANES];
    }

    /// One bit a counter: whether it exceeds `bound`.
    fn more_than(&mut self, bound: u64) -> Lane {
        self.settle();
        // A count is at most twice the bound and one, so it has at most one digit more.
        let digits = (u64::BITS - bound.leading_zeros()) as usize + 1;
        let planes = &self.planes[..digits.min(PLANES)];
        let (mut above, mut level) = ([0; LANES], [u64::MAX; LANES]);
        for (digit, plane) in planes.iter().enumerate().rev() {
            for lane in 0..LANES {
                if bound >> digit & 1 == 1 {
                    level[lane] &= plane[lane];
                } else {
                    above[lane] |= level[lane] & plane[lane];
                    level[lane] &= !plane[lane];
                }
            }
        }
        above
    }
}

/// A full adder in each column: the sum and the carry of three bits.
#[inline]
fn carry_save(a: Lane, b: Lane, c: Lane) -> (Lane, Lane) {
    let (mut sum, mut carry) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let half = a[lane] ^ b[lane];
        sum[lane] = half ^ c[lane];
        carry[lane] = (a[lane] & b[lane]) | (half & c[lane]);
    }
    (sum, carry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_majority_is_what_counting_one_by_one_gives(
            votes in prop::collection::vec((any::<Lane>(), prop_oneof![3 => Just(1), 1 => 0..70_usize]), 0..130),
            tie_break: Lane,
        ) {
            let packed = majority(&Ballots::from_counts(&votes), tie_break, |vote| *vote);
            for component in 0..64 * LANES {
                let set = |lane: &Lane| lane[component / 64] >> (component % 64) & 1 == 1;
                let cast = votes.iter().flat_map(|(vote, count)| std::iter::repeat_n(vote, *count));
                let mut ballots: Vec<bool> = cast.map(set).collect();
                if ballots.len().is_multiple_of(2) {
                    ballots.push(set(&tie_break));
                }
                let yes = ballots.iter().filter(|yes| **yes).count();
                prop_assert_eq!(set(&packed), 2 * yes > ballots.len());
            }
        }
    }
}
