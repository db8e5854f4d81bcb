//! The example of a loop that records itself, run.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../examples/recording_loop.rs"]
#[allow(dead_code, reason = "the example runs by itself too")]
mod recording_loop;

use mcptest_trace::trace::{Origin, parse_run};

#[test]
fn a_loop_writes_runs_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = "Refund order A-1001 with desk-7f1c0b52, please.";
    for number in 1..=2 {
        let file = recording_loop::answer(prompt, folder.path()).unwrap();
        assert!(
            file.ends_with(format!("run-{number}.json")),
            "{}",
            file.display()
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("desk-7f1c0b52"), "{text}");
        let origin = Origin::file("run");
        let run = parse_run(text.as_bytes(), &origin).unwrap();
        let tools: Vec<_> = run.trace.tool_calls.iter().map(|call| &call.name).collect();
        assert_eq!(tools, ["find_order", "refund_order"]);
        assert_eq!(run.trace.model_calls(), 3);
    }
}
