//! Applying a matcher to what a target led to.

use std::borrow::Cow;

use serde_json::Value;

use super::compile::CompiledMatcher;
use super::{Check, Unresolved, resolve};
use crate::eval::{ArgDiff, contains, contains_diffs, exact_diffs};
use crate::render::short_json;
use crate::trace::json_eq;

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

impl Check {
    /// Judges the assertion on a recorded value. A snapshot matcher is judged by `snapshot`.
    pub(crate) fn judge<'v>(
        &self,
        root: &'v Value,
        snapshot: &Snapshots<'_>,
    ) -> Result<(), Mismatch<'v>> {
        let found = match resolve(&self.target, root) {
            Ok(value) => Found::Value(value),
            Err(unresolved) => Found::Nothing(unresolved),
        };
        let verdict = match &found {
            Found::Value(value) => self.matcher.judge(value, snapshot),
            Found::Nothing(_) if self.matcher.accepts_nothing() => Ok(()),
            Found::Nothing(_) => Err(Vec::new()),
        };
        verdict.map_err(|details| Mismatch { found, details })
    }
}

/// Judges a value against the snapshot of a name.
pub(crate) type Snapshots<'a> = dyn Fn(&str, &Value) -> Result<(), Vec<String>> + 'a;

impl CompiledMatcher {
    /// Whether a path that leads nowhere is what is wanted.
    fn accepts_nothing(&self) -> bool {
        match self {
            Self::Exact(value) => value.is_null(),
            Self::AllOf(all) => all.iter().all(Self::accepts_nothing),
            Self::AnyOf(any) => any.iter().any(Self::accepts_nothing),
            Self::OneOf(one) => {
                one.iter()
                    .filter(|matcher| matcher.accepts_nothing())
                    .count()
                    == 1
            }
            _ => false,
        }
    }

    /// Whether the value is what is wanted; else what is different.
    fn judge(&self, value: &Value, snapshot: &Snapshots<'_>) -> Result<(), Vec<String>> {
        let held = |held: bool| if held { Ok(()) } else { Err(Vec::new()) };
        match self {
            Self::Exact(expected) => none(exact_diffs(expected, value), expected),
            Self::Contains(expected) => none(contains_diffs(expected, value), expected),
            Self::Subset(expected) => held(subset(expected, value)),
            Self::Regex(regex) => text(value, |text| held(regex.is_match(text))),
            Self::Schema(schema) => lines(schema.violations(value)),
            Self::Snapshot(name) => snapshot(name, value),
            Self::ContainsAll(all) => lines(
                all.iter()
                    .filter(|expected| !contains(expected, value))
                    .map(|expected| format!("without {}", short_json(expected)))
                    .collect(),
            ),
            Self::ContainsAny(any) => held(any.iter().any(|expected| contains(expected, value))),
            Self::Icontains(expected) => held(contains(
                &Value::String(expected.to_lowercase()),
                &lower_case(value),
            )),
            Self::StartsWith(start) => text(value, |text| held(text.starts_with(start))),
            Self::IsJson(schema) => text(value, |text| match serde_json::from_str(text) {
                Ok(parsed) => lines(
                    schema
                        .as_ref()
                        .map_or_else(Vec::new, |schema| schema.violations(&parsed)),
                ),
                Err(error) => Err(vec![format!("not JSON: {error}")]),
            }),
            Self::IsValidToolsCall(schema) => {
                let arguments = tool_call_arguments(value)?;
                lines(
                    schema
                        .as_ref()
                        .map_or_else(Vec::new, |schema| schema.violations(arguments)),
                )
            }
            Self::Levenshtein {
                value: expected,
                max,
            } => text(value, |text| levenshtein(expected, text, *max)),
            Self::Not(inner) => held(inner.judge(value, snapshot).is_err()),
            Self::AllOf(all) => {
                let failed = all.iter().filter_map(|matcher| {
                    let details = matcher.judge(value, snapshot).err()?;
                    Some(branch(matcher, &details))
                });
                lines(failed.collect())
            }
            Self::AnyOf(any) => {
                let mut failed = Vec::new();
                for matcher in any {
                    match matcher.judge(value, snapshot) {
                        Ok(()) => return Ok(()),
                        Err(details) => failed.push(branch(matcher, &details)),
                    }
                }
                Err(failed)
            }
            Self::OneOf(one) => {
                let holding: Vec<_> = one
                    .iter()
                    .filter(|matcher| matcher.judge(value, snapshot).is_ok())
                    .collect();
                match holding.len() {
                    1 => Ok(()),
                    0 => Err(vec!["none of them holds".to_owned()]),
                    _ => Err(holding
                        .iter()
                        .map(|matcher| format!("this one holds: {}", matcher.phrase()))
                        .collect()),
                }
            }
        }
    }

    /// What is wanted, to be read after "expected `x`".
    pub(crate) fn phrase(&self) -> String {
        let list = |values: &[Value]| values.iter().map(short_json).collect::<Vec<_>>().join(", ");
        let phrases = |matchers: &[Self]| {
            matchers
                .iter()
                .map(Self::phrase)
                .collect::<Vec<_>>()
                .join("; ")
        };
        match self {
            Self::Exact(value) => format!("to be exactly {}", short_json(value)),
            Self::Contains(value) => format!("to contain {}", short_json(value)),
            Self::Subset(value) => format!("to hold the subset {}", short_json(value)),
            Self::Regex(regex) => format!("to match the regex `{regex}`"),
            Self::Schema(schema) => format!(
                "to be valid against the schema {}",
                short_json(&schema.value)
            ),
            Self::Snapshot(_) => "to be what its snapshot says".to_owned(),
            Self::ContainsAll(values) => format!("to contain all of {}", list(values)),
            Self::ContainsAny(values) => format!("to contain any of {}", list(values)),
            Self::Icontains(text) => format!("to contain {text:?} in any case"),
            Self::StartsWith(text) => format!("to start with {text:?}"),
            Self::IsJson(None) => "to be JSON text".to_owned(),
            Self::IsJson(Some(schema)) => {
                format!(
                    "to be JSON text valid against the schema {}",
                    short_json(&schema.value)
                )
            }
            Self::IsValidToolsCall(None) => "to be a valid tool call".to_owned(),
            Self::IsValidToolsCall(Some(schema)) => {
                format!(
                    "to be a tool call with arguments valid against the schema {}",
                    short_json(&schema.value)
                )
            }
            Self::Levenshtein { value, max } => format!("to be at most {max} edits from {value:?}"),
            Self::Not(inner) => format!("not {}", inner.phrase()),
            Self::AllOf(all) => format!("to hold all of: {}", phrases(all)),
            Self::AnyOf(any) => format!("to hold any of: {}", phrases(any)),
            Self::OneOf(one) => format!("to hold exactly one of: {}", phrases(one)),
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

fn lines(lines: Vec<String>) -> Result<(), Vec<String>> {
    if lines.is_empty() { Ok(()) } else { Err(lines) }
}

/// Differences as lines; a difference of the whole value is left to showing both.
fn none(diffs: Vec<ArgDiff>, expected: &Value) -> Result<(), Vec<String>> {
    if diffs.is_empty() {
        return Ok(());
    }
    let structured = expected.is_object() || expected.is_array();
    let placed = diffs
        .into_iter()
        .filter(|diff| structured && !diff.path.is_empty());
    Err(placed.map(|diff| difference(&diff)).collect())
}

/// One difference in words.
pub(crate) fn difference(diff: &ArgDiff) -> String {
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), short_json);
    let (expected, recorded) = (shown(&diff.expected), shown(&diff.recorded));
    match diff.path.as_str() {
        "" => format!("expected {expected}, recorded {recorded}"),
        path => format!(
            "`{}`: expected {expected}, recorded {recorded}",
            mcptest_suite::clean_line(path)
        ),
    }
}

fn branch(matcher: &CompiledMatcher, details: &[String]) -> String {
    match details {
        [] => format!("expected it {}", matcher.phrase()),
        details => format!("expected it {} ({})", matcher.phrase(), details.join("; ")),
    }
}

fn text(
    value: &Value,
    judge: impl FnOnce(&str) -> Result<(), Vec<String>>,
) -> Result<(), Vec<String>> {
    match value {
        Value::String(text) => judge(text),
        _ => Err(vec!["this matcher reads text only".to_owned()]),
    }
}

/// Every expected key, recursively; lists and scalars equal.
fn subset(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::Object(expected), Value::Object(value)) => expected
            .iter()
            .all(|(key, expected)| value.get(key).is_some_and(|value| subset(expected, value))),
        _ => json_eq(expected, value),
    }
}

fn lower_case(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.to_lowercase()),
        Value::Array(items) => items.iter().map(lower_case).collect(),
        other => other.clone(),
    }
}

fn tool_call_arguments(value: &Value) -> Result<&Value, Vec<String>> {
    let refuse = |reason: &str| Err(vec![reason.to_owned()]);
    let Some(call) = value.as_object() else {
        return refuse("it is not an object");
    };
    if !call.get("name").is_some_and(Value::is_string) {
        return refuse("it has no `name` that is text");
    }
    match call.get("args").or_else(|| call.get("arguments")) {
        Some(arguments) if arguments.is_object() => Ok(arguments),
        _ => refuse("it has no `args` or `arguments` that is an object"),
    }
}

fn levenshtein(expected: &str, text: &str, max: u64) -> Result<(), Vec<String>> {
    let (left, right) = (expected.chars().count(), text.chars().count());
    if left.abs_diff(right) as u64 > max {
        return Err(vec![format!(
            "the lengths alone differ by {}",
            left.abs_diff(right)
        )]);
    }
    if left.saturating_mul(right) > LEVENSHTEIN_PAIRS {
        return Err(vec![format!(
            "{left} and {right} characters are too many to compare letter by letter"
        )]);
    }
    match strsim::levenshtein(expected, text) {
        distance if distance as u64 <= max => Ok(()),
        distance => Err(vec![format!("the distance is {distance}")]),
    }
}
