//! Which calls are judged, and which may not be made at all.

use serde_json::json;

use super::*;

fn over_writes(mode: MatchMode, calls: &[ExpectedCall]) -> ExpectedTrace {
    ExpectedTrace {
        over: Over::Writes,
        ..plan(mode, calls)
    }
}

fn forbidding(mode: MatchMode, expected: &[&str], forbid: &[&str]) -> ExpectedTrace {
    let calls: Vec<_> = expected.iter().map(|name| any(name)).collect();
    ExpectedTrace {
        forbid: forbid.iter().copied().map(ToolPattern::new).collect(),
        ..plan(mode, &calls)
    }
}

/// Where other calls may be made, only those of some tools may.
#[test]
fn calls_beside_the_plan_are_of_the_tools_that_are_allowed() {
    let run = json!({ "tool_calls": [
        { "name": "get_order" }, { "name": "refund" }, { "name": "add_note" }, { "name": "refund" },
    ]});
    let allowing = |mode, allow: &[&str]| {
        let mut plan = over_writes(mode, &[any("refund")]);
        plan.allow = Some(allow.iter().copied().map(ToolPattern::new).collect());
        validate_trace(&run, &plan)
    };
    for mode in [Subsequence, Unordered, Superset] {
        assert!(allowing(mode, &["refund", "add_*"]).passed);
        let report = allowing(mode, &["refund"]);
        assert_eq!(
            reasons(&report),
            ["`tool_calls[2]` `add_note`: not in the plan, and not under `allow`"]
        );
        assert_eq!(allowing(mode, &["send_mail"]).mismatch_count, 2);
    }
}

#[test]
fn a_planned_call_may_fail_before_it_succeeds_and_may_succeed_once() {
    let judged = |first: bool| {
        let run = json!({
            "tool_calls": [{ "name": "refund" }, { "name": "refund" }],
            "tool_results": [
                { "call_index": 0, "is_error": first },
                { "call_index": 1, "is_error": false },
            ],
        });
        let plans = [Subsequence, Unordered, Superset].into_iter();
        let reports = plans.map(|mode| {
            let mut plan = over_writes(mode, &[any("refund")]);
            plan.allow = Some(vec![ToolPattern::new("add_note")]);
            validate_trace(&run, &plan)
        });
        reports
            .map(|report| reasons(&report).join("; "))
            .collect::<Vec<_>>()
    };
    assert_eq!(judged(true), ["", "", ""]);
    let said =
        "`tool_calls[1]` `refund`: beyond the planned calls of this tool, and not under `allow`";
    assert_eq!(judged(false), [said; 3]);
}

#[test]
fn exactly_these_calls_are_counted_as_often_as_they_are_expected() {
    let report = judge(ExactUnordered, &["a", "b"], &["b", "a", "b"]);
    assert_eq!(
        reasons(&report),
        ["the run may make only the expected calls, and also makes \
          `tool_calls[2]` `b`: made more often than expected"]
    );
    let report = judge(ExactUnordered, &["a", "a", "b"], &["a", "b"]);
    assert_eq!(
        reasons(&report),
        ["`calls[1]` `a`: every call that fits it already matches another expected call"]
    );
    let report = judge(ExactUnordered, &["a"], &["x"]);
    assert_eq!(
        reasons(&report),
        [
            "`calls[0]` `a`: never called",
            "the run may make only the expected calls, and also makes \
             `tool_calls[0]` `x`: no such call is expected",
        ]
    );
}

#[test]
fn a_call_with_other_arguments_is_one_mismatch_of_exactly_these_calls() {
    let run = json!({ "tool_calls": [
        { "name": "book", "args": { "seats": 9 } },
        { "name": "book", "args": { "seats": 2 } },
        { "name": "book", "args": { "seats": 3 } },
    ]});
    let seats = |seats: u8| exact("book", json!({ "seats": seats }));
    let report = validate_trace(
        &run,
        &plan(ExactUnordered, &[seats(1), any("book"), seats(2)]),
    );
    assert_eq!(report.mismatch_count, 1);
    assert_eq!(
        reasons(&report),
        [
            "`calls[0]` `book`: closest is `tool_calls[2]`, but the arguments of `book` differ at `args.seats`"
        ]
    );
    let errors = ExpectedCall {
        is_error: Some(true),
        ..any("book")
    };
    assert!(
        !validate_trace(
            &run,
            &plan(ExactUnordered, &[errors, any("book"), any("book")])
        )
        .passed
    );
}

#[test]
fn a_plan_over_writes_names_calls_by_their_place_in_the_whole_run() {
    let run = json!({ "tool_calls": [
        { "name": "get_order" },
        { "name": "cancel_order", "args": { "order": "A1" } },
        { "name": "get_order" },
        { "name": "refund_order" },
    ]});
    let wanted = exact("cancel_order", json!({ "order": "A2" }));
    let report = validate_trace(
        &run,
        &over_writes(
            Strict,
            &[wanted.clone(), any("refund_order"), any("notify")],
        ),
    );
    assert_eq!(
        reasons(&report),
        [
            "position 0: the arguments of `cancel_order` differ at `args.order`",
            "position 2: expected `notify`, but the run ended after 2 state-changing calls",
        ]
    );
    assert_eq!(report.mismatches[0].recorded_index, Some(1));
    assert_eq!(
        report.alignment,
        [
            (Some(0), None),
            (None, Some(1)),
            (Some(1), Some(3)),
            (Some(2), None)
        ]
    );
    let report = validate_trace(&run, &over_writes(Strict, &[any("cancel_order")]));
    assert_eq!(
        reasons(&report),
        ["1 state-changing call beyond the 1 expected, the first is `refund_order`"]
    );
    for mode in MODES {
        let report = validate_trace(
            &run,
            &over_writes(mode, &[any("cancel_order"), any("refund_order")]),
        );
        assert!(report.passed, "{mode:?}");
    }
    let report = validate_trace(
        &run,
        &over_writes(Subsequence, &[any("refund_order"), any("cancel_order")]),
    );
    assert_eq!(
        reasons(&report),
        [
            "`calls[1]` `cancel_order`: not called after `tool_calls[3]`; `tool_calls[1]` fits, but is out of order"
        ]
    );
}

#[test]
fn what_is_recorded_of_a_tool_says_whether_it_is_judged() {
    let run = names(&["get_lock", "audit", "cancel_order"]);
    let plan = over_writes(Strict, &[any("get_lock"), any("cancel_order")]);
    assert!(!validate_trace(&run, &plan).passed);
    let recorded = |name: &str, read_only| {
        let mut tool = crate::trace::OfferedTool::from_line(name);
        tool.read_only = Some(read_only);
        tool
    };
    let offered = [
        recorded("desk::audit(id)", true),
        recorded("get_lock", false),
    ];
    let tools = ReadOnlyTools::new(&offered, [], []);
    assert!(validate_trace_with(&run, &plan, &tools).unwrap().passed);
}

#[test]
fn a_read_that_is_expected_over_writes_is_missing() {
    let plan = over_writes(Superset, &[any("get_order")]);
    assert!(!validate_trace(&names(&["get_order"]), &plan).passed);
}

#[test]
fn a_call_of_a_forbidden_tool_is_a_mismatch_in_every_mode() {
    let run = names(&["a", "delete_order", "delete_all"]);
    for mode in MODES {
        let plan = forbidding(mode, &["a", "delete_order", "delete_all"], &["delete_*"]);
        let report = validate_trace(&run, &plan);
        assert_eq!(
            reasons(&report),
            [
                "`tool_calls[1]` `delete_order`: forbidden by `delete_*`",
                "`tool_calls[2]` `delete_all`: forbidden by `delete_*`",
            ],
            "{mode:?}"
        );
        assert!(!report.passed);
        assert!(
            validate_trace(
                &names(&["a"]),
                &forbidding(mode, &["a"], &["delete_*", "b"])
            )
            .passed
        );
    }
}

#[test]
fn a_forbidden_read_is_a_mismatch_over_writes_too() {
    let plan = ExpectedTrace {
        over: Over::Writes,
        ..forbidding(Strict, &["cancel_order"], &["get_secret"])
    };
    let report = validate_trace(&names(&["get_secret", "cancel_order"]), &plan);
    assert_eq!(
        reasons(&report),
        ["`tool_calls[0]` `get_secret`: forbidden"]
    );
}
