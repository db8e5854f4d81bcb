//! Arguments that a span shows in another form than the model wrote them: within something, or with more among them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::json::unwrap_json_text;
use crate::waiting::Waiting;

/// The keys that the arguments of calls have, for each tool.
#[derive(Debug, Default)]
pub(super) struct ArgumentShapes(HashMap<String, ToolShapes>);

/// The sets of keys of a tool. Each stands under the one of its keys that the fewest sets have.
type ToolShapes = HashMap<String, Vec<Vec<String>>>;

impl ArgumentShapes {
    /// Of calls, each with the name of its tool and its arguments.
    pub(super) fn from_calls<'c>(calls: impl Iterator<Item = (&'c str, &'c Value)>) -> Self {
        let mut sets: HashMap<&str, BTreeSet<Vec<&String>>> = HashMap::new();
        for (tool, args) in calls {
            if let Some(map) = args.as_object().filter(|map| !map.is_empty()) {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                sets.entry(tool).or_default().insert(keys);
            }
        }
        let of_tools = sets.into_iter();
        Self(
            of_tools
                .map(|(tool, sets)| (tool.to_owned(), index_by_rarest(&sets)))
                .collect(),
        )
    }

    /// The first call of a tool that waits and whose arguments may be what a span shows: arguments that are nothing
    /// may be all, others are a part of what is shown, or some members of a part.
    pub(super) fn first_match(
        &self,
        tool: &str,
        shown: &Value,
        waiting: &Waiting,
    ) -> Option<usize> {
        let nothing = [Value::Null, Value::from("")];
        let nothing = nothing
            .iter()
            .filter_map(|args| waiting.first_with(tool, args));
        let mut first = nothing.min();
        let mut look = |args: &Value| {
            let found = waiting.first_with(tool, args);
            first = first.into_iter().chain(found).min();
        };
        let shapes = self.0.get(tool);
        visit_parts(shown, &mut |part| {
            look(part);
            let Some((map, shapes)) = part.as_object().zip(shapes) else {
                return;
            };
            for key in map.keys() {
                let may_be = shapes.get(key).into_iter().flatten();
                may_be
                    .filter_map(|keys| select_members(map, keys))
                    .for_each(|args| look(&args));
            }
        });
        first
    }
}

fn index_by_rarest(sets: &BTreeSet<Vec<&String>>) -> ToolShapes {
    let mut counts: HashMap<&String, usize> = HashMap::new();
    for key in sets.iter().flatten() {
        *counts.entry(key).or_default() += 1;
    }
    let mut by_rarest = ToolShapes::new();
    for keys in sets {
        if let Some(rarest) = keys.iter().min_by_key(|key| counts[**key]) {
            let keys = keys.iter().map(|key| (*key).clone());
            by_rarest
                .entry((*rarest).clone())
                .or_default()
                .push(keys.collect());
        }
    }
    by_rarest
}

/// The members of an object with some keys, if it has them all.
fn select_members(map: &Map<String, Value>, keys: &[String]) -> Option<Value> {
    if keys.len() > map.len() {
        return None;
    }
    let members = keys
        .iter()
        .map(|key| Some((key.clone(), map.get(key)?.clone())));
    members.collect::<Option<Map<_, _>>>().map(Value::Object)
}

/// Every part of a value, and the value. A part that is JSON in a text is what it says.
fn visit_parts(value: &Value, look: &mut dyn FnMut(&Value)) {
    let part = match value {
        Value::String(_) => Cow::Owned(unwrap_json_text(value)),
        other => Cow::Borrowed(other),
    };
    look(&part);
    match &*part {
        Value::Array(items) => items.iter().for_each(|item| visit_parts(item, look)),
        Value::Object(map) => map.values().for_each(|item| visit_parts(item, look)),
        _ => {}
    }
}
