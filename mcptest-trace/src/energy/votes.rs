//! Majority votes over packed bits, counted 64 components at a time with carry-save adders.

/// Words that are counted together: wide enough for vector registers, narrow enough to stay there.
pub(super) const LANES: usize = 4;

/// A block of packed components.
pub(super) type Lane = [u64; LANES];

/// Counters can hold 2^`PLANES` − 1 votes.
const PLANES: usize = 40;

/// Component-wise majority of `count` votes; `tie_break` votes too when the count is even.
#[inline]
pub(super) fn majority(count: usize, tie_break: Lane, vote: impl Fn(usize) -> Lane) -> Lane {
    let mut votes = Votes::default();
    let grouped = count - count % 8;
    for first in (0..grouped).step_by(8) {
        votes.add_eight(std::array::from_fn(|offset| vote(first + offset)));
    }
    for index in grouped..count {
        votes.add(vote(index), 0);
    }
    if count.is_multiple_of(2) {
        votes.add(tie_break, 0);
    }
    // Of an odd number of votes 2m + 1, more than m.
    votes.more_than(count as u64 / 2)
}

/// Upright counters: bit `b` of every counter stands in `planes[b]`, so one instruction works on
/// all counters of a word.
struct Votes {
    planes: [Lane; PLANES],
    /// Carries into plane 3 and up that wait for a second one, so that a full adder takes both.
    waiting: [Lane; PLANES - 3],
    /// Groups of eight added so far; its binary digits say which carries are waiting.
    eights: u64,
}

impl Default for Votes {
    fn default() -> Self {
        Self {
            planes: [[0; LANES]; PLANES],
            waiting: [[0; LANES]; PLANES - 3],
            eights: 0,
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

    /// Adds eight votes with seven full adders (Harley and Seal), then hands the carry upwards
    /// like an odometer: on average one more adder.
    #[inline]
    fn add_eight(&mut self, votes: [Lane; 8]) {
        let [ones, twos, fours, ..] = self.planes;
        let (ones, two_a) = carry_save(ones, votes[0], votes[1]);
        let (ones, two_b) = carry_save(ones, votes[2], votes[3]);
        let (twos, four_a) = carry_save(twos, two_a, two_b);
        let (ones, two_c) = carry_save(ones, votes[4], votes[5]);
        let (ones, two_d) = carry_save(ones, votes[6], votes[7]);
        let (twos, four_b) = carry_save(twos, two_c, two_d);
        let (fours, mut carry) = carry_save(fours, four_a, four_b);
        self.planes[..3].copy_from_slice(&[ones, twos, fours]);

        let mut digits = self.eights;
        for (plane, waiting) in self.planes[3..].iter_mut().zip(&mut self.waiting) {
            if digits & 1 == 0 {
                *waiting = carry;
                break;
            }
            (*plane, carry) = carry_save(*plane, *waiting, carry);
            digits >>= 1;
        }
        self.eights += 1;
    }

    /// One bit a counter: whether it exceeds `bound`.
    fn more_than(mut self, bound: u64) -> Lane {
        for digit in 0..self.waiting.len() {
            if self.eights >> digit & 1 == 1 {
                self.add(self.waiting[digit], digit + 3);
            }
        }
        let (mut above, mut level) = ([0; LANES], [u64::MAX; LANES]);
        for (digit, plane) in self.planes.iter().enumerate().rev() {
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
            votes in prop::collection::vec(any::<Lane>(), 0..130),
            tie_break: Lane,
        ) {
            let packed = majority(votes.len(), tie_break, |index| votes[index]);
            for component in 0..64 * LANES {
                let set = |lane: &Lane| lane[component / 64] >> (component % 64) & 1 == 1;
                let mut ballots: Vec<bool> = votes.iter().map(set).collect();
                if ballots.len().is_multiple_of(2) {
                    ballots.push(set(&tie_break));
                }
                let yes = ballots.iter().filter(|yes| **yes).count();
                prop_assert_eq!(set(&packed), 2 * yes > ballots.len());
            }
        }
    }
}
