//! Details in a text (numbers, days, names, identifiers), and which of them are the same.

pub(super) mod detail;
pub(super) mod matching;
pub(super) mod numbers;
pub(super) mod reader;
pub(super) mod texts;
