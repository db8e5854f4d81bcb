//! Applying a matcher to what a target led to.

use std::borrow::Cow;
use std::sync::Arc;

use mcptest_suite::model::{Segment, compare_numbers};
use serde_json::{Number, Value};

use super::compare::{self, Subset, comparable_below, lower_case};
use super::compile::{CompiledMatcher, as_number};
use super::{Check, Unresolved, resolve};
use crate::eval::{ArgDiff, Schema, contains, contains_diffs, exact_diffs};
use crate::text::{difference, normalised, short_json};

/// Texts are compared letter by letter only up to this many pairs of letters.
const LEVENSHTEIN_PAIRS: usize = 25_000_000;

/// What a target led to.
#[derive(Debug, Clone)]
pub(crate) enum Found<'v> {
    Value(Cow<'v, Value>),
    Nothing(Unresolved),
}

/// Why an assertion does not hold.
#[derive(Debug)]
pub(crate) struct Mismatch<'v> {
    pub(crate) found: Found<'v>,
    /// What is different, a line each; empty where showing what was found says it all.
    pub(crate) details: Vec<String>,
}

/// What became of an assertion.
#[derive(Debug)]
pub(crate) enum CheckOutcome<'v> {
    Holds,
    /// It holds of the items of lists, and there is none.
    HoldsOfNone,
    Fails(Mismatch<'v>),
    /// Only a matcher that needs a model, this one, could tell.
    Undecided(&'static str),
}

/// What a matcher makes of a value.
enum MatcherVerdict {
    Holds,
    /// It does not, and what is different.
    Fails(Vec<String>),
    /// The matcher cannot read such a value, so its negation does not hold either.
    NotApplicable(Vec<String>),
    /// A matcher that needs a model would have the last word.
    Undecided(&'static str),
}

impl MatcherVerdict {
    fn of(holds: bool) -> Self {
        if holds {
            Self::Holds
        } else {
            Self::Fails(Vec::new())
        }
    }

    fn details(self) -> Vec<String> {
        match self {
            Self::Holds | Self::Undecided(_) => Vec::new(),
            Self::Fails(details) | Self::NotApplicable(details) => details,
        }
    }
}

impl Check {
    /// Judges the assertion on a recorded value. A snapshot matcher is judged by `snapshot`.
    pub(crate) fn judge<'v>(&self, root: &'v Value, snapshot: &Snapshots<'_>) -> CheckOutcome<'v> {
        let value = match resolve(&self.target, root) {
            Ok(value) => value,
            Err(_) if self.may_be_absent && self.matcher.names(&Value::Null) => {
                return CheckOutcome::Holds;
            }
            Err(unresolved) => {
                return CheckOutcome::Fails(Mismatch {
                    found: Found::Nothing(unresolved),
                    details: Vec::new(),
                });
            }
        };
        let verdict = if self.flag {
            self.matcher.judge(&as_number(&value), snapshot)
        } else {
            self.matcher.judge(&value, snapshot)
        };
        match verdict {
            MatcherVerdict::Holds if self.is_of_none(&value) => CheckOutcome::HoldsOfNone,
            MatcherVerdict::Holds => CheckOutcome::Holds,
            MatcherVerdict::Undecided(name) => CheckOutcome::Undecided(name),
            verdict => CheckOutcome::Fails(Mismatch {
                found: Found::Value(value),
                details: verdict.details(),
            }),
        }
    }

    /// Whether it holds of a value of which it does not once all texts are normalised alike.
    pub(crate) fn holds_normalised(&self, value: &Value) -> bool {
        let asks_for_texts = matches!(
            self.matcher,
            CompiledMatcher::Contains(_)
                | CompiledMatcher::Subset(_)
                | CompiledMatcher::Regex(_)
                | CompiledMatcher::ContainsAll(_)
                | CompiledMatcher::ContainsAny(_)
                | CompiledMatcher::Icontains(_)
                | CompiledMatcher::StartsWith(_)
        );
        asks_for_texts
            && [true, false].into_iter().any(|as_composed| {
                let other = normalised(value, as_composed);
                // A matcher of texts has no snapshot.
                let verdict = self.matcher.judge(&other, &|_, _| Ok(()));
                other != *value && matches!(verdict, MatcherVerdict::Holds)
            })
    }

    /// Whether the target led to each item of lists, there is none, and that is not what is asked.
    fn is_of_none(&self, value: &Value) -> bool {
        self.target.segments.contains(&Segment::Every)
            && has_no_item(value)
            && !self.matcher.names(value)
            && !self.matcher.has_snapshot()
    }
}

/// Whether a value is lists without an item.
fn has_no_item(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|items| items.iter().all(has_no_item))
}

/// Judges a value against the snapshot of a name.
pub(crate) type Snapshots<'a> = dyn Fn(&str, &Value) -> Result<(), Vec<String>> + 'a;

impl CompiledMatcher {
    /// Whether it asks for this very value, where only `exact` can: nothing at all, or no item.
    fn names(&self, value: &Value) -> bool {
        match self {
            Self::Exact(expected) => expected == value,
            Self::AllOf(all) => all.iter().all(|matcher| matcher.names(value)),
            Self::AnyOf(any) => any.iter().any(|matcher| matcher.names(value)),
            Self::OneOf(one) => one.iter().filter(|matcher| matcher.names(value)).count() == 1,
            _ => false,
        }
    }

    /// Whether a snapshot has a say in it.
    pub(crate) fn has_snapshot(&self) -> bool {
        match self {
            Self::Snapshot(_) => true,
            Self::Not(inner) => inner.has_snapshot(),
            Self::AllOf(all) | Self::AnyOf(all) | Self::OneOf(all) => {
                all.iter().any(Self::has_snapshot)
            }
            _ => false,
        }
    }

    /// Whether the value is what is wanted.
    fn judge(&self, value: &Value, snapshot: &Snapshots<'_>) -> MatcherVerdict {
        match self {
            Self::Exact(expected) => differences(exact_diffs(expected, value), expected),
            Self::Contains(expected) => match comparable_below(expected, value) {
                Ok(()) => differences(contains_diffs(expected, value), expected),
                Err(reason) => MatcherVerdict::NotApplicable(vec![reason]),
            },
            Self::Subset(expected) => subset(expected, value),
            Self::Regex(regex) => text(value, |text| MatcherVerdict::of(regex.is_match(text))),
            Self::Schema(schema) => valid(Some(schema), value),
            Self::FlagSchema(schema) => match valid(Some(schema), &(*value == 1).into()) {
                MatcherVerdict::Holds => MatcherVerdict::Holds,
                _ => valid(Some(schema), value),
            },
            Self::Snapshot(name) => match snapshot(name, value) {
                Ok(()) => MatcherVerdict::Holds,
                Err(details) => MatcherVerdict::Fails(details),
            },
            Self::ContainsAll(all) => all_of(all.iter().map(|expected| {
                let verdict = contained(expected, value);
                (format!("without {}", short_json(expected)), verdict)
            })),
            Self::ContainsAny(any) => any_of(any.iter().map(|expected| contained(expected, value))),
            Self::Icontains(expected) => {
                contained(&Value::String(expected.to_lowercase()), &lower_case(value))
            }
            Self::StartsWith(start) => {
                text(value, |text| MatcherVerdict::of(text.starts_with(start)))
            }
            Self::IsJson(schema) => text(value, |text| match serde_json::from_str(text) {
                Ok(parsed) => valid(schema.as_ref(), &parsed),
                Err(error) => MatcherVerdict::Fails(vec![format!("not JSON: {error}")]),
            }),
            Self::IsValidToolsCall(schema) => match tool_call_arguments(value) {
                Ok(arguments) => valid(schema.as_ref(), arguments),
                Err(reason) if value.is_object() => MatcherVerdict::Fails(vec![reason.to_owned()]),
                Err(reason) => MatcherVerdict::NotApplicable(vec![reason.to_owned()]),
            },
            Self::Levenshtein {
                value: expected,
                max,
            } => text(value, |text| levenshtein(expected, text, *max)),
            Self::Min(least) => number(value, |value| compare_numbers(value, least).is_ge()),
            Self::Max(most) => number(value, |value| compare_numbers(value, most).is_le()),
            Self::Between(least, most) => number(value, |value| {
                compare_numbers(value, least).is_ge() && compare_numbers(value, most).is_le()
            }),
            Self::Not(inner) => match inner.judge(value, snapshot) {
                MatcherVerdict::Holds => MatcherVerdict::Fails(Vec::new()),
                MatcherVerdict::Fails(_) => MatcherVerdict::Holds,
                other => other,
            },
            Self::AllOf(all) => all_of(all.iter().map(|matcher| {
                (
                    format!("expected it {}", matcher.phrase()),
                    matcher.judge(value, snapshot),
                )
            })),
            Self::AnyOf(any) => any_of(any.iter().map(
                |matcher| match matcher.judge(value, snapshot) {
                    MatcherVerdict::Fails(details) => {
                        MatcherVerdict::Fails(vec![branch(matcher, &details)])
                    }
                    MatcherVerdict::NotApplicable(details) => {
                        MatcherVerdict::NotApplicable(vec![branch(matcher, &details)])
                    }
                    other => other,
                },
            )),
            Self::OneOf(one) => one_of(one, |matcher| matcher.judge(value, snapshot)),
            Self::NeedsModel(name) => MatcherVerdict::Undecided(name),
        }
    }

    /// The one value that is wanted, where there is one: it can be compared line by line.
    pub(crate) fn exact(&self) -> Option<&Value> {
        match self {
            Self::Exact(value) => Some(value),
            _ => None,
        }
    }
}

/// Holds when all hold; what does not is listed with its words.
fn all_of(judged: impl Iterator<Item = (String, MatcherVerdict)>) -> MatcherVerdict {
    let (mut failed, mut not_applicable, mut undecided) = (Vec::new(), Vec::new(), None);
    for (words, verdict) in judged {
        let line = |details: &[String]| match details {
            [] => words.clone(),
            details => format!("{words} ({})", details.join("; ")),
        };
        match verdict {
            MatcherVerdict::Holds => {}
            MatcherVerdict::Fails(details) => failed.push(line(&details)),
            MatcherVerdict::NotApplicable(details) => not_applicable.push(line(&details)),
            MatcherVerdict::Undecided(name) => undecided = undecided.or(Some(name)),
        }
    }
    match (failed.is_empty(), not_applicable.is_empty(), undecided) {
        (true, true, None) => MatcherVerdict::Holds,
        (true, true, Some(name)) => MatcherVerdict::Undecided(name),
        (true, false, _) => MatcherVerdict::NotApplicable(not_applicable),
        (false, _, _) => MatcherVerdict::Fails(failed.into_iter().chain(not_applicable).collect()),
    }
}

/// Holds when one holds.
fn any_of(judged: impl Iterator<Item = MatcherVerdict>) -> MatcherVerdict {
    let (mut details, mut applicable, mut undecided) = (Vec::new(), true, None);
    for verdict in judged {
        match verdict {
            MatcherVerdict::Holds => return MatcherVerdict::Holds,
            MatcherVerdict::Undecided(name) => undecided = undecided.or(Some(name)),
            MatcherVerdict::Fails(more) => details.extend(more),
            MatcherVerdict::NotApplicable(more) => {
                applicable = false;
                details.extend(more);
            }
        }
    }
    match (undecided, applicable) {
        (Some(name), _) => MatcherVerdict::Undecided(name),
        (None, true) => MatcherVerdict::Fails(details),
        (None, false) => MatcherVerdict::NotApplicable(details),
    }
}

/// Holds when exactly one holds.
fn one_of(
    matchers: &[CompiledMatcher],
    judge: impl Fn(&CompiledMatcher) -> MatcherVerdict,
) -> MatcherVerdict {
    let mut holding = Vec::new();
    let (mut unread, mut undecided) = (Vec::new(), None);
    let mut applicable = true;
    for matcher in matchers {
        match judge(matcher) {
            MatcherVerdict::Holds => holding.push(matcher),
            MatcherVerdict::Undecided(name) => undecided = undecided.or(Some(name)),
            MatcherVerdict::Fails(_) => {}
            MatcherVerdict::NotApplicable(details) => {
                applicable = false;
                unread.extend(details);
            }
        }
    }
    match (holding.len(), undecided, applicable) {
        (0 | 1, Some(name), _) => MatcherVerdict::Undecided(name),
        (1, None, _) => MatcherVerdict::Holds,
        (0, None, true) => MatcherVerdict::Fails(vec!["none of them holds".to_owned()]),
        (0, None, false) => MatcherVerdict::NotApplicable(unread),
        _ => {
            let phrases = holding.iter().map(|matcher| matcher.phrase());
            let lines = phrases.map(|phrase| format!("this one holds: {phrase}"));
            MatcherVerdict::Fails(lines.collect())
        }
    }
}

/// Differences as lines; a difference of the whole value is left to showing both.
fn differences(diffs: Vec<ArgDiff>, expected: &Value) -> MatcherVerdict {
    if diffs.is_empty() {
        return MatcherVerdict::Holds;
    }
    let structured = expected.is_object() || expected.is_array();
    let placed = diffs
        .into_iter()
        .filter(|diff| structured && !diff.path.is_empty());
    MatcherVerdict::Fails(placed.map(|diff| difference(&diff)).collect())
}

fn contained(expected: &Value, value: &Value) -> MatcherVerdict {
    match comparable_below(expected, value) {
        Ok(()) => MatcherVerdict::of(contains(expected, value)),
        Err(reason) => MatcherVerdict::NotApplicable(vec![reason]),
    }
}

/// Validity against a schema, where there is one; one that does not compile decides nothing.
fn valid(schema: Option<&Arc<Schema>>, value: &Value) -> MatcherVerdict {
    let Some(schema) = schema else {
        return MatcherVerdict::Holds;
    };
    match schema.violations(value) {
        Ok(violations) if violations.is_empty() => MatcherVerdict::Holds,
        Ok(violations) if schema.is_broken_by(value) => MatcherVerdict::Fails(violations),
        // It says nothing of such a value, so its negation does not hold either.
        Ok(violations) => MatcherVerdict::NotApplicable(violations),
        Err(error) => MatcherVerdict::NotApplicable(vec![error.to_string()]),
    }
}

fn branch(matcher: &CompiledMatcher, details: &[String]) -> String {
    match details {
        [] => format!("expected it {}", matcher.phrase()),
        details => format!("expected it {} ({})", matcher.phrase(), details.join("; ")),
    }
}

fn text(value: &Value, judge: impl FnOnce(&str) -> MatcherVerdict) -> MatcherVerdict {
    match value {
        Value::String(text) => judge(text),
        _ => MatcherVerdict::NotApplicable(vec!["this matcher reads text only".to_owned()]),
    }
}

fn number(value: &Value, judge: impl FnOnce(&Number) -> bool) -> MatcherVerdict {
    match value {
        Value::Number(number) => MatcherVerdict::of(judge(number)),
        _ => MatcherVerdict::NotApplicable(vec!["this matcher reads numbers only".to_owned()]),
    }
}

/// Every expected key, recursively; lists and scalars equal.
fn subset(expected: &Value, value: &Value) -> MatcherVerdict {
    match compare::subset(expected, value) {
        Subset::Holds => MatcherVerdict::Holds,
        Subset::Fails => MatcherVerdict::Fails(Vec::new()),
        Subset::NotComparable(reason) => MatcherVerdict::NotApplicable(vec![reason]),
    }
}

fn tool_call_arguments(value: &Value) -> Result<&Value, &'static str> {
    let call = value.as_object().ok_or("it is not an object")?;
    if !call.get("name").is_some_and(Value::is_string) {
        return Err("it has no `name` that is text");
    }
    let arguments = call.get("args").or_else(|| call.get("arguments"));
    arguments
        .filter(|arguments| arguments.is_object())
        .ok_or("it has no `args` or `arguments` that is an object")
}

fn levenshtein(expected: &str, text: &str, max: u64) -> MatcherVerdict {
    let (left, right) = (expected.chars().count(), text.chars().count());
    if left.abs_diff(right) as u64 > max {
        let difference = left.abs_diff(right);
        return MatcherVerdict::Fails(vec![format!("the lengths alone differ by {difference}")]);
    }
    if left.saturating_mul(right) > LEVENSHTEIN_PAIRS {
        let reason =
            format!("{left} and {right} characters are too many to compare letter by letter");
        return MatcherVerdict::NotApplicable(vec![reason]);
    }
    match strsim::levenshtein(expected, text) {
        distance if distance as u64 <= max => MatcherVerdict::Holds,
        distance => MatcherVerdict::Fails(vec![format!("the distance is {distance}")]),
    }
}
