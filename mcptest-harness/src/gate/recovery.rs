//! The `recovery` gate: did the agent cope with the injected faults?

use mcptest_suite::gates::{GateOptions, Recovery};
use mcptest_suite::model::{Agent, GateKind, Suite};

use super::{Breach, Cause, Input, PerRun, Scored, Threshold, counted_by_reliability};
use crate::eval::{Fault, FaultPlan, RecoveryReport, never_fired, replay_recovery};
use crate::render::{Evidence, shorten, thousands};
use crate::trace::Run;

impl PerRun for Recovery {
    fn defaults(&self) -> &'static [Threshold] {
        const DEFAULT: [Threshold; 1] = [Threshold::at_least("recovery.recovered", 1.0)];
        &DEFAULT
    }

    fn score(&self, input: &Input<'_>, run: &Run) -> Scored {
        let plan = plan(input.suite, input.agent, self.max_detection_ms);
        let report = replay_recovery(&run.trace, &plan);
        let mut breaches: Vec<Breach> = not_exercised(&report, run, self.allow_unexercised)
            .into_iter()
            .collect();
        // A run without the fault says nothing of recovering from it.
        let not_judged = !breaches.is_empty();
        if !not_judged && report.exercised {
            if let Some(most) = self.max_recovery_ms
                && report.exceeds_recovery(most)
            {
                let took = report.time_to_recovery_ms.map_or_else(
                    || "a run that never recovered".to_owned(),
                    |time| format!("{} ms", thousands(time)),
                );
                breaches.push(Breach::new(
                    Cause::Option(format!("`max_recovery_ms` allows {} ms", thousands(most))),
                    &took,
                ));
            }
            if self.require_clean_timeout && !report.clean_timeout {
                let asks = "`require_clean_timeout` asks that every hang is noticed within `max_detection_ms`";
                breaches.push(Breach::new(
                    Cause::Option(asks.to_owned()),
                    "a hang nobody noticed",
                ));
            }
        }
        // With `allow_unexercised`, a run that met no fault had nothing to recover from; what the
        // suite asserts is judged all the same.
        let not_judged = not_judged || (!report.exercised && input.expect().is_empty());
        Scored {
            metrics: report.metrics(),
            breaches,
            not_judged,
        }
    }

    fn across(&self, input: &Input<'_>) -> Vec<Breach> {
        silent_under(input.suite, input.agent, self, input.runs)
    }

    fn explain(&self, input: &Input<'_>, run: &Run) -> Vec<Evidence> {
        let plan = plan(input.suite, input.agent, self.max_detection_ms);
        let report = replay_recovery(&run.trace, &plan);
        let injected: Vec<String> = plan.faults.iter().map(described).collect();
        let mut lines = vec![format!("injected: {}", injected.join("; "))];
        lines.extend(calls(run, &report));
        let ending = run
            .trace
            .conversation
            .stop_reason
            .as_ref()
            .map_or("not recorded", |reason| reason.as_str());
        let answered = run
            .trace
            .final_response
            .as_deref()
            .is_some_and(|text| !text.trim().is_empty());
        let closing = if answered {
            "with a closing message"
        } else {
            "without a closing message"
        };
        lines.push(format!(
            "stopped: {ending}, {closing}; {} detections, {} ms of hanging in virtual time",
            report.detections,
            thousands(report.user_visible_hang_ms)
        ));
        vec![Evidence::Text(shorten(&lines))]
    }
}

/// The first thing that says the run did not meet the faults it was meant to meet.
fn not_exercised(report: &RecoveryReport, run: &Run, allowed: bool) -> Option<Breach> {
    let (asks, found) = if !report.contradictions.is_empty() {
        (
            "the run must be recorded with the fault",
            report.contradictions_told(),
        )
    } else if !report.exercised && !allowed {
        (
            "recovery was not exercised: an injected fault must fire (or say `allow_unexercised: true`)",
            format!(
                "none that fits the {} recorded calls",
                run.trace.tool_calls.len()
            ),
        )
    } else {
        return None;
    };
    Some(Breach::new(Cause::Option(asks.to_owned()), &found))
}

/// What an agent that injects faults and has no `recovery` gate breaks: an injected fault that did
/// not fire is no silent pass.
pub(crate) fn injected_but_not_met(suite: &Suite, agent: &Agent, run: &Run) -> Option<Breach> {
    if agent.inject.is_empty() || agent.gate(GateKind::Recovery).is_some() {
        return None;
    }
    let plan = fault_plan(suite, agent);
    let mut breach = not_exercised(&replay_recovery(&run.trace, &plan), run, false)?;
    if let Cause::Option(asks) = &mut breach.cause {
        *asks = asks.replace(" (or say `allow_unexercised: true`)", "");
    }
    Some(breach)
}

/// The injected faults of an agent that fired in no run, where no `recovery` gate says so.
pub(crate) fn faults_that_never_fired(suite: &Suite, agent: &Agent, runs: &[Run]) -> Vec<Breach> {
    match agent.gate(GateKind::Recovery).map(|gate| &gate.options) {
        Some(GateOptions::Recovery(gate)) if counted_by_reliability(agent, GateKind::Recovery) => {
            silent_under(suite, agent, gate, runs)
        }
        Some(_) => Vec::new(),
        None => silent_faults(&fault_plan(suite, agent), runs, ""),
    }
}

fn silent_under(suite: &Suite, agent: &Agent, gate: &Recovery, runs: &[Run]) -> Vec<Breach> {
    if gate.allow_unexercised {
        return Vec::new();
    }
    let plan = plan(suite, agent, gate.max_detection_ms);
    silent_faults(&plan, runs, " (or say `allow_unexercised: true`)")
}

/// The faults of a plan that hit no call of any run, each by name. `unless`: what allows it.
fn silent_faults(plan: &FaultPlan, runs: &[Run], unless: &str) -> Vec<Breach> {
    let reports: Vec<_> = runs
        .iter()
        .map(|run| replay_recovery(&run.trace, plan))
        .collect();
    let silent = never_fired(plan, &reports);
    let breaches = silent.map(|fault| {
        let asks = format!(
            "every injected fault must fire in some run{unless}: {}",
            described(fault)
        );
        let tool = fault.tool.as_deref();
        let called = |run: &Run| tool.is_none_or(|tool| run.calls_of(tool).next().is_some());
        let found = if runs.iter().any(called) {
            "no call that it hit"
        } else {
            "no call of its tool in any run"
        };
        Breach::new(Cause::Option(asks), found)
    });
    breaches.collect()
}

/// The faults that an agent injects, as they are injected when it is recorded.
pub(crate) fn fault_plan(suite: &Suite, agent: &Agent) -> FaultPlan {
    let budget = agent
        .gate(GateKind::Recovery)
        .and_then(|gate| match &gate.options {
            GateOptions::Recovery(options) => Some(options.max_detection_ms),
            _ => None,
        });
    let budget = budget.unwrap_or_else(|| FaultPlan::new(Vec::new()).max_detection_ms);
    plan(suite, agent, budget)
}

fn plan(suite: &Suite, agent: &Agent, max_detection_ms: u64) -> FaultPlan {
    let faults = agent.inject.iter().map(|index| {
        let fault = &suite.faults[index.value];
        Fault {
            name: fault.name.value.clone(),
            tool: fault.tool.clone(),
            server: fault.server.clone(),
            kind: fault.kind,
        }
    });
    FaultPlan {
        faults: faults.collect(),
        max_detection_ms,
    }
}

fn described(fault: &Fault) -> String {
    let target = match (&fault.tool, &fault.server) {
        (Some(tool), Some(server)) => format!("tool `{tool}` of `{server}`"),
        (Some(tool), None) => format!("tool `{tool}`"),
        (None, server) => format!("every tool of `{}`", server.as_deref().unwrap_or_default()),
    };
    format!("`{}` on {target}", fault.name)
}

/// Each call with what hit it.
fn calls<'a>(run: &'a Run, report: &'a RecoveryReport) -> impl Iterator<Item = String> + 'a {
    run.trace
        .tool_calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let hit = report.hits.iter().find(|hit| hit.call_index == index);
            let contradicts = report
                .contradictions
                .iter()
                .any(|found| found.call_index == index);
            let mark = match hit {
                Some(hit) => match hit.detected_after_ms {
                    Some(after) => format!(
                        "   <- hit by `{}`, noticed after {} ms",
                        hit.fault,
                        thousands(after)
                    ),
                    None => format!("   <- hit by `{}`", hit.fault),
                },
                None if contradicts => {
                    "   <- succeeded although the fault must have hit it".to_owned()
                }
                None if report.unplanned.contains(&index) => {
                    "   <- marked as hit, but by no fault of this plan".to_owned()
                }
                None => String::new(),
            };
            format!("{index:>4}  {}{mark}", call.name)
        })
}
