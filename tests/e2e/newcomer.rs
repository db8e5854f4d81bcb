//! A newcomer's path: `cargo new`, then word by word what the page *An agent in Rust* says, the failing case of the README,
//! and what the other pages of the guide add to the crate. Its files are the code blocks below `<!-- file: … -->`, its outputs are
//! those below `<!-- output: … -->` and `<!-- cases: … -->`, and the commands below
//! `<!-- commands: demo -->` succeed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::guide::{Block, block, blocks};
use crate::support::folder::{Folder, write};
use crate::support::process::Finished;
use crate::support::workshop::{harness_path, run_cargo, share_packages, workspace};

const CASSETTE: &str = "suites/cassettes/Refund_agent__gpt-5.json";

/// `cargo new --lib demo` with the page's lines at the end of its manifest. The path to the
/// harness is that of this workspace, and the target has a name that no other crate here has.
pub(crate) fn demo(folder: &Folder, blocks: &[Block]) -> PathBuf {
    run_cargo(folder.path(), &["new", "--vcs", "none", "--lib", "demo"]).exits(0);
    let here = folder.at("demo");
    let lines = block(blocks, "file", "Cargo.toml");
    let path = "\"../mcptest-harness/mcptest-harness\"";
    assert!(lines.contains(path), "{lines}");
    let lines = lines.replace(path, &format!("{:?}", harness_path()));
    let manifest = here.join("Cargo.toml");
    let old = fs::read_to_string(&manifest).unwrap();
    let old = old
        .strip_suffix("[dependencies]\n")
        .unwrap_or(&old)
        .to_owned();
    fs::write(manifest, format!("{old}{lines}")).unwrap();
    share_packages(&here);
    here
}

pub(crate) fn write_file(here: &Path, blocks: &[Block], path: &str) {
    write(&here.join(path), block(blocks, "file", path).as_bytes());
}

/// The lines of cases, whatever their order, without the unit test that `cargo new` writes.
fn cases(text: &str) -> BTreeSet<String> {
    let lines = text
        .lines()
        .filter(|line| line.starts_with("test ") && line.contains(" ... "));
    let agents = lines.filter(|line| !line.contains("tests::it_works"));
    agents.map(ToOwned::to_owned).collect()
}

fn test(here: &Path, arguments: &[&str]) -> Finished {
    run_cargo(here, &[&["test"], arguments].concat())
}

/// The arguments of the commands that the guide shows for the crate; those of nextest are left out,
/// since not every machine has it.
fn commands(blocks: &[Block]) -> Vec<Vec<&str>> {
    let blocks = blocks.iter().filter(|block| block.kind == "commands");
    let lines = blocks.flat_map(|block| block.text.lines());
    let lines = lines.filter(|line| !line.starts_with("cargo nextest"));
    let commands: Vec<Vec<&str>> = lines
        .map(|line| {
            let (command, _) = line.split_once('#').unwrap_or((line, ""));
            let arguments = command.trim_end().strip_prefix("cargo test");
            let arguments = arguments.unwrap_or_else(|| panic!("{line}"));
            arguments.split_whitespace().collect()
        })
        .collect();
    assert!(commands.len() > 3, "{commands:?}");
    commands
}

/// The target of a runner with a check of its own, and what the check reads its options with.
fn declare_polite(here: &Path) {
    let manifest = here.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let text = text.replace(
        "\n[[test]]",
        "serde = { version = \"1\", features = [\"derive\"] }\n\n[[test]]\nname = \"polite\"\nharness = false\n\n[[test]]",
    );
    fs::write(manifest, text).unwrap();
    share_packages(here);
}

/// Takes the `refund` call and its result out of the recording.
fn take_refund_out(here: &Path) {
    let path = here.join(CASSETTE);
    let mut run: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for list in ["tool_calls", "tool_results"] {
        let removed = run["trace"][list].as_array_mut().unwrap().pop().unwrap();
        assert!(removed.to_string().contains("refund"), "{removed}");
    }
    fs::write(path, format!("{run:#}\n")).unwrap();
}

/// Writes what is printed in the place of what the README and the crate's README show: from its first line to its last.
/// Does nothing unless `INSTA_UPDATE=always` asks for it.
fn update_output(shown: &str, printed: &str) {
    if !std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        return;
    }
    let (first, last) = (shown.lines().next().unwrap(), shown.lines().last().unwrap());
    let from = printed.find(first).unwrap();
    let to = from + printed[from..].find(last).unwrap() + last.len();
    let right = format!("{}\n", &printed[from..to]);
    for page in ["README.md", "mcptest-harness/README.md"] {
        let page = workspace().join(page);
        let text = fs::read_to_string(&page).unwrap();
        fs::write(&page, text.replace(shown, &right)).unwrap();
    }
}

#[test]
fn the_page_on_rust_leads_from_cargo_new_to_a_green_case() {
    let blocks = blocks();
    let folder = Folder::new();
    let here = demo(&folder, &blocks);
    let mut executables = Vec::new();
    let mut step = |arguments: &[&str], code| {
        let ran = test(&here, arguments).exits(code);
        executables.extend(ran.executables());
        ran
    };

    // Before there is a suite the first run says what to do.
    write_file(&here, &blocks, "tests/agents.rs");
    let nothing = step(&[], 101);
    assert_eq!(nothing.only_failure().0, "suites::load", "{nothing}");
    assert!(!nothing.stderr.contains("warning"), "{nothing}");

    // Before there is a recording it says where to put it.
    write_file(&here, &blocks, "suites/refunds.yml");
    let unrecorded = step(&[], 101);
    assert!(
        unrecorded.failures()["refunds::refund_agent"].contains(CASSETTE),
        "{unrecorded}"
    );

    write_file(&here, &blocks, CASSETTE);
    let shown = block(&blocks, "cases", "cargo test --test agents");
    let (command, shown) = shown.split_once('\n').unwrap();
    assert_eq!(command, "$ cargo test --test agents");
    let green = step(&[], 0);
    assert_eq!(cases(&green.stdout), cases(shown), "{green}");
    assert!(
        green.stdout.contains(shown.lines().next().unwrap()),
        "{green}"
    );
    // A suite and a recording are read when the tests run.
    assert!(!green.stderr.contains("Compiling demo"), "{green}");

    for command in commands(&blocks) {
        let ran = step(&command, 0);
        let listed = command.contains(&"--list") && ran.stdout.contains("refund_agent");
        assert!(listed || !ran.outcomes().is_empty(), "{command:?}: {ran}");
    }
    let one = step(&["--", "--exact", "refunds::refund_agent"], 0);
    assert_eq!(one.outcomes().len(), 1);

    // The failing case of the README.
    take_refund_out(&here);
    let failed = step(&["::narrative"], 101);
    let output = block(&blocks, "output", "cargo test ::narrative");
    if !failed.stdout.contains(output) {
        update_output(output, &failed.stdout);
        panic!("{failed}\nthe README shows\n{output}");
    }
    write_file(&here, &blocks, CASSETTE);

    // The standard harness and the checks in Rust beside it.
    write_file(&here, &blocks, "tests/with_the_standard_harness.rs");
    let both = step(
        &["--test", "agents", "--test", "with_the_standard_harness"],
        0,
    );
    let by_either = green
        .outcomes()
        .into_keys()
        .filter(|name| name != "tests::it_works");
    for name in by_either {
        let lines = both.stdout.lines();
        let of_case = lines.filter(|line| line.split_whitespace().nth(1) == Some(&name));
        assert_eq!(of_case.count(), 2, "{name} in\n{both}");
    }
    write_file(&here, &blocks, "tests/checks.rs");
    let checked = step(&["--test", "checks"], 0);
    assert_eq!(
        checked.outcomes().into_keys().collect::<Vec<_>>(),
        ["refunds_once::refund_agent"]
    );
    assert!(!checked.stderr.contains("warning"), "{checked}");

    // A check with options, in a runner of its own.
    declare_polite(&here);
    write_file(&here, &blocks, "tests/polite.rs");
    write_file(&here, &blocks, "suites/polite.yml");
    let recorded = fs::read_to_string(here.join(CASSETTE)).unwrap();
    let recorded = recorded.replace("Refund agent", "Polite agent");
    write(
        &here.join("suites/cassettes/Polite_agent__gpt-5.json"),
        recorded.as_bytes(),
    );
    let polite = step(&["--test", "polite"], 0);
    let names: Vec<_> = polite.outcomes().into_keys().collect();
    assert!(
        names.contains(&"polite::polite_agent::polite".to_owned()),
        "{polite}"
    );
    assert!(!polite.stderr.contains("warning"), "{polite}");

    for executable in executables {
        _ = fs::remove_file(executable);
    }
}
