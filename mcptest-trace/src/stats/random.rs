//! Random numbers that are the same everywhere: labelled streams of splitmix64 (Steele, Lea and
//! Flood 2014), read by index.
//!
//! A label names the feature, the agent and the test, so that another agent or another metric never
//! changes a number: `start = scramble(fnv1a64(label.as_bytes()) xor seed)`, and draw k = 1, 2, … is the number
//! `k` of the sequence of `start`.

use crate::energy::splitmix::{nth, scramble};
use crate::fnv::fnv1a64;

/// A stream of random numbers, named by a label.
///
/// ```
/// use mcptest_trace::stats::random::Stream;
///
/// let mut stream = Stream::new("compare/Refund_agent__gpt-5/tools", 0);
/// assert_eq!(stream.draw(), 12_986_012_468_722_055_689);
/// assert_eq!(stream.draw(), 17_060_675_295_310_565_240);
/// assert_eq!(stream.draw(), 12_909_052_876_992_378_225);
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    start: u64,
    drawn: u64,
}

impl Stream {
    /// The stream of a label. A seed other than 0 gives other numbers everywhere.
    #[must_use]
    pub fn new(label: &str, seed: u64) -> Self {
        Self::from_seed(fnv1a64(label.as_bytes()) ^ seed)
    }

    /// The stream of a seed, without a label.
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self {
            start: scramble(seed),
            drawn: 0,
        }
    }

    /// The next number, of 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.drawn += 1;
        nth(self.start, self.drawn)
    }

    /// A number below `bound`: the high half of draw · bound. 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.draw()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Leaves out the next numbers, as if they had been drawn.
    pub(crate) fn skip(&mut self, draws: u64) {
        self.drawn += draws;
    }

    /// Fills `order` with 0, 1, … and shuffles it (Fisher and Yates, from the end). Takes one draw
    /// fewer than there are places.
    ///
    /// ```
    /// use mcptest_trace::stats::random::Stream;
    ///
    /// let mut order = [0; 5];
    /// Stream::new("a", 0).shuffle(&mut order);
    /// assert_eq!(order, [0, 1, 3, 2, 4]);
    /// ```
    pub fn shuffle(&mut self, order: &mut [usize]) {
        for (place, item) in order.iter_mut().enumerate() {
            *item = place;
        }
        for place in (1..order.len()).rev() {
            let other = self.below(place + 1);
            order.swap(place, other);
        }
    }

    /// Chooses `wanted` of the places 0..`available`, sorted; all where there are no more, without a
    /// draw.
    pub(crate) fn choose(&mut self, wanted: usize, available: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..available).collect();
        if available <= wanted {
            return places;
        }
        for place in 0..wanted {
            let other = place + self.below(available - place);
            places.swap(place, other);
        }
        places.truncate(wanted);
        places.sort_unstable();
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_seed_gives_other_numbers_and_an_earlier_draw_is_not_needed_for_a_later_one() {
        let (mut plain, mut seeded) = (Stream::new("a", 0), Stream::new("a", 1));
        assert_ne!(plain.draw(), seeded.draw());
        let mut skipping = Stream::new("a", 0);
        skipping.skip(1);
        assert_eq!(plain.draw(), skipping.draw());
        assert_eq!(plain.below(0), 0);
    }

    #[test]
    fn a_choice_is_the_same_everywhere() {
        assert_eq!(Stream::new("a", 0).choose(3, 10), [6, 7, 8]);
        assert_eq!(Stream::new("a", 0).choose(3, 2), [0, 1]);
    }

    proptest! {
        #[test]
        fn a_shuffle_has_every_place_once(label: String, seed: u64, length in 0..50_usize) {
            let mut order = vec![7; length];
            let mut stream = Stream::new(&label, seed);
            stream.shuffle(&mut order);
            prop_assert_eq!(stream.drawn, length.saturating_sub(1) as u64);
            order.sort_unstable();
            prop_assert_eq!(order, (0..length).collect::<Vec<_>>());
        }

        #[test]
        fn a_choice_has_as_many_places_as_wanted(
            label: String, wanted in 0..20_usize, available in 0..40_usize,
        ) {
            let places = Stream::new(&label, 0).choose(wanted, available);
            prop_assert_eq!(places.len(), wanted.min(available));
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(places.iter().all(|place| *place < available));
        }
    }
}
