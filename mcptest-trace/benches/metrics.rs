//! What one long run costs in every metric, beside reading it: each has to be linear in the calls.

use divan::{Bencher, black_box};
use mcptest_trace::energy::{GuardOptions, RunSteps, analyse};
use mcptest_trace::eval::{
    ArgsShape, Axes, Dependency, ExpectedCall, ExpectedTrace, Fault, FaultKind, FaultPlan,
    GoldenPath, KnownTools, MatchMode, NarrativeOptions, NoSchema, Order, Weights, agent_stability,
    count_calls, judge_recovery, narrative_divergence, score_golden_path, score_session,
    score_trajectory_axes, session_traces, validate_trace,
};
use mcptest_trace::trace::Trace;
use serde_json::{Value, json};

const CALLS: [usize; 2] = [10_000, 100_000];

fn main() {
    divan::main();
}

/// A run that looks at one thing after the other and changes each, and says so.
fn envelope(calls: usize) -> Value {
    let tool = |index: usize| {
        if index.is_multiple_of(2) {
            "get_order"
        } else {
            "cancel_order"
        }
    };
    let order = |index: usize| format!("W{:07}", index / 2);
    let made: Vec<_> = (0..calls)
        .map(|index| {
            json!({ "name": tool(index), "server": "desk", "args": { "order_id": order(index) },
                    "step": index })
        })
        .collect();
    let results: Vec<_> = (0..calls)
        .map(|index| {
            json!({ "call_index": index, "is_error": index % 97 == 0,
                    "result": { "content": [{ "type": "text", "text": format!("order {}", order(index)) }] } })
        })
        .collect();
    let steps: Vec<_> = (0..calls)
        .map(|index| json!({ "prompt": 1_000 + index, "completion": 20 }))
        .collect();
    let turns: Vec<_> = (0..calls)
        .map(|index| json!({ "role": "assistant", "content": format!("tool_use desk::{}", tool(index)) }))
        .collect();
    json!({
        "tool_calls": made, "tool_results": results,
        "final_response": "I have cancelled order W0000001 and order W0000002.",
        "conversation": { "steps": steps, "turns": turns, "stop_reason": "completed" },
    })
}

#[divan::bench(args = CALLS, sample_count = 5, sample_size = 1)]
fn read(bencher: Bencher, calls: usize) {
    let envelope = envelope(calls);
    bencher.bench_local(|| Trace::from_envelope(black_box(&envelope)));
}

macro_rules! metrics {
    ($($name:ident: |$trace:ident| $measured:expr;)*) => {$(
        #[divan::bench(args = CALLS, sample_count = 5, sample_size = 1)]
        fn $name(bencher: Bencher, calls: usize) {
            let trace = Trace::from_envelope(&envelope(calls));
            let $trace = &trace;
            bencher.bench_local(|| black_box($measured));
        }
    )*};
}

metrics! {
    calls: |trace| count_calls(trace);
    energy: |trace| analyse(&RunSteps::recorded_or_estimated(trace), GuardOptions::default(), None);
    golden_path: |trace| score_golden_path(trace, &GoldenPath::new(["get_order", "cancel_order"]));
    narrative: |trace| narrative_divergence(trace, &NarrativeOptions::default());
    recovery: |trace| judge_recovery(trace, &plan());
    redundancy: |trace| trace.redundant_tool_calls();
    session: |trace| score_session(&session_traces([(trace, None)], Some((&NarrativeOptions::default(), &KnownTools::default()))), &Weights::default());
    stability: |trace| agent_stability(trace);
    trajectory_subsequence: |trace| validate_trace(trace, &expected(MatchMode::Subsequence));
    trajectory_superset: |trace| validate_trace(trace, &expected(MatchMode::Superset));
    trajectory_axes: |trace| score_trajectory_axes(trace, &axes());
}

fn plan() -> FaultPlan {
    FaultPlan::new(vec![
        Fault::new("slow", FaultKind::Slow { delay_ms: 10 }).with_tool("get_order"),
    ])
}

fn expected(mode: MatchMode) -> ExpectedTrace<NoSchema> {
    let calls = (0..20).map(|order| {
        let args = json!({ "order_id": format!("W{order:07}") });
        ExpectedCall::new("cancel_order", ArgsShape::Exact(args))
    });
    ExpectedTrace::new(mode, calls.collect())
}

fn axes() -> Axes {
    Axes::default()
        .with_dependencies(vec![
            Dependency::new("get_order", "cancel_order").with_arg("order_id"),
        ])
        .with_order(vec![Order::new("get_order", "cancel_order")])
}
