//! `not`, `allOf`, `anyOf` and `oneOf`, and matchers that have no verdict of their own below them.

use mcptest_suite::{Source, model::Suite};
use serde_json::json;

use super::{CheckOutcome, Compiler, accepts, check, details, no_snapshots};

#[test]
fn combinations_combine() {
    assert!(accepts("{ not: { exact: 1 } }", json!(2)));
    assert!(!accepts("{ not: { exact: 1 } }", json!(1)));
    assert!(accepts(
        "{ allOf: [{ contains: a }, { contains: b }] }",
        json!("ab")
    ));
    assert_eq!(
        details("{ allOf: [{ contains: a }, { contains: c }] }", json!("ab")),
        ["expected it to contain \"c\""]
    );
    assert!(accepts("{ anyOf: [{ exact: 1 }, { exact: 2 }] }", json!(2)));
    assert!(!accepts(
        "{ anyOf: [{ exact: 1 }, { exact: 2 }] }",
        json!(3)
    ));
    assert!(accepts("{ oneOf: [{ exact: 1 }, { exact: 2 }] }", json!(2)));
    assert!(!accepts(
        "{ oneOf: [{ contains: a }, { contains: b }] }",
        json!("ab")
    ));
    assert!(!accepts("{ oneOf: [{ exact: 1 }] }", json!(2)));
}

#[test]
fn what_a_matcher_cannot_read_is_not_refuted_either() {
    let calls = json!([{ "name": "refund", "args": { "n": 5 } }]);
    for matcher in [
        "{ not: { contains: { name: refund } } }",
        "{ not: { regex: refund } }",
        "{ not: { starts-with: refund } }",
        "{ not: { levenshtein: { value: refund, max: 1 } } }",
        "{ not: { contains-any: [{ name: pay }] } }",
        "{ not: { contains: 5 } }",
        "{ not: { anyOf: [{ regex: a }, { exact: 1 }] } }",
        "{ not: { allOf: [{ regex: a }, { contains: refund }] } }",
        "{ not: { not: { regex: refund } } }",
    ] {
        assert!(!accepts(matcher, calls.clone()), "{matcher}");
    }
    assert!(!accepts("{ not: { regex: '5' } }", json!(5)));
    // Text is looked for at any depth.
    assert!(!accepts("{ not: { contains: refund } }", calls.clone()));
    assert!(accepts("{ not: { contains: transfer } }", calls.clone()));
    // One alternative that can be read is enough.
    assert!(accepts("{ anyOf: [{ regex: a }, { exact: 5 }] }", json!(5)));
    assert!(accepts(
        "{ not: { allOf: [{ regex: a }, { exact: 6 }] } }",
        json!(5)
    ));
    assert!(accepts("{ not: { contains: true } }", json!([])));
}

#[test]
fn a_snapshot_is_not_refuted() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - { target: x, matcher: { not: { snapshot: {} } } }\n";
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
    let mut compiler = Compiler::default();
    compiler.compile_checks(&suite.agents[0].expect);
    assert_eq!(
        compiler.problems[0].message,
        "`snapshot` cannot be inside `not`"
    );
}

#[test]
fn a_model_has_the_last_word_only_where_the_rest_leaves_it() {
    let judged =
        |matcher: &str| match check("x", matcher).judge(&json!({ "x": "a" }), &no_snapshots) {
            CheckOutcome::Holds | CheckOutcome::HoldsOfNone => "holds",
            CheckOutcome::Fails(_) => "fails",
            CheckOutcome::Undecided("llm-judge") => "undecided",
            CheckOutcome::Undecided(other) => panic!("{other}"),
        };
    let model = "{ llm-judge: is it polite? }";
    for (matcher, verdict) in [
        (format!("{{ not: {model} }}"), "undecided"),
        (
            format!("{{ anyOf: [{{ exact: b }}, {model}] }}"),
            "undecided",
        ),
        (format!("{{ anyOf: [{{ exact: a }}, {model}] }}"), "holds"),
        (
            format!("{{ oneOf: [{{ exact: b }}, {model}] }}"),
            "undecided",
        ),
        (
            format!("{{ oneOf: [{{ exact: a }}, {model}] }}"),
            "undecided",
        ),
        (
            format!("{{ oneOf: [{{ exact: a }}, {{ regex: a }}, {model}] }}"),
            "fails",
        ),
        (
            format!("{{ anyOf: [{{ allOf: [{{ exact: a }}, {model}] }}] }}"),
            "undecided",
        ),
        (
            format!("{{ anyOf: [{{ allOf: [{{ exact: b }}, {model}] }}] }}"),
            "fails",
        ),
        (
            format!("{{ not: {{ allOf: [{{ exact: b }}, {model}] }} }}"),
            "holds",
        ),
        // Beside other matchers it is a demand of its own, which is listed as one.
        (format!("{{ allOf: [{{ exact: a }}, {model}] }}"), "holds"),
        (format!("{{ allOf: [{{ exact: b }}, {model}] }}"), "fails"),
        (
            format!("{{ allOf: [{{ exact: a }}, {{ not: {model} }}] }}"),
            "undecided",
        ),
    ] {
        assert_eq!(judged(&matcher), verdict, "{matcher}");
    }
}
