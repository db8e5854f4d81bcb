//! Frames of tracebacks: which files and lines a failure went through is the machine's, and no part of what is compared.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What stands in the place of frames that follow one another.
const MARK: &str = "\u{1}";

/// What a traceback of Python begins with.
const PYTHON: &str = "Traceback (most recent call last):";

/// A frame of Python; quotes are escaped in a text that is quoted in another one.
static FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^File \\*["'][^"'\n]+["'], line \d+"#).ok());

/// The line that frames of JavaScript stand below.
static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:Error|Exception)(?: \[\w+\])?(?::|$)").ok());

/// A frame of JavaScript: its place is a path, or inside of the engine.
static SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^\s+at (?:.* \(|async )?(?:(?:node:|file:|[^\s()]*[/\\])[^()]*:\d+:\d+\)?",
        r"|[^()]+ \((?:<anonymous>|native|index \d+)\)|(?:<anonymous>|native|index \d+)\))(?: \{)?$"
    ))
    .ok()
});

/// The place of a frame of Rust.
static PLACE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s+at .*:\d+(?::\d+)?$").ok());

/// Whose frames a line may be.
#[derive(Clone, Copy)]
enum FrameLanguage {
    Nothing,
    Python,
    Script,
    Rust,
}

/// A text without the frames of tracebacks. The words of the failure stay, and so does what looks like a frame and
/// stands below no failure.
pub(super) fn without_frames(text: &str) -> Cow<'_, str> {
    if !text.contains(PYTHON) && !text.contains("at ") {
        return text.into();
    }
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(without_quoted_frames).collect();
    remove_frames(lines.iter().map(AsRef::as_ref), "\n").into()
}

/// A value as it is shown beside another one: with a word in the place of the frames, which are not compared.
pub(super) fn for_display(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let text = without_frames(text);
            text.replace(MARK, "  [frames, which are not compared]")
                .into()
        }
        Value::Array(items) => items.iter().map(for_display).collect(),
        Value::Object(map) => {
            let each = map
                .iter()
                .map(|(key, value)| (key.clone(), for_display(value)));
            Value::Object(each.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A line without the frames of a traceback that stands in it, with signs for the ends of its lines.
fn without_quoted_frames(line: &str) -> Cow<'_, str> {
    let Some((_, rest)) = line.split_once(PYTHON) else {
        return line.into();
    };
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    if escapes == 0 || !rest[escapes..].starts_with('n') {
        return line.into();
    }
    let end = format!("{}n", "\\".repeat(escapes));
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in line.match_indices(&end) {
        // More escapes are a part of a path.
        if at >= from && !line[..at].ends_with('\\') {
            parts.push(&line[from..at]);
            from = at + end.len();
        }
    }
    parts.push(&line[from..]);
    remove_frames(parts.into_iter(), &end).into()
}

fn remove_frames<'a>(lines: impl Iterator<Item = &'a str>, end: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut below = FrameLanguage::Nothing;
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        let is_frame = match below {
            FrameLanguage::Nothing => false,
            FrameLanguage::Python => is_python(line),
            FrameLanguage::Script => matches(&SCRIPT, line.trim_end()),
            FrameLanguage::Rust => is_numbered(line) || matches(&PLACE, line.trim_end()),
        };
        if !is_frame {
            below = frames_below(line);
            kept.push(line);
            continue;
        }
        if matches!(below, FrameLanguage::Python) {
            // The line of the source, and what marks a part of it.
            while let Some(inner) = lines.peek() {
                if indent(inner) <= indent(line) || is_python(inner) {
                    break;
                }
                lines.next();
            }
        }
        if kept.last() != Some(&MARK) {
            kept.push(MARK);
        }
    }
    kept.join(end)
}

/// Whose frames may stand below a line.
fn frames_below(line: &str) -> FrameLanguage {
    let line = line.trim_end();
    if line.ends_with(PYTHON) {
        FrameLanguage::Python
    } else if line.to_ascii_lowercase().ends_with("stack backtrace:") {
        FrameLanguage::Rust
    } else if matches(&ERROR, line) {
        FrameLanguage::Script
    } else {
        FrameLanguage::Nothing
    }
}

fn matches(pattern: &LazyLock<Option<Regex>>, line: &str) -> bool {
    pattern.as_ref().is_some_and(|it| it.is_match(line))
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
    indent(line) > 0 && (matches(&FILE, content) || content.starts_with("[Previous line repeated "))
}

/// The name of a function in a backtrace of Rust.
fn is_numbered(line: &str) -> bool {
    let number = line.trim_start().split_once(": ").map(|(number, _)| number);
    line.starts_with(' ')
        && number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::for_display;
    use crate::play::matching::{texts_match, values_match};

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
                "panicked: no order 7\nstack backtrace:\n   0: shop::refund\n             at {path}:10:5\n   1: main\n             at {path}:3:1"
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
            assert!(texts_match(&one, &other, &[]), "{one}\n{other}");
            assert!(values_match(
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
                    assert!(!texts_match(&one, &other.replace(was, now), &[]), "{now}");
                }
            }
        }
        // What follows the frames, and what is no frame, is compared.
        assert!(!texts_match(PYTHON, &format!("{OTHER}\nmore"), &[]));
        for (one, other) in [
            ("Look at the shop at 10:05", "Look at the shop at 10:06"),
            ("  at noon", "  at night"),
            ("1: first\n2: second", "1: first\n2: third"),
            ("see the file, line 3", "see the file, line 4"),
        ] {
            assert!(!texts_match(one, other, &[]), "{one}");
        }
    }

    #[test]
    fn what_is_shown_has_a_word_for_frames() {
        let says = "Traceback (most recent call last):\n  [frames, which are not compared]\nDeclined: the card is declined";
        assert_eq!(
            for_display(&json!({ "content": [{ "text": PYTHON }], "order": 7 })),
            json!({ "content": [{ "text": says }], "order": 7 })
        );
        let other = json!("Look at the shop at 10:05");
        assert_eq!(for_display(&other), other);
    }

    #[test]
    fn what_looks_like_a_frame_and_stands_below_no_failure_is_compared() {
        for (one, was, now) in [
            (
                "List:\n  File \"invoice-7.pdf\", line 2\n    paid 18 EUR\nend",
                "paid 18",
                "paid 99",
            ),
            (
                "See File \"invoice-7.pdf\", line 2",
                "invoice-7",
                "invoice-8",
            ),
            (
                "Delivered\n    at Hauptstr (Berlin:10:3)\nok",
                "Berlin",
                "Hamburg",
            ),
            (
                "Error: delivered\n    at Hauptstr (Berlin:10:3)\nok",
                "Berlin",
                "Hamburg",
            ),
            ("found:\n    at pay (src/pay.js:10:3)\nend", "10:3", "20:3"),
            (
                "thread panicked\n   0: pay 18\n             at shop:1:2\nok",
                "pay 18",
                "pay 99",
            ),
            // The failure's own words, below its frames.
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 1, in c\n    d()\nBad: rows\n  File \"invoice-7.pdf\", line 2\n    paid 18 EUR",
                "paid 18",
                "paid 99",
            ),
            (
                "{\"error\": \"Traceback (most recent call last):\\n  File \\\"/a/b.py\\\", line 1\\nBad: see\\n  File \\\"invoice-7.pdf\\\", line 2\"}",
                "invoice-7",
                "invoice-8",
            ),
        ] {
            let other = one.replace(was, now);
            assert_ne!(one, other);
            assert!(!texts_match(one, &other, &[]), "{one}");
        }
    }

    #[test]
    fn failures_that_led_to_others_lose_their_frames_too() {
        let chained = format!(
            "{PYTHON}\n\nThe above exception was the direct cause of the following exception:\n\n{PYTHON}"
        );
        let moved = chained
            .replace("/home/a", "/srv")
            .replace("line 12", "line 13");
        assert!(texts_match(&chained, &moved, &[]));
        assert!(!texts_match(
            &chained,
            &moved.replace("direct cause", "context"),
            &[]
        ));
        let script = "TypeError [ERR_X]: no order 7\n    at /a/x.js:1:2\n    at async Promise.all (index 0)\n    at node:internal/main:1:2 {\n  [cause]: Error: gone\n      at y (/a/y.js:3:4)\n}";
        let moved = script.replace("/a/", "/srv/b/").replace("1:2", "5:6");
        assert!(texts_match(script, &moved, &[]));
        assert!(!texts_match(script, &moved.replace("gone", "lost"), &[]));
    }
}
