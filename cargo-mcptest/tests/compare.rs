//! `cargo mcptest compare`: sides of every kind, and what is said of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::Path;

use e2e_support::folder::{Folder, collect};
use e2e_support::process;
use serde_json::{Value, json};
use support::four_agents::{AGENTS, four_agents, run, write_runs};
use support::{SUITE, VERSIONS, good, mcptest, run_of, shop};

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

const TABLE: [&str; 8] = [
    "agent passed tokens behaviour verdict",
    "a_refund__m 6/6 → 1/6 ×1.00 [0.98, 1.03] same regressed p 0.0032 ≤ 0.00625, 83 points",
    "b_search__m 5/6 → 5/6 ×1.45 [1.43, 1.46] same costlier p 0.0011, outcomes: no evidence",
    "c_book__m 0/6 → 6/6 ×1.00 [0.98, 1.02] same improved p 0.0002",
    "d_cancel__m 6/6 → 4/6 ×1.00 [0.98, 1.03] other p 0.002 no evidence a drop of 87 points would have been noticed",
    "new `close` in 6 of 6, lost `cancel`",
    "all 4 −4.2 points ×1.10 [0.82, 1.47] other p 0.002 no evidence p 0.50; 37.9 points would have been noticed",
    "2 regressed, 1 improved. Exit status 1.",
];

const ALL_UNCHANGED: &str =
    "\nall unchanged: what can be compared is the same on both sides. Exit status 0.\n";

#[test]
fn the_worked_example_comes_out() {
    let folder = four_agents();
    let said = mcptest(folder.path(), &["compare", "before"]).exits(1);
    assert_eq!(said.stderr, VERSIONS);
    let (head, table) = said.stdout.split_once("\n\n").unwrap();
    assert_eq!(
        head,
        "baseline: before\ncandidate: the working tree\noutcomes: as recorded"
    );
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);

    let markdown = mcptest(
        folder.path(),
        &["compare", "before", "--format", "markdown"],
    )
    .exits(1);
    assert!(
        markdown
            .stdout
            .starts_with("before → the working tree, outcomes as recorded\n\n| agent | passed |"),
        "{markdown}"
    );
    let json = mcptest(folder.path(), &["compare", "before", "--format", "json"]).exits(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["format"], "compare/1.0");
    assert_eq!(json["decision"], "regressed");
    assert_eq!(
        json["baseline"],
        json!({ "kind": "folder", "name": "before" })
    );
    assert_eq!(json["candidate"], json!({ "kind": "working_tree" }));
    assert_eq!(json["agents"][0]["outcomes"]["finding"], "regressed");
    assert_eq!(json["exit_status"], 1);
}

#[test]
fn a_folder_of_recordings_is_a_side_as_well() {
    let folder = four_agents();
    let said = mcptest(
        folder.path(),
        &["compare", "before/cassettes", "./suites/cassettes"],
    )
    .exits(1);
    let (_, table) = said.stdout.split_once("\n\n").unwrap();
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);
}

/// Runs that are on both sides count once, and which those are is said.
#[test]
fn of_runs_that_were_only_added_it_is_said_what_is_compared() {
    let folder = four_agents();
    for side in ["before", "suites"] {
        fs::remove_dir_all(folder.at(side).join("cassettes")).unwrap();
    }
    for (side, runs) in [("before", 3), ("suites", 6)] {
        for number in 1..=runs {
            let path = format!("{side}/cassettes/a_refund__m/run-{number}.json");
            let run = run("a_refund", "find", 1000 + number, true, "go");
            folder.write(&path, format!("{run:#}\n"));
        }
    }
    let note = "a_refund__m: 3 of its 6 recordings are those of the baseline; the other 3 are the candidate\n";
    for format in ["text", "markdown"] {
        let said = mcptest(folder.path(), &["compare", "before", "--format", format]).exits(0);
        assert!(said.stdout.replace('\\', "").contains(note), "{said}");
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = process::command("git", folder);
    command
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments);
    process::run(&mut command).exits(0).stdout.trim().to_owned()
}

#[test]
fn a_revision_is_compared_without_touching_the_work_tree() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    write_runs(&folder, "suites/", 0);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "before"]);
    write_runs(&folder, "suites/", 1);
    let before = collect(folder.path());
    let said = mcptest(folder.path(), &["compare", "main"]).exits(1);
    let (head, table) = said.stdout.split_once("\n\n").unwrap();
    let commit = git(folder.path(), &["rev-parse", "main"]);
    assert_eq!(
        head,
        format!(
            "baseline: main, commit {commit}\ncandidate: the working tree\noutcomes: as recorded"
        )
    );
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);
    assert!(collect(folder.path()) == before);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-qm", "now"]);
    let same = mcptest(folder.path(), &["compare", "HEAD"]).exits(0);
    assert!(same.stdout.ends_with(ALL_UNCHANGED), "{same}");
    let unknown = mcptest(folder.path(), &["compare", "mian"]).exits(2);
    assert!(
        unknown
            .stderr
            .contains("error: `mian` is neither a folder nor a revision"),
        "{unknown}"
    );
}

#[test]
fn steps_that_nobody_recorded_are_no_cost() {
    let folder = four_agents();
    let known = |baseline: &str, cost: &str| {
        let arguments = ["compare", baseline, "--cost", cost, "--format", "json"];
        let said: Value = serde_json::from_str(&mcptest(folder.path(), &arguments).stdout).unwrap();
        let agents = said["agents"].as_array().unwrap().iter();
        agents
            .map(|agent| !agent["cost"].is_null())
            .collect::<Vec<_>>()
    };
    assert_eq!(known("before", "steps"), [false; 4]);
    assert_eq!(known("before", "calls"), [true; 4]);
    mcptest(folder.path(), &["compare", "--accept", "today"]).exits(0);
    write_runs(&folder, "suites/", 0);
    assert_eq!(known("today", "steps"), [false; 4]);
    assert_eq!(known("today", "calls"), [true; 4]);
}

#[test]
fn runs_that_cannot_be_used_are_told_of_when_results_become_a_baseline() {
    let folder = four_agents();
    let cassettes = || {
        fs::read_dir(folder.at("suites/cassettes"))
            .unwrap()
            .flatten()
    };
    let first = cassettes().map(|entry| entry.path()).min().unwrap();
    fs::remove_dir_all(first).unwrap();
    let saved = mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    let told = saved
        .stderr
        .matches("nothing can be compared with it")
        .count();
    assert_eq!(told, 1, "{saved}");
    let before = collect(&folder.at("baseline"));
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    let refused = mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(3);
    assert!(refused.stderr.contains("nothing was saved"), "{refused}");
    assert!(collect(&folder.at("baseline")) == before, "lost");
}

#[test]
fn results_are_a_baseline_with_the_verdicts_that_they_have() {
    let folder = four_agents();
    write_runs(&folder, "suites/", 0);
    let saved = mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    assert_eq!(saved.stdout, "8 results are the baseline in baseline\n");
    let first = collect(&folder.at("baseline"));
    mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    assert!(
        collect(&folder.at("baseline")) == first,
        "the same recordings, another baseline"
    );
    let same = mcptest(folder.path(), &["compare", "baseline"]).exits(0);
    assert!(same.stdout.ends_with(ALL_UNCHANGED), "{same}");
    write_runs(&folder, "suites/", 1);
    let said = mcptest(folder.path(), &["compare", "baseline", "--save", "today"]).exits(1);
    let (head, table) = said.stdout.split_once("\n\n").unwrap();
    assert!(
        head.starts_with("baseline: results in baseline, with the verdicts they have\n"),
        "{said}"
    );
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);
    let both = mcptest(folder.path(), &["compare", "baseline", "today"]).exits(1);
    let (_, table) = both.stdout.split_once("\n\n").unwrap();
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);
    // A case that is gone leaves no result behind.
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    folder.write(
        "suites/desk.yml",
        suite
            .replace(", trajectory: {", ", golden_path: {")
            .replace(
                "mode: subsequence, calls: [{ name: find }]",
                "calls: [find], allow_extra_steps: true",
            ),
    );
    mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    let names: Vec<String> = collect(&folder.at("baseline")).into_keys().collect();
    assert_eq!(names.len(), 8);
    assert!(
        names.iter().all(|name| !name.contains("trajectory")),
        "{names:?}"
    );
}

#[test]
fn gates_decide_where_runs_have_no_outcome() {
    let folder = shop(&good());
    let mut good_run = run_of(&good());
    let mut bad_run = run_of(&[]);
    for run in [&mut good_run, &mut bad_run] {
        run.as_object_mut().unwrap().remove("outcome");
    }
    for number in 1..=8 {
        let with = |run: &Value| {
            let mut run = run.clone();
            run["recorded_at"] = format!("2026-01-01T00:00:0{number}Z").into();
            format!("{run:#}\n")
        };
        folder.write(
            &format!("before/Refund_agent__gpt-5/run-{number}.json"),
            with(&good_run),
        );
        folder.write(
            &format!("now/Refund_agent__gpt-5/run-{number}.json"),
            with(&bad_run),
        );
    }
    let said = mcptest(folder.path(), &["compare", "before", "now"]).exits(1);
    assert!(
        said.stdout
            .contains("outcomes: by the gates of the suites\n"),
        "{said}"
    );
    assert!(said.stdout.contains("8/8 → 0/8"), "{said}");
    // Without outcomes nothing is compared of them.
    let said = mcptest(
        folder.path(),
        &[
            "compare",
            "before",
            "now",
            "--outcome",
            "recorded",
            "--fail-on",
            "outcomes",
        ],
    )
    .exits(3);
    assert!(said.stdout.contains("cannot tell: "), "{said}");
}

/// A run of which the gates judge nothing did not pass: in results as in recordings.
#[test]
fn runs_of_which_nothing_was_judged_are_left_out() {
    let folder = shop(&good());
    let head = SUITE.replace("runs: 2", "runs: 8");
    let head = head.split("    trajectory:").next().unwrap();
    let no_errors = "{ target: 'tool_results[*].is_error', matcher: { not: { contains: true } } }";
    folder.write(
        "suites/refunds.yml",
        format!("{head}    expect: [{no_errors}]\n"),
    );
    let write_runs = |idle: usize, time: usize| {
        for number in 1..=8 {
            let mut run = run_of(&[]);
            run.as_object_mut().unwrap().remove("outcome");
            run["recorded_at"] = format!("2026-01-0{time}T00:00:0{number}Z").into();
            if number <= idle {
                run["trace"]["tool_calls"] = json!([]);
                run["trace"]["tool_results"] = json!([]);
            }
            let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
            folder.write(&path, format!("{run:#}\n"));
        }
    };
    write_runs(0, 1);
    mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
    fs::create_dir_all(folder.at("before")).unwrap();
    fs::rename(folder.at("suites/cassettes"), folder.at("before/cassettes")).unwrap();
    for (idle, passed, told, status) in [
        (3, "8/8 → 5/5", "0 of 8 runs before, 3 of 8 now", 0),
        (8, "unknown", "0 of 8 runs before, 8 of 8 now", 3),
    ] {
        write_runs(idle, 2);
        for sides in [
            &["before"][..],
            &["baseline"],
            &["baseline", "--save", "today"],
            &["baseline", "today"],
        ] {
            let said = mcptest(folder.path(), &[&["compare"], sides].concat()).exits(status);
            for text in [passed, told] {
                assert!(said.stdout.contains(text), "{sides:?}: {text} in\n{said}");
            }
        }
    }
}

/// What `reliability` counts has no verdict of its own, and decides on runs all the same: in results as
/// in recordings.
#[test]
fn what_reliability_counts_decides_in_results_too() {
    let expect = "    expect: [{ target: tool_names, matcher: { contains: refund } }]\n";
    for (asked, outcome) in [("", "trajectory"), (expect, "expect")] {
        let folder = shop(&good());
        let head = SUITE.replace("runs: 2", "runs: 8");
        let head = match outcome {
            "expect" => head.split("    trajectory:").next().unwrap(),
            _ => &head,
        };
        let reliability = format!(
            "    reliability: {{ outcome: {outcome}, expect: [{{ target: reliability.runs, matcher: {{ min: 8 }} }}] }}\n"
        );
        folder.write("suites/refunds.yml", format!("{head}{asked}{reliability}"));
        let write_runs = |calls: &[(&str, Value)]| {
            for number in 1..=8 {
                let mut run = run_of(calls);
                run.as_object_mut().unwrap().remove("outcome");
                run["recorded_at"] = format!("2026-01-01T00:00:0{number}Z").into();
                let path = format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json");
                folder.write(&path, format!("{run:#}\n"));
            }
        };
        write_runs(&good());
        mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
        write_runs(&[]);
        for sides in [&["baseline", "--save", "today"][..], &["baseline", "today"]] {
            let said = mcptest(folder.path(), &[&["compare"], sides].concat()).exits(1);
            assert!(said.stdout.contains("8/8 → 0/8"), "{said}");
        }
        // Test functions leave no result of a gate that is counted: nothing is known of the runs.
        let gate = folder.at("baseline/shop/refunds.refund_agent.trajectory.json");
        if outcome == "trajectory" {
            fs::remove_file(gate).unwrap();
            let only = ["compare", "baseline", "today", "--fail-on", "outcomes"];
            let said = mcptest(folder.path(), &only).exits(3);
            assert!(said.stdout.contains("cannot tell: "), "{said}");
        }
    }
}

#[test]
fn agents_of_one_side_and_of_other_prompts_are_listed() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before/cassettes/a_refund__m")).unwrap();
    fs::remove_dir_all(folder.at("suites/cassettes/b_search__m")).unwrap();
    folder.write(
        "before/cassettes/old__m/run-1.json",
        run("old", "x", 1, true, "go").to_string(),
    );
    for number in 1..=6 {
        let run = run("c_book", "book", 1500 + number, false, "go\naway");
        folder.write(
            &format!("before/cassettes/c_book__m/run-{number}.json"),
            run.to_string(),
        );
    }
    let said = mcptest(folder.path(), &["compare", "before"]).exits(3);
    for line in [
        "new: a_refund__m\n",
        "gone: b_search__m\ndropped: old__m\n",
        "cannot tell: 1 agent has no runs any more, so nothing shows that it did not get worse.",
        "not comparable: c_book__m\n  baseline: recorded with another prompt\n  -go\n  -away\n  +go\n",
    ] {
        assert!(said.stdout.contains(line), "{line} in\n{said}");
    }
}

/// An agent that nobody judged does not take the recorded outcomes of the others away.
#[test]
fn each_agent_goes_by_what_its_own_runs_say() {
    let folder = four_agents();
    for side in ["before/cassettes", "suites/cassettes"] {
        for number in 1..=6 {
            let path = folder.at(&format!("{side}/b_search__m/run-{number}.json"));
            let mut run: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            run.as_object_mut().unwrap().remove("outcome");
            fs::write(path, run.to_string()).unwrap();
        }
    }
    let said = mcptest(folder.path(), &["compare", "before"]).exits(1);
    let outcomes = "outcomes: as recorded of agents whose runs all say so, of others by the gates of the suites\n";
    assert!(said.stdout.contains(outcomes), "{said}");
    let row = |agent: &str| {
        said.stdout
            .lines()
            .find(|line| line.starts_with(agent))
            .map(words)
    };
    let of_table = |agent: &str| {
        TABLE
            .into_iter()
            .find(|line| line.starts_with(agent))
            .map(str::to_owned)
    };
    assert_eq!(row("a_refund"), of_table("a_refund"), "{said}");
}

#[test]
fn another_model_is_compared_when_it_is_asked_for() {
    let folder = four_agents();
    for (agent, ..) in AGENTS {
        fs::rename(
            folder.at(&format!("before/cassettes/{agent}__m")),
            folder.at(&format!("before/cassettes/{agent}__old")),
        )
        .unwrap();
        for number in 1..=6 {
            let path = folder.at(&format!("before/cassettes/{agent}__old/run-{number}.json"));
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replace("\"model\": \"m\"", "\"model\": \"old\"")).unwrap();
        }
    }
    let apart = mcptest(folder.path(), &["compare", "before"]).exits(3);
    assert!(
        apart
            .stdout
            .contains("new: a_refund__m, b_search__m, c_book__m, d_cancel__m\n"),
        "{apart}"
    );
    let hint = "has recordings of them by another model: `--across-models` compares those\n";
    assert!(apart.stdout.contains(hint), "{apart}");
    let back = mcptest(folder.path(), &["compare", ".", "before"]).exits(3);
    assert!(
        back.stdout.contains("the candidate before") && back.stdout.contains(hint),
        "{back}"
    );
    let said = mcptest(folder.path(), &["compare", "before", "--across-models"]).exits(1);
    let (_, table) = said.stdout.split_once("\n\n").unwrap();
    assert_eq!(table.lines().map(words).collect::<Vec<_>>(), TABLE);
}

#[test]
fn runs_that_were_added_are_the_candidate() {
    let folder = four_agents();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    fs::remove_dir_all(folder.at("before")).unwrap();
    for (path, bytes) in collect(&folder.at("suites/cassettes")) {
        folder.write(&format!("before/cassettes/{path}"), bytes);
    }
    let added = run("a_refund", "refund", 9, false, "go");
    folder.write("suites/cassettes/a_refund__m/run-7.json", added.to_string());
    folder.write("suites/desk.yml", suite.replacen("runs: 6", "runs: 7", 1));
    let said = mcptest(folder.path(), &["compare", "before", "--format", "json"]).exits(3);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    let outcomes = &said["agents"][0]["outcomes"];
    assert_eq!(
        (
            &outcomes["baseline"]["runs"],
            &outcomes["candidate"]["runs"]
        ),
        (&json!(6), &json!(1))
    );
    assert_eq!(
        said["unchanged"],
        json!(["b_search__m", "c_book__m", "d_cancel__m"])
    );
}

/// A folder whose baseline is what `suites` has of one agent: this many runs that passed, then failed ones.
fn one_agent(passed: u64, failed: u64) -> Folder {
    let folder = four_agents();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let runs = format!("runs: {}", passed + failed);
    folder.write("suites/desk.yml", suite.replacen("runs: 6", &runs, 1));
    for side in ["before", "suites"] {
        fs::remove_dir_all(folder.at(side).join("cassettes")).unwrap();
        for number in 1..=passed + failed {
            let run = run("a_refund", "find", 1000 + number, number <= passed, "go");
            folder.write(
                &format!("{side}/cassettes/a_refund__m/run-{number}.json"),
                format!("{run:#}\n"),
            );
        }
    }
    folder
}

fn forget(folder: &Folder, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
        fs::remove_file(folder.at(&path)).unwrap();
    }
}

const CHOSEN: &str = "those that are left are a choice of runs, which is no sample";

/// What is left of a baseline's runs was chosen: it shows nothing of the agent.
#[test]
fn a_choice_of_a_baselines_runs_is_no_sample() {
    for (passed, failed, kept) in [(20, 0, 1), (10, 10, 10)] {
        let folder = one_agent(passed, failed);
        mcptest(folder.path(), &["compare", "before"]).exits(0);
        mcptest(folder.path(), &["compare", "--accept", "results"]).exits(0);
        forget(&folder, kept + 1..=20);
        let gone = 20 - kept;
        let told =
            format!("a_refund__m: {gone} of 20 recordings of the baseline are gone; {CHOSEN}\n");
        for asked in [
            &["before"][..],
            &["before", "--require", "not_worse"],
            &["before", "--outcome", "gates"],
            &["before", "--format", "markdown"],
            &["results"],
        ] {
            let said = mcptest(folder.path(), &[&["compare"], asked].concat()).exits(3);
            let text = said.stdout.replace('\\', "");
            let (above, verdict) = text.split_once("cannot tell: ").unwrap();
            assert!(above.contains(&told), "{said}");
            assert!(!text.contains("unchanged"), "{said}");
            assert!(verdict.starts_with("of 1 agent only a choice"), "{said}");
        }
        let json = mcptest(folder.path(), &["compare", "before", "--format", "json"]).exits(3);
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["decision"], "cannot_tell");
        assert_eq!(
            json["chosen"],
            json!([{ "agent": "a_refund__m", "lost": { "runs": gone, "of": 20 } }])
        );
        assert_eq!(json["unchanged"], json!([]));
        let passes = ["compare", "before", "--inconclusive", "pass"];
        mcptest(folder.path(), &passes).exits(0);
    }
}

/// Lines of a file are runs as files are: results know each by itself.
#[test]
fn a_choice_of_lines_is_seen_in_results_too() {
    let folder = one_agent(6, 0);
    let lines = |numbers: std::ops::RangeInclusive<u64>| {
        let runs = numbers.map(|number| run("a_refund", "find", 1000 + number, true, "go"));
        runs.map(|run| format!("{run}\n")).collect::<String>()
    };
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    let write = |text: String| folder.write("suites/cassettes/a_refund__m.jsonl", text);
    write(lines(1..=6));
    mcptest(folder.path(), &["compare", "--accept", "results"]).exits(0);
    let said = mcptest(folder.path(), &["compare", "results"]).exits(0);
    assert!(said.stdout.contains("all unchanged"), "{said}");
    write(format!("{}{}", lines(4..=4), lines(2..=2)));
    let said = mcptest(folder.path(), &["compare", "results"]).exits(3);
    let told = format!("a_refund__m: 4 of 6 recordings of the baseline are gone; {CHOSEN}\n");
    assert!(said.stdout.contains(&told), "{said}");
    write(format!("{}\n", lines(1..=12)));
    let said = mcptest(folder.path(), &["compare", "results"]).exits(0);
    let told = "6 of its 12 recordings are those of the baseline; the other 6 are the candidate";
    assert!(said.stdout.contains(told), "{said}");
}

/// New runs beside such a choice are compared, and only what they lost is believed.
#[test]
fn new_runs_beside_a_choice_of_old_ones_hold_nothing() {
    for (passes, status, verdict) in [
        (true, 3, "cannot tell: of 1 agent only a choice"),
        (false, 1, "1 regressed"),
    ] {
        let folder = one_agent(20, 0);
        forget(&folder, 2..=20);
        for number in 2..=20 {
            let run = run("a_refund", "find", 1030 + number, passes, "go");
            let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
            folder.write(&path, format!("{run:#}\n"));
        }
        let said = mcptest(folder.path(), &["compare", "before"]).exits(status);
        let (above, below) = said.stdout.split_once(verdict).unwrap();
        let told = format!("a_refund__m: 19 of 20 recordings of the baseline are gone; {CHOSEN}\n");
        assert!(above.contains(&told), "{said}");
        assert!(
            below.contains("1 of its 20 recordings are those of the baseline"),
            "{said}"
        );
    }
    let folder = one_agent(20, 0);
    forget(&folder, 2..=20);
    let added = run("a_refund", "find", 1030, true, "go");
    folder.write("suites/cassettes/a_refund__m/run-2.json", added.to_string());
    let said = mcptest(folder.path(), &["compare", "before"]).exits(3);
    assert!(
        said.stdout
            .contains("19 of 20 recordings of the baseline are gone"),
        "{said}"
    );
}

/// Copies of one run are no other runs.
#[test]
fn copies_do_not_stand_for_what_is_gone() {
    let folder = one_agent(6, 0);
    let first = folder.at("suites/cassettes/a_refund__m/run-1.json");
    for number in 2..=6 {
        let copy = folder.at(&format!("suites/cassettes/a_refund__m/run-{number}.json"));
        fs::copy(&first, copy).unwrap();
    }
    let said = mcptest(folder.path(), &["compare", "before"]);
    assert_ne!(said.code, Some(0), "{said}");
}

/// Fewer runs that are all new are a sample.
#[test]
fn an_agent_that_was_recorded_anew_with_fewer_runs_is_compared() {
    let folder = one_agent(20, 0);
    forget(&folder, 1..=20);
    for number in 1..=10 {
        let run = run("a_refund", "find", 1030 + number, true, "go");
        let path = format!("suites/cassettes/a_refund__m/run-{number}.json");
        folder.write(&path, format!("{run:#}\n"));
    }
    let said = mcptest(folder.path(), &["compare", "before"]).exits(0);
    assert!(!said.stdout.contains("gone"), "{said}");
}

/// Of an agent without any run nothing can be said, and the others stay what they are.
#[test]
fn recordings_that_are_gone_are_told() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    for (path, bytes) in collect(&folder.at("suites/cassettes")) {
        folder.write(&format!("before/cassettes/{path}"), bytes);
    }
    fs::remove_dir_all(folder.at("suites/cassettes/a_refund__m")).unwrap();
    let said = mcptest(folder.path(), &["compare", "before"]).exits(3);
    let told = "unchanged: b_search__m, c_book__m, d_cancel__m\ngone: a_refund__m\ncannot tell: 1 agent has no runs";
    assert!(said.stdout.contains(told), "{said}");
}

#[test]
fn what_cannot_be_compared_is_told() {
    let folder = shop(&good());
    for (arguments, code, told) in [
        (
            &["./nowhere"][..],
            2,
            "error: there is no folder `./nowhere`\n\nhelp: `cargo mcptest compare --accept <folder>` saves the results of today there as a baseline\n",
        ),
        (
            &["Cargo.toml"],
            2,
            "error: `Cargo.toml` is a file\n\nhelp: name the folder that holds `cassettes/`, the recordings or the results, or a git revision\n",
        ),
    ] {
        let said = mcptest(folder.path(), &[&["compare"], arguments].concat()).exits(code);
        assert_eq!(said.stderr, format!("{VERSIONS}{told}"));
    }
    let nothing = mcptest(folder.path(), &["compare", "src"]).exits(3);
    assert!(
        nothing.stdout.ends_with(
            "cannot tell: no agent has comparable runs on both sides. Exit status 3.\n\
             the baseline src has no recording that an agent test asks for; looked for Refund_agent__gpt-5\n"
        ),
        "{nothing}"
    );
    for wrong in [
        &["compare"][..],
        &["compare", "a", "--margin", "101"],
        &["compare", "a", "--cost-margin", "nan"],
    ] {
        mcptest(folder.path(), wrong).exits(2);
    }
    folder.write("suites/odd.yml", "agnets: []\n");
    let broken = mcptest(folder.path(), &["compare", "src"]).exits(2);
    assert!(
        broken
            .stderr
            .contains("error: not all suites load: odd::load"),
        "{broken}"
    );
}

#[test]
fn an_agent_has_the_margin_that_its_suite_gives_it() {
    let folder = four_agents();
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let own = suite.replacen("runs: 6,", "runs: 6, regression: { margin: 90 },", 1);
    folder.write(
        "suites/desk.yml",
        format!("regression: {{ baseline: ../before }}\n{own}"),
    );
    let said = mcptest(folder.path(), &["compare", "before"]).exits(1);
    assert!(!said.stdout.contains("same          regressed"), "{said}");
    assert!(
        said.stdout
            .contains("\n1 regressed, 1 improved. Exit status 1.\n"),
        "{said}"
    );
}
