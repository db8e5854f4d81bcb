//! Does a target tell passed runs from failed ones?

use serde::Serialize;

use crate::stats::area::{Area, AreaWithin, ScoredRun, area, area_within};
use crate::words::words;

words! {
    /// What the areas say.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Discrimination {
        /// Passed runs have better values than failed ones of the same agent.
        TellsRunsApart = "tells runs apart",
        /// Agents that pass more often have better values; runs of one agent are not told apart.
        TellsAgentsApartOnly = "tells agents apart only",
        /// Over agents and within agents point in opposite directions.
        Contradictory = "contradictory",
        /// Worse values pass more often.
        Inverted = "inverted",
        /// Neither.
        NoPower = "no power",
        /// There are no passed and failed runs to tell apart.
        Unknown = "unknown",
    }
}

impl Discrimination {
    /// The verdict from the two signs: over all pairs, and within agents.
    pub(super) fn from_signs(over: i8, within: i8) -> Self {
        match (over, within) {
            (-1, 1) | (1, -1) => Self::Contradictory,
            (_, 1) => Self::TellsRunsApart,
            (1, _) => Self::TellsAgentsApartOnly,
            (-1, _) | (_, -1) => Self::Inverted,
            _ => Self::NoPower,
        }
    }

    /// What it means for a gate.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::TellsRunsApart => "a limit on it catches bad runs of a good agent",
            Self::TellsAgentsApartOnly => {
                "it separates hard tasks from easy tasks, but not bad runs from good runs"
            }
            Self::Contradictory => {
                "within agents it shows the opposite of what it shows over agents"
            }
            Self::Inverted => "worse values pass more often: as a gate this punishes good runs",
            Self::NoPower => "the interval of A includes 0.5: do not gate on it",
            Self::Unknown => "nobody knows whether it catches anything",
        }
    }
}

/// How well a target tells runs apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Power {
    /// Over all pairs of a passed and a failed run.
    pub over: Option<Area>,
    /// Over pairs of one agent.
    pub within: Option<AreaWithin>,
    /// What both say.
    pub verdict: Discrimination,
}

/// Measures the power over runs with a value and an outcome.
pub(super) fn power(runs: &[ScoredRun<'_>]) -> Power {
    let over = area(runs);
    let within = area_within(runs);
    let over_sign = over
        .and_then(|area| area.interval)
        .map_or(0, |(low, high)| area_sign(low > 0.5, high < 0.5));
    let within_sign = within
        .filter(|within| within.p <= 0.05)
        .map_or(0, |within| area_sign(within.area > 0.5, within.area < 0.5));
    let verdict = if over.is_none() {
        Discrimination::Unknown
    } else {
        Discrimination::from_signs(over_sign, within_sign)
    };
    Power {
        over,
        within,
        verdict,
    }
}

/// The sign of an area against chance: +1 where it is above, −1 where it is below, or 0.
fn area_sign(above: bool, below: bool) -> i8 {
    i8::from(above) - i8::from(below)
}
