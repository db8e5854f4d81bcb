//! `regression:` with the runs of both sides, and the agents, in another order.

use std::collections::BTreeMap;

use mcptest::result::CaseStatus;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::package::{OnDisk, same_data};
use crate::runs::order;

const AGENTS: [&str; 3] = ["book", "find", "refund"];

/// How many runs an agent has on a side.
const RUNS: usize = 6;

/// A run: whether it passed, its tokens, and its last tool.
type Sample = (bool, u64, &'static str);

/// The runs of an agent before and now; some of now are those of before.
type Sides = [Vec<Sample>; 2];

fn sides() -> impl Strategy<Value = Sides> {
    let run = || {
        (
            any::<bool>(),
            1_000..1_600_u64,
            select(vec!["read", "close", "cancel"]),
        )
    };
    let side = || prop::collection::vec(run(), RUNS);
    (side(), side(), select(vec![0, 0, 2, RUNS])).prop_map(|(before, mut now, kept)| {
        now[..kept].clone_from_slice(&before[..kept]);
        [before, now]
    })
}

fn run(agent: &str, number: usize, (passed, tokens, tool): Sample) -> Value {
    json!({
        "schema_version": "v1", "agent_name": agent, "model": "m", "user_prompt": "p", "outcome": { "passed": passed },
        "recorded_at": format!("2026-01-31T12:00:0{number}Z"),
        "trace": {
            "tool_calls": [{ "name": "find", "args": { "order": tokens % 3 } }, { "name": tool }],
            "final_response": "done",
            "conversation": { "tokens": { "total": tokens }, "stop_reason": "completed" },
        },
    })
}

/// A line without the p of the behaviour of all agents together, which is drawn in the order of the runs.
fn without_draws(line: &str) -> String {
    let cells = line.split("  ").filter(|cell| !cell.is_empty());
    let drawn = line.starts_with("all ").then_some(3);
    let cells = cells.enumerate().filter(|(place, _)| Some(*place) != drawn);
    let cells: Vec<&str> = cells.map(|(_, cell)| cell.trim()).collect();
    cells.join("  ")
}

/// What the cases of `regression` come to: the status, and all lines that are said.
fn judged(
    agents: &[usize],
    runs: &[Sides],
    orders: [&[usize]; 2],
) -> BTreeMap<String, (CaseStatus, Vec<String>)> {
    let named = agents.iter().map(|agent| {
        let name = AGENTS[*agent];
        format!("  - {{ name: {name}, model: m, prompt: p, runs: {RUNS}, calls: {{ max: 9 }} }}\n")
    });
    let named: String = named.collect();
    let regression = "regression: { baseline: trusted }";
    let folder = OnDisk::new(&format!("{regression}\nagents:\n{named}"));
    for (name, sides) in AGENTS.iter().zip(runs) {
        for ((below, side), order) in ["trusted", "cassettes"].into_iter().zip(sides).zip(orders) {
            for (place, number) in order.iter().enumerate() {
                let path = format!("suites/{below}/{name}__m/run-{}.json", place + 1);
                folder.write(&path, &run(name, *number, side[*number]).to_string());
            }
        }
    }
    let cases = folder.judged().into_values().map(|judged| judged.result);
    let of_gate = cases.filter(|case| case.gate.as_deref() == Some("regression"));
    let said = of_gate.map(|case| {
        let failure = case
            .failure
            .into_iter()
            .flat_map(|failure| failure.findings);
        let findings =
            failure.flat_map(|finding| [vec![finding.message], finding.evidence].concat());
        let said: Vec<String> = findings.chain(case.reason).chain(case.notes).collect();
        let lines = said.iter().flat_map(|text| text.lines());
        (case.case, (case.status, lines.map(without_draws).collect()))
    });
    said.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn the_order_of_runs_and_of_agents_makes_no_regression(
        runs in prop::collection::vec(sides(), AGENTS.len()), before in order(RUNS), now in order(RUNS), agents in order(AGENTS.len()),
    ) {
        let as_it_is = [0, 1, 2, 3, 4, 5];
        let there = judged(&[0, 1, 2], &runs, [&as_it_is, &as_it_is]);
        prop_assert_eq!(there.len(), AGENTS.len() + 1);
        let here = judged(&agents, &runs, [&before, &now]);
        same_data("regression", &json!(there), &json!(here))?;
    }
}
