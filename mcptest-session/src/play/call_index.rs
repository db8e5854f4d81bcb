//! Recorded calls by what they ask, so that a call finds its answer without a look at all others.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use mcptest_trace::trace::value_json;
use serde_json::Value;

use super::matching::{MARKER, outside_gaps, values_match};

/// So many bytes of a text are compared before and after what was taken out of it, as far as there are so many.
const ENDS: [usize; 3] = [16, 4, 0];

/// Calls by what they ask. Calls of one tool with equal arguments are one group, by a number.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIndex {
    /// The calls of each group, in their order.
    groups: Vec<Vec<usize>>,
    equal: HashMap<String, usize>,
    /// Groups whose arguments may be the same as others that are written otherwise, as a secret was taken out of them:
    /// by the tool, and by where it was.
    loose: HashMap<String, BTreeMap<Vec<Gap>, OfShape>>,
}

/// How many calls of each group are given.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenCalls(HashMap<usize, usize>);

/// Groups with gaps at the same places: by all that stands around the gaps. Each has its arguments as they were recorded.
type OfShape = HashMap<String, Vec<(usize, Value)>>;

/// Where something was taken out of arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Gap {
    /// A JSON pointer.
    at: String,
    /// For a text: how many bytes at its begin and at its end are known. `None`: nothing is known of the value.
    known: Option<(usize, usize)>,
}

impl CallIndex {
    /// Indexes calls in their order: the tool of each and its arguments.
    pub(crate) fn from_calls<'c>(
        calls: impl IntoIterator<Item = (&'c str, Cow<'c, Value>)>,
    ) -> Self {
        let mut index = Self::default();
        for (place, (tool, args)) in calls.into_iter().enumerate() {
            let next = index.groups.len();
            let group = *index.equal.entry(call_key(tool, &args)).or_insert(next);
            if group == next {
                index.groups.push(Vec::new());
                index.add_loose(tool, &args, group);
            }
            index.groups[group].push(place);
        }
        index
    }

    fn add_loose(&mut self, tool: &str, args: &Value, group: usize) {
        let mut gaps = Vec::new();
        add_gaps(args, String::new(), &mut gaps);
        if gaps.is_empty() {
            return;
        }
        if let Some(around) = text_outside_gaps(args, &gaps) {
            let of_tool = self.loose.entry(tool.to_owned()).or_default();
            let of_shape = of_tool.entry(gaps).or_default();
            let alike = of_shape.entry(around).or_default();
            alike.push((group, args.clone()));
        }
    }

    /// Gives the first call that was not given, of those that a call may be; else says how many these are.
    pub(crate) fn give_next(
        &self,
        given: &mut GivenCalls,
        tool: &str,
        args: &Value,
    ) -> Result<usize, usize> {
        let (call, group) = self.first_free(given, tool, args, &|_| false)?;
        *given.0.entry(group).or_default() += 1;
        Ok(call)
    }

    /// The first call that is not taken, of those that a call may be; else says how many these are. What is taken once
    /// stays so.
    pub(crate) fn next(
        &self,
        given: &mut GivenCalls,
        tool: &str,
        args: &Value,
        is_taken: &dyn Fn(usize) -> bool,
    ) -> Result<usize, usize> {
        let found = self.first_free(given, tool, args, is_taken);
        found.map(|(call, _)| call)
    }

    /// The first call that is not taken, of those that a call may be, with its group; else how many calls these
    /// are.
    fn first_free(
        &self,
        given: &mut GivenCalls,
        tool: &str,
        args: &Value,
        is_taken: &dyn Fn(usize) -> bool,
    ) -> Result<(usize, usize), usize> {
        let like = self.similar_groups(tool, args);
        let left = like.iter().filter_map(|group| {
            let of_group = &self.groups[*group];
            let next = given.0.entry(*group).or_default();
            while of_group.get(*next).is_some_and(|call| is_taken(*call)) {
                *next += 1;
            }
            Some((*of_group.get(*next)?, *group))
        });
        let left: Vec<(usize, usize)> = left.collect();
        let found = left.into_iter().min();
        found.ok_or_else(|| like.iter().map(|group| self.groups[*group].len()).sum())
    }

    /// The groups of recorded calls that a call may be one of.
    fn similar_groups(&self, tool: &str, args: &Value) -> Vec<usize> {
        let equal = self.equal.get(&call_key(tool, args)).copied();
        let loose = self.loose.get(tool).into_iter().flatten();
        let alike =
            loose.filter_map(|(gaps, of_shape)| of_shape.get(&text_outside_gaps(args, gaps)?));
        let others = alike
            .flatten()
            .filter(|(group, recorded)| Some(*group) != equal && values_match(recorded, args, &[]));
        let groups = others.map(|(group, _)| *group);
        equal.into_iter().chain(groups).collect()
    }
}

/// The key of a call: calls of one tool with equal arguments have one key.
pub(super) fn call_key(tool: &str, args: &Value) -> String {
    format!("{tool} {}", value_json(args))
}

/// Finds what was taken out of a value.
fn add_gaps(value: &Value, at: String, gaps: &mut Vec<Gap>) {
    match value {
        Value::String(text) => {
            if let Some((before, after)) = outside_gaps(text) {
                // A whole value that was taken out may have been of any type.
                let known = (!before.is_empty() || !after.is_empty()).then(|| {
                    let known = |fits: &dyn Fn(usize) -> bool| {
                        ENDS.into_iter()
                            .find(|length| fits(*length))
                            .unwrap_or_default()
                    };
                    let head = known(&|length| before.get(..length).is_some());
                    let tail = known(&|length| {
                        let from = after.len().checked_sub(length);
                        from.is_some_and(|from| after.is_char_boundary(from))
                    });
                    (head, tail)
                });
                gaps.push(Gap { at, known });
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                add_gaps(item, format!("{at}/{place}"), gaps);
            }
        }
        Value::Object(map) => {
            if map.keys().any(|key| key.contains(MARKER)) {
                gaps.push(Gap { at, known: None });
                return;
            }
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                add_gaps(value, format!("{at}/{key}"), gaps);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Arguments without their gaps; nothing if they cannot have these.
fn text_outside_gaps(args: &Value, gaps: &[Gap]) -> Option<String> {
    let mut args = args.clone();
    for gap in gaps {
        let place = args.pointer_mut(&gap.at)?;
        *place = match gap.known {
            None => Value::Null,
            Some((head, tail)) => {
                let text = place.as_str()?;
                let (before, rest) = text.split_at_checked(head)?;
                let from = rest.len().checked_sub(tail)?;
                Value::from([before, rest.get(from..)?].as_slice())
            }
        };
    }
    Some(value_json(&args))
}
