//! What is contained in a value, or a subset of it.

use serde_json::json;

use super::{accepts, details};

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
