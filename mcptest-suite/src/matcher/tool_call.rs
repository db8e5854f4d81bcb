//! `is-valid-tools-call`: an object that is a call of a tool.

use serde_json::Value;

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::schema::valid;
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, optional_schema};
use crate::Node;
use crate::load::problems::Problems;
use crate::model::JsonSchema;

pub(super) enum IsValidToolsCall {}

impl Declared for IsValidToolsCall {
    type Value<S: Stage> = Option<S::Schema>;

    const KEY: &'static str = "is-valid-tools-call";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Alone;
    const DESCRIPTION: &'static str = "The target is an object with `name`, and with an object `args` or `arguments`. You may give a schema that the arguments must fit.";
    const EXAMPLE: &'static str = "{ schema: { required: [city] } }";
    const JUDGED: Option<[&'static str; 2]> = Some([
        r#"{ "name": "find", "args": { "city": "Oslo" } }"#,
        r#"{ "name": "find", "args": {} }"#,
    ]);

    fn takes() -> Value {
        optional_schema::takes()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Option<JsonSchema>> {
        optional_schema::read("`is-valid-tools-call`", node, problems)
    }

    fn asks<S: Stage>(_: &Option<S::Schema>) -> Asks<'_, S> {
        Asks::Form
    }

    fn prepare<R: Ready>(
        schema: &Option<JsonSchema>,
        with: &mut dyn Prepare<R>,
    ) -> Option<Option<R::Schema>> {
        optional_schema::prepare(schema.as_ref(), with)
    }

    fn judge<R: Ready>(
        schema: &Option<R::Schema>,
        found: &Value,
        _: &Snapshots<'_>,
    ) -> MatcherVerdict {
        match arguments(found) {
            Ok(arguments) => optional_schema::judge::<R>(schema.as_ref(), arguments),
            Err(reason) if found.is_object() => MatcherVerdict::Fails(vec![reason.to_owned()]),
            Err(reason) => MatcherVerdict::NotApplicable(vec![reason.to_owned()]),
        }
    }

    fn phrase<R: Ready>(schema: &Option<R::Schema>) -> String {
        match schema {
            None => "to be a valid tool call".to_owned(),
            Some(schema) => format!("to be a tool call with arguments {}", valid::<R>(schema)),
        }
    }
}

fn arguments(found: &Value) -> Result<&Value, &'static str> {
    let call = found.as_object().ok_or("it is not an object")?;
    if !call.get("name").is_some_and(Value::is_string) {
        return Err("it has no `name` that is text");
    }
    let arguments = call.get("args").or_else(|| call.get("arguments"));
    arguments
        .filter(|arguments| arguments.is_object())
        .ok_or("it has no `args` or `arguments` that is an object")
}
