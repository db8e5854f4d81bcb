//! A closing message as blocks of text: Markdown, HTML and JSON taken apart, and whether it is English.

pub(super) mod english;
pub(super) mod html;
pub(super) mod json;
pub(super) mod text;
