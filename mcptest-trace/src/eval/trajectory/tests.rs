mod parallel;
mod properties;
mod scope;

use serde_json::{Value, json};

use super::*;
use crate::eval::Metrics;
use crate::trace::Trace;
use MatchMode::{ExactUnordered, Strict, Subsequence, Subset, Superset, Unordered};

const MODES: [MatchMode; 6] = [
    Strict,
    Subsequence,
    Unordered,
    Superset,
    Subset,
    ExactUnordered,
];

fn any(name: &str) -> ExpectedCall {
    ExpectedCall::new(name, ArgsShape::Any)
}

fn exact(name: &str, args: Value) -> ExpectedCall {
    ExpectedCall::new(name, ArgsShape::Exact(args))
}

/// Of a plan whose schemas are well formed.
fn validate_trace<S: ArgsCheck>(
    run: &(impl AsTrace + ?Sized),
    expected: &ExpectedTrace<S>,
) -> TrajectoryReport {
    super::validate_trace(run, expected).unwrap()
}

fn plan(mode: MatchMode, calls: &[ExpectedCall]) -> ExpectedTrace {
    ExpectedTrace::new(mode, calls.to_vec())
}

fn names(names: &[&str]) -> Value {
    let calls: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "tool_calls": calls })
}

fn judge(mode: MatchMode, expected: &[&str], recorded: &[&str]) -> TrajectoryReport {
    let expected: Vec<_> = expected.iter().map(|name| any(name)).collect();
    validate_trace(&names(recorded), &plan(mode, &expected))
}

fn reasons(report: &TrajectoryReport) -> Vec<&str> {
    let mismatches = report.mismatches.iter();
    mismatches
        .map(|mismatch| mismatch.reason.as_str())
        .collect()
}

#[test]
fn the_same_calls_hold_in_every_mode() {
    for mode in MODES {
        let report = judge(mode, &["a", "b", "a"], &["a", "b", "a"]);
        assert!(report.passed, "{mode:?}");
        assert_eq!(
            report.alignment,
            [0, 1, 2].map(|index| (Some(index), Some(index)))
        );
        assert_eq!(
            report.metrics(),
            json!({ "trajectory": { "passed": 1, "mismatch_count": 0 } })
        );
    }
}

#[test]
fn modes_differ_in_what_they_tolerate() {
    let passing = |expected: &[&str], recorded: &[&str]| {
        MODES.map(|mode| judge(mode, expected, recorded).passed)
    };
    // strict, subsequence, unordered, superset, subset, exact_unordered
    assert_eq!(
        passing(&["a", "b"], &["a", "x", "b"]),
        [false, true, true, true, false, false]
    );
    assert_eq!(
        passing(&["a", "b"], &["b", "a"]),
        [false, false, true, true, true, true]
    );
    assert_eq!(
        passing(&["a", "b"], &["b"]),
        [false, false, false, false, true, false]
    );
    assert_eq!(
        passing(&["a"], &["a", "a"]),
        [false, true, true, true, false, false]
    );
    assert_eq!(
        passing(&["a"], &[]),
        [false, false, false, false, true, false]
    );
}

#[test]
fn an_empty_plan_holds_except_where_it_allows_no_call() {
    let passing = |recorded: &[&str]| MODES.map(|mode| judge(mode, &[], recorded).passed);
    assert_eq!(passing(&["a"]), [true, true, true, true, false, false]);
    assert_eq!(passing(&[]), [true; 6]);
}

#[test]
fn a_greedy_choice_does_not_spoil_a_possible_matching() {
    let calls = [any("search"), exact("search", json!({ "q": "x" }))];
    let run = json!({ "tool_calls": [
        { "name": "search", "args": { "q": "x" } },
        { "name": "search", "args": { "q": "y" } },
    ]});
    for mode in [Unordered, Superset, Subset, ExactUnordered] {
        let report = validate_trace(&run, &plan(mode, &calls));
        assert!(report.passed, "{mode:?}");
        assert_eq!(report.alignment, [(Some(1), Some(0)), (Some(0), Some(1))]);
    }
    assert!(!validate_trace(&run, &plan(Subsequence, &calls)).passed);
}

#[test]
fn the_longest_alignment_counts_not_the_first_fit() {
    // Taking the first `b` would leave only `b, d`.
    let report = judge(Subsequence, &["b", "a", "c", "d"], &["a", "c", "b", "d"]);
    assert_eq!(report.mismatch_count, 1);
    assert_eq!(report.mismatches[0].expected_index, Some(0));
}

#[test]
fn strict_counts_positions_missing_calls_and_one_surplus() {
    let report = judge(Strict, &["a", "b", "c", "d"], &["a", "x"]);
    assert_eq!(report.mismatch_count, 3);
    assert_eq!(
        reasons(&report),
        [
            "position 1: expected `b`, recorded `x`",
            "position 2: expected `c`, but the run ended after 2 calls",
            "position 3: expected `d`, but the run ended after 2 calls",
        ]
    );
    let report = judge(Strict, &["a"], &["b", "x", "y"]);
    assert_eq!(report.mismatch_count, 2);
    assert_eq!(
        reasons(&report)[1],
        "2 calls beyond the 1 expected, the first is `x`"
    );
}

#[test]
fn a_strict_diff_is_drawn_as_the_longest_alignment() {
    let report = judge(Strict, &["a", "b"], &["x", "a", "b"]);
    assert_eq!(report.mismatch_count, 3);
    assert_eq!(
        report.alignment,
        [(None, Some(0)), (Some(0), Some(1)), (Some(1), Some(2))]
    );
}

#[test]
fn what_is_missing_is_drawn_before_what_came_instead() {
    let report = judge(Strict, &["a", "b", "c"], &["a", "x", "c"]);
    assert_eq!(
        report.alignment,
        [
            (Some(0), Some(0)),
            (Some(1), None),
            (None, Some(1)),
            (Some(2), Some(2))
        ]
    );
}

#[test]
fn argument_differences_have_paths_below_args() {
    let run = json!({ "tool_calls": [
        { "name": "book", "args": { "flight": { "from": "SFO", "seats": [1] } } },
    ]});
    let expected = json!({ "flight": { "from": "JFK", "seats": [1.0] } });
    for mode in [Strict, Subsequence, Unordered, Superset] {
        let report = validate_trace(&run, &plan(mode, &[exact("book", expected.clone())]));
        let [mismatch] = report.mismatches.as_slice() else {
            panic!("{report:?}")
        };
        assert_eq!(mismatch.recorded_index, Some(0));
        assert_eq!(
            mismatch.arg_diffs[0].to_string(),
            r#"`args.flight.from`: expected "JFK", recorded "SFO""#
        );
        assert!(
            mismatch.reason.contains("differ at `args.flight.from`"),
            "{}",
            mismatch.reason
        );
    }
}

#[test]
fn argument_shapes_decide_as_the_seed_says() {
    let run = json!({ "tool_calls": [{ "name": "t", "args": { "a": "hello", "n": 1 } }] });
    let holds =
        |shape| validate_trace(&run, &plan(Strict, &[ExpectedCall::new("t", shape)])).passed;
    assert!(holds(ArgsShape::Any));
    assert!(holds(ArgsShape::Ignore));
    assert!(holds(ArgsShape::Exact(json!({ "n": 1.0, "a": "hello" }))));
    assert!(!holds(ArgsShape::Exact(json!({ "a": "hello" }))));
    assert!(holds(ArgsShape::Contains(json!({ "a": "hell" }))));
    assert!(!holds(ArgsShape::Subset(json!({ "a": "hell" }))));
    assert!(holds(ArgsShape::Subset(json!({ "a": "hello" }))));
    assert!(!holds(ArgsShape::Subset(json!({ "b": null }))));
}

struct Positive;

impl ArgsCheck for Positive {
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff> {
        if recorded["n"].as_i64().is_some_and(|n| n > 0) {
            return Vec::new();
        }
        vec![ArgDiff {
            path: "n".to_owned(),
            expected: Some(json!({ "exclusiveMinimum": 0 })),
            recorded: recorded.get("n").cloned(),
        }]
    }
}

#[test]
fn a_schema_is_whatever_check_is_plugged_in() {
    let run = json!({ "tool_calls": [{ "name": "t", "args": { "n": 0 } }] });
    let calls = vec![ExpectedCall::new("t", ArgsShape::Schema(Positive))];
    let report = validate_trace(&run, &ExpectedTrace::new(Unordered, calls));
    assert_eq!(report.mismatches[0].arg_diffs[0].path, "args.n");
}

#[test]
fn an_expected_error_needs_a_result_that_says_so() {
    let run = json!({
        "tool_calls": [{ "name": "t" }, { "name": "t" }, { "name": "t" }],
        "tool_results": [
            { "call_index": 0, "is_error": true },
            { "call_index": 1, "is_error": false },
        ],
    });
    let wanting = |is_error| ExpectedCall {
        is_error,
        ..any("t")
    };
    let strict = |calls: &[ExpectedCall]| validate_trace(&run, &plan(Strict, calls));
    assert!(strict(&[wanting(Some(true)), wanting(Some(false)), wanting(None)]).passed);
    let report = strict(&[
        wanting(Some(false)),
        wanting(Some(true)),
        wanting(Some(false)),
    ]);
    assert_eq!(
        reasons(&report),
        [
            "position 0: the result of `t` should be a success, but it is an error",
            "position 1: the result of `t` should be an error, but it is a success",
            "position 2: the result of `t` should be a success, but there is no result",
        ]
    );
}

#[test]
fn superset_and_subset_state_their_direction_in_words() {
    let report = judge(Superset, &["a", "b"], &["a"]);
    assert_eq!(
        reasons(&report),
        ["an expected call is missing: `calls[1]` `b`: never called"]
    );
    let report = judge(Subset, &["a"], &["a", "a", "b"]);
    assert_eq!(
        reasons(&report),
        [
            "the run may make only the expected calls, and also makes \
             `tool_calls[1]` `a`: made more often than expected",
            "the run may make only the expected calls, and also makes \
             `tool_calls[2]` `b`: no such call is expected",
        ]
    );
    assert_eq!(report.mismatches[1].expected_index, None);
}

#[test]
fn a_missing_call_says_where_it_was_looked_for() {
    let report = judge(Subsequence, &["a", "b", "c"], &["b", "a", "c"]);
    assert_eq!(report.mismatch_count, 1);
    let reason = reasons(&report)[0].to_owned();
    assert!(reason.ends_with("fits, but is out of order"), "{reason}");
    let report = judge(Subsequence, &["a", "b"], &["a", "c"]);
    assert_eq!(
        reasons(&report),
        ["`calls[1]` `b`: not called after `tool_calls[0]`"]
    );
}

#[test]
fn the_closest_call_is_the_one_that_differs_least() {
    let run = json!({ "tool_calls": [
        { "name": "book", "args": { "from": "LAX", "to": "BOS", "seats": 2 } },
        { "name": "book", "args": { "from": "JFK", "to": "BOS", "seats": 1 } },
    ]});
    let wanted = json!({ "from": "JFK", "to": "BOS", "seats": 2 });
    for mode in [Subsequence, Unordered] {
        let report = validate_trace(&run, &plan(mode, &[exact("book", wanted.clone())]));
        assert_eq!(
            reasons(&report),
            [
                "`calls[0]` `book`: closest is `tool_calls[0]`, but the arguments of `book` differ at `args.from`"
            ]
        );
    }
    let report = validate_trace(&run, &plan(Subset, &[exact("book", wanted)]));
    assert_eq!(report.mismatch_count, 2);
    assert_eq!(report.mismatches[0].expected_index, Some(0));
    assert_eq!(report.mismatches[0].arg_diffs[0].path, "args.from");
}

#[test]
fn the_typed_trace_and_the_envelope_give_the_same_report() {
    let envelope = names(&["a", "x"]);
    let plan = plan(Strict, &[any("a"), any("b")]);
    let typed = Trace::from_envelope(&envelope);
    assert_eq!(
        validate_trace(&typed, &plan),
        validate_trace(&envelope, &plan)
    );
    assert!(!validate_trace(&json!("not an envelope"), &plan).passed);
}

#[test]
fn a_thousand_calls_against_a_thousand() {
    let count = 1000;
    let calls = (0..count).map(|n| json!({ "name": "t", "args": { "n": count - 1 - n } }));
    let run = json!({ "tool_calls": calls.collect::<Vec<_>>() });
    // The first half accepts anything, so a greedy matching would have to be undone.
    let expected: Vec<_> = (0..count)
        .map(|n| {
            if n < count / 2 {
                any("t")
            } else {
                exact("t", json!({ "n": n }))
            }
        })
        .collect();
    assert!(validate_trace(&run, &plan(Unordered, &expected)).passed);
    assert!(validate_trace(&run, &plan(Subset, &expected)).passed);
    // In order, an exact call leaves no room for all of those before it.
    assert_eq!(
        validate_trace(&run, &plan(Subsequence, &expected)).mismatch_count,
        count / 2
    );
    let none: Vec<_> = (0..count)
        .map(|n| exact("t", json!({ "n": count + n })))
        .collect();
    assert_eq!(
        validate_trace(&run, &plan(Unordered, &none)).mismatch_count,
        count
    );
}

#[test]
fn a_call_without_arguments_is_one_with_an_empty_object() {
    let holds = |args: ArgsShape, call: Value| {
        let plan = ExpectedTrace::new(MatchMode::Strict, vec![ExpectedCall::new("a", args)]);
        let report = super::validate_trace(&json!({ "tool_calls": [call] }), &plan);
        report.unwrap().passed
    };
    let bare = || json!({ "name": "a" });
    assert!(holds(ArgsShape::Exact(json!({})), bare()));
    assert!(holds(ArgsShape::Exact(json!(null)), bare()));
    assert!(holds(ArgsShape::Subset(json!({})), bare()));
    assert!(!holds(ArgsShape::Exact(json!({ "x": 1 })), bare()));
    assert!(!holds(ArgsShape::Subset(json!({ "x": 1 })), bare()));
    // Text is no object, whatever it says.
    let text = || json!({ "name": "a", "args": "x" });
    assert!(!holds(ArgsShape::Exact(json!({})), text()));
}
