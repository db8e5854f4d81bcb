//! `session:`

use serde::Serialize;

use super::target::{Better, GateTarget, count, fraction};
use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems};
use crate::{Diagnostic, Span};

pub(super) const TARGETS: &[GateTarget] = &[
    fraction(
        "session.agent_reliability",
        Better::Higher,
        "how bad the worst moments were; 1 is best, where something could be evaluated",
    )
    .sometimes(),
    count(
        "session.agent_reliability_evaluated",
        Better::Neither,
        "turns or runs it was computed from",
    ),
    count(
        "session.agent_reliability_flagged",
        Better::Lower,
        "those of them that are above 0.5 in risk",
    ),
    fraction(
        "session.agent_consistency",
        Better::Higher,
        "how smooth the whole was; 1 is best, where something could be evaluated",
    )
    .sometimes(),
    count(
        "session.agent_consistency_evaluated",
        Better::Neither,
        "turns or runs it was computed from",
    ),
    count(
        "session.agent_consistency_flagged",
        Better::Lower,
        "those of them that are above 0.5 in risk",
    ),
];

/// Options of the session gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Session {
    /// Whether missing signals are derived from the recorded evidence.
    pub derive: bool,
    /// The signals' weights.
    pub weights: SignalWeights,
}

/// Weights of the signals, each 0 or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignalWeights {
    /// Of `confidence`.
    pub confidence: f64,
    /// Of `loop_detection`.
    pub loop_detection: f64,
    /// Of `tool_correctness`.
    pub tool_correctness: f64,
    /// Of `coherence`.
    pub coherence: f64,
}

impl Default for SignalWeights {
    fn default() -> Self {
        Self {
            confidence: 1.0,
            loop_detection: 1.0,
            tool_correctness: 0.8,
            coherence: 1.0,
        }
    }
}

impl Block for Session {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let derive = fields
            .get("derive")
            .and_then(|node| problems.flag(node))
            .unwrap_or(true);
        let weights = fields.get("weights").and_then(|node| {
            let mut fields = Fields::open(node, "`weights`", problems)?;
            let usual = SignalWeights::default();
            let mut weight = |key, usual| {
                let given = fields
                    .get(key)
                    .and_then(|node| problems.number(node, 0.0, f64::INFINITY));
                given.unwrap_or(usual)
            };
            let weights = SignalWeights {
                confidence: weight("confidence", usual.confidence),
                loop_detection: weight("loop_detection", usual.loop_detection),
                tool_correctness: weight("tool_correctness", usual.tool_correctness),
                coherence: weight("coherence", usual.coherence),
            };
            let span = fields.span;
            fields.finish(problems);
            let SignalWeights {
                confidence,
                loop_detection,
                tool_correctness,
                coherence,
            } = weights;
            let all = [confidence, loop_detection, tool_correctness, coherence];
            if all.iter().all(|weight| *weight <= 0.0) {
                problems.push(
                    Diagnostic::at(span, "with all weights 0 no signal counts")
                        .note("what no run can decide is no test")
                        .help("give at least one signal a weight above 0"),
                );
            }
            Some(weights)
        });
        Some(Self {
            derive,
            weights: weights.unwrap_or_default(),
        })
    }
}
