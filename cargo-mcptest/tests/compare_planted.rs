//! `cargo mcptest compare`: comparisons of agents that are not what they seem to be: renamed, with another model, of another package.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fs;

use serde_json::{Value, json};
use support::planted::{asks, compare, nothing, package, record, record_as, tells, two_agents};

#[test]
fn two_steady_agents_hold() {
    let folder = two_agents();
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(&said, &["no difference was found. Exit status 0."]);
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
            &["not comparable: `b` the baseline has this prompt under the name `"],
        );
        tells(&said, &["cannot tell: 1 agent cannot be compared"]);
        assert!(!said.stdout.contains("no suite asks for it"), "{said}");
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
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            "new, not compared: `new one`",
            "gone, because no suite asks for it any more: `old`",
        ],
    );
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
            "not comparable: `a` the baseline has this agent with the model m; `--across-models` compares both",
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
    tells(&said, &["not comparable: `a` the prompt is another one"]);
    compare(folder.path(), &["before", "--inconclusive", "pass"]).exits(0);
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
    assert!(!said.stdout.contains("--across-models"), "{said}");
    // Neither has it as the baseline: there is one with another model in the working tree alone.
    fs::rename(folder.at("before/cassettes"), folder.at("suites/cassettes")).unwrap();
    fs::create_dir_all(folder.at("before/cassettes")).unwrap();
    record(&folder, "before/cassettes/a__m", 6, 1, nothing);
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &["it has recordings of these agents by another model: `--across-models` compares them"],
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

/// Two suites that have an agent of one name and one model: each is one of its own.
#[test]
fn agents_of_two_suites_with_one_name_are_two() {
    let folder = package(&format!("agents:\n{}", asks("a", "m", "go", 6)));
    folder.write(
        "suites/more/desk.yml",
        format!("agents:\n{}", asks("a", "m", "go", 6)),
    );
    for (side, tokens, passed) in [("before/suites", 1000, 6), ("suites", 1010, 0)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            nothing,
        );
        record(
            &folder,
            &format!("{side}/more/cassettes/a__m"),
            passed,
            tokens + 20,
            nothing,
        );
    }
    let said = compare(folder.path(), &["before"]).exits(1);
    tells(
        &said,
        &["1 of 2 agents got worse (`more::desk: a (m)`: 6 of 6 → 0 of 6)"],
    );
}

/// An agent that its suite skips is compared all the same, or said not to be.
#[test]
fn a_skipped_agent_hides_nothing() {
    let folder = two_agents();
    record(&folder, "suites/cassettes/a__m", 0, 1010, nothing);
    let suite = fs::read_to_string(folder.at("suites/desk.yml")).unwrap();
    let skipped = suite.replacen("runs: 6,", "runs: 6, skip: later,", 1);
    folder.write("suites/desk.yml", skipped);
    let said = compare(folder.path(), &["before"]).exits(1);
    tells(&said, &["1 of 2 agents got worse (`a`: 6 of 6 → 0 of 6)"]);
}
