//! What is calibrated: a target with a bad end, and its values.

use serde::Serialize;

use crate::eval::{Better, Measure};

/// A target whose numbers are bad at one end: there a limit can stand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Quantity(Measure);

impl Quantity {
    /// The numbers of a target; `None` of words and lists, and where neither end is bad.
    ///
    /// ```
    /// use mcptest_trace::eval::{GoldenPathReport, Metrics, NarrativeReport};
    /// use mcptest_trace::evidence::calibrate::Quantity;
    ///
    /// let penalty = Quantity::from_measure(&GoldenPathReport::TARGETS[0]).unwrap();
    /// assert_eq!(penalty.measure().name, "golden_path.penalty");
    /// let mut targets = NarrativeReport::TARGETS.iter();
    /// let claims = targets.find(|target| target.name == "narrative.claims");
    /// assert_eq!(claims.and_then(Quantity::from_measure), None);
    /// ```
    #[must_use]
    pub const fn from_measure(target: &Measure) -> Option<Self> {
        if target.list || matches!(target.better, Better::Neither) || target.unit.is_word() {
            return None;
        }
        Some(Self(*target))
    }

    /// The target.
    #[must_use]
    pub const fn measure(&self) -> &Measure {
        &self.0
    }

    /// Whether it is one of two numbers: measured, not calibrated.
    pub(super) fn is_flag(&self) -> bool {
        self.0.unit.is_binary()
    }

    /// The value with the sign that makes larger better, and back.
    pub(super) fn goodness(&self, value: f64) -> f64 {
        match self.0.better {
            Better::Higher => value,
            Better::Lower | Better::Neither => -value,
        }
    }

    /// The limit as it is written: rounded outward, to 4 decimals or a whole number.
    ///
    /// ```
    /// use mcptest_trace::eval::{Measure, Unit};
    /// use mcptest_trace::evidence::calibrate::Quantity;
    ///
    /// let ratio = Measure::new("energy.peak_ratio", Unit::Ratio).lower_is_better("");
    /// assert_eq!(Quantity::from_measure(&ratio).unwrap().rounded(2.71978), 2.7198);
    /// let penalty = Measure::new("golden_path.penalty", Unit::Fraction).higher_is_better("");
    /// let penalty = Quantity::from_measure(&penalty).unwrap();
    /// assert_eq!(penalty.rounded(0.013_649_1), 0.0136);
    /// assert_eq!(penalty.rounded(0.1), 0.1);
    /// ```
    #[must_use]
    pub fn rounded(&self, value: f64) -> f64 {
        let scale = self.0.unit.step().map_or(1e4, f64::recip);
        let near = (value * scale).round() / scale;
        // What has that few decimals already is kept.
        if near.total_cmp(&value).is_eq() || !value.is_finite() {
            return value;
        }
        match self.0.better {
            Better::Higher => (value * scale).floor() / scale,
            Better::Lower | Better::Neither => (value * scale).ceil() / scale,
        }
    }

    /// Whether a value is beyond a limit; equal ones hold.
    #[must_use]
    pub fn alarms(&self, value: f64, limit: f64) -> bool {
        self.goodness(value) < self.goodness(limit)
    }

    /// Whether a limit is at the bad end, so that every value there can be holds.
    #[must_use]
    pub fn always_holds(&self, limit: f64) -> bool {
        let worst = match self.0.better {
            Better::Higher => Some(self.0.lowest),
            Better::Lower | Better::Neither => self.0.highest,
        };
        worst.is_some_and(|worst| !self.alarms(worst, limit))
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
