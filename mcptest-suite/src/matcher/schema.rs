//! `schema`: a JSON Schema that what is found is valid against.

use serde_json::Value;

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, takes};
use crate::Node;
use crate::load::problems::Problems;
use crate::load::schema;
use crate::model::JsonSchema;
use mcptest_trace::text::short_json;

/// What is said of JSON Schemas wherever one may stand.
pub(super) const DESCRIPTION: &str = "A JSON Schema that the value must fit. A schema that every value fits is an error. \
    An unknown keyword is an error, and so is a `$ref` that points outside the schema. \
    A numeric bound without `type` demands a number.";

pub(super) enum Schema {}

impl Declared for Schema {
    type Value<S: Stage> = S::Schema;

    const KEY: &'static str = "schema";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = DESCRIPTION;
    const EXAMPLE: &'static str = "{ type: string }";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""a""#, "1"]);

    fn takes() -> Value {
        takes::json_schema()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<JsonSchema> {
        schema::read(node, problems)
    }

    fn asks<S: Stage>(schema: &S::Schema) -> Asks<'_, S> {
        Asks::Valid(schema)
    }

    fn prepare<R: Ready>(schema: &JsonSchema, with: &mut dyn Prepare<R>) -> Option<R::Schema> {
        with.schema_of_found(schema)
    }

    fn judge<R: Ready>(schema: &R::Schema, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        R::validate(schema, found)
    }

    fn phrase<R: Ready>(schema: &R::Schema) -> String {
        format!("to be {}", valid::<R>(schema))
    }
}

/// The words for what is valid against a schema.
pub(super) fn valid<R: Ready>(schema: &R::Schema) -> String {
    let schema = short_json(R::schema_json(schema));
    format!("valid against the schema {schema}")
}
