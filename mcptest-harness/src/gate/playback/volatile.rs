//! Values that change by themselves, such as a time or an id: which these are, and what of the gate's options makes them
//! equal on both sides.

mod spans;

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Map, Value};

use super::options::hides_all;
use crate::eval::{Divergence, DivergenceKind, IgnoredPath, PlaybackOptions};
use mcptest_trace::text::shorten;
use spans::{Span, find_spans};

/// The most bytes of a value that is shown.
const SHOWN: usize = 60;

/// What changes by itself, and what would make it stable.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct VolatileValues {
    /// A line each: where, what it was, what it is.
    lines: Vec<String>,
    mask: Vec<String>,
    ignore_paths: Vec<String>,
    /// Whether nothing else differs.
    pub(super) is_all: bool,
}

/// A value that differs, as it is told.
struct Differing {
    path: String,
    old: String,
    new: String,
}

/// What a difference needs to be none.
#[derive(Default)]
struct Remedy {
    mask: BTreeSet<String>,
    ignore_paths: BTreeSet<String>,
    differing: Vec<Differing>,
}

impl VolatileValues {
    /// Finds the values that change by themselves, in all divergences. `is_new`: the recordings are of this moment
    /// and this code, so that whatever differs changes by itself; else only what looks like a time or an id.
    pub(super) fn find<'d>(
        divergences: impl IntoIterator<Item = &'d Divergence>,
        is_new: bool,
    ) -> Option<Self> {
        let mut all = Self {
            is_all: true,
            ..Self::default()
        };
        for divergence in divergences {
            let found =
                find_remedy(divergence, is_new).filter(|found| makes_equal(found, divergence));
            let Some(found) = found else {
                all.is_all = false;
                continue;
            };
            add_missing(&mut all.mask, found.mask);
            add_missing(&mut all.ignore_paths, found.ignore_paths);
            add_missing(&mut all.lines, found.differing.iter().map(Differing::line));
        }
        let masks: Vec<Regex> = compile_masks(&all.mask)?;
        (!all.lines.is_empty() && !hides_all(&masks)).then_some(all)
    }

    /// The lines about the values, and the options to write. `options`: what the suite says already.
    pub(super) fn advice(&self, options: &PlaybackOptions, is_new: bool) -> Vec<String> {
        let title = if is_new {
            "the recording is of a moment ago, so these values change by themselves:"
        } else {
            "these values look new in every run:"
        };
        let list = |key: &str, own: Vec<String>, new: &[String]| {
            let mut items = own;
            items.extend(new.iter().cloned());
            let quoted = items
                .iter()
                .map(|item| format!("'{}'", item.replace('\'', "''")));
            let quoted = quoted.collect::<Vec<_>>().join(", ");
            (!new.is_empty()).then(|| format!("{key}: [{quoted}]"))
        };
        let paths = options.ignore_paths.iter().map(ToString::to_string);
        let keys = [
            list("mask", options.mask.clone(), &self.mask),
            list("ignore_paths", paths.collect(), &self.ignore_paths),
        ];
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        let mut lines = vec![title.to_owned()];
        lines.extend(self.lines.iter().map(|line| format!("- {line}")));
        lines.push(format!(
            "to leave them out of the comparison, write: playback: {{ {} }}",
            keys.join(", ")
        ));
        lines
    }
}

/// Whether a mask or a path could make a difference none.
pub(super) fn is_of_values(divergence: &Divergence) -> bool {
    divergence.kind.may_be_ignored() && divergence.recorded.is_some() && divergence.played.is_some()
}

fn add_missing(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

fn compile_masks(masks: &[String]) -> Option<Vec<Regex>> {
    masks.iter().map(|mask| Regex::new(mask).ok()).collect()
}

impl Differing {
    fn line(&self) -> String {
        let [old, new] = [&self.old, &self.new].map(|text| shorten(text, SHOWN));
        format!("`{}`: `{old}`, now `{new}`", self.path)
    }
}

fn find_remedy(divergence: &Divergence, is_new: bool) -> Option<Remedy> {
    if !is_of_values(divergence) {
        return None;
    }
    let mut found = Remedy::default();
    let (old, new) = (divergence.recorded.as_ref()?, divergence.played.as_ref()?);
    let mut path = Path::from_divergence(divergence);
    collect(old, new, &mut path, is_new, &mut found)?;
    Some(found)
}

/// Where a value stands.
struct Path {
    /// The path of the list in which the divergence is, for every item of it.
    root: String,
    /// Whether the gate ignores paths below it.
    may_be_ignored: bool,
    keys: Vec<String>,
}

impl Path {
    fn from_divergence(divergence: &Divergence) -> Self {
        let kind = divergence.kind.as_str();
        let is_list = matches!(
            divergence.kind,
            DivergenceKind::ToolResults
                | DivergenceKind::AssistantTurns
                | DivergenceKind::UserTurns
                | DivergenceKind::Tools
        );
        // Only a whole item has the keys that a path goes on with.
        let is_item = is_list
            && divergence.path.strip_prefix(kind).is_some_and(|rest| {
                rest.starts_with('[') && rest.find(']') == Some(rest.len() - 1)
            });
        Self {
            root: if is_item {
                format!("{kind}[*]")
            } else {
                divergence.path.clone()
            },
            may_be_ignored: is_item,
            keys: Vec::new(),
        }
    }

    fn display(&self) -> String {
        self.root.clone() + &self.keys.concat()
    }

    /// The path as an option, where it leads to a value below an item.
    fn to_option(&self) -> Option<String> {
        let shown = self.display();
        let is_option = self.may_be_ignored && !self.keys.is_empty();
        (is_option && shown.parse::<IgnoredPath>().is_ok()).then_some(shown)
    }
}

/// A key as a step of a path.
fn path_step(key: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    if !key.is_empty() && key.chars().all(is_plain) {
        format!(".{key}")
    } else {
        format!("[\"{key}\"]")
    }
}

/// What makes two values equal; nothing where they differ in more than values that change by themselves.
fn collect(
    old: &Value,
    new: &Value,
    path: &mut Path,
    is_new: bool,
    found: &mut Remedy,
) -> Option<()> {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(old), Value::Object(new)) => {
            for (key, old, new) in matching_members(old, new)? {
                path.keys.push(path_step(key));
                collect(old, new, path, is_new, found)?;
                path.keys.pop();
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (old, new) in old.iter().zip(new) {
                path.keys.push("[*]".to_owned());
                collect(old, new, path, is_new, found)?;
                path.keys.pop();
            }
        }
        (Value::String(old), Value::String(new)) => {
            let spans = find_spans(old, new, is_new)?;
            let is_whole = matches!(&spans[..], [one] if one.old == *old && one.new == *new);
            let option = path.to_option().filter(|_| is_whole);
            for Span { old, new, mask } in spans {
                match (&option, mask) {
                    (Some(option), _) => _ = found.ignore_paths.insert(option.clone()),
                    (None, Some(mask)) => _ = found.mask.insert(mask),
                    (None, None) => return None,
                }
                let path = path.display();
                found.differing.push(Differing { path, old, new });
            }
        }
        (Value::Number(old), Value::Number(new)) if is_new => {
            found.ignore_paths.insert(path.to_option()?);
            found.differing.push(Differing {
                path: path.display(),
                old: old.to_string(),
                new: new.to_string(),
            });
        }
        _ => return None,
    }
    Some(())
}

/// The members of two objects with the same keys.
fn matching_members<'v>(
    old: &'v Map<String, Value>,
    new: &'v Map<String, Value>,
) -> Option<Vec<(&'v String, &'v Value, &'v Value)>> {
    let both = old
        .iter()
        .map(|(key, value)| Some((key, value, new.get(key)?)));
    let mut both: Vec<_> = both.collect::<Option<_>>()?;
    // A build may keep the order of keys.
    both.sort_by_key(|(key, ..)| *key);
    (both.len() == new.len()).then_some(both)
}

/// Whether the options really make a difference none.
fn makes_equal(found: &Remedy, divergence: &Divergence) -> bool {
    let (Some(old), Some(new)) = (&divergence.recorded, &divergence.played) else {
        return false;
    };
    let masks: Vec<String> = found.mask.iter().cloned().collect();
    let Some(masks) = compile_masks(&masks) else {
        return false;
    };
    let paths = found.ignore_paths.iter().map(|path| path.parse());
    let Ok(paths) = paths.collect::<Result<Vec<IgnoredPath>, _>>() else {
        return false;
    };
    let without = |value: &Value| {
        let mut value = value.clone();
        for path in &paths {
            // Every item is meant, whichever this is.
            path.remove(divergence.kind, "0", &mut value);
        }
        blank(&mut value, &masks);
        value
    };
    without(old) == without(new)
}

fn blank(value: &mut Value, masks: &[Regex]) {
    match value {
        Value::String(text) => {
            for mask in masks {
                *text = mask.replace_all(text, "\u{0}").into_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| blank(item, masks)),
        Value::Object(map) => map.values_mut().for_each(|item| blank(item, masks)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn divergence(kind: DivergenceKind, path: &str, old: Value, new: Value) -> Divergence {
        Divergence::new(kind, (1, 2), path, "differs").with_values(Some(old), Some(new))
    }

    fn advice(one: &Divergence, is_new: bool) -> Option<Vec<String>> {
        let changing = VolatileValues::find([one], is_new)?;
        assert!(changing.is_all);
        Some(changing.advice(&PlaybackOptions::suite_default(), is_new))
    }

    #[test]
    fn a_value_below_a_result_is_left_out_by_its_path_and_a_text_by_a_mask() {
        let result = |id: &str, at: f64, note: &str| json!({ "orders": [{ "id": id, "took.ms": at }], "note": note });
        let one = divergence(
            DivergenceKind::ToolResults,
            "tool_results[3]",
            result("RF-1841", 12.5, "looked up at 07:54:09 by 4"),
            result("RF-9207", 13.0, "looked up at 07:55:10 by 4"),
        );
        assert_eq!(
            advice(&one, true).unwrap(),
            [
                "the recording is of a moment ago, so these values change by themselves:",
                "- `tool_results[*].note`: `07:54:09`, now `07:55:10`",
                "- `tool_results[*].orders[*].id`: `RF-1841`, now `RF-9207`",
                "- `tool_results[*].orders[*][\"took.ms\"]`: `12.5`, now `13.0`",
                "to leave them out of the comparison, write: playback: { mask: ['\\b\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?'], \
                 ignore_paths: ['tool_results[*].orders[*].id', 'tool_results[*].orders[*][\"took.ms\"]'] }",
            ]
        );
        // Later the code may have changed: a number may be a wrong one.
        assert_eq!(advice(&one, false), None);
        // Another field is no value that changes.
        let other = divergence(
            DivergenceKind::ToolResults,
            "tool_results[3]",
            json!({ "id": "RF-1841", "status": "paid" }),
            json!({ "id": "RF-9207", "status": "open" }),
        );
        assert_eq!(advice(&other, true), None);
    }

    #[test]
    fn what_is_written_already_stays_and_the_rest_is_told_as_such() {
        let time = divergence(
            DivergenceKind::SystemPrompt,
            "system_prompt",
            json!("You are a clerk. It is 2026-03-05T10:00:01Z."),
            json!("You are a clerk. It is 2026-03-05T10:00:09Z."),
        );
        let word = divergence(
            DivergenceKind::UserTurns,
            "user_turns[0]",
            json!("Refund 7."),
            json!("Cancel 7."),
        );
        let changing = VolatileValues::find([&time, &word], false).unwrap();
        assert!(!changing.is_all);
        let mut options = PlaybackOptions::suite_default();
        options.mask.push("it's".to_owned());
        let last = changing.advice(&options, false).pop().unwrap();
        assert!(
            last.contains("{ mask: ['it''s', '\\d{4}-\\d{2}-\\d{2}"),
            "{last}"
        );
        assert_eq!(VolatileValues::find([&word], true), None);
    }
}
