//! Outcomes of one agent: did fewer runs pass?

use std::collections::BTreeMap;

use serde::Serialize;

use super::{MetricFinding, RunSample, to_f64};
use crate::stats::boschloo::{Region, Tables};
use crate::stats::needed::{runs_for_drop, runs_for_share};
use crate::stats::stratified::Passes;

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
    /// Of these runs but the unjudged; `None` when there is none or the outcome of one is not known.
    pub(super) fn count(runs: &[RunSample]) -> Option<Self> {
        let judged = runs.iter().filter(|run| !run.unjudged);
        let outcomes: Vec<bool> = judged.map(|run| run.passed).collect::<Option<_>>()?;
        (!outcomes.is_empty()).then(|| Self {
            passed: outcomes.iter().filter(|passed| **passed).count(),
            runs: outcomes.len(),
        })
    }

    fn percent(self) -> f64 {
        100.0 * to_f64(self.passed) / to_f64(self.runs)
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
    pub finding: MetricFinding,
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
        self.finding == MetricFinding::Improved || self.smallest_p <= self.share
    }

    /// Whether a side has fewer runs than would do if all of the baseline passed.
    pub(super) fn has_few_runs(&self) -> bool {
        to_f64(self.fewer_runs()) < f64::from(self.runs_needed)
    }

    /// The runs of the side that has fewer.
    pub(super) fn fewer_runs(&self) -> usize {
        self.baseline.runs.min(self.candidate.runs)
    }

    /// How many runs on each side show that none passes any more, where as many pass before as do now: for
    /// certain where all do, else about so many, with probability 0.8.
    pub(super) fn runs_for_all(&self) -> u64 {
        let before = self.baseline.percent() / 100.0;
        let least = u64::from(self.runs_needed);
        let some_fail = self.baseline.passed < self.baseline.runs;
        let about = some_fail.then(|| runs_for_drop(before, before, self.share));
        about.flatten().map_or(least, |about| about.max(least))
    }
}

impl OutcomesCompared {
    /// About how many runs on each side show the drop that was seen, with probability 0.8.
    pub(super) fn runs_for_drop(&self) -> Option<u64> {
        let drop = self.drop() / 100.0;
        runs_for_drop(self.baseline.percent() / 100.0, drop, self.share)
    }
}

/// The tests of agents with one share of α; what several of them ask for is computed once.
#[derive(Debug)]
pub(super) struct Tests {
    share: f64,
    alpha: f64,
    /// By runs before and now, with the critical region.
    tables: BTreeMap<(usize, usize), (Tables, Option<Region>)>,
    /// By passes and runs before and now.
    tested: BTreeMap<[usize; 4], Tested>,
}

#[derive(Debug, Clone, Copy)]
struct Tested {
    worse: f64,
    better: f64,
    smallest: f64,
    noticeable_drop: Option<u32>,
}

impl Tests {
    /// For agents that have this share of this α.
    pub(super) fn new(share: f64, alpha: f64) -> Self {
        Self {
            share,
            alpha,
            tables: BTreeMap::new(),
            tested: BTreeMap::new(),
        }
    }

    fn test(&mut self, baseline: Passed, candidate: Passed) -> Tested {
        let tables = self.tables.entry((baseline.runs, candidate.runs));
        let (tables, region) = tables.or_insert_with(|| {
            let tables = Tables::new(baseline.runs, candidate.runs);
            let region = tables.critical_region(self.share);
            (tables, region)
        });
        let (before, now) = (baseline.passed, candidate.passed);
        let test = || Tested {
            worse: tables.p_worse(before, now),
            better: tables.p_better(before, now),
            smallest: tables.smallest_p(before),
            noticeable_drop: region
                .as_ref()
                .and_then(|region| tables.noticeable_drop(region, before)),
        };
        let counts = [before, baseline.runs, now, candidate.runs];
        *self.tested.entry(counts).or_insert_with(test)
    }

    /// Compares the outcomes of an agent.
    pub(super) fn compare(
        &mut self,
        baseline: Passed,
        candidate: Passed,
        margin: f64,
    ) -> OutcomesCompared {
        let (tested, share) = (self.test(baseline, candidate), self.share);
        let drop = baseline.percent() - candidate.percent();
        let finding = if tested.worse <= share && drop >= margin - 1e-9 {
            MetricFinding::Regressed
        } else if tested.better <= share && -drop >= margin - 1e-9 {
            MetricFinding::Improved
        } else if tested.worse <= self.alpha && drop >= margin - 1e-9 {
            MetricFinding::CannotBeToldYet
        } else if baseline.passed == 0 {
            MetricFinding::NothingToLose
        } else if tested.smallest > share {
            MetricFinding::TooFewRuns
        } else {
            MetricFinding::NoEvidence
        };
        OutcomesCompared {
            baseline,
            candidate,
            p_worse: tested.worse,
            p_better: tested.better,
            smallest_p: tested.smallest,
            share,
            margin,
            finding,
            noticeable_drop: tested.noticeable_drop,
            runs_for_margin: runs_for_drop(baseline.percent() / 100.0, margin / 100.0, share),
            runs_needed: runs_for_share(share),
        }
    }
}
