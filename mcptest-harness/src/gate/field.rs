//! Places in options that values go to.

use serde_json::Value;

use crate::eval::ToolPattern;

/// A place in options that values of one kind go to.
pub(crate) trait Field<T> {
    fn set(&mut self, value: T);

    /// The default, as editors show it; nothing where that goes without saying.
    fn default_value(&self) -> Option<Value> {
        None
    }
}

impl Field<bool> for bool {
    fn set(&mut self, value: bool) {
        *self = value;
    }

    fn default_value(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl Field<u64> for u64 {
    fn set(&mut self, value: u64) {
        *self = value;
    }

    fn default_value(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl Field<u64> for usize {
    fn set(&mut self, value: u64) {
        *self = Self::try_from(value).unwrap_or(Self::MAX);
    }

    fn default_value(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl Field<f64> for f64 {
    fn set(&mut self, value: f64) {
        *self = value;
    }

    fn default_value(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl Field<String> for String {
    fn set(&mut self, value: String) {
        *self = value;
    }
}

impl Field<Vec<String>> for Vec<String> {
    fn set(&mut self, value: Vec<String>) {
        *self = value;
    }
}

impl Field<Vec<ToolPattern>> for Vec<ToolPattern> {
    fn set(&mut self, value: Vec<ToolPattern>) {
        *self = value;
    }
}

/// What may be left out has no default to show.
impl<T> Field<T> for Option<T> {
    fn set(&mut self, value: T) {
        *self = Some(value);
    }
}
