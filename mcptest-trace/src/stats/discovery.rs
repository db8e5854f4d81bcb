//! Which of many tests to read on: the false discovery rate (Benjamini and Hochberg 1995).

use crate::number::to_f64;

/// Which p-values are rejected so that at most a share `rate` of the rejected is expected to be false.
pub(crate) fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = to_f64(sorted.len());
    let below = |place: usize| sorted[place] <= rate * to_f64(place + 1) / count * (1.0 + 1e-12);
    let last = (0..sorted.len()).rev().find(|place| below(*place));
    let bound = last.map_or(-1.0, |place| sorted[place]);
    p_values.iter().map(|p| *p <= bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_the_paper() {
        // Section 3.2: four of fifteen at 5%.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        assert_eq!(
            discoveries(&p, 0.05).iter().filter(|found| **found).count(),
            4
        );
        assert!(discoveries(&[], 0.1).is_empty());
        assert_eq!(discoveries(&[0.01, 0.9, 0.06], 0.1), [true, false, true]);
        assert_eq!(discoveries(&[0.07, 0.9, 0.06], 0.1), [false, false, false]);
    }

    proptest! {
        #[test]
        fn a_smaller_p_is_found_where_a_larger_one_is(p in prop::collection::vec(0.0..1.0_f64, 0..20)) {
            let found = discoveries(&p, 0.3);
            for (a, found_a) in p.iter().zip(&found) {
                for (b, found_b) in p.iter().zip(&found) {
                    prop_assert!(a > b || !found_b || *found_a);
                }
                // Bonferroni's are always among them.
                prop_assert!(*a > 0.3 / p.len() as f64 || *found_a);
            }
        }
    }
}
