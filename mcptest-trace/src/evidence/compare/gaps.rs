//! What some runs of an agent do not say, so that it is not compared, or not by what the recordings say.

use serde::Serialize;

use super::cost::OtherMachines;
use super::{AgentComparison, CostKind, RunSample, RunShare};

/// Why the cost of an agent is not compared, where it is not.
///
/// A closed set: whoever matches on it need not expect another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why", content = "runs")]
pub enum NoCost {
    /// So many runs before and now do not say it.
    NotRecorded([RunShare; 2]),
    /// So many runs before and now have an estimate, and the other side has measured costs.
    Estimated([RunShare; 2]),
}

/// What runs of both sides do not say.
#[derive(Debug, Clone)]
pub(super) struct Gaps {
    pub(super) unjudged: Option<[RunShare; 2]>,
    pub(super) without_outcome: Option<[RunShare; 2]>,
    pub(super) no_cost: Option<NoCost>,
    pub(super) other_machines: Option<OtherMachines>,
}

impl Gaps {
    pub(super) fn find(sides: [&[RunSample]; 2], kind: CostKind) -> Self {
        let some = |is: fn(&RunSample) -> bool| {
            let counts = sides.map(|side| RunShare::count(side, is));
            counts.iter().any(|side| side.runs > 0).then_some(counts)
        };
        let recorded = some(|run| run.outcome_recorded);
        let estimated = sides
            .map(|side| RunShare::count(side, |run| run.cost.is_some_and(|cost| cost.estimated)));
        let is_of_one = {
            let [before, now] = estimated;
            (before.runs == 0) != (now.runs == 0)
        };
        Self {
            unjudged: some(|run| run.unjudged),
            // Where no recording says it, the gates are asked, and nothing is missing.
            without_outcome: some(|run| !run.outcome_recorded).filter(|_| recorded.is_some()),
            no_cost: some(|run| run.cost.is_none())
                .map(NoCost::NotRecorded)
                .or_else(|| is_of_one.then_some(NoCost::Estimated(estimated))),
            other_machines: OtherMachines::detect(sides, kind),
        }
    }
}

impl NoCost {
    /// Whether the candidate says less of its cost than the baseline does.
    fn is_a_loss(self) -> bool {
        match self {
            Self::NotRecorded(sides) | Self::Estimated(sides) => is_a_loss(sides),
        }
    }

    /// Why the cost is not compared, in words that follow it.
    pub(super) fn reason(self) -> String {
        match self {
            Self::NotRecorded([before, now]) if before.runs == before.of && now.runs == now.of => {
                "no run has a recorded cost".to_owned()
            }
            Self::NotRecorded([before, now]) => {
                let before = before.describe();
                format!("{before} before and {now} now have no recorded cost")
            }
            Self::Estimated([before, now]) => {
                format!(
                    "{} before and {now} now have an estimate, and the others are measured",
                    before.describe()
                )
            }
        }
    }
}

/// Whether something is missing of more runs now than before, and of a larger part of them.
fn is_a_loss([before, now]: [RunShare; 2]) -> bool {
    let all_now = now.runs == now.of && before.runs < before.of;
    all_now || (now.runs > before.runs && now.runs * before.of > before.runs * now.of)
}

impl AgentComparison {
    /// Whether some run of the baseline was judged, and none of the candidate.
    pub(super) fn is_no_longer_judged(&self) -> bool {
        let sides = self.unjudged.as_ref();
        sides.is_some_and(|[before, now]| before.runs < before.of && now.runs == now.of)
    }

    /// Whether fewer runs than in the baseline have a recorded outcome.
    pub(super) fn has_lost_outcomes(&self) -> bool {
        self.without_outcome.is_some_and(is_a_loss)
    }

    /// Whether fewer runs than in the baseline say what they cost.
    pub(super) fn has_lost_costs(&self) -> bool {
        self.no_cost.is_some_and(NoCost::is_a_loss)
    }
}
