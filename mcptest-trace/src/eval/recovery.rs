//! `recovery`: how did the agent cope with a tool that did not answer?

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::measure::{Better, Measure, Unit};
use crate::trace::{AsTrace, StopReason, Synthesized, ToolCall, ToolResult, Trace};

/// The targets of the metric.
pub const TARGETS: &[Measure] = &[
    Measure::flag(
        "recovery.recovered",
        Better::Higher,
        "1 when the run completed with a closing message",
    ),
    Measure::flag(
        "recovery.clean_timeout",
        Better::Higher,
        "1 when every hang was noticed in time; always so on replay",
    ),
    Measure::count(
        "recovery.detections",
        Better::Neither,
        "timeouts that were noticed",
    ),
    Measure::amount(
        "recovery.time_to_detection_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what noticing took in all, where something was noticed",
    )
    .sometimes(),
    Measure::amount(
        "recovery.time_to_recovery_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what the faults cost in all, where the run recovered",
    )
    .sometimes(),
    Measure::amount(
        "recovery.user_visible_hang_ms",
        Unit::Milliseconds,
        Better::Lower,
        "what the faults cost in all",
    ),
];

/// What a fault does to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The call never returns.
    Hang,
    /// The call never returns; the backend is deadlocked.
    Wedged,
    /// The call returns late.
    Slow {
        /// How late, in milliseconds.
        delay_ms: u64,
    },
    /// The first calls never return, later ones do.
    RecoverAfter {
        /// How many calls do not return; at least 1.
        failures: u64,
    },
}

impl FaultKind {
    /// The word that suites and cassettes use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hang => "hang",
            Self::Wedged => "wedged",
            Self::Slow { .. } => "slow",
            Self::RecoverAfter { .. } => "recover_after",
        }
    }

    /// How late the calls are answered, where they are.
    #[must_use]
    pub fn delay_ms(self) -> Option<u64> {
        match self {
            Self::Slow { delay_ms } => Some(delay_ms),
            _ => None,
        }
    }

    /// How many calls do not return before others do.
    #[must_use]
    pub fn failures(self) -> Option<u64> {
        match self {
            Self::RecoverAfter { failures } => Some(failures),
            _ => None,
        }
    }
}

/// When things happened around one call, in milliseconds on any one clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryMarks {
    /// The call started.
    pub started_ms: u64,
    /// The agent noticed the fault; a mark before the start counts as never.
    pub detected_ms: Option<u64>,
    /// The agent recovered; a mark before the start counts as never.
    pub recovered_ms: Option<u64>,
    /// How long the agent may take to notice.
    pub timeout_budget_ms: u64,
}

impl RecoveryMarks {
    /// A call that nobody noticed and nothing recovered from, and how long the agent had to notice.
    #[must_use]
    pub fn new(started_ms: u64, timeout_budget_ms: u64) -> Self {
        Self {
            started_ms,
            timeout_budget_ms,
            ..Self::default()
        }
    }

    /// With [`Self::detected_ms`].
    #[must_use]
    pub fn with_detected_ms(mut self, detected_ms: u64) -> Self {
        self.detected_ms = Some(detected_ms);
        self
    }

    /// With [`Self::recovered_ms`].
    #[must_use]
    pub fn with_recovered_ms(mut self, recovered_ms: u64) -> Self {
        self.recovered_ms = Some(recovered_ms);
        self
    }
}

/// What the marks of one call come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryScore {
    /// From the start to the detection; `None` if it never happened.
    pub time_to_detection_ms: Option<u64>,
    /// From the start to the recovery; `None` if it never happened.
    pub time_to_recovery_ms: Option<u64>,
    /// How long the user saw the call hang: up to detection or recovery, whichever came first; the
    /// timeout budget when neither did.
    pub user_visible_hang_ms: u64,
    /// Whether the agent recovered.
    pub recovered: bool,
    /// Whether the agent noticed at or before its timeout budget.
    pub clean_timeout: bool,
}

/// Whether the recording marks a result as the doing of a fault.
fn is_marked_by(result: &ToolResult, fault: &Fault) -> bool {
    let synthesized = result.synthesized.as_ref();
    synthesized.is_some_and(|synthesized| synthesized.fault == fault.name)
}

/// Folds marks into a score.
///
/// ```
/// use mcptest_trace::eval::{RecoveryMarks, score_recovery};
///
/// let score = score_recovery(&RecoveryMarks::new(1_000, 3_000).with_detected_ms(10_000));
/// assert_eq!(score.user_visible_hang_ms, 9_000);
/// assert!(!score.clean_timeout);
/// ```
#[must_use]
pub fn score_recovery(marks: &RecoveryMarks) -> RecoveryScore {
    let since_start = |mark: Option<u64>| mark?.checked_sub(marks.started_ms);
    let time_to_detection_ms = since_start(marks.detected_ms);
    let time_to_recovery_ms = since_start(marks.recovered_ms);
    let noticed = time_to_detection_ms
        .into_iter()
        .chain(time_to_recovery_ms)
        .min();
    RecoveryScore {
        time_to_detection_ms,
        time_to_recovery_ms,
        user_visible_hang_ms: noticed.unwrap_or(marks.timeout_budget_ms),
        recovered: time_to_recovery_ms.is_some(),
        clean_timeout: time_to_detection_ms.is_some_and(|time| time <= marks.timeout_budget_ms),
    }
}

/// A fault and what it strikes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// The fault's name in the suite.
    pub name: String,
    /// The tool it strikes; every tool when absent.
    pub tool: Option<String>,
    /// The server it strikes; any server when absent.
    pub server: Option<String>,
    /// What it does.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault that strikes every tool of any server.
    pub fn new(name: impl Into<String>, kind: FaultKind) -> Self {
        Self {
            name: name.into(),
            tool: None,
            server: None,
            kind,
        }
    }

    /// With [`Self::tool`].
    #[must_use]
    pub fn with_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// With [`Self::server`].
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    fn strikes(&self, tool: &str, server: &str) -> bool {
        let fits = |wanted: Option<&String>, found: &str| wanted.is_none_or(|w| w == found);
        fits(self.tool.as_ref(), tool) && fits(self.server.as_ref(), server)
    }
}

/// The faults injected into a run, in order; the first that fits a call decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FaultPlan {
    /// The faults.
    pub faults: Vec<Fault>,
    /// How long the agent may take to notice a call that does not return; 3,000 by default.
    pub max_detection_ms: u64,
}

impl FaultPlan {
    /// The plan of some faults with the default detection budget.
    #[must_use]
    pub fn new(faults: Vec<Fault>) -> Self {
        Self {
            faults,
            max_detection_ms: 3_000,
        }
    }

    /// With [`Self::max_detection_ms`].
    #[must_use]
    pub fn with_max_detection_ms(mut self, max_detection_ms: u64) -> Self {
        self.max_detection_ms = max_detection_ms;
        self
    }
}

/// Why a call counts as hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// The recording marks its result as synthesised.
    Synthesized,
    /// Its result is an error.
    Error,
    /// It has no result.
    NoResult,
    /// It was answered late, within the detection budget.
    AnsweredLate,
}

/// A call that a fault hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// Index of the call.
    pub call_index: usize,
    /// Name of the fault.
    pub fault: String,
    /// What shows it.
    pub evidence: Evidence,
    /// Virtual time from the call's start to the detection; `None` for a late answer.
    pub detected_after_ms: Option<u64>,
    /// Virtual time the call hung for the user.
    pub hang_ms: u64,
}

/// A call that succeeded although a fault must have hit it: recorded without the fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Contradiction {
    /// Index of the call.
    pub call_index: usize,
    /// The called tool.
    pub tool: String,
    /// Name of the fault.
    pub fault: String,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            call_index,
            tool,
            fault,
        } = self;
        write!(
            formatter,
            "recorded without the fault: `tool_calls[{call_index}]` `{tool}` succeeded, but `{fault}` must have hit it"
        )
    }
}

/// A result that the recording marks as the doing of a fault that the plan does not have there: the
/// run was recorded under another plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ForeignMark {
    /// Index of the call.
    pub call_index: usize,
    /// The fault that answered when it was recorded.
    pub recorded: Synthesized,
    /// Name and kind of the fault that the plan has for the call; `None` when it has none.
    pub planned: Option<Synthesized>,
}

impl fmt::Display for ForeignMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            call_index,
            recorded,
            planned,
        } = self;
        let named = |mark: &Synthesized| match mark.kind.as_str() {
            "" => format!("`{}`", mark.fault),
            kind => format!("`{}` ({kind})", mark.fault),
        };
        write!(
            formatter,
            "`tool_calls[{call_index}]` was recorded under {}, and the suite injects ",
            named(recorded)
        )?;
        match planned {
            Some(planned) => formatter.write_str(&named(planned)),
            None => formatter.write_str("nothing there"),
        }
    }
}

/// How a run coped with the injected faults, in virtual time.
///
/// Source: seed 3, "Fault injection and recovery", and spec 3, "recovery". [`score_recovery`] folds
/// millisecond marks into a report. [`replay_recovery`] replays an injected [`FaultPlan`] over a
/// recorded run, in virtual time: for each call it makes the decision the injecting executor made.
///
/// 1. The first fault whose target fits the call decides; a call whose server only its result names
///    is one of that server. `hang`, `wedged` and `slow` always fire;
///    `recover_after` fires for the first `failures` calls it decides on, and lets later ones
///    through to the recovered server (no later fault of the plan gets them).
/// 2. A fault that fires is a *timeout*, except a `slow` one whose delay is below the detection
///    budget: that call was answered late, so its result may be anything.
/// 3. A timeout counts as hit when the recording marks the result as the fault's, else when the
///    result is an error, else when there is no result. A success contradicts the fault: the run
///    was recorded without it.
/// 4. A timeout costs one detection budget, at which it is detected; a late answer costs its delay
///    and detects nothing. The costs add up. So in virtual time every timeout is a clean one:
///    `clean_timeout` tells runs apart only where the marks are measured ([`score_recovery`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// Whether the run stopped as `completed` with a non-empty final response.
    pub recovered: bool,
    /// Whether every timeout was detected within its budget; true when there was none to detect.
    pub clean_timeout: bool,
    /// Number of timeouts that were detected.
    pub detections: usize,
    /// Sum over the detected timeouts; `None` when there was none.
    pub time_to_detection_ms: Option<u64>,
    /// Sum over all calls hit; `None` when the run did not recover.
    pub time_to_recovery_ms: Option<u64>,
    /// Sum over all calls hit.
    pub user_visible_hang_ms: u64,
    /// Whether any fault fired at all; when not, recovery was not exercised.
    pub exercised: bool,
    /// The calls that were hit, in order.
    pub hits: Vec<Hit>,
    /// The calls that succeeded although a fault must have hit them.
    pub contradictions: Vec<Contradiction>,
    /// Calls the recording marks as hit although no fault of this plan fires for them: it was made
    /// with another plan.
    pub unplanned: Vec<usize>,
    /// Marks of the recording that do not agree with the plan, those of `unplanned` among them.
    pub foreign_marks: Vec<ForeignMark>,
    /// How many calls each fault of the plan hit, in the order of the plan.
    pub fired: Vec<usize>,
}

/// Contradictions that are told one by one.
const CONTRADICTIONS_TOLD: usize = 3;

impl RecoveryReport {
    /// Whether the run broke a limit on the time to recovery: it took longer, or never recovered
    /// from a fault that fired.
    #[must_use]
    pub fn exceeds_recovery(&self, most_ms: u64) -> bool {
        self.exercised && self.time_to_recovery_ms.is_none_or(|time| time > most_ms)
    }

    /// The contradictions on one line: the first ones, and how many more there are. Empty without
    /// any.
    #[must_use]
    pub fn contradictions_told(&self) -> String {
        let shown = self.contradictions.iter().take(CONTRADICTIONS_TOLD);
        let mut told: Vec<String> = shown.map(ToString::to_string).collect();
        let more = self.contradictions.len() - told.len();
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        told.join("; ")
    }

    /// The targets `recovery.recovered` and `clean_timeout` (0 or 1), `detections`,
    /// `time_to_detection_ms`, `time_to_recovery_ms` (`null` for never) and
    /// `user_visible_hang_ms`.
    #[must_use]
    pub fn metrics(&self) -> Value {
        json!({ "recovery": {
            "recovered": u8::from(self.recovered),
            "clean_timeout": u8::from(self.clean_timeout),
            "detections": self.detections,
            "time_to_detection_ms": self.time_to_detection_ms,
            "time_to_recovery_ms": self.time_to_recovery_ms,
            "user_visible_hang_ms": self.user_visible_hang_ms,
        }})
    }
}

/// Replays a fault plan over a recorded run; [`RecoveryReport`] says by which rules.
///
/// ```
/// use mcptest_trace::eval::{Fault, FaultKind, FaultPlan, replay_recovery};
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
/// let report = replay_recovery(&run, &plan);
/// assert!(report.recovered && report.clean_timeout && report.contradictions.is_empty());
/// assert_eq!(report.time_to_recovery_ms, Some(3_000));
/// ```
#[must_use]
pub fn replay_recovery(run: &(impl AsTrace + ?Sized), plan: &FaultPlan) -> RecoveryReport {
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
            let planned = decision.map(|(index, _)| mark_of(&plan.faults[index]));
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
            (Effect::Late(_), _) => Evidence::AnsweredLate,
            (Effect::Timeout, Some(result)) if is_marked_by(result, fault) => Evidence::Synthesized,
            (Effect::Timeout, Some(result)) if result.is_error => Evidence::Error,
            (Effect::Timeout, None) => Evidence::NoResult,
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
        .filter(|hit| hit.evidence != Evidence::AnsweredLate);
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
/// use mcptest_trace::eval::{Fault, FaultKind, FaultPlan, never_fired, replay_recovery};
/// use serde_json::json;
///
/// let on = |name: &str, tool: &str| Fault::new(name, FaultKind::Hang).with_tool(tool);
/// let plan = FaultPlan::new(vec![on("a", "search"), on("b", "serach")]);
/// let reports = [replay_recovery(&json!({ "tool_calls": [{ "name": "search" }] }), &plan)];
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

fn mark_of(fault: &Fault) -> Synthesized {
    Synthesized {
        fault: fault.name.clone(),
        kind: fault.kind.name().to_owned(),
    }
}

/// Whether a recorded mark is that of a fault; a kind that was not recorded says nothing.
fn agrees(recorded: &Synthesized, planned: &Synthesized) -> bool {
    recorded.fault == planned.fault && (recorded.kind.is_empty() || recorded.kind == planned.kind)
}

fn has_recovered(trace: &Trace) -> bool {
    trace.conversation.stop_reason == Some(StopReason::Completed)
        && (trace.final_response.as_ref()).is_some_and(|text| !text.trim().is_empty())
}

/// What a fault that fires does to its call.
///
/// A closed set: whoever injects faults must be able to do each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The call never returns.
    Timeout,
    /// The call is answered, this many milliseconds late.
    Late(u64),
}

impl Effect {
    /// The score of one call that starts at 0.
    fn score(self, budget: u64) -> RecoveryScore {
        let (detected_ms, recovered_ms) = match self {
            Self::Timeout => (Some(budget), None),
            Self::Late(delay) => (None, Some(delay)),
        };
        score_recovery(&RecoveryMarks {
            started_ms: 0,
            detected_ms,
            recovered_ms,
            timeout_budget_ms: budget,
        })
    }
}

/// A plan's decisions, call after call: the same ones on replay as when the run is recorded.
#[derive(Debug, Clone)]
pub struct Decisions {
    plan: FaultPlan,
    /// How many calls each fault has decided on.
    decided: Vec<u64>,
}

impl Decisions {
    /// The decisions of a plan, from the first call on.
    #[must_use]
    pub fn new(plan: FaultPlan) -> Self {
        Self {
            decided: vec![0; plan.faults.len()],
            plan,
        }
    }

    /// The fault that fires for the next call, if one does.
    pub fn next(&mut self, call: &ToolCall) -> Option<(&Fault, Effect)> {
        let (index, effect) = self.decide(&call.name, &call.server)?;
        Some((self.plan.faults.get(index)?, effect))
    }

    /// The place in the plan of the fault that fires for the next call, and what it does.
    fn decide(&mut self, tool: &str, server: &str) -> Option<(usize, Effect)> {
        let faults = self.plan.faults.iter().zip(&mut self.decided);
        let mut places = faults.enumerate();
        let (index, (fault, decided)) =
            places.find(|(_, (fault, _))| fault.strikes(tool, server))?;
        *decided += 1;
        let effect = match fault.kind {
            FaultKind::RecoverAfter { failures } if *decided > failures => return None,
            FaultKind::Slow { delay_ms } if delay_ms < self.plan.max_detection_ms => {
                Effect::Late(delay_ms)
            }
            _ => Effect::Timeout,
        };
        Some((index, effect))
    }

    /// The detection budget, at which a call that does not return is given up.
    #[must_use]
    pub fn max_detection_ms(&self) -> u64 {
        self.plan.max_detection_ms
    }
}
