//! `min`, `max` and `between`: bounds of a number, both included.

use serde_json::{Number, Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, takes};
use crate::load::problems::Problems;
use crate::load::values;
use crate::model::compare_numbers;
use crate::{Diagnostic, Node, NodeValue};

pub(super) enum Min {}

impl Declared for Min {
    type Value<S: Stage> = Number;

    const KEY: &'static str = "min";
    const OTHER_WORDS: &'static [&'static str] = &["minimum", "at-least", "gte"];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target is a number, at least this.";
    const EXAMPLE: &'static str = "1";
    const JUDGED: Option<[&'static str; 2]> = Some(["1", "0.5"]);

    fn takes() -> Value {
        takes::number()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Number> {
        number(node, problems)
    }

    fn asks<S: Stage>(least: &Number) -> Asks<'_, S> {
        let (least, most) = (Some(least), None);
        Asks::Bounds { least, most }
    }

    fn prepare<R: Ready>(least: &Number, _: &mut dyn Prepare<R>) -> Option<Number> {
        Some(least.clone())
    }

    fn judge<R: Ready>(least: &Number, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::judge_number(found, |found| compare_numbers(found, least).is_ge())
    }

    fn phrase<R: Ready>(least: &Number) -> String {
        format!("to be at least {least}")
    }
}

pub(super) enum Max {}

impl Declared for Max {
    type Value<S: Stage> = Number;

    const KEY: &'static str = "max";
    const OTHER_WORDS: &'static [&'static str] = &["maximum", "at-most", "lte"];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target is a number, at most this.";
    const EXAMPLE: &'static str = "1";
    const JUDGED: Option<[&'static str; 2]> = Some(["1", "1.5"]);

    fn takes() -> Value {
        takes::number()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Number> {
        number(node, problems)
    }

    fn asks<S: Stage>(most: &Number) -> Asks<'_, S> {
        let (least, most) = (None, Some(most));
        Asks::Bounds { least, most }
    }

    fn prepare<R: Ready>(most: &Number, _: &mut dyn Prepare<R>) -> Option<Number> {
        Some(most.clone())
    }

    fn judge<R: Ready>(most: &Number, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::judge_number(found, |found| compare_numbers(found, most).is_le())
    }

    fn phrase<R: Ready>(most: &Number) -> String {
        format!("to be at most {most}")
    }
}

pub(super) enum Between {}

impl Declared for Between {
    /// The least and the most.
    type Value<S: Stage> = [Number; 2];

    const KEY: &'static str = "between";
    const OTHER_WORDS: &'static [&'static str] = &["range"];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str =
        "The target is a number from the first to the second, both included.";
    const EXAMPLE: &'static str = "[1, 5]";
    const JUDGED: Option<[&'static str; 2]> = Some(["5", "5.5"]);

    fn takes() -> Value {
        json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": takes::number() })
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<[Number; 2]> {
        let Some([least, most]) = node.items() else {
            let message = format!(
                "`between` needs a lowest and a highest number, found {}",
                node.describe()
            );
            problems
                .push(Diagnostic::at(node.span, message).help("write e.g. `{ between: [1, 5] }`"));
            return None;
        };
        let [low, high] = [least, most].map(|node| number(node, problems));
        let (low, high) = (low?, high?);
        if compare_numbers(&low, &high).is_gt() {
            problems.push(
                Diagnostic::new("nothing is between these two: the first is above the second")
                    .label(least.span, "at least this")
                    .secondary_label(most.span, "and at most this")
                    .help("swap the two, or correct one of them"),
            );
            return None;
        }
        Some([low, high])
    }

    fn asks<S: Stage>([least, most]: &[Number; 2]) -> Asks<'_, S> {
        let (least, most) = (Some(least), Some(most));
        Asks::Bounds { least, most }
    }

    fn prepare<R: Ready>(bounds: &[Number; 2], _: &mut dyn Prepare<R>) -> Option<[Number; 2]> {
        Some(bounds.clone())
    }

    fn judge<R: Ready>(
        [least, most]: &[Number; 2],
        found: &Value,
        _: &Snapshots<'_>,
    ) -> MatcherVerdict {
        MatcherVerdict::judge_number(found, |found| {
            compare_numbers(found, least).is_ge() && compare_numbers(found, most).is_le()
        })
    }

    fn phrase<R: Ready>([least, most]: &[Number; 2]) -> String {
        format!("to be from {least} to {most}")
    }
}

fn number(node: &Node, problems: &mut Problems) -> Option<Number> {
    values::check(node, problems);
    if let NodeValue::Number(number, _) = &node.value {
        return Some(number.clone());
    }
    problems.number_expected("a number", node);
    None
}
