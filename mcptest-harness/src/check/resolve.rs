//! Following a target path through a recorded value.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use mcptest_suite::model::{Segment, Target};
use mcptest_suite::{nearest, quoted_list};
use serde_json::Value;

/// Why a path leads nowhere: the first step that is missing, and what is there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresolved {
    /// The path up to the missing step; empty at the root.
    pub parent: String,
    /// The missing step.
    pub missing: String,
    /// What is there, in words.
    pub present: String,
    /// The nearest thing that is there.
    pub nearest: Option<String>,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            parent,
            missing,
            present,
            ..
        } = self;
        match parent.as_str() {
            "" => write!(f, "there is no `{missing}`: {present}"),
            parent => write!(f, "`{parent}` has no `{missing}`: {present}"),
        }
    }
}

/// The value at a path.
///
/// `tool_results[n]` is the result of `tool_calls[n]`, wherever it stands in the list: of several the latest,
/// unless one of them is an error, then the latest error. A negative index counts from the last call that has one.
///
/// `agents` is a list, and `agents.NAME` is the sub-agent of that name in it.
///
/// `scores` is one too, and `scores.NAME` is the value of the score of that name, or the list of those values where
/// several have it.
///
/// `[*]` collects what the rest of the path finds in each element into a list. Elements that lack
/// it are left out; a list that is not empty and in which no element has it does not resolve, also
/// where lists without elements lie beside it. A key `length` that an object does not have itself counts a list's elements, an object's keys or a
/// text's characters.
///
/// # Errors
///
/// The first step that is missing and what is there.
///
/// ```
/// use mcptest::check::resolve;
/// use mcptest_suite::{Span, model::Target};
/// use serde_json::json;
///
/// let trace = json!({ "tool_calls": [{ "name": "search" }, { "name": "fetch" }] });
/// let target = Target::parse("tool_calls[*].name", Span::default()).unwrap();
/// assert_eq!(*resolve(&target, &trace).unwrap(), json!(["search", "fetch"]));
///
/// let typo = Target::parse("tool_calls[0].nmae", Span::default()).unwrap();
/// let missing = resolve(&typo, &trace).unwrap_err();
/// assert_eq!(missing.to_string(), "`tool_calls[0]` has no `nmae`: it has `name`");
/// ```
pub fn resolve<'v>(target: &Target, root: &'v Value) -> Result<Cow<'v, Value>, Unresolved> {
    match walk(target, 0, root) {
        Ok(reached) => Ok(reached.value),
        Err(missing) => Err(missing.unresolved),
    }
}

/// What a path led to.
struct Reached<'v> {
    value: Cow<'v, Value>,
    /// How many steps were taken somewhere: all of them, or those up to a list without elements.
    steps: usize,
}

/// A step that leads nowhere.
struct Missing {
    step: usize,
    unresolved: Unresolved,
}

fn walk<'v>(target: &Target, step: usize, value: &'v Value) -> Result<Reached<'v>, Missing> {
    let reached = |value| Reached {
        value,
        steps: target.segments.len(),
    };
    let nowhere = || {
        Err(Missing {
            step,
            unresolved: unresolved(target, step, value),
        })
    };
    let Some(segment) = target.segments.get(step) else {
        return Ok(reached(Cow::Borrowed(value)));
    };
    match (segment, value) {
        (Segment::Every, Value::Array(items)) => resolve_each(target, step, items),
        (Segment::Index(index), Value::Array(items)) => {
            let item = match result_of_call(target, step, *index, items) {
                Some(result) => result,
                None => resolve_index(*index, items.len()).and_then(|place| items.get(place)),
            };
            match item {
                Some(item) => walk(target, step + 1, item),
                None => nowhere(),
            }
        }
        (Segment::Key(key), Value::Object(map)) if map.contains_key(key) => {
            walk(target, step + 1, &map[key])
        }
        (Segment::Key(name), Value::Array(scores))
            if is_score_step(target, step) && name != "length" =>
        {
            let mut found = Vec::new();
            for score in scores.iter().filter(|score| score["name"] == name.as_str()) {
                found.push(match target.segments.get(step + 1) {
                    None => Cow::Borrowed(&score["value"]),
                    Some(_) => walk(target, step + 1, score)?.value,
                });
            }
            match found.len() {
                0 => nowhere(),
                1 => Ok(reached(found.remove(0))),
                _ => {
                    let found = found.into_iter().map(Cow::into_owned);
                    Ok(reached(Cow::Owned(found.collect())))
                }
            }
        }
        (Segment::Key(key), Value::Array(agents))
            if is_agent_step(target, step) && key != "length" =>
        {
            let mut agents = agents.iter();
            match agents.find(|agent| agent["agent_id"] == key.as_str()) {
                Some(agent) => walk(target, step + 1, agent),
                None => nowhere(),
            }
        }
        (Segment::Key(key), _) if key == "length" && step + 1 == target.segments.len() => {
            match length(value) {
                Some(length) => Ok(reached(Cow::Owned(length.into()))),
                None => nowhere(),
            }
        }
        _ => nowhere(),
    }
}

/// Whether a step leads from the list of scores, which have names.
fn is_score_step(target: &Target, step: usize) -> bool {
    step == 1 && matches!(&target.segments[0], Segment::Key(key) if key == "scores")
}

/// Whether a path leads to what all scores of one name say.
pub(crate) fn leads_to_scores(target: &Target) -> bool {
    let named = matches!(target.segments.get(1), Some(Segment::Key(key)) if key != "length");
    named && is_score_step(target, 1)
}

/// Whether a step leads from the list of sub-agents, which have names.
fn is_agent_step(target: &Target, step: usize) -> bool {
    step == 1 && matches!(&target.segments[0], Segment::Key(key) if key == "agents")
}

/// The place of an index in a list of so many.
fn resolve_index(index: i64, of: usize) -> Option<usize> {
    usize::try_from(index).ok().or_else(|| {
        let back = usize::try_from(index.unsigned_abs()).ok()?;
        of.checked_sub(back)
    })
}

/// The result of a call, or that there is none; nothing where the list is not that of a trace's results.
fn result_of_call<'v>(
    target: &Target,
    step: usize,
    index: i64,
    items: &'v [Value],
) -> Option<Option<&'v Value>> {
    if step != 1 || !matches!(&target.segments[0], Segment::Key(key) if key == "tool_results") {
        return None;
    }
    let call_of = |item: &Value| usize::try_from(item.get("call_index")?.as_u64()?).ok();
    let calls: Vec<usize> = items.iter().map(call_of).collect::<Option<_>>()?;
    let mut answered = calls.clone();
    answered.sort_unstable();
    answered.dedup();
    let call = match usize::try_from(index) {
        Ok(call) => Some(call),
        Err(_) => resolve_index(index, answered.len()).map(|place| answered[place]),
    };
    let of_call = || {
        let pairs = items.iter().zip(&calls).rev();
        pairs
            .filter(|(_, of)| Some(**of) == call)
            .map(|(item, _)| item)
    };
    let error = of_call().find(|item| item["is_error"] == true);
    Some(error.or_else(|| of_call().next()))
}

/// What the rest of the path finds in each element. A step that some element has and that leads
/// nowhere in all of them is missing; lists without elements say nothing of the steps behind them.
fn resolve_each<'v>(
    target: &Target,
    step: usize,
    items: &'v [Value],
) -> Result<Reached<'v>, Missing> {
    let mut values = Vec::with_capacity(items.len());
    let mut steps = step;
    let mut deepest: Option<Missing> = None;
    for item in items {
        match walk(target, step + 1, item) {
            Ok(reached) => {
                steps = steps.max(reached.steps);
                values.push(reached.value.into_owned());
            }
            Err(missing) => {
                if deepest
                    .as_ref()
                    .is_none_or(|known| missing.step > known.step)
                {
                    deepest = Some(missing);
                }
            }
        }
    }
    match deepest {
        Some(missing) if missing.step > steps => Err(missing),
        _ => Ok(Reached {
            value: Cow::Owned(Value::Array(values)),
            steps,
        }),
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) => Some(items.len()),
        Value::Object(map) => Some(map.len()),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    }
}

fn unresolved(target: &Target, step: usize, value: &Value) -> Unresolved {
    let segment = &target.segments[step];
    let mut keys: Vec<&str> = match value {
        Value::Object(map) => map.keys().map(String::as_str).collect(),
        Value::Array(agents) if is_agent_step(target, step) => {
            let names = agents.iter().map(|agent| agent["agent_id"].as_str());
            names.flatten().collect()
        }
        Value::Array(scores) if is_score_step(target, step) => {
            let names = scores.iter().map(|score| score["name"].as_str());
            names.flatten().collect()
        }
        _ => Vec::new(),
    };
    keys.sort_unstable();
    keys.dedup();
    let present = match value {
        Value::Object(_) if keys.is_empty() => "it is an empty object".to_owned(),
        Value::Object(_) => format!("it has {}", list_keys(&keys)),
        Value::Array(items) => match (items.len(), segment) {
            (0, _) => "it is an empty list".to_owned(),
            (_, Segment::Key(_)) if !keys.is_empty() => format!("it has {}", list_keys(&keys)),
            (_, Segment::Index(index)) if result_of_call(target, step, *index, items).is_some() => {
                let calls = items.iter().filter_map(|item| item["call_index"].as_u64());
                let calls: BTreeSet<String> = calls.map(|call| format!("[{call}]")).collect();
                format!(
                    "it has the results of the calls {}",
                    quoted_list(calls.iter().map(String::as_str))
                )
            }
            (1, Segment::Index(_)) => "it has one element, `[0]`".to_owned(),
            (many, Segment::Index(_)) => {
                format!("it has {many} elements, `[0]` to `[{}]`", many - 1)
            }
            (many, _) => format!("it is a list of {many}; use `[0]`, `[*]` or `.length`"),
        },
        Value::String(_) => "it is text".to_owned(),
        Value::Null => "it is null".to_owned(),
        other => format!("it is {other}"),
    };
    let nearest = match segment {
        Segment::Key(key) => nearest(key, keys).map(|near| {
            let near = Segment::Key(near.to_owned());
            let mut suggestion = target.clone();
            suggestion.segments[step] = near;
            suggestion.prefix(suggestion.segments.len())
        }),
        _ => None,
    };
    Unresolved {
        parent: target.prefix(step),
        missing: segment.to_string(),
        present,
        nearest,
    }
}

/// The keys, at most a dozen.
fn list_keys(keys: &[&str]) -> String {
    const SHOWN: usize = 12;
    let shown = keys
        .iter()
        .copied()
        .take(SHOWN)
        .map(|key| mcptest_suite::escape_line(key));
    let shown: Vec<_> = shown.collect();
    let list = quoted_list(shown.iter().map(AsRef::as_ref));
    match keys.len().saturating_sub(SHOWN) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}
