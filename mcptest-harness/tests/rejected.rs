//! Every wrong suite in `tests/rejected/` is refused, with the words and places in its snapshot.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use mcptest::suite::{Source, Style};
use mcptest::{parse_suite, read_suite};

/// File stems in a folder of this crate, in byte order.
fn stems(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().path());
    names
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_wrong_suite_is_refused_with_words_that_help() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/rejected");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let mut accepted = Vec::new();
    for name in stems("tests/rejected") {
        let shown = format!("tests/rejected/{name}.yml");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&shown);
        let Err(error) = read_suite(&path, &shown) else {
            accepted.push(shown);
            continue;
        };
        let drawn = error.render(Style::Plain);
        assert!(
            !drawn.chars().any(|c| c.is_control() && c != '\n'),
            "{drawn:?}"
        );
        let places = error.problems().iter().map(|problem| &problem.primary);
        let places: Vec<_> = places
            .map(|label| label.as_ref().map(|at| at.span))
            .collect();
        assert!(places.is_sorted(), "{shown}: {places:?}");
        insta::assert_snapshot!(name, drawn);
    }
    assert!(accepted.is_empty(), "not refused: {accepted:#?}");
}

#[test]
fn every_snapshot_has_its_suite() {
    let (snapshots, suites) = (stems("tests/snapshots/rejected"), stems("tests/rejected"));
    let alone: Vec<&String> = suites.difference(&snapshots).collect();
    assert!(
        alone.is_empty(),
        "nothing says what is said of these suites of tests/rejected/: {alone:?}. `bash .ci/generate` writes it"
    );
    let gone: Vec<&String> = snapshots.difference(&suites).collect();
    assert!(
        gone.is_empty(),
        "no suite of tests/rejected/ belongs to these files of tests/snapshots/rejected/; delete them: {gone:?}"
    );
}

#[test]
fn a_huge_file_is_refused_before_it_is_read() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("huge.yml");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(17 << 20).unwrap();
    let error = read_suite(&path, "suites/huge.yml").unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        error.to_string(),
        "error: this suite has 17825792 bytes; at most 16777216 are read\n--> suites/huge.yml\n = help: split it into several files\n\nsuites/huge.yml: 1 problem, nothing of this suite was run"
    );
}

#[test]
fn a_file_that_is_not_there_or_is_a_folder_is_an_error() {
    for path in [
        Path::new("no such file.yml"),
        Path::new(env!("CARGO_MANIFEST_DIR")),
    ] {
        let error = read_suite(path, "suites/a.yml").unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}

#[test]
fn a_long_chain_of_references_is_followed_and_many_problems_are_counted() {
    use std::fmt::Write as _;

    let mut text = "agents:\n- name: a\n  model: m\n  prompt: x\n  expect:\n  - target: a\n    matcher:\n      schema:\n        $ref: '#/$defs/d0'\n        $defs:\n".to_owned();
    for definition in 0..2_000 {
        let next = definition + 1;
        writeln!(
            text,
            "          d{definition}: {{ $ref: '#/$defs/d{next}' }}"
        )
        .unwrap();
    }
    let source = Source::new("a.yml", "a.yml", text.clone() + "          d2000: {}\n");
    assert!(parse_suite(source).is_ok());
    let source = Source::new("a.yml", "a.yml", text.replace("$ref:", "$rf:"));
    let error = parse_suite(source).unwrap_err();
    assert_eq!(error.problems().len(), 2_001);
    assert!(error.to_string().len() < 100_000);
}

#[test]
fn large_defaults_of_many_agents_are_refused_before_they_cost_anything() {
    use std::fmt::Write as _;

    let mut text = format!("defaults: {{ tags: [{}] }}\nagents:\n", "a, ".repeat(2_000));
    for agent in 0..2_000 {
        writeln!(
            text,
            "- {{ name: a{agent}, model: m, prompt: p, narrative: {{}} }}"
        )
        .unwrap();
    }
    let error = parse_suite(Source::new("a.yml", "a.yml", text)).unwrap_err();
    assert_eq!(error.problems().len(), 1, "{error}");
    assert!(error.to_string().contains("too large for so many agents"));
}

#[test]
fn every_suite_that_the_language_accepts_loads_with_its_gates() {
    // The crate alone has no sources of the other beside it.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcptest-suite/tests/accepted");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if let Err(error) = read_suite(&path, &path.display().to_string()) {
            panic!("{error}");
        }
    }
}
