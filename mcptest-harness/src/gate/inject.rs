//! An agent's `inject:`: every fault that it names fired, where no `recovery` gate says so.

use super::recovery::{Recovery, look_alike_targets, not_exercised, silent_faults};
use super::{Criterion, Input, Judgement, findings};
use crate::eval::{RecoveryReport, judge_recovery};
use mcptest_suite::model::GateKind;

/// The injected faults of an agent.
#[derive(Debug)]
pub(crate) struct Inject;

impl Criterion for Inject {
    /// An injected fault that did not fire is no silent pass. A `recovery` gate says it of each run, and
    /// of all together where `reliability` does not count it.
    fn judge(&self, input: &Input<'_>) -> Judgement {
        let recovery = input.gates.options::<Recovery>();
        let declared = input.agent.gate(GateKind::Recovery);
        let counted = declared.is_some_and(|gate| gate.counted);
        let plan = input.gates.fault_plan();
        if plan.faults.is_empty() || (recovery.is_some() && !counted) {
            return Judgement::default();
        }
        let runs = input.runs.iter();
        let reports = runs.map(|run| judge_recovery(&run.trace, &plan));
        let reports: Vec<RecoveryReport> = reports.collect();
        let mut unmet = Vec::new();
        if recovery.is_none() {
            let runs = input.runs.iter().zip(&reports).enumerate();
            unmet.extend(runs.filter_map(|(index, (run, report))| {
                let mut breach = not_exercised(report, run, false, "")?.in_run(index);
                breach.details = look_alike_targets(&plan, run);
                Some(breach)
            }));
        }
        if unmet.is_empty() {
            unmet = match recovery {
                Some(recovery) => recovery.never_fired(input.runs, &reports),
                None => silent_faults(&plan, input.runs, &reports, ""),
            };
        }
        findings(&input.about(), unmet).into()
    }
}
