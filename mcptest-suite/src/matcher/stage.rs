//! What stands in a matcher for a regular expression and for a JSON Schema: what a suite writes, or what
//! a program made of it. This crate compiles neither; who judges values brings both.

use std::fmt::Debug;

use serde_json::Value;

use super::verdict::MatcherVerdict;
use crate::Spanned;
use crate::model::JsonSchema;

/// How far the regular expressions and the schemas of a matcher are made.
pub trait Stage: Debug + Clone + 'static {
    /// A regular expression.
    type Pattern: Debug + Clone;
    /// A JSON Schema.
    type Schema: Debug + Clone;
}

/// As a suite writes them.
///
/// A closed set: it is empty, and stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsWritten {}

impl Stage for AsWritten {
    type Pattern = Spanned<String>;
    type Schema = JsonSchema;
}

/// Made ready to be held against values.
pub trait Ready: Stage {
    /// Whether a text has a match.
    fn is_found(pattern: &Self::Pattern, text: &str) -> bool;

    /// A regular expression as text.
    fn pattern_text(pattern: &Self::Pattern) -> &str;

    /// Whether a value is valid. Of a value of which the schema says nothing it is
    /// [`MatcherVerdict::NotApplicable`].
    fn validate(schema: &Self::Schema, value: &Value) -> MatcherVerdict;

    /// The schema as JSON.
    fn schema_json(schema: &Self::Schema) -> &Value;
}

/// Makes what a matcher is made of ready for one assertion. What cannot be made is noted by who prepares,
/// and is `None`.
pub trait Prepare<R: Ready> {
    /// A value that is compared with what is found: as it is, or what it means at this target. Each value
    /// that a matcher compares goes through here.
    fn value(&self, value: &Value) -> Value;

    /// A regular expression that decides something; `key` is the matcher's.
    fn pattern(&mut self, key: &str, pattern: &Spanned<String>) -> Option<R::Pattern>;

    /// A schema for what is found, as it means it at this target.
    fn schema_of_found(&mut self, schema: &JsonSchema) -> Option<R::Schema>;

    /// A schema for a part of what is found.
    fn schema_of_part(&mut self, schema: &JsonSchema) -> Option<R::Schema>;
}
