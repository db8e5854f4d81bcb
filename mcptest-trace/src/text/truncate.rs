//! Long texts.

use std::borrow::Cow;

/// The first characters of a text, so many of them at the most, and `…` where there are more.
#[must_use]
pub fn truncate(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Keeps both ends of a long list of lines.
#[must_use]
pub fn truncate_lines(lines: &[String]) -> String {
    const ENDS: usize = 40;
    if lines.len() <= 2 * ENDS {
        return lines.join("\n");
    }
    let (head, tail) = (&lines[..ENDS], &lines[lines.len() - ENDS..]);
    format!(
        "{}\n   ⋮  {} more lines\n{}",
        head.join("\n"),
        lines.len() - 2 * ENDS,
        tail.join("\n")
    )
}
