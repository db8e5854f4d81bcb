//! What target paths start from, made of what was recorded when it is first asked for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::canonical::without_null;
use super::digest::Digest;
use super::json::{Json, Object};
use super::{
    OfferedTool, ReadOnlyTools, RequestSettings, Tokens, ToolResult, Trace, parse, sub_agent,
};

/// A path into an envelope, as far as it is known before the envelope is.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct PathKeys<'a> {
    /// The keys that it leads along.
    keys: Vec<&'a str>,
    /// The item of the list at the first of them, where it leads to one alone: of results the call that is
    /// answered. A negative index counts from the end.
    item: Option<i64>,
}

impl<'a> PathKeys<'a> {
    #[must_use]
    pub fn new(keys: Vec<&'a str>, item: Option<i64>) -> Self {
        Self { keys, item }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn first(&self) -> Option<&'a str> {
        self.keys.first().copied()
    }

    fn second(&self) -> Option<&'a str> {
        self.keys.get(1).copied()
    }

    /// Whether it leads to the result of this call, which is this item of a list of so many, each of another call.
    fn leads_to_result(&self, call: usize, item: usize, of: usize) -> bool {
        let wanted = self.item.and_then(|wanted| usize::try_from(wanted).ok());
        wanted.map_or_else(|| self.leads_to(item, of), |wanted| wanted == call)
    }

    /// Whether it leads to this item of a list of so many.
    fn leads_to(&self, item: usize, of: usize) -> bool {
        self.item.is_none_or(|wanted| {
            let at = usize::try_from(wanted.unsigned_abs()).unwrap_or(usize::MAX);
            if wanted < 0 {
                of.checked_sub(at) == Some(item)
            } else {
                at == item
            }
        })
    }
}

/// What a run was read from, and the envelope that is made of it.
#[derive(Clone, Default)]
pub(super) struct Recorded {
    /// The JSON text of the run, which was parsed before; empty where the run was changed.
    text: Arc<Vec<u8>>,
    /// A number that runs have in common which are equal in every value. Most other runs have another number.
    mark: u64,
    /// Whether every result says itself if it is an error, and not only MCP's `isError` in it.
    says_errors: bool,
    digest: OnceLock<Digest>,
    envelope: OnceLock<Arc<Value>>,
    changed: Option<Arc<Make>>,
}

/// What the computed part of an envelope is made of.
#[derive(Clone, Copy)]
pub(super) struct Parts<'r> {
    pub(super) trace: &'r Trace,
    pub(super) tools: Option<&'r [OfferedTool]>,
}

/// Makes what was recorded of a changed run with this trace, as far as it is wanted.
pub(crate) type Make = dyn Fn(&Trace, Wanted<'_>) -> Map<String, Value> + Send + Sync;

/// Whether a key of an envelope is wanted.
pub(crate) type Wanted<'a> = &'a dyn Fn(&str) -> bool;

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
    pub(super) fn read(text: &Arc<Vec<u8>>, map: &Object<'_>) -> Self {
        Self {
            text: Arc::clone(text),
            mark: mark(map),
            says_errors: says_errors(map),
            ..Self::default()
        }
    }

    /// A run that was changed.
    pub(super) fn changed(make: Arc<Make>) -> Self {
        Self {
            changed: Some(make),
            ..Self::default()
        }
    }

    /// The whole recording.
    pub(super) fn cassette(&self) -> Option<Value> {
        serde_json::from_slice(without_mark_of_order(&self.text)).ok()
    }

    /// Whether the recording has all of these keys.
    pub(super) fn has_keys(&self, keys: &[&str]) -> bool {
        let text = without_mark_of_order(&self.text);
        let members = serde_json::from_slice::<HashMap<String, &RawValue>>(text);
        members.is_ok_and(|members| keys.iter().all(|key| members.contains_key(*key)))
    }

    /// What the recording says of its first request beside the talk.
    pub(super) fn request_settings(&self) -> Option<RequestSettings> {
        RequestSettings::from_text(without_mark_of_order(&self.text))
    }

    /// The envelope of this run, made where it was not yet.
    pub(super) fn envelope(&self, run: Parts<'_>) -> &Arc<Value> {
        let made = || Arc::new(self.build(run, None));
        self.envelope.get_or_init(made)
    }

    /// The envelope of this run as far as it lies along these paths of keys, unless all of it was made.
    pub(super) fn envelope_for(&self, run: Parts<'_>, paths: &[PathKeys<'_>]) -> Cow<'_, Value> {
        match self.envelope.get() {
            Some(envelope) => Cow::Borrowed(envelope),
            None => Cow::Owned(self.build(run, Some(paths))),
        }
    }

    /// The envelope: of a changed run its own, else of the typed trace where that can tell all that is
    /// wanted, else of the text.
    fn build(&self, run: Parts<'_>, paths: Option<&[PathKeys<'_>]>) -> Value {
        let leads = |path: &PathKeys<'_>, key: &str| path.first() == Some(key);
        let wanted =
            |key: &str| paths.is_none_or(|paths| paths.iter().any(|path| leads(path, key)));
        let root = if let Some(make) = &self.changed {
            make(run.trace, &wanted)
        } else {
            let typed = paths.and_then(|paths| typed_for(run.trace, paths, self.says_errors));
            with_trace_values(typed.unwrap_or_else(|| self.root(paths)), run.trace)
        };
        computed(root, run, &wanted)
    }

    /// The root of the targets as it was recorded; where there are paths, as far as it lies along them.
    fn root(&self, paths: Option<&[PathKeys<'_>]>) -> Map<String, Value> {
        let Ok(Json::Object(mut whole)) = self.parsed() else {
            return Map::new();
        };
        let mut root = match whole.take("trace") {
            Some(Json::Object(trace)) => restricted_to(trace, paths),
            _ => Map::new(),
        };
        if let Some(Value::Array(results)) = root.get_mut("tool_results") {
            results.sort_by_key(|result| result["call_index"].as_u64());
        }
        for key in ["outcome", "signals"] {
            if let Some(value) = whole.take(key) {
                root.insert(key.to_owned(), value.into_value());
            }
        }
        root
    }

    /// Whether two runs may be equal in every value; where this is not so, they are not.
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    /// What is equal for runs that are equal in every value, and for no others.
    pub(super) fn digest(&self) -> Digest {
        let whole = || self.parsed().map_or(Value::Null, Json::into_value);
        *self.digest.get_or_init(|| Digest::from_value(&whole()))
    }

    /// The digest without when and on which machine the run was recorded, and without how long it took. A run that
    /// was changed has none.
    pub(super) fn timeless_digest(&self) -> Option<Digest> {
        let mut value = self.parsed().ok()?.into_value();
        let whole = value.as_object_mut()?;
        whole.remove("recorded_at");
        whole.remove("recorded_on");
        let conversation = value.pointer_mut("/trace/conversation");
        if let Some(conversation) = conversation.and_then(Value::as_object_mut) {
            conversation.remove("duration_ms");
        }
        Some(Digest::from_value(&value))
    }

    /// The text that the run was read from.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn parsed(&self) -> Result<Json<'_>, serde_json::Error> {
        let text = without_mark_of_order(&self.text);
        parse::parse(text).map(|parsed| parsed.value)
    }
}

/// What tells the results of different calls, and of one call, apart.
const CHOOSE: [&str; 2] = ["call_index", "is_error"];

/// The lists of a trace whose items are long, and are looked at by key.
const LONG: [&str; 2] = ["tool_calls", "tool_results"];

/// The root of the targets as far as it lies along these paths, of the typed trace; nothing where a path
/// leads to what that holds otherwise than it was written, or where it cannot tell whether it was written.
fn typed_for(
    trace: &Trace,
    paths: &[PathKeys<'_>],
    says_errors: bool,
) -> Option<Map<String, Value>> {
    let (calls, results) = (&trace.tool_calls, &trace.tool_results);
    let mut along = Map::new();
    for path in paths {
        let (list, key) = match (path.first()?, path.second()) {
            // Made of the typed trace anyway.
            (key, _) if COMPUTED.contains(&key) => continue,
            ("final_response", _) => {
                let text = trace.final_response.as_deref()?;
                along.insert("final_response".to_owned(), text.into());
                continue;
            }
            (list, key) => (list, key?),
        };
        let value: &dyn Fn(usize) -> Value = match (list, key) {
            ("tool_calls", "name") => &|item| json!(calls[item].name),
            ("tool_calls", "args") => &|item| Value::clone(&calls[item].args),
            ("tool_results", "is_error") if says_errors => &|item| json!(results[item].is_error),
            ("tool_results", "result") if results.iter().all(|known| !known.result.is_null()) => {
                &|item| Value::clone(&results[item].result)
            }
            _ => return None,
        };
        let of_results = list == "tool_results";
        let count = if of_results {
            results.len()
        } else {
            calls.len()
        };
        // Which of several results of one call counts depends on more than is asked for.
        let twice = |pair: &[ToolResult]| pair[0].call_index == pair[1].call_index;
        if of_results && results.windows(2).any(twice) {
            return None;
        }
        // Where there is none, the list itself may not have been written.
        if count == 0 {
            return None;
        }
        let items = along.entry(list).or_insert_with(|| {
            let item = |place: usize| match results.get(place) {
                Some(result) if of_results => json!({ "call_index": result.call_index }),
                _ => json!({}),
            };
            (0..count).map(item).collect()
        });
        let items = items.as_array_mut().into_iter().flatten().enumerate();
        for (place, item) in items {
            let leads = if of_results {
                path.leads_to_result(results[place].call_index, place, count)
            } else {
                path.leads_to(place, count)
            };
            if leads {
                item[key] = value(place);
            }
        }
    }
    Some(along)
}

/// A trace without what no path leads through; all of it where there are no paths.
fn restricted_to(trace: Object<'_>, paths: Option<&[PathKeys<'_>]>) -> Map<String, Value> {
    let Some(paths) = paths else {
        return trace.into_map();
    };
    let mut along = Map::new();
    for (key, value) in trace.into_entries() {
        let through = paths.iter().filter(|path| path.first() == Some(&*key));
        let next: Option<Vec<&str>> = through.map(PathKeys::second).collect();
        let value = match (value, next) {
            (_, Some(next)) if next.is_empty() => continue,
            (Json::List(mut items), Some(next)) if LONG.contains(&&*key) => {
                for item in &mut items {
                    if let Json::Object(item) = item {
                        item.retain(|key| next.contains(&key) || CHOOSE.contains(&key));
                    }
                }
                Json::List(items)
            }
            (value, _) => value,
        };
        along.insert(key.into_owned(), value.into_value());
    }
    along
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

/// Whether there are results and each has an `is_error`.
fn says_errors(map: &Object<'_>) -> bool {
    let trace = map.get("trace").and_then(Json::as_object);
    let results = trace.and_then(|trace| trace.get("tool_results")?.as_list());
    let says = |result: &Json<'_>| {
        let stated = result.as_object().and_then(|result| result.get("is_error"));
        stated.is_some_and(|stated| !stated.is_null())
    };
    results.is_some_and(|results| results.iter().all(says))
}

/// What the root of an agent's targets has that is in no recording.
const COMPUTED: [&str; 5] = [
    "tool_names",
    "successful_tool_names",
    "redundant_tool_calls",
    "truncated",
    "agents",
];

/// With what is computed, where it is wanted.
fn computed(mut root: Map<String, Value>, run: Parts<'_>, wanted: Wanted<'_>) -> Value {
    let trace = run.trace;
    let tools = || ReadOnlyTools::new(run.tools.into_iter().flatten(), [], []);
    let computed: [&dyn Fn() -> Option<Value>; COMPUTED.len()] = [
        &|| Some(sub_agent::tool_names(trace)),
        &|| Some(sub_agent::successful_tool_names(trace)),
        &|| Some(json!(trace.redundant_among(&tools()))),
        &|| Some(json!(trace.truncated())),
        &|| sub_agent::targets(trace),
    ];
    for (key, compute) in COMPUTED.into_iter().zip(computed) {
        if let Some(value) = wanted(key).then(compute).flatten() {
            root.insert(key.to_owned(), value);
        }
    }
    Value::Object(root)
}

/// Adds to the recorded root what the typed trace knows from other places of the recording.
fn with_trace_values(mut root: Map<String, Value>, trace: &Trace) -> Map<String, Value> {
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
    if let Some(conversation) = conversation {
        let Tokens {
            prompt,
            completion,
            total,
            cached,
            reasoning,
        } = trace.conversation.tokens;
        let recorded = conversation.get("tokens");
        let counted = |name| recorded.is_some_and(|it| it[name].as_f64() > Some(0.0));
        if total > Some(0) && !["prompt", "completion", "total"].into_iter().any(counted) {
            let tokens = without_null(json!({
                "prompt": prompt, "completion": completion, "total": total,
                "cached": cached, "reasoning": reasoning,
            }));
            conversation.insert("tokens".to_owned(), tokens);
        }
    }
    root
}
