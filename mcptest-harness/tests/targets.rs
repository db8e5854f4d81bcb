//! Unit, range and direction of every target: the same in the code, the documentation, the schema
//! and the README.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mcptest::GateInfo;
use mcptest::eval::{Better, Measure, Unit};

fn gates_with_targets() -> impl Iterator<Item = GateInfo> {
    let gates = mcptest::gates().into_iter();
    gates.filter(|gate| !gate.targets.is_empty())
}

/// The page of all targets, as it must stand beside the gates.
fn page() -> String {
    let mut page = "# Targets\n\nWhat `expect:` of each gate can compare. \"Sometimes\" means that not every run has the value. A case fails if a run does not\nhave the value that it compares.\n".to_owned();
    for gate in gates_with_targets() {
        write!(page, "\n## `{}`\n\n", gate.kind.name()).unwrap();
        page += "| target | unit and range | better | what it says |\n|---|---|---|---|\n";
        for target in gate.targets {
            let better = match target.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
                Better::Neither => "",
            };
            let sometimes = if target.always { "" } else { ", sometimes" };
            let words = match target.unit {
                Unit::Word(words) => format!(": {}", mcptest::suite::quoted_list(words.to_vec())),
                _ => String::new(),
            };
            writeln!(
                page,
                "| `{}` | {}{words}{sometimes} | {better} | {} |",
                target.name,
                target.unit_and_range(),
                target.meaning
            )
            .unwrap();
        }
    }
    page
}

#[test]
fn the_page_of_targets_is_what_the_code_declares() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = fs::read_to_string(folder.join("src/gate/targets.md")).unwrap();
    if written == page() {
        return;
    }
    // `INSTA_UPDATE=always` writes it, as it writes snapshots.
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    let right = if update {
        folder.join("src/gate/targets.md")
    } else {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("targets.md")
    };
    fs::write(&right, page()).unwrap();
    assert!(
        update,
        "src/gate/targets.md is not what the metrics declare; `bash .ci/generate` writes it. The right one: {}",
        right.display()
    );
}

#[test]
fn every_gate_has_a_row_in_the_readme_and_no_other_row_is_there() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    // The crate alone has no README of the project beside it.
    let Ok(readme) = fs::read_to_string(readme) else {
        return;
    };
    let (_, table) = readme.split_once("| gate |").unwrap();
    let rows = table.lines().skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut named: Vec<&str> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    named.sort_unstable();
    let known = mcptest::gates().into_iter();
    let mut known: Vec<&str> = known.map(|gate| gate.kind.name()).collect();
    known.sort_unstable();
    let alone = |names: &[&str], others: &[&str]| {
        let alone = names.iter().filter(|name| !others.contains(name));
        alone.copied().collect::<Vec<_>>().join(", ")
    };
    assert!(
        named == known,
        "the table of gates in README.md has a row for each gate, once. Add a row for: {}. No gates, or gates with two rows: {}",
        alone(&known, &named),
        alone(&named, &known)
    );
}

#[test]
fn every_gate_has_a_row_in_the_page_of_gates_that_says_how_it_judges() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gates.md");
    // The crate alone has no pages of the project beside it.
    let Ok(page) = fs::read_to_string(page) else {
        return;
    };
    let (_, table) = page.split_once("| gate | judges |").unwrap();
    let rows: Vec<&str> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    for gate in mcptest::gates() {
        let judges = if gate.each_run {
            "run by run"
        } else {
            "all runs together"
        };
        let end = format!(
            "| [`{name}`](#{name}) | {judges} |",
            name = gate.kind.name()
        );
        assert!(
            rows.iter().any(|row| row.ends_with(&end)),
            "the table at the beginning of docs/gates.md has no row that ends with: {end}"
        );
    }
    // `regression` stands at the top of a suite.
    assert_eq!(
        rows.len(),
        mcptest::gates().len() + 1,
        "a row of the table at the beginning of docs/gates.md is of no gate"
    );
}

#[test]
fn a_declaration_makes_sense() {
    for target in gates_with_targets().flat_map(|gate| gate.targets) {
        let Measure {
            name,
            lowest,
            highest,
            ..
        } = *target;
        assert!(highest.is_none_or(|highest| highest > lowest), "{name}");
        assert!(name.split('.').all(|part| !part.is_empty()), "{name}");
        // It ends a sentence in the schema, and stands in a table.
        assert!(!target.meaning.ends_with('.'), "{name}");
        assert!(!target.meaning.contains('|'), "{name}");
    }
    let names: Vec<_> = gates_with_targets()
        .flat_map(|gate| gate.targets)
        .map(|target| target.name)
        .collect();
    let once: BTreeSet<_> = names.iter().collect();
    assert_eq!(once.len(), names.len(), "two targets of one name");
}
