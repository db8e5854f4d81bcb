//! The faults of a run, and which call each of them strikes.

use serde::Serialize;
use serde_json::{Value, json};

use super::marks::{RecoveryMarks, RecoveryScore, score_recovery};
use crate::setters::setters;
use crate::trace::ToolCall;

/// What a fault does to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The call never returns.
    Hang,
    /// The call never returns; the backend is deadlocked.
    Wedged,
    /// The call returns late.
    Slow {
        /// How late, in milliseconds.
        delay_ms: u64,
    },
    /// The first calls never return, later ones do.
    RecoverAfter {
        /// How many calls do not return; at least 1.
        failures: u64,
    },
}

impl FaultKind {
    /// The word that suites and cassettes use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hang => "hang",
            Self::Wedged => "wedged",
            Self::Slow { .. } => "slow",
            Self::RecoverAfter { .. } => "recover_after",
        }
    }

    /// How late the calls are answered, where they are.
    #[must_use]
    pub fn delay_ms(self) -> Option<u64> {
        match self {
            Self::Slow { delay_ms } => Some(delay_ms),
            _ => None,
        }
    }

    /// How many calls do not return before others do.
    #[must_use]
    pub fn failures(self) -> Option<u64> {
        match self {
            Self::RecoverAfter { failures } => Some(failures),
            _ => None,
        }
    }
}

/// A fault and what it strikes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The fault's name in the suite.
    pub name: String,
    /// The tool it strikes; every tool when absent.
    pub tool: Option<String>,
    /// The server it strikes; any server when absent.
    pub server: Option<String>,
    /// What it does.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault that strikes every tool of any server.
    pub fn new(name: impl Into<String>, kind: FaultKind) -> Self {
        Self {
            name: name.into(),
            tool: None,
            server: None,
            kind,
        }
    }

    fn strikes(&self, tool: &str, server: &str) -> bool {
        let fits = |wanted: Option<&String>, found: &str| wanted.is_none_or(|w| w == found);
        fits(self.tool.as_ref(), tool) && fits(self.server.as_ref(), server)
    }
}

setters! {
    Fault {
        with_tool(tool: impl Into<String>) => Some(tool.into());
        with_server(server: impl Into<String>) => Some(server.into());
    }
}

/// The faults injected into a run, in order; the first that fits a call decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FaultPlan {
    /// The faults.
    pub faults: Vec<Fault>,
    /// How long the agent may take to notice a call that does not return; 3,000 by default.
    pub max_detection_ms: u64,
}

impl FaultPlan {
    /// The plan of some faults with the default detection budget.
    #[must_use]
    pub fn new(faults: Vec<Fault>) -> Self {
        Self {
            faults,
            max_detection_ms: 3_000,
        }
    }
}

/// What a fault that fires does to its call.
///
/// A closed set: whoever injects faults must be able to do each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The call never returns.
    Timeout,
    /// The call is answered, this many milliseconds late.
    Late(u64),
}

impl Effect {
    /// The score of one call that starts at 0.
    pub(super) fn score(self, budget: u64) -> RecoveryScore {
        let (detected_ms, recovered_ms) = match self {
            Self::Timeout => (Some(budget), None),
            Self::Late(delay) => (None, Some(delay)),
        };
        score_recovery(&RecoveryMarks {
            started_ms: 0,
            detected_ms,
            recovered_ms,
            timeout_budget_ms: budget,
        })
    }
}

/// A plan's decisions, call after call: the same ones when a run is judged as when it is recorded.
#[derive(Debug, Clone)]
pub struct Decisions {
    plan: FaultPlan,
    /// How many calls each fault has decided on.
    decided: Vec<u64>,
}

impl Decisions {
    /// The decisions of a plan, from the first call on.
    #[must_use]
    pub fn new(plan: FaultPlan) -> Self {
        Self {
            decided: vec![0; plan.faults.len()],
            plan,
        }
    }

    /// The fault that fires for the next call, if one does.
    pub fn next(&mut self, call: &ToolCall) -> Option<(&Fault, Effect)> {
        let (index, effect) = self.decide(&call.name, &call.server)?;
        Some((self.plan.faults.get(index)?, effect))
    }

    /// The place in the plan of the fault that fires for the next call, and what it does.
    pub(super) fn decide(&mut self, tool: &str, server: &str) -> Option<(usize, Effect)> {
        let faults = self.plan.faults.iter().zip(&mut self.decided);
        let mut places = faults.enumerate();
        let (index, (fault, decided)) =
            places.find(|(_, (fault, _))| fault.strikes(tool, server))?;
        *decided += 1;
        let effect = match fault.kind {
            FaultKind::RecoverAfter { failures } if *decided > failures => return None,
            FaultKind::Slow { delay_ms } if delay_ms < self.plan.max_detection_ms => {
                Effect::Late(delay_ms)
            }
            _ => Effect::Timeout,
        };
        Some((index, effect))
    }

    /// What the next call is answered in the place of its tool, where a fault lets it time out: an MCP result that is
    /// an error, and the mark by which recordings tell it.
    pub fn timed_out(&mut self, tool: &str, server: &str) -> Option<(Value, Value)> {
        let budget = self.plan.max_detection_ms;
        let (index, effect) = self.decide(tool, server)?;
        if effect != Effect::Timeout {
            return None;
        }
        let fault = self.plan.faults.get(index)?;
        let text = format!("`{tool}` timed out: no answer within {budget} ms");
        let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
        let mark = json!({ "fault": fault.name.clone(), "kind": fault.kind.name() });
        Some((result, mark))
    }

    /// The detection budget, at which a call that does not return is given up.
    #[must_use]
    pub fn max_detection_ms(&self) -> u64 {
        self.plan.max_detection_ms
    }
}
