//! splitmix64 (Steele, Lea and Flood 2014) by index: fixed numbers without a random source.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that follows a state: also a good hash of it.
pub(crate) const fn scramble(state: u64) -> u64 {
    let mut word = state.wrapping_add(GOLDEN);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Number `index`, from 0, of the sequence of a seed.
pub(crate) const fn nth(seed: u64, index: u64) -> u64 {
    scramble(seed.wrapping_add(GOLDEN.wrapping_mul(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The reference implementation from seed 1234567.
        let first: [u64; 3] = std::array::from_fn(|index| nth(1_234_567, index as u64));
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
