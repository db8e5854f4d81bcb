use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::eval::Metrics;

const HANG: FaultKind = FaultKind::Hang;

fn fault(name: &str, tool: Option<&str>, server: Option<&str>, kind: FaultKind) -> Fault {
    Fault {
        name: name.into(),
        tool: tool.map(Into::into),
        server: server.map(Into::into),
        kind,
    }
}

fn on_search(kind: FaultKind) -> FaultPlan {
    FaultPlan::new(vec![fault("f", Some("search"), None, kind)])
}

/// A run of `search` calls: `!` an error, `.` no result, `+` a success, `*` a marked result.
fn searches(results: &str, ending: &Value) -> Value {
    let calls: Vec<_> = results
        .chars()
        .map(|_| json!({ "name": "search" }))
        .collect();
    let recorded = results
        .chars()
        .enumerate()
        .filter(|(_, result)| *result != '.');
    let results: Vec<_> = recorded
        .map(|(index, result)| match result {
            '*' => json!({ "call_index": index, "synthesized": { "fault": "f", "kind": "hang" } }),
            _ => json!({ "call_index": index, "is_error": result == '!' }),
        })
        .collect();
    json!({
        "tool_calls": calls,
        "tool_results": results,
        "final_response": ending,
        "conversation": { "stop_reason": "completed" },
    })
}

fn judge(results: &str, kind: FaultKind) -> RecoveryReport {
    judge_recovery(&searches(results, &json!("done")), &on_search(kind))
}

fn marks(detected_ms: Option<u64>, recovered_ms: Option<u64>) -> RecoveryScore {
    score_recovery(&RecoveryMarks {
        started_ms: 100,
        detected_ms,
        recovered_ms,
        timeout_budget_ms: 3_000,
    })
}

/// A run of one `search` whose code tried it more often: `*` struck, `!` failed, `+` a success.
fn tried(attempts: &str, failures: u64) -> RecoveryReport {
    let each = attempts.chars().map(|came| match came {
        '+' => json!({ "result": 1 }),
        '*' => json!({ "error": {}, "synthesized": { "fault": "f", "kind": "recover_after" } }),
        _ => json!({ "error": {} }),
    });
    let own = json!({ "attempts": each.collect::<Vec<_>>() });
    let run = json!({
        "tool_calls": [{ "name": "search", "step": 0, "own": own }],
        "tool_results": [{ "call_index": 0, "is_error": !attempts.ends_with('+') }],
        "final_response": "done",
        "conversation": { "stop_reason": "completed" },
    });
    judge_recovery(&run, &on_search(FaultKind::RecoverAfter { failures }))
}

#[test]
fn each_attempt_of_the_code_is_a_call_that_a_fault_decides_on() {
    let report = tried("**+", 2);
    assert_eq!((report.fired[0], report.detections), (2, 2));
    assert!(report.contradictions.is_empty() && report.foreign_marks.is_empty());
    // The plan strikes more of them than were struck, and fewer.
    assert_eq!(tried("*++", 2).contradictions.len(), 1);
    let fewer = tried("**+", 1);
    assert_eq!((fewer.foreign_marks.len(), fewer.unplanned.len()), (1, 1));
    // An error may be the fault's doing, as of a call.
    assert_eq!(tried("!!+", 2).fired, [2]);
}

#[test]
fn the_hang_ends_with_detection_or_recovery_whichever_is_earlier() {
    assert_eq!(marks(Some(600), Some(1_100)).user_visible_hang_ms, 500);
    assert_eq!(marks(Some(1_100), Some(600)).user_visible_hang_ms, 500);
    assert_eq!(marks(None, Some(9_100)).user_visible_hang_ms, 9_000);
    assert_eq!(marks(None, None).user_visible_hang_ms, 3_000);
}

#[test]
fn a_timeout_is_clean_up_to_and_at_the_budget() {
    assert!(marks(Some(3_100), None).clean_timeout);
    assert!(!marks(Some(3_101), None).clean_timeout);
    assert!(!marks(None, Some(200)).clean_timeout);
}

#[test]
fn marks_before_the_start_count_as_never() {
    assert_eq!(marks(Some(99), Some(0)), marks(None, None));
    assert!(marks(Some(100), None).time_to_detection_ms == Some(0));
}

#[test]
fn a_call_is_hit_when_marked_failed_or_unanswered_and_contradicts_when_it_succeeded() {
    let report = judge("*!.+", HANG);
    let evidence: Vec<_> = report
        .hits
        .iter()
        .map(|hit| (hit.call_index, hit.evidence))
        .collect();
    assert_eq!(
        evidence,
        [
            (0, HitEvidence::Synthesized),
            (1, HitEvidence::Error),
            (2, HitEvidence::NoResult)
        ]
    );
    assert_eq!(
        report.contradictions[0].to_string(),
        "recorded without the fault: `tool_calls[3]` `search` succeeded, but `f` must have hit it"
    );
    assert_eq!(
        report.metrics(),
        json!({ "recovery": {
            "recovered": 1, "clean_timeout": 1, "detections": 3, "time_to_detection_ms": 9_000,
            "time_to_recovery_ms": 9_000, "user_visible_hang_ms": 9_000,
        }})
    );
}

#[test]
fn recover_after_lets_later_calls_succeed_or_fail_on_their_own() {
    let kind = FaultKind::RecoverAfter { failures: 2 };
    let report = judge("!.+!+", kind);
    assert_eq!(
        report
            .hits
            .iter()
            .map(|hit| hit.call_index)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    assert!(report.contradictions.is_empty());
    assert_eq!(judge("!+", kind).contradictions[0].call_index, 1);
    // Marked beyond the failures the plan names: recorded with another plan.
    assert_eq!(judge("***", kind).unplanned, [2]);
}

#[test]
fn an_exhausted_fault_still_shields_its_calls_from_later_faults() {
    let plan = FaultPlan::new(vec![
        fault(
            "first",
            Some("search"),
            None,
            FaultKind::RecoverAfter { failures: 1 },
        ),
        fault("second", Some("search"), None, HANG),
    ]);
    let report = judge_recovery(&searches("!+", &json!("done")), &plan);
    assert!(report.contradictions.is_empty());
    assert_eq!(report.hits.len(), 1);
}

#[test]
fn the_first_fault_that_fits_decides() {
    let run = json!({
        "tool_calls": [
            { "name": "search", "server": "docs" },
            { "name": "fetch", "server": "docs" },
            { "name": "search", "server": "web" },
            { "name": "fetch", "server": "web" },
        ],
        "tool_results": [{ "call_index": 3 }],
    });
    let plan = FaultPlan::new(vec![
        fault("both", Some("search"), Some("docs"), HANG),
        fault("server", None, Some("docs"), FaultKind::Wedged),
        fault("tool", Some("search"), None, HANG),
    ]);
    let report = judge_recovery(&run, &plan);
    let by: Vec<_> = report.hits.iter().map(|hit| hit.fault.as_str()).collect();
    assert_eq!(by, ["both", "server", "tool"]);
    assert!(report.contradictions.is_empty());
}

#[test]
fn a_slow_answer_within_the_budget_costs_its_delay_and_is_no_timeout() {
    let report = judge("+!", FaultKind::Slow { delay_ms: 2_999 });
    assert_eq!((report.detections, report.time_to_detection_ms), (0, None));
    assert_eq!(report.user_visible_hang_ms, 5_998);
    assert!(report.clean_timeout && report.exercised && report.contradictions.is_empty());
    assert_eq!(
        judge("+", FaultKind::Slow { delay_ms: 3_000 })
            .contradictions
            .len(),
        1
    );
    assert_eq!(
        judge("!", FaultKind::Slow { delay_ms: 9_000 }).user_visible_hang_ms,
        3_000
    );
}

#[test]
fn a_run_recovers_by_completing_with_something_to_say() {
    let plan = on_search(HANG);
    assert!(judge_recovery(&searches("!", &json!("sorry")), &plan).recovered);
    let silent = judge_recovery(&searches("!", &json!("  ")), &plan);
    assert_eq!(
        (silent.recovered, silent.time_to_recovery_ms),
        (false, None)
    );
    let mut stopped = searches("!", &json!("sorry"));
    stopped["conversation"]["stop_reason"] = json!("turn_budget");
    assert!(!judge_recovery(&stopped, &plan).recovered);
}

#[test]
fn a_call_without_a_result_costs_a_timeout_like_any_other() {
    let mut run = json!({
        "tool_calls": [{ "name": "search" }],
        "conversation": { "stop_reason": "turn_budget" },
    });
    let report = judge_recovery(&run, &on_search(HANG));
    assert_eq!(
        (report.detections, report.time_to_detection_ms),
        (1, Some(3_000))
    );
    assert!(report.clean_timeout && !report.recovered);
    // What another fault answered is an error, but was not recorded under this plan.
    run["tool_results"] = json!([{ "call_index": 0, "synthesized": { "fault": "another" } }]);
    let report = judge_recovery(&run, &on_search(HANG));
    assert_eq!(report.hits[0].evidence, HitEvidence::Error);
    assert_eq!(report.foreign_marks.len(), 1);
}

#[test]
fn a_fault_that_never_fires_exercises_nothing() {
    let plan = FaultPlan::new(vec![fault("f", Some("other"), None, HANG)]);
    let report = judge_recovery(&searches("+", &json!("done")), &plan);
    assert!(!report.exercised && report.clean_timeout);
    assert_eq!(report.time_to_recovery_ms, Some(0));
    assert!(!judge("+", HANG).exercised);
    assert!(!judge("+", FaultKind::RecoverAfter { failures: 0 }).exercised);
}

proptest! {
    #[test]
    fn times_are_consistent(
        results in "[!.+*]{0,8}",
        failures in 0u64..5,
        delay_ms in prop_oneof![0u64..6_000, Just(u64::MAX)],
    ) {
        for kind in [HANG, FaultKind::RecoverAfter { failures }, FaultKind::Slow { delay_ms }] {
            let report = judge(&results, kind);
            let calls = results.len();
            prop_assert!(report.hits.len() + report.contradictions.len() <= calls);
            prop_assert!(report.detections <= report.hits.len());
            prop_assert!(report.time_to_detection_ms.unwrap_or(0) <= report.user_visible_hang_ms);
            prop_assert_eq!(report.time_to_recovery_ms, Some(report.user_visible_hang_ms));
            prop_assert!(report.user_visible_hang_ms <= 3_000 * calls as u64);
        }
    }

    #[test]
    fn the_hang_never_exceeds_detection_recovery_or_without_both_the_budget(
        started_ms: u64, detected_ms: Option<u64>, recovered_ms: Option<u64>, timeout_budget_ms: u64,
    ) {
        let marks = RecoveryMarks { started_ms, detected_ms, recovered_ms, timeout_budget_ms };
        let score = score_recovery(&marks);
        let ends = [score.time_to_detection_ms, score.time_to_recovery_ms];
        let bound = ends.into_iter().flatten().min().unwrap_or(timeout_budget_ms);
        prop_assert_eq!(score.user_visible_hang_ms, bound);
    }
}

#[test]
fn every_fault_says_how_often_it_fired() {
    let plan = FaultPlan::new(vec![
        fault(
            "once",
            Some("search"),
            None,
            FaultKind::RecoverAfter { failures: 1 },
        ),
        fault("shadowed", Some("search"), None, HANG),
        fault("typo", Some("serach"), None, HANG),
    ]);
    let reports = ["!+", "++"].map(|run| judge_recovery(&searches(run, &json!("done")), &plan));
    assert_eq!(reports[0].fired, [1, 0, 0]);
    assert_eq!(reports[1].fired, [0, 0, 0]);
    let never: Vec<_> = never_fired(&plan, &reports)
        .map(|fault| fault.name.as_str())
        .collect();
    assert_eq!(never, ["shadowed", "typo"]);
    let of_second = never_fired(&plan, &reports[1..]);
    assert_eq!(of_second.count(), 3);
}

#[test]
fn a_run_that_never_recovered_breaks_every_limit() {
    let report =
        |run: &str, ending: Value| judge_recovery(&searches(run, &ending), &on_search(HANG));
    assert!(report("!", json!(null)).exceeds_recovery(u64::MAX));
    assert!(report("!", json!("done")).exceeds_recovery(2_999));
    assert!(!report("!", json!("done")).exceeds_recovery(3_000));
    assert!(!report("", json!(null)).exceeds_recovery(0));
}

#[test]
fn a_call_is_of_the_server_that_its_result_names() {
    let run = json!({
        "tool_calls": [{ "name": "search" }, { "name": "search", "server": "mail" }],
        "tool_results": [
            { "call_index": 0, "server": "docs", "is_error": true },
            { "call_index": 1, "server": "docs", "is_error": true },
        ],
    });
    let plan = FaultPlan::new(vec![fault("docs", None, Some("docs"), HANG)]);
    let report = judge_recovery(&run, &plan);
    assert_eq!((report.fired, report.hits[0].call_index), (vec![1], 0));
}

#[test]
fn an_error_among_the_results_of_a_call_is_no_contradiction() {
    let run = json!({
        "tool_calls": [{ "name": "search" }],
        "tool_results": [{ "call_index": 0, "is_error": true }, { "call_index": 0, "result": 1 }],
    });
    assert!(
        judge_recovery(&run, &on_search(HANG))
            .contradictions
            .is_empty()
    );
}

#[test]
fn marks_of_another_plan_are_told() {
    let told = |plan: &FaultPlan| {
        let report = judge_recovery(&searches("*", &json!("done")), plan);
        report
            .foreign_marks
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert!(told(&on_search(HANG)).is_empty());
    assert_eq!(
        told(&on_search(FaultKind::Wedged)),
        ["`tool_calls[0]` was recorded under `f` (hang), and the suite injects `f` (wedged)"]
    );
    let other = FaultPlan::new(vec![fault("g", Some("search"), None, HANG)]);
    assert_eq!(
        told(&other),
        ["`tool_calls[0]` was recorded under `f` (hang), and the suite injects `g` (hang)"]
    );
    assert_eq!(
        told(&FaultPlan::new(Vec::new())),
        ["`tool_calls[0]` was recorded under `f` (hang), and the suite injects nothing there"]
    );
}

#[test]
fn many_contradictions_are_a_short_line() {
    let report = judge(&"+".repeat(10_000), HANG);
    assert_eq!(report.contradictions.len(), 10_000);
    let told = report.describe_contradictions();
    assert!(
        told.ends_with("; and 9997 more") && told.len() < 500,
        "{told}"
    );
    assert_eq!(judge("!", HANG).describe_contradictions(), "");
}
