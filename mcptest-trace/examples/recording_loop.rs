//! An agent loop in production that writes its runs down, with nothing of the harness in its build.
//!
//! Run with `cargo run -p mcptest-trace --features store --example recording_loop`.

use std::error::Error;
use std::path::{Path, PathBuf};

use mcptest_trace::record::Recorder;
use serde_json::{Value, json};

/// What the model wants next: a tool, or to answer.
enum Next {
    Call(&'static str, Value),
    Answer(&'static str),
}

/// A model, as far as a loop sees one: what it wants, and the tokens it took.
fn ask_model(seen: &[Value]) -> (Next, u64, u64) {
    match seen {
        [] => (
            Next::Call("find_order", json!({ "order_id": "A-1001" })),
            412,
            31,
        ),
        [_] => (
            Next::Call("refund_order", json!({ "order_id": "A-1001" })),
            460,
            28,
        ),
        _ => (Next::Answer("Order A-1001 is refunded: RF-1."), 505, 14),
    }
}

fn call_tool(name: &str) -> Result<Value, String> {
    match name {
        "find_order" => Ok(json!({ "order_id": "A-1001", "status": "delivered" })),
        "refund_order" => Ok(json!({ "refund_id": "RF-1" })),
        other => Err(format!("there is no tool `{other}`")),
    }
}

/// Answers one customer, and writes the run into a folder.
///
/// # Errors
///
/// The run cannot be written.
pub(crate) fn answer(prompt: &str, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let mut run = Recorder::new("Refund agent", "gpt-4.1");
    run.system_prompt("You work at the refund desk.");
    // What must never get into a file, whoever says it.
    run.secret("DESK_TOKEN", "desk-7f1c0b52");
    run.user(prompt);
    let mut seen = Vec::new();
    loop {
        let (next, prompt_tokens, completion_tokens) = ask_model(&seen);
        run.step(prompt_tokens, completion_tokens);
        match next {
            Next::Call(name, args) => {
                let call = run.tool_called("desk", name, args);
                match call_tool(name) {
                    Ok(result) => {
                        run.tool_returned(call, result.clone());
                        seen.push(result);
                    }
                    Err(error) => {
                        run.tool_failed(call, error.clone().into());
                        seen.push(error.into());
                    }
                }
            }
            Next::Answer(text) => {
                run.said(text);
                return Ok(run.add_to(folder)?);
            }
        }
    }
}

/// Writes one run below the system's folder for temporary files.
///
/// # Errors
///
/// The run cannot be written.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join("recording_loop");
    let file = answer("Refund order A-1001, please.", &folder)?;
    println!("written: {}", file.display());
    Ok(())
}
