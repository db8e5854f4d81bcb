//! The answer as text: at most 100 columns.

use mcptest_suite::escape_line;
use unicode_width::UnicodeWidthChar as _;

use super::ContractReport;
use super::finding::Finding;
use mcptest_trace::text::{pluralize, truncate, unbroken_words};

/// The widest line.
const COLUMNS: usize = 100;

/// How many calls are shown of a finding, and lines of a difference.
const CALLS: usize = 3;
const LINES: usize = 12;

/// How much is shown of why a call is refused, in characters.
const REASON: usize = 240;

/// The answer in lines.
pub(super) fn text(answer: &ContractReport) -> String {
    let mut text = String::new();
    let mut push = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for line in wrap("", &answer.headline()) {
        push(&line);
    }
    let (breaking, changes): (Vec<_>, Vec<_>) =
        answer.found.findings.iter().partition(|it| it.breaks());
    let parts = [
        ("breaks recorded calls", &breaking),
        ("changed, and breaks no recorded call", &changes),
    ];
    for (title, findings) in parts {
        if findings.is_empty() {
            continue;
        }
        push("");
        push(&format!("{title}:"));
        for line in findings.iter().flat_map(|finding| lines(finding)) {
            push(&line);
        }
    }
    let notes = answer.notes();
    if !notes.is_empty() {
        push("");
    }
    for line in notes.iter().flat_map(|note| wrap("note: ", note)) {
        push(&line);
    }
    push("");
    let mut end = match (breaking.len(), changes.len()) {
        (0, 0) => "nothing differs".to_owned(),
        (0, changes) => format!(
            "{}, none breaks a recorded call",
            pluralize(changes, "difference")
        ),
        (breaking, changes) => {
            let all = pluralize(breaking + changes, "difference");
            let verb = if breaking == 1 { "breaks" } else { "break" };
            format!("{all}, {breaking} {verb} recorded calls")
        }
    };
    if answer.is_undecided() {
        end.push_str("; the command could not decide everything, see the notes");
    }
    push(&end);
    text
}

fn lines(finding: &Finding) -> Vec<String> {
    let mut lines = wrap("  ", &format!("{}: {}", finding.tool, finding.text));
    for line in finding.diff.iter().take(LINES) {
        let (sign, text) = line.split_at(1);
        lines.extend(wrap(&format!("      {sign} "), text.trim_start()));
    }
    if let Some(more) = finding
        .diff
        .len()
        .checked_sub(LINES)
        .filter(|more| *more > 0)
    {
        lines.push(format!("      … {}", pluralize(more, "more line")));
    }
    for call in finding.calls.iter().take(CALLS) {
        let place = format!("{}: tool_calls[{}]", call.file, call.call);
        let reason = call
            .reason
            .as_deref()
            .map(|it| format!(": {}", truncate(it, REASON)));
        lines.extend(wrap(
            "      ",
            &format!("{place}{}", reason.unwrap_or_default()),
        ));
    }
    if let Some(more) = finding
        .calls
        .len()
        .checked_sub(CALLS)
        .filter(|more| *more > 0)
    {
        lines.push(format!("      … {}", pluralize(more, "more call")));
    }
    lines
}

/// A text in lines, the first behind a mark and the others below its text. Words that are longer than a line are cut.
fn wrap(mark: &str, text: &str) -> Vec<String> {
    let below = " ".repeat(mark.chars().count());
    let text = escape_line(text);
    let (mut lines, mut line, mut width) = (Vec::new(), mark.to_owned(), mark.chars().count());
    let mut is_empty = true;
    for word in unbroken_words(&text) {
        let own = display_width(&word);
        if !is_empty && width + 1 + own > COLUMNS {
            lines.push(std::mem::replace(&mut line, below.clone()));
            (width, is_empty) = (below.len(), true);
        }
        if !is_empty {
            line.push(' ');
            width += 1;
        }
        is_empty = false;
        for character in word.chars() {
            let own = character.width().unwrap_or_default();
            if width + own > COLUMNS {
                lines.push(std::mem::replace(&mut line, below.clone()));
                width = below.len();
            }
            line.push(character);
            width += own;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

fn display_width(text: &str) -> usize {
    text.chars().map(|it| it.width().unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let words = "one two 順番 three ".repeat(30);
        let long = "x".repeat(350);
        for text in [words.as_str(), long.as_str(), "", "a\nb"] {
            let lines = wrap("      - ", text);
            assert!(
                lines.iter().all(|line| display_width(line) <= COLUMNS),
                "{lines:?}"
            );
            assert!(lines[0].starts_with("      -"));
        }
        let joined: String = wrap("", &long).concat();
        assert_eq!(joined, long);
        assert_eq!(wrap("note: ", "a b"), ["note: a b"]);
    }
}
