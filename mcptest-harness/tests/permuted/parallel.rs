//! Calls of one step in another order. They were made in parallel, so that a gate that asks for no order sees no
//! difference. The tag `ordered` of the suite marks the agents whose gate asks for one.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::package::{Judged, OnDisk, same_data, suite};
use crate::runs::runs;

/// Targets that compare sequences of calls.
const OF_SEQUENCES: [&str; 3] = [
    "stability.tool_sequence_similarity",
    "stability.argument_consistency",
    "stability.early_divergence",
];

/// The run with the calls of each step turned on by so many places; a result moves with its call.
fn turned(run: &Value, turn: usize) -> Value {
    let mut run = run.clone();
    let calls = run["trace"]["tool_calls"].as_array().unwrap().clone();
    let mut order: Vec<usize> = (0..calls.len()).collect();
    for step in order.chunk_by_mut(|left, right| calls[*left]["step"] == calls[*right]["step"]) {
        let places = turn % step.len();
        step.rotate_left(places);
    }
    let moved: Vec<&Value> = order.iter().map(|call| &calls[*call]).collect();
    for result in run["trace"]["tool_results"].as_array_mut().unwrap() {
        let call = order.iter().position(|call| result["call_index"] == *call);
        result["call_index"] = call.unwrap().into();
    }
    run["trace"]["tool_calls"] = json!(moved);
    run
}

/// What a case comes to, without what shows the calls in their order.
fn of_no_order(judged: &Judged) -> Value {
    let result = &judged.result;
    let targets = result.targets.iter();
    let targets = targets.filter(|target| !OF_SEQUENCES.contains(&target.name.as_str()));
    // What an agent's own `expect:` looks at is what the recording has there.
    let targets = targets.map(|target| {
        let computed = target.unit != "recorded";
        let values = computed.then_some((&target.value, &target.per_run));
        (&target.name, values, &target.bounds)
    });
    let targets: Vec<_> = targets.collect();
    let failure = result.failure.as_ref();
    let findings = failure.iter().flat_map(|failure| &failure.findings);
    // What was found may name a call by its place.
    let asked = findings.map(|finding| {
        let found = [", found", ", see the runs below"].into_iter();
        found.fold(finding.message.as_str(), |text, found| {
            text.split(found).next().unwrap_or_default()
        })
    });
    let findings: BTreeSet<&str> = asked.collect();
    json!([
        result.status,
        result.run_verdicts,
        result.judged,
        targets,
        findings
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_order_of_parallel_calls_decides_nothing_where_no_order_is_asked(runs in runs(2), turn in 1..4_usize) {
        let suite = suite(2);
        let there = OnDisk::with_runs(&suite, &runs);
        let turned: Vec<Value> = runs.iter().map(|run| turned(run, turn)).collect();
        let here = OnDisk::with_runs(&suite, &turned);
        let package = there.open();
        let agents = package.agents();
        let ordered: Vec<&str> = agents
            .iter()
            .filter(|agent| agent.agent().tags.iter().any(|tag| tag == "ordered"))
            .map(mcptest::judge::AgentTest::case)
            .collect();
        let (there, here) = (there.judged(), here.judged());
        for (name, judged) in &there {
            let agent = judged.result.agent.as_ref().map(|agent| agent.case.as_str());
            if !agent.is_some_and(|agent| ordered.contains(&agent)) {
                same_data(name, &of_no_order(judged), &of_no_order(&here[name]))?;
            }
        }
    }
}
