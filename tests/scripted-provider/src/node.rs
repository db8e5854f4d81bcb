//! A place in a request's JSON that knows its path, for precise messages.

use serde_json::{Map, Value};

use crate::api::{Api, ApiError};

/// A value of the request and the path that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    api: Api,
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(crate) fn root(api: Api, value: &'a Value) -> Self {
        Self {
            api,
            path: String::new(),
            value,
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The field, unless it is missing or null.
    pub(crate) fn at(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.child(self.field_path(key), value))
    }

    /// The field, which must be there.
    pub(crate) fn need(&self, key: &str) -> Result<Self, ApiError> {
        self.fields()?;
        self.at(key).ok_or_else(|| {
            let path = self.field_path(key);
            match self.api {
                Api::Anthropic => ApiError::invalid(format!("{path}: Field required")),
                _ => ApiError::invalid(format!("Missing required parameter: '{path}'."))
                    .with_code("missing_required_parameter")
                    .with_param(path),
            }
        })
    }

    /// The value under a longer path, as Anthropic names the kind of a block.
    pub(crate) fn with_tag(&self, tag: &str) -> Self {
        self.child(self.field_path(tag), self.value)
    }

    pub(crate) fn text(&self) -> Result<&'a str, ApiError> {
        self.value
            .as_str()
            .ok_or_else(|| self.not_a("a string", "string"))
    }

    pub(crate) fn fields(&self) -> Result<&'a Map<String, Value>, ApiError> {
        self.value
            .as_object()
            .ok_or_else(|| self.not_a("an object", "dictionary"))
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, ApiError> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.not_a("an array", "list"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| self.child(self.index_path(index), value))
            .collect())
    }

    /// An array that must not be empty, as `OpenAI` demands of some.
    pub(crate) fn some_items(&self) -> Result<Vec<Self>, ApiError> {
        let items = self.items()?;
        if items.is_empty() {
            return Err(self
                .error(format!(
                    "Invalid '{}': empty array. Expected an array with minimum length 1, but got \
                     an empty array instead.",
                    self.path
                ))
                .with_code("empty_array"));
        }
        Ok(items)
    }

    /// An integer of at least 1.
    pub(crate) fn positive(&self) -> Result<u64, ApiError> {
        let number = self
            .value
            .as_i64()
            .ok_or_else(|| self.not_a("an integer", "integer"))?;
        match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(match self.api {
                Api::Anthropic => self.error("Input should be greater than or equal to 1"),
                _ => self
                    .error(format!(
                        "Invalid '{}': integer below minimum value. Expected a value >= 1, but \
                         got {number} instead.",
                        self.path
                    ))
                    .with_code("integer_below_min_value"),
            }),
        }
    }

    /// A number between 0 and `max`.
    pub(crate) fn number_up_to(&self, max: f64) -> Result<(), ApiError> {
        let number = self
            .value
            .as_f64()
            .ok_or_else(|| self.not_a("a decimal", "number"))?;
        if (0.0..=max).contains(&number) {
            return Ok(());
        }
        Err(match self.api {
            Api::Anthropic => self.error(format!("range: 0..{max}")),
            _ => self.error(format!(
                "Invalid '{}': expected a value between 0 and {max}, but got {number} instead.",
                self.path
            )),
        })
    }

    pub(crate) fn flag(&self) -> Result<bool, ApiError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.not_a("a boolean", "boolean"))
    }

    /// Refuses fields the API does not know.
    pub(crate) fn refuse_unknown(&self, known: &[&str]) -> Result<(), ApiError> {
        let unknown = self
            .fields()?
            .keys()
            .find(|key| !known.contains(&key.as_str()));
        let Some(key) = unknown else {
            return Ok(());
        };
        let path = self.field_path(key);
        Err(match self.api {
            Api::Anthropic => ApiError::invalid(format!("{path}: Extra inputs are not permitted")),
            _ => ApiError::invalid(format!("Unknown parameter: '{path}'."))
                .with_code("unknown_parameter")
                .with_param(path),
        })
    }

    /// An error about this place. Anthropic puts the path before the message,
    /// `OpenAI` beside it.
    pub(crate) fn error(&self, message: impl Into<String>) -> ApiError {
        let message = message.into();
        match self.api {
            Api::Anthropic => ApiError::invalid(format!("{}: {message}", self.path)),
            _ => ApiError::invalid(message).with_param(self.path.clone()),
        }
    }

    fn not_a(&self, openai: &str, anthropic: &str) -> ApiError {
        match self.api {
            Api::Anthropic => self.error(format!("Input should be a valid {anthropic}")),
            _ => self
                .error(format!(
                    "Invalid type for '{}': expected {openai}, but got {} instead.",
                    self.path,
                    kind(self.value)
                ))
                .with_code("invalid_type"),
        }
    }

    fn child<'b>(&self, path: String, value: &'b Value) -> Node<'b> {
        Node {
            api: self.api,
            path,
            value,
        }
    }

    fn field_path(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn index_path(&self, index: usize) -> String {
        match self.api {
            Api::Anthropic => format!("{}.{index}", self.path),
            _ => format!("{}[{index}]", self.path),
        }
    }
}

/// Whether `name` is made of letters, digits, `_` and `-`, at most `max` of them.
pub(crate) fn is_plain_name(name: &str, max: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=max).contains(&name.len()) && name.bytes().all(plain)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
