//! An agent's own `expect:`: it holds only if it holds for every run.

use super::expectation::CheckVerdicts;
use super::{Cause, Criterion, Input, Judgement, causes, check_run, findings, needs_model};
use crate::check::Check;
use crate::render::Failure;

/// The assertions of an agent.
#[derive(Debug)]
pub(crate) struct Expect;

impl Expect {
    /// What becomes of the assertions on a run, by its place.
    pub(crate) fn verdicts(input: &Input<'_>, run: usize) -> CheckVerdicts {
        let snapshots = |name: &str, value: &_| input.snapshots.value(run, name, value);
        check_run(&input.gates.expect, &input.runs[run], &snapshots)
    }
}

impl Criterion for Expect {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let checks = &input.gates.expect;
        let (mut breaches, mut untold) = (Vec::new(), Vec::new());
        let mut run_verdicts = Vec::new();
        let of_runs = (0..input.runs.len()).map(|run| Self::verdicts(input, run));
        let of_runs: Vec<CheckVerdicts> = of_runs.collect();
        let notes = note_no_items(checks, &of_runs);
        for (index, verdicts) in of_runs.into_iter().enumerate() {
            run_verdicts.push(verdicts.verdict(checks.len()));
            let of_run = verdicts.breaches.into_iter();
            breaches.extend(of_run.map(|breach| breach.in_run(index)));
            untold.extend(verdicts.undecided);
        }
        let mut broken = causes(&breaches);
        broken.extend(untold.iter().map(|(index, _)| Cause::Check(*index)));
        let undecided = untold.first().map(|(index, matcher)| {
            let target = &checks[*index].target.text;
            format!("`{target}`: {}", needs_model(matcher))
        });
        let all = !checks.is_empty() && notes.len() == checks.len();
        Judgement {
            failure: (!breaches.is_empty()).then(|| Failure {
                findings: findings(&input.about(), breaches),
                evidence: Vec::new(),
            }),
            undecided: undecided.or_else(|| all.then(|| notes.join("; "))),
            notes,
            run_verdicts,
            broken,
            ..Judgement::default()
        }
    }
}

/// Says which assertions were judged on nothing in every run.
pub(super) fn note_no_items(checks: &[Check], of_runs: &[CheckVerdicts]) -> Vec<String> {
    let checks = checks.iter().enumerate();
    let of_none = checks.filter(|(check, _)| of_runs.iter().all(|run| run.of_none.contains(check)));
    let say = |(_, check): (usize, &Check)| {
        format!(
            "`{}` leads to no item in any run, so nothing was judged; if the list must be empty, write `exact: []`",
            check.target.text
        )
    };
    of_none.map(say).collect()
}
