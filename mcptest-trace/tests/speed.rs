//! How long large suites take, in the release profile: `cargo test --release --test speed -- --ignored
//! --nocapture`.
#![allow(clippy::cast_precision_loss, reason = "small counts")]

use std::time::{Duration, Instant};

use mcptest_trace::eval::{Measure, Unit};
use mcptest_trace::evidence::calibrate::{Quantity, Scored, calibrate};
use mcptest_trace::evidence::compare::{
    AgentSamples, Behaviour, CompareOptions, Cost, RunSample, Sides, compare,
};
use mcptest_trace::stats::conformal::Share;
use mcptest_trace::stats::random::Stream;

fn within(what: &str, most: Duration, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took <= most, "{what}: {took:?}");
}

fn sample(stream: &mut Stream) -> RunSample {
    let tools: Vec<String> = (0..8)
        .map(|_| format!("tool_{}", stream.below(5)))
        .collect();
    let passed = stream.below(10) > 2;
    let cost = Cost::measured(1_000 + stream.below(5_000) as u64);
    let calls = tools
        .iter()
        .map(|tool| format!("{tool} {}", stream.below(3)))
        .collect();
    RunSample::with_outcome(passed)
        .with_cost(Some(cost))
        .with_behaviour(Some(Behaviour::new(tools, calls)))
}

#[test]
#[ignore = "a measurement of the release profile"]
fn a_thousand_agents_are_compared_in_two_seconds() {
    let mut stream = Stream::new("speed", 0);
    let samples: Vec<AgentSamples> = (0..1_000)
        .map(|agent| {
            let sides = Sides::Both {
                baseline: (0..4).map(|_| sample(&mut stream)).collect(),
                candidate: (0..4).map(|_| sample(&mut stream)).collect(),
            };
            AgentSamples::new(format!("agent {agent:04}"), sides)
        })
        .collect();
    within("compare 1,000 × 4 + 4", Duration::from_secs(2), || {
        let comparison = compare(&samples, &CompareOptions::default());
        assert_eq!(comparison.agents.len(), 1_000);
        assert!(comparison.suite.cost.is_some_and(|cost| cost.exact));
    });
}

#[test]
#[ignore = "a measurement of the release profile"]
fn a_thousand_agents_are_calibrated_in_a_second() {
    let mut stream = Stream::new("speed", 0);
    let names: Vec<String> = (0..1_000)
        .map(|agent| format!("agent {agent:04}"))
        .collect();
    let tokens = Measure::new("tokens", Unit::Tokens).lower_is_better("");
    let target = Quantity::from_measure(&tokens).expect("a number");
    let scored: Vec<Scored> = (0..4_000)
        .map(|run| {
            let value = stream.below(100_000) as f64;
            Scored::new(&names[run / 4], Some(value), Some(stream.below(10) > 2))
        })
        .collect();
    within("calibrate 1,000 × 4", Duration::from_secs(1), || {
        let found = calibrate(&target, &scored, Share::percent(95).expect("a percentage"));
        assert!(found.limit.is_some());
    });
}
