//! Markdown in pieces, so that a text that is too long ends between two of them.

/// A piece of Markdown that is left out whole, or loses its last rows: a paragraph has none, a table has those
/// below its head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkdownBlock {
    /// What stands above the rows, with its line ends.
    pub head: String,
    /// Lines, each with its end, of which the last may be left out.
    pub rows: Vec<String>,
    /// What stands below them and closes what `head` opens.
    pub tail: String,
}

impl MarkdownBlock {
    /// A piece of Markdown that is kept or left out whole.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            head: text.into(),
            ..Self::default()
        }
    }

    fn utf16_len(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| utf16_len(row)).sum();
        utf16_len(&self.head) + rows + utf16_len(&self.tail)
    }

    fn push_onto(&self, text: &mut String, rows: usize) {
        text.push_str(&self.head);
        for row in self.rows.iter().take(rows) {
            text.push_str(row);
        }
        text.push_str(&self.tail);
    }
}

/// The length of a text in units of UTF-16: no other count of its characters is larger.
fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// All pieces in a row where they have at most so many characters together; else the first of them, never a
/// part of a row, and the sentence `cut` at the end.
///
/// ```
/// use mcptest_trace::text::{MarkdownBlock, join_blocks};
///
/// let blocks = ["one\n", "two\n", "three\n"].map(MarkdownBlock::new);
/// assert_eq!(join_blocks(&blocks, 14, "Cut."), "one\ntwo\nthree\n");
/// assert_eq!(join_blocks(&blocks, 13, "Cut."), "one\n\nCut.\n");
/// ```
#[must_use]
pub fn join_blocks(blocks: &[MarkdownBlock], most: usize, cut: &str) -> String {
    let mut text = String::new();
    let all: usize = blocks.iter().map(MarkdownBlock::utf16_len).sum();
    if all <= most {
        for block in blocks {
            block.push_onto(&mut text, block.rows.len());
        }
        return text;
    }
    let cut = format!("\n{cut}\n");
    let mut left = most.saturating_sub(utf16_len(&cut));
    for block in blocks {
        let size = block.utf16_len();
        if size <= left {
            block.push_onto(&mut text, block.rows.len());
            left -= size;
            continue;
        }
        let mut room = left.saturating_sub(utf16_len(&block.head) + utf16_len(&block.tail));
        let fits = |row: &&String| {
            let size = utf16_len(row);
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        };
        let rows = block.rows.iter().take_while(fits).count();
        if rows > 0 {
            block.push_onto(&mut text, rows);
        }
        break;
    }
    text + &cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(rows: usize) -> MarkdownBlock {
        MarkdownBlock {
            head: "<details>\n\n| a |\n|---|\n".into(),
            rows: (0..rows).map(|row| format!("| {row} 🛒 |\n")).collect(),
            tail: "\n</details>\n".into(),
        }
    }

    #[test]
    fn a_table_loses_its_last_rows_and_is_closed() {
        let text = join_blocks(&[table(100)], 90, "Cut.");
        assert!(text.ends_with("| 4 🛒 |\n\n</details>\n\nCut.\n"), "{text}");
        // Nothing of a table that has no room for a row.
        assert_eq!(join_blocks(&[table(100)], 45, "Cut."), "\nCut.\n");
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_it_may_be(rows in 0..60_usize, most in 10..900_usize) {
            let blocks = [MarkdownBlock::new("first\n"), table(rows), MarkdownBlock::new("last\n")];
            let text = join_blocks(&blocks, most, "Cut.");
            prop_assert!(text.encode_utf16().count() <= most);
            prop_assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
            prop_assert_eq!(text.contains("last"), !text.contains("Cut."));
            for line in text.lines().filter(|line| line.starts_with('|')) {
                prop_assert!(line.ends_with('|'));
            }
        }
    }
}
