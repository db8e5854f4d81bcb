//! `cargo mcptest validate`: what is wrong with suites and recordings.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use e2e_support::folder::collect;
use e2e_support::process::{command, run};
use serde_json::{Value, json};
use support::{SUITE, good, mcptest, run_of, shop};

#[test]
fn a_crate_in_order_has_no_problem() {
    let shop = shop(&good());
    let said = mcptest(shop.path(), &["validate"]).exits(0);
    assert_eq!(said.stdout, "1 suite, 1 agent test: nothing is wrong\n");
    assert_eq!(said.stderr, "");
}

#[test]
fn recordings_and_snapshots_that_nothing_asks_for_are_shown_and_removed() {
    let shop = shop(&good())
        .with_run("suites/cassettes/Old_agent__gpt-5/run-1.json", &run_of(&[]))
        .with_run("cassettes/gone/Old_agent__gpt-5.json", &run_of(&[]))
        .with_file("suites/cassettes/README.md", "about the recordings")
        .with_file("suites/cassettes/notes.json", "{\"about\": \"them\"}")
        .with_file(
            "suites/snapshots/refunds-refund_agent-snapshot.snap",
            "---\nsource: \"suites/refunds.yml\"\n---\nx\n",
        )
        .with_file(
            "suites/snapshots/refunds-old_agent-snapshot.snap",
            "---\nsource: \"suites/refunds.yml\"\n---\nx\n",
        )
        .with_file(
            "suites/snapshots/other__tests.snap",
            "---\nsource: tests/other.rs\n---\nx\n",
        );
    let orphans = [
        ("recording", "cassettes/gone/Old_agent__gpt-5.json"),
        ("recording", "suites/cassettes/Old_agent__gpt-5/run-1.json"),
        (
            "snapshot",
            "suites/snapshots/refunds-old_agent-snapshot.snap",
        ),
    ];
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    let told = orphans.map(|(what, file)| {
        format!("orphan: no agent test asks for the {what} {file}\n\nhelp: `cargo mcptest validate --fix` removes it\n\n")
    });
    assert_eq!(
        said.stdout,
        format!("{}1 suite, 1 agent test: 3 problems\n", told.concat())
    );
    let before = collect(shop.path());
    let fixed = mcptest(shop.path(), &["validate", "--fix"]).exits(0);
    let removed = orphans.map(|(_, file)| format!("removed {file}\n"));
    assert_eq!(
        fixed.stdout,
        format!(
            "{}1 suite, 1 agent test: nothing is wrong\n",
            removed.concat()
        )
    );
    let after = collect(shop.path());
    let gone: Vec<&str> = before
        .keys()
        .filter(|file| !after.contains_key(*file))
        .map(String::as_str)
        .collect();
    assert_eq!(gone, orphans.map(|(_, file)| file));
}

/// What lies there may be of an agent that is left out, so it is no orphan, and nothing is removed.
#[test]
fn agents_that_tags_leave_out_are_not_looked_at_and_lose_nothing() {
    let other = "  - { name: Other, model: gpt-5, prompt: Hi., tags: [slow], calls: { max: 1 } }\n";
    let suite = SUITE.replace("    runs: 2\n", "    runs: 2\n    tags: [smoke]\n") + other;
    let shop = shop(&good())
        .with_file("suites/refunds.yml", suite)
        .with_run("suites/cassettes/Othr__gpt-5.json", &run_of(&[]));
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    assert!(
        said.stdout.contains("rename them to `Other__gpt-5`"),
        "{said}"
    );
    let validate = |tags: &str, arguments: &[&str]| {
        let mut line = command(env!("CARGO_BIN_EXE_cargo-mcptest"), shop.path());
        run(line
            .env("MCPTEST_TAGS", tags)
            .arg("validate")
            .args(arguments))
    };
    let said = validate("smoke", &["--fix"]).exits(0);
    assert_eq!(
        said.stdout,
        "1 suite, 1 agent test (1 more left out by `MCPTEST_TAGS`): nothing is wrong\n"
    );
    assert_eq!(
        said.stderr,
        "note: nothing is removed while `MCPTEST_TAGS` leaves agents out\n"
    );
    validate("slow", &[]).exits(1);
}

#[test]
fn a_recording_under_a_similar_name_is_guessed() {
    let shop = shop(&good());
    std::fs::rename(
        shop.at("suites/cassettes/Refund_agent__gpt-5"),
        shop.at("suites/cassettes/Refund_agnt__gpt-5"),
    )
    .unwrap();
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    assert!(
        said.stdout.contains("help: no agent asks for the recordings `Refund_agnt__gpt-5`; if they belong to this agent, rename them to `Refund_agent__gpt-5`"),
        "{said}"
    );
}

/// An agent that has recordings, though another number of them, is not looking for others.
#[test]
fn no_name_is_guessed_where_the_number_of_runs_is_wrong() {
    let shop = shop(&good());
    shop.write("suites/refunds.yml", SUITE.replace("runs: 2", "runs: 3"));
    let run = std::fs::read(shop.at("suites/cassettes/Refund_agent__gpt-5/run-1.json")).unwrap();
    shop.write(
        "suites/cassettes/Refund_agnt__gpt-5.json",
        String::from_utf8(run).unwrap(),
    );
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    assert!(
        said.stdout.contains("3 runs declared, 2 recorded"),
        "{said}"
    );
    assert!(!said.stdout.contains("rename them to"), "{said}");
    assert!(said.stdout.contains("orphan: "), "{said}");
}

/// A name that was changed is one problem, and its recordings are nobody's to remove.
#[test]
fn a_renamed_agent_is_one_problem_and_keeps_its_recordings() {
    let shop = shop(&good());
    let renamed = SUITE.replace("Refund agent", "Refunds agent");
    shop.write(
        "suites/refunds.yml",
        format!("{renamed}    narrative: {{ tools: [get_order, refund, archive] }}\n"),
    );
    let before = collect(shop.path());
    for arguments in [&["validate"][..], &["validate", "--fix"]] {
        let said = mcptest(shop.path(), arguments).exits(1);
        assert!(
            said.stdout
                .contains("rename them to `Refunds_agent__gpt-5`"),
            "{said}"
        );
        assert!(
            said.stdout
                .ends_with("\n1 suite, 1 agent test: 1 problem\n"),
            "{said}"
        );
        assert!(collect(shop.path()) == before);
    }
}

#[test]
fn nothing_is_removed_while_an_agent_lacks_its_recordings() {
    for name in ["money back", "Refunds agent", "agent B"] {
        let shop = shop(&good());
        let renamed = SUITE.replace("Refund agent", name);
        shop.write("suites/refunds.yml", &renamed);
        let from = shop.path().join("suites/cassettes/Refund_agent__gpt-5");
        let central = shop.path().join("cassettes/refunds");
        std::fs::create_dir_all(&central).unwrap();
        let copy = central.join("Old_agent__gpt-5.json");
        std::fs::copy(from.join("run-1.json"), copy).unwrap();
        let before = collect(shop.path());
        let said = mcptest(shop.path(), &["validate", "--fix"]).exits(1);
        assert!(said.stderr.contains("nothing is removed"), "{said}");
        assert!(collect(shop.path()) == before, "{name}");
    }
}

#[test]
fn a_misspelt_key_of_a_recording_is_told() {
    let shop = shop(&good());
    let mut run = run_of(&good());
    run["trace"]["final_respons"] = run["trace"]["final_response"].take();
    shop.write(
        "suites/cassettes/Refund_agent__gpt-5/run-2.json",
        format!("{run:#}"),
    );
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    assert!(said.stdout.contains("final_respons"), "{said}");
    assert!(said.stdout.contains("`final_response`"), "{said}");
    assert!(
        said.stdout.ends_with("1 suite, 1 agent test: 1 problem\n"),
        "{said}"
    );
}

#[test]
fn tools_that_no_run_knows_are_told_with_their_place() {
    let shop = shop(&good());
    shop.write(
        "suites/refunds.yml",
        format!("{SUITE}    narrative: {{ evidence: {{ refund: [refnud] }}, readonly_tools: [get_order] }}\n"),
    );
    let said = mcptest(shop.path(), &["validate"]).exits(1);
    assert_eq!(
        said.stdout,
        "error: no recording calls or lists the tool `refnud`\n  --> suites/refunds.yml:12:39\n   |\n\
         12 |     narrative: { evidence: { refund: [refnud] }, readonly_tools: [get_order] }\n   \
         |                                       ^^^^^^\n   |\n   = note: tools in the recordings: `get_order`, `refund`\n   \
         = help: did you mean `refund`?\n\n1 suite, 1 agent test: 1 problem\n"
    );
}

/// A misspelt tool that is forbidden forbids nothing.
#[test]
fn tools_of_plans_that_no_run_knows_are_told_where_all_list_theirs() {
    let shop = shop(&good());
    let suite = SUITE
        .replace("name: refund,", "name: refnud,")
        .replace("    runs: 2\n", "    runs: 2\n    inject: [slow]\n");
    let suite = format!(
        "faults: [{{ name: slow, target: {{ tool: get_ordre }}, kind: slow, delay_ms: 1 }}]\n{suite}    \
         golden_path: {{ calls: [getorder, refund] }}\n    trajectory_axes: {{ order: [{{ first: get_order, second: reefund }}] }}\n"
    );
    let suite = suite.replace(
        "      mode: strict\n",
        "      mode: superset\n      forbid: [delete_*, archive, archiv]\n      allow: [get_*, get_oder]\n",
    );
    shop.write("suites/refunds.yml", suite);
    let problems = || {
        let said = mcptest(shop.path(), &["validate", "--format", "json"]);
        let said: Value = serde_json::from_str(&said.stdout).unwrap();
        let problems = said["problems"].as_array().unwrap().clone();
        let tools = problems
            .into_iter()
            .filter(|problem| problem["kind"] == "tools");
        tools
            .map(|problem| problem["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(problems(), Vec::<String>::new());
    for number in 1..=2 {
        let mut run = run_of(&good()[number % 2..]);
        run["tools"] = json!(["get_order", "refund", "archive", "delete_order"]);
        shop.write(
            &format!("suites/cassettes/Refund_agent__gpt-5/run-{number}.json"),
            format!("{run:#}"),
        );
    }
    let told = problems();
    let unknown = [
        ("get_ordre", "get_order"),
        ("archiv", "archive"),
        ("get_oder", "get_order"),
        ("refnud", "refund"),
        ("getorder", "get_order"),
        ("reefund", "refund"),
    ];
    assert_eq!(told.len(), unknown.len(), "{told:#?}");
    for (told, (tool, near)) in told.iter().zip(unknown) {
        assert!(
            told.contains(&format!("no recording calls or lists the tool `{tool}`")),
            "{told}"
        );
        assert!(told.contains(&format!("did you mean `{near}`?")), "{told}");
    }
}

#[test]
fn a_list_that_agents_share_may_name_what_any_of_their_runs_calls() {
    let shop = shop(&good());
    let other = SUITE.replace("Refund agent", "Other agent");
    let other = other.split_once("agents:\n").unwrap().1;
    let suite = |tools: &str| {
        format!(
            "x-tools: &tools [{tools}]\n{SUITE}    narrative: {{ tools: *tools }}\n{other}    narrative: {{ tools: *tools }}\n"
        )
    };
    shop.write("suites/refunds.yml", suite("get_order, refund"));
    for number in 1..=2 {
        let mut run = run_of(&[("get_order", json!({ "order": "A-1" }))]);
        run["agent_name"] = json!("Other agent");
        run["recorded_at"] = json!(format!("2026-02-0{number}T00:00:00Z"));
        let path = format!("suites/cassettes/Other_agent__gpt-5/run-{number}.json");
        shop.write(&path, format!("{run:#}"));
    }
    let said = mcptest(shop.path(), &["validate"]);
    assert!(
        !said.stdout.contains("no recording calls or lists"),
        "{said}"
    );
    shop.write("suites/refunds.yml", suite("get_order, refund, refnud"));
    let said = mcptest(shop.path(), &["validate"]);
    assert_eq!(
        said.stdout.matches("no recording calls or lists").count(),
        1,
        "{said}"
    );
}

#[test]
fn a_suite_that_does_not_load_is_told_and_nothing_removed() {
    let shop = shop(&good())
        .with_file("suites/odd.yml", "agnets: []\n")
        .with_run(
            "suites/cassettes/Odd__m.json",
            &run_of(&[("refund", json!({}))]),
        );
    let before = collect(shop.path());
    let said = mcptest(shop.path(), &["validate"]).exits(2);
    assert!(
        said.stdout
            .ends_with("1 suite, 1 agent test, 1 suite that cannot be loaded: 1 problem\n"),
        "{said}"
    );
    let said = mcptest(shop.path(), &["validate", "--fix", "--format", "json"]).exits(2);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said["format"], "validate/1.0");
    assert_eq!(said["problems"].as_array().unwrap().len(), 1);
    assert_eq!(said["problems"][0]["kind"], "load");
    assert_eq!(said["removed"], json!([]));
    assert!(collect(shop.path()) == before);
}

/// The entry of a second import is printed, not written: until it is in the suite, its recordings lie there
/// without one.
#[test]
fn what_was_imported_is_never_removed() {
    let run = json!({
        "schema_version": "v1", "agent_name": "New agent", "model": "gpt-5", "user_prompt": "p", "imported": {},
        "trace": { "tool_calls": [], "final_response": "Done." },
    });
    let file = "suites/cassettes/New_agent__gpt-5/run-1.json";
    let shop = shop(&good()).with_file(file, run.to_string());
    let said = mcptest(shop.path(), &["validate", "--fix"]).exits(1);
    let told = format!(
        "orphan: no agent test asks for the recording {file}\n\nhelp: put its entry into the suite"
    );
    assert!(said.stdout.starts_with(&told), "{said}");
    assert!(shop.at(file).is_file());
}
