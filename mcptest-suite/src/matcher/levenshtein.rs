//! `levenshtein`: a text that is so many edits from another.

use serde_json::{Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, takes};
use crate::load::fields::Fields;
use crate::load::problems::Problems;
use crate::{Diagnostic, Node};

/// Texts are compared letter by letter only up to this many pairs of letters.
const PAIRS: usize = 25_000_000;

pub(super) enum Levenshtein {}

/// A text, and how far from it another may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Near {
    text: String,
    most: u64,
}

impl Declared for Levenshtein {
    type Value<S: Stage> = Near;

    const KEY: &'static str = "levenshtein";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str =
        "The target is a text, at most `max` edits away from `value`.";
    const EXAMPLE: &'static str = "{ value: sunny, max: 1 }";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""sunni""#, r#""funny day""#]);

    fn takes() -> Value {
        let (mut value, mut max) = (takes::text(), takes::count());
        value["description"] = "The text to compare with.".into();
        max["description"] =
            "The most edits that are allowed. The number must be smaller than the number of characters in `value`.".into();
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "value": value, "max": max },
            "required": ["value", "max"]
        })
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Near> {
        let mut fields = Fields::open(node, "`levenshtein`", problems)?;
        let value = fields
            .required("value", problems)
            .and_then(|node| problems.text(node));
        let max = fields
            .required("max", problems)
            .and_then(|node| problems.count(node, 0));
        fields.finish(problems);
        let (text, max) = (value?, max?);
        let length = text.chars().count();
        if max.value >= length as u64 {
            let message = format!("`max: {}` lets even the empty text pass", max.value);
            problems.push(
                Diagnostic::at(max.span, message)
                    .note(format!("`value` has {length} characters"))
                    .help("allow fewer edits than `value` has characters, or use `exact`"),
            );
        }
        let most = max.value;
        Some(Near { text, most })
    }

    fn asks<S: Stage>(_: &Near) -> Asks<'_, S> {
        Asks::Form
    }

    fn prepare<R: Ready>(near: &Near, _: &mut dyn Prepare<R>) -> Option<Near> {
        Some(near.clone())
    }

    fn judge<R: Ready>(near: &Near, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::judge_text(found, |text| distance(near, text))
    }

    fn phrase<R: Ready>(near: &Near) -> String {
        let Near { text, most } = near;
        format!("to be at most {most} edits from {text:?}")
    }
}

fn distance(near: &Near, text: &str) -> MatcherVerdict {
    let (left, right) = (near.text.chars().count(), text.chars().count());
    if left.abs_diff(right) as u64 > near.most {
        let difference = left.abs_diff(right);
        return MatcherVerdict::Fails(vec![format!("the lengths alone differ by {difference}")]);
    }
    if left.saturating_mul(right) > PAIRS {
        let reason =
            format!("{left} and {right} characters are too many to compare letter by letter");
        return MatcherVerdict::NotApplicable(vec![reason]);
    }
    match strsim::levenshtein(&near.text, text) {
        distance if distance as u64 <= near.most => MatcherVerdict::Holds,
        distance => MatcherVerdict::Fails(vec![format!("the distance is {distance}")]),
    }
}
