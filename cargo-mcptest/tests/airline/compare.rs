//! Runs 1 and 2 of each agent against runs 3 and 4.

use std::fs;

use e2e_support::folder::{Folder, collect};
use serde_json::Value;

use crate::data::{airline, answer, expected, mcptest, same};

/// The runs 1 and 2 in `first`, 3 and 4 in `last`.
pub(crate) fn halves() -> Folder {
    let folder = airline();
    for (path, bytes) in collect(&folder.at("cassettes")) {
        let half = if path.ends_with("run-1.json") || path.ends_with("run-2.json") {
            "first"
        } else {
            "last"
        };
        folder.write(&format!("{half}/cassettes/{path}"), bytes);
    }
    folder
}

pub(crate) fn the_first_runs_against_the_last() {
    let found = answer(&halves(), &["compare", "first", "last"], 0);
    check(&found, &expected()["compare_runs_1_2_with_3_4"]);
    assert_eq!(found["decision"], "holds");
}

pub(crate) fn a_candidate_that_does_worse_in_every_way() {
    let folder = halves();
    for path in collect(&folder.at("last")).into_keys() {
        let path = folder.at("last").join(path);
        let mut run: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        run["outcome"]["passed"] = false.into();
        let last = run["trace"]["tool_calls"].as_array_mut().unwrap();
        last.pop();
        let calls = last.len();
        let results = run["trace"]["tool_results"].as_array_mut().unwrap();
        results.retain(|result| result["call_index"].as_u64().unwrap() < calls as u64);
        let conversation = &mut run["trace"]["conversation"];
        // Steps and turns must agree with the calls and the tokens.
        for part in ["steps", "turns", "per_turn"] {
            conversation.as_object_mut().unwrap().remove(part);
        }
        for part in ["prompt", "completion", "total"] {
            let tokens = &mut conversation["tokens"][part];
            if let Some(count) = tokens.as_u64() {
                *tokens = (2 * count).into();
            }
        }
        fs::write(path, run.to_string()).unwrap();
    }
    let found = answer(&folder, &["compare", "first", "last"], 1);
    check(&found, &expected()["compare_degraded"]);
}

/// Thirty agents of two runs each: what fits a terminal, and how many runs would tell more.
pub(crate) fn the_text_fits_a_terminal() {
    let folder = halves();
    let said = mcptest(&folder, &["compare", "first", "last"]).exits(0);
    let columns = |text: &str| text.lines().map(|line| line.chars().count()).max();
    assert!(columns(&said.stdout) <= Some(100), "{said}");
    assert!(said.stdout.lines().count() <= 30, "{said}");
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "None of 30 agents is shown to be worse, 5 no longer pass in any run, but the runs are too few to show a loss (`Airline task 01`: 1 of 2 → 0 of 2, `Airline task 05`: 1 of 2 → 0 of 2, `Airline task 06`: 1 of 2 → 0 of 2, 2 more): about 21 more runs each would do, 7 have too few runs to show a loss: about 4 to 21 more runs each would do, 17 had nothing to lose",
        "25 agents without a finding (`--all` shows them): 17 nothing to lose, 8 too few runs",
        "6 runs on each side would show a fall to no passed run; `runs: 6` in suites/airline.yml and `cargo mcptest record airline::` record 4 more",
    ] {
        assert!(text.contains(part), "{part} in\n{said}");
    }
    let all = mcptest(&folder, &["compare", "first", "last", "--all"]).exits(0);
    assert!(columns(&all.stdout) <= Some(100), "{all}");
    let rows = all
        .stdout
        .lines()
        .filter(|line| line.starts_with("Airline task "));
    assert_eq!(rows.count(), 30, "{all}");
}

fn check(found: &Value, expected: &Value) {
    let (suite, wanted) = (&found["suite"], &expected["suite"]);
    for (place, name) in [
        ("/outcomes/share", "alpha_suite"),
        ("/outcomes/difference", "difference"),
        ("/outcomes/interval/0", "ci/0"),
        ("/outcomes/interval/1", "ci/1"),
        ("/outcomes/p_worse", "p_worse"),
        ("/outcomes/p_better", "p_better"),
        ("/outcomes/noticeable_drop", "noticeable_drop"),
        ("/outcomes/runs_for_margin", "runs_for_margin"),
        ("/cost/ratio", "cost_ratio"),
        ("/cost/p_costlier", "p_costlier"),
        ("/behaviour/tools/p", "p_tools"),
    ] {
        let wanted = wanted.pointer(&format!("/{name}")).unwrap_or(&Value::Null);
        same(place, suite.pointer(place).unwrap_or(&Value::Null), wanted);
    }
    let agents = found["agents"].as_array().unwrap();
    let wanted = expected["agents"].as_array().unwrap();
    // The expected numbers are of some agents.
    assert!(agents.len() == 30 && !wanted.is_empty());
    for (agent, wanted) in agents.iter().zip(wanted) {
        assert_eq!(agent["agent"], wanted["agent"]);
        same("worse", &agent["outcomes"]["p_worse"], &wanted["p_worse"]);
        same(
            "costlier",
            &agent["cost"]["p_costlier"],
            &wanted["p_costlier"],
        );
        same(
            "tools",
            &agent["behaviour"]["tools"]["p"],
            &wanted["p_tools"],
        );
        same(
            "calls",
            &agent["behaviour"]["calls"]["p"],
            &wanted["p_calls"],
        );
    }
}
