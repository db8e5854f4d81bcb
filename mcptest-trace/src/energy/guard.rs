//! The growth-ratio guard (§3): tokens of a step against the median of the run's own first steps.

use super::options::{GuardOptions, OptionsError};
use super::report::FailureReport;
use super::status::{EnergyError, Status, Step};
use super::trajectory::{Trajectory, recent_drift};
use crate::number::{to_f64, to_usize};

/// Watches a run live, or goes through a recorded one.
///
/// - Warm-up: the baseline is the median tokens of the first W₀ steps; they never warn or stop.
/// - From then on V̂(k) = S(k) / baseline. Cumulative tokens at the `token_budget` freeze the run;
///   otherwise it trips at the first step where V̂ > τ has held for W steps in a row and cumulative
///   tokens exceed the `budget_gate` (and drift confirms, where it must).
/// - A baseline of 0 tokens says that counts are missing: every ratio is then 0, and only the
///   budget can stop the run.
///
/// ```
/// use mcptest_trace::energy::{GrowthRatioGuard, GuardOptions, Status, Step};
///
/// // The figure of §3.
/// let mut guard = GrowthRatioGuard::new(GuardOptions::default())?;
/// for tokens in [1000, 1100, 1050, 1200, 1500] {
///     assert_eq!(guard.record(Step::new(tokens))?, Status::Stable);
/// }
/// assert_eq!(guard.record(Step::new(2800))?, Status::Warning);
/// assert_eq!(guard.record(Step::new(3500))?, Status::Warning);
/// let error = guard.record(Step::new(4500)).unwrap_err();
/// assert_eq!(error.step(), 8);
/// assert_eq!(guard.status(), Status::Tripped);
/// println!("{}", guard.report());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GrowthRatioGuard {
    options: GuardOptions,
    history: Vec<Step>,
    tokens: u64,
    baseline: Option<f64>,
    threshold: f64,
    streak: usize,
    /// How the run stands, or what ended it.
    standing: Result<Status, EnergyError>,
}

impl GrowthRatioGuard {
    /// A guard at the start of a run.
    ///
    /// # Errors
    ///
    /// An option is out of its range.
    pub fn new(options: GuardOptions) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Self {
            options,
            history: Vec::new(),
            tokens: 0,
            baseline: None,
            threshold: options.ratio_threshold,
            streak: 0,
            standing: Ok(Status::Stable),
        })
    }

    /// Takes in one step.
    ///
    /// # Errors
    ///
    /// The run tripped or froze with this step, or had before; a step after the end is not counted.
    pub fn record(&mut self, step: Step) -> Result<Status, EnergyError> {
        self.standing?;
        self.history.push(step);
        self.tokens = self.tokens.saturating_add(step.tokens);
        let Some(ratio) = self.ratio(step.tokens) else {
            if self.history.len() == self.options.warmup_turns {
                self.calibrate();
            }
            return self.standing;
        };
        let high = ratio > self.threshold;
        self.streak = if high { self.streak + 1 } else { 0 };
        self.standing = match self.stop(ratio) {
            Some(end) => Err(end),
            None if high => Ok(Status::Warning),
            None => Ok(Status::Stable),
        };
        self.standing
    }

    /// How the run stands; `Tripped` and `Frozen` are final.
    #[must_use]
    pub fn status(&self) -> Status {
        self.standing.unwrap_or_else(|stop| stop.status())
    }

    /// What ended the run, if anything did.
    #[must_use]
    pub fn stopped(&self) -> Option<EnergyError> {
        self.standing.err()
    }

    /// The steps that were counted.
    #[must_use]
    pub fn history(&self) -> &[Step] {
        &self.history
    }

    /// Cumulative tokens, saturating.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The median tokens of the warm-up, once it is over.
    #[must_use]
    pub fn baseline(&self) -> Option<f64> {
        self.baseline
    }

    /// τ: as given, or adapted once the warm-up is over.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Steps in a row above τ up to now.
    #[must_use]
    pub fn streak(&self) -> usize {
        self.streak
    }

    /// V̂ for a number of tokens; `None` before the end of the warm-up.
    #[must_use]
    pub fn ratio(&self, tokens: u64) -> Option<f64> {
        let baseline = self.baseline?;
        Some(if baseline > 0.0 {
            to_f64(tokens) / baseline
        } else {
            0.0
        })
    }

    /// Mean drift of the last W steps, of those that have one.
    #[must_use]
    pub fn drift(&self) -> Option<f64> {
        recent_drift(&self.history, self.options.window)
    }

    /// What is to be said about the run so far (§6).
    #[must_use]
    pub fn report(&self) -> FailureReport {
        FailureReport::diagnose(&self.trajectory())
    }

    /// The run so far as it is diagnosed.
    pub(super) fn trajectory(&self) -> Trajectory<'_> {
        Trajectory {
            steps: &self.history,
            baseline: self.baseline,
            status: self.status(),
            threshold: self.threshold,
            window: self.options.window,
            drift_threshold: self.options.drift_threshold,
            estimated: false,
        }
    }

    fn calibrate(&mut self) {
        let mut warmup: Vec<f64> = self
            .history
            .iter()
            .map(|step| to_f64(step.tokens))
            .collect();
        warmup.sort_by(f64::total_cmp);
        let median = quantile(&warmup, 0.5);
        self.baseline = Some(median);
        if self.options.adaptive {
            self.threshold = if warmup.len() >= 4 && median > 0.0 {
                let spread = quantile(&warmup, 0.75) - quantile(&warmup, 0.25);
                (1.0 + self.options.adaptive_k * (spread / median)).clamp(1.5, 5.0)
            } else {
                self.options.ratio_threshold.max(2.5)
            };
        }
    }

    /// Whether the growth condition holds at the last step, which drift may have to confirm.
    pub(super) fn has_grown(&self) -> bool {
        self.streak >= self.options.window && self.tokens > self.options.budget_gate
    }

    fn stop(&self, ratio: f64) -> Option<EnergyError> {
        let options = &self.options;
        let step = self.history.len();
        if self.tokens >= options.token_budget {
            return Some(EnergyError::Frozen {
                step,
                tokens: self.tokens,
                budget: options.token_budget,
            });
        }
        if !self.has_grown() {
            return None;
        }
        let drift = match options.drift_threshold {
            Some(threshold) => Some(self.drift().filter(|drift| *drift > threshold)?),
            None => None,
        };
        Some(EnergyError::Tripped {
            step,
            ratio,
            baseline: self.baseline.unwrap_or_default(),
            threshold: self.threshold,
            streak: self.streak,
            tokens: self.tokens,
            drift,
        })
    }
}

/// The quantile of sorted, non-empty values, interpolated linearly (the median is the mean of the
/// two middle values of an even number).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = share * to_f64(last);
    let below = sorted.get(to_usize(place)).copied().unwrap_or_default();
    let above = sorted.get(to_usize(place) + 1).copied().unwrap_or(below);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests;
