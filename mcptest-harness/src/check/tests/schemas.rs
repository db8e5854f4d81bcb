//! Matchers that hold a value against a JSON Schema, or against the shape of a tool call.

use mcptest_suite::{Source, matcher::Asks, model::Suite};
use serde_json::json;

use super::{Compiler, accepts, details};

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
fn a_schema_that_does_not_compile_is_a_problem_of_the_suite() {
    let text = "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - target: x\n    matcher: { not: { schema: { $id: '::not a uri', type: string } } }\n";
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text));
    let refused = suite.map_or(true, |suite| {
        let mut compiler = Compiler::default();
        compiler.compile_checks(&suite.agents[0].expect).is_empty() && !compiler.problems.is_empty()
    });
    assert!(refused);
}

#[test]
fn equal_schemas_are_compiled_once() {
    let matcher = "{ schema: { minimum: 1 } }";
    let text = format!(
        "agents:\n- name: a\n  model: m\n  prompt: p\n  expect:\n  - {{ target: x, matcher: {matcher} }}\n  - {{ target: y, matcher: {matcher} }}\n"
    );
    let suite = Suite::parse(Source::new("a.yml", "a.yml", text)).unwrap();
    let checks = Compiler::default().compile_checks(&suite.agents[0].expect);
    let schemas = checks.iter().map(|check| match check.matcher.asks() {
        Asks::Valid(schema) => std::sync::Arc::as_ptr(&schema.schema),
        other => panic!("another matcher: {other:?}"),
    });
    let schemas: Vec<_> = schemas.collect();
    assert_eq!(schemas[0], schemas[1]);
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
