//! The blocks of code that need no crate of their own.

use std::fs;

use mcptest::suite::model::Suite;
use mcptest::suite::{Source, Style};
use mcptest::trace::{Origin, parse_run};
use serde_json::Value;

use super::{Block, USED, blocks, pages};
use crate::support::folder::Folder;
use crate::support::process::{command, run};
use crate::support::workshop::{example_program, workspace};

/// Around keys of one agent: what they may leave to others.
const AROUND_AN_AGENT: &str = "\
faults: [{ name: hung-search, target: { tool: search }, kind: hang }]
defaults:
  model: gpt-5
  prompt: Please refund order 7.
  runs: 3
  expect: [{ target: 'tool_calls[0].name', matcher: { exact: get_order } }]
agents:
  - name: Refund agent
";

/// Beside the keys of a suite.
const AN_AGENT: &str = "
agents:
  - name: Refund agent
    model: gpt-5
    prompt: Please refund order 7.
    expect: [{ target: 'tool_calls[0].name', matcher: { exact: get_order } }]
";

fn load(name: &str, text: &str) -> Result<Suite, String> {
    let path = format!("suites/{name}.yml");
    mcptest::parse_suite(Source::new(&path, &path, text))
        .map_err(|error| error.render(Style::Plain))
}

/// A block as a whole suite.
fn whole_suite(block: &Block) -> String {
    match block.language.as_str() {
        "yaml,agent" => {
            let lines = block.text.lines().map(|line| format!("    {line}\n"));
            format!("{AROUND_AN_AGENT}{}", lines.collect::<String>())
        }
        "yaml,suite" => format!("{}{AN_AGENT}", block.text),
        _ => block.text.clone(),
    }
}

#[test]
fn every_suite_of_the_guide_loads() {
    let mut loaded = 0;
    for block in blocks() {
        let is_suite = block.language.starts_with("yaml") && block.about != "tools.yml";
        if !is_suite || block.kind == "refused" {
            continue;
        }
        if let Err(problems) = load("guide", &whole_suite(&block)) {
            panic!("{}: {problems}", block.location());
        }
        loaded += 1;
    }
    assert!(loaded > 20, "{loaded}");
}

#[test]
fn what_does_not_load_is_refused_as_the_guide_shows() {
    let blocks = blocks();
    let refused = || blocks.iter().filter(|block| block.kind == "refused");
    assert!(refused().count() > 0);
    for suite in refused() {
        let shown = super::block(&blocks, "message", &suite.about);
        let problems = load(&suite.about, &whole_suite(suite)).unwrap_err();
        assert_eq!(
            problems.trim_end(),
            shown.trim_end(),
            "{}",
            suite.location()
        );
    }
    let messages = blocks.iter().filter(|block| block.kind == "message");
    assert_eq!(messages.count(), refused().count());
}

#[test]
fn every_recording_of_the_guide_can_be_read() {
    let blocks = blocks();
    let recordings = blocks.iter().filter(|block| block.language == "json");
    let mut read = 0;
    for block in recordings {
        let origin = Origin::file(block.location());
        if let Err(error) = parse_run(block.text.as_bytes(), &origin) {
            panic!("{}: {error}", block.location());
        }
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn the_smallest_recording_needs_each_of_its_keys() {
    let blocks = blocks();
    let text = super::block(&blocks, "cassette", "the smallest");
    let whole: Value = serde_json::from_str(text).unwrap();
    let is_read = |cassette: &Value| {
        let origin = Origin::file("smallest.json");
        parse_run(cassette.to_string().as_bytes(), &origin).is_ok()
    };
    assert!(is_read(&whole));
    let keys: Vec<&String> = whole.as_object().unwrap().keys().collect();
    for key in keys {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(key);
        assert!(!is_read(&without), "`{key}` is not needed");
    }
    let mut without = whole.clone();
    without["trace"] = serde_json::json!({});
    assert!(!is_read(&without), "`trace.tool_calls` is not needed");
}

#[test]
fn what_is_part_of_a_file_stands_in_it() {
    let unindented = |text: &str| {
        let lines = text.lines().map(str::trim_start);
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut compared = 0;
    for block in blocks() {
        if block.kind == "part of" {
            let code = fs::read_to_string(workspace().join(&block.about)).unwrap();
            let stands = unindented(&code).contains(&unindented(&block.text));
            assert!(stands, "{}: {}", block.location(), block.text);
            compared += 1;
        }
    }
    assert!(compared > 1, "{compared}");
}

#[test]
fn each_example_prints_what_is_shown() {
    let folder = Folder::new();
    let mut ran = Vec::new();
    for block in blocks().iter().filter(|block| block.kind == "example") {
        let printed = run(&mut command(example_program(&block.about), folder.path())).exits(0);
        assert_eq!(printed.stdout, block.text, "{}", block.location());
        ran.push(block.about.clone());
    }
    assert_eq!(ran, ["live_guard", "energy_options"]);
}

/// Every block is of a kind that some test executes.
#[test]
fn every_block_is_executed() {
    let mut marked = Vec::new();
    for block in blocks() {
        let place = block.location();
        match (block.language.as_str(), block.kind.as_str()) {
            ("yaml" | "yaml,agent" | "yaml,suite", "")
            | ("yaml", "refused")
            | ("text", "message") => {}
            (_, "") => panic!("{place}: nothing executes this block; say above it what does"),
            _ => marked.push((block.page, format!("{}: {}", block.kind, block.about))),
        }
    }
    let used = USED.iter();
    let used: Vec<_> = used
        .map(|(page, mark, _)| ((*page).to_owned(), (*mark).to_owned()))
        .collect();
    assert_eq!(marked, used);
}

/// What `.ci/run` takes the README's two commands from.
#[test]
fn the_readme_has_two_commands_for_a_fresh_clone() {
    let pages = pages();
    let blocks = pages[0].blocks();
    let commands = super::block(&blocks, "run by", ".ci/run");
    let lines: Vec<&str> = commands.lines().collect();
    assert_eq!(lines.len(), 2, "{commands}");
    assert!(
        lines.iter().all(|line| line.starts_with("cargo test ")),
        "{commands}"
    );
    // It finds the block by this mark.
    let script = fs::read_to_string(workspace().join(".ci/run")).unwrap();
    let mark = "<!-- run by: .ci/run -->";
    assert!(script.contains(&format!("mark='{mark}'")), "{script}");
    assert!(pages[0].text.contains(&format!("\n{mark}\n```sh\n")));
}

#[test]
fn the_readme_is_read_in_a_few_minutes() {
    let lines = pages()[0].text.lines().count();
    assert!(lines <= 170, "{lines}");
}
