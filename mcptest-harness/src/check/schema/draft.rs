//! The draft that a schema is read by.
//!
//! What a schema says is first checked against the meta-schema of its draft. That of 2020-12 is one of
//! nine parts that refer to each other: to compile it takes longer than most cases, and under nextest
//! each case is a process. That of draft 7 takes a quarter of that.

use serde_json::Value;

/// Keywords without a schema that mean in draft 7 what they mean in 2020-12.
const ALIKE: &str = "const default description enum examples exclusiveMaximum exclusiveMinimum maxItems \
    maxLength maxProperties maximum minItems minLength minProperties minimum multipleOf \
    pattern required title type uniqueItems";

/// Whether draft 7 and 2020-12 take a schema for the same. One that says which it is written in, that
/// refers to others or names a format is left to the draft that it means.
pub(super) fn is_alike_in_draft7(schema: &Value) -> bool {
    let Value::Object(map) = schema else {
        return schema.is_boolean();
    };
    map.iter().all(|(key, value)| match key.as_str() {
        "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then" => is_alike_in_draft7(value),
        "allOf" | "anyOf" | "oneOf" => {
            let schemas = value.as_array();
            schemas.is_some_and(|schemas| schemas.iter().all(is_alike_in_draft7))
        }
        "patternProperties" | "properties" => {
            let schemas = value.as_object();
            schemas.is_some_and(|schemas| schemas.values().all(is_alike_in_draft7))
        }
        other => ALIKE.split(' ').any(|alike| alike == other),
    })
}

#[cfg(test)]
mod tests {
    use jsonschema::Draft;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::is_alike_in_draft7;

    /// What is said of a value by a schema that is read by a draft; `None` where it is malformed.
    fn schema_errors(schema: &Value, draft: Draft, value: &Value) -> Option<Vec<(String, String)>> {
        let validator = jsonschema::options().with_draft(draft).build(schema).ok()?;
        let errors = validator.iter_errors(value);
        let said = errors.map(|error| (error.instance_path().to_string(), error.to_string()));
        Some(said.collect())
    }

    #[test]
    fn what_the_drafts_take_differently_is_left_to_its_own() {
        for differs in [
            json!({ "$schema": "http://json-schema.org/draft-04/schema#" }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": {} } }),
            json!({ "definitions": {} }),
            json!({ "dependencies": {} }),
            json!({ "dependentRequired": {} }),
            json!({ "format": "uuid" }),
            json!({ "items": [{}] }),
            json!({ "minContains": 2, "contains": {} }),
            json!({ "prefixItems": [{}] }),
            json!({ "unevaluatedProperties": false }),
            json!({ "properties": { "a": { "not": { "prefixItems": [{}] } } } }),
            json!({ "anyOf": [{ "$anchor": "a" }] }),
            json!(3),
        ] {
            assert!(!is_alike_in_draft7(&differs), "{differs}");
        }
        assert!(is_alike_in_draft7(
            &json!({ "required": ["order"], "properties": { "step": { "maximum": 20 } } })
        ));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3..4_i64).prop_map(Value::from),
            (-3..4_i32).prop_map(|number| json!(f64::from(number) / 2.0)),
            "[ab]{0,3}".prop_map(Value::from),
            prop::sample::select(&["string", "integer", "object", "array"][..])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[ab]{1,2}", inner), 0..4)
                    .prop_map(|entries| entries.into_iter().collect()),
            ]
        })
    }

    /// Schemas of the keywords that are alike, many of them malformed.
    fn schema() -> impl Strategy<Value = Value> {
        let alike: Vec<&str> = super::ALIKE.split(' ').collect();
        let plain = (prop::sample::select(alike), value());
        let plain = prop::collection::vec(plain, 0..3);
        let plain = plain.prop_map(|entries| {
            let entries = entries.into_iter();
            entries
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Value>()
        });
        plain.prop_recursive(3, 12, 3, |inner| {
            let one = [
                "additionalProperties",
                "contains",
                "else",
                "if",
                "items",
                "not",
                "propertyNames",
                "then",
            ];
            let one = (prop::sample::select(one.to_vec()), inner.clone())
                .prop_map(|(key, schema)| json!({ key: schema }));
            let list = prop::sample::select(&["allOf", "anyOf", "oneOf"][..]);
            let list = (list, prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(key, schemas)| json!({ key: schemas }));
            let named = prop::sample::select(&["patternProperties", "properties"][..]);
            let named = (named, "[ab]{1,2}", inner.clone())
                .prop_map(|(key, name, schema)| json!({ key: { name: schema } }));
            (inner, prop_oneof![one, list, named]).prop_map(|(mut schema, more)| {
                if let (Value::Object(schema), Value::Object(more)) = (&mut schema, more) {
                    schema.extend(more);
                }
                schema
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn both_drafts_say_the_same(schema in schema(), value in value()) {
            prop_assert!(is_alike_in_draft7(&schema));
            let newest = schema_errors(&schema, Draft::Draft202012, &value);
            prop_assert_eq!(schema_errors(&schema, Draft::Draft7, &value), newest);
        }
    }
}
