//! Following a target path through a recorded value.

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
            unresolved: missing(target, step, value),
        })
    };
    let Some(segment) = target.segments.get(step) else {
        return Ok(reached(Cow::Borrowed(value)));
    };
    match (segment, value) {
        (Segment::Every, Value::Array(items)) => every(target, step, items),
        (Segment::Index(index), Value::Array(items)) => {
            let item = match result_of_call(target, step, *index, items) {
                Some(result) => result,
                None => place(*index, items.len()).and_then(|place| items.get(place)),
            };
            match item {
                Some(item) => walk(target, step + 1, item),
                None => nowhere(),
            }
        }
        (Segment::Key(key), Value::Object(map)) if map.contains_key(key) => {
            walk(target, step + 1, &map[key])
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

/// The place of an index in a list of so many.
fn place(index: i64, of: usize) -> Option<usize> {
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
        Err(_) => place(index, answered.len()).map(|place| answered[place]),
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
fn every<'v>(target: &Target, step: usize, items: &'v [Value]) -> Result<Reached<'v>, Missing> {
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

fn missing(target: &Target, step: usize, value: &Value) -> Unresolved {
    let segment = &target.segments[step];
    let mut keys: Vec<&str> = match value {
        Value::Object(map) => map.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    keys.sort_unstable();
    let present = match value {
        Value::Object(_) if keys.is_empty() => "it is an empty object".to_owned(),
        Value::Object(_) => format!("it has {}", listed(&keys)),
        Value::Array(items) => match (items.len(), segment) {
            (0, _) => "it is an empty list".to_owned(),
            (_, Segment::Index(index)) if result_of_call(target, step, *index, items).is_some() => {
                let calls = items.iter().filter_map(|item| item["call_index"].as_u64());
                let calls: BTreeSet<String> = calls.map(|call| format!("[{call}]")).collect();
                format!(
                    "it has those of the calls {}",
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
fn listed(keys: &[&str]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_suite::Span;
    use serde_json::json;

    fn at(path: &str, root: &Value) -> Result<Value, String> {
        let target = Target::parse(path, Span::default()).unwrap();
        resolve(&target, root)
            .map(Cow::into_owned)
            .map_err(|missing| missing.to_string())
    }

    #[test]
    fn indices_count_from_either_end() {
        let root = json!({ "a": [1, 2, 3] });
        assert_eq!(at("a[0]", &root), Ok(json!(1)));
        assert_eq!(at("a[-1]", &root), Ok(json!(3)));
        assert_eq!(
            at("a[3]", &root),
            Err("`a` has no `[3]`: it has 3 elements, `[0]` to `[2]`".to_owned())
        );
        assert!(at("a[-4]", &root).is_err());
        assert!(at("a[-9223372036854775808]", &root).is_err());
    }

    #[test]
    fn a_result_is_that_of_the_call_wherever_it_stands() {
        let root = json!({ "tool_results": [
            { "call_index": 3, "is_error": false, "result": "d" },
            { "call_index": 0, "is_error": true, "result": "a" },
            { "call_index": 0, "is_error": false, "result": "a later" },
            { "call_index": 2, "is_error": false, "result": "c" },
            { "call_index": 2, "is_error": false, "result": "c later" },
        ] });
        assert_eq!(at("tool_results[0].result", &root), Ok(json!("a")));
        assert_eq!(at("tool_results[2].result", &root), Ok(json!("c later")));
        assert_eq!(at("tool_results[3].result", &root), Ok(json!("d")));
        assert_eq!(at("tool_results[-1].result", &root), Ok(json!("d")));
        assert_eq!(at("tool_results[-3].result", &root), Ok(json!("a")));
        assert_eq!(at("tool_results.length", &root), Ok(json!(5)));
        assert_eq!(
            at("tool_results[1].result", &root),
            Err(
                "`tool_results` has no `[1]`: it has those of the calls `[0]`, `[2]`, `[3]`"
                    .to_owned()
            )
        );
        assert!(at("tool_results[-4]", &root).is_err());
        // What says no call, and a list below another key, is a list.
        assert_eq!(
            at("tool_results[1]", &json!({ "tool_results": [1, 2] })),
            Ok(json!(2))
        );
        let deeper = json!({ "a": root });
        assert_eq!(at("a.tool_results[0].result", &deeper), Ok(json!("d")));
    }

    #[test]
    fn a_wildcard_leaves_out_what_lacks_the_rest() {
        let root = json!({ "a": [{ "b": 1 }, { "c": 2 }], "e": [] });
        assert_eq!(at("a[*].b", &root), Ok(json!([1])));
        assert_eq!(at("e[*].b", &root), Ok(json!([])));
        assert_eq!(
            at("a[*].d", &root),
            Err("`a[*]` has no `d`: it has `b`".to_owned())
        );
    }

    #[test]
    fn an_empty_list_beside_it_does_not_hide_a_key_that_leads_nowhere() {
        let root =
            json!({ "r": [{ "items": [{ "name": "x" }] }, { "items": [] }, { "text": "" }] });
        assert_eq!(
            at("r[*].items[*].price", &root),
            Err("`r[*].items[*]` has no `price`: it has `name`".to_owned())
        );
        assert_eq!(at("r[*].items[*].name", &root), Ok(json!([["x"], []])));
        let empty = json!({ "r": [{ "items": [] }, { "items": [] }] });
        assert_eq!(at("r[*].items[*].price", &empty), Ok(json!([[], []])));
        // In one of the lists it does lead somewhere.
        let some = json!({ "r": [{ "items": [{ "price": 1 }] }, { "items": [{ "name": "x" }] }] });
        assert_eq!(at("r[*].items[*].price", &some), Ok(json!([[1]])));
        // Items of another shape do not count as empty lists.
        let mixed = json!({ "r": [{ "text": "" }, { "items": [] }] });
        assert_eq!(at("r[*].items[*].price", &mixed), Ok(json!([[]])));
    }

    #[test]
    fn an_own_key_length_wins() {
        let root = json!({ "a": { "length": "own" }, "b": "größe", "c": { "x": 1 }, "d": 3 });
        assert_eq!(at("a.length", &root), Ok(json!("own")));
        assert_eq!(at("b.length", &root), Ok(json!(5)));
        assert_eq!(at("c.length", &root), Ok(json!(1)));
        assert_eq!(
            at("d.length", &root),
            Err("`d` has no `length`: it is 3".to_owned())
        );
    }

    #[test]
    fn length_can_follow_a_wildcard() {
        let root = json!({ "a": [{ "b": [1, 2] }, { "b": [] }] });
        assert_eq!(at("a[*].length", &root), Ok(json!([1, 1])));
        assert_eq!(at("a[*].b.length", &root), Ok(json!([2, 0])));
    }

    #[test]
    fn a_typo_names_the_step_and_what_is_there() {
        let root = json!({ "tool_calls": [], "final_response": "x" });
        let target = Target::parse("final_respnse.length", Span::default()).unwrap();
        let missing = resolve(&target, &root).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "there is no `final_respnse`: it has `final_response`, `tool_calls`"
        );
        assert_eq!(missing.nearest.as_deref(), Some("final_response.length"));
    }
}
