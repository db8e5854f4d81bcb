//! Checks of the user's own in Rust: by the macro on a function, and by the builder.

use std::collections::BTreeMap;

use crate::sample::{expected, sample};
use crate::support::clerk::{SUITE, desk};
use crate::support::outcome::Outcome::{self, Failed, Ignored, Passed};
use crate::support::snapshot;

fn cases(cases: &[(&str, Outcome)]) -> BTreeMap<String, Outcome> {
    let owned = cases
        .iter()
        .map(|(name, outcome)| ((*name).to_owned(), *outcome));
    owned.collect()
}

#[test]
fn a_function_has_one_case_for_each_agent_test_of_the_suite() {
    let ran = sample().run("checks", &[]).exits(101);
    let wanted = cases(&[
        ("deeper::has_two_runs::night_watch", Ignored),
        ("deeper::has_two_runs::umbrella_advice", Failed),
        ("says_refunded::cart_agent", Failed),
        (
            "says_refunded::refund_agent_asks_first::claude_sonnet_4_5",
            Passed,
        ),
        ("says_refunded::refund_agent_asks_first::gpt_5", Passed),
    ]);
    assert_eq!(ran.outcomes(), wanted, "{ran}");
    let failures = ran.failures();
    let folder = &sample().folder;
    snapshot::assert(
        "check-returns-an-error",
        &failures["says_refunded::cart_agent"],
        folder,
    );
    let panicked = &failures["deeper::has_two_runs::umbrella_advice"];
    assert!(panicked.contains("a panic fails as well"), "{panicked}");
}

#[test]
fn the_builder_adds_a_case_to_each_agent_test_and_a_root_its_suites() {
    let ran = sample().run("builder", &[]).exits(101);
    let mut wanted = expected(|_| true);
    wanted.extend(cases(&[
        ("_2nd::type_::_4_eyes::says_refunded", Failed),
        ("_2nd::type_::straße_prüfen::says_refunded", Failed),
        ("shop::checkout::cart_agent::says_refunded", Failed),
        (
            "shop::checkout::refund_agent_asks_first::claude_sonnet_4_5::says_refunded",
            Passed,
        ),
        (
            "shop::checkout::refund_agent_asks_first::gpt_5::says_refunded",
            Passed,
        ),
        ("weather::night_watch::says_refunded", Ignored),
        ("weather::umbrella_advice::says_refunded", Failed),
        ("yard::clerk", Passed),
        ("yard::clerk::says_refunded", Failed),
    ]));
    assert_eq!(ran.outcomes(), wanted, "{ran}");
}

#[test]
fn a_check_without_recordings_leaves_the_reason_to_the_case_of_its_agent() {
    let folder = desk(SUITE);
    let failures = sample()
        .run_in(folder.path(), "builder", &[], &[])
        .exits(101)
        .failures();
    assert_eq!(
        failures["desk::clerk::says_refunded"].trim_end(),
        "not judged: the recordings of this agent cannot be used; see `desk::clerk` (no recorded run of `Clerk` was found)"
    );
}

#[test]
fn a_check_fails_with_the_same_words_by_either_way() {
    let by_macro = sample().run("checks", &[]).failures();
    let by_builder = sample().run("builder", &[]).failures();
    let without_last_line = |text: &str| {
        let (body, command) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(command.starts_with("run this case alone: "), "{text}");
        body.to_owned()
    };
    assert_eq!(
        without_last_line(&by_macro["says_refunded::cart_agent"]),
        without_last_line(&by_builder["shop::checkout::cart_agent::says_refunded"])
    );
}
