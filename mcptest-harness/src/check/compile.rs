//! From a suite's matchers to ones that can be held against values.
//!
//! Regular expressions are compiled while a suite loads, so that a bad one is a load error at its
//! place. JSON Schemas are checked in their shape by the suite loader and compiled when a value
//! meets them first, because the first compilation in a process is slow; one whose patterns only
//! compiling can check is compiled while loading. Equal schemas share one validator.

use std::collections::HashMap;
use std::sync::Arc;

use mcptest_suite::matcher::{Asks, Join, Matcher, MatcherVerdict, Prepare, Ready, Stage};
use mcptest_suite::model::{Assertion, JsonSchema, Target};
use mcptest_suite::read::{always_true, asks_only};
use mcptest_suite::{Diagnostic, Span, Spanned};
use regex::Regex;
use serde_json::Value;

use super::pattern::matches_every_text;
use crate::eval::{Measure, Schema, Unit};
use crate::trace::canonical_json;

/// Regular expressions and schemas as they are compiled here.
#[derive(Debug, Clone)]
pub(crate) enum Compiled {}

/// A schema of a matcher.
#[derive(Debug, Clone)]
pub(crate) struct CompiledSchema {
    pub(super) schema: Arc<Schema>,
    /// The assertion is on a flag, which may be meant as a number or as a boolean.
    flag: bool,
}

impl Stage for Compiled {
    type Pattern = Regex;
    type Schema = CompiledSchema;
}

impl Ready for Compiled {
    fn is_found(pattern: &Regex, text: &str) -> bool {
        pattern.is_match(text)
    }

    fn pattern_text(pattern: &Regex) -> &str {
        pattern.as_str()
    }

    fn validate(schema: &CompiledSchema, value: &Value) -> MatcherVerdict {
        if schema.flag && validate(&schema.schema, &(*value == 1).into()) == MatcherVerdict::Holds {
            return MatcherVerdict::Holds;
        }
        validate(&schema.schema, value)
    }

    fn schema_json(schema: &CompiledSchema) -> &Value {
        schema.schema.value()
    }
}

/// Validity against a schema; one that does not compile decides nothing.
fn validate(schema: &Schema, value: &Value) -> MatcherVerdict {
    match schema.violations(value) {
        Ok(violations) if violations.is_empty() => MatcherVerdict::Holds,
        Ok(violations) if schema.is_broken_by(value) => MatcherVerdict::Fails(violations),
        // It says nothing of such a value, so its negation does not hold either.
        Ok(violations) => MatcherVerdict::NotApplicable(violations),
        Err(error) => MatcherVerdict::NotApplicable(vec![error.to_string()]),
    }
}

/// An assertion that can be judged.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) target: Target,
    pub(crate) matcher: Matcher<Compiled>,
    /// The author's words for a failure.
    pub(crate) message: Option<String>,
    /// The assertion's own name.
    pub(crate) name: Option<Spanned<String>>,
    /// The target reads 0 or 1, and `false` and `true` mean the same.
    pub(crate) flag: bool,
    /// A gate's target that not every run has: `exact: null` asks for it to be absent.
    pub(crate) may_be_absent: bool,
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
    pub(crate) fn compile_checks(&mut self, assertions: &[Assertion]) -> Vec<Check> {
        assertions
            .iter()
            .filter_map(|assertion| {
                self.compile_check(assertion, assertion.target.text == "truncated")
            })
            .collect()
    }

    /// The assertions of a gate that compile; problems of the others are noted. `declared` is what is known of the
    /// target that a path begins with.
    pub(crate) fn compile_gate_checks<'t>(
        &mut self,
        assertions: &[Assertion],
        declared: impl Fn(&str) -> Option<&'t Measure>,
    ) -> Vec<Check> {
        let checks = assertions.iter().filter_map(|assertion| {
            let declared = declared(&assertion.target.text);
            let flag = declared.is_some_and(|target| target.unit == Unit::Flag);
            let mut check = self.compile_check(assertion, flag)?;
            check.may_be_absent = declared.is_some_and(|target| !target.always);
            Some(check)
        });
        checks.collect()
    }

    fn compile_check(&mut self, assertion: &Assertion, flag: bool) -> Option<Check> {
        let matcher = assertion.matcher.without_models()?;
        self.refuse_negated_snapshot(&matcher);
        let compiler = self;
        Some(Check {
            target: assertion.target.clone(),
            matcher: matcher.prepare(&mut MatcherCompiler { compiler, flag })?,
            message: assertion.message.clone(),
            name: assertion.name.clone(),
            flag,
            may_be_absent: false,
        })
    }

    /// A snapshot is accepted, not refuted: below a matcher that may want it not to hold it would
    /// pass without ever having been seen.
    fn refuse_negated_snapshot(&mut self, matcher: &Matcher) {
        let asks = matcher.asks();
        if asks.facts().join.is_some_and(|join| join != Join::All) {
            self.refuse_snapshot_below(matcher.name(), asks.inner());
        }
        for inner in asks.inner() {
            self.refuse_negated_snapshot(inner);
        }
    }

    fn refuse_snapshot_below(&mut self, name: &str, matchers: &[Matcher]) {
        for matcher in matchers {
            let asks = matcher.asks();
            if let Asks::Snapshot(_) = asks {
                self.problems.push(
                    Diagnostic::at(
                        matcher.span(),
                        format!("`snapshot` cannot be inside `{name}`"),
                    )
                    .help("move the snapshot into its own assertion"),
                );
            }
            self.refuse_snapshot_below(name, asks.inner());
        }
    }

    /// Regular expressions; those that do not compile are noted as problems.
    pub(crate) fn compile_patterns(&mut self, patterns: &[Spanned<String>]) -> Vec<Regex> {
        let compiled = patterns
            .iter()
            .filter_map(|pattern| self.compile_pattern(pattern));
        compiled.collect()
    }

    fn compile_pattern(&mut self, pattern: &Spanned<String>) -> Option<Regex> {
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
    fn refuse_match_all(&mut self, key: &str, pattern: &str, span: Span) {
        if matches_every_text(pattern) {
            let demand = format!("{key}: {pattern:?}");
            self.problems.push(always_true(&demand, "every text", span));
        }
    }

    /// A schema's shared validator; noted as a problem when it cannot compile.
    pub(crate) fn compile_schema(&mut self, schema: &JsonSchema) -> Option<Arc<Schema>> {
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
                    .help("correct the schema; patterns are matched by Rust's `regex` crate: no look-around, no back-references"),
            );
            return None;
        }
        if let Some(pattern) = schema.node.get("pattern")
            && let Some(text) = pattern
                .text()
                .filter(|_| asks_only(&schema.node, "pattern"))
        {
            self.refuse_match_all("pattern", text, pattern.span);
        }
        Some(shared)
    }
}

/// Makes the matcher of one assertion ready.
struct MatcherCompiler<'c> {
    compiler: &'c mut Compiler,
    /// The target reads 0 or 1.
    flag: bool,
}

impl Prepare<Compiled> for MatcherCompiler<'_> {
    fn value(&self, value: &Value) -> Value {
        if self.flag {
            as_number(value)
        } else {
            value.clone()
        }
    }

    fn pattern(&mut self, key: &str, pattern: &Spanned<String>) -> Option<Regex> {
        let regex = self.compiler.compile_pattern(pattern)?;
        self.compiler
            .refuse_match_all(key, &pattern.value, pattern.span);
        Some(regex)
    }

    fn schema_of_found(&mut self, schema: &JsonSchema) -> Option<CompiledSchema> {
        let (schema, flag) = (self.compiler.compile_schema(schema)?, self.flag);
        Some(CompiledSchema { schema, flag })
    }

    fn schema_of_part(&mut self, schema: &JsonSchema) -> Option<CompiledSchema> {
        let (schema, flag) = (self.compiler.compile_schema(schema)?, false);
        Some(CompiledSchema { schema, flag })
    }
}

/// A boolean as the number it means; anything else as it is.
pub(super) fn as_number(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => u8::from(*flag).into(),
        other => other.clone(),
    }
}
