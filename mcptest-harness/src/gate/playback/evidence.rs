//! The evidence of a failed playback: the first difference in full, the others a line each.

use std::iter;

use mcptest_suite::escape_line;
use serde_json::Value;

use crate::eval::{Divergence, PlaybackReport};
use crate::gate::Input;
use crate::render::{Diff, Evidence};
use crate::trace::pretty_json;
use mcptest_trace::text::{run_numbers, truncate_lines};

/// What several runs say alike, with the runs, in the order in which it was said first.
pub(super) fn group_by_text(
    all: impl Iterator<Item = (usize, String)>,
) -> Vec<(String, Vec<usize>)> {
    let mut common: Vec<(String, Vec<usize>)> = Vec::new();
    for (run, line) in all {
        match common.iter_mut().find(|(known, _)| *known == line) {
            Some((_, runs)) => runs.push(run),
            None => common.push((line, vec![run])),
        }
    }
    common
}

/// In which runs, where the agent has several.
fn in_runs(runs: &[usize], input: &Input<'_>) -> String {
    match runs {
        _ if input.runs.len() == 1 => String::new(),
        all if all.len() == input.runs.len() => "in every run: ".to_owned(),
        [one] => format!("in run {}: ", one + 1),
        some => format!("in runs {}: ", run_numbers(some)),
    }
}

pub(super) fn list_evidence(
    title: &str,
    lines: &[(String, Vec<usize>)],
    input: &Input<'_>,
    before: &str,
) -> Evidence {
    let lines = lines
        .iter()
        .map(|(line, runs)| format!("{before}{}{}", in_runs(runs, input), escape_line(line)));
    let lines: Vec<String> = iter::once(title.to_owned()).chain(lines).collect();
    Evidence::Text(truncate_lines(&lines))
}

/// What the code does differently: the first in full, the others a line each.
pub(super) fn difference_evidence(
    input: &Input<'_>,
    broken: &[(usize, &PlaybackReport)],
) -> Vec<Evidence> {
    let mut all: Vec<(&Divergence, Vec<usize>)> = Vec::new();
    for (run, report) in broken {
        for one in report.divergences.iter().chain(&report.unasked) {
            // At which model call it shows may differ from run to run.
            let is_same = |other: &Divergence| {
                (other.kind, &other.path, &other.message) == (one.kind, &one.path, &one.message)
                    && other.recorded == one.recorded
                    && other.played == one.played
            };
            match all.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, runs)) => runs.push(*run),
                None => all.push((one, vec![*run])),
            }
        }
    }
    let Some(((first, runs), others)) = all.split_first() else {
        return Vec::new();
    };
    let mut evidence = divergence_evidence(first, &in_runs(runs, input));
    if !others.is_empty() {
        let lines: Vec<(String, Vec<usize>)> = others
            .iter()
            .map(|(one, runs)| (format!("{one}{}", place_note(one)), runs.clone()))
            .collect();
        evidence.push(list_evidence("then:", &lines, input, "- "));
    }
    evidence
}

/// The path to what differs, where an option takes such a path and the message does not say the place.
fn place_note(one: &Divergence) -> String {
    let is_said = |key: &str| match key.parse::<usize>() {
        Ok(index) => one.message.contains(&format!("turn {} ", index + 1)),
        Err(_) => one.message.contains(key),
    };
    // The first word of a path is the kind of what differs, which each message says.
    let keys = one
        .path
        .split(['[', ']', '.'])
        .filter(|key| !key.is_empty());
    if !one.kind.may_be_ignored() || keys.skip(1).all(is_said) {
        return String::new();
    }
    format!(" (`{}`)", one.path)
}

/// A divergence with what shows it.
fn divergence_evidence(one: &Divergence, runs: &str) -> Vec<Evidence> {
    let line = format!("{one}{}", place_note(one));
    let mut evidence = vec![Evidence::Text(format!("{runs}{}", escape_line(&line)))];
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => pretty_json(value),
    };
    match (&one.recorded, &one.played) {
        (Some(recorded), Some(played)) => evidence.push(side_by_side(text(recorded), text(played))),
        (None, None) => {}
        // Where there is nothing beside it, a diff shows nothing more.
        (one, other) => {
            let (what, value) = match (one, other) {
                (Some(value), _) => ("recorded", value),
                (_, other) => ("now", other.as_ref().unwrap_or(&Value::Null)),
            };
            let lines = text(value)
                .lines()
                .map(|line| format!("  | {}", escape_line(line)))
                .collect::<Vec<_>>();
            let lines: Vec<String> = iter::once(format!("{what}:")).chain(lines).collect();
            evidence.push(Evidence::Text(truncate_lines(&lines)));
        }
    }
    evidence
}

/// Two values, one beside the other. What only stands at the end is spelt, as no line would show it.
fn side_by_side(recorded: String, played: String) -> Evidence {
    let (old_end, new_end) = (trailing_space(&recorded), trailing_space(&played));
    if recorded != played && recorded.trim_end() == played.trim_end() {
        let spelt = |end: &str| match end {
            "" => "nothing".to_owned(),
            end => format!("`{}`", end.escape_debug()),
        };
        return Evidence::Text(format!(
            "only the white space at the end differs: {} (recorded), {} (now)",
            spelt(old_end),
            spelt(new_end)
        ));
    }
    Evidence::Diff(Diff {
        old_name: "recorded".to_owned(),
        new_name: "now".to_owned(),
        old: recorded,
        new: played,
    })
}

/// The white space at the end of a text.
fn trailing_space(text: &str) -> &str {
    &text[text.trim_end().len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_said_once() {
        use crate::eval::DivergenceKind;
        let line = |kind, path: &str, message: &str| {
            let one = Divergence::new(kind, (1, 3), path, message);
            format!("{one}{}", place_note(&one))
        };
        let prompt = DivergenceKind::SystemPrompt;
        assert_eq!(
            line(prompt, "system_prompt", "the system prompt differs"),
            "model call 1 of 3: the system prompt differs"
        );
        let parameter = DivergenceKind::Parameters;
        assert_eq!(
            line(parameter, "parameters.seed", "the parameter `seed` is new"),
            "model call 1 of 3: the parameter `seed` is new"
        );
        let turn = DivergenceKind::UserTurns;
        assert_eq!(
            line(turn, "user_turns[1]", "turn 2 of the user differs"),
            "model call 1 of 3: turn 2 of the user differs"
        );
        let again = DivergenceKind::AskedAgain;
        assert_eq!(
            line(again, "model_calls[0]", "the code sends this request again"),
            "model call 1 of 3: the code sends this request again"
        );
        let result = DivergenceKind::ToolResults;
        assert_eq!(
            line(
                result,
                "tool_results[2]",
                "the result of `get_order` differs"
            ),
            "model call 1 of 3: the result of `get_order` differs (`tool_results[2]`)"
        );
    }

    #[test]
    fn white_space_at_the_end_is_spelt() {
        let told = |old: &str, new: &str| side_by_side(old.to_owned(), new.to_owned());
        assert_eq!(
            told("Done.\n", "Done."),
            Evidence::Text(
                "only the white space at the end differs: `\\n` (recorded), nothing (now)"
                    .to_owned()
            )
        );
        assert!(matches!(told("Done.", "Done!"), Evidence::Diff(_)));
    }
}
