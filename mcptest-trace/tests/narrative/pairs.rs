//! Closings that differ in little, of which the one passes and the other does not: `pairs.txt`.

use mcptest_trace::eval::{NarrativeOptions, narrative_divergence};
use serde_json::json;

use crate::support::{Call, call_with, refused};

#[test]
fn what_passes_and_what_is_refused_differ_in_little() {
    let lines = include_str!("pairs.txt").lines();
    let lines = lines.filter_map(|line| line.split_at_checked(2));
    let mut wrong = Vec::new();
    for (verdict, line) in lines.filter(|(start, _)| matches!(*start, "+ " | "- ")) {
        let (run, closing) = line.split_once(" | ").expect("a closing");
        let (tools, calls) = run.split_once(" ; ").expect("calls");
        let calls: Vec<Call> = calls.split(", ").map(call).collect();
        let closing = closing.replace("\\n", "\n");
        if refused(tools, &calls, "", &closing) != (verdict == "- ") {
            wrong.push(format!("{verdict}{line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// `!tool` failed; `tool:act` was told to do it, `tool:key=true` so, `tool{…}` those arguments.
fn call(text: &str) -> Call {
    let (tool, ok) = text
        .strip_prefix('!')
        .map_or((text, true), |tool| (tool, false));
    if let Some((tool, _)) = tool.split_once('{') {
        let args = serde_json::from_str(&text[text.find('{').unwrap_or_default()..]);
        return call_with(tool, args.expect("arguments"), ok);
    }
    let (tool, act) = tool.split_once(':').unwrap_or((tool, ""));
    let args = match act.split_once('=') {
        Some((key, flag)) => json!({ key: flag == "true" }),
        None if act.is_empty() => json!({}),
        None => json!({ "action": act }),
    };
    call_with(tool, args, ok)
}

#[test]
fn a_call_without_a_result_was_not_tried_in_vain() {
    let calls = json!([{ "name": "lock_door" }]);
    let run = json!({ "tool_calls": calls, "final_response": "The front door is locked." });
    let report = narrative_divergence(&run, &NarrativeOptions::default());
    assert!(report.gate_passed());
}
