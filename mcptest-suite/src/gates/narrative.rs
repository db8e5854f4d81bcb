//! `narrative:`

use std::collections::BTreeMap;

use super::target::{Better, GateTarget, count, flag, fraction};
use super::{AgentFacts, Block};
use crate::Span;
use crate::load::fields::{Fields, Problems};

pub(super) const TARGETS: &[GateTarget] = &[
    fraction(
        "narrative.divergence_score",
        Better::Lower,
        "flagged items over recorded calls and claimed actions together",
    ),
    count(
        "narrative.claimed_but_absent",
        Better::Lower,
        "claimed changes that no successful call made",
    ),
    count(
        "narrative.present_but_unclaimed",
        Better::Lower,
        "successful changes that the closing never mentions",
    ),
    count(
        "narrative.arg_mismatch",
        Better::Lower,
        "claims whose details differ from the call's arguments",
    ),
    flag(
        "narrative.gate_passed",
        Better::Higher,
        "1 when the options of the gate hold",
    ),
];

/// Options of the narrative gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrative {
    /// Tools that always count as writes.
    pub mutating_tools: Vec<String>,
    /// Tools that never count as writes.
    pub readonly_tools: Vec<String>,
    /// Verbs added to the known ones.
    pub verbs: Vec<String>,
    /// Tools that count as doing a verb although their names do not carry it.
    pub evidence: BTreeMap<String, Vec<String>>,
    /// The highest divergence score that still passes, from 0 to 1.
    pub max_divergence_score: Option<f64>,
    /// Whether a claimed but absent write fails the gate.
    pub fail_on_claimed_but_absent_mutating: bool,
    /// Accepted; changes no verdict.
    pub llm_assisted: bool,
}

impl Block for Narrative {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut texts = |key, of| {
            let texts = fields
                .get(key)
                .map(|node| problems.any_texts(node, of))
                .unwrap_or_default();
            texts.into_iter().map(|text| text.value).collect::<Vec<_>>()
        };
        let mutating_tools = texts("mutating_tools", "tool names");
        let readonly_tools = texts("readonly_tools", "tool names");
        let verbs = texts("verbs", "verbs");
        let evidence = fields.get("evidence").and_then(|node| {
            if node.entries().is_none() {
                problems.expected("a mapping of verbs to tool names", node);
            }
            let tools = node.entries()?.iter().map(|entry| {
                let tools = problems.texts(&entry.value, "tool names");
                (
                    entry.key.clone(),
                    tools.into_iter().map(|tool| tool.value).collect(),
                )
            });
            Some(tools.collect())
        });
        let max_divergence_score = fields
            .get("max_divergence_score")
            .and_then(|node| problems.number(node, 0.0, 1.0));
        let mut flag = |key, default| {
            fields
                .get(key)
                .and_then(|node| problems.flag(node))
                .unwrap_or(default)
        };
        Some(Self {
            fail_on_claimed_but_absent_mutating: flag("fail_on_claimed_but_absent_mutating", true),
            llm_assisted: flag("llm_assisted", false),
            mutating_tools,
            readonly_tools,
            verbs,
            evidence: evidence.unwrap_or_default(),
            max_divergence_score,
        })
    }
}
