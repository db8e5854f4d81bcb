//! Assertions: a target and the matcher that must hold of what is found there.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::Target;
use crate::{Node, Span, Spanned};

/// One entry of an `expect:` list.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assertion {
    /// What is looked at.
    pub target: Target,
    /// What must hold of it.
    pub matcher: Matcher,
    /// The author's words for a failure.
    pub message: Option<String>,
    /// The assertion's own name.
    pub name: Option<Spanned<String>>,
}

/// A matcher and where it is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Matcher {
    /// Its key.
    pub name: &'static str,
    /// What it asks.
    pub kind: MatcherKind,
    /// Where its key stands.
    pub span: Span,
}

impl Matcher {
    /// The matchers directly below it.
    #[must_use]
    pub fn inner(&self) -> &[Self] {
        match &self.kind {
            MatcherKind::Not(inner) => std::slice::from_ref(inner),
            MatcherKind::AllOf(all) | MatcherKind::AnyOf(all) | MatcherKind::OneOf(all) => all,
            _ => &[],
        }
    }

    /// The matchers in it that only a model could apply: their keys and places, in the order of
    /// the file.
    #[must_use]
    pub(crate) fn need_a_model(&self) -> Vec<(&'static str, Span)> {
        match &self.kind {
            MatcherKind::NeedsModel(name) => vec![(name, self.span)],
            _ => self.inner().iter().flat_map(Self::need_a_model).collect(),
        }
    }

    /// Whether it can be judged without a model: all of it, or what stands beside a matcher that needs
    /// one under `allOf`; not where the model would have the last word.
    #[must_use]
    pub(crate) fn is_decidable(&self) -> bool {
        match &self.kind {
            MatcherKind::AllOf(all) => all.iter().any(Self::is_decidable),
            _ => self.need_a_model().is_empty(),
        }
    }
}

/// What a matcher asks of the value at a target.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    missing_docs,
    reason = "each variant is named after its key, described in the guide"
)]
#[non_exhaustive]
pub enum MatcherKind {
    Exact(Value),
    Contains(Value),
    Subset(Value),
    Regex(Spanned<String>),
    Schema(JsonSchema),
    Snapshot(Option<Spanned<String>>),
    ContainsAll(Vec<Value>),
    ContainsAny(Vec<Value>),
    Icontains(String),
    StartsWith(String),
    IsJson(Option<JsonSchema>),
    IsValidToolsCall(Option<JsonSchema>),
    Levenshtein {
        value: String,
        max: u64,
    },
    Min(Number),
    Max(Number),
    /// From the first to the second, both included.
    Between(Number, Number),
    Not(Box<Matcher>),
    AllOf(Vec<Matcher>),
    AnyOf(Vec<Matcher>),
    OneOf(Vec<Matcher>),
    /// A matcher that only a model could apply, by its key.
    NeedsModel(&'static str),
}

/// What a matcher reads: of a value of another kind it never holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A value of any kind.
    Any,
    /// A text, or an object of a call.
    Text,
    /// A number.
    Number,
    /// What the matchers below it read.
    Inner,
}

impl MatcherKind {
    /// What it reads. There is no default: a matcher that is added says so here.
    pub(crate) fn reads(&self) -> Reads {
        match self {
            Self::Exact(_)
            | Self::Contains(_)
            | Self::Subset(_)
            | Self::Schema(_)
            | Self::Snapshot(_)
            | Self::ContainsAll(_)
            | Self::ContainsAny(_)
            | Self::NeedsModel(_) => Reads::Any,
            Self::Regex(_)
            | Self::Icontains(_)
            | Self::StartsWith(_)
            | Self::IsJson(_)
            | Self::IsValidToolsCall(_)
            | Self::Levenshtein { .. } => Reads::Text,
            Self::Min(_) | Self::Max(_) | Self::Between(..) => Reads::Number,
            Self::Not(_) | Self::AllOf(_) | Self::AnyOf(_) | Self::OneOf(_) => Reads::Inner,
        }
    }
}

/// A JSON Schema from a suite. Its keywords are known and it refers to nothing outside itself;
/// whether it compiles is seen where schemas are compiled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JsonSchema {
    /// The schema, with `type: number` added where a numeric bound stands without a type.
    pub value: Value,
    /// As it is written, for places.
    pub node: Node,
}

/// Compares two numbers by value: whole ones exactly, others as 64-bit floats.
///
/// ```
/// use std::cmp::Ordering;
/// use mcptest_suite::model::compare_numbers;
///
/// assert_eq!(compare_numbers(&1.into(), &2.into()), Ordering::Less);
/// assert_eq!(compare_numbers(&u64::MAX.into(), &(u64::MAX - 1).into()), Ordering::Greater);
/// ```
#[must_use]
pub fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        // A JSON number is always finite.
        _ => left
            .as_f64()
            .partial_cmp(&right.as_f64())
            .unwrap_or(Ordering::Equal),
    }
}
