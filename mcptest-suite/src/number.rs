//! What of the numbers that YAML knows is a number here.

use serde_json::Number;

use crate::NodeValue;

/// What reads as a number in looser dialects (`012`, `1_000`) is text here, and so is what no JSON
/// number can hold; both keep the text that was written.
pub(crate) fn number_or_text(number: Option<Number>, written: String) -> NodeValue {
    let digits = written.trim_start_matches(['-', '+']);
    let padded =
        digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    match number {
        Some(number) if !padded && !written.contains('_') => NodeValue::Number(number, written),
        _ => NodeValue::Text(written),
    }
}
