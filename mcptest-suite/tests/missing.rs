//! An agent that lacks a key is refused, whatever its other keys look like.

#![allow(clippy::unwrap_used, reason = "a test")]

use mcptest_suite::model::Suite;
use mcptest_suite::{Source, Style};

/// The messages of a suite with one agent that has these keys, and defaults.
fn problems(defaults: &str, keys: &str) -> String {
    let text = format!("{defaults}agents:\n- {{ {keys} }}\n");
    let read = Suite::parse(Source::new("s.yml", "s.yml", text));
    read.map_or_else(
        |error| error.render(Style::Plain),
        |suite| format!("{} agents", suite.agents.len()),
    )
}

#[test]
fn a_prompt_is_missing_beside_keys_that_look_like_one() {
    let needs = "an agent needs `prompt` or `turns`";
    for beside in [
        "",
        ", runs: 3",
        ", system_prompt: x",
        ", runs: 3, system_prompt: x",
    ] {
        let said = problems("", &format!("name: a, model: m, narrative: {{}}{beside}"));
        assert!(said.contains(needs), "{beside}: {said}");
    }
    let defaults = "defaults: { runs: 3, system_prompt: x, model: m, narrative: {} }\n";
    let said = problems(defaults, "name: a");
    assert!(said.contains(needs), "{said}");
}

#[test]
fn a_key_that_is_misspelt_is_told_once() {
    for (keys, word) in [
        ("promt: x, model: m", "promt"),
        ("prompt: x, modell: m", "modell"),
    ] {
        let said = problems("", &format!("name: a, narrative: {{}}, runs: 3, {keys}"));
        assert!(said.contains(&format!("unknown key `{word}`")), "{said}");
        assert!(!said.contains("an agent needs"), "{said}");
    }
}
