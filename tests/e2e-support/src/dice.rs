//! Numbers that look random and are the same in every run of a test.

use std::time::Duration;

/// A generator (xorshift); its seed is not 0.
pub struct Dice(pub u64);

impl Dice {
    /// A part of this time.
    pub fn part_of(&mut self, whole: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        whole.mul_f64(f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX))
    }
}
