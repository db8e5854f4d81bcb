//! What stands on one side of a comparison alone, what changed of an agent, and recordings that nobody can read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::fs;

use e2e_support::git::{commit_all, git};
use serde_json::Value;
use support::planted::{asks, compare, nothing, record, record_as, tells, two_agents};

#[test]
fn another_system_prompt_is_compared_and_told_once() {
    let folder = two_agents();
    for agent in ["a", "steady"] {
        record(
            &folder,
            &format!("suites/cassettes/{agent}__m"),
            6,
            1010,
            |_, run| {
                run["system_prompt"] = "You are a quick clerk.\n".into();
            },
        );
        record(
            &folder,
            &format!("before/cassettes/{agent}__m"),
            6,
            1000,
            |_, run| {
                run["system_prompt"] = "You are a clerk.\n".into();
            },
        );
    }
    let suite = "agents:\n\
        \x20 - { name: a, model: m, prompt: go, runs: 6, calls: { max: 9 }, system_prompt: \"You are a quick clerk.\\n\" }\n\
        \x20 - { name: steady, model: m, prompt: go, runs: 6, calls: { max: 9 }, system_prompt: \"You are a quick clerk.\\n\" }\n";
    folder.write("suites/desk.yml", suite);
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(
        &said,
        &["the system prompt changed: `a`, `steady` -You are a clerk. +You are a quick clerk."],
    );
    let json = compare(folder.path(), &["before", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        json["changes"]["a__m"][0]["what"],
        "the system prompt changed"
    );
    let markdown = compare(folder.path(), &["before", "--format", "markdown"]).exits(0);
    assert!(
        markdown
            .stdout
            .contains("\n```diff\n-You are a clerk.\n+You are a quick clerk.\n```\n"),
        "{markdown}"
    );
    // The baseline is results, which keep the prompts.
    let before = two_agents();
    record(&before, "suites/cassettes/a__m", 6, 1000, |_, run| {
        run["system_prompt"] = "You are a clerk.\n".into();
    });
    before.write(
        "suites/desk.yml",
        "agents:\n  - { name: a, model: m, prompt: go, runs: 6, calls: { max: 9 }, system_prompt: \"You are a clerk.\\n\" }\n",
    );
    compare(before.path(), &["--accept", "results"]).exits(0);
    let results = before.at("results").to_string_lossy().into_owned();
    let said = compare(folder.path(), &[&results]);
    tells(&said, &["the system prompt changed: `a` -You are a clerk."]);
}

/// A session keeps the system prompt that the code sends, and the suite need not have one.
#[test]
fn a_prompt_that_stands_in_the_code_is_no_difference_to_the_suite() {
    let folder = two_agents();
    for (side, tokens) in [("before", 1000), ("suites", 1010)] {
        for agent in ["a", "steady"] {
            record(
                &folder,
                &format!("{side}/cassettes/{agent}__m"),
                6,
                tokens,
                |_, run| {
                    run["system_prompt"] = "From the code.".into();
                    run["session"] = serde_json::json!({ "version": "1.0", "conversations": [] });
                },
            );
        }
    }
    let said = compare(folder.path(), &["before"]).exits(0);
    assert!(!said.stdout.contains("system prompt"), "{said}");
}

#[test]
fn other_tools_are_compared_and_told() {
    let folder = two_agents();
    for (side, tokens, description) in [
        ("before", 1000, "Finds."),
        ("suites", 1010, "Finds an order."),
    ] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            |_, run| {
                run["tools"] = serde_json::json!([
                    { "name": "find", "description": description, "input_schema": { "type": "object" } },
                ]);
            },
        );
    }
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(
        &said,
        &[
            "the offered tools changed (described otherwise `find`): `a` -find description: Finds. +find description: Finds an order.",
        ],
    );
}

/// Another model in the suite, and nobody recorded the agent with it.
#[test]
fn an_agent_whose_model_changed_and_that_was_not_recorded_is_gone() {
    let folder = two_agents();
    let suite = [asks("a", "n", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            "1 gone (`a`), not compared",
            "gone, because it is recorded with `m`, and the suite asks for `n`: `a`",
        ],
    );
    compare(folder.path(), &["before", "--allow-gone"]).exits(3);
    fs::remove_dir_all(folder.at("suites/cassettes/a__m")).unwrap();
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &["gone, because there is no recording of it now: `a`"],
    );
}

/// Another name and another prompt: one is gone, and one is new, whose runs all fail.
#[test]
fn an_agent_that_vanishes_beside_a_new_one_is_counted_first() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("suites/cassettes/a__m")).unwrap();
    let suite = [asks("other", "m", "come", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    record_as(
        &folder,
        "suites/cassettes/other__m",
        "other",
        0,
        1,
        |_, run| {
            run["user_prompt"] = "come".into();
        },
    );
    let said = compare(folder.path(), &["before"]).exits(3);
    let first = said.stdout.lines().next().unwrap();
    assert!(first.contains("1 gone (`a`), 1 new, not"), "{said}");
    tells(&said, &["if this is on purpose, say `--allow-gone`"]);
    compare(folder.path(), &["before", "--allow-gone"]).exits(0);
}

/// The first pull request that brings suites has nothing to compare with.
#[test]
fn the_first_suites_hold_and_an_empty_folder_does_not() {
    let folder = two_agents();
    fs::rename(folder.at("suites"), folder.at("kept")).unwrap();
    folder.write(".gitignore", "kept\n");
    fs::remove_dir_all(folder.at("before")).unwrap();
    commit_all(folder.path(), "step");
    fs::rename(folder.at("kept"), folder.at("suites")).unwrap();
    let said = compare(folder.path(), &["main"]).exits(0);
    tells(
        &said,
        &["There is nothing to compare with yet, 2 new, not compared."],
    );
    fs::create_dir(folder.at("empty")).unwrap();
    compare(folder.path(), &["empty"]).exits(3);
}

/// The suites of the revision judge it, and not those of a work tree that was changed since.
#[test]
fn a_revision_is_judged_by_its_own_suites() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    commit_all(folder.path(), "step");
    record(&folder, "suites/cassettes/a__m", 0, 1010, nothing);
    commit_all(folder.path(), "step");
    // The work tree forgets the agent that got worse.
    folder.write(
        "suites/desk.yml",
        format!("agents:\n{}", asks("steady", "m", "go", 6)),
    );
    let said = compare(folder.path(), &["HEAD~1", "HEAD"]).exits(1);
    tells(&said, &["(`a`: 6 of 6 → 0 of 6)"]);
    // A full name is said once.
    let name = git(folder.path(), &["rev-parse", "HEAD~1"]);
    let said = compare(folder.path(), &[name.trim(), "HEAD"]).exits(1);
    assert_eq!(said.stdout.matches(name.trim()).count(), 1, "{said}");
}

/// A recording that no suite asked for at the base either is no agent that is gone.
#[test]
fn a_recording_that_nobody_asked_for_is_not_gone() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    record_as(&folder, "suites/cassettes/left__m", "left", 6, 1, nothing);
    commit_all(folder.path(), "step");
    record(&folder, "suites/cassettes/a__m", 6, 1010, nothing);
    compare(folder.path(), &["main"]).exits(0);
    let suite = [
        asks("a", "m", "go", 6),
        asks("steady", "m", "go", 6),
        asks("left", "m", "go", 6),
    ];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    commit_all(folder.path(), "step");
    let suite = [asks("a", "m", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["main"]).exits(3);
    tells(
        &said,
        &["gone, because no suite asks for it any more: `left`"],
    );
}

/// One agent's broken file stops no other agent's comparison.
#[test]
fn a_recording_that_cannot_be_read_stops_its_own_agent_alone() {
    for side in ["before", "suites"] {
        let folder = two_agents();
        record(&folder, "suites/cassettes/steady__m", 0, 1010, nothing);
        let path = folder.at(&format!("{side}/cassettes/a__m/run-6.json"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        let said = compare(folder.path(), &["before"]).exits(1);
        tells(
            &said,
            &[
                "(`steady`: 6 of 6 → 0 of 6)",
                "not comparable: `a` its recordings cannot be read",
                "run-6.json",
            ],
        );
        record(&folder, "suites/cassettes/steady__m", 6, 1010, nothing);
        let said = compare(folder.path(), &["before"]).exits(3);
        let advice = match side {
            "suites" => "record these runs again, or remove the files",
            _ => "take these files of the baseline back out of your version control",
        };
        tells(&said, &[advice]);
    }
}

/// What was committed is what it is: nobody is told to record it again.
#[test]
fn what_cannot_be_read_of_a_commit_has_its_own_advice() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    let path = folder.at("suites/cassettes/a__m/run-6.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    commit_all(folder.path(), "step");
    fs::write(&path, &text).unwrap();
    let said = compare(folder.path(), &["main"]).exits(3);
    tells(
        &said,
        &["name a revision as the baseline in which these recordings can be read"],
    );
    assert!(!said.stdout.contains("record these runs again"), "{said}");
}

/// A result that is cut hides no fall, wherever it stands among the others.
#[test]
fn a_result_that_is_cut_is_named() {
    for without_crate in [false, true] {
        for (file, rest) in [("desk.a.json", ""), ("desk.steady.json", "")] {
            let folder = two_agents();
            if without_crate {
                fs::remove_file(folder.at("Cargo.toml")).unwrap();
            }
            compare(folder.path(), &["--accept", "results"]).exits(0);
            record(&folder, "suites/cassettes/a__m", 0, 1030, nothing);
            let below = if without_crate {
                "results"
            } else {
                "results/shop"
            };
            let path = folder.at(&format!("{below}/{file}"));
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{}{rest}", &text[..text.len() / 2])).unwrap();
            for more in [&[][..], &["--require", "not_worse"]] {
                let said = compare(folder.path(), &[&["results"], more].concat()).exits(2);
                assert!(said.stderr.contains(file), "{said}");
            }
        }
    }
}

/// A suite under another name: its agents are those of before, in whatever place their recordings are.
#[test]
fn a_suite_that_was_renamed_is_compared_all_the_same() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    compare(folder.path(), &["--accept", "results"]).exits(0);
    fs::create_dir_all(folder.at("cassettes/desk")).unwrap();
    for agent in ["a__m", "steady__m"] {
        let from = folder.at(&format!("suites/cassettes/{agent}"));
        fs::rename(from, folder.at(&format!("cassettes/desk/{agent}"))).unwrap();
    }
    commit_all(folder.path(), "step");
    fs::rename(
        folder.at("suites/desk.yml"),
        folder.at("suites/counter.yml"),
    )
    .unwrap();
    fs::rename(folder.at("cassettes/desk"), folder.at("cassettes/counter")).unwrap();
    record(&folder, "cassettes/counter/a__m", 0, 1010, nothing);
    for baseline in ["main", "results"] {
        let said = compare(folder.path(), &[baseline]).exits(1);
        tells(&said, &["(`a`: 6 of 6 → 0 of 6)"]);
        assert!(!said.stdout.contains("new"), "{said}");
    }
}

/// A folder has no suites: the recordings of an agent are found by their name, wherever they lie in it.
#[test]
fn a_folder_whose_suites_had_other_names_is_no_new_baseline() {
    let folder = two_agents();
    fs::rename(
        folder.at("suites/desk.yml"),
        folder.at("suites/counter.yml"),
    )
    .unwrap();
    for side in ["", "before/"] {
        let suite = if side.is_empty() { "counter" } else { "desk" };
        fs::create_dir_all(folder.at(&format!("{side}cassettes/{suite}"))).unwrap();
        let from = if side.is_empty() { "suites/" } else { side };
        let from = folder.at(&format!("{from}cassettes/a__m"));
        fs::rename(from, folder.at(&format!("{side}cassettes/{suite}/a__m"))).unwrap();
    }
    record(&folder, "cassettes/counter/a__m", 0, 1010, nothing);
    // The other agent is compared, so that the folder is a baseline.
    let said = compare(folder.path(), &["before"]).exits(1);
    tells(&said, &["(`a`: 6 of 6 → 0 of 6)"]);
    // Where nobody can tell whose they are, nothing is compared.
    let more = folder.at("before/cassettes/old/a__m");
    fs::create_dir_all(&more).unwrap();
    let one = fs::read(folder.at("before/cassettes/desk/a__m/run-1.json")).unwrap();
    fs::write(more.join("run-1.json"), one).unwrap();
    let said = compare(folder.path(), &["before"]).exits(3);
    tells(
        &said,
        &[
            "1 is not comparable (`a`)",
            "recordings of this name in `cassettes/desk`, `cassettes/old`, where no suite looks for them",
        ],
    );
    // An agent that is new in a suite beside the others stays new.
    fs::remove_dir_all(folder.at("before/cassettes/old")).unwrap();
    fs::remove_dir_all(folder.at("before/cassettes/desk")).unwrap();
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(&said, &["1 new, not compared"]);
}

/// Another suite has an agent of this name: the one of the deleted suite is gone all the same.
#[test]
fn an_agent_of_a_deleted_suite_is_gone_though_another_has_its_name() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    folder.write(
        "suites/other.yml",
        format!("agents:\n{}", asks("a", "m", "go", 6)),
    );
    commit_all(folder.path(), "step");
    fs::remove_file(folder.at("suites/other.yml")).unwrap();
    let said = compare(folder.path(), &["main"]).exits(3);
    tells(&said, &["1 gone (`a", "not compared"]);
}

/// The base has the recordings in another place: that is no first suite.
#[test]
fn suites_that_moved_are_no_first_suites() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    fs::create_dir_all(folder.at("old")).unwrap();
    fs::rename(folder.at("suites"), folder.at("old/suites")).unwrap();
    commit_all(folder.path(), "step");
    fs::rename(folder.at("old/suites"), folder.at("suites")).unwrap();
    compare(folder.path(), &["main"]).exits(3);
}

/// One of an agent's results is missing: it is no new agent.
#[test]
fn a_result_that_is_missing_is_told() {
    let folder = two_agents();
    compare(folder.path(), &["--accept", "results"]).exits(0);
    record(&folder, "suites/cassettes/a__m", 0, 1030, nothing);
    fs::remove_file(folder.at("results/shop/desk.a.json")).unwrap();
    let said = compare(folder.path(), &["results"]).exits(3);
    tells(
        &said,
        &["not comparable: `a` the result of `desk::a` is missing"],
    );
}

/// What was trusted of an agent that no suite asks for any more is not deleted by the way.
#[test]
fn a_baseline_does_not_lose_an_agent_that_is_gone() {
    let folder = two_agents();
    compare(folder.path(), &["--accept", "results"]).exits(0);
    folder.write(
        "suites/desk.yml",
        format!("agents:\n{}", asks("steady", "m", "go", 6)),
    );
    let said = compare(folder.path(), &["--accept", "results"]).exits(3);
    assert!(said.stderr.contains("has runs of desk::a"), "{said}");
    assert!(folder.at("results/shop/desk.a.json").is_file());
}

/// Two revisions have their own suites: those of the work tree may be broken.
#[test]
fn two_revisions_are_compared_beside_a_broken_work_tree() {
    let folder = two_agents();
    fs::remove_dir_all(folder.at("before")).unwrap();
    commit_all(folder.path(), "step");
    record(&folder, "suites/cassettes/a__m", 0, 1010, nothing);
    commit_all(folder.path(), "step");
    folder.write("suites/desk.yml", "agents: [");
    compare(folder.path(), &["HEAD~1", "HEAD"]).exits(1);
    compare(folder.path(), &["HEAD~1"]).exits(2);
}

/// A comment is public.
#[test]
fn a_key_in_a_prompt_is_not_shown() {
    let folder = two_agents();
    let key = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF";
    for (side, prompt) in [("before", "You are a clerk."), ("suites", key)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            1010,
            |number, run| {
                run["system_prompt"] = prompt.into();
                run["seed"] = number.into();
            },
        );
    }
    let said = compare(folder.path(), &["before"]);
    tells(&said, &["the system prompt changed: `a`"]);
    assert!(!said.stdout.contains("abcdefghij"), "{said}");
}

/// What a line has is cut, and so may be a key; a key may have several lines.
#[test]
fn no_part_of_a_key_is_shown_whatever_line_it_stands_in() {
    let folder = two_agents();
    let key = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF";
    let pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----";
    for (side, more) in [
        ("before", String::new()),
        ("suites", format!(" {key}\n{pem}\n")),
    ] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            1010,
            |number, run| {
                run["system_prompt"] = format!("You are a clerk.{}{more}", " x".repeat(90)).into();
                run["seed"] = number.into();
                run["tools"] =
                    serde_json::json!([{ "name": "find", "description": format!("Finds.{more}") }]);
            },
        );
        // A task that is another one is shown too.
        record(
            &folder,
            &format!("{side}/cassettes/steady__m"),
            6,
            1010,
            |number, run| {
                run["user_prompt"] = format!("go{more}").into();
                run["seed"] = number.into();
            },
        );
    }
    for format in ["text", "json", "markdown"] {
        let said = compare(folder.path(), &["before", "--all", "--format", format]);
        assert!(said.stdout.contains("the prompt is another one"), "{said}");
        for part in ["abcdefgh", "MIIEvQ", "BKcwgg"] {
            assert!(!said.stdout.contains(part), "{part} in {said}");
        }
    }
}

/// A prompt is often one long line: what differs of it is shown.
#[test]
fn a_long_line_is_shown_where_it_differs() {
    let folder = two_agents();
    for (side, word) in [("before", "slowly"), ("suites", "quickly")] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            1010,
            |_, run| {
                let prompt = format!("{} answer {word} {}", "a ".repeat(300), "b ".repeat(300));
                run["system_prompt"] = prompt.into();
            },
        );
    }
    let said = compare(folder.path(), &["before"]).exits(0);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("a answer slowly b") && text.contains("a answer quickly b"),
        "{said}"
    );
    assert!(!text.contains(&"a ".repeat(60)), "{said}");
}

/// An agent under another name: on purpose it is one that is gone, and a new one.
#[test]
fn a_renamed_agent_is_new_where_agents_may_be_gone() {
    let folder = two_agents();
    fs::rename(
        folder.at("suites/cassettes/a__m"),
        folder.at("suites/cassettes/b__m"),
    )
    .unwrap();
    record(&folder, "suites/cassettes/b__m", 6, 1010, nothing);
    let suite = [asks("b", "m", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    compare(folder.path(), &["before"]).exits(3);
    let said = compare(folder.path(), &["before", "--allow-gone"]).exits(0);
    tells(&said, &["1 gone (`a`), 1 new, not compared"]);
}

/// What is advised can be done: a commit keeps its names, a folder need not.
#[test]
fn a_renamed_agent_is_advised_by_what_the_baseline_is() {
    let folder = two_agents();
    compare(folder.path(), &["--accept", "results"]).exits(0);
    commit_all(folder.path(), "step");
    fs::rename(
        folder.at("suites/cassettes/a__m"),
        folder.at("suites/cassettes/b__m"),
    )
    .unwrap();
    record(&folder, "suites/cassettes/b__m", 6, 1020, nothing);
    let suite = [asks("b", "m", "go", 6), asks("steady", "m", "go", 6)];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    for (baseline, advice) in [
        ("main", "keep the old name until its runs are compared"),
        (
            "before",
            "give its recordings in the baseline the new name, or",
        ),
        (
            "results",
            "save the results of the baseline again under the new name",
        ),
    ] {
        let said = compare(folder.path(), &[baseline]).exits(3);
        tells(&said, &["under the name `a` with the model m", advice]);
    }
    // The advice for the folder leads on.
    fs::rename(
        folder.at("before/cassettes/a__m"),
        folder.at("before/cassettes/b__m"),
    )
    .unwrap();
    compare(folder.path(), &["before"]).exits(0);
}

/// It has nothing to compare, and is not passed over.
#[test]
fn an_agent_that_was_added_without_recordings_is_told() {
    let folder = two_agents();
    let suite = [
        asks("a", "m", "go", 6),
        asks("steady", "m", "go", 6),
        asks("late", "m", "go", 6),
    ];
    folder.write("suites/desk.yml", format!("agents:\n{}", suite.concat()));
    let said = compare(folder.path(), &["before"]).exits(0);
    let told = "1 has no recording on either side (`late`)";
    tells(&said, &[told, "without a recording on either side: `late`"]);
    let markdown = compare(folder.path(), &["before", "--format", "markdown"]).exits(0);
    assert!(
        markdown.stdout.lines().next().unwrap().contains(told),
        "{markdown}"
    );
    let json = compare(folder.path(), &["before", "--format", "json"]).exits(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["unrecorded"], serde_json::json!(["late__m"]));
}

/// A session's recording has the parameters of its requests.
#[test]
fn other_parameters_are_told() {
    let folder = two_agents();
    for (side, tokens, temperature) in [("before", 1000, 0.5), ("suites", 1010, 1.9)] {
        record(
            &folder,
            &format!("{side}/cassettes/a__m"),
            6,
            tokens,
            |_, run| {
                let answer = serde_json::json!({ "parameters": { "temperature": temperature } });
                run["session"] = serde_json::json!({ "version": "1.2",
                    "conversations": [{ "role": "main", "answers": [answer] }] });
            },
        );
    }
    let said = compare(folder.path(), &["before"]).exits(0);
    tells(
        &said,
        &["the parameters of the model changed: `a` -temperature: 0.5 +temperature: 1.9"],
    );
}
