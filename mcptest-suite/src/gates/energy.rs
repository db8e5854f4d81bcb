//! `energy:`

use super::target::{Better, GateTarget, Unit, amount, count, flag};
use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems};
use crate::{Diagnostic, NodeValue, Span};

pub(super) const TARGETS: &[GateTarget] = &[
    flag(
        "energy.tripped",
        Better::Lower,
        "1 when a guard would have stopped the run for its growth",
    ),
    flag(
        "energy.frozen",
        Better::Lower,
        "1 when the run used up its token budget",
    ),
    count(
        "energy.trip_step",
        Better::Neither,
        "the step that tripped, where one did",
    )
    .at_least(1.0)
    .sometimes(),
    amount(
        "energy.peak_ratio",
        Unit::Ratio,
        Better::Lower,
        "the most tokens of a step against the baseline, where there is one",
    )
    .sometimes(),
    amount(
        "energy.baseline",
        Unit::Tokens,
        Better::Neither,
        "tokens of a usual step, where the warm-up came to its end",
    )
    .sometimes(),
    amount(
        "energy.tokens",
        Unit::Tokens,
        Better::Lower,
        "tokens of the whole run",
    ),
    amount(
        "energy.tokens_after_trip",
        Unit::Tokens,
        Better::Lower,
        "tokens a live guard would have saved",
    ),
    amount(
        "energy.pattern",
        Unit::Word(PATTERNS),
        Better::Neither,
        "how the run failed, as its growth shows it",
    ),
    amount(
        "energy.drift",
        Unit::Distance,
        Better::Lower,
        "how far the last texts are from the system prompt, where there are both",
    )
    .up_to(2.0)
    .sometimes(),
];

/// The words of `energy.pattern`.
const PATTERNS: &[&str] = &[
    "healthy",
    "early_explosion",
    "budget_exhaustion",
    "retry_storm",
    "context_spiral",
    "policy_drift",
    "gradual_degradation",
];

/// Options of the energy gate; what is absent has the guard's default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Energy {
    /// The ratio to the baseline above which a step counts, above 0.
    pub ratio_threshold: Option<f64>,
    /// How many steps in a row must count.
    pub window: Option<u64>,
    /// How many steps make the baseline.
    pub warmup_turns: Option<u64>,
    /// Tokens below which nothing trips.
    pub budget_gate: Option<u64>,
    /// Tokens at which the run freezes.
    pub token_budget: Option<u64>,
    /// Whether the threshold adapts to the warm-up.
    pub adaptive: Option<Adaptive>,
    /// The mean drift above which a trip is confirmed, from 0 to 2.
    pub drift_threshold: Option<f64>,
    /// Whether tokens are estimated where they were not recorded.
    pub estimate: bool,
}

/// An adaptive threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptive {
    /// How strongly the warm-up's spread widens the threshold.
    pub k: Option<f64>,
}

impl Block for Energy {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let ratio_threshold = fields
            .get("ratio_threshold")
            .and_then(|node| problems.positive(node));
        let mut count = |key, least| {
            fields
                .get(key)
                .and_then(|node| problems.count(node, least))
                .map(|count| count.value)
        };
        let window = count("window", 1);
        let warmup_turns = count("warmup_turns", 1);
        let budget_gate = count("budget_gate", 0);
        let token_budget = count("token_budget", 1);
        let adaptive = fields.get("adaptive").and_then(|node| {
            if node.entries().is_none() {
                let on = matches!(node.value, NodeValue::Bool(_)).then(|| problems.flag(node));
                if on.is_none() {
                    problems.expected("`true`, `false` or `{ k: 2.0 }`", node);
                }
                return on.flatten().filter(|on| *on).map(|_| Adaptive { k: None });
            }
            let mut fields = Fields::open(node, "`adaptive`", problems)?;
            let k = fields
                .get("k")
                .and_then(|node| problems.number(node, 0.0, f64::INFINITY));
            fields.finish(problems);
            Some(Adaptive { k })
        });
        let drift_threshold = fields.get("drift").and_then(|node| {
            if let NodeValue::Number(_, written) = &node.value {
                problems.push(
                    Diagnostic::at(node.span, "`drift` has its threshold below it")
                        .help(format!("write `drift: {{ threshold: {written} }}`")),
                );
                return None;
            }
            let mut fields = Fields::open(node, "`drift`", problems)?;
            let threshold = fields.required("threshold", problems);
            let threshold = threshold.and_then(|node| problems.number(node, 0.0, 2.0));
            fields.finish(problems);
            threshold
        });
        let estimate = fields
            .get("estimate")
            .and_then(|node| problems.flag(node))
            .unwrap_or_default();
        Some(Self {
            ratio_threshold,
            window,
            warmup_turns,
            budget_gate,
            token_budget,
            adaptive,
            drift_threshold,
            estimate,
        })
    }
}
