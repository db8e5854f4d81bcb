//! A run as it is diagnosed: its steps, and the numbers that they are held against.

use super::status::{Status, Step};
use crate::number::{mean, to_f64};

/// What a report is made from.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Trajectory<'a> {
    /// The steps up to where the run stopped or ended.
    pub steps: &'a [Step],
    /// The baseline in tokens; without one there are no ratios.
    pub baseline: Option<f64>,
    /// How the run stands.
    pub status: Status,
    /// τ, to say which steps were high.
    pub threshold: f64,
    /// W: steps that count as recent.
    pub window: usize,
    /// δ; [`DRIFT_THRESHOLD`](super::DRIFT_THRESHOLD) when there is none.
    pub drift_threshold: Option<f64>,
    /// Whether the token counts are an estimate.
    pub estimated: bool,
}

impl<'a> Trajectory<'a> {
    /// Steps that were not stopped, without a baseline; τ and W are those of the default
    /// [`GuardOptions`](super::GuardOptions).
    #[must_use]
    pub fn new(steps: &'a [Step]) -> Self {
        let options = super::GuardOptions::default();
        Self {
            steps,
            baseline: None,
            status: Status::Stable,
            threshold: options.ratio_threshold,
            window: options.window,
            drift_threshold: None,
            estimated: false,
        }
    }
}

impl Trajectory<'_> {
    /// V̂ of every step, those of the warm-up included; empty without a baseline above 0.
    #[must_use]
    pub fn ratios(&self) -> Vec<f64> {
        let baseline = self.baseline.filter(|baseline| *baseline > 0.0);
        let Some(baseline) = baseline else {
            return Vec::new();
        };
        let tokens = self.steps.iter().map(|step| to_f64(step.tokens));
        tokens
            .map(|tokens| (tokens / baseline).min(f64::MAX))
            .collect()
    }

    /// Removes numbers that are not finite.
    pub(super) fn with_finite_numbers(self) -> Self {
        let finite = |number: &f64| number.is_finite();
        Self {
            baseline: self.baseline.filter(finite),
            threshold: Some(self.threshold).filter(finite).unwrap_or_default(),
            drift_threshold: self.drift_threshold.filter(finite),
            ..self
        }
    }

    /// Mean drift of the last W steps, of those that have one.
    pub(super) fn recent_drift(&self) -> Option<f64> {
        recent_drift(self.steps, self.window)
    }
}

/// Mean drift of the last `window` steps, of those that have one.
pub(super) fn recent_drift(steps: &[Step], window: usize) -> Option<f64> {
    let recent = &steps[steps.len().saturating_sub(window)..];
    mean(recent.iter().filter_map(|step| step.usable_drift()))
}
