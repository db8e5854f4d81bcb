//! Numbers of percent, and of points of 100, as arguments.

use std::error::Error;
use std::fmt;

use crate::output::format_short;

/// Why an argument is no such number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PercentError {
    /// It is no number from 0 to 100.
    OutOfRange,
    /// It is no number of 0 or more.
    Negative,
    /// It reads as a share of 1.
    Share { meant: f64 },
    /// It is an upper limit, and may be meant as a share of 1.
    UpperShare,
}

impl fmt::Display for PercentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange => f.write_str("write a number from 0 to 100"),
            Self::Negative => f.write_str("write a number of 0 or more"),
            Self::Share { meant } => {
                let meant = format_short(*meant);
                write!(f, "the number is in percent: write {meant}")
            }
            Self::UpperShare => {
                f.write_str("the number is in percent: `5` allows 5%, and `0` allows none")
            }
        }
    }
}

impl Error for PercentError {}

/// A number of percent, or of points of 100.
pub(crate) fn parse_percent(text: &str) -> Result<f64, PercentError> {
    let number: Option<f64> = text.parse().ok();
    let percent = number.filter(|number| (0.0..=100.0).contains(number));
    percent.ok_or(PercentError::OutOfRange)
}

/// By how many percent something may rise.
pub(crate) fn parse_rise(text: &str) -> Result<f64, PercentError> {
    let number: Option<f64> = text.parse().ok();
    let rise = number.filter(|number| number.is_finite() && *number >= 0.0);
    rise.ok_or(PercentError::Negative)
}

/// A number of percent as a lower limit; one that reads as a share of 1 is refused, as in suites.
pub(crate) fn parse_lower_limit(text: &str) -> Result<f64, PercentError> {
    let number = parse_percent(text)?;
    if number > 0.0 && number <= 1.0 {
        let meant = 100.0 * number;
        return Err(PercentError::Share { meant });
    }
    Ok(number)
}

/// A number of percent as an upper limit, of which a share of 1 is none: 1 is a percent. Less may be meant as a share.
pub(crate) fn parse_upper_limit(text: &str) -> Result<f64, PercentError> {
    let number = parse_percent(text)?;
    if number > 0.0 && number < 1.0 {
        return Err(PercentError::UpperShare);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share of 1 is a limit that fails for nothing, so 1 is one percent; as the least score it may be a share.
    #[test]
    fn one_is_a_percent_as_the_most_and_may_be_a_share_as_the_least() {
        assert_eq!(parse_upper_limit("1"), Ok(1.0));
        assert_eq!(
            (parse_upper_limit("0"), parse_upper_limit("20")),
            (Ok(0.0), Ok(20.0))
        );
        assert_eq!(
            parse_upper_limit("0.05").unwrap_err().to_string(),
            "the number is in percent: `5` allows 5%, and `0` allows none"
        );
        assert_eq!(
            parse_lower_limit("1").unwrap_err().to_string(),
            "the number is in percent: write 100"
        );
    }
}
