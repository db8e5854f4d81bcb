//! `starts-with` and `ends-with`: how a text begins and ends.

use serde_json::Value;

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, needle, takes};
use crate::Node;
use crate::load::problems::Problems;

pub(super) enum StartsWith {}

impl Declared for StartsWith {
    type Value<S: Stage> = String;

    const KEY: &'static str = "starts-with";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target starts with this text.";
    const EXAMPLE: &'static str = "It is";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""It is sunny""#, r#""Sunny, it is""#]);

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
        MatcherVerdict::judge_text(found, |found| {
            MatcherVerdict::from_bool(found.starts_with(text))
        })
    }

    fn phrase<R: Ready>(text: &String) -> String {
        format!("to start with {text:?}")
    }
}

pub(super) enum EndsWith {}

impl Declared for EndsWith {
    type Value<S: Stage> = String;

    const KEY: &'static str = "ends-with";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target ends with this text.";
    const EXAMPLE: &'static str = "sunny.";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""It is sunny.""#, r#""It is sunny""#]);

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
        MatcherVerdict::judge_text(found, |found| {
            MatcherVerdict::from_bool(found.ends_with(text))
        })
    }

    fn phrase<R: Ready>(text: &String) -> String {
        format!("to end with {text:?}")
    }
}
