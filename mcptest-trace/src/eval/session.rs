//! `session`: how bad was the worst moment of a session, and how smooth was the whole?

mod signals;
#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the expected values are rounded")]
mod tests;
mod traces;

use super::measure::{Measure, Unit};
use super::metrics::metrics;
use crate::number::unordered_mean;
use serde::Serialize;
use serde_json::{Value, json};

pub use signals::{DerivedSignals, SessionTrace, Weights, derive_signals, signals_from_scores};
use signals::{Risk, with_risks};
pub use traces::session_traces;

/// Share of the riskiest traces that decide the reliability, in percent.
const TAIL_PERCENT: usize = 15;
/// What the single worst trace contributes to the risk; the tail's mean contributes the rest.
const WORST_SHARE: f64 = 0.1;
/// A trace is flagged above this risk or uncertainty.
const FLAG_ABOVE: f64 = 0.5;

/// One score of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionScore {
    /// In `0.0..=1.0`, higher is better, four decimals; 1.0 when nothing could be evaluated.
    pub score: f64,
    /// The score in words.
    pub band: &'static str,
    /// Number of traces that could be evaluated.
    pub evaluated: usize,
    /// Ids of the traces whose risk or uncertainty is above 0.5, in session order.
    pub flagged: Vec<String>,
    /// Why nothing could be evaluated.
    pub reason: Option<&'static str>,
    /// The metadata object of seed 2; `null` when nothing could be evaluated.
    pub metadata: Value,
}

/// Both scores of a session.
///
/// Source: seed 2 (`PandaProbe`, "Metrics"), and spec 3, "session". Both scores fold the signals of
/// a session's traces; a signal `s` in `0..=1` stands for the risk `1 − s`, and a missing signal is
/// left out, never read as 0.
///
/// [`agent_reliability`]: a trace's risk is its largest weighted risk, over all traces with any
/// signal; `k = max(1, ceil(0.15 · traces))`;
/// `score = 1 − (0.9 · mean of the k largest + 0.1 · largest)`, clamped.
///
/// [`agent_consistency`]: a trace's uncertainty is
/// `(1 + Σ weighted risks of the other signals) · weighted confidence risk`, over the traces with
/// a confidence; `score = 1 −` their root mean square, clamped.
///
/// Without an evaluable trace both read 1.0 with a reason (seed 2), and then resolve to no target
/// (spec 3). Scores and the numbers of the metadata are rounded to four decimals; flags are decided
/// before rounding. A signal that is not finite counts as missing, a weight that is not finite as 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionReport {
    /// How bad the worst moments were.
    pub agent_reliability: SessionScore,
    /// How smooth the whole was.
    pub agent_consistency: SessionScore,
}

impl SessionScore {
    /// The score, where something could be evaluated.
    fn known(&self) -> Option<f64> {
        (self.evaluated > 0).then_some(self.score)
    }
}

metrics! { SessionReport as report {
    Measure::new("session.agent_reliability", Unit::Fraction)
        .higher_is_better(
            "how good the worst turns or runs were; 1 is best, where something could be evaluated",
        )
        .optional() => report.agent_reliability.known(),
    Measure::new("session.agent_reliability_evaluated", Unit::Count)
        .only_describes("turns or runs it was computed from") => report.agent_reliability.evaluated,
    Measure::new("session.agent_reliability_flagged", Unit::Count)
        .lower_is_better("turns or runs with a risk above 0.5") => report.agent_reliability.flagged.len(),
    Measure::new("session.agent_consistency", Unit::Fraction)
        .higher_is_better("how even the quality of the whole was; 1 is best, where something could be evaluated")
        .optional() => report.agent_consistency.known(),
    Measure::new("session.agent_consistency_evaluated", Unit::Count)
        .only_describes("turns or runs it was computed from") => report.agent_consistency.evaluated,
    Measure::new("session.agent_consistency_flagged", Unit::Count)
        .lower_is_better("turns or runs with a risk above 0.5") => report.agent_consistency.flagged.len(),
} }

/// Computes both scores.
#[must_use]
pub fn score_session(traces: &[SessionTrace], weights: &Weights) -> SessionReport {
    SessionReport {
        agent_reliability: agent_reliability(traces, weights),
        agent_consistency: agent_consistency(traces, weights),
    }
}

/// Worst-case risk: one catastrophic trace spoils the session.
///
/// ```
/// use mcptest_trace::eval::{SessionTrace, Weights, agent_reliability};
/// use mcptest_trace::trace::Signals;
///
/// let trace = |id: &str, coherence| SessionTrace::new(id, Signals::default().with_coherence(coherence));
/// let score = agent_reliability(&[trace("a", 1.0), trace("b", 0.2)], &Weights::default());
/// assert_eq!((score.score, score.band), (0.2, "high risk"));
/// assert_eq!(score.flagged, ["b"]);
/// ```
#[must_use]
pub fn agent_reliability(traces: &[SessionTrace], weights: &Weights) -> SessionScore {
    let moments = with_risks(traces, weights).into_iter().map(|(id, risks)| {
        let risk = risks.iter().map(Risk::weighted).fold(0.0, f64::max);
        Moment::new(id, risk, &risks, json!({ "step_risk": rounded(risk) }))
    });
    let fold = |mut risks: Vec<f64>, flagged: &[String]| {
        risks.sort_by(|left, right| right.total_cmp(left));
        let max_risk = risks.first().copied().unwrap_or_default();
        risks.truncate((risks.len() * TAIL_PERCENT).div_ceil(100));
        let mean_top = unordered_mean(risks).unwrap_or_default();
        let raw_risk = (1.0 - WORST_SHARE) * mean_top + WORST_SHARE * max_risk;
        let own = json!({
            "raw_risk": rounded(raw_risk),
            "flagged_traces": flagged,
            "aggregation": {
                "method": "max_compose_top_k",
                "top_k_percentile": 0.15,
                "ensemble_weight": WORST_SHARE,
                "mean_top_k_risk": rounded(mean_top),
                "max_risk": rounded(max_risk),
            },
        });
        (raw_risk, own)
    };
    scored(traces, weights, &RELIABILITY_BANDS, moments.collect(), fold)
}

/// Overall smoothness: every trace with a low confidence counts, more so when its other signals
/// are low as well.
///
/// ```
/// use mcptest_trace::eval::{SessionTrace, Weights, agent_consistency};
/// use mcptest_trace::trace::Signals;
///
/// let trace = |id: &str, confidence| SessionTrace::new(id, Signals::default().with_confidence(confidence));
/// // sqrt((0.1² + 0.7²) / 2) = 0.5
/// let score = agent_consistency(&[trace("a", 0.9), trace("b", 0.3)], &Weights::default());
/// assert_eq!((score.score, score.band), (0.5, "moderate instability"));
/// ```
#[must_use]
pub fn agent_consistency(traces: &[SessionTrace], weights: &Weights) -> SessionScore {
    let evaluable = with_risks(traces, weights).into_iter();
    let evaluable = evaluable.filter(|(_, risks)| {
        risks
            .iter()
            .any(|risk| risk.is_confidence() && risk.counts())
    });
    let moments = evaluable.map(|(id, risks)| {
        let (confidence, others): (Vec<&Risk>, Vec<&Risk>) =
            risks.iter().partition(|risk| risk.is_confidence());
        let sum = |risks: Vec<&Risk>| risks.into_iter().map(Risk::weighted).sum::<f64>();
        let penalty = sum(others);
        let uncertainty = (1.0 + penalty) * sum(confidence);
        let own = json!({
            "situational_penalty": rounded(penalty),
            "weighted_uncertainty": rounded(uncertainty),
        });
        Moment::new(id, uncertainty, &risks, own)
    });
    let fold = |uncertainties: Vec<f64>, _flagged: &[String]| {
        let squares = uncertainties.into_iter().map(|value| value * value);
        let rms = unordered_mean(squares.collect()).unwrap_or_default().sqrt();
        let own = json!({
            "raw_instability": rounded(rms),
            "aggregation": { "method": "weighted_rms", "rms_value": rounded(rms) },
        });
        (rms, own)
    };
    scored(traces, weights, &CONSISTENCY_BANDS, moments.collect(), fold)
}

/// In words, from the best: 0.9, 0.7, 0.5, 0.3 and more, and less (seed 2, "Interpreting the
/// score").
const RELIABILITY_BANDS: [&str; 5] = [
    "highly reliable",
    "generally reliable",
    "moderate risk",
    "elevated risk",
    "high risk",
];
const CONSISTENCY_BANDS: [&str; 5] = [
    "highly consistent",
    "generally consistent",
    "moderate instability",
    "high instability",
    "unstable",
];

/// A trace that could be evaluated.
struct Moment<'a> {
    id: &'a str,
    /// Its risk or uncertainty.
    badness: f64,
    /// What the metadata shows of it.
    shown: Value,
}

impl<'a> Moment<'a> {
    fn new(id: &'a str, badness: f64, risks: &[Risk], mut shown: Value) -> Self {
        for risk in risks {
            shown[risk.name] = rounded(risk.value).into();
        }
        Self { id, badness, shown }
    }
}

/// A score from the traces that could be evaluated: `fold` makes of their badness how bad the session
/// is, and what its metadata adds.
fn scored(
    traces: &[SessionTrace],
    weights: &Weights,
    bands: &[&'static str; 5],
    moments: Vec<Moment<'_>>,
    fold: impl FnOnce(Vec<f64>, &[String]) -> (f64, Value),
) -> SessionScore {
    let [best, good, moderate, poor, worst] = *bands;
    if moments.is_empty() {
        let any_signal = !with_risks(traces, &Weights::default()).is_empty();
        return SessionScore {
            score: 1.0,
            band: best,
            evaluated: 0,
            flagged: Vec::new(),
            reason: Some(if any_signal {
                "No evaluable traces."
            } else {
                "No traces or signals to evaluate."
            }),
            metadata: Value::Null,
        };
    }
    let flagged = moments.iter().filter(|moment| moment.badness > FLAG_ABOVE);
    let flagged: Vec<String> = flagged.map(|moment| moment.id.to_owned()).collect();
    let badness = moments.iter().map(|moment| moment.badness);
    let (raw, mut metadata) = fold(badness.collect(), &flagged);
    metadata["total_traces_in_session"] = traces.len().into();
    metadata["traces_evaluated"] = moments.len().into();
    metadata["signal_weights"] = json!(weights);
    let evaluated = moments.len();
    let shown = moments.into_iter();
    let shown = shown.map(|moment| (moment.id.to_owned(), moment.shown));
    metadata["per_trace_signals"] = shown.collect();
    let score = rounded((1.0 - raw).clamp(0.0, 1.0));
    let band = match score {
        _ if score >= 0.9 => best,
        _ if score >= 0.7 => good,
        _ if score >= 0.5 => moderate,
        _ if score >= 0.3 => poor,
        _ => worst,
    };
    SessionScore {
        score,
        band,
        evaluated,
        flagged,
        reason: None,
        metadata,
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
