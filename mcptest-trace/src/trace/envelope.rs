//! What target paths start from, made of what was recorded when it is first asked for.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::digest::Digest;
use super::json::{self as text_json, Json, Object};
use super::{ReadOnlyTools, Tokens, Trace};

/// What a run was read from, and the envelope that is made of it.
#[derive(Clone)]
pub(super) struct Recorded {
    /// The JSON text of the run, which was parsed before; empty where the envelope was given.
    text: Arc<[u8]>,
    /// The same for all runs that are equal in every value, and different for most others.
    mark: u64,
    envelope: OnceLock<Value>,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Recorded");
        shown.field("bytes", &self.text.len());
        shown
            .field("envelope", &self.envelope.get())
            .finish_non_exhaustive()
    }
}

impl Recorded {
    /// A run that was read from a text, which holds this.
    pub(super) fn read(text: &[u8], map: &Object<'_>) -> Self {
        Self {
            text: text.into(),
            mark: mark(map),
            envelope: OnceLock::new(),
        }
    }

    /// A run with this envelope.
    pub(super) fn made(envelope: Value) -> Self {
        Self {
            text: Arc::default(),
            mark: 0,
            envelope: envelope.into(),
        }
    }

    /// The envelope, made of the whole recording where it was not yet.
    pub(super) fn envelope(&self, make: impl FnOnce(Map<String, Value>) -> Value) -> &Value {
        self.envelope.get_or_init(|| match self.value() {
            Value::Object(map) => make(map),
            other => other,
        })
    }

    /// Whether two runs may be equal in every value; where this is not so, they are not.
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    /// What is equal for runs that are equal in every value, and for no others.
    pub(super) fn digest(&self) -> Digest {
        Digest::of_value(&self.value())
    }

    /// The text that the run was read from.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn value(&self) -> Value {
        let text = without_mark_of_order(&self.text);
        text_json::parse(text).map_or(Value::Null, |parsed| parsed.value.into_value())
    }
}

/// A text without the mark of byte order that some editors write before it.
pub(super) fn without_mark_of_order(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// When it was recorded, what was said last, and how much was done: read off without a look at the
/// bulk of it.
fn mark(map: &Object<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let trace = map.get("trace").and_then(Json::as_object);
    let in_trace = |key: &str| trace.and_then(|trace| trace.get(key));
    for text in [map.get("recorded_at"), in_trace("final_response")] {
        text.and_then(Json::as_str).hash(&mut hasher);
    }
    for list in ["tool_calls", "tool_results"] {
        let list = in_trace(list).and_then(Json::as_list);
        list.map(<[_]>::len).hash(&mut hasher);
    }
    hasher.finish()
}

/// The root of an agent's targets, of the whole recording.
pub(super) fn of(mut map: Map<String, Value>, trace: &Trace, tools: &ReadOnlyTools) -> Value {
    let mut root = match map.remove("trace") {
        Some(Value::Object(trace)) => trace,
        _ => Map::new(),
    };
    for key in ["outcome", "signals"] {
        if let Some(value) = map.remove(key) {
            root.insert(key.to_owned(), value);
        }
    }
    fill_in(&mut root, trace);
    let names: Vec<&str> = trace
        .tool_calls
        .iter()
        .map(|call| call.name.as_str())
        .collect();
    root.insert("tool_names".to_owned(), json!(names));
    root.insert(
        "redundant_tool_calls".to_owned(),
        json!(trace.redundant_among(tools)),
    );
    root.insert("truncated".to_owned(), json!(trace.truncated()));
    Value::Object(root)
}

/// Writes down what the recording says in another place.
fn fill_in(root: &mut Map<String, Value>, trace: &Trace) {
    let calls = root.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten().filter_map(Value::as_object_mut) {
        if call.get("args").is_none_or(Value::is_null) {
            call.insert("args".to_owned(), json!({}));
        }
    }
    let results = root.get_mut("tool_results").and_then(Value::as_array_mut);
    for (written, result) in results.into_iter().flatten().zip(&trace.tool_results) {
        if let Some(written) = written.as_object_mut()
            && result.is_error
        {
            written.insert("is_error".to_owned(), true.into());
        }
    }
    let conversation = root.get_mut("conversation").and_then(Value::as_object_mut);
    let Some(conversation) = conversation else {
        return;
    };
    let Tokens {
        prompt,
        completion,
        total,
    } = trace.conversation.tokens;
    let count = |name: &str| conversation.get("tokens")?.get(name)?.as_f64();
    let counted = ["prompt", "completion", "total"]
        .iter()
        .any(|name| count(name).is_some_and(|count| count > 0.0));
    if !counted && total > 0 {
        let tokens = json!({ "prompt": prompt, "completion": completion, "total": total });
        conversation.insert("tokens".to_owned(), tokens);
    }
}
