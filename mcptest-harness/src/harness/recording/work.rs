//! What is to be done about the runs of an agent.

use crate::render::Failure;

/// What is to be done.
pub(super) enum Work {
    /// Nothing.
    Nothing,
    /// This many runs are declared and not there.
    Missing(usize),
    /// All runs are recorded anew, for a reason. `left`: those that an interrupted recording left, where somebody found
    /// out which of them are good.
    All {
        left: Option<Vec<usize>>,
        count: usize,
        why: Option<String>,
    },
    /// These runs alone, by their places. `chosen`: others are kept although the agent changed.
    Some {
        places: Vec<usize>,
        chosen: bool,
        why: String,
    },
    /// The agent cannot be recorded, or nobody can tell whether it changed.
    Fails(Failure),
    /// The agent's code ended before it asked a model, so that nothing is recorded at all.
    Stops(Failure),
}

impl Work {
    /// How many runs are recorded.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Nothing | Self::Fails(_) | Self::Stops(_) => 0,
            Self::Missing(count) | Self::All { count, .. } => *count,
            Self::Some { places, .. } => places.len(),
        }
    }

    /// Why an agent is recorded anew.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::All { why, .. } => why.as_deref(),
            Self::Some { why, .. } => Some(why),
            _ => None,
        }
    }
}
