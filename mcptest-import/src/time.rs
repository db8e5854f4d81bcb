//! Moments of a source, and as recordings write them.

use jiff::Timestamp;
use serde_json::Value;

/// Milliseconds since 1970 of a moment as RFC 3339 has it. One without an offset is taken as UTC.
pub(crate) fn parse_rfc3339(text: &str) -> Option<i64> {
    let text = text.trim();
    let moment = text.parse::<Timestamp>().ok();
    let moment = moment.or_else(|| format!("{}Z", text.replacen(' ', "T", 1)).parse().ok());
    moment.map(Timestamp::as_millisecond)
}

/// Milliseconds since 1970 of a number of seconds, or of a text.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(crate) fn parse_seconds(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => {
            let milliseconds = (number.as_f64()? * 1000.0).round();
            (milliseconds.abs() < 2e14).then_some(milliseconds as i64)
        }
        Value::String(text) => parse_rfc3339(text),
        _ => None,
    }
}

/// Milliseconds from one moment to a later one.
pub(crate) fn elapsed(from: Option<i64>, to: Option<i64>) -> Option<u64> {
    u64::try_from(to?.checked_sub(from?)?).ok()
}

/// A number of seconds that something took, in milliseconds.
pub(crate) fn parse_duration(value: &Value) -> Option<u64> {
    let milliseconds = parse_seconds(value).filter(|_| value.is_number());
    u64::try_from(milliseconds?).ok()
}

/// Whether moments are there from the last to the first.
pub(crate) fn are_descending<'t>(moments: impl Iterator<Item = Option<&'t str>>) -> bool {
    let moments: Option<Vec<i64>> = moments.map(|text| parse_rfc3339(text?)).collect();
    moments.is_some_and(|moments| {
        moments.first() > moments.last() && moments.is_sorted_by(|one, next| one >= next)
    })
}

/// A moment in UTC as recordings have it: `2026-01-31T12:00:00.123Z`.
pub(crate) fn format_rfc3339(milliseconds: i64) -> Option<String> {
    let moment = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_is_written_in_utc_to_the_millisecond() {
        let written = |text| format_rfc3339(parse_rfc3339(text).unwrap()).unwrap();
        assert_eq!(
            written("2026-01-01T02:00:00+02:00"),
            "2026-01-01T00:00:00.000Z"
        );
        assert_eq!(
            written("2026-01-01T00:00:00.1239Z"),
            "2026-01-01T00:00:00.123Z"
        );
        assert_eq!(written("2026-01-01 00:00:00.5"), "2026-01-01T00:00:00.500Z");
    }

    #[test]
    fn seconds_may_have_a_fraction() {
        assert_eq!(
            parse_seconds(&json!(1_767_225_600)),
            Some(1_767_225_600_000)
        );
        assert_eq!(parse_seconds(&json!(0.25)), Some(250));
        assert_eq!(parse_seconds(&json!(1e300)), None);
        assert_eq!(parse_seconds(&json!([])), None);
        assert_eq!(parse_duration(&json!(1.25)), Some(1250));
        assert_eq!(parse_duration(&json!(-1)), None);
        assert_eq!(parse_duration(&json!("2026-01-01T00:00:00Z")), None);
        assert_eq!(elapsed(Some(5), Some(8)), Some(3));
        assert_eq!(elapsed(Some(8), Some(5)), None);
        assert_eq!(elapsed(None, Some(5)), None);
    }
}
