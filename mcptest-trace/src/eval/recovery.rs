//! `recovery`: how did the agent cope with a tool that did not answer?

mod faults;
mod marks;
mod report;
#[cfg(test)]
mod tests;

use crate::trace::{AsTrace, StopReason, Synthesized, ToolResult, Trace};

pub use faults::{Decisions, Effect, Fault, FaultKind, FaultPlan};
pub use marks::{RecoveryMarks, RecoveryScore, score_recovery};
pub use report::{Contradiction, ForeignMark, Hit, HitEvidence, RecoveryReport};

/// Whether the recording marks a result as the doing of a fault.
fn is_marked_by(result: &ToolResult, fault: &Fault) -> bool {
    let synthesized = result.synthesized.as_ref();
    synthesized.is_some_and(|synthesized| synthesized.fault == fault.name)
}

/// The old name of [`judge_recovery`].
#[deprecated(note = "`replay_recovery` is `judge_recovery` now")]
#[must_use]
pub fn replay_recovery(run: &(impl AsTrace + ?Sized), plan: &FaultPlan) -> RecoveryReport {
    judge_recovery(run, plan)
}

/// Holds a recorded run against its fault plan; [`RecoveryReport`] says by which rules.
///
/// ```
/// use mcptest_trace::eval::{Fault, FaultKind, FaultPlan, judge_recovery};
/// use serde_json::json;
///
/// let flaky = Fault::new("flaky-search", FaultKind::RecoverAfter { failures: 1 });
/// let plan = FaultPlan::new(vec![flaky.with_tool("search")]);
/// let run = json!({
///     "tool_calls": [{ "name": "search" }, { "name": "search" }],
///     "tool_results": [
///         { "call_index": 0, "is_error": true, "synthesized": { "fault": "flaky-search" } },
///         { "call_index": 1, "result": "found" },
///     ],
///     "final_response": "Found it on the second try.",
///     "conversation": { "stop_reason": "completed" },
/// });
/// let report = judge_recovery(&run, &plan);
/// assert!(report.recovered && report.clean_timeout && report.contradictions.is_empty());
/// assert_eq!(report.time_to_recovery_ms, Some(3_000));
/// ```
#[must_use]
pub fn judge_recovery(run: &(impl AsTrace + ?Sized), plan: &FaultPlan) -> RecoveryReport {
    let trace = run.as_trace();
    let recovered = has_recovered(&trace);
    let results = trace.results_by_call();
    let answered_by = servers(&trace);
    let mut decisions = Decisions::new(plan.clone());
    let mut fired = vec![0; plan.faults.len()];
    let mut foreign_marks = Vec::new();
    let mut hits: Vec<Hit> = Vec::new();
    let mut contradictions = Vec::new();
    let mut unplanned = Vec::new();

    for (call_index, (call, result)) in trace.tool_calls.iter().zip(results).enumerate() {
        let mark = result.and_then(|result| result.synthesized.as_ref());
        let decision = decisions.decide(&call.name, answered_by[call_index]);
        if let Some(recorded) = mark {
            let planned = decision.map(|(index, _)| {
                let Fault { name, kind, .. } = &plan.faults[index];
                Synthesized::new(name, kind.name())
            });
            if planned
                .as_ref()
                .is_none_or(|planned| !agrees(recorded, planned))
            {
                foreign_marks.push(ForeignMark {
                    call_index,
                    recorded: recorded.clone(),
                    planned,
                });
            }
        }
        let Some((index, effect)) = decision else {
            if mark.is_some() {
                unplanned.push(call_index);
            }
            continue;
        };
        let fault = &plan.faults[index];
        let evidence = match (effect, result) {
            (Effect::Late(_), _) => HitEvidence::AnsweredLate,
            (Effect::Timeout, Some(result)) if is_marked_by(result, fault) => {
                HitEvidence::Synthesized
            }
            (Effect::Timeout, Some(result)) if result.is_error => HitEvidence::Error,
            (Effect::Timeout, None) => HitEvidence::NoResult,
            (Effect::Timeout, Some(_)) => {
                contradictions.push(Contradiction {
                    call_index,
                    tool: call.name.clone(),
                    fault: fault.name.clone(),
                });
                continue;
            }
        };
        fired[index] += 1;
        let score = effect.score(plan.max_detection_ms);
        hits.push(Hit {
            call_index,
            fault: fault.name.clone(),
            evidence,
            detected_after_ms: score.time_to_detection_ms,
            hang_ms: score.user_visible_hang_ms,
        });
    }

    let mut timeouts = hits
        .iter()
        .filter(|hit| hit.evidence != HitEvidence::AnsweredLate);
    let detected = || hits.iter().filter_map(|hit| hit.detected_after_ms);
    let hang_ms = hits
        .iter()
        .map(|hit| hit.hang_ms)
        .fold(0, u64::saturating_add);
    RecoveryReport {
        recovered,
        clean_timeout: timeouts.all(|hit| hit.detected_after_ms.is_some()),
        detections: detected().count(),
        time_to_detection_ms: detected().reduce(u64::saturating_add),
        time_to_recovery_ms: recovered.then_some(hang_ms),
        user_visible_hang_ms: hang_ms,
        exercised: !hits.is_empty(),
        hits,
        contradictions,
        unplanned,
        foreign_marks,
        fired,
    }
}

/// The faults of a plan that fired in none of the runs: a demand on them was not exercised. A name
/// that no call fits, a fault that an earlier one keeps from every call, a `recover_after` with no
/// failures.
///
/// ```
/// use mcptest_trace::eval::{Fault, FaultKind, FaultPlan, never_fired, judge_recovery};
/// use serde_json::json;
///
/// let on = |name: &str, tool: &str| Fault::new(name, FaultKind::Hang).with_tool(tool);
/// let plan = FaultPlan::new(vec![on("a", "search"), on("b", "serach")]);
/// let reports = [judge_recovery(&json!({ "tool_calls": [{ "name": "search" }] }), &plan)];
/// let names: Vec<_> = never_fired(&plan, &reports).map(|fault| fault.name.as_str()).collect();
/// assert_eq!(names, ["b"]);
/// ```
pub fn never_fired<'a>(
    plan: &'a FaultPlan,
    reports: &'a [RecoveryReport],
) -> impl Iterator<Item = &'a Fault> {
    let fired = |index: usize| {
        let mut counts = reports
            .iter()
            .filter_map(move |report| report.fired.get(index));
        counts.any(|count| *count > 0)
    };
    let faults = plan.faults.iter().enumerate();
    faults.filter_map(move |(index, fault)| (!fired(index)).then_some(fault))
}

/// The server of every call; where only a result names it, that one.
fn servers(trace: &Trace) -> Vec<&str> {
    let calls = trace.tool_calls.iter();
    let mut servers: Vec<&str> = calls.map(|call| call.server.as_str()).collect();
    for result in &trace.tool_results {
        if let Some(server) = servers.get_mut(result.call_index)
            && server.is_empty()
        {
            *server = &result.server;
        }
    }
    servers
}

/// Whether a recorded mark is that of a fault; a kind that was not recorded says nothing.
fn agrees(recorded: &Synthesized, planned: &Synthesized) -> bool {
    recorded.fault == planned.fault && (recorded.kind.is_empty() || recorded.kind == planned.kind)
}

fn has_recovered(trace: &Trace) -> bool {
    trace.conversation.stop_reason == Some(StopReason::Completed)
        && (trace.final_response.as_ref()).is_some_and(|text| !text.trim().is_empty())
}
