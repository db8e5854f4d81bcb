//! An agent's own `expect:`: it holds only if it holds for every run.

use super::{Breach, Criterion, Input, Judgement, check_run, findings, needs_model};
use crate::check::Check;
use crate::render::Failure;
use crate::trace::Run;

/// The assertions of an agent.
#[derive(Debug)]
pub(crate) struct Expect;

impl Criterion for Expect {
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let checks = input.expect();
        let (mut breaches, mut undecided) = (Vec::new(), None);
        let mut runs_hold = Vec::new();
        // The assertions that no run so far had an item for.
        let mut of_none: Vec<usize> = (0..checks.len()).collect();
        for (index, run) in input.runs.iter().enumerate() {
            let snapshots = |name: &str, value: &_| input.snapshots.value(index, name, value);
            let verdicts = check_run(checks, run, &snapshots);
            runs_hold.push(verdicts.breaches.is_empty());
            of_none.retain(|check| verdicts.of_none.contains(check));
            let of_run = verdicts.breaches.into_iter();
            breaches.extend(of_run.map(|breach| breach.of_run(index)));
            undecided = undecided.or(verdicts.undecided.into_iter().next());
        }
        let undecided = undecided.map(|(index, matcher)| {
            let target = &checks[index].target.text;
            format!("`{target}`: {}", needs_model(matcher))
        });
        let notes: Vec<String> = of_none
            .iter()
            .map(|check| no_item(&checks[*check]))
            .collect();
        let all = !checks.is_empty() && notes.len() == checks.len();
        Judgement {
            failure: (!breaches.is_empty()).then(|| Failure {
                findings: findings(&input.about(), breaches),
                evidence: Vec::new(),
            }),
            undecided: undecided.or_else(|| all.then(|| notes.join("; "))),
            notes,
            runs_hold,
            ..Judgement::default()
        }
    }

    fn of_run(&self, input: &Input<'_>, run: &Run) -> Option<Vec<Breach>> {
        let index = input.runs.iter().position(|known| std::ptr::eq(known, run));
        let index = index.unwrap_or_default();
        let snapshots = |name: &str, value: &_| input.snapshots.value(index, name, value);
        Some(check_run(input.expect(), run, &snapshots).breaches)
    }
}

/// Says that an assertion was judged on nothing.
fn no_item(check: &Check) -> String {
    format!(
        "`{}` leads to no item in any run, so nothing was judged; `exact: []` asks for that",
        check.target.text
    )
}
