//! A JSON Schema that may stand below a matcher's key, and need not: of `is-json` and
//! `is-valid-tools-call`.

use serde_json::{Value, json};

use super::schema::DESCRIPTION;
use super::stage::{Prepare, Ready};
use super::{MatcherVerdict, takes};
use crate::load::fields::Fields;
use crate::load::problems::Problems;
use crate::load::schema;
use crate::model::JsonSchema;
use crate::{Node, NodeValue};

/// Nothing, or options with the schema.
pub(super) fn takes() -> Value {
    let mut schema = takes::json_schema();
    schema["description"] = DESCRIPTION.into();
    json!({ "anyOf": [
        { "type": ["null", "boolean"] },
        {
            "type": "object",
            "additionalProperties": false,
            "properties": { "schema": schema }
        }
    ] })
}

/// Reads the options of `owner`, a key as messages quote it.
pub(super) fn read(
    owner: &'static str,
    node: &Node,
    problems: &mut Problems,
) -> Option<Option<JsonSchema>> {
    if matches!(node.value, NodeValue::Null | NodeValue::Bool(true)) {
        return Some(None);
    }
    let mut fields = Fields::open(node, owner, problems)?;
    let schema = fields.get("schema");
    fields.finish(problems);
    match schema {
        None => Some(None),
        Some(node) => schema::read(node, problems).map(Some),
    }
}

/// Makes the schema ready, where there is one.
pub(super) fn prepare<R: Ready>(
    schema: Option<&JsonSchema>,
    with: &mut dyn Prepare<R>,
) -> Option<Option<R::Schema>> {
    match schema {
        None => Some(None),
        Some(schema) => with.schema_of_part(schema).map(Some),
    }
}

/// Whether a part of what is found is valid; without a schema it is.
pub(super) fn judge<R: Ready>(schema: Option<&R::Schema>, part: &Value) -> MatcherVerdict {
    schema.map_or(MatcherVerdict::Holds, |schema| R::validate(schema, part))
}
