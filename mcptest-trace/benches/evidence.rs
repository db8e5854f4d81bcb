//! What evidence costs beyond reading the runs: 1,000 agents compared and calibrated, mutants a second.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a benchmark is a test"
)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use mcptest_trace::eval::{
    ArgsShape, ExpectedCall, ExpectedTrace, GoldenPath, MatchMode, NoSchema, agent_stability,
    score_golden_path, validate_trace,
};
use mcptest_trace::eval::{Measure, Unit};
use mcptest_trace::evidence::calibrate::{Quantity, Scored, calibrate};
use mcptest_trace::evidence::compare::{
    AgentSamples, Behaviour, CompareOptions, Cost, RunSample, Sides, compare,
};
use mcptest_trace::evidence::mutants::{MutantOptions, RecordedRun, plan};
use mcptest_trace::stats::conformal::Share;
use mcptest_trace::stats::random::Stream;
use mcptest_trace::trace::{Origin, Run, parse_run};
use serde_json::json;

/// A test only wants to know that it runs, and builds without optimisation.
const AGENTS: usize = if cfg!(debug_assertions) { 20 } else { 1_000 };

/// Runs of an agent on each side.
const RUNS: [usize; 3] = [4, 5, 10];

/// Targets that are calibrated: as many as all gates have together.
const TARGETS: usize = 40;

fn main() {
    divan::main();
}

/// A run of about ten calls to six tools; nine of ten pass.
fn sample(stream: &mut Stream) -> RunSample {
    let calls = 8 + stream.below(5);
    let tools: Vec<String> = (0..calls)
        .map(|place| format!("tool_{}", (place + stream.below(2)) % 6))
        .collect();
    let order = |tool: &String, stream: &mut Stream| format!("{tool} {}", stream.below(3));
    let whole = tools.iter().map(|tool| order(tool, stream)).collect();
    let tokens = 9_000 + stream.below(2_000) as u64;
    RunSample::with_outcome(stream.below(10) > 0)
        .with_cost(Some(Cost::measured(tokens)))
        .with_behaviour(Some(Behaviour::new(tools, whole)))
}

#[divan::bench(args = RUNS, sample_count = 3, sample_size = 1)]
fn compare_1000_agents(bencher: Bencher, runs: usize) {
    let mut stream = Stream::new("bench/compare", 0);
    let mut side = || (0..runs).map(|_| sample(&mut stream)).collect();
    let agents: Vec<AgentSamples> = (0..AGENTS)
        .map(|agent| {
            let (baseline, candidate) = (side(), side());
            let sides = Sides::Both {
                baseline,
                candidate,
            };
            AgentSamples::new(format!("agent_{agent:04}"), sides)
        })
        .collect();
    let options = CompareOptions::default();
    bencher.bench_local(|| compare(black_box(&agents), &options));
}

#[divan::bench(args = RUNS, sample_count = 3, sample_size = 1)]
fn calibrate_1000_agents(bencher: Bencher, runs: usize) {
    let mut stream = Stream::new("bench/calibrate", 0);
    let names: Vec<String> = (0..AGENTS)
        .map(|agent| format!("agent_{agent:04}"))
        .collect();
    // Every second target is a count of few values: ties.
    let targets: Vec<(Quantity, Vec<Scored<'_>>)> = (0..TARGETS)
        .map(|target| {
            let (unit, values) = if target.is_multiple_of(2) {
                (Unit::Ratio, 1_000_000)
            } else {
                (Unit::Count, 8)
            };
            let value = |stream: &mut Stream| stream.below(values) as f64;
            let scored = (0..AGENTS * runs)
                .map(|run| {
                    let passed = stream.below(10) > 2;
                    Scored::new(&names[run / runs], Some(value(&mut stream)), Some(passed))
                })
                .collect();
            let target = Measure::new("target", unit).lower_is_better("");
            (Quantity::from_measure(&target).unwrap(), scored)
        })
        .collect();
    let share = Share::percent(95).unwrap();
    bencher.bench_local(|| {
        for (target, scored) in &targets {
            black_box(calibrate(target, black_box(scored), share));
        }
    });
}

/// A run that looks at five orders and cancels each.
fn recorded(number: usize) -> Run {
    let tool = |index: usize| ["get_order", "cancel_order"][index % 2];
    let order = |index: usize| format!("W{:05}", number * 100 + index / 2);
    let calls: Vec<_> = (0..10)
        .map(|index| {
            json!({ "name": tool(index), "server": "desk", "step": index,
                    "args": { "order_id": order(index), "reason": "no longer needed" } })
        })
        .collect();
    let results: Vec<_> = (0..10)
        .map(|index| {
            json!({ "call_index": index, "is_error": false,
                    "result": { "content": [{ "type": "text", "text": format!("order {}", order(index)) }] } })
        })
        .collect();
    let steps: Vec<_> = (0..10)
        .map(|index| json!({ "prompt": 1_000 + index, "completion": 20 }))
        .collect();
    let cassette = json!({
        "schema_version": "v1", "model": "m", "user_prompt": "Cancel my orders.",
        "trace": {
            "tool_calls": calls, "tool_results": results,
            "final_response": "I have cancelled your orders.",
            "conversation": { "steps": steps, "turns": [], "stop_reason": "completed" },
        },
    });
    let origin = Origin::file(format!("run-{}.json", number + 1));
    parse_run(cassette.to_string().as_bytes(), &origin).unwrap()
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn mutants(bencher: Bencher) {
    let runs: Vec<Run> = (0..40).map(recorded).collect();
    let recorded: Vec<RecordedRun<'_>> = (0..)
        .zip(&runs)
        .map(|(number, run)| RecordedRun::new("desk", number + 1, run))
        .collect();
    let options = MutantOptions::default().with_per_operator(None);
    let calls = ["get_order", "cancel_order"].map(|tool| ExpectedCall::new(tool, ArgsShape::Any));
    let expected = ExpectedTrace::<NoSchema>::new(MatchMode::Superset, calls.into());
    let golden = GoldenPath::new(["get_order", "cancel_order"].repeat(5));
    let judged = || {
        let plan = plan(black_box(&recorded), &options);
        for mutant in &plan.mutants {
            let broken = mutant.apply(&runs[mutant.run]).trace;
            let _ = black_box(validate_trace(&broken, &expected));
            black_box(score_golden_path(&broken, &golden));
            black_box(agent_stability(&broken));
        }
        plan.mutants.len()
    };
    bencher
        .counter(ItemsCount::new(judged()))
        .bench_local(judged);
}
