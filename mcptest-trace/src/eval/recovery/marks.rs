//! When things happened around one call, folded into a score.

use serde::Serialize;

/// When things happened around one call, in milliseconds on any one clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryMarks {
    /// The call started.
    pub started_ms: u64,
    /// The agent noticed the fault; a mark before the start counts as never.
    pub detected_ms: Option<u64>,
    /// The agent recovered; a mark before the start counts as never.
    pub recovered_ms: Option<u64>,
    /// How long the agent may take to notice.
    pub timeout_budget_ms: u64,
}

impl RecoveryMarks {
    /// A call that nobody noticed and nothing recovered from, and how long the agent had to notice.
    #[must_use]
    pub fn new(started_ms: u64, timeout_budget_ms: u64) -> Self {
        Self {
            started_ms,
            timeout_budget_ms,
            ..Self::default()
        }
    }
}

/// What the marks of one call come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryScore {
    /// From the start to the detection; `None` if it never happened.
    pub time_to_detection_ms: Option<u64>,
    /// From the start to the recovery; `None` if it never happened.
    pub time_to_recovery_ms: Option<u64>,
    /// How long the user saw the call hang: up to detection or recovery, whichever came first; the
    /// timeout budget when neither did.
    pub user_visible_hang_ms: u64,
    /// Whether the agent recovered.
    pub recovered: bool,
    /// Whether the agent noticed at or before its timeout budget.
    pub clean_timeout: bool,
}

/// Folds marks into a score.
///
/// ```
/// use mcptest_trace::eval::{RecoveryMarks, score_recovery};
///
/// let mut marks = RecoveryMarks::new(1_000, 3_000);
/// marks.detected_ms = Some(10_000);
/// let score = score_recovery(&marks);
/// assert_eq!(score.user_visible_hang_ms, 9_000);
/// assert!(!score.clean_timeout);
/// ```
#[must_use]
pub fn score_recovery(marks: &RecoveryMarks) -> RecoveryScore {
    let since_start = |mark: Option<u64>| mark?.checked_sub(marks.started_ms);
    let time_to_detection_ms = since_start(marks.detected_ms);
    let time_to_recovery_ms = since_start(marks.recovered_ms);
    let noticed = time_to_detection_ms
        .into_iter()
        .chain(time_to_recovery_ms)
        .min();
    RecoveryScore {
        time_to_detection_ms,
        time_to_recovery_ms,
        user_visible_hang_ms: noticed.unwrap_or(marks.timeout_budget_ms),
        recovered: time_to_recovery_ms.is_some(),
        clean_timeout: time_to_detection_ms.is_some_and(|time| time <= marks.timeout_budget_ms),
    }
}
