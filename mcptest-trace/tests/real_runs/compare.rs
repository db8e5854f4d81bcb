//! Runs 1 and 2 of each agent against runs 3 and 4.

use mcptest_trace::evidence::compare::{
    AgentSamples, CompareOptions, Comparison, Cost, CostKind, Decision, MetricFinding, RunSample,
    Sides, compare,
};
use mcptest_trace::stats::random::Stream;
use serde_json::Value;

use crate::runs::{agents, expected, same};

fn halves(change: impl Fn(&mut RunSample)) -> Comparison {
    let agents = agents();
    let samples: Vec<AgentSamples> = agents
        .iter()
        .map(|agent| {
            let sampled = |run| RunSample::from_run(run, CostKind::Tokens);
            let mut candidate: Vec<_> = agent.runs[2..].iter().map(sampled).collect();
            candidate.iter_mut().for_each(&change);
            let baseline = agent.runs[..2].iter().map(sampled).collect();
            let sides = Sides::Both {
                baseline,
                candidate,
            };
            AgentSamples::new(agent.stem.as_str(), sides)
        })
        .collect();
    compare(&samples, &CompareOptions::default())
}

pub(crate) fn the_first_runs_against_the_last() {
    let comparison = halves(|_| {});
    check(&comparison, &expected()["compare_runs_1_2_with_3_4"]);
    assert_eq!(comparison.decision, Decision::Holds);
}

pub(crate) fn a_candidate_that_does_worse_in_every_way() {
    let comparison = halves(|run| {
        run.passed = Some(false);
        if let Some(Cost { amount, .. }) = &mut run.cost {
            *amount *= 2;
        }
        let behaviour = run.behaviour.as_mut().unwrap();
        behaviour.tools.pop();
        behaviour.calls.pop();
    });
    check(&comparison, &expected()["compare_degraded"]);
    assert_eq!(comparison.exit_status(), 1);
}

fn check(comparison: &Comparison, expected: &Value) {
    let suite = &expected["suite"];
    let found = comparison.suite.outcomes.unwrap();
    assert_eq!(found.agents, 30);
    same("share of the suite", found.share, &suite["alpha_suite"]);
    same("difference", Some(found.difference), &suite["difference"]);
    same("low", found.interval.map(|ends| ends.0), &suite["ci"][0]);
    same("high", found.interval.map(|ends| ends.1), &suite["ci"][1]);
    same("worse", Some(found.p_worse), &suite["p_worse"]);
    same("better", Some(found.p_better), &suite["p_better"]);
    same("smallest", Some(found.smallest_p), &suite["smallest_p"]);
    same("noticed", found.noticeable_drop, &suite["noticeable_drop"]);
    assert_eq!(found.runs_for_margin, suite["runs_for_margin"].as_u64());
    let regressed = found.finding == MetricFinding::Regressed;
    assert_eq!(regressed, suite["regressed"] == true);
    let cost = comparison.suite.cost.unwrap();
    same("cost", cost.ratio, &suite["cost_ratio"]);
    same(
        "cost, low",
        cost.interval.map(|ends| ends.0),
        &suite["cost_ci"][0],
    );
    same(
        "cost, high",
        cost.interval.map(|ends| ends.1),
        &suite["cost_ci"][1],
    );
    same("costlier", Some(cost.p_costlier), &suite["p_costlier"]);
    assert_eq!(
        cost.finding == MetricFinding::Regressed,
        suite["cost_regressed"] == true
    );
    let behaviour = comparison.suite.behaviour.unwrap();
    same("tools", Some(behaviour.tools.p), &suite["p_tools"]);
    assert_eq!(
        behaviour.others as u64,
        suite["agents_with_other_behaviour_at_fdr_10"]
    );

    check_agents(comparison, expected);
}

fn check_agents(comparison: &Comparison, expected: &Value) {
    let suite = &expected["suite"];
    for (name, finding) in [
        ("nothing to lose", MetricFinding::NothingToLose),
        ("too few runs", MetricFinding::TooFewRuns),
    ] {
        let outcomes = comparison.agents.iter().filter_map(|agent| agent.outcomes);
        let count = outcomes.filter(|found| found.finding == finding).count();
        assert_eq!(count as u64, expected["status"][name], "{name}");
    }
    for (agent, expected) in comparison
        .agents
        .iter()
        .zip(expected["agents"].as_array().unwrap())
    {
        let name = &agent.agent;
        assert_eq!(*name, expected["agent"]);
        let found = agent.outcomes.unwrap();
        assert_eq!(
            found.baseline.passed as u64, expected["baseline"][0],
            "{name}"
        );
        assert_eq!(
            found.candidate.passed as u64, expected["candidate"][0],
            "{name}"
        );
        same(name, Some(found.p_worse), &expected["p_worse"]);
        same(name, Some(found.p_better), &expected["p_better"]);
        same(name, Some(found.share), &suite["alpha_agent"]);
        same(
            name,
            found.noticeable_drop.map(f64::from),
            &expected["noticeable_drop"],
        );
        assert_eq!(u64::from(found.runs_needed), suite["runs_needed_per_agent"]);
        let cost = agent.cost.unwrap();
        same(name, cost.ratio, &expected["tokens_ratio"]);
        let shift = cost.shift.unwrap();
        same(name, Some(shift.ratio), &expected["tokens_shift"][0]);
        assert_eq!(shift.interval, None);
        same(name, Some(cost.p_costlier), &expected["p_costlier"]);
        let behaviour = agent.behaviour.as_ref().unwrap();
        same(
            name,
            Some(behaviour.tools.energy),
            &expected["tools_energy"],
        );
        same(name, Some(behaviour.tools.p), &expected["p_tools"]);
        same(
            name,
            Some(behaviour.calls.energy),
            &expected["calls_energy"],
        );
        same(name, Some(behaviour.calls.p), &expected["p_calls"]);
        let differences = &behaviour.differences;
        let names = |seen: &[mcptest_trace::evidence::compare::Occurrence]| -> Vec<Value> {
            seen.iter().map(|seen| seen.name.clone().into()).collect()
        };
        assert_eq!(
            names(&differences.new_tools),
            *expected["new_tools"].as_array().unwrap()
        );
        assert_eq!(
            names(&differences.lost_tools),
            *expected["lost_tools"].as_array().unwrap()
        );
    }
}

/// Random halves of the same agent's runs have nothing to find: 1,000 splits, and fewer where the
/// arithmetic is not optimised.
pub(crate) fn random_halves_alarm_no_more_than_stated() {
    let splits: u32 = if cfg!(debug_assertions) { 150 } else { 1_000 };
    let agents = agents();
    let runs: Vec<Vec<RunSample>> = agents
        .iter()
        .map(|agent| {
            let sampled = agent
                .runs
                .iter()
                .map(|run| RunSample::from_run(run, CostKind::Tokens).with_behaviour(None));
            sampled.collect()
        })
        .collect();
    let mut stream = Stream::new("random halves", 0);
    let (mut outcomes, mut cost, mut any) = (0, 0, 0);
    for _ in 0..splits {
        let samples = agents.iter().zip(&runs).map(|(agent, runs)| {
            let mut order = [0; 4];
            stream.shuffle(&mut order);
            let half = |places: &[usize]| places.iter().map(|run| runs[*run].clone()).collect();
            let sides = Sides::Both {
                baseline: half(&order[..2]),
                candidate: half(&order[2..]),
            };
            AgentSamples::new(agent.stem.as_str(), sides)
        });
        let samples: Vec<AgentSamples> = samples.collect();
        let comparison = compare(&samples, &CompareOptions::default());
        let red =
            |finding: Option<MetricFinding>| u32::from(finding == Some(MetricFinding::Regressed));
        outcomes += red(comparison.suite.outcomes.map(|found| found.finding));
        cost += red(comparison.suite.cost.map(|found| found.finding));
        any += u32::from(comparison.exit_status() == 1);
    }
    println!("of {splits} splits: outcomes {outcomes}, cost {cost}, any {any}");
    let most = |share: f64| share * f64::from(splits);
    assert!(f64::from(outcomes) <= most(0.05) && f64::from(cost) <= most(0.05));
    assert!(f64::from(any) <= most(0.1));
}
