//! A verdict as text.
//!
//! Pure: data in, text out. The shape is the same for every failure: a headline, the suite's source
//! line with a caret, the runs, the evidence, and the command that runs the case alone. Everything
//! that came from a file is cleaned of control characters on its way in.

mod diff;
mod failure;
mod table;

pub(crate) use diff::{Diff, changed_lines};
pub(crate) use failure::{Evidence, Failure, Finding, SEE_RUNS, rerun_line};
pub(crate) use table::Table;
