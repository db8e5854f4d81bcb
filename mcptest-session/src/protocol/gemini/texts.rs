//! The arguments of calls as an answer spells them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Where an answer that is read keeps the text of a call's arguments, beside the arguments.
pub(super) const ARGS_TEXT: &str = "mcptest_args_text";

/// An answer, as far as the arguments of its calls are texts.
#[derive(Deserialize)]
struct Answer<'b> {
    #[serde(borrow, default)]
    candidates: Vec<Candidate<'b>>,
}

#[derive(Deserialize)]
struct Candidate<'b> {
    #[serde(borrow, default)]
    content: Option<Content<'b>>,
}

#[derive(Deserialize)]
struct Content<'b> {
    #[serde(borrow, default)]
    parts: Vec<CallPart<'b>>,
}

#[derive(Deserialize)]
struct CallPart<'b> {
    #[serde(borrow, default, rename = "functionCall", alias = "function_call")]
    call: Option<FunctionCall<'b>>,
}

#[derive(Deserialize)]
struct FunctionCall<'b> {
    #[serde(borrow, default)]
    args: Option<&'b RawValue>,
}

/// An answer, or a piece of one, that keeps the texts of its arguments.
pub(super) fn with_texts(mut body: Value, bytes: &[u8]) -> Value {
    let texts = serde_json::from_slice::<Answer<'_>>(bytes);
    let texts = texts.map(|answer| answer.candidates).unwrap_or_default();
    let candidates = body.get_mut("candidates").and_then(Value::as_array_mut);
    for (candidate, texts) in candidates.into_iter().flatten().zip(texts) {
        let parts = candidate.pointer_mut("/content/parts");
        let parts = parts.and_then(Value::as_array_mut);
        let texts = texts.content.map(|content| content.parts);
        for (part, text) in parts.into_iter().flatten().zip(texts.unwrap_or_default()) {
            let args = text.call.and_then(|call| call.args);
            let keys = ["functionCall", "function_call"];
            let key = keys.into_iter().find(|key| part.get(key).is_some());
            // A part that is kept as it is stays as it is.
            let is_kept = part["thought"] == true;
            if let (Some(key), Some(args), false) = (key, args, is_kept) {
                part[key][ARGS_TEXT] = args.get().into();
            }
        }
    }
    body
}
