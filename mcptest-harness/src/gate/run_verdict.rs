//! What becomes of one run.

use serde::{Deserialize, Serialize};

/// What something that is asked makes of one run. What several make of it together is the last of
/// theirs in this order.
///
/// A closed set, as the format of results has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunVerdict {
    /// Nothing of the run was judged, e.g. the items of a list that has none.
    NothingJudged,
    /// It holds.
    Holds,
    /// Nobody here can tell: that needs a model.
    Undecided,
    /// It does not hold.
    Fails,
}

impl RunVerdict {
    /// Whether the run passed; nothing where nobody can say.
    #[must_use]
    pub const fn passed(self) -> Option<bool> {
        match self {
            Self::Holds => Some(true),
            Self::Fails => Some(false),
            Self::NothingJudged | Self::Undecided => None,
        }
    }

    /// The verdict on a run that could be judged.
    pub(crate) const fn judged(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}
