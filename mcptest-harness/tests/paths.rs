//! Paths that code of users may hold since before the crates were split: they lead where they led. This
//! test compiles, or a path is lost.

#![allow(clippy::expect_used, reason = "a test")]

mod eval {
    #[expect(unused_imports, reason = "that they are there is the test")]
    use mcptest::eval::{
        ArgDiff, ArgsCheck, ArgsShape, Axes, AxesReport, Axis, BrokenEdge, Confidence,
        Contradiction, Dependency, DerivedSignals, ExpectedCall, ExpectedTrace, Fault, FaultKind,
        FaultPlan, GoldenPath, GoldenPathReport, Hit, HitEvidence, MalformedSchema, MatchMode,
        Mismatch, NarrativeOptions, NarrativeReport, Order, RecoveryMarks, RecoveryReport,
        RecoveryScore, ReliabilitySummary, SUB_SCORES, Schema, SessionReport, SessionScore,
        SessionTrace, StabilityAcross, StabilityFloors, StabilityReport, TOKENS_PER_USEFUL_CALL,
        TrajectoryReport, Weights, agent_consistency, agent_reliability, agent_stability,
        agent_stability_across, confidence_band, contains, contains_diffs, derive_signals,
        drift_flags, exact_diffs, judge_recovery, narrative_divergence, recommend_runs,
        score_golden_path, score_recovery, score_session, score_trajectory_axes, summarize,
        summarize_with, tool_calls_from_envelope, validate_trace,
    };
}

mod energy {
    #[expect(unused_imports, reason = "that they are there is the test")]
    use mcptest::energy::{
        Analysis, Compression, Condition, DIMENSIONS, DRIFT_THRESHOLD, Decimator, DecimatorOptions,
        DriftInput, EnergyError, FailurePattern, FailureReport, GrowthRatioGuard, GuardOptions,
        HolographicEngine, Hypervector, LyapunovMonitor, Message, Monitor, NaiveCap, OptionsError,
        PROJECTED_STEPS, Recommendation, RunSteps, Status, Step, Sweep, SweepCell, SweepRun, Tally,
        Trajectory, ablation, analyse, drift, responses, sparkline, sweep,
    };
}

mod trace {
    #[expect(unused_imports, reason = "that they are there is the test")]
    use mcptest::trace::{
        CASSETTE_SCHEMA, CassetteError, MAX_BYTES, Origin, Problem, Run, SCHEMA_VERSION,
        canonical_json, json_eq,
    };
}

mod root {
    #[expect(unused_imports, reason = "that they are there is the test")]
    use mcptest::{
        AgentRuns, CallId, CheckFailure, Harness, RecordError, Recorder, RunRequest, TargetProblem,
        Verdict, check::Unresolved, check::resolve, stats,
    };
}

#[test]
fn a_path_of_the_root_is_the_same_item() {
    let error: mcptest::TargetProblem =
        mcptest::check::target(&run(), "nowhere").expect_err("the path leads nowhere");
    assert!(error.to_string().contains("nowhere"), "{error}");
}

fn run() -> mcptest::trace::Run {
    let cassette = br#"{ "schema_version": "v1", "model": "m", "user_prompt": "p", "trace": { "tool_calls": [] } }"#;
    let origin = mcptest::trace::Origin::file("run.json");
    mcptest::trace::parse_run(cassette, &origin).expect("a small recording")
}
