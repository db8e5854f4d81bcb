//! Targets and matchers: does a recorded value hold what the suite expects of it?
//!
//! Pure: a compiled assertion and a value in, a verdict with its evidence out. Nothing here knows
//! of gates, runs or rendering.

mod compare;
mod compile;
mod judge;
mod limits;
mod pattern;
mod phrase;
mod resolve;
mod schema;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use compile::{Check, Compiler};
pub(crate) use judge::{CheckOutcome, Found, Mismatch, Snapshots};

pub use resolve::{Unresolved, resolve};
pub use schema::Schema;
pub use target::{TargetProblem, target};
