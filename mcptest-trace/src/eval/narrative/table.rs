//! Tables: their cells, and what a bare participle in one says of the thing its row is about.

use std::ops::Range;

use super::clause;
use super::phrase::{self, Object};
use super::reading::{Manner, Reading, View, Voice};
use super::sentence::{Block, Place};
use super::token::Token;
use super::verb::Form;
use super::words;

/// Bytes of the first cell of a row and of the cell in the table's first row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    pub row: Range<usize>,
    pub column: Range<usize>,
}

/// A table while its lines are read.
#[derive(Debug, Default)]
pub(super) struct Table {
    header: Vec<Range<usize>>,
}

impl Table {
    /// The cells of the line `row` of the table, which starts at the byte `start`.
    pub(super) fn row(&mut self, start: usize, row: &str) -> Vec<Block> {
        let mut at = start;
        let mut all = Vec::new();
        let body = row.strip_prefix('|').unwrap_or(row);
        at += row.len() - body.len();
        for cell in body.split('|') {
            let inner = cell.trim();
            let from = at + (cell.len() - cell.trim_start().len());
            all.push((
                from..from + inner.len(),
                inner.chars().any(char::is_alphanumeric),
            ));
            at += cell.len() + 1;
        }
        let first = self.header.is_empty();
        if first {
            self.header = all.iter().map(|(span, _)| span.clone()).collect();
        }
        let head = all.first().map(|(span, _)| span.clone());
        let mut found = Vec::new();
        for (index, (span, filled)) in all.into_iter().enumerate().filter(|(_, cell)| cell.1) {
            debug_assert!(filled);
            let place = self.header.get(index).zip(head.clone());
            found.push(Block {
                span,
                place: Place::Cell,
                cell: place
                    .filter(|_| index > 0 && !first)
                    .map(|(column, row)| Cell {
                        row,
                        column: column.clone(),
                    }),
            });
        }
        found
    }
}

/// Reads *deleted* in a column of actions as said of what the head of its row names. A column of
/// states tells how things are, whoever made them so.
pub(super) fn read(
    view: &View<'_>,
    verb: usize,
    form: &Form,
    row: &[Token],
    column: &[Token],
) -> Option<(Reading, Object)> {
    let acts = column.iter().any(|token| {
        words::listed(
            "action actions change changes changed operation done update updates performed taken",
            &token.text,
        )
    });
    let planned = column.iter().any(|token| words::proposes(&token.text));
    let chain = clause::chain(view.tokens, verb);
    let bare = form.participle
        && !form.base
        && chain.auxiliaries.is_empty()
        && view
            .at_start(chain.start)
            .is_some_and(|label| label.is_empty());
    if !acts || planned || !bare || !view.fragments_count {
        return None;
    }
    let mut phrase = phrase::noun_phrase(row, 0, row.len());
    if phrase.names.is_empty() {
        return None;
    }
    let reading = Reading {
        voice: Voice::Passive,
        manner: Manner::Fragment,
        subject: verb..verb,
        group: chain.start,
    };
    phrase.names.clear();
    let object = Object {
        range: verb..verb + 1,
        phrase,
        ..Object::default()
    };
    Some((reading, object))
}
