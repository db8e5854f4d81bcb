//! The metrics: pure functions from recorded runs to numbers, one file a metric.
//!
//! Each takes a raw envelope or a typed [`Trace`](crate::trace::Trace) and returns a report with
//! the evidence behind its numbers. [`Metrics`] says which targets a report has, and gives their numbers. No
//! file, clock, suite or test case may enter here, and no result is ever `NaN`.

mod answers;
mod arg_diff;
mod boundaries;
mod calls;
mod contains;
mod flow;
mod golden_path;
mod matching;
pub(crate) mod measure;
pub(crate) mod metrics;
mod months;
mod narrative;
mod own_args;
mod playback;
mod recovery;
mod reliability;
mod session;
mod stability;
mod subset;
mod tool_pattern;
mod trajectory;
mod trajectory_axes;
mod values;
pub(crate) mod views;

pub use answers::{AnswerLookup, OwnAnswer, OwnAnswers, OwnReply};
pub use arg_diff::{ArgDiff, exact_diffs};
pub use calls::{
    CallCounts, CallLimits, ModelPrice, Prices, UnknownCost, cost_of_run, count_calls,
    count_calls_with,
};
pub use contains::{contains, contains_diffs};
pub use flow::{
    Encoded, Flow, FlowContext, FlowEntry, FlowReport, FlowUnless, Leak, MarkedText,
    calls_to_judge, has_arguments, trace_flow, trace_flow_with,
};
pub use golden_path::{GoldenPath, GoldenPathReport, score_golden_path};
pub use measure::{Better, Measure, Unit};
pub use metrics::Metrics;
pub use narrative::{
    CallFinding, Claim, ClaimVerdict, Considered, KnownTools, NarrativeOptions, NarrativeReport,
    Reported, UnclaimedCall, Unclear, has_english, narrative_divergence, narrative_divergence_with,
    narrative_rules, reported,
};
pub use own_args::changed_by_code;
pub use playback::{
    Divergence, DivergenceKind, IgnoredPath, IgnoredPathError, PlaybackOptions, PlaybackReport,
};
pub use recovery::{
    Contradiction, Decisions, Effect, Fault, FaultKind, FaultPlan, ForeignMark, Hit, HitEvidence,
    RecoveryMarks, RecoveryReport, RecoveryScore, judge_recovery, never_fired, score_recovery,
};
pub use reliability::{
    Confidence, ReliabilityOptions, ReliabilitySummary, confidence_band, recommend_runs, summarize,
    summarize_with,
};
pub use session::{
    DerivedSignals, SessionReport, SessionScore, SessionTrace, Weights, agent_consistency,
    agent_reliability, derive_signals, score_session, session_traces, signals_from_scores,
};
pub use stability::{
    Dimensions, SUB_SCORE_TARGETS, SUB_SCORES, StabilityAcross, StabilityFloors, StabilityOptions,
    StabilityReport, SubScore, TOKENS_PER_USEFUL_CALL, Turns, agent_stability,
    agent_stability_across, agent_stability_across_with, agent_stability_with, drift_flags,
};
pub use subset::subset;
pub use tool_pattern::ToolPattern;
pub use trajectory::{
    ArgsCheck, ArgsShape, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, Mismatch,
    NoSchema, Over, TrajectoryReport, tool_calls_from_envelope, validate_trace,
    validate_trace_with,
};
pub use trajectory_axes::{
    Axes, AxesReport, Axis, BrokenEdge, Dependency, Order, score_trajectory_axes,
};
pub use views::Encoding;
