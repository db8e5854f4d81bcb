//! `session:`

use mcptest_trace::eval::Weights;

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
    pub weights: Weights,
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
            let usual = Weights::default();
            let mut weight = |key, usual| {
                let given = fields
                    .get(key)
                    .and_then(|node| problems.number(node, 0.0, f64::INFINITY));
                given.unwrap_or(usual)
            };
            let weights = Weights {
                confidence: weight("confidence", usual.confidence),
                loop_detection: weight("loop_detection", usual.loop_detection),
                tool_correctness: weight("tool_correctness", usual.tool_correctness),
                coherence: weight("coherence", usual.coherence),
            };
            let span = fields.span;
            fields.finish(problems);
            let Weights {
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
