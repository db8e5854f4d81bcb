//! Why something is not imported, and what to do about it.

use std::cmp::Ordering;

use mcptest_import::LossReason;

/// Why something is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The input has it, and it cannot be imported.
    Lost(LossReason),
    /// A file has no records.
    NoRecords,
    /// Files have no runs.
    NoRuns,
    /// `--score` names what no run has.
    NoScore,
    /// `--group-by` names what no run has.
    NoField,
    /// Two runs have one identifier.
    SameIdentifier,
    /// A run is here already, and has other content.
    Differs,
    /// The recordings belong to another suite as well.
    OtherSuite,
    /// A run cannot be read back.
    NoRecording,
    /// The entries that the suite lacks cannot be shown.
    NoEntries,
    /// A first suite cannot be written.
    NoSuite,
}

impl Reason {
    /// The reason in words: its key in reports.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Lost(reason) => reason.as_str(),
            Self::NoRecords => "holds nothing",
            Self::NoRuns => "holds no run",
            Self::NoScore => "no run has the score that is asked for",
            Self::NoField => "no run has the field to group by",
            Self::SameIdentifier => "two runs with one identifier",
            Self::Differs => "is here already with different content",
            Self::OtherSuite => "would change another suite",
            Self::NoRecording => "makes no recording",
            Self::NoEntries => "entries are not shown",
            Self::NoSuite => "no suite was written",
        }
    }

    /// What to do about it.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Self::Lost(reason) => reason.help(),
            Self::NoRecords | Self::NoRuns => {
                "leave it out, or export it with what the agent answered"
            }
            Self::NoScore => "name another score with `--score NAME`; these runs have no outcome",
            Self::NoField => "name a field that the records have: `--group-by /POINTER`",
            Self::SameIdentifier => {
                "the first is imported; if they are two runs, give the second an identifier of its own"
            }
            Self::Differs => {
                "if the run went on since, or was corrected, replace all runs of the agent: give `--replace` and all its files; \
                 else import the run under another name with `--agent`"
            }
            Self::OtherSuite => {
                "give the agent of one of the suites another name, or put that suite into a folder of its own, with its own \
                 recordings"
            }
            Self::NoRecording | Self::NoEntries | Self::NoSuite => {
                "everything else is imported; if this part matters to your tests, correct the record and import it again"
            }
        }
    }
}

impl From<LossReason> for Reason {
    fn from(reason: LossReason) -> Self {
        Self::Lost(reason)
    }
}

/// By the words, as reports are sorted.
impl Ord for Reason {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Reason {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
