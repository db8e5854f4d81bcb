//! Counts as real numbers and back, in one place.

/// A count as a real number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts above 2^53 are no measurements"
)]
pub(crate) fn to_f64(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / to_f64(count))
}

/// The sum of values in no order: taken from the smallest on, since floats do not add up to the same in every order.
pub(crate) fn unordered_sum(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.iter().sum()
}

/// The mean of values in no order; `None` of nothing.
pub(crate) fn unordered_mean(values: Vec<f64>) -> Option<f64> {
    let count = to_f64(values.len());
    (count > 0.0).then(|| unordered_sum(values) / count)
}

/// A part as a share of the whole; `None` of nothing.
pub(crate) fn share<N: TryInto<u64>>(part: N, whole: N) -> Option<f64> {
    let whole = to_f64(whole);
    (whole > 0.0).then(|| to_f64(part) / whole)
}

/// A place or a number of items: the whole part of a number that is never negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction is to be cut off, and casts saturate"
)]
pub(crate) fn to_usize(number: f64) -> usize {
    number as usize
}

/// A count in 64 bits.
pub(crate) fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The least whole number that is not below a number that is never negative; `None` where it is no
/// finite number or beyond all counts.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked before"
)]
pub(crate) fn ceil_to_u64(number: f64) -> Option<u64> {
    let up = number.ceil();
    (up.is_finite() && (0.0..1e15).contains(&up)).then_some(up as u64)
}

/// ln 0!, ln 1!, …, ln n!: sums of logarithms, largest error far below 1e-12 for counts of runs.
pub(crate) fn log_factorials(n: usize) -> Vec<f64> {
    let mut logs = Vec::with_capacity(n + 1);
    let mut sum = 0.0;
    logs.push(sum);
    for k in 1..=n {
        sum += to_f64(k).ln();
        logs.push(sum);
    }
    logs
}
