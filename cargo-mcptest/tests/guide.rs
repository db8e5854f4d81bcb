//! What the pages of `docs/` show of the command is what it prints.
//!
//! A block below `<!-- mcptest: <crate> -->` begins with a command, which is run in that crate; what
//! follows is what it prints. A line `…` stands for any lines, and one that ends in ` …` for any that
//! begins so.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use e2e_support::folder::Folder;
use e2e_support::process::{command, run};
use e2e_support::transcript::matches_transcript;
use support::desk::desk;
use support::four_agents::four_agents;
use support::log::log;
use support::{good, mcptest, shop};

/// A block of a page: what stands above it, its language, its text.
struct Block {
    place: String,
    mark: String,
    language: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut pages: Vec<_> = fs::read_dir(docs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"));
    pages.sort();
    let mut blocks = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut lines = (1..).zip(text.lines());
        let mut above = "";
        while let Some((line, text)) = lines.next() {
            if let Some(language) = text.strip_prefix("```") {
                let inside = lines
                    .by_ref()
                    .map(|(_, text)| text)
                    .take_while(|text| *text != "```");
                let mark = above
                    .strip_prefix("<!-- ")
                    .and_then(|mark| mark.strip_suffix(" -->"));
                blocks.push(Block {
                    place: format!("{}:{line}", page.file_name().unwrap().to_string_lossy()),
                    mark: mark.unwrap_or_default().to_owned(),
                    language: language.to_owned(),
                    text: inside.map(|text| format!("{text}\n")).collect(),
                });
            }
            above = text;
        }
    }
    blocks
}

/// The crates that the pages speak of.
fn crates() -> BTreeMap<&'static str, Folder> {
    BTreeMap::from([
        ("a log", log()),
        ("a shop", shop(&good())),
        ("a shop with a red case", shop(&[])),
        ("four agents", four_agents()),
        ("thirty runs", desk(20, 10)),
        ("thirty runs, calibrated", desk(20, 10)),
    ])
}

/// The words of a command line; quotes are not used in the pages.
fn arguments(line: &str) -> Vec<&str> {
    let (line, _) = line.split_once('#').unwrap_or((line, ""));
    line.trim()
        .strip_prefix("cargo mcptest")
        .unwrap_or_else(|| panic!("{line}"))
        .split_whitespace()
        .collect()
}

#[test]
fn what_is_shown_is_what_is_printed() {
    let crates = crates();
    let mut shown = 0;
    for block in blocks() {
        let Some(about) = block.mark.strip_prefix("mcptest: ") else {
            continue;
        };
        let folder = crates
            .get(about)
            .unwrap_or_else(|| panic!("{}: no crate is named `{about}`", block.place));
        let (line, expected) = block.text.split_once('\n').unwrap();
        let line = line
            .strip_prefix("$ ")
            .unwrap_or_else(|| panic!("{}: it begins with no command", block.place));
        let said = mcptest(folder.path(), &arguments(line));
        assert!(
            matches_transcript(expected, &said.stdout),
            "{}: {said}",
            block.place
        );
        shown += 1;
    }
    assert!(shown > 5, "{shown}");
}

/// Commands by themselves, and those of a workflow: they are taken, whatever they find.
#[test]
fn commands_of_the_pages_are_taken() {
    let mut taken = 0;
    for block in blocks() {
        // What one step of that workflow leaves, another reads: `shards.rs` runs it whole.
        let is_whole = block.mark == "workflow: shards.yml";
        let is_workflow = block.mark.starts_with("workflow: ") && !is_whole;
        if !is_workflow && !block.mark.starts_with("mcptest commands: ") {
            continue;
        }
        assert!(is_workflow || block.language == "sh", "{}", block.place);
        for line in block.text.lines() {
            let Some(at) = line.find("cargo mcptest ") else {
                continue;
            };
            let folder = four_agents();
            for arguments in [
                &["init", "-q"][..],
                &["add", "-A"],
                &["commit", "-qm", "all"],
            ] {
                let mut git = command("git", folder.path());
                git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
                run(git.args(arguments)).exits(0);
            }
            let line = line[at..].split(" >").next().unwrap();
            let line = line
                .replace("origin/main", "before")
                .replace("${{ github.base_ref }}", "before")
                .replace("origin/before", "before");
            let mut process = command(env!("CARGO_BIN_EXE_cargo-mcptest"), folder.path());
            let said = run(process.args(arguments(&line)));
            assert!(
                matches!(said.code, Some(0 | 1 | 3)),
                "{}: {line}: {said}",
                block.place
            );
            taken += 1;
        }
    }
    assert!(taken > 5, "{taken}");
}

/// The table of exit codes names each command, once, in the order of their names.
#[test]
fn every_command_has_its_exit_codes_on_the_page() {
    let help = mcptest(Folder::new().path(), &["--help"]).exits(0).stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let commands = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut commands: Vec<&str> = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    commands.sort_unstable();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/ci.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page
        .split_once("| command | code 1 | code 3 |\n|---|---|---|\n")
        .unwrap();
    let rows = table.lines().take_while(|line| line.starts_with("| `"));
    let named: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    assert!(commands.len() > 10, "{commands:?}");
    assert_eq!(named, commands);
}

#[test]
fn suites_in_other_folders_are_named_as_the_pages_say() {
    let folder = shop(&good());
    let blocks = blocks();
    let block = blocks
        .iter()
        .find(|block| block.mark == "manifest: roots")
        .unwrap();
    let manifest = fs::read_to_string(folder.at("Cargo.toml")).unwrap();
    let own = "[package.metadata.mcptest]\nroots = [\"suites\"]\n";
    assert!(manifest.contains(own), "{manifest}");
    folder.write("Cargo.toml", manifest.replace(own, &block.text));
    folder.write(
        "more/suites/late.yml",
        "agents:\n- { name: a, model: m, prompt: p, calls: { max: 3 } }\n",
    );
    let said = mcptest(folder.path(), &["validate"]).exits(1);
    assert!(
        said.stdout
            .ends_with("2 suites, 2 agent tests: 1 problem\n"),
        "{said}"
    );
}
