//! Compile errors of the macro, word by word.
//!
//! trybuild compiles in a folder of its own below the target folder, where relative suites are not
//! found; so each wrong use is a test target of one small crate, and cargo builds them all at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::clerk::SUITE;
use crate::support::snapshot;
use crate::support::workshop::{kept_crate, manifest, run_cargo};

/// Each wrong use, by the name of its target.
const WRONG: [(&str, &str); 21] = [
    ("no_argument", "#[mcptest::suite]\nmod desk {}\n"),
    ("empty_argument", "#[mcptest::suite()]\nmod desk {}\n"),
    ("not_a_string", "#[mcptest::suite(desk.yml)]\nmod desk {}\n"),
    ("a_number", "#[mcptest::suite(7)]\nmod desk {}\n"),
    (
        "two_arguments",
        "#[mcptest::suite(\"desk.yml\", \"yard.yml\")]\nmod desk {}\n",
    ),
    ("an_empty_path", "#[mcptest::suite(\"\")]\nmod desk {}\n"),
    (
        "an_absolute_path",
        "#[mcptest::suite(\"/desk.yml\")]\nmod desk {}\n",
    ),
    (
        "a_missing_file",
        "#[mcptest::suite(\"dsk.yml\")]\nmod desk {}\n",
    ),
    (
        "two_files",
        "#[mcptest::suite(\"both.yml\")]\nmod both {}\n",
    ),
    (
        "a_suite_that_does_not_load",
        "#[mcptest::suite(\"broken.yml\")]\nmod broken {}\n",
    ),
    (
        "a_module_elsewhere",
        "#[mcptest::suite(\"desk.yml\")]\nmod desk;\n",
    ),
    (
        "a_struct",
        "#[mcptest::suite(\"desk.yml\")]\nstruct Desk;\n",
    ),
    (
        "a_check_without_runs",
        "#[mcptest::suite(\"desk.yml\")]\nfn check() {}\n",
    ),
    (
        "a_check_of_something_else",
        "#[mcptest::suite(\"desk.yml\")]\nfn check(runs: &mut mcptest::AgentRuns) {}\n",
    ),
    (
        "an_async_check",
        "#[mcptest::suite(\"desk.yml\")]\nasync fn check(runs: &mcptest::AgentRuns) {}\n",
    ),
    (
        "a_name_that_is_taken",
        "#[mcptest::suite(\"desk.yml\")]\nmod desk {\n    #[test]\n    fn clerk() {}\n}\n",
    ),
    (
        "an_argument_of_another_name",
        "#[mcptest::suite(\"desk.yml\", agnet = run)]\nmod desk {}\n",
    ),
    (
        "an_agent_that_is_none",
        "#[mcptest::suite(\"desk.yml\", agent = )]\nmod desk {}\n",
    ),
    (
        "an_agent_and_more",
        "#[mcptest::suite(\"desk.yml\", agent = run, runs = 3)]\nmod desk {}\n",
    ),
    (
        "an_agent_with_a_command",
        "#[mcptest::suite(\"command.yml\", agent = run)]\nmod desk {}\n",
    ),
    (
        "an_agent_without_the_feature",
        "async fn run() {}\n\n#[mcptest::suite(\"desk.yml\", agent = run)]\nmod desk {}\n",
    ),
];

/// A check whose verdict means nothing; what the compiler adds to our words quotes our sources.
const BOOL: (&str, &str) = (
    "a_check_that_returns_a_bool",
    "#[mcptest::suite(\"desk.yml\")]\nfn check(_: &mcptest::AgentRuns) -> bool {\n    true\n}\n",
);

const BROKEN: &str = "\
agents:
  - name: Clerk
    modle: m
    prompt: Count the pens.
    expect:
      - target: final_response
        matcher: { containz: pens }
";

const COMMAND: &str = "\
agents:
  - name: Clerk
    model: m
    prompt: Count the pens.
    command: [clerk]
    narrative: {}
";

/// What the compiler says about each target.
fn messages() -> &'static (PathBuf, BTreeMap<String, String>) {
    static MESSAGES: OnceLock<(PathBuf, BTreeMap<String, String>)> = OnceLock::new();
    MESSAGES.get_or_init(|| {
        let file = |path: &str, text: &str| (path.to_owned(), text.as_bytes().to_vec());
        let mut files = vec![
            file("Cargo.toml", &manifest("wrong", "[workspace]\n")),
            file("src/lib.rs", "//! A library.\n"),
            file("suites/desk.yml", SUITE),
            file("suites/both.yml", SUITE),
            file("both.yml", SUITE),
            file("suites/broken.yml", BROKEN),
            file("suites/command.yml", COMMAND),
            file(
                "tests/correct.rs",
                "#[mcptest::suite(\"desk.yml\")]\nmod desk {}\n",
            ),
        ];
        let wrong = WRONG.into_iter().chain([BOOL]);
        files.extend(wrong.map(|(name, text)| file(&format!("tests/{name}.rs"), text)));
        let folder = kept_crate("wrong", &files);
        // What is below is built for other tests anyway; to check it would be to read it again.
        let arguments = ["build", "--tests", "--keep-going", "--message-format=json"];
        let checked = run_cargo(&folder, &arguments).exits(101);
        let mut messages = BTreeMap::new();
        for line in checked.stdout.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let (Some(text), Some(target)) = (
                line["message"]["rendered"].as_str(),
                line["target"]["name"].as_str(),
            ) else {
                continue;
            };
            let of_target: &mut String = messages.entry(target.to_owned()).or_default();
            of_target.push_str(text);
        }
        (folder, messages)
    })
}

#[test]
fn each_wrong_use_is_refused_with_the_reviewed_words() {
    let (folder, messages) = messages();
    for (name, _) in WRONG {
        let text = messages
            .get(name)
            .unwrap_or_else(|| panic!("{name} compiles"));
        assert!(text.starts_with("error"), "{name}: {text}");
        snapshot::assert(&format!("compile-{}", name.replace('_', "-")), text, folder);
    }
}

#[test]
fn a_check_that_returns_something_else_is_told_what_it_may_return() {
    let text = &messages().1[BOOL.0];
    assert!(
        text.contains("`bool` is not what a check can return"),
        "{text}"
    );
    assert!(
        text.contains("a check returns `()`, or a `Result` whose error implements `Debug`"),
        "{text}"
    );
}

#[test]
fn the_right_use_beside_them_compiles_without_a_word() {
    assert_eq!(messages().1.get("correct"), None);
}

#[test]
fn an_error_points_into_the_attribute() {
    let (_, messages) = messages();
    for (name, text) in WRONG.iter().take(10) {
        let pointed = format!("--> tests/{name}.rs:1:");
        assert!(
            messages[*name].contains(&pointed),
            "{text}{}",
            messages[*name]
        );
    }
    let broken = &messages["a_suite_that_does_not_load"];
    for quoted in [
        "suites/broken.yml:3:5",
        "modle",
        "model",
        "suites/broken.yml:7:20",
        "containz",
    ] {
        assert!(broken.contains(quoted), "{quoted} in {broken}");
    }
}
