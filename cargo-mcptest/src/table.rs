//! Rows of cells under headings, for people.

use mcptest_suite::escape_line;
use mcptest_trace::text::{pad_to, width as width_of};

pub(crate) use mcptest_trace::text::escape_markdown as escaped;

/// A table whose first column stands to the left, the others, which are numbers, to the right.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    table_with_words(rows, 1)
}

/// A table whose first `words` columns stand to the left, the others to the right.
pub(crate) fn table_with_words(rows: &[Vec<String>], words: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(|cell| escape_line(cell).into_owned())
                .collect()
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width_of(cell)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells =
            row.iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (cell, width))| match column {
                    column if column < words => pad_to(cell, *width),
                    _ => " ".repeat(width.saturating_sub(width_of(cell))) + cell,
                });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A value as a cell, which says so where there is none.
pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
