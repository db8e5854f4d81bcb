//! The decision tree of §6.1.

use super::options::DRIFT_THRESHOLD;
use super::pattern::FailurePattern;
use super::status::Status;
use super::trajectory::Trajectory;
use crate::number::to_f64;
use crate::stats::Summary;

/// The numbers of §6.1.
const EARLY_STEPS: usize = 3;
const EARLY_RATIO: f64 = 3.0;
const RETRY_STEPS: usize = 8;
const RETRY_VARIATION: f64 = 0.3;
const SPIRAL_STEPS: usize = 5;
const SPIRAL_RATIO: f64 = 1.5;
const SPIRAL_RISES: usize = 3;

pub(super) struct Diagnosis {
    pub(super) pattern: FailurePattern,
    pub(super) confidence: f64,
    pub(super) evidence: Vec<String>,
}

/// Goes through the questions of the tree. The first one that is answered with yes decides.
pub(super) fn diagnose(trajectory: &Trajectory<'_>) -> Diagnosis {
    let ratios = trajectory.ratios();
    let found = if trajectory.status.is_final() {
        early_explosion(trajectory, &ratios)
            .or_else(|| budget_exhaustion(trajectory))
            .or_else(|| retry_storm(trajectory))
            .or_else(|| context_spiral(&ratios))
            .or_else(|| policy_drift(trajectory))
            .unwrap_or_else(|| gradual_degradation(&ratios))
    } else {
        healthy(trajectory, &ratios)
    };
    let (pattern, confidence, line) = found;
    let mut evidence = vec![line];
    evidence.extend(run_of_high_steps(trajectory, &ratios));
    evidence.extend(missing_counts(trajectory));
    Diagnosis {
        pattern,
        confidence,
        evidence,
    }
}

type Finding = (FailurePattern, f64, String);

fn early_explosion(trajectory: &Trajectory<'_>, ratios: &[f64]) -> Option<Finding> {
    let mut first = ratios.iter().take(EARLY_STEPS).enumerate();
    let (index, ratio) = first.find(|(_, ratio)| **ratio > EARLY_RATIO)?;
    let line = format!(
        "step {} took {} tokens, {ratio:.2}x the baseline (more than {EARLY_RATIO}x within the \
         first {EARLY_STEPS} steps)",
        index + 1,
        trajectory.steps[index].tokens,
    );
    Some((
        FailurePattern::EarlyExplosion,
        severity(EARLY_RATIO, *ratio),
        line,
    ))
}

fn budget_exhaustion(trajectory: &Trajectory<'_>) -> Option<Finding> {
    let steps = trajectory.steps.len();
    (trajectory.status == Status::Frozen).then(|| {
        let line = format!("the token budget was used up at step {steps}");
        (FailurePattern::BudgetExhaustion, 1.0, line)
    })
}

fn retry_storm(trajectory: &Trajectory<'_>) -> Option<Finding> {
    let steps = trajectory.steps.len();
    let tokens: Vec<f64> = trajectory
        .steps
        .iter()
        .map(|step| to_f64(step.tokens))
        .collect();
    let summary = Summary::from_values(&tokens).filter(|summary| summary.mean > 0.0)?;
    let variation = summary.deviation? / summary.mean;
    (variation < RETRY_VARIATION && steps >= RETRY_STEPS).then(|| {
        let line = format!(
            "{steps} steps of nearly constant cost: coefficient of variation {variation:.2} \
             (below {RETRY_VARIATION} over {RETRY_STEPS} steps or more)"
        );
        (
            FailurePattern::RetryStorm,
            severity(variation, RETRY_VARIATION),
            line,
        )
    })
}

fn context_spiral(ratios: &[f64]) -> Option<Finding> {
    let last = ratios.last_chunk::<SPIRAL_STEPS>()?;
    let lowest = last.iter().copied().fold(f64::INFINITY, f64::min);
    let rises = last.windows(2).filter(|pair| pair[1] > pair[0]).count();
    (lowest > SPIRAL_RATIO && rises >= SPIRAL_RISES).then(|| {
        let shown = last.map(|ratio| format!("{ratio:.2}x")).join(", ");
        let line = format!(
            "the last {SPIRAL_STEPS} steps ({shown}) are above {SPIRAL_RATIO}x and rise {rises} \
             times"
        );
        (
            FailurePattern::ContextSpiral,
            severity(SPIRAL_RATIO, lowest),
            line,
        )
    })
}

fn policy_drift(trajectory: &Trajectory<'_>) -> Option<Finding> {
    let threshold = trajectory.drift_threshold.unwrap_or(DRIFT_THRESHOLD);
    let drift = trajectory.recent_drift()?;
    (drift > threshold).then(|| {
        let line = format!(
            "mean drift {drift:.2} over the last {} steps (above {threshold:.2})",
            trajectory.window.min(trajectory.steps.len())
        );
        (
            FailurePattern::PolicyDrift,
            severity(threshold, drift),
            line,
        )
    })
}

fn gradual_degradation(ratios: &[f64]) -> Finding {
    let line = match ratios.last() {
        Some(last) => format!("cost grew to {last:.2}x the baseline, in no known pattern"),
        None => "there is no baseline to compare with".to_owned(),
    };
    (FailurePattern::GradualDegradation, 0.5, line)
}

fn healthy(trajectory: &Trajectory<'_>, ratios: &[f64]) -> Finding {
    let monitored = ratios.iter().copied().reduce(f64::max);
    let (confidence, line) = match monitored {
        Some(peak) => (
            severity(peak, trajectory.threshold),
            format!("nothing stopped the run; its peak was {peak:.2}x the baseline"),
        ),
        None => (
            0.5,
            "nothing stopped the run; it has no baseline".to_owned(),
        ),
    };
    (FailurePattern::Healthy, confidence, line)
}

/// The high steps at the end, where the trouble began.
fn run_of_high_steps(trajectory: &Trajectory<'_>, ratios: &[f64]) -> Option<String> {
    let threshold = trajectory.threshold;
    let high = ratios
        .iter()
        .rev()
        .take_while(|ratio| **ratio > threshold)
        .count();
    let first = ratios.len() - high + 1;
    (high > 0).then(|| format!("above {threshold:.2}x the baseline since step {first}"))
}

fn missing_counts(trajectory: &Trajectory<'_>) -> Option<String> {
    let zero = trajectory
        .steps
        .iter()
        .filter(|step| step.tokens == 0)
        .count();
    (zero > 0).then(|| format!("{zero} steps have no token count; growth may go unseen"))
}

/// How far `high` lies beyond `low`: 0.5 where they meet, towards 1 far off. Both are 0 or more.
fn severity(low: f64, high: f64) -> f64 {
    if high > 0.0 {
        1.0 - 0.5 * (low / high).clamp(0.0, 1.0)
    } else {
        0.5
    }
}
