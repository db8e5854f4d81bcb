//! Targets, and what matchers are held against them: does a recorded value hold what the suite expects of
//! it? What a matcher is, and how it judges, stands in the suite language; here its patterns and schemas are
//! compiled.
//!
//! Pure: a compiled assertion and a value in, a verdict with its evidence out. Nothing here knows
//! of gates, runs or rendering.

mod compile;
mod judge;
mod names;
mod pattern;
mod resolve;
mod schema;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use compile::{Check, Compiler};
pub(crate) use judge::{CheckOutcome, Found, Mismatch, Snapshots};

pub(crate) use resolve::leads_to_scores;
pub use resolve::{Unresolved, resolve};
pub use schema::Schema;
pub use target::{TargetProblem, target};
