//! What a monitor is told, what it answers, and the error that ends a run.

use crate::setters::setters;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One step of an agent's loop: what a monitor is told about one model call.
///
/// ```
/// use mcptest_trace::energy::Step;
///
/// let step = Step::new(1_800).with_errors(1);
/// assert_eq!(step.drift, None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Step {
    /// S(k): prompt and completion tokens of the call.
    pub tokens: u64,
    /// θ(k): errors seen in this step, e.g. failed tool calls. Only the naive energy weighs them.
    pub errors: u64,
    /// d(k): how far the response is off policy, 0 to 2; `None` when there was nothing to compare.
    pub drift: Option<f64>,
}

impl Step {
    /// A step of which only the tokens are known.
    #[must_use]
    pub fn new(tokens: u64) -> Self {
        Self {
            tokens,
            ..Self::default()
        }
    }

    /// The drift, if it is a number; within 0 to 2.
    pub(super) fn usable_drift(self) -> Option<f64> {
        self.drift
            .filter(|drift| !drift.is_nan())
            .map(|drift| drift.clamp(0.0, 2.0))
    }
}

setters! {
    Step {
        with_errors(errors: u64);
        with_drift(drift: Option<f64>);
    }
}

/// Tokens of all steps, saturating.
pub(super) fn total_tokens(steps: &[Step]) -> u64 {
    let tokens = steps.iter().map(|step| step.tokens);
    tokens.fold(0, u64::saturating_add)
}

/// How a run stands.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing to remark.
    #[default]
    Stable,
    /// The last step was above the threshold, but the run was not stopped.
    Warning,
    /// The energy grew for too long: the run was stopped. Final.
    Tripped,
    /// The run used up its token budget: it was stopped. Final.
    Frozen,
}

impl Status {
    /// Whether the run was stopped.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Tripped | Self::Frozen)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stable => "stable",
            Self::Warning => "warning",
            Self::Tripped => "tripped",
            Self::Frozen => "frozen",
        })
    }
}

/// Why a monitor stopped a run. Once returned, every later `record` returns it again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EnergyError {
    /// V̂ was above τ for `streak` steps (§3).
    Tripped {
        /// The step that tripped, from 1.
        step: usize,
        /// V̂ of that step.
        ratio: f64,
        /// The baseline in tokens.
        baseline: f64,
        /// τ as it was used, i.e. after adapting.
        threshold: f64,
        /// Steps in a row above τ, W or more.
        streak: usize,
        /// Tokens spent so far, this step included.
        tokens: u64,
        /// Mean drift of the last W steps, when drift had to confirm the trip (§3.1).
        drift: Option<f64>,
    },
    /// V did not fall for `streak` steps (§2).
    NotFalling {
        /// The step that tripped, from 1.
        step: usize,
        /// V of that step.
        energy: f64,
        /// Steps in a row with ΔV ≥ 0.
        streak: usize,
        /// Tokens spent so far, this step included.
        tokens: u64,
    },
    /// The token budget is used up.
    Frozen {
        /// The step that reached the budget, from 1.
        step: usize,
        /// Tokens spent so far, this step included.
        tokens: u64,
        /// The budget in tokens.
        budget: u64,
    },
}

impl EnergyError {
    /// [`Status::Frozen`] for a used-up budget, else [`Status::Tripped`].
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Tripped { .. } | Self::NotFalling { .. } => Status::Tripped,
            Self::Frozen { .. } => Status::Frozen,
        }
    }

    /// The step that ended the run, from 1.
    #[must_use]
    pub fn step(&self) -> usize {
        match self {
            Self::Tripped { step, .. }
            | Self::NotFalling { step, .. }
            | Self::Frozen { step, .. } => *step,
        }
    }
}

impl fmt::Display for EnergyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tripped {
                step,
                ratio,
                baseline,
                threshold,
                streak,
                tokens,
                drift,
            } => {
                write!(
                    f,
                    "tripped at step {step}: {ratio:.2}x the baseline of {baseline} tokens, above \
                     {threshold:.2}x for {streak} steps"
                )?;
                if let Some(drift) = drift {
                    write!(f, ", drift {drift:.2}")?;
                }
                write!(f, "; {tokens} tokens spent")
            }
            Self::NotFalling {
                step,
                energy,
                streak,
                tokens,
            } => write!(
                f,
                "tripped at step {step}: the energy {energy} has not fallen for {streak} steps; \
                 {tokens} tokens spent"
            ),
            Self::Frozen {
                step,
                tokens,
                budget,
            } => write!(
                f,
                "frozen at step {step}: {tokens} tokens spent of a budget of {budget}"
            ),
        }
    }
}

impl std::error::Error for EnergyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_its_numbers() {
        let tripped = EnergyError::Tripped {
            step: 8,
            ratio: 4.2857,
            baseline: 1050.0,
            threshold: 2.0,
            streak: 3,
            tokens: 16_650,
            drift: Some(0.81),
        };
        assert_eq!(
            tripped.to_string(),
            "tripped at step 8: 4.29x the baseline of 1050 tokens, above 2.00x for 3 steps, \
             drift 0.81; 16650 tokens spent"
        );
        let frozen = EnergyError::Frozen {
            step: 5,
            tokens: 100_400,
            budget: 100_000,
        };
        assert_eq!(
            frozen.to_string(),
            "frozen at step 5: 100400 tokens spent of a budget of 100000"
        );
        assert_eq!((tripped.step(), frozen.step()), (8, 5));
    }

    #[test]
    fn drift_that_is_no_number_is_no_drift() {
        let drift = |drift| {
            Step {
                drift: Some(drift),
                ..Step::default()
            }
            .usable_drift()
        };
        assert_eq!(drift(f64::NAN), None);
        assert_eq!(drift(f64::INFINITY), Some(2.0));
        assert_eq!(drift(-1.0), Some(0.0));
    }
}
