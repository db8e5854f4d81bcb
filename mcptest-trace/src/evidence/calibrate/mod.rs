//! What does a threshold mean: which limit will a stated share of passing runs meet, what would it
//! have caught, and does the target tell passed runs from failed ones at all?
//!
//! The limit is made from passing runs alone ([`conformal`](crate::stats::conformal)); the power is the area under
//! the ROC curve; the price is what a limit from the *other* agents does to an agent. Nothing is
//! tuned on what is reported.
//!
//! ```
//! use mcptest_trace::eval::{Measure, Unit};
//! use mcptest_trace::evidence::calibrate::{Discrimination, Quantity, Scored, calibrate};
//! use mcptest_trace::stats::conformal::Share;
//!
//! let tokens = Measure::new("tokens", Unit::Tokens).lower_is_better("tokens of the run");
//! let target = Quantity::from_measure(&tokens).unwrap();
//! let agents = ["refund", "search", "book"];
//! let runs: Vec<Scored> = (0..30)
//!     .map(|run| Scored::new(agents[run % 3], Some(1000.0 + 10.0 * run as f64), Some(run < 20)))
//!     .collect();
//! let found = calibrate(&target, &runs, Share::percent(95).unwrap());
//! let limit = found.limit.unwrap();
//! assert_eq!((limit.rounded, limit.k, limit.seen.catches), (1190.0, 1, 10));
//! assert_eq!(found.power.verdict, Discrimination::TellsRunsApart);
//! ```

mod across;
mod limit;
mod power;
mod quantity;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

use crate::stats::area::ScoredRun;
use crate::stats::conformal::Share;

pub use crate::stats::area::{Area, AreaWithin};
pub use crate::stats::concordance::Concordance;
pub use across::{AcrossCalibration, AcrossLimit, AgentScored, calibrate_across};
pub use limit::{CrossValidation, CurvePoint, LeftOut, Limit};
pub use power::{Discrimination, Power};
pub use quantity::{Alarms, Quantity, Scored, tally};
pub use text::{Line, Topic};

/// The version of a calibration as JSON.
pub const FORMAT: &str = "calibrate/2.0";

/// A per-run target, calibrated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The format of this as JSON.
    pub format: &'static str,
    /// The target.
    #[serde(flatten)]
    pub target: Quantity,
    /// The share of passing runs that shall meet the limit.
    pub share: Share,
    /// All runs.
    pub runs: usize,
    /// Runs without a value; they are left out.
    pub without_value: usize,
    /// Runs with a value whose outcome is not known; left out, unless none is known.
    pub without_outcome: usize,
    /// Whether no outcome is known, so that all runs are taken for passing ones.
    pub outcomes_unknown: bool,
    /// Passed runs with a value.
    pub passed: usize,
    /// Failed runs with a value.
    pub failed: usize,
    /// Whether it tells passed runs from failed ones.
    pub power: Power,
    /// The proposed limit; `None` of a flag, and when no run passed.
    pub limit: Option<Limit>,
    /// How such a limit does on agents that it was not made from.
    pub check: Option<CrossValidation>,
    /// Limits of other shares.
    pub curve: Vec<CurvePoint>,
}

/// Calibrates a per-run target on recorded runs. A flag is measured alone.
///
/// Where no outcome is known at all, all runs are taken for passing ones: their spread is known then,
/// and nobody knows whether a limit catches anything.
#[must_use]
pub fn calibrate<'a>(target: &Quantity, runs: &[Scored<'a>], share: Share) -> Calibration {
    let has_value = |run: &&Scored<'a>| run.value.is_some_and(|value| !value.is_nan());
    let valued = || runs.iter().filter(has_value);
    let without_outcome = valued().filter(|run| run.passed.is_none()).count();
    let outcomes_unknown = without_outcome > 0 && without_outcome == valued().count();
    let judge = |run: &Scored<'a>| {
        Some(ScoredRun {
            agent: run.agent,
            goodness: target.goodness(run.value.filter(|value| !value.is_nan())?),
            passed: run.passed.or(outcomes_unknown.then_some(true))?,
        })
    };
    let all: Vec<Option<ScoredRun<'a>>> = runs.iter().map(judge).collect();
    let judged: Vec<ScoredRun<'_>> = all.iter().flatten().copied().collect();
    let passed = judged.iter().filter(|run| run.passed).count();
    let calibrated = !target.is_flag() && passed > 0;
    let limit = calibrated.then(|| limit::limit(target, &judged, share));
    let curve = calibrated.then(|| limit::curve(target, &judged));
    Calibration {
        format: FORMAT,
        target: *target,
        share,
        runs: runs.len(),
        without_value: runs.len() - valued().count(),
        without_outcome,
        outcomes_unknown,
        passed,
        failed: judged.len() - passed,
        power: power::power(&judged),
        limit: limit.flatten(),
        check: calibrated.then(|| limit::cross_validate(&all, share)),
        curve: curve.unwrap_or_default(),
    }
}

/// What several limits do together to agents that they were not made from: an alarm of one is an
/// alarm. All must be calibrated on these runs, in this order; a run that a target does not judge
/// raises no alarm of it.
#[must_use]
pub fn joint(outcomes: &[Option<bool>], calibrations: &[&Calibration]) -> Alarms {
    let mut tally = Alarms::default();
    for (place, passed) in outcomes.iter().enumerate() {
        let alarms = |calibration: &&&Calibration| {
            let check = calibration.check.as_ref();
            let alarm = check.and_then(|check| check.alarms.get(place).copied().flatten());
            alarm == Some(true)
        };
        if let Some(passed) = passed {
            tally.add(*passed, calibrations.iter().find(alarms).is_some());
        }
    }
    tally
}
