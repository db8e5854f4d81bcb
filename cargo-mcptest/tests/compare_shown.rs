//! `cargo mcptest compare`: what it says beside the table, and what a cost is.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::four_agents::{AGENTS, four_agents, run};
use support::mcptest;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whoever cannot be told yet, the command says how many runs would do and how they are recorded.
#[test]
fn of_too_few_runs_it_says_how_many_more_and_how() {
    let folder = four_agents();
    for side in ["before", "suites"] {
        for number in 3..=6 {
            for (agent, ..) in AGENTS {
                let path = format!("{side}/cassettes/{agent}__m/run-{number}.json");
                fs::remove_file(folder.at(&path)).unwrap();
            }
        }
    }
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    folder.write("suites/desk.yml", suite.replace("runs: 6", "runs: 2"));
    let said = mcptest(folder.path(), &["compare", "before"]);
    let told = words(&said.stdout);
    for part in [
        "3 have too few runs to show a loss: 2 more runs each would do",
        "`desk::a_refund`, `desk::b_search`, 1 more: 4 runs on each side would show a fall to no passed run; \
         `runs: 4` in suites/desk.yml and `cargo mcptest record desk::` record 2 more, and the baseline needs 2 more",
    ] {
        assert!(told.contains(part), "{part} in\n{said}");
    }
    let one = ["compare", "before", "--format", "json"];
    let json: Value = serde_json::from_str(&mcptest(folder.path(), &one).stdout).unwrap();
    assert_eq!(json["undecided"][0]["agent"], "a_refund__m");
    assert_eq!(json["undecided"][0]["more"], json!([2, 2]));
    assert_eq!(json["more_runs"].as_array().unwrap().len(), 1);
}

/// No colours, whoever reads: what is piped into a file is what a terminal shows.
#[test]
fn text_is_nothing_but_text() {
    let folder = four_agents();
    let said = mcptest(folder.path(), &["compare", "before"]).exits(1);
    assert!(!said.stdout.contains('\u{1b}'), "{said:?}");
    let all = mcptest(folder.path(), &["compare", "before", "--all"]).exits(1);
    assert_eq!(said.stdout, all.stdout, "every agent has a finding");
}

/// Times of two machines are told and not judged.
#[test]
fn time_is_a_cost_where_one_machine_recorded_both_sides() {
    let folder = four_agents();
    let timed = |side: &str, ms: u64, machine: Option<&str>| {
        for (agent, ..) in AGENTS {
            for number in 1..=6 {
                let mut run = run(agent, "find", 1000 + ms + number, true, "go");
                run["trace"]["conversation"]["duration_ms"] = (ms + number).into();
                if let Some(machine) = machine {
                    run["recorded_on"] = machine.into();
                }
                let path = format!("{side}/cassettes/{agent}__m/run-{number}.json");
                folder.write(&path, run.to_string());
            }
        }
    };
    timed("before", 1000, Some("ci-1"));
    timed("suites", 2000, Some("ci-1"));
    let arguments = ["compare", "before", "--cost", "ms"];
    let said = mcptest(folder.path(), &arguments).exits(1);
    let told = words(&said.stdout);
    assert!(
        told.starts_with("None of 4 agents is shown to be worse, all 4 agents together take 100% more time, 4 take 100% more time (`a_refund`, `b_search`, `c_book`, 1 more)."),
        "{said}"
    );
    assert!(told.contains("agent passed ms behaviour verdict"), "{said}");

    for machine in [None, Some("laptop")] {
        timed("suites", 2000, machine);
        let said = mcptest(folder.path(), &arguments).exits(0);
        let told = words(&said.stdout);
        let now = machine.map_or("an unknown machine", |_| "`laptop`");
        let not_compared = format!(
            "time is not compared, because they were recorded on `ci-1` before and on {now} now: `a_refund`, `b_search`, `c_book`, `d_cancel`"
        );
        assert!(told.contains(&not_compared), "{said}");
        let only = [&arguments[..], &["--fail-on", "cost"]].concat();
        mcptest(folder.path(), &only).exits(3);
    }
}

/// Money is compared by the prices of the suites, also with results that were kept.
#[test]
fn dollars_are_a_cost_where_a_suite_states_prices() {
    let folder = four_agents();
    let arguments = ["compare", "before", "--cost", "usd"];
    let refused = mcptest(folder.path(), &arguments).exits(2);
    assert!(
        refused
            .stderr
            .contains("no suite has `prices`, so the cost of a run in dollars is not known"),
        "{refused}"
    );
    for (side, tokens) in [("before", 1000), ("suites", 2000)] {
        for (agent, ..) in AGENTS {
            for number in 1..=6_u64 {
                let mut run = run(agent, "find", tokens + number, true, "go");
                let own = &mut run["trace"]["conversation"]["tokens"];
                own["completion"] = 100.into();
                own["total"] = (tokens + number + 100).into();
                let path = format!("{side}/cassettes/{agent}__m/run-{number}.json");
                folder.write(&path, run.to_string());
            }
        }
    }
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let priced = format!("prices: {{ m: {{ prompt: 2, completion: 10 }} }}\n{suite}");
    folder.write("suites/desk.yml", priced);
    let said = mcptest(folder.path(), &arguments).exits(1);
    let told = words(&said.stdout);
    // 1000 tokens for 2 dollars and 100 for 10 are 0.003 dollars; 2000 and 100 are 0.005.
    assert!(told.contains("4 cost 67% more ("), "{said}");
    assert!(told.contains("×1.67"), "{said}");
}
