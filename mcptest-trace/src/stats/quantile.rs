//! Quantiles and tails of the normal law, Student's t and the beta law.

use std::f64::consts::PI;

use crate::stats::special::{
    bisect, incomplete_beta, normal_two_sided, normal_within, student_two_sided,
};

/// The point that a standard normal value exceeds with probability `share`, 0 < share < 1.
pub(crate) fn normal_upper_point(share: f64) -> f64 {
    if share > 0.5 {
        return -normal_upper_point(1.0 - share);
    }
    // The tail is convex: Newton's steps from 0 come up to the point and never beyond it.
    let mut z = 0.0;
    for _ in 0..1_000 {
        let step = (normal_upper(z) - share) / density(z);
        z += step;
        if step <= 1e-15 * z {
            break;
        }
    }
    z
}

fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

/// P(Z ≥ z) of a standard normal Z, small tails to full precision.
pub(crate) fn normal_upper(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_upper(-z);
    }
    if z < 2.5 {
        return 0.5 * (1.0 - normal_within(z));
    }
    // φ(z) / (z + 1/(z + 2/(z + …))) (DLMF 7.9.1), from the inside outwards.
    let fraction = (1..=80).rev().fold(z, |inner, k| z + f64::from(k) / inner);
    density(z) / fraction
}

/// The z of a two-sided normal interval of 95%.
pub(crate) fn normal_95() -> f64 {
    normal_two_sided(0.95)
}

/// The t of a two-sided interval of 95% with `df` degrees of freedom; `None` without any.
pub(crate) fn student_95(df: f64) -> Option<f64> {
    if df.is_nan() || df < 1.0 {
        return None;
    }
    // One degree of freedom has the largest: 12.706.
    Some(bisect(13.0, |t| student_two_sided(t, df) > 0.05))
}

/// The value that a beta-distributed share with these parameters (both above 0) stays below with
/// probability `level`.
pub(crate) fn beta_point(level: f64, a: f64, b: f64) -> f64 {
    bisect(1.0, |share| {
        incomplete_beta(share, 1.0 - share, a, b) < level
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_usual_tables() {
        assert!((student_95(10.0).unwrap() - 2.228_138_852).abs() < 1e-8);
        assert_eq!(student_95(0.0), None);
        assert!((normal_upper_point(0.025) - 1.959_963_984_540_054).abs() < 1e-9);
        assert!((normal_upper_point(0.5)).abs() < 1e-9);
        assert_eq!(normal_upper(0.0), 0.5);
        assert!((normal_upper(6.0) / 9.865_876_450_376_98e-10 - 1.0).abs() < 1e-9);
        for (df, t) in [
            (1.0, 12.706_204_736),
            (3.0, 3.182_446_305),
            (29.0, 2.045_229_642),
        ] {
            assert!((student_95(df).unwrap() / t - 1.0).abs() < 1e-9, "{df}");
        }
        assert!((student_95(1e7).unwrap() - normal_95()).abs() < 1e-5);
        for (share, z) in [(0.05, 1.644_853_627), (8.333_333_333e-4, 3.143_980_287)] {
            assert!((normal_upper_point(share) - z).abs() < 1e-8, "{share}");
        }
        for (n, k, least) in [
            (19.0, 1.0, 0.854_131),
            (36.0, 1.0, 0.920_153),
            (59.0, 1.0, 0.950_492),
            (93.0, 2.0, 0.950_006),
        ] {
            let bound = beta_point(0.05, n - k + 1.0, k);
            assert!((bound - least).abs() < 1e-6, "{n} {k}: {bound}");
        }
    }

    #[test]
    fn both_ways_to_the_normal_tail_agree() {
        for z in [2.5, 3.0, 4.0] {
            let plain = 0.5 * (1.0 - normal_within(z));
            assert!((normal_upper(z) / plain - 1.0).abs() < 1e-10, "{z}");
        }
    }

    proptest! {
        #[test]
        fn tails_fall_and_points_invert_them(z in -6.0..6.0, more in 0.0..3.0, share in 1e-9..0.999) {
            prop_assert!(normal_upper(z + more) <= normal_upper(z) + 1e-15);
            let back = normal_upper(normal_upper_point(share));
            prop_assert!((back / share - 1.0).abs() < 1e-6, "{} {}", back, share);
        }
    }
}
