//! What is to be said about a run (§6): from the energy and drift alone, without a model call.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::diagnose::diagnose;
use super::pattern::{FailurePattern, Recommendation};
use super::status::{Status, total_tokens};
use super::trajectory::Trajectory;
use crate::number::to_usize;

/// Steps a stopped run is projected to go on for.
pub const PROJECTED_STEPS: u64 = 10;

/// How a run failed, on what evidence, and what to do about it.
///
/// ```
/// use mcptest_trace::energy::{FailurePattern, GrowthRatioGuard, GuardOptions, Step};
///
/// let mut guard = GrowthRatioGuard::new(GuardOptions::default())?;
/// for tokens in [1000, 1000, 1000, 1600, 1900, 2600, 3900, 6100] {
///     if guard.record(Step::new(tokens)).is_err() {
///         break;
///     }
/// }
/// let report = guard.report();
/// assert_eq!(report.pattern, FailurePattern::ContextSpiral);
/// assert_eq!(report.tokens_spent, 19_100);
/// assert_eq!(report.recommendations[0].action, "Compress the history before each model call");
/// # Ok::<(), mcptest_trace::energy::OptionsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureReport {
    /// The first pattern of the decision tree of §6.1 that fits.
    pub pattern: FailurePattern,
    /// How clearly it fits, 0.5 (only just) to 1.
    pub confidence: f64,
    /// How the run stands.
    pub status: Status,
    /// Steps up to where it stopped or ended.
    pub steps: usize,
    /// The baseline in tokens.
    pub baseline: Option<f64>,
    /// τ.
    pub threshold: f64,
    /// V̂ of every step, those of the warm-up included.
    pub ratios: Vec<f64>,
    /// What the pattern was told from, with numbers.
    pub evidence: Vec<String>,
    /// What to do, most important first.
    pub recommendations: Vec<Recommendation>,
    /// Tokens up to where the run stopped or ended.
    pub tokens_spent: u64,
    /// Tokens it would have spent after [`PROJECTED_STEPS`] more steps like the mean of its last W;
    /// what it spent, if it was not stopped.
    pub tokens_projected: u64,
    /// Whether the token counts are an estimate.
    pub estimated: bool,
}

/// Adds the first piece of evidence to the first piece of advice.
fn cite_evidence(mut advice: Vec<Recommendation>, evidence: &[String]) -> Vec<Recommendation> {
    if let (Some(first), Some(shown)) = (advice.first_mut(), evidence.first()) {
        first.rationale.push_str(" (here: ");
        first.rationale.push_str(shown);
        first.rationale.push(')');
    }
    advice
}

impl FailureReport {
    /// Reads a trajectory with the decision tree of §6.1, in its order: early explosion, budget
    /// exhaustion, retry storm, context spiral, policy drift, gradual degradation; healthy when
    /// nothing stopped the run.
    #[must_use]
    pub fn diagnose(trajectory: &Trajectory<'_>) -> Self {
        let trajectory = &trajectory.with_finite_numbers();
        let steps = trajectory.steps;
        let diagnosis = diagnose(trajectory);
        let tokens_spent = total_tokens(steps);
        let recent = &steps[steps.len().saturating_sub(trajectory.window)..];
        let pace = recent
            .iter()
            .map(|step| u128::from(step.tokens))
            .sum::<u128>()
            / recent.len().max(1) as u128;
        let pace = u64::try_from(pace).unwrap_or(u64::MAX);
        let further = if trajectory.status.is_final() {
            pace.saturating_mul(PROJECTED_STEPS)
        } else {
            0
        };
        Self {
            pattern: diagnosis.pattern,
            confidence: diagnosis.confidence,
            status: trajectory.status,
            steps: steps.len(),
            baseline: trajectory.baseline,
            threshold: trajectory.threshold,
            ratios: trajectory.ratios(),
            recommendations: cite_evidence(
                diagnosis.pattern.recommendations(),
                &diagnosis.evidence,
            ),
            evidence: diagnosis.evidence,
            tokens_spent,
            tokens_projected: tokens_spent.saturating_add(further),
            estimated: trajectory.estimated,
        }
    }

    /// The largest V̂ of all steps.
    #[must_use]
    pub fn peak_ratio(&self) -> Option<f64> {
        self.ratios.iter().copied().reduce(f64::max)
    }
}

impl fmt::Display for FailureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (about, estimate) = if self.estimated {
            ("about ", " (tokens are an estimate)")
        } else {
            ("", "")
        };
        if self.status.is_final() {
            writeln!(
                f,
                "{} at step {}: {}, confidence {:.2}{estimate}",
                self.status, self.steps, self.pattern, self.confidence
            )?;
        } else {
            writeln!(
                f,
                "{} after {} steps: {}{estimate}",
                self.status, self.steps, self.pattern
            )?;
        }
        if let (Some(baseline), Some(peak)) = (self.baseline, self.peak_ratio()) {
            writeln!(
                f,
                "  energy  {}  baseline {about}{baseline} tokens, peak {peak:.2}x",
                sparkline(&self.ratios, self.threshold)
            )?;
        }
        write!(f, "  tokens  {about}{} spent", self.tokens_spent)?;
        if self.status.is_final() {
            write!(
                f,
                ", {about}{} after {PROJECTED_STEPS} more steps at this pace",
                self.tokens_projected
            )?;
        }
        for line in &self.evidence {
            write!(f, "\n  - {line}")?;
        }
        for item in &self.recommendations {
            write!(
                f,
                "\n  {}. {}: {}",
                item.priority, item.action, item.rationale
            )?;
        }
        Ok(())
    }
}

/// One bar a value, `▁` to `█`, from 0 to the largest value or `top`, whichever is larger. More
/// than 60 values share bars; a bar shows the largest of its values.
///
/// ```
/// use mcptest_trace::energy::sparkline;
///
/// assert_eq!(sparkline(&[0.0, 1.0, 2.0, 4.0], 1.0), "▁▂▄█");
/// assert_eq!(sparkline(&[1.0, 1.0, 1.0], 2.0), "▄▄▄");
/// ```
#[must_use]
pub fn sparkline(values: &[f64], top: f64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const WIDTH: usize = 60;
    let usable = |value: &f64| if value.is_finite() { *value } else { 0.0 };
    let top = values.iter().map(usable).fold(usable(&top), f64::max);
    values
        .chunks(values.len().div_ceil(WIDTH).max(1))
        .map(|bucket| bucket.iter().map(usable).fold(0.0, f64::max))
        .map(|value| {
            let level = if top > 0.0 { value / top * 8.0 } else { 0.0 };
            BARS[to_usize(level.ceil()).clamp(1, BARS.len()) - 1]
        })
        .collect()
}

#[cfg(test)]
mod tests;
