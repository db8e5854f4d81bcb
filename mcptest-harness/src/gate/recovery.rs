//! The `recovery` gate: did the agent cope with the injected faults?

use std::collections::{BTreeMap, BTreeSet};

use mcptest_suite::Diagnostic;

use super::block::Block;
use super::key::{Key, Keyed};
use super::table::GateEntry;
use super::{Breach, Cause, Counts, EachRun, Input, Options, RunScore, Threshold, to_u64};
use crate::eval::{Fault, FaultPlan, RecoveryReport, judge_recovery, never_fired};
use crate::render::Evidence;
use crate::trace::Run;
use mcptest_trace::text::{lookalike_pairs, truncate_lines, with_thousands};

pub(super) const ENTRY: GateEntry = GateEntry::each_run::<Recovery>();

/// The injected faults, and what coping with them may cost.
#[derive(Debug, Clone)]
pub(super) struct Recovery {
    pub(super) plan: FaultPlan,
    /// What recovering may take in all, in milliseconds; unbounded when absent.
    max_recovery_ms: Option<u64>,
    /// Whether every fault must be noticed within the plan's time. In the virtual time of a recorded run
    /// a timeout is noticed at just that moment, so there this holds whenever a fault fired.
    require_clean_timeout: bool,
    /// Whether a run in which no fault fired may pass.
    allow_unexercised: bool,
}

impl Options for Recovery {
    const SAYS: &'static str = "The agent noticed and survived the injected faults, in virtual time. The agent needs `inject:`. Default: recovery.recovered >= 1.";

    const EXAMPLE: &'static str = "inject: [hung], recovery: {}";

    // Its default is a yes or no.
    const CALIBRATED_BY: Option<&'static str> = None;

    const RESTS_ON_ERRORS: bool = true;

    fn needs_results(&self) -> bool {
        true
    }
}

impl Keyed for Recovery {
    const KEYS: &'static [Key<Self>] = &[
        Key::count("max_detection_ms", 0, |recovery: &mut Self| {
            &mut recovery.plan.max_detection_ms
        })
        .says("A call that takes this many milliseconds or more counts as dead."),
        Key::count("max_recovery_ms", 0, |recovery: &mut Self| {
            &mut recovery.max_recovery_ms
        })
        .says("The most milliseconds that the faults may cost a run in all. Without this key there is no limit."),
        Key::flag("require_clean_timeout", |recovery: &mut Self| {
            &mut recovery.require_clean_timeout
        })
        .says(
            "`true`: every hang must be noticed within `max_detection_ms`. In a recorded run this always holds, because time is virtual.",
        ),
        Key::flag("allow_unexercised", |recovery: &mut Self| {
            &mut recovery.allow_unexercised
        })
        .says("`true`: a run in which no fault fired may pass."),
    ];

    fn default_options() -> Self {
        Self {
            plan: FaultPlan::new(Vec::new()),
            max_recovery_ms: None,
            require_clean_timeout: false,
            allow_unexercised: false,
        }
    }

    fn check(&mut self, block: &mut Block<'_, '_>, whole: bool) -> bool {
        if !block.agent.injects {
            let message = "`recovery` judges injected faults, and this agent injects none";
            block.problems.push(Diagnostic::at(block.span, message).help(
                "declare one under the suite's `faults:` and name it in the agent's `inject: [ … ]`",
            ));
        }
        self.plan.faults.clone_from(&block.agent.faults);
        whole
    }
}

impl EachRun for Recovery {
    type Report = RecoveryReport;

    const DEFAULT: &'static [Threshold] = &[Threshold::at_least(
        "recovery.recovered",
        1.0,
        "the agent did not recover from the injected fault",
    )];

    fn score(&self, input: &Input<'_>, run: &Run) -> Result<RunScore<RecoveryReport>, Box<Breach>> {
        let report = judge_recovery(&run.trace, &self.plan);
        let unmet = not_exercised(&report, run, self.allow_unexercised, OR_SAY);
        // A run without the fault says nothing of recovering from it. With `allow_unexercised`, a
        // run that met no fault had nothing to recover from; what the suite asserts is judged all
        // the same.
        let judged = unmet.is_none() && (report.exercised || !input.expect().is_empty());
        let mut breaches: Vec<Breach> = unmet.into_iter().collect();
        if breaches.is_empty() && report.exercised {
            breaches.extend(self.too_late(&report));
        }
        Ok(RunScore {
            report,
            breaches,
            judged,
        })
    }

    fn breaches_across(&self, runs: &[Run], reports: &[RecoveryReport]) -> Vec<Breach> {
        self.never_fired(runs, reports)
    }

    fn counts(&self, run: &Run, report: &RecoveryReport) -> Counts {
        let calls = run.trace.tool_calls.len();
        Counts::from([
            ("faults", to_u64(report.hits.len())),
            ("calls", to_u64(calls)),
        ])
    }

    fn explain(&self, _input: &Input<'_>, run: &Run, report: &RecoveryReport) -> Vec<Evidence> {
        let injected: Vec<String> = self.plan.faults.iter().map(describe_fault).collect();
        let mut lines = vec![format!("injected: {}", injected.join("; "))];
        lines.extend(call_lines(run, report));
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
            with_thousands(report.user_visible_hang_ms)
        ));
        vec![Evidence::Text(truncate_lines(&lines))]
    }
}

impl Recovery {
    /// What the options ask of the time that recovering took.
    fn too_late(&self, report: &RecoveryReport) -> Vec<Breach> {
        let mut breaches = Vec::new();
        if let Some(most) = self.max_recovery_ms
            && report.exceeds_recovery(most)
        {
            let took = report.time_to_recovery_ms.map_or_else(
                || "a run that never recovered".to_owned(),
                |time| format!("{} ms", with_thousands(time)),
            );
            let asks = format!("`max_recovery_ms` allows {} ms", with_thousands(most));
            breaches.push(Breach::new(Cause::Gate(asks), &took));
        }
        if self.require_clean_timeout && !report.clean_timeout {
            let asks = "`require_clean_timeout` means that every hang must be noticed within `max_detection_ms`";
            let asks = Cause::Gate(asks.to_owned());
            breaches.push(Breach::new(asks, "a hang that was not noticed"));
        }
        breaches
    }

    /// The injected faults that fired in no run, unless that is allowed.
    pub(super) fn never_fired(&self, runs: &[Run], reports: &[RecoveryReport]) -> Vec<Breach> {
        if self.allow_unexercised {
            return Vec::new();
        }
        silent_faults(&self.plan, runs, reports, OR_SAY)
    }
}

/// What allows a run without a fault.
const OR_SAY: &str = " (or write `allow_unexercised: true`)";

/// The first thing that says the run did not meet the faults it was meant to meet. `unless`: what
/// allows it.
pub(super) fn not_exercised(
    report: &RecoveryReport,
    run: &Run,
    allowed: bool,
    unless: &str,
) -> Option<Breach> {
    let (asks, found) = if !report.contradictions.is_empty() {
        let asks = "the run must be recorded with the fault".to_owned();
        (asks, report.describe_contradictions())
    } else if !report.exercised && !allowed {
        let calls = run.trace.tool_calls.len();
        let asks = format!("recovery was not exercised: an injected fault must fire{unless}");
        (asks, format!("none that fits the {calls} recorded calls"))
    } else {
        return None;
    };
    Some(Breach::new(Cause::Gate(asks), &found))
}

/// The tools of faults that look like a tool that a run calls, which has another name, a line each.
pub(super) fn look_alike_targets(plan: &FaultPlan, run: &Run) -> Vec<String> {
    let called = run.trace.tool_calls.iter().map(|call| call.name.as_str());
    let targets = plan.faults.iter().filter_map(|fault| fault.tool.as_deref());
    let pairs = lookalike_pairs(targets, called).into_iter();
    let lines = pairs.map(|(target, name)| {
        format!("a fault is for the tool `{target}`, and the run calls `{name}`")
    });
    lines.collect()
}

/// The faults of a plan that hit no call of any run, each by name. `unless`: what allows it.
pub(super) fn silent_faults(
    plan: &FaultPlan,
    runs: &[Run],
    reports: &[RecoveryReport],
    unless: &str,
) -> Vec<Breach> {
    let silent = never_fired(plan, reports);
    let breaches = silent.map(|fault| {
        let asks = format!(
            "every injected fault must fire in some run{unless}: {}",
            describe_fault(fault)
        );
        let tool = fault.tool.as_deref();
        let called = |run: &Run| tool.is_none_or(|tool| run.calls_of(tool).next().is_some());
        let found = if runs.iter().any(called) {
            "no call that the fault hit"
        } else {
            "no call of its tool in any run"
        };
        Breach::new(Cause::Gate(asks), found)
    });
    breaches.collect()
}

fn describe_fault(fault: &Fault) -> String {
    let target = match (&fault.tool, &fault.server) {
        (Some(tool), Some(server)) => format!("tool `{tool}` of `{server}`"),
        (Some(tool), None) => format!("tool `{tool}`"),
        (None, server) => format!("every tool of `{}`", server.as_deref().unwrap_or_default()),
    };
    format!("`{}` on {target}", fault.name)
}

/// Each call with what hit it.
fn call_lines<'a>(run: &'a Run, report: &'a RecoveryReport) -> impl Iterator<Item = String> + 'a {
    let mut hits = BTreeMap::new();
    for hit in &report.hits {
        hits.entry(hit.call_index).or_insert(hit);
    }
    let contradictions = report.contradictions.iter();
    let contradictions: BTreeSet<usize> = contradictions.map(|found| found.call_index).collect();
    let unplanned: BTreeSet<usize> = report.unplanned.iter().copied().collect();
    run.trace
        .tool_calls
        .iter()
        .enumerate()
        .map(move |(index, call)| {
            let hit = hits.get(&index);
            let contradicts = contradictions.contains(&index);
            let mark = match hit {
                Some(hit) => match hit.detected_after_ms {
                    Some(after) => format!(
                        "   <- hit by `{}`, noticed after {} ms",
                        hit.fault,
                        with_thousands(after)
                    ),
                    None => format!("   <- hit by `{}`", hit.fault),
                },
                None if contradicts => {
                    "   <- succeeded although the fault must have hit it".to_owned()
                }
                None if unplanned.contains(&index) => {
                    "   <- marked as hit, but not by a fault of this agent".to_owned()
                }
                None => String::new(),
            };
            format!("{index:>4}  {}{mark}", call.name)
        })
}
