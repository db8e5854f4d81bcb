//! `cargo mcptest init` on crates of all kinds, and the `cargo test` after it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use e2e_support::folder::{Folder, collect};
use e2e_support::process::Finished;
use e2e_support::workshop::{harness_path, run_cargo, share_packages};
use support::mcptest;

const CASES: [&str; 3] = [
    "refunds::refund_agent",
    "refunds::refund_agent::narrative",
    "refunds::refund_agent::trajectory",
];

fn crate_named(name: &str, more: &str) -> Folder {
    let manifest =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}");
    Folder::new()
        .with_file("Cargo.toml", manifest)
        .with_file("src/lib.rs", "")
}

fn init(folder: &Path, more: &[&str]) -> Finished {
    let path = harness_path();
    mcptest(folder, &[&["init", "--path", &path], more].concat())
}

/// The next `cargo test`.
fn test(folder: &Path) -> Finished {
    share_packages(folder);
    let tested = run_cargo(folder, &["test"]);
    for executable in tested.executables() {
        _ = fs::remove_file(executable);
    }
    tested
}

fn names(finished: &Finished) -> Vec<String> {
    finished.outcomes().into_keys().collect()
}

#[test]
fn an_empty_crate_is_green_right_after() {
    let folder = crate_named("init-empty", "");
    let said = init(folder.path(), &[]).exits(0);
    let harness = harness_path();
    assert_eq!(
        said.stdout,
        format!(
            "added  Cargo.toml: `mcptest-harness = {{ path = \"{harness}\" }}` below `[dev-dependencies]`\n\
             wrote  suites/refunds.yml: what the agent was asked, and what every run must fulfil\n\
             wrote  suites/cassettes/Refund_agent__gpt-5.json: a recorded run of this agent\n\
             wrote  tests/agents.rs: a runner of all suites\n\
             added  Cargo.toml: the test target `agents`\n\n\
             proposed, not written, for {}/Cargo.toml:\n\n\
             [profile.dev.package.mcptest-harness]\nopt-level = 2\n\n\
             [profile.dev.package.mcptest-suite]\nopt-level = 2\n\n\
             [profile.dev.package.mcptest-trace]\nopt-level = 2\n\n\
             It optimises the harness in the tests' build, so many runs are judged faster; your \
             own code is built as before.\n\n\
             next: cargo test -p init-empty\n",
            folder.path().display()
        )
    );
    let tested = test(folder.path()).exits(0);
    assert_eq!(names(&tested), CASES);
    assert!(!tested.stderr.contains("warning"), "{tested}");

    // A second time there is nothing to do, and nothing changes.
    let before = collect(folder.path());
    let again = init(folder.path(), &[]).exits(0);
    let kept: Vec<&str> = again
        .stdout
        .lines()
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(
        kept,
        [
            "kept   Cargo.toml: the dependency on mcptest-harness",
            "kept   suites/refunds.yml: a suite",
            "kept   tests/agents.rs: it runs suites already",
        ]
    );
    assert!(collect(folder.path()) == before);
}

/// The first suite knows which tools there are, so that a claim of anything else is false.
#[test]
fn a_false_closing_is_red_in_the_first_suite() {
    let folder = crate_named("init-claims", "");
    init(folder.path(), &[]).exits(0);
    share_packages(folder.path());
    let recording = folder.at("suites/cassettes/Refund_agent__gpt-5.json");
    let text = fs::read_to_string(&recording).unwrap();
    let claims = "for order 7. I have also cancelled order 8.";
    fs::write(&recording, text.replace("for order 7.", claims)).unwrap();
    let said = mcptest(folder.path(), &["explain", "::narrative"]).exits(1);
    assert!(
        said.stdout
            .contains("claimed, but no successful call supports it"),
        "{said}"
    );
}

#[test]
fn the_macro_makes_functions_of_the_cases() {
    let folder = crate_named("init-macro", "");
    init(folder.path(), &["--macro"]).exits(0);
    let manifest = fs::read_to_string(folder.at("Cargo.toml")).unwrap();
    assert!(!manifest.contains("[[test]]"), "{manifest}");
    assert_eq!(
        fs::read_to_string(folder.at("tests/agents.rs")).unwrap(),
        "#[mcptest::suite(\"refunds.yml\")]\nmod refunds {}\n"
    );
    assert_eq!(names(&test(folder.path()).exits(0)), CASES);
}

#[test]
fn a_member_of_a_workspace_depends_as_the_workspace_does() {
    let harness = harness_path();
    let folder = Folder::new()
        .with_file(
            "Cargo.toml",
            format!(
                "[workspace]\nresolver = \"3\"\nmembers = [\"init-shop\", \"init-other\"]\n\n[workspace.dependencies]\n\
                 agent-tests = {{ package = \"mcptest-harness\", path = \"{harness}\" }}\n"
            ),
        )
        .with_file("init-shop/Cargo.toml", "[package]\nname = \"init-shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .with_file("init-shop/src/lib.rs", "")
        .with_file("init-other/Cargo.toml", "[package]\nname = \"init-other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        .with_file("init-other/src/lib.rs", "");
    let asked = mcptest(folder.path(), &["init"]).exits(2);
    assert_eq!(
        asked.stderr,
        "error: there are several packages here: `init-other`, `init-shop`\n\nhelp: choose one with `-p`\n"
    );
    mcptest(folder.path(), &["init", "-p", "init-shop"]).exits(0);
    let runner = fs::read_to_string(folder.at("init-shop/tests/agents.rs")).unwrap();
    assert_eq!(runner, "agent_tests::main!();\n");
    let other = collect(&folder.at("init-other"));
    assert_eq!(other.len(), 2);
    assert_eq!(names(&test(folder.path()).exits(0)), CASES);
}

#[test]
fn a_crate_with_other_tests_keeps_them() {
    let folder = crate_named(
        "init-tested",
        "\n[dev-dependencies]\n\n[[test]]\nname = \"other\"\npath = \"tests/other.rs\"\n",
    )
    .with_file("tests/agents.rs", "#[test]\nfn of_my_own() {}\n")
    .with_file("tests/other.rs", "#[test]\nfn as_well() {}\n")
    .with_file(
        "suites/shop/deep.yml",
        "agents:\n- { name: a, model: m, prompt: p, calls: { max: 3 } }\n",
    );
    folder.write(
        "suites/shop/cassettes/a__m.json",
        r#"{"schema_version":"v1","agent_name":"a","model":"m","user_prompt":"p","trace":{"tool_calls":[]}}"#,
    );
    let before = collect(folder.path());
    init(folder.path(), &[]).exits(0);
    let after = collect(folder.path());
    let changed = |(path, bytes): &(&String, &Vec<u8>)| before.get(*path) != Some(*bytes);
    let new: BTreeMap<_, _> = after.iter().filter(changed).collect();
    assert_eq!(
        new.keys().map(|path| path.as_str()).collect::<Vec<_>>(),
        ["Cargo.toml", "tests/agent_tests.rs"]
    );
    let tested = test(folder.path());
    let names = names(&tested);
    for case in ["of_my_own", "as_well", "shop::deep::a::calls"] {
        assert!(names.contains(&case.to_owned()), "{tested}");
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_half_done() {
    let folder = crate_named("init-taken", "")
        .with_file("suites/cassettes/Refund_agent__gpt-5.json", "mine");
    let before = collect(folder.path());
    let refused = init(folder.path(), &[]).exits(2);
    assert_eq!(
        refused.stderr,
        "error: `suites/cassettes/Refund_agent__gpt-5.json` is there already\n\n\
         help: move this file away: the first agent test needs a file of this name\n"
    );
    assert!(collect(folder.path()) == before);
}

/// Says to cargo that `registry/` is all that is published, and gives it a harness of a version.
fn published(folder: &Folder, version: &str) {
    folder.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"here\"\n\n[source.here]\ndirectory = \"registry\"\n",
    );
    let manifest = format!(
        "[package]\nname = \"mcptest-harness\"\nversion = \"{version}\"\nedition = \"2024\"\n"
    );
    folder.write("registry/mcptest-harness/Cargo.toml", manifest);
    folder.write("registry/mcptest-harness/src/lib.rs", "");
    folder.write(
        "registry/mcptest-harness/.cargo-checksum.json",
        "{\"files\":{}}",
    );
}

#[test]
fn what_no_registry_has_is_no_start() {
    let folder = crate_named("init-unpublished", "").with_file("docs/.keep", "");
    published(&folder, "0.0.1");
    let before = collect(folder.path());
    let refused = mcptest(folder.path(), &["init"]).exits(2);
    assert_eq!(refused.stdout, "");
    let stderr = &refused.stderr;
    assert!(
        stderr.starts_with(
            "error: cargo cannot resolve the package with `mcptest-harness = \"0.1\"`, so the next `cargo test` would fail; nothing is changed. Cargo says: "
        ),
        "{refused}"
    );
    assert!(
        stderr.ends_with(
            "help: if mcptest-harness is not published yet, use a clone: `cargo mcptest init --path <the folder mcptest-harness of the clone>`\n"
        ),
        "{refused}"
    );
    assert!(collect(folder.path()) == before);
    assert!(!folder.at("suites").exists() && !folder.at("tests").exists());

    published(&folder, "0.1.7");
    let said = mcptest(folder.path(), &["init"]).exits(0);
    assert!(
        said.stdout.starts_with(
            "added  Cargo.toml: `mcptest-harness = \"0.1\"` below `[dev-dependencies]`\n"
        ),
        "{said}"
    );
}

#[test]
fn what_was_done_is_told_to_programs() {
    let folder = crate_named("init-json", "");
    let said = init(folder.path(), &["--format", "json"]).exits(0);
    let said: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(said["format"], "init/1.0");
    assert_eq!(said["package"], "init-json");
    assert_eq!(said["steps"].as_array().unwrap().len(), 5);
    assert_eq!(said["steps"][4]["did"], "added");
    assert!(
        said["proposed"]["lines"]
            .as_str()
            .unwrap()
            .contains("opt-level = 2")
    );
}
