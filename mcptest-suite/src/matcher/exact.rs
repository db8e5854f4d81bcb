//! `exact`: equal to a value.

use mcptest_trace::eval::exact_diffs;
use serde_json::{Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots};
use crate::Node;
use crate::load::problems::Problems;
use crate::load::values;
use mcptest_trace::text::short_json;

pub(super) enum Exact {}

impl Declared for Exact {
    type Value<S: Stage> = Value;

    const KEY: &'static str = "exact";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::ValueOrNull;
    const DESCRIPTION: &'static str = "The target equals this value; 1 equals 1.0. To ask for `null`, write `null`: an empty place is an error.";
    const EXAMPLE: &'static str = "1";
    const JUDGED: Option<[&'static str; 2]> = Some(["1.0", "2"]);

    fn takes() -> Value {
        json!({})
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Value> {
        Some(values::read(node, problems))
    }

    fn asks<S: Stage>(value: &Value) -> Asks<'_, S> {
        Asks::Exactly(value)
    }

    fn prepare<R: Ready>(value: &Value, with: &mut dyn Prepare<R>) -> Option<Value> {
        Some(with.value(value))
    }

    fn judge<R: Ready>(value: &Value, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::from_differences(exact_diffs(value, found), value)
    }

    fn phrase<R: Ready>(value: &Value) -> String {
        format!("to be exactly {}", short_json(value))
    }
}
