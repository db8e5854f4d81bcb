//! Assertions: a target and the matcher that must hold of what is found there.

use super::Target;
use crate::Spanned;
use crate::matcher::Matcher;

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
