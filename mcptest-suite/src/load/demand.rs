//! Demands on a gate's targets that no run can decide: their numbers are of another unit, or out of
//! the target's range.

use std::collections::HashSet;

use serde_json::{Number, Value};

use mcptest_trace::eval::{Measure, Unit};
use mcptest_trace::text::misspelt;

use super::bounds::{BoundSide, NumberBound, SIDES, schema_bounds, without_float_noise};
use super::problems::{Problems, did_you_mean};
use super::schema::{Schemas, subschemas};
use crate::matcher::{Demand, Join, Matcher};
use crate::model::{Assertion, JsonSchema, Segment};
use crate::{Diagnostic, Node, Span};

/// Keywords of a schema that ask nothing of a number that is there.
const ASK_NOTHING: [&str; 7] = [
    "type",
    "title",
    "description",
    "default",
    "examples",
    "$comment",
    "$schema",
];

/// The target that an assertion is checked against.
#[derive(Clone, Copy)]
struct CheckedTarget<'a> {
    /// The path as it is written.
    path: &'a str,
    target: Measure,
    /// Below a `not` or an `if`, where a most asks for more than it.
    negated: bool,
    /// Other words than the known ones may be recorded, so only a misspelt one is a mistake.
    other_words: bool,
}

/// Notes what an assertion asks of its target that never or always holds. `rest` is what the path
/// has after the target's name.
pub fn check(assertion: &Assertion, target: &Measure, rest: &[Segment], problems: &mut Problems) {
    checked_target(assertion, target, rest).matcher(&assertion.matcher, problems);
}

/// Notes what an assertion asks of a word that never or always holds. Recordings may have other words than the
/// known ones.
pub(super) fn check_word(assertion: &Assertion, target: &Measure, problems: &mut Problems) {
    let looked = CheckedTarget {
        other_words: true,
        ..checked_target(assertion, target, &[])
    };
    looked.matcher(&assertion.matcher, problems);
}

fn checked_target<'a>(
    assertion: &'a Assertion,
    target: &Measure,
    rest: &[Segment],
) -> CheckedTarget<'a> {
    let mut target = *target;
    match rest {
        [Segment::Key(_)] => {
            let (better, meaning) = (target.better, target.meaning);
            target = Measure::new(target.name, Unit::Count).at_least(1.0);
            (target.better, target.meaning) = (better, meaning);
        }
        [Segment::Index(_)] => target.list = false,
        _ => {}
    }
    CheckedTarget {
        path: &assertion.target.text,
        target,
        negated: false,
        other_words: false,
    }
}

impl CheckedTarget<'_> {
    fn matcher(&self, matcher: &Matcher, problems: &mut Problems) {
        let span = matcher.span();
        let facts = matcher.asks().facts();
        match facts.demand {
            Demand::Value(Value::Array(values)) | Demand::Part(Value::Array(values))
                if self.target.list =>
            {
                self.values(values, span, problems);
            }
            Demand::Value(value) => self.exactly(value, span, problems),
            Demand::Parts(values) if self.target.list || !self.is_word() => {
                self.values(values, span, problems);
            }
            Demand::Part(value) if self.target.list => {
                self.element().exactly(value, span, problems);
            }
            Demand::Part(value) if !self.is_word() => self.exactly(value, span, problems),
            Demand::Valid(schema) => self.schema(schema, problems),
            Demand::Bounds(least, most) => {
                let least = least.map(|least| (BoundSide::Least, least));
                let most = most.map(|most| (BoundSide::Most, most));
                let sides: Vec<_> = least.into_iter().chain(most).collect();
                self.range(&sides, span, problems);
            }
            Demand::Text if !self.is_word() => {
                let problem = self.problem(span, &format!("`{}` never holds", matcher.name()));
                problems.push(problem.help("use `exact`, `min`, `max` or `between`"));
            }
            // Of a word any part may be asked.
            Demand::Part(_) | Demand::Parts(_) | Demand::Text | Demand::Nothing => {}
        }
        let looked = match facts.join {
            Some(Join::Not) => self.negated(),
            _ => *self,
        };
        for inner in facts.below {
            looked.matcher(inner, problems);
        }
    }

    fn is_word(&self) -> bool {
        self.target.unit.is_word()
    }

    /// The target as one element of the list.
    fn element(&self) -> Self {
        let mut target = self.target;
        target.list = false;
        CheckedTarget { target, ..*self }
    }

    /// The target where what is asked must not hold.
    fn negated(&self) -> Self {
        CheckedTarget {
            negated: true,
            ..*self
        }
    }

    fn values(&self, values: &[Value], span: Span, problems: &mut Problems) {
        for value in values {
            self.element().exactly(value, span, problems);
        }
    }

    fn exactly(&self, value: &Value, span: Span, problems: &mut Problems) {
        if self.target.list {
            let problem = self.never_of_kind(span, "a single value");
            return problems.push(problem.help(format!(
                "take an element: `{}[0]`, or write a list",
                self.path
            )));
        }
        match (value, self.target.unit) {
            (Value::String(word), Unit::Word(words)) if self.other_words => {
                if let Some(near) = misspelt(word, words.iter().copied()) {
                    let message = format!("`{word}` is no value of `{}`", self.path);
                    let problem = Diagnostic::at(span, message);
                    problems.push(problem.help(format!("did you mean `{near}`?")));
                }
            }
            (Value::String(word), Unit::Word(words)) => {
                if !words.contains(&word.as_str()) {
                    let message = format!("`{}` is never `{word}`", self.path);
                    let words = words.iter().copied();
                    problems.push(did_you_mean(
                        Diagnostic::at(span, message),
                        word,
                        words,
                        "words",
                    ));
                }
            }
            // `false` and `true` are 0 and 1 there.
            (Value::Bool(_), Unit::Flag) => {}
            // A run that does not have it may be what is wanted.
            (Value::Null, _) if !self.target.always => {}
            (Value::Number(number), unit) if !unit.is_word() => {
                let bound = NumberBound {
                    side: BoundSide::Exactly,
                    value: number.as_f64().unwrap_or_default(),
                    span,
                };
                self.bounds(&[bound], false, problems);
            }
            (other, _) => {
                let kind = match other {
                    Value::Null => "nothing",
                    Value::Bool(_) => "a boolean",
                    Value::Number(_) => "a number",
                    Value::String(_) => "text",
                    Value::Array(_) => "a list",
                    Value::Object(_) => "a mapping",
                };
                let problem = self.never_of_kind(span, kind);
                problems.push(match other {
                    Value::String(text) if text.parse::<f64>().is_ok() => {
                        problem.help("take the quotes away")
                    }
                    _ => problem,
                });
            }
        }
    }

    fn range(&self, sides: &[(BoundSide, &Number)], span: Span, problems: &mut Problems) {
        if self.target.list || self.is_word() {
            let problem = self.problem(span, "a bound never holds");
            return problems.push(if self.target.list {
                problem.help(format!("take an element: `{}[0]`", self.path))
            } else {
                problem
            });
        }
        let bounds: Vec<NumberBound> = sides
            .iter()
            .map(|(side, number)| NumberBound {
                side: *side,
                value: number.as_f64().unwrap_or_default(),
                span,
            })
            .collect();
        self.bounds(&bounds, false, problems);
    }

    /// Every part of a schema that speaks of the target; references can chain as long as the file
    /// is, so not by recursion.
    fn schema(&self, schema: &JsonSchema, problems: &mut Problems) {
        let mut schemas = Schemas::from_root(&schema.node);
        let mut seen = HashSet::new();
        let mut waiting = vec![(*self, &schema.node)];
        while let Some((looked, node)) = waiting.pop() {
            if !seen.insert((std::ptr::from_ref(node), looked.target.list, looked.negated)) {
                continue;
            }
            waiting.extend(schemas.references_from(node).map(|node| (looked, node)));
            for (keyword, node) in subschemas(node) {
                match keyword {
                    "not" | "if" => waiting.push((looked.negated(), node)),
                    "allOf" | "anyOf" | "oneOf" | "then" | "else" => waiting.push((looked, node)),
                    "items" | "prefixItems" | "additionalItems" | "contains"
                    | "unevaluatedItems"
                        if looked.target.list =>
                    {
                        waiting.push((looked.element(), node));
                    }
                    _ => {}
                }
            }
            looked.schema_alone(node, problems);
        }
    }

    /// What a schema asks by itself, without the schemas below it.
    fn schema_alone(&self, node: &Node, problems: &mut Problems) {
        let before = problems.0.len();
        let const_value = node.get("const").into_iter();
        let values = node.get("enum").and_then(Node::items).unwrap_or_default();
        for value in const_value.chain(values) {
            match value.items() {
                Some(items) if self.target.list => {
                    for item in items {
                        self.element().exactly(&item.to_json(), item.span, problems);
                    }
                }
                _ => self.exactly(&value.to_json(), value.span, problems),
            }
        }
        if self.target.list {
            return;
        }
        let bounds = schema_bounds(node);
        if self.is_word() {
            if let Some(bound) = bounds.first() {
                problems.push(self.problem(bound.span, "a bound never holds"));
            }
            return;
        }
        let asks_else = node.entries().unwrap_or_default().iter().any(|entry| {
            let key = entry.key.as_str();
            !ASK_NOTHING.contains(&key) && SIDES.iter().all(|(bound, _)| *bound != key)
        });
        if problems.0.len() == before {
            self.bounds(&bounds, asks_else, problems);
        }
    }

    /// Notes bounds of another unit, and bounds that decide nothing. `asks_else`: whether more is
    /// asked than these bounds.
    fn bounds(&self, bounds: &[NumberBound], asks_else: bool, problems: &mut Problems) {
        let before = problems.0.len();
        let (lowest, highest) = (self.target.lowest, self.target.highest);
        let holds_always = |bound: &NumberBound| match bound.side {
            BoundSide::Least => bound.value <= lowest,
            BoundSide::Above => bound.value < lowest,
            BoundSide::Most => highest.is_some_and(|highest| bound.value >= highest),
            BoundSide::Below => highest.is_some_and(|highest| bound.value > highest),
            BoundSide::Exactly => false,
        };
        for bound in bounds {
            // A bound that always holds is no mistake beside one that can fail.
            let beside = bounds.iter().any(|other| !holds_always(other));
            if !(beside && holds_always(bound)) {
                self.bound(bound, problems);
            }
        }
        if problems.0.len() > before || asks_else || !self.target.always {
            return;
        }
        if let Some(first) = bounds.first()
            && bounds.iter().all(holds_always)
        {
            let words: Vec<String> = bounds.iter().map(NumberBound::describe).collect();
            let problem =
                self.problem(first.span, &format!("{} always holds", words.join(" and ")));
            problems.push(problem.help("ask for more, or leave it out"));
        }
    }

    fn bound(&self, bound: &NumberBound, problems: &mut Problems) {
        let (target, value) = (&self.target, bound.value);
        let is_lower = bound.is_lower() || self.negated;
        if target.unit.is_percent() && is_lower && value > 0.0 && value <= 1.0 {
            let words = if value < 1.0 {
                "less than one percent"
            } else {
                "one percent"
            };
            let unit = target.element_unit_and_range();
            let message = format!("`{}` is {unit}, and {value} means {words}", self.path);
            let wanted = without_float_noise(value * 100.0);
            let problem = Diagnostic::at(bound.span, message);
            problems.push(problem.help(format!("write `{wanted}`")));
            return;
        }
        let between = |step: f64| value % step != 0.0;
        let above = |value: f64| target.highest.is_some_and(|highest| value > highest);
        let ends = |value: f64| target.highest.is_some_and(|highest| value >= highest);
        let holds = match bound.side {
            BoundSide::Exactly if value < target.lowest || above(value) => Some("never"),
            BoundSide::Exactly if target.unit.step().is_some_and(between) => Some("never"),
            BoundSide::Least if above(value) => Some("never"),
            BoundSide::Above if ends(value) => Some("never"),
            BoundSide::Most if value < target.lowest => Some("never"),
            BoundSide::Below if value <= target.lowest => Some("never"),
            BoundSide::Least | BoundSide::Above if value < target.lowest => Some("always"),
            BoundSide::Most | BoundSide::Below if above(value) => Some("always"),
            _ => None,
        };
        let Some(holds) = holds else { return };
        let problem = self.problem(bound.span, &format!("{} {holds} holds", bound.describe()));
        let percent_meant = target.unit == Unit::Fraction && (2.0..=100.0).contains(&value);
        problems.push(match holds {
            _ if percent_meant => {
                problem.help(format!("write `{}`", without_float_noise(value / 100.0)))
            }
            "always" => problem.help("ask for more, or leave it out"),
            _ => problem.help("ask for a number that is possible"),
        });
    }

    fn problem(&self, span: Span, what: &str) -> Diagnostic {
        let message = format!(
            "`{}` is {}, so {what}",
            self.path,
            self.target.unit_and_range()
        );
        Diagnostic::at(span, message)
            .note("every run gets the same verdict here, so nothing is tested")
    }

    /// The problem that the target is never of a kind.
    fn never_of_kind(&self, span: Span, kind: &str) -> Diagnostic {
        let unit = self.target.unit_and_range();
        let message = format!("`{}` is {unit}, never {kind}", self.path);
        Diagnostic::at(span, message)
            .note("every run gets the same verdict here, so nothing is tested")
    }
}
