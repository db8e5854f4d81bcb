//! Which arguments of a call will be the same the next time.
//!
//! Seen in one run: what the user, the system prompt or an earlier lookup said, and short words. Not what the
//! agent words itself, what an earlier change made (the identifier of a new order), what looks generated, and
//! the day of the recording. Where several runs agree on an argument, that is shown too, but for the day.

use std::collections::{HashMap, HashSet};

use mcptest::trace::Run;
use serde_json::Value;

use mcptest_import::unwrap_json_text;

/// A text of so many words is the agent's own, unless its words, or the whole of a longer one, stand before.
const PROSE: usize = 3;
const LONG: usize = 6;

/// A word of so many characters, letters and digits among them, is generated, unless it stands before.
const GENERATED: usize = 16;

/// How much of what was said and looked up is searched for whole texts, in bytes.
const SEARCHED: usize = 1 << 20;

/// The values that a run was told or looked up so far.
pub(super) struct KnownValues {
    /// The day of the recording, unless somebody said it.
    day: Option<String>,
    /// Words, and whether a change made them.
    words: HashMap<String, bool>,
    /// Words that stood in arguments which stay: a change that repeats them did not make them.
    used: HashSet<String>,
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

impl KnownValues {
    pub(super) fn new(run: &Run, day: Option<&str>) -> Self {
        let mut known = Self {
            day: None,
            words: HashMap::new(),
            used: HashSet::new(),
            texts: String::new(),
        };
        let turns = &run.trace.conversation.turns;
        let user = turns.iter().filter(|turn| turn.role == "user");
        let said = user.map(|turn| turn.content.as_str());
        for text in [run.user_prompt.as_str(), &run.system_prompt]
            .into_iter()
            .chain(said)
        {
            known.add_text(text, false);
        }
        known.day = day
            .filter(|day| !known.words.contains_key(*day))
            .map(str::to_owned);
        known
    }

    /// Takes the arguments of a change into account, before its result.
    pub(super) fn add_arguments(&mut self, args: &Value) {
        let mut used = Vec::new();
        visit_leaves(args, String::new(), &mut |_, leaf| {
            let stays = |text: &&str| self.text_stays(text) == Stays::Yes;
            let text = leaf.as_str().filter(stays).unwrap_or_default();
            used.extend(words(text).map(str::to_owned));
        });
        self.used.extend(used);
    }

    /// Takes the result of a call into account.
    pub(super) fn add(&mut self, result: &Value, is_change: bool) {
        match result {
            Value::String(text) => {
                self.add_text(text, is_change);
                // JSON in a text may spell letters by their numbers: `m\u00f6n`.
                let inner = Some(unwrap_json_text(result)).filter(|_| text.contains("\\u"));
                if let Some(inner @ (Value::Array(_) | Value::Object(_))) = inner {
                    self.add(&inner, is_change);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item, is_change)),
            Value::Object(entries) => entries.values().for_each(|item| self.add(item, is_change)),
            Value::Number(number) => self.add_text(&number.to_string(), is_change),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn add_text(&mut self, text: &str, is_change: bool) {
        for word in words(text) {
            self.words.entry(word.to_owned()).or_insert(is_change);
        }
        if !is_change && self.texts.len() + text.len() <= SEARCHED {
            self.texts.push_str(text);
            self.texts.push('\n');
        }
    }

    /// Which parts of some arguments stay as they are, as far as the run tells until now.
    pub(super) fn leaves(&self, args: &Value) -> Leaves {
        let mut leaves = Leaves::default();
        visit_leaves(args, String::new(), &mut |path, leaf| {
            let stays = match leaf {
                Value::String(text) => self.text_stays(text),
                _ => Stays::Yes,
            };
            leaves.0.insert(path, stays);
        });
        leaves
    }

    /// Whether the run was told a value, or looked it up.
    pub(super) fn knows(&self, value: &Value) -> bool {
        let told = |text: &str| {
            let mut words = words(text).peekable();
            if text.split_whitespace().count() >= LONG {
                self.texts.contains(text)
            } else {
                words.peek().is_some() && words.all(|word| self.words.get(word) == Some(&false))
            }
        };
        let mut has = true;
        visit_leaves(value, String::new(), &mut |_, leaf| {
            has &= match leaf {
                Value::String(text) => told(text),
                Value::Number(number) => told(&number.to_string()),
                _ => false,
            };
        });
        has
    }

    fn text_stays(&self, text: &str) -> Stays {
        if self.day.as_ref().is_some_and(|day| text.starts_with(day)) {
            return Stays::Never;
        }
        let count = text.split_whitespace().count();
        let stays = count >= LONG && self.texts.contains(text)
            || count < LONG
                && words(text).all(|word| match self.words.get(word) {
                    Some(is_change) => !is_change || self.used.contains(word),
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

/// The parts of arguments that have no parts, by their paths, and whether they stay.
#[derive(Debug, Default)]
pub(super) struct Leaves(HashMap<String, Stays>);

impl Leaves {
    /// Whether a part of the arguments stays, with all that is in it.
    pub(super) fn stays(&self, value: &Value, path: &str) -> Stays {
        let mut least = Stays::Yes;
        visit_leaves(value, path.to_owned(), &mut |path, _| {
            least = least.min(self.0.get(&path).copied().unwrap_or(Stays::Yes));
        });
        least
    }

    /// The arguments without what may not stay.
    pub(super) fn stable_part(&self, args: &Value) -> Value {
        self.stable_part_at(args, "").unwrap_or_default()
    }

    fn stable_part_at(&self, value: &Value, path: &str) -> Option<Value> {
        match value {
            Value::Object(entries) => {
                let kept = |(key, value): (&String, &Value)| {
                    Some((
                        key.clone(),
                        self.stable_part_at(value, &child_path(path, key))?,
                    ))
                };
                Some(Value::Object(entries.iter().filter_map(kept).collect()))
            }
            Value::Array(items) => {
                let kept = |(place, item): (usize, &Value)| {
                    self.stable_part_at(item, &child_path(path, &place.to_string()))
                };
                Some(items.iter().enumerate().filter_map(kept).collect())
            }
            leaf => (self.stays(leaf, path) == Stays::Yes).then(|| leaf.clone()),
        }
    }
}

/// The path of a part of a value.
pub(super) fn child_path(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Every part of a value that has no parts, with its path below one.
fn visit_leaves<'v>(value: &'v Value, path: String, each: &mut impl FnMut(String, &'v Value)) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                visit_leaves(value, child_path(&path, key), each);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                visit_leaves(item, child_path(&path, &place.to_string()), each);
            }
        }
        leaf => each(path, leaf),
    }
}

#[cfg(test)]
mod tests {
    use mcptest::trace::{Origin, parse_run};
    use serde_json::json;

    use super::*;

    fn known_after(said: &str) -> KnownValues {
        let run = json!({ "schema_version": "v1", "agent_name": "a", "model": "m", "user_prompt": said,
            "trace": { "tool_calls": [], "tool_results": [], "final_response": "" } });
        let run = parse_run(run.to_string().as_bytes(), &Origin::file("a")).unwrap();
        KnownValues::new(&run, None)
    }

    #[test]
    fn a_change_that_repeats_what_it_was_given_did_not_make_it() {
        let mut known = known_after("warm the driver's seat");
        known.add_arguments(&json!({ "zone": "DRIVER", "note": "a text that is the agent's own" }));
        known.add(
            &json!({ "zone": "DRIVER", "id": "H1", "note": "own" }),
            true,
        );
        assert_eq!(known.text_stays("DRIVER"), Stays::Yes);
        assert_eq!(known.text_stays("H1"), Stays::IfShared);
        assert_eq!(known.text_stays("own"), Stays::IfShared);
    }

    #[test]
    fn letters_that_json_in_a_text_spells_by_numbers_were_looked_up() {
        let mut known = known_after("drive there");
        known.add(&json!(r#"{"id": "rll_m\u00f6n_min_791341"}"#), false);
        assert_eq!(known.text_stays("rll_mön_min_791341"), Stays::Yes);
        assert!(known.knows(&json!("rll_mön_min_791341")));
    }
}
