//! The `reliability` gate: how often does the agent succeed, and how sure can one be?

use mcptest_suite::gates::{Outcome, Reliability};

use super::{
    Breach, Cause, Gate, Input, Threshold, check_breaches, expected, findings, implementation,
};
use crate::eval::{recommend_runs, summarize_with};
use crate::render::{Evidence, Failure, Table};
use crate::trace::Run;

const DEFAULT: [Threshold; 1] = [Threshold::at_least("reliability.passhat_k", 100.0)];

/// The half-width that `recommended_runs` is for when the suite states none, in percent.
const USUAL_HALF_WIDTH: f64 = 5.0;

impl Gate for Reliability {
    fn judge(&self, input: &Input<'_>) -> Result<(), Failure> {
        let verdicts: Vec<Verdict> = input
            .runs
            .iter()
            .enumerate()
            .map(|(index, run)| verdict(self, input, index, run))
            .collect();
        let unknown = verdicts
            .iter()
            .enumerate()
            .filter(|(_, verdict)| **verdict == Verdict::Unknown);
        let unknown: Vec<_> = unknown
            .map(|(index, _)| {
                let asks =
                    "`outcome: recorded` needs `outcome.passed` in every recording".to_owned();
                (Some(index), Breach::new(Cause::Option(asks), "none"))
            })
            .collect();
        if !unknown.is_empty() {
            return Err(Failure {
                findings: findings(&input.about(), unknown),
                evidence: Vec::new(),
            });
        }
        let outcomes: Vec<bool> = verdicts
            .iter()
            .map(|verdict| *verdict == Verdict::Pass)
            .collect();
        let half_width = self.half_width.unwrap_or(USUAL_HALF_WIDTH) / 100.0;
        let summary = summarize_with(&outcomes, self.confidence, half_width);
        let mut breaches: Vec<_> = too_few_runs(self, outcomes.len(), half_width)
            .into_iter()
            .collect();
        breaches.extend(expected(input, &summary.metrics_object(), &DEFAULT));
        if breaches.is_empty() {
            return Ok(());
        }
        let breaches = breaches.into_iter().map(|breach| (None, breach)).collect();
        let mut table = Table::new(["run", "outcome", "file", "why"]);
        for (index, (run, verdict)) in input.runs.iter().zip(&verdicts).enumerate() {
            let (outcome, why) = match verdict {
                Verdict::Pass => ("pass", String::new()),
                Verdict::Fail(why) => ("FAIL", crate::render::cut(why, 140)),
                Verdict::Unknown => ("?", String::new()),
            };
            table.row([
                (index + 1).to_string(),
                outcome.to_owned(),
                run.origin.to_string(),
                why,
            ]);
        }
        let text = format!(
            "{} of {} runs pass ({:.1} %; Wilson interval {:.1} to {:.1} %); decay curve {}",
            summary.passes,
            summary.runs,
            summary.pass_rate,
            summary.ci_low,
            summary.ci_high,
            crate::render::cut(&format!("{:?}", summary.decay_curve), 400)
        );
        let evidence = vec![Evidence::Table(table), Evidence::Text(text)];
        Err(Failure {
            findings: findings(&input.about(), breaches),
            evidence,
        })
    }
}

/// What became of a run.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// With the first thing it breaks.
    Fail(String),
    /// The recording does not say.
    Unknown,
}

fn verdict(gate: &Reliability, input: &Input<'_>, index: usize, run: &Run) -> Verdict {
    let (expect, gates) = match &gate.outcome {
        Outcome::Recorded => {
            return match run.outcome.and_then(|outcome| outcome.passed) {
                Some(true) => Verdict::Pass,
                Some(false) => Verdict::Fail("recorded as failed".to_owned()),
                None => Verdict::Unknown,
            };
        }
        Outcome::Judged { expect, gates } => (*expect, gates),
    };
    if expect {
        let snapshots = |name: &str, value: &_| input.snapshots.value(index, name, value);
        let checks = &input.checks.expect;
        let broken = check_breaches(checks, &run.envelope, &snapshots).all();
        if let Some(breach) = broken.first() {
            let Cause::Check(check) = breach.cause else {
                return Verdict::Fail(breach.found.clone());
            };
            return Verdict::Fail(format!("`{}`: {}", checks[check].target.text, breach.found));
        }
    }
    let blocks = gates
        .iter()
        .filter_map(|gate| input.agent.gate(gate.kind()));
    for block in blocks {
        let of_block = input.of(block);
        let name = block.kind().name();
        let Some(gate) = implementation(&block.options).per_run() else {
            return Verdict::Fail(format!("`{name}` judges all runs together"));
        };
        if let Some(breach) = gate.breaches(&of_block, run).first() {
            let asks = breach.asks(of_block.expect());
            return Verdict::Fail(format!("`{name}`: {asks}, {}", breach.found));
        }
    }
    Verdict::Pass
}

/// Fewer runs than the wanted half-width needs.
fn too_few_runs(gate: &Reliability, runs: usize, half_width: f64) -> Option<Breach> {
    let stated = gate.half_width?;
    let needed = recommend_runs(half_width, gate.confidence)?;
    let asks = format!("`half_width: {stated}` needs {needed} runs");
    (u64::try_from(runs).is_ok_and(|runs| runs < needed))
        .then(|| Breach::new(Cause::Option(asks), &runs.to_string()))
}
