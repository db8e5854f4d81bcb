//! A small table.

use mcptest_suite::clean_line;
use unicode_width::UnicodeWidthStr as _;

/// Rows of cells under headings; the first column is left-aligned, the others to the right.
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
                .map(|cell| clean_line(&cell).into_owned())
                .collect(),
        );
    }

    pub(crate) fn render(&self) -> String {
        let columns = self.headings.len();
        let all = || std::iter::once(&self.headings).chain(&self.rows);
        let width = |column: usize| {
            all()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or_default())
            .collect();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let fill = " ".repeat(width - cell.width());
                line.push_str(if column > 0 { "  " } else { "" });
                line.push_str(&if column == 0 {
                    format!("{cell}{fill}")
                } else {
                    format!("{fill}{cell}")
                });
            }
            line.trim_end().to_owned()
        };
        all().map(line).collect::<Vec<_>>().join("\n")
    }
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
