//! A small table.

use mcptest_suite::escape_line;
use unicode_width::UnicodeWidthStr as _;

use mcptest_trace::text::truncate_lines;

/// Rows of cells under headings; columns of numbers are aligned to the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            headings: headings.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(
            cells
                .into_iter()
                .map(|cell| escape_line(&cell).into_owned())
                .collect(),
        );
    }

    /// Every cell, to be changed in place.
    pub(super) fn cells_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.rows.iter_mut().flatten()
    }

    pub(crate) fn render(&self) -> String {
        let all = || std::iter::once(&self.headings).chain(&self.rows);
        let columns: Vec<(usize, bool)> = (0..self.headings.len())
            .map(|column| {
                let cells = || all().filter_map(|row| row.get(column));
                let width = cells().map(|cell| cell.width()).max().unwrap_or_default();
                (width, cells().skip(1).all(|cell| is_number(cell)))
            })
            .collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&columns).map(|(cell, (width, right))| {
                let fill = " ".repeat(width - cell.width());
                if *right {
                    fill + cell
                } else {
                    cell.clone() + &fill
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        truncate_lines(&all().map(line).collect::<Vec<_>>())
    }
}

/// A number, marked or not.
fn is_number(cell: &str) -> bool {
    cell.trim_start_matches('*').parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_display_width() {
        let mut table = Table::new(["run", "score"]);
        table.row(["日本".to_owned(), "0.5".to_owned()]);
        table.row(["a\u{1b}".to_owned(), "*0.25".to_owned()]);
        assert_eq!(
            table.render(),
            "run      score\n日本       0.5\na\\u{1b}  *0.25"
        );
    }
}
