//! Recorded runs in the cassette format.

use serde_json::{Value, json};

/// A run in which the agent made these calls, each of them answered, and closed with these words.
pub fn run(model: &str, prompt: &str, calls: &[(&str, Value)], closing: &str) -> Value {
    let asked = json!({ "role": "user", "content": prompt });
    let used = calls.iter().map(|(name, args)| {
        let content = format!("tool_use desk::{name} with {args}");
        json!({ "role": "assistant", "content": content })
    });
    let last = json!({ "role": "assistant", "content": closing });
    let turns: Vec<Value> = std::iter::once(asked).chain(used).chain([last]).collect();
    let made = calls
        .iter()
        .map(|(name, args)| json!({ "name": name, "server": "desk", "args": args }));
    let answers = (0..calls.len()).map(|index| {
        let content = json!([{ "type": "text", "text": "done" }]);
        json!({ "call_index": index, "server": "desk", "is_error": false, "result": { "content": content } })
    });
    let mut run = json!({
        "schema_version": "v1",
        "model": model,
        "user_prompt": prompt,
        "trace": {
            "tool_calls": made.collect::<Vec<_>>(),
            "tool_results": answers.collect::<Vec<_>>(),
            "final_response": closing,
            "conversation": {
                "tokens": { "prompt": 900, "completion": 100, "total": 1000 },
                "duration_ms": 1200,
                "message_count": turns.len(),
                "stop_reason": "completed",
                "turns": turns,
            },
        },
    });
    // One order, whatever order `serde_json` was built to keep.
    run.sort_all_objects();
    run
}
