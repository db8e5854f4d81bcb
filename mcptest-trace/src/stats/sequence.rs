//! How far apart two sequences are: 1 − 2 · LCS / (length + length'), by their longest common
//! subsequence.

use crate::number::to_f64;

/// The distance of two sequences, 0 (the same) to 1 (nothing in common); 0 for two empty ones.
///
/// Cost: length · length' comparisons, after what both begin and end with.
pub(crate) fn distance<T: PartialEq>(left: &[T], right: &[T]) -> f64 {
    let length = left.len() + right.len();
    if length == 0 {
        return 0.0;
    }
    1.0 - 2.0 * to_f64(longest_common(left, right)) / to_f64(length)
}

fn longest_common<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    let pairs = || left.iter().zip(right);
    let prefix = pairs().take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let ends = left.iter().rev().zip(right.iter().rev());
    let suffix = ends.take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    let mut row = vec![0; right.len() + 1];
    for a in left {
        let mut diagonal = 0;
        for (place, b) in right.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if a == b {
                diagonal + 1
            } else {
                above.max(row[place])
            };
            diagonal = above;
        }
    }
    prefix + suffix + row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(left: &[u8], right: &[u8]) -> usize {
        match (left, right) {
            ([a, l @ ..], [b, r @ ..]) if a == b => 1 + slow(l, r),
            ([_, l @ ..], [_, r @ ..]) => slow(l, right).max(slow(left, r)),
            _ => 0,
        }
    }

    #[test]
    fn the_worked_sequences() {
        assert_eq!(distance(b"abc", b"abd"), 1.0 - 4.0 / 6.0);
        assert_eq!(distance::<u8>(&[], &[]), 0.0);
        assert_eq!(distance(b"", b"a"), 1.0);
    }

    proptest! {
        #[test]
        fn the_common_part_is_the_longest(
            left in prop::collection::vec(0..4_u8, 0..9), right in prop::collection::vec(0..4_u8, 0..9),
        ) {
            prop_assert_eq!(longest_common(&left, &right), slow(&left, &right));
            let there = distance(&left, &right);
            prop_assert!((0.0..=1.0).contains(&there));
            prop_assert_eq!(there, distance(&right, &left));
            prop_assert_eq!(distance(&left, &left), 0.0);
        }
    }
}
