//! A JSON value that borrows from the text that it stands in.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::lazy::LazyValue;

/// The room that an object begins with: few of a recording have more keys.
const USUAL_KEYS: usize = 6;

/// Up to so many keys of an object are compared one by one.
const FEW_KEYS: usize = 16;

/// A JSON value that borrows from its text what stands there as it is.
#[derive(Debug, Default)]
pub(super) enum Json<'a> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Object<'a>),
    /// A list or an object that stays text until it is looked at.
    Later(Deferred),
}

/// Arguments or a result that stay text until somebody looks at them.
#[derive(Debug)]
pub(super) struct Deferred {
    pub(super) value: LazyValue,
    /// Whether it is an object.
    pub(super) is_object: bool,
    /// What it says of MCP's `isError`.
    pub(super) is_error: Option<bool>,
}

/// The entries of an object in the order of the text; no key stands twice.
#[derive(Debug, Default)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Json<'a> {
    /// A value that borrows from `value`.
    pub(super) fn from_value(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(text.into()),
            Value::Array(items) => Self::List(items.iter().map(Self::from_value).collect()),
            Value::Object(map) => {
                let entries = map.iter();
                let entries = entries.map(|(key, value)| (key.into(), Self::from_value(value)));
                Self::Object(Object(entries.collect()))
            }
        }
    }

    /// The value as one that owns its texts.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::String(text.into_owned()),
            Self::List(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Object(object) => Value::Object(object.into_map()),
            Self::Later(later) => later.value.into_value(),
        }
    }

    /// The value as a [`LazyValue`]: what stayed text until now stays text.
    pub(super) fn into_lazy(self) -> LazyValue {
        match self {
            Self::Later(later) => later.value,
            value => value.into_value().into(),
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    pub(super) fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Json<'a>]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl<'a> Object<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&Json<'a>> {
        let mut entries = self.0.iter();
        entries.find_map(|(name, value)| (name == key).then_some(value))
    }

    /// Moves a value out; it is `null` from then on.
    pub(super) fn take(&mut self, key: &str) -> Option<Json<'a>> {
        let mut entries = self.0.iter_mut();
        entries.find_map(|(name, value)| (name == key).then(|| std::mem::take(value)))
    }

    pub(super) fn into_entries(self) -> impl Iterator<Item = (Cow<'a, str>, Json<'a>)> {
        self.0.into_iter()
    }

    /// The entries by their keys, also where `serde_json` was built to keep an order: the order of keys says nothing.
    pub(super) fn into_map(mut self) -> Map<String, Value> {
        self.0.sort_by(|(left, _), (right, _)| left.cmp(right));
        let entries = self.into_entries();
        let entries = entries.map(|(key, value)| (key.into_owned(), value.into_value()));
        entries.collect()
    }

    /// Leaves out the entries with other keys.
    pub(super) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.0.retain(|(key, _)| wanted(key));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Takes an entry in, and says whether its key stood there before: then the later value wins.
    /// `places` helps where there are many.
    pub(super) fn insert(
        &mut self,
        key: Cow<'a, str>,
        value: Json<'a>,
        places: &mut HashMap<Cow<'a, str>, usize>,
    ) -> bool {
        let entries = &mut self.0;
        let earlier = if entries.len() < FEW_KEYS {
            entries.iter().position(|(name, _)| *name == key)
        } else {
            if places.is_empty() {
                let named = entries.iter().enumerate();
                places.extend(named.map(|(place, (name, _))| (name.clone(), place)));
            }
            let earlier = places.get(&key).copied();
            if earlier.is_none() {
                places.insert(key.clone(), entries.len());
            }
            earlier
        };
        if let Some(place) = earlier {
            entries[place].1 = value;
            return true;
        }
        if entries.is_empty() {
            entries.reserve_exact(USUAL_KEYS);
        }
        entries.push((key, value));
        false
    }
}
