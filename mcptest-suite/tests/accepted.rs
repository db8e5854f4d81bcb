//! Every suite in `tests/accepted/` loads, and has the cases in its snapshot.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use mcptest_suite::matcher::Asks;
use mcptest_suite::model::{Prompt, Suite};

/// File stems in a folder of this crate, in byte order.
fn stems(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().path());
    names
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn load(name: &str) -> Suite {
    let shown = format!("tests/accepted/{name}.yml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&shown);
    Suite::read(&path, &shown).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_construct_of_the_grammar_loads() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/accepted");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for name in stems("tests/accepted") {
        let cases = load(&name).cases();
        let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
        assert_eq!(names.len(), cases.len(), "{name}: two cases with one name");
        let lines = cases.iter().map(|case| match &case.ignored {
            Some(reason) => format!("{} (ignored: {reason})", case.name),
            None => case.name.clone(),
        });
        insta::assert_snapshot!(name, lines.collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn every_snapshot_has_its_suite() {
    assert_eq!(stems("tests/snapshots/accepted"), stems("tests/accepted"));
}

#[test]
fn variables_are_filled_in_with_their_types_and_quoted_ones_as_text() {
    let suite = load("variables_aliases_and_merges");
    let [base, merged, aliased] = suite.agents.as_slice() else {
        panic!("three agents");
    };
    assert_eq!(base.runs.value, 3);
    assert_eq!(merged.runs.value, 2);
    let Prompt::Single(prompt) = &base.prompt else {
        panic!("one prompt");
    };
    assert_eq!(
        prompt.value,
        "What is the weather in Oslo, in ${currency} and for 3 days?"
    );
    let wanted = serde_json::json!({ "city": "Oslo", "days": "3", "strict": "true" });
    for agent in [base, aliased] {
        let Asks::Part(expected) = agent.expect[0].matcher.asks() else {
            panic!("contains");
        };
        assert_eq!(*expected, wanted);
    }
}

#[test]
fn an_agent_takes_what_it_does_not_say_from_the_defaults() {
    let suite = load("defaults_and_own_keys");
    let [all, some, more] = suite.agents.as_slice() else {
        panic!("three agents");
    };
    let models = |agent: &mcptest_suite::model::Agent| -> Vec<String> {
        let models = agent.models.iter();
        models.map(|model| model.value.id.clone()).collect()
    };
    assert_eq!(models(all), ["gpt-5"]);
    assert_eq!(models(some), ["claude-sonnet-4-5", "gpt-5"]);
    assert_eq!(
        (all.runs.value, some.runs.value, more.runs.value),
        (3, 2, 3)
    );
    assert_eq!(all.prompt.first().value, "What is the weather?");
    assert_eq!(some.prompt.first().value, "Hello");
    assert_eq!(more.prompt.first().value, "Another question.");
    assert_eq!(all.tags, ["nightly"]);
    assert!(some.tags.is_empty());
    assert!(all.servers.len() == 1 && more.servers.len() == 1);
    assert_eq!(all.caps.max_turns.as_ref().map(|cap| cap.value), Some(4));
    let places: Vec<_> = [all, some, more]
        .map(|agent| agent.runs.span)
        .map(|span| suite.source.line_column(span.start).0)
        .to_vec();
    assert_eq!(places, [11, 22, 11]);
}

#[test]
fn line_ends_of_another_system_are_not_part_of_the_text() {
    let suite = load("carriage_returns");
    assert_eq!(suite.agents[0].prompt.first().value, "two\nlines\n");
}

#[test]
fn a_place_after_a_byte_order_mark_is_where_the_text_stands() {
    let suite = load("byte_order_mark");
    let name = &suite.agents[0].name;
    assert_eq!(suite.source.slice(name.span), "weather");
}
