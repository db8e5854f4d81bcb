//! Frames of tracebacks: which files and lines a failure went through is the machine's, and no part of what is compared.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What stands in the place of frames that follow one another.
const MARK: &str = "\u{1}";

/// A frame of Python inside of a line, such as in a text that is quoted in another one.
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"File \\*["'][^"'\\\n]+\\*["'], line \d+"#).ok());

/// The place that a frame of JavaScript or Rust ends with.
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:[^\s:]:\d+(?::\d+)?|<anonymous>|native|index \d+)\)?,?$").ok()
});

/// A text without the frames of tracebacks. The words of the failure stay.
pub(super) fn without_frames(text: &str) -> Cow<'_, str> {
    if !text.contains("line ") && !text.contains("at ") {
        return text.into();
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = text.split('\n').peekable();
    let mut found = false;
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if is_python(line) {
            // The line of the source, and what marks a part of it.
            while let Some(inner) = lines.peek() {
                if indent(inner) <= indent(line) || is_python(inner) {
                    break;
                }
                lines.next();
            }
        } else if !(is_place(line) || is_numbered(line) && is_place(next)) {
            kept.push(line);
            continue;
        }
        found = true;
        if kept.last() != Some(&MARK) {
            kept.push(MARK);
        }
    }
    let text: Cow<'_, str> = if found {
        kept.join("\n").into()
    } else {
        text.into()
    };
    match QUOTED.as_ref().filter(|quoted| quoted.is_match(&text)) {
        Some(quoted) => quoted.replace_all(&text, MARK).into_owned().into(),
        None => text,
    }
}

/// How far a line stands in; groups of exceptions stand behind lines.
fn indent(line: &str) -> usize {
    line.len() - content(line).len()
}

fn content(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '|'])
}

fn is_python(line: &str) -> bool {
    let content = content(line);
    content.starts_with("File \"") && content.contains("\", line ")
        || content.starts_with("[Previous line repeated ")
}

/// A frame of JavaScript, or the place of one of Rust.
fn is_place(line: &str) -> bool {
    let content = line.trim();
    let is_there = PLACE.as_ref().is_some_and(|place| place.is_match(content));
    line.starts_with([' ', '\t']) && content.starts_with("at ") && is_there
}

/// The name of a function in a backtrace of Rust.
fn is_numbered(line: &str) -> bool {
    let number = line.trim_start().split_once(": ").map(|(number, _)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::play::texts::{same, same_text};

    const PYTHON: &str = "Traceback (most recent call last):\n  File \"/home/a/shop/agent.py\", line 12, in refund\n    raise Declined(card)\n    ^^^^^^^^^^^^^^^^^^^^\nDeclined: the card is declined";
    const OTHER: &str = "Traceback (most recent call last):\n  File \"/srv/shop/agent.py\", line 30, in wrapped\n    return run(tool)\n  File \"/srv/shop/agent.py\", line 14, in refund\n    raise Declined(  card)\n    ~~~~~~~~^^^^^^^\nDeclined: the card is declined";

    #[test]
    fn frames_of_tracebacks_are_no_difference_and_the_words_of_the_failure_are() {
        let script = |path: &str| {
            format!(
                "Error: no order 7\n    at refund ({path}:10:5)\n    at async run (file://{path}:3:1)\n    at new Promise (<anonymous>)\nGo on."
            )
        };
        let rust = |path: &str| {
            format!(
                "panicked: no order 7\n   0: shop::refund\n             at {path}:10:5\n   1: main\n             at {path}:3:1"
            )
        };
        let plain = |text: &str| text.to_owned();
        for (one, other) in [
            (plain(PYTHON), plain(OTHER)),
            (script("/home/a/refund.js"), script("/srv/b/refund.js")),
            (rust("/home/a/src/main.rs"), rust("./src/main.rs")),
            (
                format!("Observation: {PYTHON:?}"),
                format!(
                    "Observation: {:?}",
                    PYTHON
                        .replace("/home/a", "/srv/b")
                        .replace("line 12", "line 13")
                ),
            ),
        ] {
            assert!(same_text(&one, &other, &[]), "{one}\n{other}");
            assert!(same(
                &json!({ "error": one }),
                &json!({ "error": other }),
                &[]
            ));
            for (was, now) in [
                ("declined", "expired"),
                ("no order 7", "no order 8"),
                ("Go on.", "Stop."),
            ] {
                if other.contains(was) {
                    assert!(!same_text(&one, &other.replace(was, now), &[]), "{now}");
                }
            }
        }
        // What follows the frames, and what is no frame, is compared.
        assert!(!same_text(PYTHON, &format!("{OTHER}\nmore"), &[]));
        for (one, other) in [
            ("Look at the shop at 10:05", "Look at the shop at 10:06"),
            ("  at noon", "  at night"),
            ("1: first\n2: second", "1: first\n2: third"),
            ("see the file, line 3", "see the file, line 4"),
        ] {
            assert!(!same_text(one, other, &[]), "{one}");
        }
    }
}
