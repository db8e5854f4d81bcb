//! Every row of the table, on its own sentences.

use super::lexicon::Vocabulary;
use super::marks::Mark;
use super::options::NarrativeOptions;
use super::reading::{self, Found};
use super::rules::rules;
use super::text::Document;
use super::tools::{KnownTools, ToolBox};

fn read(closing: &str) -> Vec<Found> {
    let (options, known) = (NarrativeOptions::default(), KnownTools::default());
    let vocabulary = Vocabulary::new(&options, &known);
    let tools = ToolBox::new(&known, &options);
    let closing = closing.replace("\\n", "\n");
    reading::claims(&Document::read(&closing), &vocabulary, &tools)
}

/// The lines of the table with the row that each belongs to.
fn lines() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let mut row = "";
    include_str!("rules.txt").lines().filter_map(move |line| {
        let (key, rest) = line.trim().split_once(' ')?;
        if matches!(key, "sure" | "unclear") {
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
        let hit = |found: &Found| found.rule.id == row && found.verbs.iter().any(|v| v == verb);
        if !found.iter().any(hit) {
            let read: Vec<_> = found.iter().map(|f| (f.rule.id, &f.verbs)).collect();
            wrong.push(format!(
                "{row}: {sentence:?} should read {verb}, read {read:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_counter_example_is_surely_a_claim() {
    let mut wrong = Vec::new();
    for (row, _, sentence) in lines().filter(|(_, key, _)| *key == "-") {
        let sure = |found: &&Found| found.rule.sure || found.rule.id == row;
        if let Some(found) = read(sentence).iter().find(sure) {
            wrong.push(format!("{row}: {sentence:?} read by {}", found.rule.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_an_id_of_its_own_known_marks_and_examples() {
    for (at, rule) in rules().iter().enumerate() {
        assert!(
            !rules()[..at].iter().any(|other| other.id == rule.id),
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
