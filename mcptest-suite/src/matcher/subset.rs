//! `subset`: all that a value says, its parts by their values.

use serde_json::{Value, json};

use super::asks::Asks;
use super::compare::{self, Subset as Compared};
use super::declared::{Declared, MatcherForm};
use super::needle::{self, Sought};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots};
use crate::Node;
use crate::load::problems::Problems;
use mcptest_trace::text::short_json;

pub(super) enum Subset {}

impl Declared for Subset {
    type Value<S: Stage> = Value;

    const KEY: &'static str = "subset";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target has every key of this object, recursively. Lists and single values must be equal.";
    const EXAMPLE: &'static str = "{ city: Oslo }";
    const JUDGED: Option<[&'static str; 2]> =
        Some([r#"{ "city": "Oslo", "days": 3 }"#, r#"{ "city": "Rome" }"#]);

    fn takes() -> Value {
        json!({ "not": { "enum": [null, {}] } })
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Value> {
        needle::value(Self::KEY, Sought::Whole, node, problems)
    }

    fn asks<S: Stage>(value: &Value) -> Asks<'_, S> {
        Asks::Whole(value)
    }

    fn prepare<R: Ready>(value: &Value, with: &mut dyn Prepare<R>) -> Option<Value> {
        Some(with.value(value))
    }

    fn judge<R: Ready>(value: &Value, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        match compare::subset(value, found) {
            Compared::Holds => MatcherVerdict::Holds,
            Compared::Fails => MatcherVerdict::Fails(Vec::new()),
            Compared::NotComparable(reason) => MatcherVerdict::NotApplicable(vec![reason]),
        }
    }

    fn phrase<R: Ready>(value: &Value) -> String {
        format!("to hold the subset {}", short_json(value))
    }
}
