//! How much a suite notices.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Mutant, MutantLabel, Operator, OperatorKind};
use crate::number::{share, to_f64};

/// What the gates made of a mutant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MutantVerdict {
    /// Whether some gate was green on its run, and so could notice.
    pub covered: bool,
    /// The gates that noticed.
    pub killed_by: BTreeSet<String>,
}

impl MutantVerdict {
    /// A mutant on whose run some gate was green or none, and the gates that noticed it.
    pub fn new(covered: bool, killed_by: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            covered,
            killed_by: killed_by.into_iter().map(Into::into).collect(),
        }
    }
}

/// Killed of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// That a gate noticed.
    pub killed: usize,
    /// All.
    pub mutants: usize,
}

impl Count {
    fn add(&mut self, killed: bool) {
        self.mutants += 1;
        self.killed += usize::from(killed);
    }

    /// The share killed; `None` of nothing.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        share(self.killed, self.mutants)
    }
}

/// A score: each way of breaking counts once, however many sites a run has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanScore {
    /// The mean over operators with mutants of killed / chosen; `None` without a mutant.
    pub score: Option<f64>,
    /// Plain counts.
    pub count: Count,
}

/// What became of the mutants of an operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperatorScore {
    /// Counted mutants.
    pub counted: Count,
    /// Of these, on runs with a green gate.
    pub covered: Count,
    /// Kills by gate.
    pub by_gate: BTreeMap<String, usize>,
    /// Kills that only one gate made, by gate.
    pub only_by: BTreeMap<String, usize>,
    /// Harmless mutants.
    pub harmless: Count,
}

/// All scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MutationScores {
    /// Operator by operator.
    pub operators: BTreeMap<Operator, OperatorScore>,
    /// Of operators that do harm.
    pub harm: MeanScore,
    /// Of operators that do harm, over covered mutants alone.
    pub harm_covered: MeanScore,
    /// Of operators that waste.
    pub waste: MeanScore,
    /// Of operators that waste, over covered mutants alone.
    pub waste_covered: MeanScore,
    /// Harmless mutants that turned a gate red: the share is the brittleness.
    pub brittle: Count,
}

/// Counts what was judged. A mutant that no gate could notice counts as survived.
#[must_use]
pub fn score<'a>(
    judged: impl IntoIterator<Item = (&'a Mutant, &'a MutantVerdict)>,
) -> MutationScores {
    let mut operators: BTreeMap<Operator, OperatorScore> = BTreeMap::new();
    let mut brittle = Count::default();
    for (mutant, judged) in judged {
        let of_operator = operators.entry(mutant.operator).or_default();
        let killed = !judged.killed_by.is_empty();
        if mutant.label == MutantLabel::Harmless {
            of_operator.harmless.add(killed);
            brittle.add(killed);
            continue;
        }
        of_operator.counted.add(killed);
        if judged.covered {
            of_operator.covered.add(killed);
        }
        for gate in &judged.killed_by {
            *of_operator.by_gate.entry(gate.clone()).or_default() += 1;
            if judged.killed_by.len() == 1 {
                *of_operator.only_by.entry(gate.clone()).or_default() += 1;
            }
        }
    }
    let of = |kind: OperatorKind, count: fn(&OperatorScore) -> Count| {
        let counts = operators
            .iter()
            .filter(|(operator, _)| operator.kind() == kind);
        mean(counts.map(|(_, found)| count(found)))
    };
    MutationScores {
        harm: of(OperatorKind::Harm, |found| found.counted),
        harm_covered: of(OperatorKind::Harm, |found| found.covered),
        waste: of(OperatorKind::Waste, |found| found.counted),
        waste_covered: of(OperatorKind::Waste, |found| found.covered),
        operators,
        brittle,
    }
}

fn mean(counts: impl Iterator<Item = Count>) -> MeanScore {
    let (mut sum, mut operators, mut all) = (0.0, 0, Count::default());
    for count in counts {
        if let Some(share) = count.share() {
            sum += share;
            operators += 1;
        }
        all.killed += count.killed;
        all.mutants += count.mutants;
    }
    MeanScore {
        score: (operators > 0).then(|| sum / to_f64(operators)),
        count: all,
    }
}
