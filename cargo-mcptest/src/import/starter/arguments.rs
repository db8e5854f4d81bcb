//! Which arguments of a call will be the same the next time.
//!
//! Seen in one run: what the user, the system prompt or an earlier lookup said, and short words. Not what the
//! agent words itself, what an earlier change made (the identifier of a new order), what looks generated, and
//! the day of the recording. Where several runs agree on an argument, that is shown too, but for the day.

use std::collections::HashMap;

use mcptest::trace::Run;
use serde_json::Value;

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
