//! What a run did, line by line, and what a mutant of it does instead.

use mcptest::trace::Run;
use similar::TextDiff;

/// How much of a line is shown.
const LONGEST: usize = 240;

/// The outline of a run: its calls with their results, its closing, why it stopped, its tokens.
pub(super) fn outline(run: &Run) -> String {
    let trace = &run.trace;
    let mut lines = Vec::new();
    for (call, result) in trace.tool_calls.iter().zip(trace.results_by_call()) {
        let result = match result {
            None => "no result".to_owned(),
            Some(result) if result.is_error => "error".to_owned(),
            Some(_) => "ok".to_owned(),
        };
        let arguments = call.arguments_json();
        lines.push(format!("{} {arguments} → {result}", call.name));
    }
    match trace.closing() {
        Some(closing) => lines.extend(closing.lines().map(|line| format!("says: {line}"))),
        None => lines.push("says nothing".to_owned()),
    }
    if let Some(reason) = &trace.conversation.stop_reason {
        lines.push(format!("stops: {}", reason.as_str()));
    }
    let tokens: Vec<String> = trace
        .conversation
        .steps
        .iter()
        .map(|step| {
            step.prompt
                .map_or_else(|| "?".to_owned(), |prompt| prompt.to_string())
        })
        .collect();
    if !tokens.is_empty() {
        lines.push(format!("prompt tokens: {}", tokens.join(" ")));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The outline of a run and that of its mutant, as a unified diff.
pub(super) fn diff(run: &Run, mutant: &Run) -> String {
    let (old, new) = (outline(run), outline(mutant));
    let diff = TextDiff::from_lines(&old, &new);
    let unified = diff
        .unified_diff()
        .context_radius(2)
        .header("recorded", "mutant")
        .to_string();
    let changed = unified
        .lines()
        .filter(|line| line.starts_with(['-', '+']))
        .count();
    unified
        .lines()
        .map(|line| {
            // Where two lines differ late, the difference must be seen.
            let limit = if changed <= 4 && line.starts_with(['-', '+']) {
                4 * LONGEST
            } else {
                LONGEST
            };
            format!("{}\n", shorten(line, limit))
        })
        .collect()
}

fn shorten(line: &str, limit: usize) -> String {
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}
