//! Long texts.

use std::borrow::Cow;

/// The first characters of a text, so many of them at the most, and `…` where there are more.
pub(crate) fn truncate(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}
