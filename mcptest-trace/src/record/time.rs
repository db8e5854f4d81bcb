//! A moment as text.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// A moment in UTC as RFC 3339 has it, to the millisecond: `2026-01-31T12:00:00.123Z`. Moments
/// before 1970 are shown as 1970, and those after 9999 as the last of that year.
pub(crate) fn rfc3339(moment: SystemTime) -> String {
    let moment = Timestamp::try_from(moment.max(UNIX_EPOCH)).unwrap_or(Timestamp::MAX);
    format!("{moment:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_written_as_rfc_3339_has_them() {
        let at = |seconds: u64| rfc3339(UNIX_EPOCH + Duration::from_millis(seconds * 1000 + 7));
        assert_eq!(at(0), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.007Z");
        assert_eq!(at(1_893_455_999), "2029-12-31T23:59:59.007Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.007Z");
        assert_eq!(at(13_574_563_200), "2400-02-29T00:00:00.007Z");
    }

    #[test]
    fn a_moment_that_no_date_has_is_the_last_one() {
        let late = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert!(
            rfc3339(late).starts_with("9999-12-30T"),
            "{}",
            rfc3339(late)
        );
    }

    #[test]
    fn a_moment_before_1970_is_shown_as_1970() {
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(rfc3339(before), "1970-01-01T00:00:00.000Z");
    }
}
