//! What must be so of every matcher of the table. No matcher is named here, and none can be left out.

use mcptest_suite::matcher::{Asks, Matcher, MatcherForm, MatcherInfo, MatcherVerdict, matchers};
use mcptest_suite::{Source, model::Suite};
use serde_json::{Value, json};

use super::super::compile::Compiled;
use super::{Check, Compiler, check};

/// The example of a matcher, as a suite writes it.
fn example(info: &MatcherInfo) -> String {
    format!("{{ {}: {} }}", info.key, info.example)
}

/// The matchers that are run here, each with its example ready to judge.
fn run_here() -> impl Iterator<Item = (&'static MatcherInfo, Check)> {
    let run_here = matchers().iter();
    let run_here = run_here.filter(|info| info.form != MatcherForm::Unread);
    run_here.map(|info| (info, check("x", &example(info))))
}

/// A suite whose one assertion is a matcher of a target.
fn suite(target: &str, matcher: &str) -> Option<Suite> {
    let text = format!(
        "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: {target}\n    matcher: {matcher}\n"
    );
    Suite::parse(Source::new("a.yml", "a.yml", text)).ok()
}

/// What a matcher makes of a value; its snapshot accepts one text.
fn judged(check: &Check, value: &Value) -> MatcherVerdict {
    let snapshot = |_: Option<&str>, value: &Value| match value.as_str() {
        Some("accepted") => Ok(()),
        _ => Err(Vec::new()),
    };
    check.matcher.judge(value, &snapshot)
}

#[test]
fn a_matcher_that_can_read_no_number_is_refused_of_a_target_that_is_one() {
    let mut refused = 0;
    for (info, check) in run_here() {
        let numbers = [json!(0), json!(1), json!(2.5), json!(-7)];
        let reads_none = numbers
            .iter()
            .all(|number| matches!(judged(&check, number), MatcherVerdict::NotApplicable(_)));
        if reads_none {
            let loaded = suite("redundant_tool_calls", &example(info));
            assert!(loaded.is_none(), "`{}` holds of no number", info.key);
            refused += 1;
        }
    }
    // Else no number was one that a matcher cannot read.
    assert!(refused > 0);
}

#[test]
fn every_matcher_says_what_it_wants_in_words_of_its_own() {
    let phrases: Vec<String> = run_here()
        .map(|(_, check)| check.matcher.phrase())
        .collect();
    for (index, phrase) in phrases.iter().enumerate() {
        assert!(
            !phrase.is_empty() && !phrases[..index].contains(phrase),
            "{phrase}"
        );
    }
}

#[test]
fn every_example_holds_of_the_value_it_should_and_is_broken_by_the_other() {
    for (info, own) in run_here() {
        let [good, bad] = info
            .judged
            .unwrap_or_else(|| panic!("`{}` is run here", info.key));
        let [good, bad] = [good, bad].map(|value| serde_json::from_str(value).unwrap());
        assert_eq!(judged(&own, &good), MatcherVerdict::Holds, "{}", info.key);
        let broken = judged(&own, &bad);
        assert!(
            matches!(broken, MatcherVerdict::Fails(_)),
            "{}: {broken:?}",
            info.key
        );
        if own.matcher.has_snapshot() {
            continue;
        }
        let negated = check("x", &format!("{{ not: {} }}", example(info)));
        assert!(
            matches!(judged(&negated, &good), MatcherVerdict::Fails(_)),
            "{}",
            info.key
        );
        assert_eq!(
            judged(&negated, &bad),
            MatcherVerdict::Holds,
            "{}",
            info.key
        );
    }
    let of_models = matchers()
        .iter()
        .filter(|info| info.form == MatcherForm::Unread);
    for info in of_models {
        assert_eq!(info.judged, None, "{}", info.key);
    }
}

/// The values that a matcher compares.
fn compared(matcher: &Matcher<Compiled>) -> Vec<&Value> {
    match matcher.asks() {
        Asks::Exactly(value) | Asks::Whole(value) | Asks::Part(value) => vec![value],
        Asks::Parts(values) => values.iter().collect(),
        asks => asks.inner().iter().flat_map(compared).collect(),
    }
}

#[test]
fn every_matcher_of_values_takes_the_booleans_of_a_flag_for_the_numbers_they_mean() {
    let mut of_values = 0;
    for info in matchers() {
        for value in ["true", "[true]", "{ exact: true }", "[{ exact: true }]"] {
            let Some(suite) = suite("truncated", &format!("{{ {}: {value} }}", info.key)) else {
                continue;
            };
            for check in Compiler::default().compile_checks(&suite.agents[0].expect) {
                let compared = compared(&check.matcher);
                let booleans = compared.iter().filter(|value| value.is_boolean()).count();
                assert_eq!(booleans, 0, "`{}: {value}`", info.key);
                of_values += compared.len();
            }
        }
    }
    assert!(of_values > 0);
}
