//! Every row of the patterns, on its own examples.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::trace::Trace;

use super::super::marks::Mark;
use super::super::said::Said;
use crate::eval::narrative::calls::tools::{KnownTools, ToolBox};
use crate::eval::narrative::claims::reading;
use crate::eval::narrative::claims::vocabulary::Vocabulary;
use crate::eval::narrative::document::text::Document;
use crate::eval::narrative::options::NarrativeOptions;

thread_local! {
    /// The lines of the rows that fitted something in this thread.
    pub(super) static FITTED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// The rows that fit a text: as a sentence, as a heading over a list, as the name of a tool.
fn fitted(text: &str) -> BTreeSet<usize> {
    let (options, mut known) = (NarrativeOptions::default(), KnownTools::default());
    // What is asked of tools is asked of these.
    for tool in ["rebook_flight", "get_order"] {
        known.add(tool);
    }
    let trace = Trace::default();
    let tools = ToolBox::new(&trace, &known, &known, &options);
    let vocabulary = Vocabulary::new(&options, &tools);
    FITTED.take();
    for closing in [
        text.to_owned(),
        format!("- {text}"),
        format!("## {text}\n\n- one"),
    ] {
        let document = Document::read(&closing);
        reading::claims(&document, &vocabulary, &tools);
    }
    Said::from_name(text);
    FITTED.take()
}

#[test]
fn every_row_fits_its_example_and_not_its_counter_example() {
    let mut wrong = Vec::new();
    let lines = include_str!("../patterns.txt").lines().enumerate();
    let is_row = |line: &str| !line.starts_with(['#', '[']) && !line.contains(" = ");
    for (at, line) in lines.filter(|(_, line)| is_row(line) && !line.is_empty()) {
        let (_, examples) = line.split_once("//").unwrap_or_default();
        let (example, other) = examples.split_once("but not:").unwrap_or((examples, ""));
        let (example, other) = (example.trim().trim_end_matches(','), other.trim());
        if example.is_empty() || !fitted(example).contains(&at) {
            wrong.push(format!("{}: does not fit {example:?}", at + 1));
        }
        if !other.is_empty() && fitted(other).contains(&at) {
            wrong.push(format!("{}: fits {other:?}", at + 1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_name_in_the_file_is_known() {
    let text = include_str!("../patterns.txt");
    let lines = text.lines().filter(|line| !line.starts_with(['#', '[']));
    for line in lines.map(|line| line.split("//").next().unwrap_or_default().trim()) {
        let named = line.contains(" = ");
        let (head, pattern) = line
            .split_once(if named { " = " } else { ":" })
            .unwrap_or_default();
        let marks = head.split_whitespace().filter(|_| !named);
        let marks = marks.filter(|mark| !matches!(*mark, "if" | "unless"));
        for mark in marks.map(|mark| mark.trim_start_matches('-')) {
            assert!(Mark::named(mark).is_some(), "{mark} in {line}");
        }
        for part in pattern.split([' ', '|', '&']) {
            let class = part
                .trim_start_matches('!')
                .strip_prefix(':')
                .unwrap_or_default();
            let class = class.trim_end_matches(|c: char| "?*+".contains(c) || c.is_ascii_digit());
            assert!(
                class.is_empty() || Mark::named(class).is_some(),
                "{class} in {line}"
            );
        }
    }
}
