//! The type that a schema without one implies.

use serde_json::{Map, Value};

/// What says itself which values it is about.
const SAYS_SO: [&str; 6] = [
    "type",
    "enum",
    "const",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
];

/// Keywords about values of one type.
const ABOUT: [(&str, &str); 4] = [
    (
        "object",
        "required properties patternProperties additionalProperties propertyNames minProperties \
         maxProperties dependentRequired dependentSchemas dependencies unevaluatedProperties",
    ),
    (
        "array",
        "items prefixItems additionalItems contains minItems maxItems uniqueItems minContains \
         maxContains unevaluatedItems",
    ),
    ("string", "pattern minLength maxLength format"),
    (
        "number",
        "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    ),
];

/// Keywords that hold a schema.
const ONE: [&str; 8] = [
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "then",
    "else",
];

/// Keywords that hold a list of schemas.
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];

/// Keywords that hold schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// The schema with the types that it implies written down.
pub(super) fn with_types(schema: &Value) -> Value {
    let mut schema = schema.clone();
    write_implied_types(&mut schema);
    schema
}

fn write_implied_types(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(implied) = implied_type(map) {
        map.insert("type".to_owned(), implied);
    }
    for (key, value) in map.iter_mut() {
        let holds = |keys: &[&str]| keys.contains(&key.as_str());
        match value {
            Value::Object(_) if holds(&ONE) => write_implied_types(value),
            Value::Array(schemas) if holds(&LISTS) => {
                schemas.iter_mut().for_each(write_implied_types);
            }
            Value::Object(schemas) if holds(&NAMED) => {
                schemas.values_mut().for_each(write_implied_types);
            }
            _ => {}
        }
    }
}

fn implied_type(map: &Map<String, Value>) -> Option<Value> {
    if SAYS_SO.iter().any(|key| map.contains_key(*key)) {
        return None;
    }
    let about =
        |(_, keywords): &&(&str, &str)| keywords.split(' ').any(|key| map.contains_key(key));
    let types: Vec<Value> = ABOUT
        .iter()
        .filter(about)
        .map(|(name, _)| Value::from(*name))
        .collect();
    (!types.is_empty()).then_some(Value::Array(types))
}

#[cfg(test)]
mod tests {
    use crate::eval::Schema;
    use serde_json::{Value, json};

    fn accepts(schema: Value, value: impl Into<Value>) -> bool {
        Schema::new(schema).accepts(&value.into())
    }

    #[test]
    fn what_a_schema_cannot_judge_it_does_not_accept() {
        for schema in [
            json!({ "required": ["id"] }),
            json!({ "properties": { "id": {} } }),
            json!({ "additionalProperties": false }),
            json!({ "propertyNames": { "pattern": "^x" } }),
            json!({ "pattern": "^x" }),
            json!({ "minLength": 3 }),
            json!({ "format": "email" }),
            json!({ "minItems": 1 }),
            json!({ "items": { "type": "string" } }),
            json!({ "contains": { "const": 1 } }),
            json!({ "minimum": 3 }),
            json!({ "allOf": [{ "required": ["id"] }] }),
            json!({ "anyOf": [{ "required": ["id"] }, { "required": ["name"] }] }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "minLength": 3 } } }),
        ] {
            assert!(!accepts(schema.clone(), json!(true)), "{schema}");
            assert!(!accepts(schema.clone(), json!(null)), "{schema}");
        }
        assert!(!accepts(
            json!({ "required": ["id"] }),
            json!("{\"id\": 1}")
        ));
        assert!(accepts(json!({ "required": ["id"] }), json!({ "id": 1 })));
    }

    #[test]
    fn it_goes_for_what_is_said_of_properties_and_items() {
        let schema = json!({ "properties": { "tags": { "items": { "minLength": 2 } } } });
        assert!(accepts(schema.clone(), json!({ "tags": ["ab"] })));
        assert!(!accepts(schema.clone(), json!({ "tags": "ab" })));
        assert!(!accepts(schema.clone(), json!({ "tags": [12] })));
        assert!(accepts(schema, json!({})));
    }

    #[test]
    fn keywords_about_several_types_allow_each_of_them() {
        let schema = json!({ "minLength": 2, "minimum": 10 });
        assert!(accepts(schema.clone(), json!("ab")) && accepts(schema.clone(), json!(10)));
        assert!(!accepts(schema.clone(), json!(9)) && !accepts(schema, json!([])));
    }

    #[test]
    fn what_says_its_values_itself_is_left_as_it_is() {
        assert!(accepts(
            json!({ "type": ["object", "null"], "required": ["id"] }),
            json!(null)
        ));
        assert!(accepts(
            json!({ "enum": [null, "abc"], "minLength": 2 }),
            json!(null)
        ));
        assert!(accepts(
            json!({ "not": { "required": ["error"] } }),
            json!({})
        ));
        assert!(!accepts(
            json!({ "not": { "required": ["error"] } }),
            json!("text")
        ));
        assert!(accepts(json!({ "description": "anything" }), json!(7)));
        assert!(accepts(json!({}), json!(7)) && !accepts(json!(false), json!(7)));
    }
}
