//! A newcomer's path: `cargo new`, then word by word what the README says. Its files are the code
//! blocks below `<!-- file: … -->`; its outputs are those below `<!-- output: … -->` and
//! `<!-- cases: … -->`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::folder::{Folder, write};
use crate::support::process::Finished;
use crate::support::workshop::{harness_path, lock_dependencies, run_cargo, workspace};

const CASSETTE: &str = "suites/cassettes/Refund_agent__gpt-5.json";

/// A code block of the README with the comment before it: its kind and what it says.
pub(crate) struct Block {
    kind: String,
    about: String,
    text: String,
}

pub(crate) fn readme() -> Vec<Block> {
    let text = fs::read_to_string(workspace().join("README.md")).unwrap();
    let marked = text.split("<!-- ").skip(1).map(|part| {
        let (comment, rest) = part.split_once(" -->\n").expect("a comment that ends");
        let (kind, about) = comment
            .split_once(": ")
            .expect("a kind and what it is about");
        let block = rest
            .strip_prefix("```")
            .expect("a block right below its comment");
        let (_, block) = block.split_once('\n').unwrap();
        let (text, _) = block.split_once("\n```").expect("a block that ends");
        Block {
            kind: kind.to_owned(),
            about: about.to_owned(),
            text: format!("{text}\n"),
        }
    });
    marked.collect()
}

pub(crate) fn block<'a>(blocks: &'a [Block], kind: &str, about: &str) -> &'a str {
    let fits = |block: &&Block| block.kind == kind && block.about == about;
    let found = blocks.iter().find(fits);
    &found
        .unwrap_or_else(|| panic!("the README has no block `{kind}: {about}`"))
        .text
}

/// `cargo new --lib demo` with the README's lines at the end of its manifest. The path to the
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
    lock_dependencies(&here);
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

#[test]
fn the_readme_leads_from_cargo_new_to_a_green_case() {
    let blocks = readme();
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

    assert_eq!(step(&["::trajectory"], 0).outcomes().len(), 1);
    let one = step(&["--", "--exact", "refunds::refund_agent"], 0);
    assert_eq!(one.outcomes().len(), 1);

    // The failing case at the top of the README.
    take_refund_out(&here);
    let failed = step(&["::narrative"], 101);
    let output = block(&blocks, "output", "cargo test ::narrative");
    assert!(
        failed.stdout.contains(output),
        "{failed}\nthe README shows\n{output}"
    );
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

    for executable in executables {
        _ = fs::remove_file(executable);
    }
}

/// A block that no test looks at is a block that nobody keeps true.
#[test]
fn every_marked_block_of_the_readme_is_used_here() {
    let used = [
        "output: cargo test ::narrative",
        "file: Cargo.toml",
        "file: tests/agents.rs",
        "file: suites/refunds.yml",
        "file: suites/cassettes/Refund_agent__gpt-5.json",
        "cases: cargo test --test agents",
        "file: tests/with_the_standard_harness.rs",
        "file: suites/orders.yml",
        "recording: suites/orders.yml",
        "file: tests/own_agent.rs",
        "twin: offline-trace-validation.yml",
        "twin: fault-injection-recovery.yml",
        "file: tests/checks.rs",
    ];
    let marked: Vec<_> = readme()
        .iter()
        .map(|block| format!("{}: {}", block.kind, block.about))
        .collect();
    assert_eq!(marked, used);
}
