//! What to tell of a file that no tree could be read from.

use crate::parse::{ALIAS_NODES, DEPTH, NODES};
use crate::{Diagnostic, Span};

/// The problem that the parser describes in `words`, at a byte offset into the text.
pub(crate) fn unreadable(text: &str, words: &str, offset: usize) -> Diagnostic {
    let span = Span::new(offset, offset);
    let lower = words.to_lowercase();
    if lower.contains("budget") || lower.contains("exceed") {
        return beyond_a_limit(span, &lower);
    }
    if lower.contains("multiple") && lower.contains("document") {
        return Diagnostic::at(
            span,
            "one file is one suite, and a second document begins here",
        )
        .help("move what follows `---` into a file of its own");
    }
    let problem = |span| {
        Diagnostic::at(span, format!("not readable as YAML: {words}"))
            .note("nothing after this place was looked at")
    };
    let mut each_word = lower.split(|c: char| !c.is_alphanumeric());
    if each_word.any(|word| ["tab", "tabs"].contains(&word)) {
        // The parser names the place where the token before the tab begins.
        let tab = text[text.floor_char_boundary(offset)..].find('\t');
        let tab = tab.map_or(offset, |tab| offset + tab);
        problem(Span::new(tab, tab)).help("YAML indents with spaces; replace the tab")
    } else if lower.contains("flow") {
        problem(span).help("close what is open; inside `{ }` and `[ ]`, put text with one of `[ ] { } ,` in it in quotes")
    } else if lower.contains("anchor") {
        problem(span).help("write the anchor before its use, as `&name`, or put text that begins with `*` in quotes")
    } else if lower.contains("escape") {
        problem(span).help("write the backslash twice, or use single quotes")
    } else {
        problem(span).help("check indentation, brackets and quotes here and just above; put text with `: ` or ` #` in it in quotes")
    }
}

/// A file that would cost too much.
fn beyond_a_limit(span: Span, words: &str) -> Diagnostic {
    let what = if words.contains("alias") || words.contains("replay") {
        "its aliases repeat too much"
    } else if words.contains("depth") || words.contains("recursion") {
        "it nests too deep"
    } else {
        "it is too large"
    };
    Diagnostic::at(span, format!("this file is refused: {what}"))
        .note(format!(
            "a suite may nest {DEPTH} deep, have {NODES} nodes, and repeat {ALIAS_NODES} nodes through aliases"
        ))
        .help("write the repeated parts out, or split the suite into several files")
}
