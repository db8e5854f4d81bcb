//! Tools behind a door that records, and behind one that plays.

mod in_process;
mod wire;

use axum::body;
use mcptest_trace::eval::PlaybackOptions;
use serde_json::{Value, json};

use super::Door;
use super::recorded::RecordedCalls;
use super::ticks::Ticks;
use crate::endpoint::{Answerer as _, Incoming};

fn runs<T>(run: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(run)
}

/// Asks a door as a client does: the status, and what it says.
fn ask(door: &Door, path: &str, request: &Value) -> (u16, Value) {
    runs(async {
        let incoming = Incoming::post(0, &format!("/tools/{path}"), request.to_string());
        let response = door.answer(incoming).await;
        let status = response.status().as_u16();
        let body = body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    })
}

/// Calls a tool; what the door answers.
fn called(door: &Door, name: &str, args: &Value) -> Value {
    let (status, answer) = ask(door, "call", &json!({ "name": name, "args": args }));
    assert_eq!(status, 200, "{answer}");
    answer
}

/// What is told of a door that plays.
fn divergence_messages(door: &Door) -> Vec<String> {
    let divergences = door.divergences(0).into_iter();
    divergences.map(|one| one.message).collect()
}

/// A door that plays what the model was told, and some notes.
fn plays(notes: &[Value], trace: &mcptest_trace::trace::Trace) -> Door {
    let recorded = RecordedCalls::from_notes(notes, trace);
    let playing = super::CallPlayer::new(recorded, PlaybackOptions::suite_default(), Vec::new());
    Door::playing(playing, Ticks::default())
}
