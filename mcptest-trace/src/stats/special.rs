//! The special functions behind the tests: no more than the tests need.

use std::f64::consts::{PI, TAU};

/// P(|T| ≥ |t|) for Student's t: I of df / (df + t²) with parameters df/2 and 1/2.
pub(crate) fn student_two_sided(t: f64, df: f64) -> f64 {
    // Both arguments of I, without cancellation and without squaring a large t.
    let ratio = t.abs() / df.sqrt();
    let near = 1.0 / (1.0 + ratio * ratio);
    let far = if ratio > 1.0 {
        1.0 / (1.0 + (1.0 / ratio).powi(2))
    } else {
        ratio * ratio * near
    };
    incomplete_beta(near, far, df / 2.0, 0.5)
}

/// The regularized incomplete beta function `I_x(a, b)` for a, b > 0 and x in 0..=1, where `rest`
/// is 1 − x: the continued fraction of DLMF 8.17.22.
pub(crate) fn incomplete_beta(x: f64, rest: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    // The fraction converges fast on this side; the other side is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(rest, x, b, a);
    }
    let log_front = a * x.ln() + b * rest.ln() - log_beta(a, b);
    (log_front.exp() / (a * beta_fraction(x, a, b))).clamp(0.0, 1.0)
}

/// 1 + d₁/(1 + d₂/(1 + …)), evaluated forwards (Lentz).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut upper, mut lower) = (1.0, 1.0, 0.0);
    for index in 1..=400_u32 {
        let m = f64::from(index / 2);
        let term = if index.is_multiple_of(2) {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        upper = away(1.0 + term / upper);
        lower = 1.0 / away(1.0 + term * lower);
        let factor = upper * lower;
        value *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

fn log_beta(a: f64, b: f64) -> f64 {
    log_gamma(a) + log_gamma(b) - log_gamma(a + b)
}

/// ln Γ(x) for x > 0: Stirling's series (DLMF 5.11.1) after shifting x upwards.
fn log_gamma(x: f64) -> f64 {
    // Bₖ / (k (k − 1)) for k = 2, 4, …, 14.
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1_260.0,
        -1.0 / 1_680.0,
        1.0 / 1_188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let tail = SERIES
        .iter()
        .rev()
        .fold(0.0, |sum, coefficient| sum * square + coefficient);
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + tail / x - shift
}

/// The z with P(|Z| ≤ z) = `level` for a standard normal Z, level in 0..1: by bisection.
pub(crate) fn normal_two_sided(level: f64) -> f64 {
    bisect(9.0, |z| normal_within(z) < level)
}

/// Where, from 0 to `most`, a value stops to be too low.
pub(crate) fn bisect(most: f64, is_too_low: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if is_too_low(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(|Z| ≤ z) for z in 0..=9: 2 φ(z) · (z + z³/3 + z⁵/(3·5) + …), all terms positive.
pub(crate) fn normal_within(z: f64) -> f64 {
    let (mut sum, mut term, mut odd) = (0.0, z, 1.0);
    while term > sum * 1e-17 {
        sum += term;
        odd += 2.0;
        term *= z * z / odd;
    }
    (2.0 * (-z * z / 2.0).exp() / (2.0 * PI).sqrt() * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn log_gamma_of_whole_and_half_numbers() {
        let mut factorial = 0.0_f64;
        for n in 1..30_u32 {
            assert!((log_gamma(f64::from(n)) - factorial).abs() < 1e-12 * factorial.max(1.0));
            factorial += f64::from(n).ln();
        }
        assert!((log_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-14);
    }

    #[test]
    fn student_has_its_closed_forms() {
        for t in [0.0, 0.1, 0.5, 1.0, 2.0, 12.706, 1e6] {
            // One degree of freedom is Cauchy's distribution.
            let cauchy = 1.0 - 2.0 / PI * f64::atan(t);
            assert!((student_two_sided(t, 1.0) - cauchy).abs() < 1e-13, "{t}");
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((student_two_sided(-t, 2.0) - two).abs() < 1e-13, "{t}");
        }
        // The usual table: 5 % at 10 degrees of freedom, and the normal limit.
        assert!((student_two_sided(2.228_138_852, 10.0) - 0.05).abs() < 1e-9);
        assert!((student_two_sided(1.959_963_985, 1e9) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn the_normal_quantiles_of_the_tables() {
        for (level, z) in [
            (0.9, 1.644_853_627),
            (0.95, 1.959_963_985),
            (0.99, 2.575_829_304),
        ] {
            assert!((normal_two_sided(level) - z).abs() < 1e-9);
        }
    }

    proptest! {
        #[test]
        fn incomplete_beta_mirrors_and_stays_within_its_bounds(
            x in 0.0..=1.0, a in 0.05..60.0, b in 0.05..60.0,
        ) {
            let value = incomplete_beta(x, 1.0 - x, a, b);
            let mirror = incomplete_beta(1.0 - x, x, b, a);
            prop_assert!((0.0..=1.0).contains(&value));
            prop_assert!((value + mirror - 1.0).abs() < 1e-9, "{} {}", value, mirror);
        }

        #[test]
        fn a_larger_t_is_never_more_likely(t in 0.0..50.0, more in 0.0..10.0, df in 1.0..200.0) {
            prop_assert!(student_two_sided(t + more, df) <= student_two_sided(t, df) + 1e-12);
        }
    }
}
