//! What is asked of the arguments of a call that several runs make.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

use mcptest::eval::{ArgsShape, Schema};
use serde_json::{Map, Value, json};

use super::arguments::{Stays, child_path};
use super::writes::Write;

/// The most values of an argument, and combinations of them, that are told apart.
const VARIANTS: usize = 4;

/// The most parts that differ of which combinations are looked for.
const COMBINED: usize = 64;

/// The longest list whose items are looked at one by one.
const ITEMS: usize = 16;

/// What all of some calls have in their arguments, each call of another run: every part on which they
/// agree; of the parts that stay and differ, the few combinations that there are.
pub(super) fn argument_shape(calls: &[&Write<'_>]) -> ArgsShape<Schema> {
    let objects = calls.iter().map(|write| write.call.args.as_object());
    let Some(objects) = objects.collect::<Option<Vec<_>>>() else {
        return ArgsShape::Any;
    };
    let mut shape = Shape::new(calls);
    let entries = shape.member_demands(&objects, &[]);
    let is_open = entries.iter().any(|(_, part, _)| part.is_open());
    let groups = shape.groups();
    if !is_open && groups.len() < 2 {
        let whole = distinct(calls.iter().map(|write| &*write.call.args));
        return match whole.as_slice() {
            [args] => ArgsShape::Exact((*args).clone()),
            all => ArgsShape::Schema(Schema::new(json!({ "enum": all }))),
        };
    }
    let is_combined = |varied: usize| groups.iter().any(|it| it.len() > 1 && it.contains(&varied));
    let mut schema = shape.object(&entries, &is_combined);
    let mut combined = groups.iter().filter(|group| group.len() > 1);
    // What one run has of one argument does not go with what another has of the next.
    match (combined.next(), combined.next()) {
        (None, _) => {}
        (Some(group), None) => schema["anyOf"] = shape.any_of(group),
        _ => {
            let groups = groups.iter().filter(|group| group.len() > 1);
            let groups = groups.map(|group| json!({ "anyOf": shape.any_of(group) }));
            schema["allOf"] = groups.collect();
        }
    }
    ArgsShape::Schema(Schema::new(schema))
}

/// A step of the way to a part.
#[derive(Debug, Clone, Copy)]
enum PathStep<'v> {
    Key(&'v str),
    Item(usize),
}

/// What is asked of a part of the arguments.
enum PartDemand<'v> {
    Same(&'v Value),
    /// One of the values of some calls.
    Varied(usize),
    /// What a schema says, which leaves values open.
    Open(Value),
    Object(Vec<(&'v str, PartDemand<'v>, bool)>),
    List(Vec<PartDemand<'v>>),
}

impl PartDemand<'_> {
    fn is_open(&self) -> bool {
        match self {
            Self::Same(_) | Self::Varied(_) => false,
            Self::Open(_) => true,
            Self::Object(entries) => entries.iter().any(|(_, part, _)| part.is_open()),
            Self::List(items) => items.iter().any(Self::is_open),
        }
    }
}

struct Shape<'v> {
    calls: &'v [&'v Write<'v>],
    /// The parts that stay and differ: the way there, and the value of each call.
    varied: Vec<(Vec<PathStep<'v>>, Vec<&'v Value>)>,
}

impl<'v> Shape<'v> {
    fn new(calls: &'v [&'v Write<'v>]) -> Self {
        Self {
            calls,
            varied: Vec::new(),
        }
    }

    /// What is asked of the members of objects, and whether all have them.
    fn member_demands(
        &mut self,
        objects: &[&'v Map<String, Value>],
        path: &[PathStep<'v>],
    ) -> Vec<(&'v str, PartDemand<'v>, bool)> {
        let keys: BTreeSet<&String> = objects.iter().flat_map(|args| args.keys()).collect();
        let entry = |key: &'v String| {
            let path = [path, &[PathStep::Key(key)]].concat();
            let pairs = self.calls.iter().zip(objects);
            let pairs = pairs.filter_map(|(call, args)| Some((*call, args.get(key)?)));
            let (having, values): (Vec<&Write<'_>>, Vec<&Value>) = pairs.unzip();
            let everywhere = values.len() == self.calls.len();
            let part = if everywhere {
                self.part_demand(&values, path)
            } else if having.len() < 2 {
                // What one run alone says may be the agent's own words.
                PartDemand::Open(json!({ "type": common_type(&values) }))
            } else {
                // Who leaves it out says nothing of what it is where it is there.
                let mut alone = Shape::new(&having);
                let part = alone.part_demand(&values, path);
                PartDemand::Open(alone.schema(&part, &|_| false))
            };
            (key.as_str(), part, everywhere)
        };
        keys.into_iter().map(entry).collect()
    }

    /// What is asked of a part that every call has.
    fn part_demand(&mut self, values: &[&'v Value], path: Vec<PathStep<'v>>) -> PartDemand<'v> {
        let step = |step| [path.as_slice(), &[step]].concat();
        let stays = self.stays(values, &path);
        match distinct(values.iter().copied()).as_slice() {
            [value] if stays == Stays::Yes => return PartDemand::Same(value),
            [value] if stays == Stays::IfShared && values.len() > 1 => {
                return PartDemand::Same(value);
            }
            seen if stays == Stays::Yes && self.is_closed_choice(seen, values) => {
                self.varied.push((path, values.to_vec()));
                return PartDemand::Varied(self.varied.len() - 1);
            }
            _ => {}
        }
        let objects: Option<Vec<_>> = values.iter().map(|value| value.as_object()).collect();
        if let Some(objects) = objects {
            let entries = self.member_demands(&objects, &path);
            // Objects that have nothing in common have no shape.
            if entries.iter().any(|(.., everywhere)| *everywhere) {
                return PartDemand::Object(entries);
            }
        }
        if let Some(length) = same_length(values) {
            let items = (0..length).map(|place| {
                let values: Vec<&Value> = values.iter().map(|value| &value[place]).collect();
                self.part_demand(&values, step(PathStep::Item(place)))
            });
            return PartDemand::List(items.collect());
        }
        PartDemand::Open(json!({ "type": common_type(values) }))
    }

    /// Whether a part stays as far as every run tells.
    fn stays(&self, values: &[&Value], path: &[PathStep<'_>]) -> Stays {
        let path = path.iter().fold(String::new(), |path, step| match step {
            PathStep::Key(key) => child_path(&path, key),
            PathStep::Item(place) => child_path(&path, &place.to_string()),
        });
        let calls = self.calls.iter().zip(values);
        let stays = calls.map(|(write, value)| write.leaves.stays(value, &path));
        stays.min().unwrap_or(Stays::Yes)
    }

    /// Whether values that differ are all that there are to choose from: few, of which runs have the same,
    /// or which others were told too. What every run has another of, the next will have another of.
    fn is_closed_choice(&self, seen: &[&Value], values: &[&Value]) -> bool {
        let others_know = |value: &&Value| {
            let mut calls = self.calls.iter().zip(values);
            calls.any(|(write, own)| own != value && write.known.knows(value))
        };
        seen.len() <= VARIANTS && (seen.len() < values.len() || seen.iter().all(others_know))
    }

    /// Which of the parts that differ go together: as many as make few combinations.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for varied in 0..self.varied.len() {
            let with = |group: &Vec<usize>| {
                let mut group = group.clone();
                group.push(varied);
                self.combinations(&group).len()
            };
            let candidates = 0..if varied < COMBINED { groups.len() } else { 0 };
            match candidates.min_by_key(|group| with(&groups[*group])) {
                Some(group) if with(&groups[group]) <= VARIANTS => groups[group].push(varied),
                _ => groups.push(vec![varied]),
            }
        }
        groups
    }

    fn combinations(&self, group: &[usize]) -> Vec<Vec<&'v Value>> {
        let of_call = |call: usize| -> Vec<&Value> {
            let values = group.iter().map(|varied| self.varied[*varied].1[call]);
            values.collect()
        };
        distinct((0..self.calls.len()).map(of_call))
    }

    fn any_of(&self, group: &[usize]) -> Value {
        let combinations = self.combinations(group).into_iter();
        let holds = combinations.map(|values| {
            let mut schema = json!({});
            for (varied, value) in group.iter().zip(values) {
                require_value(&mut schema, &self.varied[*varied].0, value);
            }
            schema
        });
        holds.collect()
    }

    fn object(
        &self,
        entries: &[(&str, PartDemand<'_>, bool)],
        is_combined: &dyn Fn(usize) -> bool,
    ) -> Value {
        let required = entries.iter().filter(|(_, _, required)| *required);
        let properties = entries
            .iter()
            .map(|(key, part, _)| ((*key).to_owned(), self.schema(part, is_combined)));
        json!({
            "required": required.map(|(key, ..)| *key).collect::<Vec<_>>(),
            "additionalProperties": false,
            "properties": properties.collect::<Map<_, _>>(),
        })
    }

    fn schema(&self, part: &PartDemand<'_>, is_combined: &dyn Fn(usize) -> bool) -> Value {
        match part {
            PartDemand::Same(value) => json!({ "const": value }),
            PartDemand::Varied(varied) if is_combined(*varied) => json!({}),
            PartDemand::Varied(varied) => {
                json!({ "enum": distinct(self.varied[*varied].1.iter().copied()) })
            }
            PartDemand::Open(schema) => schema.clone(),
            PartDemand::Object(entries) => {
                let mut schema = self.object(entries, is_combined);
                schema["type"] = "object".into();
                // Where members come and go, there may be others.
                if let (Some(map), true) = (schema.as_object_mut(), has_optional(entries)) {
                    map.remove("additionalProperties");
                }
                schema
            }
            PartDemand::List(items) => {
                let items = items.iter().map(|item| self.schema(item, is_combined));
                let items: Vec<Value> = items.collect();
                json!({ "type": "array", "minItems": items.len(), "maxItems": items.len(), "prefixItems": items })
            }
        }
    }
}

/// Makes a schema hold only where a part is a value.
fn require_value(schema: &mut Value, path: &[PathStep<'_>], value: &Value) {
    match path {
        [] => *schema = json!({ "const": value }),
        [PathStep::Key(key), rest @ ..] => {
            let part = &mut schema["properties"][*key];
            require_value(part, rest, value);
        }
        [PathStep::Item(place), rest @ ..] => {
            let mut items = match schema["prefixItems"].take() {
                Value::Array(items) => items,
                _ => Vec::new(),
            };
            items.resize(items.len().max(place + 1), json!({}));
            require_value(&mut items[*place], rest, value);
            schema["prefixItems"] = items.into();
        }
    }
}

fn has_optional(entries: &[(&str, PartDemand<'_>, bool)]) -> bool {
    entries.iter().any(|(.., everywhere)| !everywhere)
}

/// The length of lists that are as long as each other, and not long.
fn same_length(values: &[&Value]) -> Option<usize> {
    let length = values.first()?.as_array()?.len();
    let same = |value: &&Value| value.as_array().is_some_and(|it| it.len() == length);
    ((1..=ITEMS).contains(&length) && values.iter().all(same)).then_some(length)
}

/// Each of some values once.
fn distinct<T: Clone + Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// The type of values, where they have one.
fn common_type(values: &[&Value]) -> Value {
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
