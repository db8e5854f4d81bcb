//! Faults an agent test can inject.

use serde::Serialize;

use crate::Spanned;

/// A fault of a tool or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The name that `inject:` uses.
    pub name: Spanned<String>,
    /// The tool it hits; any tool of the server when absent.
    pub tool: Option<String>,
    /// The server it hits; any server when absent. One of the two is there.
    pub server: Option<String>,
    /// What happens to a call.
    pub kind: FaultKind,
}

/// What a fault does to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
}
