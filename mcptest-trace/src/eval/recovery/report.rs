//! What a fault plan came to in a run.

use std::fmt;

use serde::Serialize;

use crate::eval::measure::{Measure, Unit};
use crate::eval::metrics::metrics;

use crate::trace::Synthesized;

/// Why a call counts as hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HitEvidence {
    /// The recording marks its result as synthesised.
    Synthesized,
    /// Its result is an error.
    Error,
    /// It has no result.
    NoResult,
    /// It was answered late, within the detection budget.
    AnsweredLate,
}

/// A call that a fault hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// Index of the call.
    pub call_index: usize,
    /// Name of the fault.
    pub fault: String,
    /// What shows it.
    pub evidence: HitEvidence,
    /// Virtual time from the call's start to the detection; `None` for a late answer.
    pub detected_after_ms: Option<u64>,
    /// Virtual time the call hung for the user.
    pub hang_ms: u64,
}

/// A call that succeeded although a fault must have hit it: recorded without the fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Contradiction {
    /// Index of the call.
    pub call_index: usize,
    /// The called tool.
    pub tool: String,
    /// Name of the fault.
    pub fault: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "recorded without the fault: `tool_calls[{}]` `{}` succeeded, but `{}` must have hit it",
            self.call_index, self.tool, self.fault
        )
    }
}

/// A result that the recording marks as the doing of a fault that the plan does not have there: the
/// run was recorded under another plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ForeignMark {
    /// Index of the call.
    pub call_index: usize,
    /// The fault that answered when it was recorded.
    pub recorded: Synthesized,
    /// Name and kind of the fault that the plan has for the call; `None` when it has none.
    pub planned: Option<Synthesized>,
}

impl fmt::Display for ForeignMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |mark: &Synthesized| match mark.kind.as_str() {
            "" => format!("`{}`", mark.fault),
            kind => format!("`{}` ({kind})", mark.fault),
        };
        write!(
            formatter,
            "`tool_calls[{}]` was recorded under {}, and the suite injects ",
            self.call_index,
            named(&self.recorded)
        )?;
        match &self.planned {
            Some(planned) => formatter.write_str(&named(planned)),
            None => formatter.write_str("nothing there"),
        }
    }
}

/// How a run coped with the injected faults, in virtual time.
///
/// Source: seed 3, "Fault injection and recovery", and spec 3, "recovery". [`score_recovery`](super::score_recovery) folds
/// millisecond marks into a report. [`judge_recovery`](super::judge_recovery) holds an injected [`FaultPlan`](super::FaultPlan) against a
/// recorded run, in virtual time: for each call it makes the decision the injecting executor made.
///
/// 1. The first fault whose target fits the call decides; a call whose server only its result names
///    is one of that server. `hang`, `wedged` and `slow` always fire;
///    `recover_after` fires for the first `failures` calls it decides on, and lets later ones
///    through to the recovered server (no later fault of the plan gets them).
/// 2. A fault that fires is a *timeout*, except a `slow` one whose delay is below the detection
///    budget: that call was answered late, so its result may be anything.
/// 3. A timeout counts as hit when the recording marks the result as the fault's, else when the
///    result is an error, else when there is no result. A success contradicts the fault: the run
///    was recorded without it.
///    Each attempt of the agent's own code at a call of the model is a call here.
/// 4. A timeout costs one detection budget, at which it is detected; a late answer costs its delay
///    and detects nothing. The costs add up. So in virtual time every timeout is a clean one:
///    `clean_timeout` tells runs apart only where the marks are measured ([`score_recovery`](super::score_recovery)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// Whether the run stopped as `completed` with a non-empty final response.
    pub recovered: bool,
    /// Whether every timeout was detected within its budget; true when there was none to detect.
    pub clean_timeout: bool,
    /// Number of timeouts that were detected.
    pub detections: usize,
    /// Sum over the detected timeouts; `None` when there was none.
    pub time_to_detection_ms: Option<u64>,
    /// Sum over all calls hit; `None` when the run did not recover.
    pub time_to_recovery_ms: Option<u64>,
    /// Sum over all calls hit.
    pub user_visible_hang_ms: u64,
    /// Whether any fault fired at all; when not, recovery was not exercised.
    pub exercised: bool,
    /// The calls that were hit, in order.
    pub hits: Vec<Hit>,
    /// The calls that succeeded although a fault must have hit them.
    pub contradictions: Vec<Contradiction>,
    /// Calls the recording marks as hit although no fault of this plan fires for them: it was made
    /// with another plan.
    pub unplanned: Vec<usize>,
    /// Marks of the recording that do not agree with the plan, those of `unplanned` among them.
    pub foreign_marks: Vec<ForeignMark>,
    /// How many calls each fault of the plan hit, in the order of the plan.
    pub fired: Vec<usize>,
}

metrics! { RecoveryReport as report {
    Measure::new("recovery.recovered", Unit::Flag)
        .higher_is_better("1 when the run completed with a closing message") => report.recovered,
    Measure::new("recovery.clean_timeout", Unit::Flag)
        .higher_is_better("1 when every hang was noticed in time; always so for recorded runs") => report.clean_timeout,
    Measure::new("recovery.detections", Unit::Count).only_describes("timeouts that were noticed") => report.detections,
    Measure::new("recovery.time_to_detection_ms", Unit::Milliseconds)
        .lower_is_better("the time until faults were noticed, all together, where something was noticed")
        .optional() => report.time_to_detection_ms,
    Measure::new("recovery.time_to_recovery_ms", Unit::Milliseconds)
        .lower_is_better("the time that faults cost, all together, where the run recovered")
        .optional() => report.time_to_recovery_ms,
    Measure::new("recovery.user_visible_hang_ms", Unit::Milliseconds)
        .lower_is_better("the time that faults cost, all together") => report.user_visible_hang_ms,
} }

/// Contradictions that are told one by one.
const CONTRADICTIONS_TOLD: usize = 3;

impl RecoveryReport {
    /// Whether the run broke a limit on the time to recovery: it took longer, or never recovered
    /// from a fault that fired.
    #[must_use]
    pub fn exceeds_recovery(&self, most_ms: u64) -> bool {
        self.exercised && self.time_to_recovery_ms.is_none_or(|time| time > most_ms)
    }

    /// The contradictions on one line: the first ones, and how many more there are. Empty without
    /// any.
    #[must_use]
    pub fn describe_contradictions(&self) -> String {
        let shown = self.contradictions.iter().take(CONTRADICTIONS_TOLD);
        let mut told: Vec<String> = shown.map(ToString::to_string).collect();
        let more = self.contradictions.len() - told.len();
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        told.join("; ")
    }
}
