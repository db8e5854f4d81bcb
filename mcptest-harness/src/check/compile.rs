//! From a suite's matchers to ones that can be applied.
//!
//! Regular expressions are compiled while a suite loads, so that a bad one is a load error at its
//! place. JSON Schemas are checked in their shape by the suite loader and compiled when a value
//! meets them first, because the first compilation in a process is slow; one whose patterns only
//! compiling can check is compiled while loading. Equal schemas share one validator.

use std::collections::HashMap;
use std::sync::Arc;

use mcptest_suite::model::{Assertion, JsonSchema, Matcher, MatcherKind, Target};
use mcptest_suite::read::{asks_only, holds_for};
use mcptest_suite::{Diagnostic, Span, Spanned};
use regex::Regex;
use serde_json::{Number, Value};

use super::pattern::matches_every_text;
use crate::eval::{Measure, Schema, Unit};
use crate::trace::canonical_json;

/// An assertion that can be judged.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) target: Target,
    pub(crate) matcher: CompiledMatcher,
    /// The author's words for a failure.
    pub(crate) message: Option<String>,
    /// The assertion's own name.
    pub(crate) name: Option<Spanned<String>>,
    /// The target reads 0 or 1, and `false` and `true` mean the same.
    pub(crate) flag: bool,
    /// A gate's target that not every run has: `exact: null` asks for it to be absent.
    pub(crate) may_be_absent: bool,
}

/// A matcher that can be applied.
#[derive(Debug)]
pub(crate) enum CompiledMatcher {
    Exact(Value),
    Contains(Value),
    Subset(Value),
    Regex(Regex),
    Schema(Arc<Schema>),
    /// Of a flag, which may be meant as a number or as a boolean.
    FlagSchema(Arc<Schema>),
    /// With the snapshot's name.
    Snapshot(String),
    ContainsAll(Vec<Value>),
    ContainsAny(Vec<Value>),
    Icontains(String),
    StartsWith(String),
    IsJson(Option<Arc<Schema>>),
    IsValidToolsCall(Option<Arc<Schema>>),
    Levenshtein {
        value: String,
        max: u64,
    },
    Min(Number),
    Max(Number),
    Between(Number, Number),
    Not(Box<CompiledMatcher>),
    AllOf(Vec<CompiledMatcher>),
    AnyOf(Vec<CompiledMatcher>),
    OneOf(Vec<CompiledMatcher>),
    /// Only a model could apply it.
    NeedsModel(&'static str),
}

/// Compiles the assertions of one suite.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    schemas: HashMap<String, Arc<Schema>>,
    pub(crate) problems: Vec<Diagnostic>,
}

impl Compiler {
    /// The assertions of an agent that compile; problems of the others are noted. What a model
    /// alone decides is left out.
    pub(crate) fn checks(&mut self, assertions: &[Assertion]) -> Vec<Check> {
        assertions
            .iter()
            .filter_map(|assertion| self.check(assertion, assertion.target.text == "truncated"))
            .collect()
    }

    /// The same of a gate's; `declared` is what is known of the target that a path begins with.
    pub(crate) fn gate_checks<'t>(
        &mut self,
        assertions: &[Assertion],
        declared: impl Fn(&str) -> Option<&'t Measure>,
    ) -> Vec<Check> {
        let checks = assertions.iter().filter_map(|assertion| {
            let declared = declared(&assertion.target.text);
            let flag = declared.is_some_and(|target| target.unit == Unit::Flag);
            let mut check = self.check(assertion, flag)?;
            check.may_be_absent = declared.is_some_and(|target| !target.always);
            Some(check)
        });
        checks.collect()
    }

    fn check(&mut self, assertion: &Assertion, flag: bool) -> Option<Check> {
        // A snapshot without a name of its own is named after its assertion, else its target.
        let named = assertion.name.as_ref().map(|name| &name.value);
        let snapshot_name = named.unwrap_or(&assertion.target.text).clone();
        Some(Check {
            target: assertion.target.clone(),
            matcher: {
                let matcher = self.matcher(&not_of_models(&assertion.matcher)?, &snapshot_name)?;
                if flag { matcher.of_flag() } else { matcher }
            },
            message: assertion.message.clone(),
            name: assertion.name.clone(),
            flag,
            may_be_absent: false,
        })
    }

    fn matcher(&mut self, matcher: &Matcher, snapshot: &str) -> Option<CompiledMatcher> {
        match &matcher.kind {
            MatcherKind::Not(inner) => self.no_snapshot_below("not", std::slice::from_ref(inner)),
            MatcherKind::AnyOf(inner) => self.no_snapshot_below("anyOf", inner),
            MatcherKind::OneOf(inner) => self.no_snapshot_below("oneOf", inner),
            _ => {}
        }
        Some(match &matcher.kind {
            MatcherKind::Exact(value) => CompiledMatcher::Exact(value.clone()),
            MatcherKind::Contains(value) => CompiledMatcher::Contains(value.clone()),
            MatcherKind::Subset(value) => CompiledMatcher::Subset(value.clone()),
            MatcherKind::Regex(pattern) => {
                let regex = self.regex(pattern)?;
                self.decides("regex", &pattern.value, pattern.span);
                CompiledMatcher::Regex(regex)
            }
            MatcherKind::Schema(schema) => CompiledMatcher::Schema(self.schema(schema)?),
            MatcherKind::Snapshot(name) => {
                let name = name.as_ref().map_or(snapshot, |name| &name.value);
                CompiledMatcher::Snapshot(name.to_owned())
            }
            MatcherKind::ContainsAll(values) => CompiledMatcher::ContainsAll(values.clone()),
            MatcherKind::ContainsAny(values) => CompiledMatcher::ContainsAny(values.clone()),
            MatcherKind::Icontains(text) => CompiledMatcher::Icontains(text.clone()),
            MatcherKind::StartsWith(text) => CompiledMatcher::StartsWith(text.clone()),
            MatcherKind::IsJson(schema) => CompiledMatcher::IsJson(self.optional(schema.as_ref())?),
            MatcherKind::IsValidToolsCall(schema) => {
                CompiledMatcher::IsValidToolsCall(self.optional(schema.as_ref())?)
            }
            MatcherKind::Levenshtein { value, max } => CompiledMatcher::Levenshtein {
                value: value.clone(),
                max: *max,
            },
            MatcherKind::Min(least) => CompiledMatcher::Min(least.clone()),
            MatcherKind::Max(most) => CompiledMatcher::Max(most.clone()),
            MatcherKind::Between(least, most) => {
                CompiledMatcher::Between(least.clone(), most.clone())
            }
            MatcherKind::Not(inner) => {
                CompiledMatcher::Not(Box::new(self.matcher(inner, snapshot)?))
            }
            MatcherKind::AllOf(all) => CompiledMatcher::AllOf(self.matchers(all, snapshot)?),
            MatcherKind::AnyOf(any) => CompiledMatcher::AnyOf(self.matchers(any, snapshot)?),
            MatcherKind::OneOf(one) => CompiledMatcher::OneOf(self.matchers(one, snapshot)?),
            MatcherKind::NeedsModel(name) => CompiledMatcher::NeedsModel(name),
            _ => {
                let name = matcher.name;
                let message = format!("this version does not know the matcher `{name}`");
                let problem = Diagnostic::at(matcher.span, message);
                self.problems
                    .push(problem.help("use crates of one version"));
                return None;
            }
        })
    }

    /// A snapshot is accepted, not refuted: below a matcher that may want it not to hold it would
    /// pass without ever having been seen.
    fn no_snapshot_below(&mut self, name: &str, matchers: &[Matcher]) {
        for matcher in matchers {
            match &matcher.kind {
                MatcherKind::Snapshot(_) => self.problems.push(
                    Diagnostic::at(
                        matcher.span,
                        format!("`snapshot` cannot stand below `{name}`"),
                    )
                    .help("give it an assertion of its own"),
                ),
                MatcherKind::Not(inner) => {
                    self.no_snapshot_below(name, std::slice::from_ref(inner));
                }
                MatcherKind::AllOf(inner)
                | MatcherKind::AnyOf(inner)
                | MatcherKind::OneOf(inner) => {
                    self.no_snapshot_below(name, inner);
                }
                _ => {}
            }
        }
    }

    fn matchers(&mut self, matchers: &[Matcher], snapshot: &str) -> Option<Vec<CompiledMatcher>> {
        let compiled: Vec<_> = matchers
            .iter()
            .map(|matcher| self.matcher(matcher, snapshot))
            .collect();
        compiled.into_iter().collect()
    }

    /// Regular expressions; those that do not compile are noted as problems.
    pub(crate) fn regexes(&mut self, patterns: &[Spanned<String>]) -> Vec<Regex> {
        let compiled = patterns.iter().filter_map(|pattern| self.regex(pattern));
        compiled.collect()
    }

    fn regex(&mut self, pattern: &Spanned<String>) -> Option<Regex> {
        match Regex::new(&pattern.value) {
            Ok(regex) => Some(regex),
            Err(error) => {
                let text = error.to_string();
                // The last line of a syntax error says what is wrong; the rest draws the pattern.
                let reason = text
                    .lines()
                    .last()
                    .unwrap_or(&text)
                    .trim_start_matches("error: ");
                self.problems.push(
                    Diagnostic::at(pattern.span, format!("this regular expression does not compile: {reason}"))
                        .help("the syntax is that of Rust's `regex` crate: no look-around, no back-references"),
                );
                None
            }
        }
    }

    /// Notes a pattern that every text matches; `key` is where it stands.
    fn decides(&mut self, key: &str, pattern: &str, span: Span) {
        if matches_every_text(pattern) {
            let demand = format!("{key}: {pattern:?}");
            self.problems.push(holds_for(&demand, "every text", span));
        }
    }

    /// A schema's shared validator; noted as a problem when it cannot compile.
    pub(crate) fn schema(&mut self, schema: &JsonSchema) -> Option<Arc<Schema>> {
        let key = canonical_json(&schema.value);
        // Patterns, and what names or refers to a part of a schema.
        let only_compiling_tells = key.contains("\"pattern") || key.contains("\"$");
        let shared = self
            .schemas
            .entry(key)
            .or_insert_with(|| Arc::new(Schema::new(schema.value.clone())));
        let shared = Arc::clone(shared);
        if only_compiling_tells && let Some(error) = shared.malformed() {
            let span = schema.node.at_pointer(&error.pointer).span;
            self.problems.push(
                Diagnostic::at(span, format!("this JSON Schema does not compile: {}", error.message))
                    .help("mend the schema; patterns are matched by Rust's `regex` crate: no look-around, no back-references"),
            );
            return None;
        }
        if let Some(pattern) = schema.node.get("pattern")
            && let Some(text) = pattern
                .text()
                .filter(|_| asks_only(&schema.node, "pattern"))
        {
            self.decides("pattern", text, pattern.span);
        }
        Some(shared)
    }

    #[expect(
        clippy::option_option,
        reason = "no schema, a schema, or a schema that does not compile"
    )]
    fn optional(&mut self, schema: Option<&JsonSchema>) -> Option<Option<Arc<Schema>>> {
        match schema {
            None => Some(None),
            Some(schema) => self.schema(schema).map(Some),
        }
    }
}

/// What is left of a matcher without those that a model alone decides, which are listed as cases of
/// their own. One below `anyOf`, `oneOf` or `not` stays: it leaves the whole undecided.
fn not_of_models(matcher: &Matcher) -> Option<Matcher> {
    let mut left = matcher.clone();
    match &mut left.kind {
        MatcherKind::NeedsModel(_) => return None,
        MatcherKind::AllOf(all) if !all.is_empty() => {
            *all = all.iter().filter_map(not_of_models).collect();
            return (!all.is_empty()).then_some(left);
        }
        _ => {}
    }
    Some(left)
}

impl CompiledMatcher {
    /// The same for a flag, with `false` and `true` as the numbers they mean.
    fn of_flag(self) -> Self {
        let all = |matchers: Vec<Self>| matchers.into_iter().map(Self::of_flag).collect();
        let numbers = |values: Vec<Value>| values.iter().map(as_number).collect();
        match self {
            Self::Exact(value) => Self::Exact(as_number(&value)),
            Self::Contains(value) => Self::Contains(as_number(&value)),
            Self::Subset(value) => Self::Subset(as_number(&value)),
            Self::ContainsAll(values) => Self::ContainsAll(numbers(values)),
            Self::ContainsAny(values) => Self::ContainsAny(numbers(values)),
            Self::Schema(schema) => Self::FlagSchema(schema),
            Self::Not(inner) => Self::Not(Box::new(inner.of_flag())),
            Self::AllOf(matchers) => Self::AllOf(all(matchers)),
            Self::AnyOf(matchers) => Self::AnyOf(all(matchers)),
            Self::OneOf(matchers) => Self::OneOf(all(matchers)),
            other => other,
        }
    }
}

/// A boolean as the number it means; anything else as it is.
pub(super) fn as_number(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => u8::from(*flag).into(),
        other => other.clone(),
    }
}
