//! What is calibrated: the numbers of a target, which end of them is bad, their values.

use serde::{Deserialize, Serialize};

use crate::eval::{Better, Measure, Unit};

/// Which end of a target's values is the bad one.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A low value is bad: the limit is a minimum.
    LowIsBad,
    /// A high value is bad: the limit is a maximum.
    HighIsBad,
}

/// What kind of number a target is.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberKind {
    /// Any number: limits have 4 decimals.
    Real,
    /// A whole number: limits are whole.
    Count,
    /// 0 or 1: measured, not calibrated.
    Flag,
}

/// The numbers of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quantity {
    /// Its path, e.g. `golden_path.penalty`.
    pub name: String,
    /// Which end is the bad one.
    pub direction: Direction,
    /// What kind of number it is.
    pub kind: NumberKind,
}

impl Quantity {
    /// The numbers of a target that a metric computes; `None` of words and lists, and where neither
    /// end is bad.
    ///
    /// ```
    /// use mcptest_trace::eval::targets;
    /// use mcptest_trace::evidence::calibrate::{Direction, NumberKind, Quantity};
    ///
    /// let penalty = Quantity::of(&targets::GOLDEN_PATH[0]).unwrap();
    /// assert_eq!((penalty.direction, penalty.kind), (Direction::LowIsBad, NumberKind::Real));
    /// let claims = targets::NARRATIVE.iter().find(|target| target.name == "narrative.claims");
    /// assert_eq!(claims.and_then(Quantity::of), None);
    /// ```
    #[must_use]
    pub fn of(target: &Measure) -> Option<Self> {
        let direction = match target.better {
            Better::Higher => Direction::LowIsBad,
            Better::Lower => Direction::HighIsBad,
            Better::Neither => return None,
        };
        let kind = match target.unit {
            Unit::Word(_) => return None,
            Unit::Flag | Unit::AllOrNothing => NumberKind::Flag,
            Unit::Count | Unit::Tokens | Unit::Milliseconds => NumberKind::Count,
            Unit::Percent | Unit::Fraction | Unit::Ratio | Unit::Distance => NumberKind::Real,
        };
        (!target.list).then(|| Self::new(target.name, direction, kind))
    }

    /// Numbers of this name.
    pub fn new(name: impl Into<String>, direction: Direction, kind: NumberKind) -> Self {
        Self {
            name: name.into(),
            direction,
            kind,
        }
    }

    /// The value with the sign that makes larger better, and back.
    pub(super) fn goodness(&self, value: f64) -> f64 {
        match self.direction {
            Direction::LowIsBad => value,
            Direction::HighIsBad => -value,
        }
    }

    /// The limit as it is written: rounded outward, to 4 decimals or a whole number.
    ///
    /// ```
    /// use mcptest_trace::evidence::calibrate::{Direction, NumberKind, Quantity};
    ///
    /// let ratio = Quantity::new("energy.peak_ratio", Direction::HighIsBad, NumberKind::Real);
    /// assert_eq!(ratio.rounded(2.71978), 2.7198);
    /// let penalty = Quantity::new("golden_path.penalty", Direction::LowIsBad, NumberKind::Real);
    /// assert_eq!(penalty.rounded(0.013_649_1), 0.0136);
    /// assert_eq!(penalty.rounded(0.1), 0.1);
    /// ```
    #[must_use]
    pub fn rounded(&self, value: f64) -> f64 {
        let scale = if self.kind == NumberKind::Real {
            1e4
        } else {
            1.0
        };
        let near = (value * scale).round() / scale;
        // What has that few decimals already is kept.
        if near.total_cmp(&value).is_eq() || !value.is_finite() {
            return value;
        }
        match self.direction {
            Direction::LowIsBad => (value * scale).floor() / scale,
            Direction::HighIsBad => (value * scale).ceil() / scale,
        }
    }

    /// Whether a value is beyond a limit; equal ones hold.
    #[must_use]
    pub fn alarms(&self, value: f64, limit: f64) -> bool {
        self.goodness(value) < self.goodness(limit)
    }
}

/// A run with the value of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Scored<'a> {
    /// The stem of the agent's recordings.
    pub agent: &'a str,
    /// The value; `None` where the run has none.
    pub value: Option<f64>,
    /// Whether the run passed, where that is known.
    pub passed: Option<bool>,
}

impl<'a> Scored<'a> {
    /// A run of an agent: its value and its outcome, where they are known.
    #[must_use]
    pub const fn new(agent: &'a str, value: Option<f64>, passed: Option<bool>) -> Self {
        Self {
            agent,
            value,
            passed,
        }
    }
}

/// How many runs a limit stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Alarms {
    /// Passed runs beyond the limit.
    pub false_alarms: usize,
    /// Of so many passed runs.
    pub passed: usize,
    /// Failed runs beyond the limit.
    pub catches: usize,
    /// Of so many failed runs.
    pub failed: usize,
}

impl Alarms {
    /// Counts one run.
    pub(super) fn add(&mut self, passed: bool, alarm: bool) {
        let (all, alarms) = if passed {
            (&mut self.passed, &mut self.false_alarms)
        } else {
            (&mut self.failed, &mut self.catches)
        };
        *all += 1;
        *alarms += usize::from(alarm);
    }
}

/// What a limit does to these runs; runs without a value or an outcome are left out.
#[must_use]
pub fn tally(target: &Quantity, runs: &[Scored<'_>], limit: f64) -> Alarms {
    let mut tally = Alarms::default();
    for run in runs {
        if let (Some(value), Some(passed)) = (run.value, run.passed) {
            tally.add(passed, target.alarms(value, limit));
        }
    }
    tally
}
