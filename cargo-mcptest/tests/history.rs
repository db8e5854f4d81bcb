//! `cargo mcptest report --history`: the agents commit by commit, out of git's objects.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::{Folder, collect};
use e2e_support::git::{commit_all, git};
use serde_json::{Value, json};
use support::four_agents::run;
use support::mcptest;
use support::page::piece;

const SUITE: &str = "agents:\n\
    - { name: falling, model: m, prompt: go, runs: 6, calls: { max: 9 } }\n\
    - { name: steady, model: m, prompt: go, runs: 6, calls: { max: 9 } }\n";

/// Six runs of an agent, of which so many pass; other bytes with another number.
fn record(folder: &Folder, agent: &str, prompt: &str, passed: u64, number: u64) {
    for place in 0..6 {
        let run = run(
            agent,
            "find",
            1000 + 10 * number + place,
            place < passed,
            prompt,
        );
        let path = format!("suites/cassettes/{agent}__m/run-{}.json", place + 1);
        folder.write(&path, run.to_string());
    }
}

/// Three commits with recordings, and one without; in the last one an agent is worse.
fn repository() -> Folder {
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [package.metadata.mcptest]\nroots = [\"suites\"]\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "")
        .with_file("suites/desk.yml", SUITE)
        .with_file("cassettes.md", "no recording");
    record(&folder, "falling", "go", 6, 1);
    record(&folder, "steady", "go", 5, 1);
    commit_all(folder.path(), "One");
    folder.write("src/lib.rs", "// other code\n");
    commit_all(folder.path(), "No recording");
    record(&folder, "falling", "go", 6, 2);
    commit_all(folder.path(), "Two </script><b>bold</b>");
    record(&folder, "falling", "go", 0, 3);
    record(&folder, "steady", "go", 5, 3);
    commit_all(folder.path(), "Three");
    folder
}

/// What the page has of the history.
fn page(folder: &Folder, arguments: &[&str]) -> Value {
    let all = [&["report", "-o", "page.html", "--history"], arguments].concat();
    let said = mcptest(folder.path(), &all);
    assert!(matches!(said.code, Some(0 | 1)), "{said}");
    let text = fs::read_to_string(folder.at("page.html")).unwrap();
    assert!(!text.contains("<b>bold"));
    piece(&text, "history")
}

fn of_commits(page: &Value, key: &str) -> Vec<Value> {
    let commits = page["commits"].as_array().unwrap().iter();
    commits.map(|commit| commit[key].clone()).collect()
}

/// The points of an agent: commit, passed, runs.
fn points(page: &Value, agent: usize) -> Vec<[u64; 3]> {
    let points = page["agents"][agent]["points"].as_array().unwrap().iter();
    let number = |point: &Value, key: &str| point[key].as_u64().unwrap();
    points
        .map(|point| ["commit", "passed", "runs"].map(|key| number(point, key)))
        .collect()
}

#[test]
fn a_change_is_found_in_its_commit_and_nowhere_else() {
    let folder = repository();
    let before = collect(folder.path());
    let page = page(&folder, &[]);
    fs::remove_file(folder.at("page.html")).unwrap();
    assert!(
        collect(folder.path()) == before,
        "the work tree is untouched"
    );
    assert_eq!(
        of_commits(&page, "subject"),
        ["One", "Two </script><b>bold</b>", "Three"]
    );
    let cases: Vec<&Value> = page["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| &agent["case"])
        .collect();
    assert_eq!(cases, ["desk::falling", "desk::steady"]);
    assert_eq!(points(&page, 0), [[0, 6, 6], [1, 6, 6], [2, 0, 6]]);
    assert_eq!(points(&page, 1), [[0, 5, 6], [2, 5, 6]]);
    let changes = page["agents"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(
        (&changes[0]["commit"], &changes[0]["kind"]),
        (&json!(2), &json!("worse"))
    );
    // All runs since the last change are its baseline.
    let found = json!([{ "passed": 12, "runs": 12 }, { "passed": 0, "runs": 6 }]);
    assert_eq!(
        (&changes[0]["of"], &changes[0]["found"]),
        (&json!("outcomes"), &found)
    );
    assert_eq!(page["agents"][1]["changes"], json!([]));
    let share = &page["agents"][1]["points"][0]["share"];
    assert!((share[1].as_f64().unwrap() - 5.0 / 6.0).abs() < 1e-12);
    assert!(share[0].as_f64().unwrap() < 0.5 && share[2].as_f64().unwrap() > 0.96);
    assert_eq!(page["agents"][0]["points"][0]["tokens"], 1012.5);
    assert_eq!(page["agents"][0]["points"][0]["ms"], Value::Null);
    assert_eq!(page["notes"], json!([]));
}

/// Two runs of a commit are too few to show anything; those of the next commits show it of the first.
#[test]
fn a_fall_that_takes_several_commits_to_show_is_marked_where_it_began() {
    let folder = repository();
    let two = |passed: bool, number: u64| {
        for place in 0..2 {
            let run = run("steady", "find", 1000 + 10 * number + place, passed, "go");
            let path = format!("suites/cassettes/steady__m/run-{}.json", place + 1);
            folder.write(&path, run.to_string());
        }
    };
    for number in 4..14 {
        two(number < 9, number);
        commit_all(folder.path(), &format!("Commit {number}"));
    }
    let page = page(&folder, &[]);
    let changes = page["agents"][1]["changes"].as_array().unwrap();
    let begun = json!([{ "of": "outcomes", "kind": "worse", "commit": 8 }]);
    let changes: Vec<Value> = changes
        .iter()
        .map(|one| json!({ "of": one["of"], "kind": one["kind"], "commit": one["commit"] }))
        .collect();
    assert_eq!(json!(changes), begun);
    assert_eq!(of_commits(&page, "subject")[8], "Commit 9");
}

/// A commit of a branch that was merged is no step of the history: it does not know what the other branch had.
#[test]
fn a_merge_is_one_step_and_blames_no_commit_of_another_branch() {
    let folder = repository();
    record(&folder, "falling", "go", 6, 4);
    commit_all(folder.path(), "Good again");
    git(folder.path(), &["switch", "-qc", "branch"]);
    record(&folder, "falling", "go", 0, 5);
    commit_all(folder.path(), "Broken on a branch");
    git(folder.path(), &["switch", "-q", "main"]);
    record(&folder, "steady", "go", 5, 6);
    commit_all(folder.path(), "Steady alone");
    git(
        folder.path(),
        &["merge", "-q", "--no-ff", "-m", "Merge", "branch"],
    );
    let page = page(&folder, &[]);
    let subjects = of_commits(&page, "subject");
    let subjects: Vec<&str> = subjects.iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(subjects[3..], ["Good again", "Steady alone", "Merge"]);
    let changes = page["agents"][0]["changes"].as_array().unwrap();
    let changes: Vec<(u64, &str)> = changes
        .iter()
        .map(|one| {
            (
                one["commit"].as_u64().unwrap(),
                one["kind"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(changes, [(2, "worse"), (3, "better"), (5, "worse")]);
}

/// Work goes by what changed: 12 recordings, then 6, then 12, and none twice.
#[test]
fn a_recording_that_did_not_change_is_judged_once() {
    let folder = repository();
    assert_eq!(page(&folder, &[])["files"], 30);
    // One of them changes, and back again.
    let path = folder.at("suites/cassettes/steady__m/run-1.json");
    let kept = fs::read(&path).unwrap();
    folder.write(
        "suites/cassettes/steady__m/run-1.json",
        run("steady", "find", 9, true, "go").to_string(),
    );
    commit_all(folder.path(), "Four");
    fs::write(&path, kept).unwrap();
    commit_all(folder.path(), "Five");
    let page = page(&folder, &[]);
    assert_eq!(page["files"], 31);
    assert_eq!(points(&page, 1).len(), 4);
}

#[test]
fn it_begins_at_a_revision_or_at_the_twentieth_commit() {
    let folder = repository();
    let second = git(folder.path(), &["rev-parse", "HEAD~1"]);
    let since = page(&folder, &[&second]);
    assert_eq!(of_commits(&since, "name")[0], json!(second));
    assert_eq!(points(&since, 0), [[0, 6, 6], [1, 0, 6]]);
    // All recordings of the first commit are there, whichever it was that touched them.
    assert_eq!(points(&since, 1), [[0, 5, 6], [1, 5, 6]]);
    for number in 4..24 {
        record(&folder, "steady", "go", 5, number);
        commit_all(folder.path(), &format!("Commit {number}"));
    }
    let last = page(&folder, &[]);
    let subjects = of_commits(&last, "subject");
    assert_eq!((subjects.len(), &subjects[0]), (20, &json!("Commit 4")));
    assert_eq!(points(&last, 0), [[0, 0, 6]]);
}

#[test]
fn another_prompt_is_told_and_not_judged() {
    let folder = repository();
    record(&folder, "steady", "go away", 0, 4);
    commit_all(folder.path(), "Another prompt");
    let page = page(&folder, &[]);
    assert_eq!(
        page["agents"][1]["changes"],
        json!([{
            "commit": 3, "kind": "other", "of": "asked",
        }])
    );
}

#[test]
fn an_agent_that_loses_recordings_and_one_that_cannot_be_read_are_told() {
    let folder = repository();
    fs::remove_file(folder.at("suites/cassettes/steady__m/run-6.json")).unwrap();
    folder.write("suites/cassettes/falling__m/run-1.json", "{ broken");
    commit_all(folder.path(), "Broken");
    let page = page(&folder, &[]);
    assert_eq!(points(&page, 1).last(), Some(&[3, 5, 5]));
    assert_eq!(points(&page, 0).last(), Some(&[3, 0, 5]));
    let note = page["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("a recording that cannot be read was left out, in "),
        "{note}"
    );
    assert!(note.contains("run-1.json"), "{note}");
}

#[test]
fn where_there_is_no_history_it_is_told() {
    let folder = repository();
    let none = mcptest(
        folder.path(),
        &["report", "--history", "nowhere", "-o", "x.html"],
    )
    .exits(2);
    assert!(
        none.stderr
            .contains("error: `nowhere` is neither a folder nor a revision"),
        "{none}"
    );
    fs::remove_dir_all(folder.at(".git")).unwrap();
    let none = mcptest(folder.path(), &["report", "--history", "-o", "x.html"]).exits(2);
    assert!(none.stderr.starts_with("error: `"), "{none}");
    assert!(none.stderr.contains("is in no git repository"), "{none}");
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "src"]);
    git(folder.path(), &["commit", "-qm", "no recordings"]);
    let none = mcptest(folder.path(), &["report", "--history", "-o", "x.html"]).exits(0);
    assert!(folder.at("x.html").exists(), "{none}");
    let overview = piece(
        &fs::read_to_string(folder.at("x.html")).unwrap(),
        "overview",
    );
    assert_eq!(overview["pages"], json!([]));
    let notes = overview["notes"].to_string();
    assert!(
        notes.contains("history: no commit touched a recording or a result of this package"),
        "{notes}"
    );
}

/// Time and money are tested as tokens are; time on one machine alone.
#[test]
fn a_run_that_takes_longer_or_costs_more_is_found_in_its_commit() {
    for (machine, found) in [("ci", true), ("laptop", false)] {
        let folder = repository();
        let timed = |number: u64, ms: u64, machine: &str| {
            for place in 1..=6 {
                let mut run = run("steady", "find", 1000 + 10 * number + place, true, "go");
                run["trace"]["conversation"]["duration_ms"] = (ms + place).into();
                run["recorded_on"] = machine.into();
                let path = format!("suites/cassettes/steady__m/run-{place}.json");
                folder.write(&path, run.to_string());
            }
        };
        timed(20, 100, "ci");
        commit_all(folder.path(), "Timed");
        timed(21, 100, "ci");
        commit_all(folder.path(), "Timed again");
        folder.write(
            "suites/desk.yml",
            format!("prices: {{ m: {{ prompt: 1, completion: 1 }} }}\n{SUITE}"),
        );
        timed(22, 300, machine);
        commit_all(folder.path(), "Slow");
        let page = page(&folder, &["HEAD~2"]);
        let changes = page["agents"][1]["changes"].as_array().unwrap();
        assert_eq!(changes.len(), usize::from(found), "{changes:?}");
        if found {
            assert_eq!(
                [
                    &changes[0]["commit"],
                    &changes[0]["kind"],
                    &changes[0]["of"]
                ],
                [&json!(2), &json!("worse"), &json!("ms")]
            );
            assert_eq!(changes[0]["found"], json!([103.5, 303.5]));
        }
    }
}

/// The prices of today count for all commits.
#[test]
fn a_run_that_costs_more_is_found_in_its_commit() {
    let folder = repository();
    folder.write(
        "suites/desk.yml",
        format!("prices: {{ m: {{ prompt: 1, completion: 1 }} }}\n{SUITE}"),
    );
    for (subject, tokens) in [("Paid", 2000), ("Dear", 9000)] {
        for place in 1..=6 {
            let mut run = run("falling", "find", tokens + place, false, "go");
            let own = &mut run["trace"]["conversation"]["tokens"];
            own["completion"] = 100.into();
            own["total"] = (tokens + place + 100).into();
            let path = format!("suites/cassettes/falling__m/run-{place}.json");
            folder.write(&path, run.to_string());
        }
        commit_all(folder.path(), subject);
    }
    let page = page(&folder, &["HEAD~1"]);
    let changes = page["agents"][0]["changes"].as_array().unwrap();
    let of: Vec<&Value> = changes.iter().map(|change| &change["of"]).collect();
    assert_eq!(of, ["tokens", "usd"], "{changes:?}");
    assert!(changes.iter().all(|change| change["commit"] == 1));
}

/// Results that are kept without their recordings have a history too, and each run of them counts once.
#[test]
fn committed_results_are_a_history() {
    let folder = repository();
    git(folder.path(), &["checkout", "-q", "--orphan", "results"]);
    git(folder.path(), &["rm", "-rq", "--cached", "."]);
    folder.write(".gitignore", "cassettes/\npage.html\ntarget/\n");
    let save = |subject: &str| {
        mcptest(folder.path(), &["compare", "--accept", "baseline"]).exits(0);
        commit_all(folder.path(), subject);
    };
    record(&folder, "falling", "go", 6, 1);
    save("One");
    record(&folder, "steady", "go", 5, 7);
    save("Steady alone");
    folder.write("shop/package.json", "{}");
    commit_all(folder.path(), "No result");
    record(&folder, "falling", "go", 0, 4);
    save("Fallen");
    let page = page(&folder, &[]);
    assert_eq!(
        of_commits(&page, "subject"),
        ["One", "Steady alone", "Fallen"]
    );
    let of = |agent: usize| points(&page, agent);
    assert_eq!(of(0).first(), Some(&[0, 6, 6]));
    assert_eq!(of(0).last(), Some(&[2, 0, 6]));
    let changes = page["agents"][0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["commit"], 2);
    assert!(
        page["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("these commits have no recordings of 2 agent tests")
    );
    assert_eq!(page["agents"][0]["points"][0]["tokens"], 1012.5);
}
