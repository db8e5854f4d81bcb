//! Matchers as a suite writes them, against values.

#![allow(
    clippy::needless_pass_by_value,
    reason = "tests read better with values in place"
)]

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
    let mut checks = compiler.checks(&suite.agents[0].expect);
    assert!(compiler.problems.is_empty(), "{:?}", compiler.problems);
    checks.pop().unwrap()
}

fn no_snapshots(_: &str, _: &Value) -> Result<(), Vec<String>> {
    Err(vec!["no snapshots here".to_owned()])
}

fn holds(check: &Check, root: &Value) -> bool {
    matches!(check.judge(root, &no_snapshots), CheckOutcome::Holds)
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
fn contains_looks_into_every_kind() {
    assert!(accepts("{ contains: lo wo }", json!("hello world")));
    assert!(accepts(
        "{ contains: { a: { b: ell } } }",
        json!({ "a": { "b": "hello", "c": 1 } })
    ));
    assert!(accepts("{ contains: [1, 2] }", json!([2, 3, 1])));
    assert!(!accepts("{ contains: [1, 1] }", json!([1, 2])));
    assert!(accepts(
        "{ contains: refund }",
        json!(["get", "refund_order"])
    ));
    assert!(!accepts("{ contains: refund }", json!(["get"])));
    assert!(accepts("{ contains: 3 }", json!([1, 3.0])));
}

#[test]
fn subset_is_recursive_for_objects_and_exact_for_the_rest() {
    assert!(accepts(
        "{ subset: { a: { b: 1 } } }",
        json!({ "a": { "b": 1, "c": 2 } })
    ));
    assert!(!accepts("{ subset: { a: [1] } }", json!({ "a": [1, 2] })));
    assert!(!accepts("{ subset: { a: ell } }", json!({ "a": "hello" })));
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
fn a_schema_bound_without_a_type_means_a_number() {
    assert!(accepts("{ schema: { minimum: 0.5 } }", json!(0.5)));
    assert!(!accepts("{ schema: { minimum: 0.5 } }", json!(0.49)));
    assert!(!accepts("{ schema: { minimum: 0.5 } }", json!("a lot")));
    assert!(accepts(
        "{ schema: { minimum: 0.5, type: string } }",
        json!("a lot")
    ));
}

#[test]
fn a_schema_without_a_type_says_nothing_of_other_kinds_in_its_favour() {
    for (schema, other) in [
        ("{ required: [city] }", json!("Oslo")),
        ("{ properties: { a: { type: integer } } }", json!([1])),
        ("{ pattern: '^a' }", json!(7)),
        ("{ minLength: 2 }", json!(null)),
        ("{ format: date }", json!(20_260_101)),
        ("{ minItems: 1 }", json!({ "a": 1 })),
        ("{ items: { type: string } }", json!("a")),
        ("{ additionalProperties: false }", json!([])),
    ] {
        let matcher = format!("{{ schema: {schema} }}");
        assert!(!accepts(&matcher, other.clone()), "{matcher} on {other}");
        let in_text = format!("{{ is-json: {{ schema: {schema} }} }}");
        let text = json!(other.to_string());
        assert!(!accepts(&in_text, text), "{in_text} on {other}");
    }
    assert!(accepts("{ schema: { required: [a] } }", json!({ "a": 1 })));
}

#[test]
fn a_schema_says_where_it_is_broken() {
    let schema = "{ schema: { required: [a], properties: { a: { type: integer } } } }";
    assert_eq!(
        details(schema, json!({ "a": "x" })),
        ["at `/a`: \"x\" is not of type \"integer\""]
    );
    assert_eq!(details(schema, json!({})), ["\"a\" is a required property"]);
}

#[test]
fn a_format_is_checked() {
    assert!(accepts("{ schema: { format: date } }", json!("2026-02-28")));
    assert!(!accepts(
        "{ schema: { format: date } }",
        json!("2026-02-30")
    ));
}

#[test]
fn lists_of_values_are_each_contained() {
    assert!(accepts(
        "{ contains-all: [hello, world] }",
        json!("hello world")
    ));
    assert_eq!(
        details("{ contains-all: [hello, moon] }", json!("hello")),
        ["without \"moon\""]
    );
    assert!(accepts(
        "{ contains-any: [moon, world] }",
        json!("hello world")
    ));
    assert!(!accepts(
        "{ contains-any: [moon, sun] }",
        json!("hello world")
    ));
}

#[test]
fn json_text_is_parsed_and_held_against_its_schema() {
    assert!(accepts("is-json", json!("{\"a\": 1}")));
    assert!(!accepts("is-json", json!("{a: 1}")));
    assert!(!accepts("is-json", json!({ "a": 1 })));
    assert!(accepts(
        "{ is-json: { schema: { type: object } } }",
        json!("{}")
    ));
    assert!(!accepts(
        "{ is-json: { schema: { type: array } } }",
        json!("{}")
    ));
}

#[test]
fn a_tool_call_has_a_name_and_an_object_of_arguments() {
    assert!(accepts(
        "is-valid-tools-call",
        json!({ "name": "a", "args": {} })
    ));
    assert!(accepts(
        "is-valid-tools-call",
        json!({ "name": "a", "arguments": {} })
    ));
    for wrong in [
        json!("a"),
        json!({ "name": 1, "args": {} }),
        json!({ "name": "a" }),
        json!({ "name": "a", "args": [] }),
    ] {
        assert!(!accepts("is-valid-tools-call", wrong));
    }
    let schema = "{ is-valid-tools-call: { schema: { required: [city] } } }";
    assert!(accepts(
        schema,
        json!({ "name": "a", "args": { "city": "Oslo" } })
    ));
    assert!(!accepts(schema, json!({ "name": "a", "args": {} })));
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
fn icontains_looks_at_any_depth() {
    let denied = json!({ "content": [{ "type": "text", "text": "Permission denied for user 7" }] });
    assert!(accepts(
        "{ icontains: 'permission DENIED' }",
        denied.clone()
    ));
    assert!(!accepts(
        "{ not: { icontains: 'permission denied' } }",
        denied.clone()
    ));
    assert!(accepts("{ not: { icontains: granted } }", denied));
    // Keys are not what was said.
    assert!(!accepts("{ icontains: text }", json!({ "Text": "a" })));
}

#[test]
fn a_scalar_is_looked_for_in_texts_as_its_json_text() {
    for (found, value) in [
        ("404", json!("order 404")),
        ("404", json!({ "content": [{ "text": "order 404" }] })),
        ("true", json!("it is true")),
        ("'404'", json!({ "code": 404 })),
        ("'404'", json!([200, 404])),
    ] {
        for matcher in [
            format!("{{ contains: {found} }}"),
            format!("{{ contains-any: [{found}, 9] }}"),
            format!("{{ contains-all: [{found}] }}"),
            format!("{{ anyOf: [{{ contains: {found} }}, {{ contains: 9 }}] }}"),
            format!("{{ oneOf: [{{ contains: {found} }}, {{ contains: 9 }}] }}"),
        ] {
            assert!(accepts(&matcher, value.clone()), "{matcher} on {value}");
            let negated = format!("{{ not: {matcher} }}");
            assert!(!accepts(&negated, value.clone()), "{negated} on {value}");
        }
    }
    assert!(accepts("{ not: { contains: 405 } }", json!("order 404")));
    assert!(!accepts("{ contains: 405 }", json!("order 404")));
    assert!(!accepts("{ not: { contains: [404] } }", json!(["404"])));
}

#[test]
fn what_cannot_be_a_subset_is_not_refuted_either() {
    for (wanted, value) in [
        ("{ a: 1 }", json!("text")),
        ("{ a: 1 }", json!([{ "a": 1 }])),
        ("{ a: 1 }", json!(null)),
        ("[1]", json!({ "a": [1] })),
        ("[1]", json!(1)),
        ("5", json!("5")),
        ("{ a: { b: 1 } }", json!({ "a": "b" })),
    ] {
        let (plain, negated) = (
            format!("{{ subset: {wanted} }}"),
            format!("{{ not: {{ subset: {wanted} }} }}"),
        );
        assert!(!accepts(&plain, value.clone()), "{plain} on {value}");
        assert!(!accepts(&negated, value.clone()), "{negated} on {value}");
    }
    assert_eq!(
        details("{ not: { subset: { a: 1 } } }", json!([])),
        ["a list cannot hold an object"]
    );
    assert_eq!(
        details("{ subset: { a: { b: 1 } } }", json!({ "a": "b" })),
        ["text cannot hold an object, at `a`"]
    );
    // What can be compared and differs is refuted.
    for (wanted, value) in [
        ("{ a: 1 }", json!({ "a": 2 })),
        ("{ a: 1 }", json!({ "b": 1 })),
        ("{ a: 1 }", json!({ "a": null })),
        ("{ a: { c: 1 }, b: 1 }", json!({ "a": "x", "b": 2 })),
        ("[1]", json!([2])),
    ] {
        let negated = format!("{{ not: {{ subset: {wanted} }} }}");
        assert!(accepts(&negated, value.clone()), "{negated} on {value}");
    }
}

#[test]
fn a_schema_that_does_not_compile_is_a_problem_of_the_suite() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: x\n    matcher: { not: { schema: { $id: '::not a uri', type: string } } }\n";
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text));
    let refused = suite.map_or(true, |suite| {
        let mut compiler = Compiler::default();
        compiler.checks(&suite.agents[0].expect).is_empty() && !compiler.problems.is_empty()
    });
    assert!(refused);
}

#[test]
fn a_snapshot_is_not_refuted() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - { target: x, matcher: { not: { snapshot: {} } } }\n";
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
    let mut compiler = Compiler::default();
    compiler.checks(&suite.agents[0].expect);
    assert_eq!(
        compiler.problems[0].message,
        "`snapshot` cannot stand below `not`"
    );
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
fn equal_schemas_are_compiled_once() {
    let matcher = "{ schema: { minimum: 1 } }";
    let text = format!(
        "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - {{ target: x, matcher: {matcher} }}\n  - {{ target: y, matcher: {matcher} }}\n"
    );
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
    let checks = Compiler::default().checks(&suite.agents[0].expect);
    let schemas = checks.iter().map(|check| match &check.matcher {
        super::compile::CompiledMatcher::Schema(schema) => std::sync::Arc::as_ptr(schema),
        _ => panic!("another matcher"),
    });
    let schemas: Vec<_> = schemas.collect();
    assert_eq!(schemas[0], schemas[1]);
}

#[test]
fn a_bad_pattern_is_a_problem_at_its_place() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: x\n    matcher: { regex: 'a(' }\n  - target: x\n    matcher: { schema: { pattern: '(?=a)' } }\n";
    let source = Source::new("a.yml", "a.yml", text);
    let suite = Suite::parse(source.clone()).unwrap();
    let mut compiler = Compiler::default();
    assert!(compiler.checks(&suite.agents[0].expect).is_empty());
    let places: Vec<&str> = compiler
        .problems
        .iter()
        .filter_map(|problem| Some(source.slice(problem.primary.as_ref()?.span)))
        .collect();
    assert_eq!(places, ["'a('", "'(?=a)'"]);
}

#[test]
fn a_model_has_the_last_word_only_where_the_rest_leaves_it() {
    let judged =
        |matcher: &str| match check("x", matcher).judge(&json!({ "x": "a" }), &no_snapshots) {
            CheckOutcome::Holds => "holds",
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

#[test]
fn what_a_schema_says_nothing_of_is_not_refuted_either() {
    for (schema, value) in [
        ("{ required: [error] }", json!("{\"error\": \"denied\"}")),
        ("{ minLength: 3 }", json!(7)),
        ("{ minimum: 3 }", json!("text")),
        ("{ allOf: [{ required: [id] }] }", json!([1])),
        (
            "{ anyOf: [{ required: [id] }, { minItems: 2 }] }",
            json!("x"),
        ),
        (
            "{ properties: { id: { minLength: 3 } } }",
            json!({ "id": 7 }),
        ),
    ] {
        let plain = format!("{{ schema: {schema} }}");
        let negated = format!("{{ not: {plain} }}");
        assert!(!accepts(&plain, value.clone()), "{plain} on {value}");
        assert!(!accepts(&negated, value.clone()), "{negated} on {value}");
    }
    assert!(!accepts(
        "{ not: { is-json: { schema: { required: [a] } } } }",
        json!("5")
    ));
    assert!(!accepts(
        "{ not: { is-valid-tools-call: true } }",
        json!("find")
    ));
    assert!(!accepts(
        "{ schema: { not: { minimum: 3 } } }",
        json!("text")
    ));
    // What it does say is refuted where it is broken.
    assert!(accepts(
        "{ not: { schema: { required: [error] } } }",
        json!({ "ok": 1 })
    ));
    assert!(accepts(
        "{ not: { schema: { type: object } } }",
        json!("text")
    ));
    assert!(accepts("{ not: { schema: { minimum: 3 } } }", json!(2)));
    assert!(accepts(
        "{ not: { is-valid-tools-call: true } }",
        json!({ "name": 7 })
    ));
}

#[test]
fn what_cannot_be_contained_deep_inside_is_not_refuted_either() {
    for (wanted, value) in [
        ("{ a: { b: 1 } }", json!({ "a": "text" })),
        ("{ a: [1] }", json!({ "a": { "x": 1 } })),
        (
            "{ a: { b: { c: 1 } }, d: 1 }",
            json!({ "a": { "b": 7 }, "d": 1 }),
        ),
    ] {
        let negated = format!("{{ not: {{ contains: {wanted} }} }}");
        assert!(!accepts(&negated, value.clone()), "{negated} on {value}");
    }
    // One difference that can be told decides.
    assert!(accepts(
        "{ not: { contains: { a: { b: 1 }, d: 1 } } }",
        json!({ "a": "text", "d": 2 })
    ));
    assert!(accepts("{ not: { contains: { a: 1 } } }", json!({})));
    assert!(accepts(
        "{ not: { contains: { a: 1 } } }",
        json!({ "a": 2 })
    ));
}
