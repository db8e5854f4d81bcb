//! A package with logs, and nothing recorded.

use e2e_support::folder::Folder;
use serde_json::{Value, json};

/// Two runs that passed, as lists of messages.
pub(crate) fn log() -> Folder {
    let call = |id: &str, name: &str| {
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": name, "arguments": "{\"order\":7}" } },
        ] })
    };
    let answer =
        |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
    let run = |number: u32| -> Value {
        json!({ "id": format!("run-{number}"), "model": "gpt-5", "passed": true, "messages": [
            { "role": "user", "content": "Cancel order 7." },
            call("a", "get_order"), answer("a", "open"),
            call("b", "cancel_order"), answer("b", "cancelled"),
            { "role": "assistant", "content": "Order 7 is cancelled." },
        ] })
    };
    Folder::new()
        .with_file(
            "Cargo.toml",
            "[package]\nname = \"desk\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        )
        .with_file("src/lib.rs", "")
        .with_file("logs/orders.jsonl", format!("{}\n{}\n", run(1), run(2)))
}
