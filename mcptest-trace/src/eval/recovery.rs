//! `recovery`: how did the agent cope with a tool that did not answer?

mod attempts;
mod faults;
mod marks;
mod report;
#[cfg(test)]
mod tests;

use crate::trace::{AsTrace, StopReason, Synthesized, Trace};

pub use faults::{Decisions, Effect, Fault, FaultKind, FaultPlan};
pub use marks::{RecoveryMarks, RecoveryScore, score_recovery};
pub use report::{Contradiction, ForeignMark, Hit, HitEvidence, RecoveryReport};

use attempts::{CallOutcome, FurtherAttempts, calls_by_step};

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
    let mut found = RecoveryJudge {
        decisions: Decisions::new(plan.clone()),
        fired: vec![0; plan.faults.len()],
        plan,
        hits: Vec::new(),
        contradictions: Vec::new(),
        unplanned: Vec::new(),
        foreign_marks: Vec::new(),
    };
    for step in calls_by_step(&trace) {
        // The recorder decides on the calls of an answer as it comes, and on further attempts as they are made.
        let mut further = FurtherAttempts::default();
        for call_index in step {
            let call = &trace.tool_calls[call_index];
            let attempts = call.own.as_ref().map_or(&[][..], |own| &own.attempts);
            let came = match attempts {
                [first, others @ ..] if !others.is_empty() => {
                    further.add((call, answered_by[call_index]), call_index, others);
                    CallOutcome::from_attempt(first)
                }
                _ => CallOutcome::from_result(results[call_index]),
            };
            found.judge_call((&call.name, answered_by[call_index]), call_index, &came);
        }
        for (of, attempts) in further.into_tools() {
            found.judge_attempts(of, &attempts);
        }
    }
    let RecoveryJudge {
        fired,
        mut hits,
        mut contradictions,
        mut unplanned,
        mut foreign_marks,
        ..
    } = found;
    hits.sort_by_key(|one| one.call_index);
    contradictions.sort_by_key(|one| one.call_index);
    foreign_marks.sort_by_key(|one| one.call_index);
    unplanned.sort_unstable();

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

/// Holds a run against a fault plan, and collects what it finds.
struct RecoveryJudge<'p> {
    plan: &'p FaultPlan,
    decisions: Decisions,
    fired: Vec<usize>,
    hits: Vec<Hit>,
    contradictions: Vec<Contradiction>,
    unplanned: Vec<usize>,
    foreign_marks: Vec<ForeignMark>,
}

impl RecoveryJudge<'_> {
    /// Judges a call, or its first attempt.
    fn judge_call(
        &mut self,
        (tool, server): (&str, &str),
        call_index: usize,
        came: &CallOutcome<'_>,
    ) {
        let decision = self.decisions.decide(tool, server);
        if let Some(recorded) = came.mark {
            let planned = decision.map(|(index, _)| {
                let Fault { name, kind, .. } = &self.plan.faults[index];
                Synthesized::new(name, kind.name())
            });
            if planned
                .as_ref()
                .is_none_or(|planned| !is_same_fault(recorded, planned))
            {
                self.foreign_marks.push(ForeignMark {
                    call_index,
                    recorded: recorded.clone(),
                    planned,
                });
            }
        }
        let Some((index, effect)) = decision else {
            if came.mark.is_some() {
                self.unplanned.push(call_index);
            }
            return;
        };
        match came.evidence(effect, &self.plan.faults[index]) {
            Some(evidence) => self.record_hit(call_index, (index, effect), evidence),
            None => self.record_contradiction(call_index, tool, index),
        }
    }

    /// Further attempts at calls of a tool. Which of them come first, nothing says, so that only how many were struck is
    /// compared.
    fn judge_attempts(
        &mut self,
        (tool, server): (&str, &str),
        attempts: &[(usize, CallOutcome<'_>)],
    ) {
        let decided = attempts.iter().map(|_| self.decisions.decide(tool, server));
        let mut planned: Vec<(usize, Effect)> = decided.flatten().collect();
        let mut left: Vec<&(usize, CallOutcome<'_>)> = Vec::new();
        for one @ (call_index, came) in attempts {
            let Some(mark) = came.mark else {
                left.push(one);
                continue;
            };
            let is_it = |(index, _): &(usize, Effect)| {
                let Fault { name, kind, .. } = &self.plan.faults[*index];
                is_same_fault(mark, &Synthesized::new(name, kind.name()))
            };
            if let Some(place) = planned.iter().position(is_it) {
                let decision = planned.remove(place);
                self.record_hit(*call_index, decision, HitEvidence::Synthesized);
            } else {
                self.unplanned.push(*call_index);
                self.foreign_marks.push(ForeignMark {
                    call_index: *call_index,
                    recorded: mark.clone(),
                    planned: None,
                });
            }
        }
        // What has no mark: an error may be the fault's doing, a success is not.
        left.sort_by_key(|(_, came)| came.is_success());
        for ((index, effect), (call_index, came)) in planned.into_iter().zip(left) {
            match came.evidence(effect, &self.plan.faults[index]) {
                Some(evidence) => self.record_hit(*call_index, (index, effect), evidence),
                None => self.record_contradiction(*call_index, tool, index),
            }
        }
    }

    fn record_hit(
        &mut self,
        call_index: usize,
        (index, effect): (usize, Effect),
        evidence: HitEvidence,
    ) {
        self.fired[index] += 1;
        let score = effect.score(self.plan.max_detection_ms);
        self.hits.push(Hit {
            call_index,
            fault: self.plan.faults[index].name.clone(),
            evidence,
            detected_after_ms: score.time_to_detection_ms,
            hang_ms: score.user_visible_hang_ms,
        });
    }

    fn record_contradiction(&mut self, call_index: usize, tool: &str, index: usize) {
        self.contradictions.push(Contradiction {
            call_index,
            tool: tool.to_owned(),
            fault: self.plan.faults[index].name.clone(),
        });
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
fn is_same_fault(recorded: &Synthesized, planned: &Synthesized) -> bool {
    recorded.fault == planned.fault && (recorded.kind.is_empty() || recorded.kind == planned.kind)
}

fn has_recovered(trace: &Trace) -> bool {
    trace.conversation.stop_reason == Some(StopReason::Completed)
        && (trace.final_response.as_ref()).is_some_and(|text| !text.trim().is_empty())
}
