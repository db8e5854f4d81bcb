//! What tells one text from another in 16 characters.

/// The 64-bit FNV-1a hash: the same on every machine and in every version, which the standard
/// library's hashes do not promise. No defence against forgery.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The hash of a text as 16 hex digits.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    format!("{:016x}", hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_of_the_hash_come_out() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
