//! `cargo mcptest compare`: comparisons in which something is taken away, so that all looks well.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use serde_json::json;
use support::four_agents::run;
use support::planted::{
    asks, compare, nothing, record, tells, two_agents, without_outcome, without_tokens,
};

/// The gates hold on the runs that failed by their own word.
#[test]
fn an_outcome_that_is_taken_away_hides_no_failure() {
    for missing in [1, 6] {
        let folder = two_agents();
        record(&folder, "suites/cassettes/a__m", 0, 1010, |number, run| {
            if number < missing {
                without_outcome(run);
            }
        });
        let said = compare(folder.path(), &["before"]).exits(3);
        let told =
            format!("`a`: 0 of 6 runs before and {missing} of 6 now have no recorded outcome");
        tells(
            &said,
            &[
                &told,
                "so the gates decide for all runs of the agent whether they passed",
            ],
        );
        tells(
            &said,
            &["cannot tell: 1 agent has fewer recorded outcomes than in the baseline"],
        );
        // Neither do the recordings alone.
        let recorded = compare(folder.path(), &["before", "--outcome", "recorded"]).exits(3);
        tells(&recorded, &["so its outcomes are not compared"]);
        // Who asks the gates, gets their answer.
        let gates = compare(folder.path(), &["before", "--outcome", "gates"]).exits(0);
        assert!(!gates.stdout.contains("no recorded outcome"), "{gates}");
        // The comment and results say the same.
        let markdown = compare(folder.path(), &["before", "--format", "markdown"]).exits(3);
        tells(&markdown, &[&told]);
        compare(folder.path(), &["before", "--save", "today"]).exits(3);
        compare(folder.path(), &["before", "today"]).exits(3);
    }
}

#[test]
fn all_runs_of_one_side_without_an_outcome_are_no_pass() {
    let folder = two_agents();
    for agent in ["a__m", "steady__m"] {
        record(
            &folder,
            &format!("suites/cassettes/{agent}"),
            0,
            1010,
            |_, run| without_outcome(run),
        );
    }
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &["cannot tell: 2 agents have fewer recorded outcomes"],
    );
}

/// A run that does not say its tokens hides no rise of the others.
#[test]
fn a_cost_that_is_taken_away_hides_no_rise() {
    let folder = two_agents();
    record(&folder, "suites/cassettes/a__m", 6, 3010, |number, run| {
        if number == 0 {
            without_tokens(run);
        }
    });
    let fact = "tokens are not compared, because 0 of 6 runs before and 1 of 6 now have no recorded cost: `a`";
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            fact,
            "1 has fewer runs with recorded tokens than before (`a`)",
        ],
    );
    let said = compare(folder.path(), &["before", "--fail-on", "outcomes"]).exits(0);
    tells(&said, &[fact]);
}

/// Time and steps are costs as tokens are.
#[test]
fn a_time_that_is_taken_away_hides_no_rise() {
    let folder = two_agents();
    for (side, ms) in [("before", 100), ("suites", 900)] {
        for agent in ["a__m", "steady__m"] {
            record(
                &folder,
                &format!("{side}/cassettes/{agent}"),
                6,
                ms,
                |number, run| {
                    run["recorded_on"] = "ci".into();
                    if !(side == "suites" && number == 2) {
                        run["trace"]["conversation"]["duration_ms"] = (ms + number as u64).into();
                    }
                },
            );
        }
    }
    let said = compare(folder.path(), &["before", "--cost", "ms"]).exits(3);
    tells(
        &said,
        &["time is not compared, because 0 of 6 runs before and 1 of 6 now have no recorded cost"],
    );
}

#[test]
fn an_empty_side_is_no_pass() {
    for side in ["before", "suites"] {
        let folder = two_agents();
        fs::remove_dir_all(folder.at(side).join("cassettes")).unwrap();
        fs::create_dir_all(folder.at(side).join("cassettes")).unwrap();
        let said = compare(folder.path(), &["before"]).exits(3);
        tells(&said, &["cannot tell: "]);
        assert!(!said.stdout.contains("--across-models"), "{said}");
    }
}

/// Two runs that are many copies of one are no six runs.
#[test]
fn copies_of_a_new_run_are_one_run() {
    let folder = two_agents();
    let one = fs::read(folder.at("suites/cassettes/a__m/run-1.json")).unwrap();
    for number in 2..=6 {
        folder.write(&format!("suites/cassettes/a__m/run-{number}.json"), &one);
    }
    let said = compare(folder.path(), &["before"]);
    assert_ne!(said.code, Some(0), "{said}");
}

/// Of too few runs nothing holds, and who fell is shown.
#[test]
fn an_agent_that_fell_to_none_in_few_runs_is_shown() {
    let folder = two_agents();
    for side in ["before", "suites"] {
        for number in 3..=6 {
            fs::remove_file(folder.at(&format!("{side}/cassettes/a__m/run-{number}.json")))
                .unwrap();
        }
    }
    for number in 1..=2 {
        let run = run("a", "find", 1000 + number, false, "go");
        folder.write(
            &format!("suites/cassettes/a__m/run-{number}.json"),
            run.to_string(),
        );
    }
    let suite = [asks("a", "m", "go", 2), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]);
    tells(
        &said,
        &[
            "1 no longer passes in any run, but the runs are too few to show a loss (`a`: 2 of 2 → 0 of 2)",
            "a 2/2 → 0/2",
        ],
    );
    tells(
        &said,
        &["too few runs: 2 more each", "`runs: 4` in suites/desk.yml"],
    );
    assert!(!said.stdout.contains("no difference was found"), "{said}");
}

/// Alike runs of both sides that could not have been worse show nothing.
#[test]
fn that_few_runs_are_alike_shows_not_that_they_are_no_worse() {
    let folder = two_agents();
    for side in ["before", "suites"] {
        for agent in ["a", "steady"] {
            for number in 2..=6 {
                fs::remove_file(
                    folder.at(&format!("{side}/cassettes/{agent}__m/run-{number}.json")),
                )
                .unwrap();
            }
        }
    }
    let suite = [asks("a", "m", "go", 1), asks("steady", "m", "go", 1)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before", "--require", "not_worse"]).exits(1);
    tells(
        &said,
        &["the comparison does not show that the agents are no worse"],
    );
}

/// Model calls that are not recorded any more are told as tokens are.
#[test]
fn steps_that_are_taken_away_hide_no_rise() {
    let folder = two_agents();
    for (side, tokens, steps) in [("before", 1000, 2), ("suites", 1010, 8)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            |number, run| {
                if !(side == "suites" && number < 3) {
                    let own = run["trace"]["conversation"].as_object_mut().unwrap();
                    own.remove("tokens");
                    let step = json!({ "prompt": tokens + number as u64, "completion": 1 });
                    own.insert("steps".to_owned(), vec![step; steps].into());
                }
            },
        );
    }
    let said = compare(folder.path(), &["before", "--cost", "steps"]).exits(3);
    tells(
        &said,
        &["0 of 6 runs before and 3 of 6 now have no recorded cost: `a`"],
    );
}

/// Files of results that nobody can read are runs that nobody knows.
#[test]
fn results_that_cannot_be_read_are_no_pass() {
    let folder = two_agents();
    compare(folder.path(), &["--accept", "results"]).exits(0);
    record(&folder, "suites/cassettes/a__m", 0, 1030, nothing);
    let file = folder.at("results/shop/desk.a.json");
    fs::write(&file, "{ broken").unwrap();
    let said = compare(folder.path(), &["results"]).exits(2);
    let told = "error: a result cannot be read: ";
    assert!(
        said.stderr.contains(told) && said.stderr.contains("desk.a.json"),
        "{said}"
    );
}

/// What got better elsewhere makes up for no agent of which nothing is known any more.
#[test]
fn an_improvement_covers_no_agent_that_is_gone() {
    let folder = two_agents();
    record(&folder, "before/cassettes/steady__m", 0, 1000, nothing);
    fs::remove_dir_all(folder.at("suites/cassettes/a__m")).unwrap();
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            "gone, because there is no recording of it now: `a`",
            "cannot tell: 1 agent has no runs now",
        ],
    );
}

/// A file that ends in the middle of a run is no run less.
#[test]
fn a_recording_that_is_cut_is_no_missing_run() {
    let folder = two_agents();
    let path = folder.at("suites/cassettes/a__m/run-6.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(&said, &["not comparable: `a`", "run-6.json"]);
}

/// Who judges by the gates alone is told what they leave out.
#[test]
fn a_gate_that_is_taken_away_is_no_improvement() {
    let folder = two_agents();
    for side in ["before", "suites"] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            if side == "before" { 1000 } else { 1010 },
            |_, run| {
                without_outcome(run);
            },
        );
    }
    let suite = [
        "  - { name: a, model: m, prompt: go, runs: 6, stability: {} }\n".to_owned(),
        asks("steady", "m", "go", 6),
    ];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]);
    tells(&said, &["1 has runs whose outcomes are not known"]);
}
