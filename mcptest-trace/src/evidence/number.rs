//! Counts as real numbers, in one place.

/// A count as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts above 2^53 are no measurements"
)]
pub(super) fn real(count: usize) -> f64 {
    count as f64
}

/// A count of 64 bits as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts above 2^53 are no measurements"
)]
pub(super) fn real64(count: u64) -> f64 {
    count as f64
}

/// A count in 64 bits.
pub(super) fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The least whole number that is not below a number that is never negative; `None` where it is no
/// finite number or beyond all counts.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked before"
)]
pub(super) fn rounded_up(number: f64) -> Option<u64> {
    let up = number.ceil();
    (up.is_finite() && (0.0..1e15).contains(&up)).then_some(up as u64)
}

/// ln 0!, ln 1!, …, ln n!: sums of logarithms, largest error far below 1e-12 for counts of runs.
pub(super) fn log_factorials(n: usize) -> Vec<f64> {
    let mut logs = Vec::with_capacity(n + 1);
    let mut sum = 0.0;
    logs.push(sum);
    for k in 1..=n {
        sum += real(k).ln();
        logs.push(sum);
    }
    logs
}
