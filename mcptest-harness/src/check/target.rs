//! A target path as text, followed in a recorded run.

use std::fmt;

use mcptest_suite::Span;
use mcptest_suite::model::{Target, TargetError};
use serde_json::Value;

use super::{Unresolved, resolve};
use crate::trace::Run;

/// Why a target path gives no value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetProblem {
    /// The text is no path.
    Malformed(TargetError),
    /// The path leads nowhere.
    Unresolved(Unresolved),
}

impl fmt::Display for TargetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(
                f,
                "not a target path: {} at byte {}",
                error.message, error.at
            ),
            Self::Unresolved(unresolved) => unresolved.fmt(f),
        }
    }
}

impl std::error::Error for TargetProblem {}

/// The value at a target path of a run, as in a suite's `expect:`.
///
/// # Errors
///
/// The text is no path, or the path leads nowhere in this run.
///
/// ```
/// use mcptest::check::target;
/// use mcptest::trace::{Origin, parse_run};
///
/// let cassette = br#"{
///     "schema_version": "v1", "model": "gpt-5", "user_prompt": "Where is my order?",
///     "trace": { "tool_calls": [{ "name": "find_order", "args": { "id": 7 } }] }
/// }"#;
/// let origin = Origin::file("run-1.json");
/// let run = parse_run(cassette, &origin)?;
/// assert_eq!(target(&run, "tool_calls[0].args.id")?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn target(run: &Run, path: &str) -> Result<Value, TargetProblem> {
    let target = Target::parse(path, Span::default()).map_err(TargetProblem::Malformed)?;
    let value = resolve(&target, run.envelope()).map_err(TargetProblem::Unresolved)?;
    Ok(value.into_owned())
}
