//! Gates that judge one run at a time: they hold only if they hold for every run.

use super::{Breach, Gate, Input, Threshold, expected, findings};
use crate::render::{Evidence, Failure};
use crate::trace::Run;
use serde_json::Value;

/// Runs whose evidence is shown in full.
const SHOWN_RUNS: usize = 3;

/// What a gate makes of one run.
pub(crate) struct Scored {
    /// The gate's targets.
    pub(crate) metrics: Value,
    /// What its options ask and the run breaks, whatever `expect:` says.
    pub(crate) breaches: Vec<Breach>,
    /// Set when the run cannot be judged by `expect:` or the defaults at all.
    pub(crate) not_judged: bool,
}

impl Scored {
    pub(crate) fn of(metrics: Value) -> Self {
        Self {
            metrics,
            breaches: Vec::new(),
            not_judged: false,
        }
    }
}

/// A gate that judges one run at a time.
pub(crate) trait PerRun {
    /// What must hold when there is no `expect:`.
    fn defaults(&self) -> &'static [Threshold];

    /// Computes the targets of a run, and what the options ask of it.
    fn score(&self, input: &Input<'_>, run: &Run) -> Scored;

    /// Shows why a run breaks the gate.
    fn explain(&self, input: &Input<'_>, run: &Run) -> Vec<Evidence>;

    /// What the run breaks; nothing when it passes.
    fn breaches(&self, input: &Input<'_>, run: &Run) -> Vec<Breach> {
        let Scored {
            metrics,
            mut breaches,
            not_judged,
        } = self.score(input, run);
        if !not_judged {
            breaches.extend(expected(input, &metrics, self.defaults()));
        }
        breaches
    }
}

impl<T: PerRun> Gate for T {
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure> {
        let mut breaches = Vec::new();
        let mut broken = Vec::new();
        for (index, run) in input.runs.iter().enumerate() {
            let found = self.breaches(input, run);
            if !found.is_empty() {
                broken.push(index);
            }
            breaches.extend(found.into_iter().map(|breach| (Some(index), breach)));
        }
        if broken.is_empty() {
            return Ok(());
        }
        let mut evidence = Vec::new();
        for index in broken.iter().take(SHOWN_RUNS) {
            let run = &input.runs[*index];
            let shown = self.explain(input, run);
            if !shown.is_empty() && input.runs.len() > 1 {
                evidence.push(Evidence::Text(format!(
                    "run {} ({}):",
                    index + 1,
                    run.origin
                )));
            }
            evidence.extend(shown);
        }
        if broken.len() > SHOWN_RUNS {
            let more = broken.len() - SHOWN_RUNS;
            evidence.push(Evidence::Text(format!(
                "… the evidence of {more} more runs is left out"
            )));
        }
        Err(Failure {
            findings: findings(&input.about(), breaches),
            evidence,
        })
    }
}
