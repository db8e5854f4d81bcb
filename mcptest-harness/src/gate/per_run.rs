//! Gates that judge one run at a time: they hold only if they hold for every run.

use super::{Breach, Gate, Input, Threshold, expected, findings};
use crate::render::{Evidence, Failure, numbers};
use crate::trace::Run;
use serde_json::Value;

/// How many different pieces of evidence are shown in full.
const SHOWN: usize = 3;

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
    /// The evidence of the broken runs; runs that show the same are shown together.
    fn evidence(&self, input: &Input<'_>, broken: &[usize]) -> Vec<Evidence> {
        let mut groups: Vec<(Vec<usize>, Vec<Evidence>)> = Vec::new();
        for index in broken {
            let shown = self.explain(input, &input.runs[*index]);
            match groups.iter_mut().find(|(_, known)| *known == shown) {
                Some((runs, _)) => runs.push(*index),
                None => groups.push((vec![*index], shown)),
            }
        }
        let left_out: usize = groups.iter().skip(SHOWN).map(|(runs, _)| runs.len()).sum();
        let mut evidence = Vec::new();
        for (runs, shown) in groups
            .into_iter()
            .take(SHOWN)
            .filter(|(_, shown)| !shown.is_empty())
        {
            if input.runs.len() > 1 {
                evidence.push(Evidence::Text(title(&runs, input.runs)));
            }
            evidence.extend(shown);
        }
        if left_out > 0 {
            let text = format!("… the evidence of {left_out} more runs is left out");
            evidence.push(Evidence::Text(text));
        }
        evidence
    }

    /// What must hold when there is no `expect:`.
    fn defaults(&self) -> &'static [Threshold];

    /// Computes the targets of a run, and what the options ask of it.
    fn score(&self, input: &Input<'_>, run: &Run) -> Scored;

    /// What the runs together break.
    fn across(&self, _input: &Input<'_>) -> Vec<Breach> {
        Vec::new()
    }

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
    fn per_run(&self) -> Option<&dyn PerRun> {
        Some(self)
    }

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
            let across = self.across(input).into_iter();
            breaches.extend(across.map(|breach| (None, breach)));
        }
        if breaches.is_empty() {
            return Ok(());
        }
        let evidence = self.evidence(input, &broken);
        Err(Failure {
            findings: findings(&input.about(), breaches),
            evidence,
        })
    }
}

/// Names the runs that show the same.
fn title(same: &[usize], runs: &[Run]) -> String {
    match same {
        [one] => format!("run {} ({}):", one + 1, runs[*one].origin),
        several => format!("runs {}:", numbers(several)),
    }
}
