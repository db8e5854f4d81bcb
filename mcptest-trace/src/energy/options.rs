//! The options of the growth-ratio guard, and what is wrong with a bad one.

use crate::setters::setters;
use std::fmt;

use serde::{Deserialize, Serialize};

/// δ, the drift above which growth is confirmed as a failure (§3.1).
pub const DRIFT_THRESHOLD: f64 = 0.7;

/// Options of a [`GrowthRatioGuard`](super::GrowthRatioGuard); every field has the paper's default.
///
/// ```
/// use mcptest_trace::energy::{GrowthRatioGuard, GuardOptions};
///
/// let options = GuardOptions::default().with_ratio_threshold(3.0).with_window(5);
/// assert!(GrowthRatioGuard::new(options).is_ok());
///
/// let options = GuardOptions::default().with_window(0);
/// let error = GrowthRatioGuard::new(options).unwrap_err();
/// assert_eq!(error.to_string(), "`window` is 0; give 1 or more");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GuardOptions {
    /// τ: a step above τ times the baseline counts towards a trip. Above 0; default 2.0.
    pub ratio_threshold: f64,
    /// W: so many steps in a row above τ trip. 1 or more; default 3.
    pub window: usize,
    /// W₀: so many first steps make the baseline. 1 or more; default 3.
    pub warmup_turns: usize,
    /// No trip before cumulative tokens exceed this. Default 8,000.
    pub budget_gate: u64,
    /// Cumulative tokens of this many freeze the run. 1 or more; default 100,000.
    pub token_budget: u64,
    /// Whether τ adapts to how much the warm-up varies. Default no.
    pub adaptive: bool,
    /// k of the adaptive τ = 1 + k · IQR / median. 0 or more; default 2.0.
    pub adaptive_k: f64,
    /// δ: with a threshold, growth alone does not trip; the mean drift of the last W steps must
    /// exceed δ too (§3.1). 0 to 2; the paper's value is
    /// [`DRIFT_THRESHOLD`]. Default none.
    pub drift_threshold: Option<f64>,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self {
            ratio_threshold: 2.0,
            window: 3,
            warmup_turns: 3,
            budget_gate: 8_000,
            token_budget: 100_000,
            adaptive: false,
            adaptive_k: 2.0,
            drift_threshold: None,
        }
    }
}

impl GuardOptions {
    /// Checks every option.
    ///
    /// # Errors
    ///
    /// The first option that is out of its range.
    pub fn check(&self) -> Result<(), OptionsError> {
        let ratio = self.ratio_threshold;
        let above_zero = ratio.is_finite() && ratio > 0.0;
        check_number(
            "ratio_threshold",
            ratio,
            above_zero,
            "a finite number above 0",
        )?;
        check_not_zero("window", self.window as u64)?;
        check_not_zero("warmup_turns", self.warmup_turns as u64)?;
        check_not_zero("token_budget", self.token_budget)?;
        check_not_negative("adaptive_k", self.adaptive_k)?;
        let drift = self.drift_threshold.unwrap_or_default();
        let within = (0.0..=2.0).contains(&drift);
        check_number("drift_threshold", drift, within, "a number from 0 to 2")
    }
}

setters! {
    GuardOptions {
        with_ratio_threshold(ratio_threshold: f64);
        with_window(window: usize);
        with_warmup_turns(warmup_turns: usize);
        with_budget_gate(budget_gate: u64);
        with_token_budget(token_budget: u64);
        with_adaptive(adaptive: bool);
        with_drift_threshold(drift_threshold: f64) => Some(drift_threshold);
    }
}

/// An option that is out of its range.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OptionsError {
    /// A number is out of its range, infinite or not a number.
    Number {
        /// The option's name.
        option: &'static str,
        /// What it was.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// A count is too small.
    Count {
        /// The option's name.
        option: &'static str,
        /// What it was.
        value: u64,
        /// The least it must be.
        least: u64,
    },
    /// Drift must confirm trips, but there is no policy to measure it against.
    NoPolicy,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number {
                option,
                value,
                expected,
            } => write!(f, "`{option}` is {value}; give {expected}"),
            Self::Count {
                option,
                value,
                least,
            } => write!(f, "`{option}` is {value}; give {least} or more"),
            Self::NoPolicy => write!(
                f,
                "drift has nothing to compare with: give a policy text, or leave the drift \
                 threshold out"
            ),
        }
    }
}

impl std::error::Error for OptionsError {}

/// Checks that a number holds what is expected of it.
pub(super) fn check_number(
    option: &'static str,
    value: f64,
    holds: bool,
    expected: &'static str,
) -> Result<(), OptionsError> {
    let error = OptionsError::Number {
        option,
        value,
        expected,
    };
    if holds { Ok(()) } else { Err(error) }
}

pub(super) fn check_not_negative(option: &'static str, value: f64) -> Result<(), OptionsError> {
    let holds = value.is_finite() && value >= 0.0;
    check_number(option, value, holds, "a finite number, 0 or more")
}

pub(super) fn check_at_least(
    option: &'static str,
    value: u64,
    least: u64,
) -> Result<(), OptionsError> {
    let error = OptionsError::Count {
        option,
        value,
        least,
    };
    if value >= least { Ok(()) } else { Err(error) }
}

pub(super) fn check_not_zero(option: &'static str, value: u64) -> Result<(), OptionsError> {
    check_at_least(option, value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_option_is_refused_by_name() {
        let good = GuardOptions::default();
        let bad = [
            (
                GuardOptions {
                    ratio_threshold: f64::NAN,
                    ..good
                },
                "ratio_threshold",
            ),
            (
                GuardOptions {
                    ratio_threshold: 0.0,
                    ..good
                },
                "ratio_threshold",
            ),
            (
                GuardOptions {
                    ratio_threshold: f64::INFINITY,
                    ..good
                },
                "ratio_threshold",
            ),
            (
                GuardOptions {
                    ratio_threshold: -2.0,
                    ..good
                },
                "ratio_threshold",
            ),
            (GuardOptions { window: 0, ..good }, "window"),
            (
                GuardOptions {
                    warmup_turns: 0,
                    ..good
                },
                "warmup_turns",
            ),
            (
                GuardOptions {
                    token_budget: 0,
                    ..good
                },
                "token_budget",
            ),
            (
                GuardOptions {
                    adaptive_k: f64::NAN,
                    ..good
                },
                "adaptive_k",
            ),
            (
                GuardOptions {
                    adaptive_k: -0.1,
                    ..good
                },
                "adaptive_k",
            ),
            (
                GuardOptions {
                    drift_threshold: Some(f64::NAN),
                    ..good
                },
                "drift_threshold",
            ),
            (
                GuardOptions {
                    drift_threshold: Some(2.1),
                    ..good
                },
                "drift_threshold",
            ),
        ];
        assert_eq!(good.check(), Ok(()));
        for (options, name) in bad {
            let error = options.check().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{name}` is ")), "{error}");
        }
    }

    #[test]
    fn options_are_read_with_defaults_and_without_unknown_names() {
        let read = serde_json::from_str::<GuardOptions>;
        assert_eq!(read("{}").unwrap(), GuardOptions::default());
        assert_eq!(read(r#"{"window":5}"#).unwrap().window, 5);
        assert!(read(r#"{"windows":5}"#).is_err());
    }
}
