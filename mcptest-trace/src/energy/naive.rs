//! The two monitors the guard is compared with: the naive energy of §2 and the hard cap of §4.2.

use super::options::{OptionsError, check_not_negative, check_not_zero};
use super::status::{EnergyError, Status, Step};
use crate::number::to_f64;

/// The naive monitor of §2: V(k) = S(k) + λ·θ(k) must fall now and then; it trips once
/// ΔV(k) = V(k) − V(k−1) ≥ 0 has held for W steps in a row.
///
/// Context accumulates in healthy runs too, so it stops many of them (46 % in the paper); use
/// [`GrowthRatioGuard`](super::GrowthRatioGuard) instead.
///
/// ```
/// use mcptest_trace::energy::{LyapunovMonitor, Status, Step};
///
/// // The healthy run of §2: a false alarm.
/// let mut monitor = LyapunovMonitor::default();
/// assert_eq!(monitor.record(Step::new(1000))?, Status::Stable);
/// assert_eq!(monitor.record(Step::new(1800))?, Status::Warning);
/// assert_eq!(monitor.record(Step::new(2600))?, Status::Warning);
/// assert!(monitor.record(Step::new(3400)).is_err());
/// # Ok::<(), mcptest_trace::energy::EnergyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LyapunovMonitor {
    lambda: f64,
    window: usize,
    steps: usize,
    tokens: u64,
    energy: Option<f64>,
    streak: usize,
    /// How the run stands, or what ended it.
    standing: Result<Status, EnergyError>,
}

impl Default for LyapunovMonitor {
    /// λ 1.0, W 3.
    fn default() -> Self {
        Self {
            lambda: 1.0,
            window: 3,
            steps: 0,
            tokens: 0,
            energy: None,
            streak: 0,
            standing: Ok(Status::Stable),
        }
    }
}

impl LyapunovMonitor {
    /// A monitor with an error weight λ (tokens an error, 0 or more) and a window W (1 or more).
    ///
    /// # Errors
    ///
    /// λ or W is out of its range.
    pub fn new(lambda: f64, window: usize) -> Result<Self, OptionsError> {
        check_not_negative("lambda", lambda)?;
        check_not_zero("window", window as u64)?;
        Ok(Self {
            lambda,
            window,
            ..Self::default()
        })
    }

    /// Takes in one step. `Warning` is a step whose energy did not fall.
    ///
    /// # Errors
    ///
    /// The run tripped with this step, or had before.
    pub fn record(&mut self, step: Step) -> Result<Status, EnergyError> {
        self.standing?;
        self.steps += 1;
        self.tokens = self.tokens.saturating_add(step.tokens);
        let energy = (to_f64(step.tokens) + self.lambda * to_f64(step.errors)).min(f64::MAX);
        let rising = self.energy.is_some_and(|before| energy >= before);
        self.energy = Some(energy);
        self.streak = if rising { self.streak + 1 } else { 0 };
        self.standing = if self.streak >= self.window {
            Err(EnergyError::NotFalling {
                step: self.steps,
                energy,
                streak: self.streak,
                tokens: self.tokens,
            })
        } else if rising {
            Ok(Status::Warning)
        } else {
            Ok(Status::Stable)
        };
        self.standing
    }

    /// How the run stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.standing.unwrap_or_else(|stop| stop.status())
    }

    /// What ended the run, if anything did.
    #[must_use]
    pub fn stopped(&self) -> Option<EnergyError> {
        self.standing.err()
    }

    /// V of the last step.
    #[must_use]
    pub fn energy(&self) -> Option<f64> {
        self.energy
    }

    /// Cumulative tokens, saturating.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}

/// A hard cap on cumulative tokens (condition E of §4.2): freezes where it is reached.
///
/// ```
/// use mcptest_trace::energy::{NaiveCap, Status, Step};
///
/// let mut cap = NaiveCap::new(5_000)?;
/// assert_eq!(cap.record(Step::new(4_999))?, Status::Stable);
/// let error = cap.record(Step::new(1)).unwrap_err();
/// assert_eq!(error.to_string(), "frozen at step 2: 5000 tokens spent of a budget of 5000");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NaiveCap {
    budget: u64,
    steps: usize,
    tokens: u64,
    /// How the run stands, or what ended it.
    standing: Result<Status, EnergyError>,
}

impl Default for NaiveCap {
    /// 100,000 tokens.
    fn default() -> Self {
        Self {
            budget: 100_000,
            steps: 0,
            tokens: 0,
            standing: Ok(Status::Stable),
        }
    }
}

impl NaiveCap {
    /// A cap of so many tokens, 1 or more.
    ///
    /// # Errors
    ///
    /// The budget is 0.
    pub fn new(budget: u64) -> Result<Self, OptionsError> {
        check_not_zero("token_budget", budget)?;
        Ok(Self {
            budget,
            ..Self::default()
        })
    }

    /// Takes in one step.
    ///
    /// # Errors
    ///
    /// The budget is used up.
    pub fn record(&mut self, step: Step) -> Result<Status, EnergyError> {
        self.standing?;
        self.steps += 1;
        self.tokens = self.tokens.saturating_add(step.tokens);
        if self.tokens >= self.budget {
            self.standing = Err(EnergyError::Frozen {
                step: self.steps,
                tokens: self.tokens,
                budget: self.budget,
            });
        }
        self.standing
    }

    /// How the run stands.
    #[must_use]
    pub fn status(&self) -> Status {
        self.standing.unwrap_or_else(|stop| stop.status())
    }

    /// What ended the run, if anything did.
    #[must_use]
    pub fn stopped(&self) -> Option<EnergyError> {
        self.standing.err()
    }

    /// Cumulative tokens, saturating.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fall_starts_the_streak_anew() {
        let mut monitor = LyapunovMonitor::default();
        for tokens in [10, 10, 10, 9, 9, 9] {
            monitor.record(Step::new(tokens)).unwrap();
        }
        let stop = monitor.record(Step::new(9)).unwrap_err();
        assert_eq!((stop.step(), stop.status()), (7, Status::Tripped));
        assert_eq!(monitor.record(Step::new(1)), Err(stop));
    }

    #[test]
    fn errors_weigh_lambda_tokens_each() {
        let mut monitor = LyapunovMonitor::new(100.0, 1).unwrap();
        let step = |tokens, errors| Step {
            tokens,
            errors,
            ..Step::default()
        };
        monitor.record(step(1000, 0)).unwrap();
        assert_eq!(monitor.record(step(899, 1)), Ok(Status::Stable));
        assert_eq!(monitor.energy(), Some(999.0));
        assert!(monitor.record(step(899, 1)).is_err());
    }

    #[test]
    fn bad_options_are_refused() {
        assert!(LyapunovMonitor::new(f64::NAN, 3).is_err());
        assert!(LyapunovMonitor::new(-1.0, 3).is_err());
        assert!(LyapunovMonitor::new(1.0, 0).is_err());
        assert!(NaiveCap::new(0).is_err());
    }

    proptest! {
        #[test]
        fn it_trips_at_the_first_streak_of_w_steps_that_do_not_fall(
            tokens in prop::collection::vec(0..50_u64, 0..30),
            window in 1..5_usize,
        ) {
            let mut monitor = LyapunovMonitor::new(1.0, window).unwrap();
            let stop = tokens.iter().find_map(|tokens| monitor.record(Step::new(*tokens)).err());
            let expected = (window..tokens.len()).find(|last| {
                (last - window..*last).all(|index| tokens[index + 1] >= tokens[index])
            });
            prop_assert_eq!(stop.map(|stop| stop.step()), expected.map(|index| index + 1));
        }

        #[test]
        fn the_largest_numbers_do_no_harm(lambda in 0.0..=f64::MAX, errors: u64) {
            let mut monitor = LyapunovMonitor::new(lambda, 2).unwrap();
            for _ in 0..4 {
                let _ = monitor.record(Step { tokens: u64::MAX, errors, ..Step::default() });
            }
            prop_assert!(monitor.energy().unwrap().is_finite());
            prop_assert_eq!(monitor.status(), Status::Tripped);
        }
    }
}
