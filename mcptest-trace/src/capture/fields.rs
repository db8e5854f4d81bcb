//! The fields of a span as JSON.

use std::fmt::Debug;

use serde_json::{Map, Number, Value};
use tracing::field::{Field, Visit};

/// Takes fields into a map; a field that is recorded again takes the place of what it was.
pub(super) struct Fields<'m>(pub(super) &'m mut Map<String, Value>);

impl Fields<'_> {
    fn take(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.take(field, Number::from_f64(value).map(Value::Number));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.take(field, format!("{value:?}"));
    }
}
