//! Numbers compared by what they mean.

use std::cmp::Ordering;

use serde_json::Number;

/// Compares two numbers by value: whole ones exactly, others as 64-bit floats.
///
/// ```
/// use std::cmp::Ordering;
/// use mcptest_suite::model::compare_numbers;
///
/// assert_eq!(compare_numbers(&1.into(), &2.into()), Ordering::Less);
/// assert_eq!(compare_numbers(&u64::MAX.into(), &(u64::MAX - 1).into()), Ordering::Greater);
/// ```
#[must_use]
pub fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        // A JSON number is always finite.
        _ => left
            .as_f64()
            .partial_cmp(&right.as_f64())
            .unwrap_or(Ordering::Equal),
    }
}
