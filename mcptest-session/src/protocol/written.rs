//! What the wire formats write in the same way: the same bytes whenever it is written.

use serde_json::{Value, json};

use crate::exchange::ModelResponse;

/// When answers that are made here were made.
pub(super) const CREATED: u64 = 1_750_000_000;

/// The characters of a piece of a stream.
const CHARACTERS: usize = 24;

/// An error as `OpenAI` has it.
pub(super) fn openai_error(status: u16, message: &str) -> Value {
    let kind = match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
}

/// The identifier of an answer, or one in its place.
pub(super) fn id_or(said: &ModelResponse, prefix: &str) -> String {
    said.id
        .clone()
        .unwrap_or_else(|| format!("{prefix}mcptest"))
}

/// A text in pieces.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(CHARACTERS);
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = after;
        Some(piece)
    })
}
