//! `cargo mcptest compare`: sides of every kind, and what is said of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::folder::collect;
use e2e_support::git::commit_all;
use serde_json::{Value, json};
use support::four_agents::{AGENTS, four_agents, run, write_runs};
use support::{good, mcptest, shop};

fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

const HEADLINE: &str = "1 of 4 agents got worse (`a_refund`: 6 of 6 → 1 of 6), 1 costs 45% more tokens (`b_search`), \
     1 calls other tools (`d_cancel`), 1 got better (`c_book`: 0 of 6 → 6 of 6).";

const TABLE: [&str; 9] = [
    "agent passed tokens behaviour verdict",
    "a_refund 6/6 → 1/6 ×1.00 [0.98, 1.03] same regressed p 0.0032",
    "b_search 5/6 → 5/6 ×1.45 [1.43, 1.46] same costlier p 0.0011",
    "c_book 0/6 → 6/6 ×1.00 [0.98, 1.02] same improved p 0.0002",
    "d_cancel 6/6 → 4/6 ×1.00 [0.98, 1.03] other p 0.002 no evidence (87 points would show)",
    "all 4 −4.2 points ×1.10 [0.82, 1.47] other p 0.002 no evidence p 0.50",
    "`d_cancel`: new `close` in 6 of 6, lost `cancel`",
    "all 4: a mean drop of 37.9 points would have been noticed",
    "1 got worse, 1 costs 45% more tokens, 1 calls other tools, 1 got better. Exit status 1.",
];

/// The headline, what the sides are, and the table with all below it, from what the command said.
fn parts(said: &str) -> [String; 3] {
    let mut parts = said.splitn(4, "\n\n").map(str::to_owned);
    let mut part = || parts.next().unwrap_or_else(|| panic!("{said}"));
    let [headline, sides, _rule, table] = [part(), part(), part(), part()];
    [words(&headline), sides, table]
}

fn table(said: &str) -> Vec<String> {
    let [_, _, table] = parts(said);
    table.lines().map(words).collect()
}

const ALL_UNCHANGED: &str =
    "\nall unchanged: everything that can be compared is the same on both sides. Exit status 0.\n";

#[test]
fn the_worked_example_comes_out() {
    let folder = four_agents();
    let said = mcptest(folder.path(), &["compare", "before"]).exits(1);
    assert_eq!(said.stderr, "");
    let [headline, head, _] = parts(&said.stdout);
    assert_eq!(headline, HEADLINE);
    assert_eq!(
        head,
        "baseline: before\ncandidate: the working tree\noutcomes: as recorded"
    );
    assert_eq!(table(&said.stdout), TABLE);

    let markdown = mcptest(
        folder.path(),
        &["compare", "before", "--format", "markdown"],
    )
    .exits(1);
    assert!(
        markdown
            .stdout
            .starts_with(&format!("**{HEADLINE}**\n\n| agent | passed |")),
        "{markdown}"
    );
    assert!(
        markdown
            .stdout
            .ends_with("\nbefore → the working tree, outcomes as recorded\n"),
        "{markdown}"
    );
    let json = mcptest(folder.path(), &["compare", "before", "--format", "json"]).exits(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["format"], "compare/1.0");
    assert_eq!(json["decision"], "regressed");
    assert_eq!(json["headline"], HEADLINE);
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
    assert_eq!(table(&said.stdout), TABLE);
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
    let note = "`a_refund`: 3 of its 6 recordings are the same as in the baseline; the other 3 are the candidate";
    for format in ["text", "markdown"] {
        let said = mcptest(folder.path(), &["compare", "before", "--format", format]).exits(0);
        let text = words(&said.stdout.replace('\\', ""));
        assert!(text.contains(note), "{said}");
    }
}

#[test]
fn a_revision_is_compared_without_touching_the_work_tree() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    write_runs(&folder, "suites/", 0);
    let commit = commit_all(folder.path(), "before");
    write_runs(&folder, "suites/", 1);
    let before = collect(folder.path());
    let said = mcptest(folder.path(), &["compare", "main"]).exits(1);
    let [_, head, _] = parts(&said.stdout);
    assert_eq!(
        head,
        format!(
            "baseline: main, commit {commit}\ncandidate: the working tree\noutcomes: as recorded"
        )
    );
    assert_eq!(table(&said.stdout), TABLE);
    assert!(collect(folder.path()) == before);
    commit_all(folder.path(), "now");
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
    let [_, head, _] = parts(&said.stdout);
    assert!(
        head.starts_with("baseline: results in baseline, with their saved verdicts\n"),
        "{said}"
    );
    assert_eq!(table(&said.stdout), TABLE);
    let both = mcptest(folder.path(), &["compare", "baseline", "today"]).exits(1);
    assert_eq!(table(&both.stdout), TABLE);
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
fn agents_of_one_side_and_of_other_prompts_are_listed() {
    let folder = four_agents();
    fs::remove_dir_all(folder.at("before/cassettes/a_refund__m")).unwrap();
    fs::remove_dir_all(folder.at("suites/cassettes/b_search__m")).unwrap();
    folder.write(
        "before/cassettes/old__m/run-1.json",
        run("old", "x", 1, true, "stay").to_string(),
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
        "new, not compared: `a_refund`\n",
        "gone, because there is no recording of it now: `b_search`\n",
        "gone, because no suite asks for it any more: `old`\n",
        "cannot tell: 1 agent has no runs now, so it may have got worse. Exit status 3.\n",
        "not comparable: `c_book`\n  the prompt is another one\n  -go\n  -away\n  +go\n",
    ] {
        assert!(said.stdout.contains(line), "{line} in\n{said}");
    }
    assert!(words(&said.stdout).starts_with(
            "The compared agent is not shown to be worse, 1 calls other tools (`d_cancel`), 2 gone (`b_search`, `old`), 1 new, \
             not compared, 1 is not comparable (`c_book`)."
        ), "{said}");
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
    let outcomes = "\noutcomes: as recorded, if all runs of an agent have an outcome; for other agents, by the gates of the suites\n";
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
            .contains("not comparable: `a_refund`\n  the baseline has this agent with the model old; `--across-models` compares both\n"),
        "{apart}"
    );
    assert!(!apart.stdout.contains("no suite asks for it"), "{apart}");
    let hint = "has recordings of these agents by another model: `--across-models` compares them";
    let back = mcptest(folder.path(), &["compare", ".", "before"]).exits(3);
    assert!(
        back.stdout.contains("the candidate before") && words(&back.stdout).contains(hint),
        "{back}"
    );
    let said = mcptest(folder.path(), &["compare", "before", "--across-models"]).exits(1);
    let changed = "the model changed: old → m: `a_refund`, `b_search`, `c_book`, `d_cancel`";
    // What changed stands above the table.
    let (above, below) = said
        .stdout
        .split_once(&format!("\n\n{changed}\n\n"))
        .unwrap();
    assert_eq!(table(&format!("{above}\n\n{below}")), TABLE);
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
        assert_eq!(said.stderr, told);
    }
    let nothing = mcptest(folder.path(), &["compare", "src"]).exits(3);
    assert!(
        nothing.stdout.ends_with(
            "cannot tell: no agent has comparable runs on both sides. Exit status 3.\n\
             the baseline src has no recording that an agent test asks for; looked for files named\n  `Refund_agent__gpt-5`\n"
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
        said.stdout.contains(
            "\n1 costs 45% more tokens, 1 calls other tools, 1 got better. Exit status 1.\n"
        ),
        "{said}"
    );
}
