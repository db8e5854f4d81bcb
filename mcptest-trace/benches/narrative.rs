//! What reading a closing costs: an ordinary one, and long ones that were written to be slow.

use divan::{Bencher, black_box};
use mcptest_trace::eval::{NarrativeOptions, narrative_divergence};
use mcptest_trace::trace::Trace;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// A run of one call with a closing.
fn run(closing: &str) -> Trace {
    Trace::from_envelope(&json!({
        "tool_calls": [{ "name": "create_issue", "args": { "title": "CI flake" } }],
        "tool_results": [{ "call_index": 0, "result": { "number": 42 } }],
        "final_response": closing,
    }))
}

#[divan::bench]
fn an_ordinary_closing(bencher: Bencher) {
    let run = run("I created issue #42 for the flake. Shall I assign it to someone?");
    bencher.bench(|| narrative_divergence(black_box(&run), &NarrativeOptions::default()));
}

/// Beside the closing itself: what parsing the same recording costs.
#[divan::bench]
fn parsing_the_recording(bencher: Bencher) {
    let text = r#"{"tool_calls":[{"name":"create_issue","args":{"title":"CI flake"}}],
        "tool_results":[{"call_index":0,"is_error":false,"result":{"number":42}}],
        "final_response":"I created issue #42 for the flake. Shall I assign it to someone?"}"#;
    bencher.bench(|| {
        let envelope: Value = serde_json::from_str(black_box(text)).unwrap_or_default();
        Trace::from_envelope(&envelope)
    });
}

/// The work grows with the length: twice the bytes, twice the time.
#[divan::bench(args = [500_000, 1_000_000])]
fn one_endless_sentence(bencher: Bencher, bytes: usize) {
    let run = run(&"I created the issue, closed it, ".repeat(bytes / 32));
    bencher.bench(|| narrative_divergence(black_box(&run), &NarrativeOptions::default()));
}
