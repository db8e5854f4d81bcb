//! Playback: what the agent's own code does differently from a recording that is played to it.
//!
//! Who plays is `mcptest-session`; here is what a played run comes to.

mod divergence;
mod options;

pub use divergence::{Divergence, DivergenceKind};
pub use options::{IgnoredPath, IgnoredPathError, PlaybackOptions};

use super::measure::{Measure, Unit};
use super::metrics::metrics;

/// What a played run came to.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PlaybackReport {
    /// What the code does differently, what was seen first before the others. What is ignored is left out.
    pub divergences: Vec<Divergence>,
    /// The recorded answers that nobody asked for.
    pub unasked: Vec<Divergence>,
    /// How the program ended: its exit status; 0 for a function that returned, 1 for one that failed; 128 and the
    /// signal's number for a program that a signal ended; 124 for what took too long.
    pub exit_status: i64,
    /// How many model calls the code made.
    pub model_calls: usize,
    /// The gates of the agent that hold for the recording and not for the played run, each with what it breaks.
    pub turned: Vec<String>,
}

metrics! { PlaybackReport as report {
    Measure::new("playback.passed", Unit::Flag)
        .higher_is_better("1 when the code did what was recorded: it made no other and no fewer requests, ended well, and still passes each gate that the recording passes") => report.passed(),
    Measure::new("playback.divergences", Unit::Count)
        .lower_is_better("what the code does differently from the recording") => report.divergences.len(),
    Measure::new("playback.unasked", Unit::Count)
        .lower_is_better("recorded answers that the code never asked for") => report.unasked.len(),
    Measure::new("playback.exit_status", Unit::Count)
        .lower_is_better("the program's exit status; 124 when it took too long") => report.exit_status,
} }

impl PlaybackReport {
    /// Whether the code did what was recorded, and ended well.
    ///
    /// ```
    /// use mcptest_trace::eval::PlaybackReport;
    ///
    /// let mut report = PlaybackReport::default();
    /// assert!(report.passed());
    /// report.exit_status = 1;
    /// assert!(!report.passed());
    /// ```
    #[must_use]
    pub fn passed(&self) -> bool {
        self.divergences.is_empty()
            && self.unasked.is_empty()
            && self.exit_status == 0
            && self.turned.is_empty()
    }
}
