//! Every row of the table, on its own sentences.

use crate::trace::Trace;

use super::super::reading;
use super::super::vocabulary::Vocabulary;
use super::RULES;
use crate::eval::narrative::calls::tools::{KnownTools, ToolBox};
use crate::eval::narrative::document::text::Document;
use crate::eval::narrative::options::NarrativeOptions;
use crate::eval::narrative::words::marks::Mark;

/// The claims that are read from a closing, by rule, whether it is sure, and the verbs.
fn read(closing: &str) -> Vec<(&'static str, bool, Vec<String>)> {
    let (options, mut known) = (NarrativeOptions::default(), KnownTools::default());
    let bracket = closing
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    let (tools, closing) = bracket.unwrap_or(("", closing));
    let tools = tools.split(", ").filter(|tool| !tool.is_empty());
    tools.for_each(|tool| known.add(tool));
    let trace = Trace::default();
    let tools = ToolBox::new(&trace, &known, &known, &options);
    let vocabulary = Vocabulary::new(&options, &tools);
    let document = Document::read(&closing.replace("\\n", "\n"));
    let claims = reading::claims(&document, &vocabulary, &tools);
    let told = claims.into_iter().map(|found| {
        let verbs = found.told.verbs.into_iter().map(str::to_owned);
        (found.rule.id, found.rule.sure, verbs.collect())
    });
    told.collect()
}

/// The lines of the table with the row that each belongs to.
fn lines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let mut row = "";
    let lines = include_str!("../rules.txt").lines();
    lines.filter_map(move |line| {
        let (key, rest) = line.trim().split_once(' ')?;
        if matches!(key, "sure" | "unclear" | "tried") {
            row = rest;
        }
        Some((row, key, rest))
    })
}

#[test]
fn every_example_is_read_by_its_row() {
    let mut wrong = Vec::new();
    for (row, _, example) in lines().filter(|(_, key, _)| *key == "+") {
        let (verb, sentence) = example.split_once(": ").expect("a verb and a sentence");
        let found = read(sentence);
        let hit = |(id, _, verbs): &(&str, bool, Vec<String>)| {
            *id == row && verbs.iter().any(|v| v == verb)
        };
        if !found.iter().any(hit) {
            wrong.push(format!(
                "{row}: {sentence:?} should read {verb}, read {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_counter_example_is_surely_a_claim() {
    let mut wrong = Vec::new();
    for (row, _, sentence) in lines().filter(|(_, key, _)| *key == "-") {
        let surely = |(id, sure, _): &&(&str, bool, Vec<String>)| *sure || *id == row;
        if let Some((id, ..)) = read(sentence).iter().find(surely) {
            wrong.push(format!("{row}: {sentence:?} read by {id}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_an_id_of_its_own_known_marks_and_examples() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(
            !RULES[..at].iter().any(|other| other.id == rule.id),
            "{}",
            rule.id
        );
        for sign in ["+", "-"] {
            let mut lines = lines();
            assert!(
                lines.any(|(row, key, _)| (row, key) == (rule.id, sign)),
                "{}",
                rule.id
            );
        }
    }
    for (row, _, marks) in lines()
        .filter(|(_, key, _)| matches!(*key, "never" | "told" | "needs" | "one-of" | "unless"))
    {
        let unknown = |name: &&str| *name != "told" && Mark::named(name).is_none();
        assert_eq!(marks.split(' ').find(unknown), None, "{row}");
    }
}
