//! The ablation conditions A to E of §4.2 as presets, so that runs can be compared under each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::guard::GrowthRatioGuard;
use super::naive::{LyapunovMonitor, NaiveCap};
use super::options::{DRIFT_THRESHOLD, GuardOptions, OptionsError};
use super::status::{EnergyError, Status, Step};

/// An ablation condition of §4.2.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A: unmonitored.
    Baseline,
    /// B: growth-ratio monitoring alone.
    GrowthOnly,
    /// C: B, and history compression.
    GrowthAndCompression,
    /// D: C, and drift must confirm a trip.
    FullStack,
    /// E: a hard cap on tokens.
    NaiveCap,
}

impl Condition {
    /// All five, A to E.
    pub const ALL: [Self; 5] = [
        Self::Baseline,
        Self::GrowthOnly,
        Self::GrowthAndCompression,
        Self::FullStack,
        Self::NaiveCap,
    ];

    /// The paper's letter.
    #[must_use]
    pub fn letter(self) -> char {
        char::from(b'A' + self as u8)
    }

    /// The monitor of this condition. D uses the options' drift threshold, or
    /// [`DRIFT_THRESHOLD`] when they have none; E their token budget; B and C no drift.
    ///
    /// # Errors
    ///
    /// An option is out of its range.
    ///
    /// ```
    /// use mcptest_trace::energy::{Condition, GuardOptions, Step};
    ///
    /// let mut monitor = Condition::GrowthOnly.monitor(GuardOptions::default())?;
    /// monitor.record(Step::new(1_000))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn monitor(self, options: GuardOptions) -> Result<Monitor, OptionsError> {
        let drift_threshold = match self {
            Self::FullStack => options.drift_threshold.or(Some(DRIFT_THRESHOLD)),
            _ => None,
        };
        Ok(match self {
            Self::Baseline => Monitor::Unmonitored,
            Self::NaiveCap => Monitor::Cap(NaiveCap::new(options.token_budget)?),
            Self::GrowthOnly | Self::GrowthAndCompression | Self::FullStack => {
                Monitor::GrowthRatio(GrowthRatioGuard::new(GuardOptions {
                    drift_threshold,
                    ..options
                })?)
            }
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Baseline => "A. Baseline",
            Self::GrowthOnly => "B. Growth only",
            Self::GrowthAndCompression => "C. Growth + compression",
            Self::FullStack => "D. Full stack",
            Self::NaiveCap => "E. Naive cap",
        })
    }
}

/// Any of the monitors, where the kind is chosen at run time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Monitor {
    /// Takes everything in and never stops a run.
    Unmonitored,
    /// The naive energy of §2.
    Naive(LyapunovMonitor),
    /// The guard of §3.
    GrowthRatio(GrowthRatioGuard),
    /// The hard cap of §4.2.
    Cap(NaiveCap),
}

impl Monitor {
    /// Takes in one step.
    ///
    /// # Errors
    ///
    /// The monitor stopped the run with this step, or had before.
    pub fn record(&mut self, step: Step) -> Result<Status, EnergyError> {
        match self {
            Self::Unmonitored => Ok(Status::Stable),
            Self::Naive(monitor) => monitor.record(step),
            Self::GrowthRatio(guard) => guard.record(step),
            Self::Cap(cap) => cap.record(step),
        }
    }

    /// The first recorded step that ends the run, if any does.
    pub(crate) fn first_stop(mut self, steps: &[Step]) -> Option<EnergyError> {
        steps.iter().find_map(|step| self.record(*step).err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_stops_a_spiral_in_its_own_way() {
        let spiral = [1000, 1000, 1000, 4000, 8000, 16_000, 32_000, 64_000].map(Step::new);
        let drifting = spiral.map(|step| Step {
            drift: Some(0.9),
            ..step
        });
        let stop = |condition: Condition, steps: &[Step]| {
            let monitor = condition.monitor(GuardOptions::default()).unwrap();
            monitor
                .first_stop(steps)
                .map(|stop| (stop.status(), stop.step()))
        };
        let tripped = Some((Status::Tripped, 6));
        assert_eq!(stop(Condition::Baseline, &drifting), None);
        assert_eq!(stop(Condition::GrowthOnly, &spiral), tripped);
        assert_eq!(stop(Condition::GrowthAndCompression, &spiral), tripped);
        assert_eq!(stop(Condition::FullStack, &drifting), tripped);
        assert_eq!(
            stop(Condition::FullStack, &spiral),
            Some((Status::Frozen, 8))
        );
        assert_eq!(
            stop(Condition::NaiveCap, &drifting),
            Some((Status::Frozen, 8))
        );
        let naive = Monitor::Naive(LyapunovMonitor::default());
        assert_eq!(naive.first_stop(&spiral).map(|stop| stop.step()), Some(4));
    }

    #[test]
    fn the_letters_are_the_papers() {
        let letters: String = Condition::ALL
            .iter()
            .map(|condition| condition.letter())
            .collect();
        assert_eq!(letters, "ABCDE");
        assert!(
            Condition::ALL
                .iter()
                .all(|condition| condition.to_string().starts_with(condition.letter()))
        );
    }
}
