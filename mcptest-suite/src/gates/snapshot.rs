//! `snapshot:`

use super::{AgentFacts, Block, GateTarget};
use crate::Span;
use crate::load::assertion::read_target;
use crate::load::fields::{Fields, Problems};
use crate::model::Target;

pub(super) const TARGETS: &[GateTarget] = &[];

/// Options of the snapshot gate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Whether the closing message is part of the outline.
    pub final_response: bool,
    /// Places to blank.
    pub redact: Vec<Target>,
}

impl Block for Snapshot {
    fn read(
        fields: &mut Fields<'_>,
        _agent: &AgentFacts<'_>,
        _span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let final_response = fields
            .get("final_response")
            .and_then(|node| problems.flag(node));
        let redact = fields
            .get("redact")
            .map(|node| problems.any_items(node, "target paths"));
        let redact = redact.unwrap_or_default().iter();
        Some(Self {
            redact: redact
                .filter_map(|node| read_target(node, problems))
                .collect(),
            final_response: final_response.unwrap_or_default(),
        })
    }
}
