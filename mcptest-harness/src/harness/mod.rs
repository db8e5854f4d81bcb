//! From suites to test cases: discovery, loading, the runner, and what the macro calls.
//!
//! In stages, none of which asks for an earlier one: the cases are selected (`arguments`, `tags`,
//! `prepared`), the runs they need are recorded where that was asked for (`recording`), runs are read
//! (`runs`, kept by `loaded`), cases are judged (`case`), and what they came to is shown (`output`).

mod agent_runs;
mod agent_test;
mod arguments;
mod case;
mod case_result;
mod case_verdict;
mod discovery;
mod drivers;
mod entry;
mod events;
mod functions;
pub mod judge;
mod listing;
mod loaded;
mod lookup;
mod near_names;
mod no_case;
mod output;
mod pattern;
mod playing;
mod prepared;
mod recording;
mod regression;
mod remarks;
mod runner;
mod runner_error;
mod runs;
mod runs_error;
mod sharding;
mod side_runs;
mod snapshots;
mod tags;
#[cfg(test)]
mod tests;
mod trials;
mod verdicts;

pub use agent_runs::{AgentRuns, CheckFailure, Verdict};
pub use entry::{MacroCase, Shown, run_case, run_check};
pub use functions::AgentFunction;
#[cfg(feature = "session")]
pub use functions::{BoxedAgent, boxed};
pub use runner::Harness;
