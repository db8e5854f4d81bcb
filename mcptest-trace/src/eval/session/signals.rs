//! What a session score is computed from: signals, weights, and the risks behind them.

use serde::Serialize;

use crate::setters::setters;
use crate::trace::{Score, Signals, Trace};

/// Heavier weights count as this one.
const HEAVIEST: f64 = 1e9;

/// Weights of the signals, each 0 or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Weights {
    /// Of `confidence`.
    pub confidence: f64,
    /// Of `loop_detection`.
    pub loop_detection: f64,
    /// Of `tool_correctness`.
    pub tool_correctness: f64,
    /// Of `coherence`.
    pub coherence: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            confidence: 1.0,
            loop_detection: 1.0,
            tool_correctness: 0.8,
            coherence: 1.0,
        }
    }
}

setters! {
    Weights {
        with_confidence(confidence: f64);
        with_loop_detection(loop_detection: f64);
        with_tool_correctness(tool_correctness: f64);
        with_coherence(coherence: f64);
    }
}

/// The signals of one trace of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SessionTrace {
    /// What the trace is called in the metadata; each its own.
    pub id: String,
    /// Its signals.
    pub signals: Signals,
}

impl SessionTrace {
    /// A trace and its signals.
    pub fn new(id: impl Into<String>, signals: Signals) -> Self {
        Self {
            id: id.into(),
            signals,
        }
    }
}

/// Signals computed from a trace's own evidence. There is none for confidence: it is never
/// invented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DerivedSignals {
    /// Redundancy: distinct calls over all calls.
    pub loop_detection: Option<f64>,
    /// Share of the results that are not errors.
    pub tool_correctness: Option<f64>,
    /// `1 −` the share of claimed actions that the calls do not bear out.
    pub coherence: Option<f64>,
}

setters! {
    DerivedSignals {
        with_loop_detection(loop_detection: f64) => Some(loop_detection);
        with_tool_correctness(tool_correctness: f64) => Some(tool_correctness);
        with_coherence(coherence: f64) => Some(coherence);
    }
}

/// The recorded signals, each one that is missing filled from the evidence.
///
/// ```
/// use mcptest_trace::eval::{DerivedSignals, derive_signals};
/// use mcptest_trace::trace::Signals;
///
/// let recorded = Signals::default().with_coherence(0.8);
/// let evidence = DerivedSignals::default().with_loop_detection(0.5).with_coherence(1.0);
/// let signals = derive_signals(recorded, evidence);
/// assert_eq!((signals.loop_detection, signals.coherence), (Some(0.5), Some(0.8)));
/// assert_eq!(signals.confidence, None);
/// ```
#[must_use]
pub fn derive_signals(recorded: Signals, evidence: DerivedSignals) -> Signals {
    Signals {
        confidence: recorded.confidence,
        loop_detection: recorded.loop_detection.or(evidence.loop_detection),
        tool_correctness: recorded.tool_correctness.or(evidence.tool_correctness),
        coherence: recorded.coherence.or(evidence.coherence),
    }
}

/// The signals of a run: the scores of their names where it was scored so, else those that were recorded. Of several
/// scores of one name the lowest counts.
///
/// ```
/// use mcptest_trace::eval::signals_from_scores;
/// use mcptest_trace::trace::{Score, Signals, Trace};
///
/// let mut run = Trace::default();
/// run.scores = vec![Score::new("confidence", 0.9, "ann"), Score::new("confidence", 0.4, "gpt-5")];
/// let recorded = Signals::default().with_confidence(1.0).with_coherence(0.8);
/// let signals = signals_from_scores(&run, Some(recorded)).unwrap().unwrap();
/// assert_eq!((signals.confidence, signals.coherence), (Some(0.4), Some(0.8)));
///
/// run.scores.push(Score::new("coherence", 4.0, "ann"));
/// assert_eq!(signals_from_scores(&run, None).unwrap_err().value, 4.0);
/// ```
///
/// # Errors
///
/// The first score of a signal that is not from 0 to 1: of another scale nobody knows what it says.
pub fn signals_from_scores(
    trace: &Trace,
    recorded: Option<Signals>,
) -> Result<Option<Signals>, Box<Score>> {
    let lowest = |name: &str| {
        let mut lowest: Option<f64> = None;
        for score in trace.scores_named(name) {
            if !(0.0..=1.0).contains(&score.value) {
                return Err(Box::new(score.clone()));
            }
            let so_far = lowest.unwrap_or(1.0);
            lowest = Some(so_far.min(score.value));
        }
        Ok(lowest)
    };
    let scored = Signals {
        confidence: lowest("confidence")?,
        loop_detection: lowest("loop_detection")?,
        tool_correctness: lowest("tool_correctness")?,
        coherence: lowest("coherence")?,
    };
    let stated = recorded.unwrap_or_default();
    let both = Signals {
        confidence: scored.confidence.or(stated.confidence),
        loop_detection: scored.loop_detection.or(stated.loop_detection),
        tool_correctness: scored.tool_correctness.or(stated.tool_correctness),
        coherence: scored.coherence.or(stated.coherence),
    };
    Ok(Some(both).filter(|both| recorded.is_some() || *both != Signals::default()))
}

/// The risk behind one signal of one trace.
pub(super) struct Risk {
    pub(super) name: &'static str,
    pub(super) value: f64,
    weight: f64,
}

impl Risk {
    pub(super) fn weighted(&self) -> f64 {
        self.weight * self.value
    }

    /// Whether it weighs anything; a score of what weighs nothing says nothing.
    pub(super) fn counts(&self) -> bool {
        self.weight > 0.0
    }

    pub(super) fn is_confidence(&self) -> bool {
        self.name == "confidence_risk"
    }
}

/// The risks of every trace that has any signal with a weight, by its id.
pub(super) fn with_risks<'a>(
    traces: &'a [SessionTrace],
    weights: &Weights,
) -> Vec<(&'a str, Vec<Risk>)> {
    let risks = |signals: &Signals| -> Vec<Risk> {
        let known = [
            ("confidence_risk", signals.confidence, weights.confidence),
            ("loop_risk", signals.loop_detection, weights.loop_detection),
            (
                "tool_risk",
                signals.tool_correctness,
                weights.tool_correctness,
            ),
            ("coherence_risk", signals.coherence, weights.coherence),
        ];
        let present = known.into_iter().filter_map(|(name, signal, weight)| {
            let value = 1.0 - signal.filter(|signal| signal.is_finite())?.clamp(0.0, 1.0);
            Some(Risk {
                name,
                value,
                weight: clamp_weight(weight),
            })
        });
        present.collect()
    };
    let all = traces
        .iter()
        .map(|trace| (trace.id.as_str(), risks(&trace.signals)));
    all.filter(|(_, risks)| risks.iter().any(Risk::counts))
        .collect()
}

/// A weight that keeps every sum and square finite.
fn clamp_weight(weight: f64) -> f64 {
    if weight.is_finite() {
        weight.clamp(0.0, HEAVIEST)
    } else {
        0.0
    }
}
