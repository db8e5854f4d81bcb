//! Cuts a closing message into sentences, knowing the Markdown that closings are written in.
//!
//! Code blocks and block quotations are left out: what stands in them is not said by the agent in
//! its own voice. Every line of a list, every heading and every cell of a table is a block of its
//! own; lines of prose that were wrapped in the middle of a sentence are joined again.

use std::ops::Range;

use super::table::{Cell, Table};
use super::words;

/// Where a sentence stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Running text.
    Prose,
    /// An item of a list.
    Item,
    /// A heading, or a line that is bold from end to end.
    Heading,
    /// A cell of a table.
    Cell,
}

/// One sentence of the closing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// Bytes of the closing, without surrounding white space and list markers.
    pub span: Range<usize>,
    /// Where it stands.
    pub place: Place,
    /// For items of a list: the index of the sentence that introduces the list.
    pub intro: Option<usize>,
    /// Whether this is the first sentence of its block.
    pub opens_block: bool,
    /// For cells of a table that are not the first of their row: the head of the row and of the column.
    pub cell: Option<Cell>,
}

/// A stretch of lines that belong together, or a cell.
pub(super) struct Block {
    pub span: Range<usize>,
    pub place: Place,
    pub cell: Option<Cell>,
}

impl Block {
    fn new(span: Range<usize>, place: Place) -> Self {
        Self {
            span,
            place,
            cell: None,
        }
    }
}

/// All sentences of the text, in order.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found: Vec<Sentence> = Vec::new();
    let mut intro = None;
    for block in blocks(text) {
        if block.place != Place::Item && !found.is_empty() {
            intro = None;
        }
        let start = found.len();
        for span in split(text, block.span.clone()) {
            let owner = if block.place == Place::Item {
                intro
            } else {
                None
            };
            let opens_block = found.len() == start;
            found.push(Sentence {
                span,
                place: block.place,
                intro: owner,
                opens_block,
                cell: block.cell.clone(),
            });
        }
        if block.place != Place::Item && block.place != Place::Cell {
            let last = found.last().filter(|_| found.len() > start);
            let introduces = |last: &Sentence| {
                let said = text[last.span.clone()].trim_end_matches(['*', '_', ' ']);
                said.ends_with(':') || block.place == Place::Heading
            };
            intro = last
                .filter(|last| introduces(last))
                .map(|_| found.len() - 1);
        }
    }
    found
}

/// The lines of the text with their byte ranges, without line ends.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    })
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut fenced = false;
    let mut open = false;
    let mut table = Table::default();
    for line in lines(text) {
        let whole = &text[line.clone()];
        let shown = whole.trim();
        let start = line.start + (whole.len() - whole.trim_start().len());
        let end = start + shown.len();
        if !shown.starts_with('|') {
            table = Table::default();
        }
        if shown.starts_with("```") || shown.starts_with("~~~") {
            // A fence that opens and closes on one line is inline code.
            fenced = fenced == (shown.len() > 3 && shown[3..].contains(&shown[..3]));
            open = false;
            continue;
        }
        let rule = shown.len() > 2
            && shown
                .chars()
                .all(|c| matches!(c, '-' | '*' | '_' | '=' | ' '));
        if fenced || shown.is_empty() || shown.starts_with('>') || rule {
            open = false;
            continue;
        }
        if shown.starts_with('|') {
            found.extend(table.row(start, shown));
            open = false;
            continue;
        }
        if let Some(skip) = heading_marker(shown) {
            found.push(Block::new(start + skip..end, Place::Heading));
            open = false;
            continue;
        }
        if let Some(skip) = list_marker(shown) {
            found.push(Block::new(start + skip..end, Place::Item));
            open = true;
            continue;
        }
        if all_bold(shown) {
            found.push(Block::new(start..end, Place::Heading));
            open = false;
            continue;
        }
        match found.last_mut() {
            Some(last) if open && continues(&text[last.span.clone()], shown) => last.span.end = end,
            _ => found.push(Block::new(start..end, Place::Prose)),
        }
        open = true;
    }
    found
}

/// Whether a line goes on with the sentence of the block before it.
fn continues(before: &str, line: &str) -> bool {
    let closed = before.ends_with(['.', '!', '?', ':', ';', '…']);
    let last_line = before.rsplit('\n').next().unwrap_or(before);
    let wrapped = last_line.chars().count() >= 30;
    !closed
        && wrapped
        && line
            .chars()
            .next()
            .is_some_and(|c| c.is_lowercase() || c.is_ascii_digit())
}

fn heading_marker(line: &str) -> Option<usize> {
    let marks = line.len() - line.trim_start_matches('#').len();
    let rest = &line[marks..];
    let spaced = rest.len() - rest.trim_start().len();
    ((1..=6).contains(&marks) && spaced > 0).then_some(marks + spaced)
}

/// Bytes of a list marker at the start of the line, with a check box behind it.
fn list_marker(line: &str) -> Option<usize> {
    let bullet = line
        .chars()
        .next()
        .filter(|c| matches!(c, '-' | '*' | '+' | '•' | '–' | '◦' | '▪' | '‣'));
    let marker = bullet.map_or_else(
        || {
            let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let marks = &line[digits..];
            // `1.`, `1)` and the keycap `1️⃣`
            let closed = if marks.starts_with(['.', ')']) {
                1
            } else {
                marks.len() - marks.trim_start_matches(['\u{fe0f}', '\u{20e3}']).len()
            };
            ((1..=3).contains(&digits) && closed > 0).then_some(digits + closed)
        },
        |c| Some(c.len_utf8()),
    )?;
    let rest = &line[marker..];
    let spaced = rest.len() - rest.trim_start().len();
    if spaced == 0 {
        return None;
    }
    let mut at = marker + spaced;
    for checkbox in ["[x]", "[X]"] {
        if line[at..].starts_with(checkbox) {
            at += checkbox.len();
            at += line[at..].len() - line[at..].trim_start().len();
        }
    }
    Some(at)
}

fn all_bold(line: &str) -> bool {
    let bold = |mark: &str| {
        line.strip_prefix(mark)
            .and_then(|rest| rest.trim_end_matches(':').strip_suffix(mark))
            .is_some_and(|inner| {
                !inner.is_empty() && !inner.contains(mark) && !inner.ends_with(['.', '!', '?'])
            })
    };
    bold("**") || bold("__")
}

/// Abbreviations after which a full stop never ends the sentence.
fn never_ends(word: &str) -> bool {
    words::listed(
        "e.g i.e eg ie vs mr mrs ms dr prof no nr st cf approx fig",
        word,
    )
}

/// Abbreviations after which a full stop ends the sentence only before a capital.
fn seldom_ends(word: &str) -> bool {
    words::listed(
        "etc a.m p.m inc ltd co corp jan feb mar apr jun jul aug sep sept oct nov dec",
        word,
    )
}

/// Splits one block at the ends of its sentences.
fn split(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = block.start;
    let body = &text[block.clone()];
    let mut quoted = false;
    let mut coded = false;
    let [last_quote, last_closing, last_tick] = ['"', '”', '`'].map(|mark| body.rfind(mark));
    for (at, c) in body.char_indices() {
        match c {
            '"' => quoted = !quoted && last_quote > Some(at),
            '“' => quoted = last_closing > Some(at),
            '”' => quoted = false,
            '`' => coded = !coded && last_tick > Some(at),
            '.' | '!' | '?' | '…' | '。'
                if !coded && (!quoted || closes_quotation(&body[at + c.len_utf8()..])) =>
            {
                let after = &body[at + c.len_utf8()..];
                // Long runs of marks end at their last ones, so that each is looked at once.
                let closers = ['"', '”', '\'', '’', ')', ']', '*', '_', '.', '!', '?'];
                let closing = after.chars().take(LONGEST_RUN);
                let closing = closing.take_while(|c| closers.contains(c));
                let rest = &after[closing.map(char::len_utf8).sum::<usize>()..];
                let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
                if ends && !(c == '.' && abbreviated(&body[..at], rest.trim_start())) {
                    let end = block.start + at + c.len_utf8() + (after.len() - rest.len());
                    push(text, start..end, &mut found);
                    start = end;
                    quoted = false;
                }
            }
            _ => {}
        }
    }
    push(text, start..block.end, &mut found);
    found
}

fn closes_quotation(after: &str) -> bool {
    after.starts_with(['"', '”'])
}

fn abbreviated(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or("")
        .to_lowercase();
    let capital = after.chars().next().is_some_and(|c| !c.is_lowercase());
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic) && word != "i";
    let numbered =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()) && before.trim() == word;
    never_ends(&word)
        && !after.is_empty()
        && (word != "no" || after.starts_with(|c: char| c.is_ascii_digit()))
        || seldom_ends(&word) && !capital
        || (initial || numbered) && !after.is_empty()
}

/// Longer stretches without an end are cut, so that the work on each stays bounded.
const LONGEST: usize = 700;

/// Marks behind the end of a sentence that are looked at.
const LONGEST_RUN: usize = 16;

fn push(text: &str, mut span: Range<usize>, found: &mut Vec<Range<usize>>) {
    while span.len() > LONGEST {
        let limit = text[span.clone()]
            .char_indices()
            .take_while(|(at, _)| *at <= LONGEST);
        let cut = limit
            .filter(|(at, c)| *at > 0 && (c.is_whitespace() || *at > LONGEST - 8))
            .last()
            .map_or(span.len(), |(at, _)| at);
        let end = span.start + cut;
        push(text, span.start..end, found);
        if end >= span.end {
            return;
        }
        span.start = end;
    }
    let said = &text[span.clone()];
    let start = span.start + (said.len() - said.trim_start().len());
    let end = start + said.trim().len();
    if said.chars().any(char::is_alphanumeric) {
        found.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<&str> {
        sentences(text)
            .into_iter()
            .map(|sentence| &text[sentence.span])
            .collect()
    }

    #[test]
    fn stops_inside_names_and_abbreviations_end_nothing() {
        let text =
            "I updated config.json, e.g. the port. Version 1.2 is out at 5 p.m. today! Done?";
        let expected = [
            "I updated config.json, e.g. the port.",
            "Version 1.2 is out at 5 p.m. today!",
            "Done?",
        ];
        assert_eq!(said(text), expected);
    }

    #[test]
    fn code_blocks_and_quotations_are_left_out() {
        assert_eq!(
            said("Before.\n```\nI deleted it.\n```\n> I sent it.\nAfter."),
            ["Before.", "After."]
        );
    }

    #[test]
    fn wrapped_lines_are_joined_and_items_are_not() {
        let text = "I have successfully updated the\nreservation.\n- one item here, a long enough line\n- two";
        assert_eq!(
            said(text),
            [
                "I have successfully updated the\nreservation.",
                "one item here, a long enough line",
                "two"
            ]
        );
    }

    #[test]
    fn items_know_the_sentence_that_introduces_them() {
        let found = sentences("I did this:\n\n1. First\n2. Second\n\nBye.");
        assert_eq!(
            found.iter().map(|s| s.intro).collect::<Vec<_>>(),
            [None, Some(0), Some(0), None]
        );
    }
}
