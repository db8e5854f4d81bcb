//! The metrics: pure functions from recorded runs to numbers, one file a metric.
//!
//! Each takes a raw envelope or a typed [`Trace`](crate::trace::Trace) and returns a report with
//! the evidence behind its numbers; `metrics()` gives the numbers under their target names. No
//! file, clock, suite or test case may enter here, and no result is ever `NaN`.

pub mod arg_diff;
pub mod calls;
pub mod contains;
pub mod golden_path;
mod matching;
pub(crate) mod measure;
pub mod narrative;
pub mod recovery;
pub mod reliability;
pub mod session;
pub mod stability;
mod tool_pattern;
pub mod trajectory;
pub mod trajectory_axes;

pub use arg_diff::{ArgDiff, exact_diffs};
pub use calls::{CallCounts, CallLimits, count_calls};
pub use contains::{contains, contains_diffs};
pub use golden_path::{GoldenPath, GoldenPathReport, score_golden_path};
pub use measure::{Better, Measure, Unit};
pub use narrative::{
    KnownTools, NarrativeOptions, NarrativeReport, narrative_divergence, narrative_divergence_with,
};
pub use recovery::{
    Contradiction, Evidence, Fault, FaultKind, FaultPlan, ForeignMark, Hit, RecoveryMarks,
    RecoveryReport, RecoveryScore, never_fired, replay_recovery, score_recovery,
};
pub use reliability::{
    Confidence, ReliabilitySummary, confidence_band, recommend_runs, summarize, summarize_with,
};
pub use session::{
    DerivedSignals, SessionReport, SessionScore, SessionTrace, Weights, agent_consistency,
    agent_reliability, derive_signals, score_session, session_traces, signals_of_evidence,
};
pub use stability::{
    Dimensions, SUB_SCORES, StabilityAcross, StabilityFloors, StabilityOptions, StabilityReport,
    SubScore, TOKENS_PER_USEFUL_CALL, Turns, agent_stability, agent_stability_across,
    agent_stability_across_with, agent_stability_with, drift_flags, drift_flags_of,
};
pub use tool_pattern::ToolPattern;
pub use trajectory::{
    ArgsCheck, ArgsShape, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, Mismatch,
    NoSchema, Over, TrajectoryReport, tool_calls_from_envelope, validate_trace,
    validate_trace_with,
};
pub use trajectory_axes::{
    Axes, AxesReport, Axis, BrokenEdge, Dependency, Order, score_trajectory_axes,
};
