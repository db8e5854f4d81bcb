//! Reading fields of a recorded value: conservative values out, problems noted on the way.

use std::fmt;

use super::fields::Fields;
use super::json::{Json, Object};

/// Something malformed in a recorded value: where, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dot path from the root of the value that was read, e.g. `tool_calls[3].name`.
    pub path: String,
    /// What is wrong, e.g. `expected a string, found 7`.
    pub message: String,
    /// Whether the key itself is wrong, and not its value.
    pub(super) of_key: bool,
    /// Whether it is told and refuses nothing.
    pub(super) is_warning: bool,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

/// The path from the root of the value to the place being read. It becomes text only where there is a problem to
/// report.
#[derive(Clone, Copy)]
enum LazyPath<'a> {
    Root,
    Key(&'a LazyPath<'a>, &'a str),
    Item(&'a LazyPath<'a>, usize),
}

impl LazyPath<'_> {
    fn write(&self, path: &mut String) {
        match self {
            Self::Root => {}
            Self::Key(before, key) => {
                before.write(path);
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
            }
            Self::Item(before, index) => {
                before.write(path);
                path.push_str(&format!("[{index}]"));
            }
        }
    }
}

/// A place in the value being read, with the list every problem goes to. What is read is moved out
/// of the value.
pub(super) struct Reader<'p> {
    step: LazyPath<'p>,
    problems: &'p mut Vec<Problem>,
    /// The minor version of the format that the value states.
    minor: u64,
    /// The fields of the object being read.
    fields: Option<&'static Fields>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(problems: &'p mut Vec<Problem>) -> Self {
        Self {
            step: LazyPath::Root,
            problems,
            minor: 0,
            fields: None,
        }
    }

    /// Sets the minor version of the format that the value states.
    pub(super) fn with_minor_version(self, minor: u64) -> Self {
        Self { minor, ..self }
    }

    pub(super) fn at<'r>(&'r mut self, key: &'r str) -> Reader<'r> {
        Reader {
            step: LazyPath::Key(&self.step, key),
            problems: self.problems,
            minor: self.minor,
            fields: None,
        }
    }

    pub(super) fn item(&mut self, index: usize) -> Reader<'_> {
        Reader {
            step: LazyPath::Item(&self.step, index),
            problems: self.problems,
            minor: self.minor,
            fields: None,
        }
    }

    pub(super) fn problem(&mut self, message: impl Into<String>) {
        self.note(message.into(), false, false);
    }

    fn note(&mut self, message: String, of_key: bool, is_warning: bool) {
        let mut path = String::new();
        self.step.write(&mut path);
        self.problems.push(Problem {
            path,
            message,
            of_key,
            is_warning,
        });
    }

    /// From here on only these fields may be read.
    pub(super) fn declared(&mut self, fields: &'static Fields) {
        self.fields = Some(fields);
    }

    /// Notes keys that were probably meant to be known ones. From here on only these may be read.
    pub(super) fn check_keys(&mut self, map: &Object<'_>, fields: &'static Fields) {
        self.declared(fields);
        for (key, known, since) in fields.meant(map) {
            let message = format!("not a known key; did you mean `{known}`?");
            let is_newer = since > self.minor;
            self.at(key).note(message, true, is_newer);
        }
    }

    pub(super) fn note_expected(&mut self, what: &str, found: &Json<'_>) {
        self.problem(format!("expected {what}, found {}", describe(found)));
    }

    /// Reads an optional field: absent and `null` are `None`.
    pub(super) fn field<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        read: impl FnOnce(Json<'_>, &mut Reader<'_>) -> Option<T>,
    ) -> Option<T> {
        debug_assert!(
            self.fields.is_some_and(|fields| fields.get(name).is_some()),
            "`{name}` is read and not declared: declare it in `trace/fields/`"
        );
        match map.take(name) {
            None | Some(Json::Null) => None,
            Some(value) => read(value, &mut self.at(name)),
        }
    }

    /// Reads an optional field of one kind; a value of another, which comes back, is a problem.
    pub(super) fn typed_field<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        kind: &str,
        read: impl for<'v> FnOnce(Json<'v>, &mut Reader<'_>) -> Result<T, Json<'v>>,
    ) -> Option<T> {
        self.field(map, name, |value, at| {
            let read = read(value, at);
            read.map_err(|other| at.note_expected(kind, &other)).ok()
        })
    }

    pub(super) fn text(&mut self, map: &mut Object<'_>, name: &str) -> Option<String> {
        self.typed_field(map, name, "a string", |value, _| match value {
            Json::Text(text) => Ok(text.into_owned()),
            other => Err(other),
        })
    }

    pub(super) fn required_text(&mut self, map: &mut Object<'_>, name: &str) -> String {
        self.require(map, name);
        self.text(map, name).unwrap_or_default()
    }

    /// Notes a field that is not there; asked before the field is read.
    pub(super) fn require(&mut self, map: &Object<'_>, name: &str) {
        if map.get(name).is_none_or(Json::is_null) {
            self.at(name).problem("missing");
        }
    }

    pub(super) fn count(&mut self, map: &mut Object<'_>, name: &str) -> Option<u64> {
        let kind = "a whole number, 0 or more";
        self.typed_field(map, name, kind, |value, _| {
            whole_number(&value).ok_or(value)
        })
    }

    pub(super) fn flag(&mut self, map: &mut Object<'_>, name: &str) -> Option<bool> {
        self.typed_field(map, name, "true or false", |value, _| match value {
            Json::Bool(flag) => Ok(flag),
            other => Err(other),
        })
    }

    pub(super) fn list<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        mut read: impl FnMut(Object<'_>, usize, &mut Reader<'_>) -> T,
    ) -> Vec<T> {
        let items = self.values(map, name, |item, index, at| {
            let map = match item {
                Json::Object(map) => map,
                other => {
                    at.note_expected("an object", &other);
                    Object::default()
                }
            };
            Some(read(map, index, at))
        });
        items.unwrap_or_default()
    }

    /// Reads an optional list of values of any kind; what cannot be read is left out.
    pub(super) fn values<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        mut read: impl FnMut(Json<'_>, usize, &mut Reader<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.typed_field(map, name, "a list", |value, at| match value {
            Json::List(items) => {
                let items = items.into_iter().enumerate();
                let items =
                    items.filter_map(|(index, item)| read(item, index, &mut at.item(index)));
                Ok(items.collect())
            }
            other => Err(other),
        })
    }

    pub(super) fn object<T>(
        &mut self,
        map: &mut Object<'_>,
        name: &str,
        read: impl FnOnce(Object<'_>, &mut Reader<'_>) -> T,
    ) -> Option<T> {
        self.typed_field(map, name, "an object", |value, at| match value {
            Json::Object(map) => Ok(read(map, at)),
            other => Err(other),
        })
    }
}

/// How a value is named in a message: short scalars verbatim, the rest by kind.
pub(super) fn describe(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.to_string(),
        Json::Text(_) => "a string".to_owned(),
        Json::List(_) => "a list".to_owned(),
        Json::Later(later) if !later.is_object => "a list".to_owned(),
        Json::Object(_) | Json::Later(_) => "an object".to_owned(),
    }
}

/// A whole number, also when it is spelt `3000.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "range and fraction are checked first"
)]
pub(super) fn whole_number(value: &Json<'_>) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let float = number.as_f64()?;
        let fits = float >= 0.0 && float.fract() == 0.0 && float < 9e18;
        fits.then_some(float as u64)
    })
}
