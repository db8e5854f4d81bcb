//! Which arguments of a call will be the same the next time.
//!
//! Seen in one run: what the user, the system prompt or an earlier lookup said, and short words. Not what the
//! agent words itself, what an earlier change made (the identifier of a new order), what looks generated, and
//! the day of the recording. Where several runs agree on an argument, that is shown too, but for the day.

use std::collections::{BTreeSet, HashMap};

use mcptest::eval::{ArgsShape, Schema};
use mcptest::trace::Run;
use serde_json::{Map, Value, json};

use super::plan::Write;

/// The most values of an argument, and combinations of them, that are told apart.
const VARIANTS: usize = 4;

/// A text of so many words is the agent's own, unless its words, or the whole of a longer one, stand before.
const PROSE: usize = 3;
const LONG: usize = 6;

/// A word of so many characters, letters and digits among them, is generated, unless it stands before.
const GENERATED: usize = 16;

/// How much of what was said and looked up is searched for whole texts, in bytes.
const SEARCHED: usize = 1 << 20;

/// What a run knows so far.
pub(super) struct Known {
    /// The day of the recording, unless somebody said it.
    day: Option<String>,
    /// Words, and whether a change made them.
    words: HashMap<String, bool>,
    /// What was said and looked up.
    texts: String,
}

/// Whether an argument stays as it is, as far as its run tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stays {
    /// It holds the day of the recording.
    Never,
    /// Only where other runs have the same.
    IfShared,
    Yes,
}

impl Known {
    pub(super) fn new(run: &Run, day: Option<&str>) -> Self {
        let mut known = Self {
            day: None,
            words: HashMap::new(),
            texts: String::new(),
        };
        let turns = &run.trace.conversation.turns;
        let user = turns.iter().filter(|turn| turn.role == "user");
        let said = user.map(|turn| turn.content.as_str());
        for text in [run.user_prompt.as_str(), &run.system_prompt]
            .into_iter()
            .chain(said)
        {
            known.learn(text, false);
        }
        known.day = day
            .filter(|day| !known.words.contains_key(*day))
            .map(str::to_owned);
        known
    }

    /// Takes the result of a call into account.
    pub(super) fn add(&mut self, result: &Value, is_change: bool) {
        match result {
            Value::String(text) => self.learn(text, is_change),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, is_change)),
            Value::Object(entries) => entries.values().for_each(|item| self.add(item, is_change)),
            Value::Number(number) => self.learn(&number.to_string(), is_change),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn learn(&mut self, text: &str, is_change: bool) {
        for word in words(text) {
            self.words.entry(word.to_owned()).or_insert(is_change);
        }
        if !is_change && self.texts.len() + text.len() <= SEARCHED {
            self.texts.push_str(text);
            self.texts.push('\n');
        }
    }

    pub(super) fn stays(&self, value: &Value) -> Stays {
        let least = |values: &mut dyn Iterator<Item = &Value>| {
            values
                .map(|value| self.stays(value))
                .min()
                .unwrap_or(Stays::Yes)
        };
        match value {
            Value::String(text) => self.text_stays(text),
            Value::Array(items) => least(&mut items.iter()),
            Value::Object(entries) => least(&mut entries.values()),
            Value::Number(_) | Value::Bool(_) | Value::Null => Stays::Yes,
        }
    }

    fn text_stays(&self, text: &str) -> Stays {
        if self.day.as_ref().is_some_and(|day| text.starts_with(day)) {
            return Stays::Never;
        }
        let count = text.split_whitespace().count();
        let stays = count >= LONG && self.texts.contains(text)
            || count < LONG
                && words(text).all(|word| match self.words.get(word) {
                    Some(is_change) => !is_change,
                    None => count < PROSE && !is_generated(word),
                });
        if stays { Stays::Yes } else { Stays::IfShared }
    }
}

/// Words, with the signs that identifiers and dates have.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    words.filter(|word| !word.is_empty())
}

fn is_generated(word: &str) -> bool {
    let has = |kind: fn(char) -> bool| word.contains(kind);
    word.len() >= GENERATED && has(char::is_alphabetic) && has(char::is_numeric)
}

/// The arguments of a call by whether they stay.
pub(super) fn staying(known: &Known, args: &Value) -> HashMap<String, Stays> {
    let entries = args.as_object().into_iter().flatten();
    entries
        .map(|(key, value)| (key.clone(), known.stays(value)))
        .collect()
}

/// What all of some calls have in their arguments: each argument on which they agree; of those that stay and
/// differ, the few combinations that there are.
pub(super) fn shape(calls: &[&Write<'_>]) -> ArgsShape<Schema> {
    let objects: Option<Vec<&Map<String, Value>>> = calls
        .iter()
        .map(|write| write.call.args.as_object())
        .collect();
    let Some(objects) = objects else {
        return ArgsShape::Any;
    };
    let keys: BTreeSet<&String> = objects.iter().flat_map(|args| args.keys()).collect();
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut varied = Vec::new();
    let mut is_open = false;
    for key in keys {
        let values: Vec<&Value> = objects.iter().filter_map(|args| args.get(key)).collect();
        let asked = if values.len() == calls.len() {
            required.push(json!(key));
            values_of(&values, calls.iter().map(|write| write.stays[key]).min())
        } else {
            json!({})
        };
        if asked.get("enum").is_some() {
            varied.push(key);
        } else {
            is_open |= asked.get("const").is_none();
        }
        properties.insert(key.clone(), asked);
    }
    let of_varied = |args: &&Map<String, Value>| -> Map<String, Value> {
        let entries = varied
            .iter()
            .map(|key| ((*key).clone(), args[*key].clone()));
        entries.collect()
    };
    let variants = distinct(objects.iter().map(of_varied));
    let few = variants.len() <= VARIANTS;
    if !is_open && few {
        let whole = distinct(objects.iter().map(|args| Value::Object((*args).clone())));
        return match whole.as_slice() {
            [args] => ArgsShape::Exact(args.clone()),
            all => ArgsShape::Schema(Schema::new(json!({ "enum": all }))),
        };
    }
    let mut schema = json!({ "required": required, "additionalProperties": false });
    if few && varied.len() > 1 {
        // What one run has of one argument does not go with what another has of the next.
        let hold = |variant: &Map<String, Value>| {
            let entries = variant.iter();
            let entries = entries.map(|(key, value)| (key.clone(), json!({ "const": value })));
            json!({ "properties": entries.collect::<Map<_, _>>() })
        };
        schema["anyOf"] = variants.iter().map(hold).collect();
        for key in varied {
            properties[key] = json!({});
        }
    }
    schema["properties"] = properties.into();
    ArgsShape::Schema(Schema::new(schema))
}

/// Each of some values once.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// What is asked of an argument that every call has.
fn values_of(values: &[&Value], stays: Option<Stays>) -> Value {
    match (distinct(values.iter()).as_slice(), stays) {
        ([value], Some(Stays::Yes)) => json!({ "const": value }),
        ([value], Some(Stays::IfShared)) if values.len() > 1 => json!({ "const": value }),
        (seen, Some(Stays::Yes)) if seen.len() <= VARIANTS => json!({ "enum": seen }),
        _ => json!({ "type": kind(values) }),
    }
}

/// The type of values, where they have one.
fn kind(values: &[&Value]) -> Value {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds: BTreeSet<&str> = values.iter().map(|value| kind(value)).collect();
    match kinds.first() {
        Some(kind) if kinds.len() == 1 => json!(kind),
        _ => json!(kinds),
    }
}
