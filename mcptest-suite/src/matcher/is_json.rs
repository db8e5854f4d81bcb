//! `is-json`: a text that is JSON.

use serde_json::Value;

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::schema::valid;
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, optional_schema};
use crate::Node;
use crate::load::problems::Problems;
use crate::model::JsonSchema;

pub(super) enum IsJson {}

impl Declared for IsJson {
    type Value<S: Stage> = Option<S::Schema>;

    const KEY: &'static str = "is-json";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Alone;
    const DESCRIPTION: &'static str =
        "The target is a text that is JSON. You may give a schema that the JSON must fit.";
    const EXAMPLE: &'static str = "{ schema: { type: object } }";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""{}""#, r#""[]""#]);

    fn takes() -> Value {
        optional_schema::takes()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Option<JsonSchema>> {
        optional_schema::read("`is-json`", node, problems)
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
        MatcherVerdict::judge_text(found, |text| match serde_json::from_str(text) {
            Ok(parsed) => optional_schema::judge::<R>(schema.as_ref(), &parsed),
            Err(error) => MatcherVerdict::Fails(vec![format!("not JSON: {error}")]),
        })
    }

    fn phrase<R: Ready>(schema: &Option<R::Schema>) -> String {
        match schema {
            None => "to be JSON text".to_owned(),
            Some(schema) => format!("to be JSON text {}", valid::<R>(schema)),
        }
    }
}
