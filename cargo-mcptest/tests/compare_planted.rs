//! `cargo mcptest compare`: comparisons that are planted to look as if all were well.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;
use std::path::Path;

use e2e_support::folder::Folder;
use e2e_support::process::Finished;
use serde_json::{Value, json};
use support::four_agents::run;
use support::{mcptest, shop};

/// A package whose suite is this, without a recording.
fn package(suite: &str) -> Folder {
    let folder = shop(&[]);
    fs::remove_dir_all(folder.at("suites")).unwrap();
    folder.write("suites/desk.yml", suite);
    folder
}

/// An agent of a suite, whose gate every run meets.
fn asks(name: &str, model: &str, prompt: &str, runs: usize) -> String {
    format!(
        "  - {{ name: {}, model: {}, prompt: {prompt}, runs: {runs}, calls: {{ max: 9 }} }}\n",
        json!(name),
        json!(model)
    )
}

/// Six runs of an agent below a folder that has its name, of which so many pass; what changes each of them.
fn record(
    folder: &Folder,
    stem: &str,
    passed: usize,
    tokens: u64,
    change: impl Fn(usize, &mut Value),
) {
    let last = stem.rsplit('/').next().unwrap_or_default();
    let name = last.split("__").next().unwrap_or_default();
    record_as(folder, stem, name, passed, tokens, change);
}

fn record_as(
    folder: &Folder,
    stem: &str,
    name: &str,
    passed: usize,
    tokens: u64,
    change: impl Fn(usize, &mut Value),
) {
    for number in 0..6 {
        let mut run = run(name, "find", tokens + number as u64, number < passed, "go");
        change(number, &mut run);
        folder.write(&format!("{stem}/run-{}.json", number + 1), run.to_string());
    }
}

fn nothing(_: usize, _: &mut Value) {}

fn without_outcome(run: &mut Value) {
    run.as_object_mut().unwrap().remove("outcome");
}

fn without_tokens(run: &mut Value) {
    run["trace"]["conversation"]
        .as_object_mut()
        .unwrap()
        .remove("tokens");
}

/// Two agents that are recorded on both sides: `a` with these runs, and `steady`.
fn two_agents() -> Folder {
    let suite = [asks("a", "m", "go", 6), asks("steady", "m", "go", 6)];
    let folder = package(&format!("agents:\n{}", suite.concat()));
    for (side, tokens) in [("before", 1000), ("suites", 1010)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            nothing,
        );
        record(
            &folder,
            &format!("{side}/cassettes/steady__m"),
            6,
            tokens + 1,
            nothing,
        );
    }
    folder
}

fn compare(folder: &Path, arguments: &[&str]) -> Finished {
    mcptest(folder, &[&["compare"], arguments].concat())
}

fn flat(said: &Finished) -> String {
    said.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn tells(said: &Finished, parts: &[&str]) {
    let text = flat(said);
    for part in parts {
        assert!(text.contains(part), "{part} in\n{said}");
    }
}

#[test]
fn two_steady_agents_hold() {
    let folder = two_agents();
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(&said, &["no difference was found. Exit status 0."]);
}

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
            format!("`a`: no outcome is recorded of 0 of 6 runs before and {missing} of 6 now");
        tells(
            &said,
            &[&told, "so the gates say of all its runs if they passed"],
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
        assert!(!gates.stdout.contains("no outcome is recorded"), "{gates}");
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
    let fact = "tokens are not compared, as 0 of 6 runs before and 1 of 6 now do not say what they cost: `a`";
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            fact,
            "1 has fewer runs that say their tokens than before (`a`)",
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
        &["time is not compared, as 0 of 6 runs before and 1 of 6 now do not say what they cost"],
    );
}

#[test]
fn a_renamed_agent_is_not_two_others() {
    let folder = two_agents();
    fs::rename(
        folder.at("suites/cassettes/a__m"),
        folder.at("suites/cassettes/b__m"),
    )
    .unwrap();
    record(&folder, "suites/cassettes/b__m", 0, 1010, nothing);
    let suite = [asks("b", "m", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    for baseline in ["before", "results"] {
        if baseline == "results" {
            let old = two_agents();
            compare(old.path(), &["--accept", "results"]).exits(0);
            for (path, bytes) in e2e_support::folder::collect(&old.at("results")) {
                folder.write(&format!("results/{path}"), bytes);
            }
        }
        let said = compare(folder.path(), &[baseline]).exits(3);
        tells(
            &said,
            &["not comparable: `b` the baseline has its prompt under the name `"],
        );
        tells(&said, &["cannot tell: 1 agent cannot be compared"]);
        assert!(!said.stdout.contains("dropped"), "{said}");
    }
}

/// Another agent that was never there, and one that is not asked for any more, are two.
#[test]
fn an_agent_with_another_prompt_is_no_renamed_one() {
    let folder = two_agents();
    record(&folder, "before/cassettes/old__m", 6, 1, |_, run| {
        run["user_prompt"] = "stay".into();
    });
    let suite = [
        asks("a", "m", "go", 6),
        asks("steady", "m", "go", 6),
        asks("new one", "m", "new", 6),
    ];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    record_as(
        &folder,
        "suites/cassettes/new_one__m",
        "new one",
        6,
        1,
        |_, run| run["user_prompt"] = "new".into(),
    );
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(&said, &["new: `new one`", "dropped: `old`"]);
}

#[test]
fn a_changed_model_is_told_and_never_holds() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("suites/cassettes/a__m")).unwrap();
    record(&folder, "suites/cassettes/a__n", 0, 1010, |_, run| {
        run["model"] = "n".into();
    });
    let suite = [asks("a", "n", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            "not comparable: `a` the baseline has it with the model m; `--across-models` compares the two",
        ],
    );
    let across = compare(folder.path(), &["before", "--across-models"]).exits(1);
    tells(&across, &["1 of 2 agents got worse (`a`: 6 of 6 → 0 of 6)"]);
}

#[test]
fn a_changed_prompt_is_told_and_never_holds() {
    let folder = two_agents();
    record(&folder, "suites/cassettes/a__m", 0, 1010, |_, run| {
        run["user_prompt"] = "run".into();
    });
    let suite = [asks("a", "m", "run", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &["not comparable: `a` baseline: recorded with another prompt"],
    );
    compare(folder.path(), &["before", "--inconclusive", "pass"]).exits(0);
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

/// The baseline's folder lies in the project: what it has, the candidate has not.
#[test]
fn a_baseline_in_the_project_is_no_place_of_the_candidate() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("suites/cassettes")).unwrap();
    for (agent, ..) in [("a",), ("steady",)] {
        fs::rename(
            folder.at(&format!("before/cassettes/{agent}__m")),
            folder.at(&format!("before/cassettes/{agent}__old")),
        )
        .unwrap();
    }
    let said = compare(folder.path(), &["before"]).exits(3);
    assert!(!said.stdout.contains("the candidate"), "{said}");
    // Neither has it as the baseline: there is one with another model in the working tree alone.
    fs::rename(folder.at("before/cassettes"), folder.at("suites/cassettes")).unwrap();
    fs::create_dir_all(folder.at("before/cassettes")).unwrap();
    record(&folder, "before/cassettes/a__m", 6, 1, nothing);
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &["it has recordings of them by another model: `--across-models` compares those"],
    );
}

#[test]
fn recordings_of_nested_packages_are_no_dropped_agents() {
    let folder = two_agents();
    let git = |arguments: &[&str]| {
        let mut git = e2e_support::process::command("git", folder.path());
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments);
        e2e_support::process::run(&mut git).exits(0);
    };
    folder.write(
        "crates/inner/Cargo.toml",
        "[package]\nname = \"inner\"\nversion = \"0.1.0\"\n",
    );
    record(
        &folder,
        "crates/inner/suites/cassettes/other__m",
        6,
        1,
        nothing,
    );
    for side in ["before", "copy"] {
        record(
            &folder,
            &format!("{side}/crates/inner/suites/cassettes/other__m"),
            6,
            1,
            nothing,
        );
    }
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "One"]);
    for baseline in ["before", "HEAD", "."] {
        let said = compare(folder.path(), &[baseline]);
        assert!(!said.stdout.contains("other"), "{baseline}: {said}");
    }
    // Also where the nested package is gone by now.
    fs::remove_dir_all(folder.at("crates")).unwrap();
    let said = compare(folder.path(), &["HEAD"]).exits(0);
    assert!(!said.stdout.contains("other"), "{said}");
}

/// Names as the suite has them, whatever is in them.
#[test]
fn agents_are_called_what_their_suite_calls_them() {
    let names = [
        ("🛒 cart", "openai/gpt 5"),
        ("a/b c", "m"),
        ("Refund agent", "m"),
        ("Refund agent", "n/o"),
    ];
    let suite = names.map(|(name, model)| asks(name, model, "go", 6));
    let folder = package(&format!("agents:\n{}", suite[..2].concat()));
    let two = format!(
        "agents:\n{}  - {{ name: Refund agent, models: [m, n/o], prompt: go, runs: 6, calls: {{ max: 9 }} }}\n",
        suite[..2].concat()
    );
    folder.write("suites/desk.yml", two);
    let stem = |name: &str, model: &str| {
        let slug = mcptest_suite::cassette_slug;
        format!("{}__{}", slug(name), slug(model))
    };
    for (side, passed, tokens) in [("before", 6, 1000), ("suites", 0, 1010)] {
        for (name, model) in names {
            let stem = format!("{side}/cassettes/{}", stem(name, model));
            record_as(&folder, &stem, name, passed, tokens, |_, run| {
                run["model"] = model.into();
            });
        }
    }
    let gone = format!("before/cassettes/{}", stem("Old one", "m"));
    record_as(&folder, &gone, "Old one", 6, 1, |_, run| {
        run["user_prompt"] = "stay".into();
    });
    for format in ["text", "markdown"] {
        let said = compare(folder.path(), &["before", "--format", format]).exits(1);
        for name in [
            "🛒 cart",
            "a/b c",
            "Refund agent (m)",
            "Refund agent (n/o)",
            "Old one",
        ] {
            assert!(said.stdout.contains(name), "{name} in\n{said}");
        }
        for (name, model) in names {
            let stem = stem(name, model);
            assert!(!said.stdout.contains(&stem), "{stem} in\n{said}");
        }
        assert!(!said.stdout.contains("Old_one"), "{said}");
    }
    let json = compare(folder.path(), &["before", "--format", "json"]).exits(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let cart = &json["names"][stem("🛒 cart", "openai/gpt 5")];
    assert_eq!(
        cart,
        &json!({ "agent": "🛒 cart", "model": "openai/gpt 5", "suite": "desk" })
    );
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
            "1 fell to no pass, in too few runs to show it (`a`: 2 of 2 → 0 of 2)",
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
    tells(&said, &["it is not shown that the agents are no worse"]);
}
