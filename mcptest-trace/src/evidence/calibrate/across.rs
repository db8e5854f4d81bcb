//! Targets of all runs of an agent together: the unit is the agent.

use serde::Serialize;

use super::{Discrimination, Quantity};
use crate::stats::concordance::{Concordance, concordance};
use crate::stats::conformal::{Passing, Share, promised_probability};

/// An agent with the value of a target over all its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AgentScored {
    /// The value; `None` where the agent has none.
    pub value: Option<f64>,
    /// How many of its runs passed.
    pub passed: usize,
    /// How many runs it has.
    pub runs: usize,
}

impl AgentScored {
    /// An agent's value, and how many of its runs passed.
    #[must_use]
    pub const fn new(value: Option<f64>, passed: usize, runs: usize) -> Self {
        Self {
            value,
            passed,
            runs,
        }
    }
}

/// A cross-run target, calibrated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AcrossCalibration {
    /// The target.
    #[serde(flatten)]
    pub target: Quantity,
    /// Agents with a value.
    pub agents: usize,
    /// Agents without one.
    pub without_value: usize,
    /// How often agents with more passed runs have better values.
    pub power: Option<Concordance>,
    /// What that says: no power, tells agents apart only, inverted or unknown.
    pub verdict: Discrimination,
    /// The limit from agents all of whose runs passed; `None` without one, and for flags.
    pub limit: Option<AcrossLimit>,
}

/// A limit from agents all of whose runs passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AcrossLimit {
    /// The value.
    pub value: f64,
    /// The value as it is written: rounded outward.
    pub rounded: f64,
    /// Agents it is made from.
    pub agents: usize,
    /// Whether they are enough for the share.
    pub enough: bool,
    /// Agents that the share needs; `None` for all of them.
    pub agents_needed: Option<u64>,
    /// The share of new agents all of whose runs pass that meets it, at least, on average.
    pub promised: f64,
}

/// Calibrates a cross-run target. A flag is measured alone.
#[must_use]
pub fn calibrate_across(
    target: &Quantity,
    agents: &[AgentScored],
    share: Share,
) -> AcrossCalibration {
    let valued = agents
        .iter()
        .filter_map(|agent| Some((target.goodness(agent.value?), agent)));
    let units: Vec<_> = valued
        .clone()
        .map(|(goodness, agent)| (goodness, agent.passed))
        .collect();
    let all_passed = valued.filter(|(_, agent)| agent.runs > 0 && agent.passed == agent.runs);
    let good: Vec<f64> = all_passed.map(|(goodness, _)| goodness).collect();
    let power = concordance(&units);
    let interval = power.and_then(|power| power.interval);
    let verdict = match (power, interval) {
        (None, _) => Discrimination::Unknown,
        (_, Some((low, _))) if low > 0.5 => Discrimination::TellsAgentsApartOnly,
        (_, Some((_, high))) if high < 0.5 => Discrimination::Inverted,
        _ => Discrimination::NoPower,
    };
    let k = share.allowed(good.len());
    let limit = Passing::new(std::slice::from_ref(&good))
        .threshold(share, None)
        .filter(|_| !target.is_flag());
    AcrossCalibration {
        target: *target,
        agents: units.len(),
        without_value: agents.len() - units.len(),
        power,
        verdict,
        limit: limit.map(|goodness| {
            let value = target.goodness(goodness);
            AcrossLimit {
                value,
                rounded: target.rounded(value),
                agents: good.len(),
                enough: k > 0,
                agents_needed: share.runs_needed(),
                promised: promised_probability(good.len(), k),
            }
        }),
    }
}
