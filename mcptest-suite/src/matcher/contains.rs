//! `contains`, `contains-all`, `contains-any` and `icontains`: something somewhere in what is found.

use mcptest_trace::eval::{contains, contains_diffs};
use serde_json::Value;

use super::asks::Asks;
use super::compare::{comparable_below, lower_case};
use super::declared::{Declared, MatcherForm};
use super::needle::{self, Sought};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, takes};
use crate::Node;
use crate::load::problems::Problems;
use mcptest_trace::text::short_json;

pub(super) enum Contains {}

impl Declared for Contains {
    type Value<S: Stage> = Value;

    const KEY: &'static str = "contains";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target contains this value. Text: as a part of a text, at any depth. \
        Object: the target has each key, and its value contains yours. \
        List: each element equals an element of the target, a different one for each. \
        Single value: in an element of a list, or in a key of an object. \
        Number, `true` or `null` in a text: as a whole word.";
    const EXAMPLE: &'static str = "sunny";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""It is sunny""#, r#""It rains""#]);

    fn takes() -> Value {
        takes::needle()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Value> {
        needle::value(Self::KEY, Sought::Part, node, problems)
    }

    fn asks<S: Stage>(value: &Value) -> Asks<'_, S> {
        Asks::Part(value)
    }

    fn prepare<R: Ready>(value: &Value, with: &mut dyn Prepare<R>) -> Option<Value> {
        Some(with.value(value))
    }

    fn judge<R: Ready>(value: &Value, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        match comparable_below(value, found) {
            Ok(()) => MatcherVerdict::from_differences(contains_diffs(value, found), value),
            Err(reason) => MatcherVerdict::NotApplicable(vec![reason]),
        }
    }

    fn phrase<R: Ready>(value: &Value) -> String {
        format!("to contain {}", short_json(value))
    }
}

pub(super) enum ContainsAll {}

impl Declared for ContainsAll {
    type Value<S: Stage> = Vec<Value>;

    const KEY: &'static str = "contains-all";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target contains each of these.";
    const EXAMPLE: &'static str = "[warm, sunny]";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""warm and sunny""#, r#""warm""#]);

    fn takes() -> Value {
        takes::list_of(&takes::needle())
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Value>> {
        needle::list(Self::KEY, node, problems)
    }

    fn asks<S: Stage>(values: &Vec<Value>) -> Asks<'_, S> {
        Asks::Parts(values)
    }

    fn prepare<R: Ready>(values: &Vec<Value>, with: &mut dyn Prepare<R>) -> Option<Vec<Value>> {
        Some(values.iter().map(|value| with.value(value)).collect())
    }

    fn judge<R: Ready>(values: &Vec<Value>, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::all(values.iter().map(|expected| {
            let words = format!("without {}", short_json(expected));
            (words, contained(expected, found))
        }))
    }

    fn phrase<R: Ready>(values: &Vec<Value>) -> String {
        format!("to contain all of {}", list(values))
    }
}

pub(super) enum ContainsAny {}

impl Declared for ContainsAny {
    type Value<S: Stage> = Vec<Value>;

    const KEY: &'static str = "contains-any";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target contains at least one of these.";
    const EXAMPLE: &'static str = "[warm, sunny]";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""warm""#, r#""cold""#]);

    fn takes() -> Value {
        takes::list_of(&takes::needle())
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Vec<Value>> {
        needle::list(Self::KEY, node, problems)
    }

    fn asks<S: Stage>(values: &Vec<Value>) -> Asks<'_, S> {
        Asks::Parts(values)
    }

    fn prepare<R: Ready>(values: &Vec<Value>, with: &mut dyn Prepare<R>) -> Option<Vec<Value>> {
        Some(values.iter().map(|value| with.value(value)).collect())
    }

    fn judge<R: Ready>(values: &Vec<Value>, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::any(values.iter().map(|expected| contained(expected, found)))
    }

    fn phrase<R: Ready>(values: &Vec<Value>) -> String {
        format!("to contain any of {}", list(values))
    }
}

pub(super) enum Icontains {}

impl Declared for Icontains {
    type Value<S: Stage> = String;

    const KEY: &'static str = "icontains";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str =
        "The target contains this text. Upper and lower case are the same.";
    const EXAMPLE: &'static str = "sunny";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""SUNNY""#, r#""It rains""#]);

    fn takes() -> Value {
        takes::some_text()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<String> {
        needle::text(Self::KEY, node, problems)
    }

    fn asks<S: Stage>(_: &String) -> Asks<'_, S> {
        Asks::Letters
    }

    fn prepare<R: Ready>(text: &String, _: &mut dyn Prepare<R>) -> Option<String> {
        Some(text.clone())
    }

    fn judge<R: Ready>(text: &String, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        contained(&Value::String(text.to_lowercase()), &lower_case(found))
    }

    fn phrase<R: Ready>(text: &String) -> String {
        format!("to contain {text:?} in any case")
    }
}

fn contained(expected: &Value, found: &Value) -> MatcherVerdict {
    match comparable_below(expected, found) {
        Ok(()) => MatcherVerdict::from_bool(contains(expected, found)),
        Err(reason) => MatcherVerdict::NotApplicable(vec![reason]),
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(short_json).collect::<Vec<_>>().join(", ")
}
