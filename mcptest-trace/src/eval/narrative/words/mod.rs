//! Words: the lexicon and what it marks of a token, patterns of tokens, and the words of a tool's name. Nothing of a message or a
//! run.

pub(super) mod identifier;
pub(super) mod lexicon;
pub(super) mod list;
pub(super) mod marks;
pub(super) mod pattern;
pub(super) mod said;
pub(super) mod token;
