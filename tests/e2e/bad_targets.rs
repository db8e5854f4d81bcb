//! Target paths that lead nowhere fail whatever the matcher.

use crate::sample::{assert_fails, assert_passes};
use crate::support::clerk::{ONE, SUITE, counted, desk};

fn expecting(target: &str, matcher: &str) -> crate::support::folder::Folder {
    let suite = SUITE.replace("target: final_response", &format!("target: {target}"));
    let suite = suite.replace("{ contains: pens }", matcher);
    desk(&suite).with_run(ONE, &counted(3))
}

#[test]
fn a_typo_names_the_segment_and_what_is_there() {
    let text = assert_fails(
        "target-typo",
        &expecting("tool_calls[0].nam", "{ exact: count }"),
        "desk::clerk",
    );
    assert!(text.contains("nam"), "{text}");
}

#[test]
fn a_typo_under_not_fails_as_well() {
    assert_fails(
        "target-typo-under-not",
        &expecting("tool_calls[0].nam", "{ not: { exact: count } }"),
        "desk::clerk",
    );
    assert_passes(&expecting(
        "tool_calls[0].name",
        "{ not: { exact: weigh } }",
    ));
}

#[test]
fn an_index_past_the_end_fails_under_any_matcher() {
    for matcher in [
        "{ not: { contains: x } }",
        "{ regex: '.+' }",
        "{ schema: { type: string } }",
        "{ anyOf: [{ regex: '.+' }] }",
    ] {
        let ran =
            crate::sample::runner(expecting("tool_calls[7].name", matcher).path(), &[]).exits(101);
        assert_eq!(ran.only_failure().0, "desk::clerk", "{ran}");
    }
}

#[test]
fn null_is_a_value_and_does_not_accept_what_is_not_there() {
    let ran = crate::sample::runner(
        expecting("tool_calls[7].name", "{ exact: null }").path(),
        &[],
    )
    .exits(101);
    assert_eq!(ran.only_failure().0, "desk::clerk", "{ran}");
}

#[test]
fn an_unknown_root_is_a_problem_of_the_suite_or_of_the_run_but_never_a_pass() {
    let ran = crate::sample::runner(
        expecting("tol_calls.length", "{ not: { exact: 9 } }").path(),
        &[],
    )
    .exits(101);
    let (_, text) = ran.only_failure();
    assert!(
        text.contains("tool_calls"),
        "the nearest name is suggested:\n{text}"
    );
}
