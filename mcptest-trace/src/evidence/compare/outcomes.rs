//! Outcomes of one agent: did fewer runs pass?

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Finding, RunSample, real};
use crate::evidence::boschloo::{Region, Tables};
use crate::evidence::needed::{runs_for_drop, runs_for_share};
use crate::evidence::stratified::Passes;

/// How many of the runs passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Passed {
    /// Runs that passed.
    pub passed: usize,
    /// All runs.
    pub runs: usize,
}

impl Passed {
    /// Of these runs; `None` when there is none or the outcome of one is not known.
    pub(super) fn of(runs: &[RunSample]) -> Option<Self> {
        let outcomes: Vec<bool> = runs.iter().map(|run| run.passed).collect::<Option<_>>()?;
        (!outcomes.is_empty()).then(|| Self {
            passed: outcomes.iter().filter(|passed| **passed).count(),
            runs: outcomes.len(),
        })
    }

    fn percent(self) -> f64 {
        100.0 * real(self.passed) / real(self.runs)
    }
}

impl std::fmt::Display for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.passed, self.runs)
    }
}

/// The outcomes of an agent on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutcomesCompared {
    /// Passed before.
    pub baseline: Passed,
    /// Passed now.
    pub candidate: Passed,
    /// Boschloo's p for fewer passes now.
    pub p_worse: f64,
    /// Boschloo's p for more passes now.
    pub p_better: f64,
    /// `p_worse` if no run passed now.
    pub smallest_p: f64,
    /// What p must not exceed.
    pub share: f64,
    /// The least drop that counts, in points.
    pub margin: f64,
    /// What that says.
    pub finding: Finding,
    /// The smallest drop, in points, that would have been noticed with probability 0.8.
    pub noticeable_drop: Option<u32>,
    /// Runs on each side that a drop of the margin needs.
    pub runs_for_margin: Option<u64>,
    /// Runs on each side from which on anything can be seen.
    pub runs_needed: u32,
}

impl OutcomesCompared {
    /// The drop in points: above 0 where fewer pass now.
    #[must_use]
    pub fn drop(&self) -> f64 {
        self.baseline.percent() - self.candidate.percent()
    }

    pub(super) fn passes(&self) -> Passes {
        Passes {
            before: (self.baseline.passed, self.baseline.runs),
            now: (self.candidate.passed, self.candidate.runs),
        }
    }

    /// Whether anything was significant, or fewer passes could have been.
    pub(super) fn could_tell(&self) -> bool {
        self.finding == Finding::Improved || self.smallest_p <= self.share
    }

    /// Whether a side has fewer runs than would do if all of the baseline passed.
    pub(super) fn has_few_runs(&self) -> bool {
        real(self.runs()) < f64::from(self.runs_needed)
    }

    /// The runs of the side that has fewer.
    pub(super) fn runs(&self) -> usize {
        self.baseline.runs.min(self.candidate.runs)
    }

    /// About how many runs on each side would notice that none passes any more.
    pub(super) fn runs_for_all(&self) -> Option<u64> {
        let before = self.baseline.percent() / 100.0;
        runs_for_drop(before, before, self.share)
    }
}

/// Tests that several agents ask for, computed once.
#[derive(Debug, Default)]
pub(super) struct Tests {
    tables: BTreeMap<(usize, usize), Tables>,
    worse: BTreeMap<(Passes4, bool), f64>,
    regions: BTreeMap<(usize, usize, u64), Option<Region>>,
    drops: BTreeMap<(usize, usize, usize, u64), Option<u32>>,
}

/// Runs before and now, passes before and now.
type Passes4 = (usize, usize, usize, usize);

impl Tests {
    fn p(&mut self, baseline: Passed, candidate: Passed, better: bool) -> f64 {
        let runs = (baseline.runs, candidate.runs);
        let key = (runs.0, runs.1, baseline.passed, candidate.passed);
        let tables = self
            .tables
            .entry(runs)
            .or_insert_with(|| Tables::new(runs.0, runs.1));
        *self.worse.entry((key, better)).or_insert_with(|| {
            if better {
                tables.better(baseline.passed, candidate.passed)
            } else {
                tables.worse(baseline.passed, candidate.passed)
            }
        })
    }

    fn drop(&mut self, baseline: Passed, now: usize, share: f64) -> Option<u32> {
        let runs = (baseline.runs, now);
        let tables = self
            .tables
            .entry(runs)
            .or_insert_with(|| Tables::new(runs.0, runs.1));
        let level = (runs.0, runs.1, share.to_bits());
        let region = self
            .regions
            .entry(level)
            .or_insert_with(|| tables.critical(share));
        let key = (runs.0, runs.1, baseline.passed, share.to_bits());
        let noticed = || tables.noticed_by(region.as_ref()?, baseline.passed);
        *self.drops.entry(key).or_insert_with(noticed)
    }
}

/// Compares the outcomes of an agent.
pub(super) fn compare(
    baseline: Passed,
    candidate: Passed,
    share: f64,
    margin: f64,
    tests: &mut Tests,
) -> OutcomesCompared {
    let none = Passed {
        passed: 0,
        ..candidate
    };
    let p_worse = tests.p(baseline, candidate, false);
    let p_better = tests.p(baseline, candidate, true);
    let smallest_p = tests.p(baseline, none, false);
    let drop = baseline.percent() - candidate.percent();
    let finding = if p_worse <= share && drop >= margin - 1e-9 {
        Finding::Regressed
    } else if p_better <= share && -drop >= margin - 1e-9 {
        Finding::Improved
    } else if baseline.passed == 0 {
        Finding::NothingToLose
    } else if smallest_p > share {
        Finding::TooFewRuns
    } else {
        Finding::NoEvidence
    };
    OutcomesCompared {
        baseline,
        candidate,
        p_worse,
        p_better,
        smallest_p,
        share,
        margin,
        finding,
        noticeable_drop: tests.drop(baseline, candidate.runs, share),
        runs_for_margin: runs_for_drop(baseline.percent() / 100.0, margin / 100.0, share),
        runs_needed: runs_for_share(share),
    }
}
