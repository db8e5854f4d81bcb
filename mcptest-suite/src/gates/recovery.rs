//! `recovery:`

use super::target::{Better, GateTarget, Unit, amount, count, flag};
use super::{AgentFacts, Block};
use crate::load::fields::{Fields, Problems};
use crate::{Diagnostic, Span};

pub(super) const TARGETS: &[GateTarget] = &[
    flag(
        "recovery.recovered",
        Better::Higher,
        "1 when the run completed with a closing message",
    ),
    flag(
        "recovery.clean_timeout",
        Better::Higher,
        "1 when every hang was noticed in time; always so on replay",
    ),
    count(
        "recovery.detections",
        Better::Neither,
        "timeouts that were noticed",
    ),
    amount(
        "recovery.time_to_detection_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what noticing took in all, where something was noticed",
    )
    .sometimes(),
    amount(
        "recovery.time_to_recovery_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what the faults cost in all, where the run recovered",
    )
    .sometimes(),
    amount(
        "recovery.user_visible_hang_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what the faults cost in all",
    ),
];

/// Options of the recovery gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovery {
    /// What a call may take before it counts as dead, in milliseconds.
    pub max_detection_ms: u64,
    /// What recovering may take in all, in milliseconds; unbounded when absent.
    pub max_recovery_ms: Option<u64>,
    /// Whether every fault must be noticed within `max_detection_ms`. In the virtual time of a
    /// replay a timeout is noticed at just that moment, so there this holds whenever a fault fired.
    pub require_clean_timeout: bool,
    /// Whether a run in which no fault fired may pass.
    pub allow_unexercised: bool,
}

impl Block for Recovery {
    fn read(
        fields: &mut Fields<'_>,
        agent: &AgentFacts<'_>,
        span: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        if !agent.injects {
            problems.push(
                Diagnostic::at(span, "`recovery` judges injected faults, and this agent injects none")
                    .help("declare one under the suite's `faults:` and name it in the agent's `inject: [ … ]`"),
            );
        }
        let mut count = |key| {
            fields
                .get(key)
                .and_then(|node| problems.count(node, 0))
                .map(|count| count.value)
        };
        let (max_detection_ms, max_recovery_ms) =
            (count("max_detection_ms"), count("max_recovery_ms"));
        let mut flag = |key| {
            fields
                .get(key)
                .and_then(|node| problems.flag(node))
                .unwrap_or_default()
        };
        Some(Self {
            max_detection_ms: max_detection_ms.unwrap_or(3000),
            max_recovery_ms,
            require_clean_timeout: flag("require_clean_timeout"),
            allow_unexercised: flag("allow_unexercised"),
        })
    }
}
