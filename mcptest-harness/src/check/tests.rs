//! Matchers as a suite writes them, against values.

#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with values in place"
)]

mod combined;
mod contained;
mod schemas;
mod table;

use mcptest_suite::{Source, model::Suite};
use serde_json::{Value, json};

use super::{Check, CheckOutcome, Compiler, Found};

/// Compiles `{ target: x, matcher: … }`.
fn check(target: &str, matcher: &str) -> Check {
    let text = format!(
        "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: {target}\n    matcher: {matcher}\n"
    );
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
    let mut compiler = Compiler::default();
    let mut checks = compiler.compile_checks(&suite.agents[0].expect);
    assert!(compiler.problems.is_empty(), "{:?}", compiler.problems);
    checks.pop().unwrap()
}

fn no_snapshots(_: &str, _: &Value) -> Result<(), Vec<String>> {
    Err(vec!["no snapshots here".to_owned()])
}

fn holds(check: &Check, root: &Value) -> bool {
    let outcome = check.judge(root, &no_snapshots);
    matches!(outcome, CheckOutcome::Holds | CheckOutcome::HoldsOfNone)
}

/// Whether a matcher accepts a value at a target.
fn accepts(matcher: &str, value: Value) -> bool {
    holds(&check("x", matcher), &json!({ "x": value }))
}

/// Whether a matcher accepts a path that leads nowhere.
fn accepts_nothing(matcher: &str) -> bool {
    holds(&check("y", matcher), &json!({ "x": 1 }))
}

/// What is said to be different.
fn details(matcher: &str, value: Value) -> Vec<String> {
    let root = json!({ "x": value });
    match check("x", matcher).judge(&root, &no_snapshots) {
        CheckOutcome::Fails(mismatch) => mismatch.details,
        other => panic!("{other:?}"),
    }
}

#[test]
fn exact_compares_numbers_by_value_and_kinds_strictly() {
    assert!(accepts("{ exact: 1 }", json!(1.0)));
    assert!(accepts(
        "{ exact: { a: [1, two, null] } }",
        json!({ "a": [1, "two", null] })
    ));
    assert!(!accepts("{ exact: 1 }", json!("1")));
    assert!(!accepts("{ exact: [1, 2] }", json!([2, 1])));
}

#[test]
fn text_matchers_read_text_only() {
    assert!(accepts("{ regex: '^a+$' }", json!("aaa")));
    assert!(!accepts("{ regex: '^a+$' }", json!("aab")));
    assert_eq!(
        details("{ regex: '1' }", json!(1)),
        ["this matcher reads text only"]
    );
    assert!(accepts("{ starts-with: he }", json!("hello")));
    assert!(!accepts("{ starts-with: He }", json!("hello")));
    assert!(accepts("{ icontains: WORLD }", json!("Hello World")));
    assert!(accepts("{ icontains: STRASSE }", json!(["die strasse"])));
}

#[test]
fn levenshtein_counts_edits_and_refuses_what_is_too_long() {
    assert!(accepts(
        "{ levenshtein: { value: kitten, max: 3 } }",
        json!("sitting")
    ));
    assert_eq!(
        details(
            "{ levenshtein: { value: kitten, max: 2 } }",
            json!("sitting")
        ),
        ["the distance is 3"]
    );
    let long = "x".repeat(6_000);
    let matcher = format!("{{ levenshtein: {{ value: {long}, max: 9 }} }}");
    assert!(details(&matcher, json!("y".repeat(6_000)))[0].contains("too many"));
}

#[test]
fn bounds_include_their_ends_and_read_numbers_only() {
    assert!(accepts("{ min: 2 }", json!(2.0)) && !accepts("{ min: 2 }", json!(1.9)));
    assert!(accepts("{ max: 2 }", json!(2)) && !accepts("{ max: 2 }", json!(3)));
    for (number, inside) in [(0, false), (1, true), (5, true), (6, false)] {
        assert_eq!(accepts("{ between: [1, 5] }", json!(number)), inside);
        assert_eq!(
            accepts("{ not: { between: [1, 5] } }", json!(number)),
            !inside
        );
    }
    let most = format!("{{ min: {} }}", u64::MAX);
    assert!(accepts(&most, json!(u64::MAX)) && !accepts(&most, json!(u64::MAX - 1)));
    for value in [json!("9"), json!(true), json!(null), json!([9])] {
        for matcher in ["{ min: 1 }", "{ max: 99 }", "{ between: [1, 99] }"] {
            assert!(!accepts(matcher, value.clone()), "{matcher} {value}");
            let negated = format!("{{ not: {matcher} }}");
            assert!(!accepts(&negated, value.clone()), "{negated} {value}");
        }
    }
}

#[test]
fn no_matcher_accepts_a_path_that_leads_nowhere() {
    for matcher in [
        "{ exact: 1 }",
        "{ exact: null }",
        "{ not: { exact: 1 } }",
        "{ not: { exact: null } }",
        "{ contains: x }",
        "{ anyOf: [{ exact: 1 }, { exact: null }] }",
        "{ oneOf: [{ exact: 1 }, { exact: null }] }",
        "{ allOf: [{ exact: null }] }",
        "{ schema: { type: string } }",
    ] {
        assert!(!accepts_nothing(matcher), "{matcher}");
    }
    assert!(accepts("{ exact: null }", json!(null)));
}

#[test]
fn a_path_that_leads_nowhere_is_named_and_not_compared() {
    let root = json!({ "x": 1 });
    let check = check("xx", "{ not: { exact: 1 } }");
    let CheckOutcome::Fails(mismatch) = check.judge(&root, &no_snapshots) else {
        panic!("it holds")
    };
    let Found::Nothing(unresolved) = mismatch.found else {
        panic!("it resolved")
    };
    assert_eq!(unresolved.nearest.as_deref(), Some("x"));
    assert!(mismatch.details.is_empty());
}

#[test]
fn what_holds_of_no_item_says_so_unless_it_asks_for_none() {
    let root = json!({ "x": [], "y": [{ "z": [] }] });
    let of_none = |target: &str, matcher: &str| {
        let check = check(target, matcher);
        matches!(check.judge(&root, &no_snapshots), CheckOutcome::HoldsOfNone)
    };
    assert!(of_none("'x[*].b'", "{ not: { contains: true } }"));
    assert!(of_none("'y[*].z[*].b'", "{ not: { contains: true } }"));
    assert!(of_none("'x[*].b'", "{ schema: { items: { const: 1 } } }"));
    assert!(!of_none("'x[*].b'", "{ exact: [] }"));
    assert!(!of_none(
        "'x[*].b'",
        "{ anyOf: [{ exact: [] }, { not: { contains: 1 } }] }"
    ));
    assert!(!of_none("x", "{ not: { contains: true } }"));
    assert!(!of_none("'y[*].z.length'", "{ not: { contains: 1 } }"));
}

#[test]
fn a_bad_pattern_is_a_problem_at_its_place() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: x\n    matcher: { regex: 'a(' }\n  - target: x\n    matcher: { schema: { pattern: '(?=a)' } }\n";
    let source = Source::new("a.yml", "a.yml", text);
    let suite = Suite::parse(source.clone()).unwrap();
    let mut compiler = Compiler::default();
    assert!(compiler.compile_checks(&suite.agents[0].expect).is_empty());
    let places: Vec<&str> = compiler
        .problems
        .iter()
        .filter_map(|problem| Some(source.slice(problem.primary.as_ref()?.span)))
        .collect();
    assert_eq!(places, ["'a('", "'(?=a)'"]);
}

/// Whether the flag `truncated` holds to a matcher.
fn truncated(matcher: &str, value: Value) -> bool {
    holds(&check("truncated", matcher), &json!({ "truncated": value }))
}

#[test]
fn a_flag_reads_as_a_number_and_as_a_boolean() {
    for (matcher, set) in [
        ("{ exact: true }", true),
        ("{ exact: 1 }", true),
        ("{ exact: false }", false),
        ("{ exact: 0 }", false),
        ("{ not: { exact: 0 } }", true),
        ("{ not: { exact: true } }", false),
        ("{ anyOf: [{ exact: 1 }, { exact: true }] }", true),
        ("{ schema: { const: true } }", true),
        ("{ schema: { type: boolean, enum: [false] } }", false),
        ("{ schema: { minimum: 1 } }", true),
        ("{ not: { schema: { const: 1 } } }", false),
    ] {
        for value in [json!(set), json!(u8::from(set))] {
            assert!(truncated(matcher, value.clone()), "{matcher} on {value}");
        }
        for value in [json!(!set), json!(u8::from(!set))] {
            assert!(!truncated(matcher, value.clone()), "{matcher} on {value}");
        }
    }
    // Other targets keep their kinds.
    assert!(!accepts("{ exact: 1 }", json!(true)));
}
