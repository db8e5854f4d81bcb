//! What a suite is compared with.

use mcptest_trace::evidence::compare::CompareOptions;

use crate::{Span, Spanned};

/// The baseline that the suite's agents must not fall behind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Regression {
    /// Where the key stands.
    pub span: Span,
    /// The folder of the recordings, or of the results, that are trusted; relative to the suite's.
    pub baseline: Spanned<String>,
    /// What counts as worse.
    pub options: CompareOptions,
}

/// What an agent says of its own comparison.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentRegression {
    /// Where the key stands.
    pub span: Span,
    /// The least drop that counts, in points of 100.
    pub margin: Option<f64>,
    /// Why it is not compared.
    pub skip: Option<Spanned<String>>,
}
