//! How often a comparison is wrong, on suites made with a seed: false alarms where nothing changed,
//! and regressions found where one was planted. The short runs are for every day; the long ones, of
//! 1,000 suites each, are ignored: `cargo test --release -- --ignored`.
#![allow(clippy::cast_precision_loss, reason = "shares of small counts")]

use mcptest_trace::evidence::compare::{
    AgentSamples, CompareOptions, Comparison, Cost, Metric, MetricFinding, RunSample, Sides,
    compare,
};
use mcptest_trace::stats::random::Stream;

/// Suites of a short run, and of a long one.
const SHORT: u32 = 100;
const LONG: u32 = 1_000;

fn uniform(stream: &mut Stream) -> f64 {
    (stream.draw() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A passing share, what the runs cost (0: not known), and how many runs a side has.
#[derive(Clone, Copy)]
struct Side {
    passing: f64,
    cost: f64,
    runs: usize,
}

impl Side {
    fn sample(self, stream: &mut Stream) -> Vec<RunSample> {
        (0..self.runs)
            .map(|_| {
                let passed = uniform(stream) < self.passing;
                // Near a normal law: twelve uniform numbers, variance 1.
                let normal = (0..12).map(|_| uniform(stream)).sum::<f64>() - 6.0;
                let amount = (self.cost * (0.3 * normal).exp()).round();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "tokens"
                )]
                let cost = Cost::measured(amount as u64);
                RunSample::with_outcome(passed).with_cost(Some(cost))
            })
            .collect()
    }
}

/// Compares a suite of agents, each with its two sides.
fn compared(label: &str, suite: u32, agents: &[(Side, Side)]) -> Comparison {
    let mut stream = Stream::new(label, u64::from(suite));
    let samples: Vec<AgentSamples> = agents
        .iter()
        .enumerate()
        .map(|(agent, (before, now))| {
            let sides = Sides::Both {
                baseline: before.sample(&mut stream),
                candidate: now.sample(&mut stream),
            };
            AgentSamples::new(format!("agent {agent:02}"), sides)
        })
        .collect();
    compare(&samples, &CompareOptions::default())
}

fn red(comparison: &Comparison, metric: Metric) -> bool {
    let suite = match metric {
        Metric::Outcomes => comparison.suite.outcomes.map(|found| found.finding),
        Metric::Cost => comparison.suite.cost.map(|found| found.finding),
        Metric::Behaviour => None,
    };
    suite == Some(MetricFinding::Regressed)
        || comparison
            .agents
            .iter()
            .any(|agent| agent.finding(metric) == Some(MetricFinding::Regressed))
}

/// The share of suites that are red: by outcomes, by cost, by any.
fn shares(label: &str, suites: u32, agents: &[(Side, Side)]) -> [f64; 3] {
    let mut counts = [0_u32; 3];
    for suite in 0..suites {
        let comparison = compared(label, suite, agents);
        counts[0] += u32::from(red(&comparison, Metric::Outcomes));
        counts[1] += u32::from(red(&comparison, Metric::Cost));
        counts[2] += u32::from(comparison.exit_status() == 1);
    }
    counts.map(|count| f64::from(count) / f64::from(suites))
}

/// Agents that pass more and less often, and did not change.
fn unchanged(agents: usize, runs: usize) -> Vec<(Side, Side)> {
    let side = |agent: usize| Side {
        passing: 1.0 - 0.1 * (agent % 6) as f64,
        cost: 1_000.0 * (1 + agent % 4) as f64,
        runs,
    };
    (0..agents)
        .map(|agent| (side(agent), side(agent)))
        .collect()
}

/// Four deviations of a share of so many suites.
fn spread(share: f64, suites: u32) -> f64 {
    4.0 * (share * (1.0 - share) / f64::from(suites)).sqrt()
}

fn no_more_false_alarms_than_stated(suites: u32, kinds: &[(usize, usize)]) {
    for &(agents, runs) in kinds {
        let label = format!("null {agents} {runs}");
        let [outcomes, cost, any] = shares(&label, suites, &unchanged(agents, runs));
        println!("{agents} agents × {runs} runs: outcomes {outcomes}, cost {cost}, any {any}");
        assert!(
            outcomes <= 0.05 + spread(0.05, suites) / 2.0,
            "{label}: {outcomes}"
        );
        assert!(cost <= 0.05 + spread(0.05, suites) / 2.0, "{label}: {cost}");
        assert!(any <= 0.1, "{label}: {any}");
    }
}

/// Ten agents whose share of passes falls by 30 points.
fn falling(passing: f64) -> Vec<(Side, Side)> {
    let side = |passing| Side {
        passing,
        cost: 0.0,
        runs: 4,
    };
    vec![(side(passing), side(passing - 0.3)); 10]
}

/// Ten agents of which two lose 50 points.
fn two_falling(runs: usize) -> Vec<(Side, Side)> {
    let side = |passing| Side {
        passing,
        cost: 0.0,
        runs,
    };
    let mut agents = vec![(side(0.9), side(0.9)); 8];
    agents.extend([(side(0.9), side(0.4)); 2]);
    agents
}

fn planted_regressions_are_found(suites: u32) {
    for (passing, expected) in [(0.9, 0.82), (1.0, 0.99), (0.7, 0.73)] {
        let label = format!("planted {passing}");
        let [found, ..] = shares(&label, suites, &falling(passing));
        println!("from {passing}: {found}");
        let near = (found - expected).abs() <= spread(expected, suites).max(0.04);
        assert!(near, "{label}: {found} is not {expected}");
    }
    for (runs, expected) in [(4, 0.10), (10, 0.65)] {
        let label = format!("two of ten, {runs} runs");
        let [found, ..] = shares(&label, suites, &two_falling(runs));
        println!("{label}: {found}");
        let near = (found - expected).abs() <= spread(expected, suites).max(0.05);
        assert!(near, "{label}: {found} is not {expected}");
    }
    let costing = |cost| Side {
        passing: 0.9,
        cost,
        runs: 4,
    };
    let dearer = vec![(costing(1_000.0), costing(1_500.0)); 10];
    let [_, found, _] = shares("dearer", suites, &dearer);
    println!("tokens × 1.5: {found}");
    assert!(found >= 0.95, "{found}");
}

#[test]
fn a_few_suites_without_a_change_alarm_no_more_than_stated() {
    no_more_false_alarms_than_stated(SHORT, &[(1, 10), (10, 4)]);
}

#[test]
fn planted_regressions_of_a_few_suites_are_found() {
    planted_regressions_are_found(SHORT);
}

#[test]
#[ignore = "1,000 suites each: minutes without optimisation; run it with --release"]
fn suites_without_a_change_alarm_no_more_than_stated() {
    let kinds = [
        (1, 4),
        (1, 10),
        (3, 10),
        (10, 4),
        (10, 10),
        (30, 4),
        (30, 10),
    ];
    no_more_false_alarms_than_stated(LONG, &kinds);
}

#[test]
#[ignore = "1,000 suites each: minutes without optimisation; run it with --release"]
fn planted_regressions_are_found_as_often_as_stated() {
    planted_regressions_are_found(LONG);
}
