//! The limits that an assertion sets to a number, as far as they are plain.

use serde_json::Value;

use super::compile::CompiledMatcher;

/// The smallest and the largest number that hold.
pub(crate) type Limits = (Option<f64>, Option<f64>);

impl CompiledMatcher {
    /// The numbers that hold, where a lowest, a highest, or both, say it all or a part of it.
    pub(crate) fn limits(&self) -> Limits {
        match self {
            Self::Exact(value) => (value.as_f64(), value.as_f64()),
            Self::Min(least) => (least.as_f64(), None),
            Self::Max(most) => (None, most.as_f64()),
            Self::Between(least, most) => (least.as_f64(), most.as_f64()),
            Self::Schema(schema) | Self::FlagSchema(schema) => of_schema(schema.value()),
            Self::AllOf(all) => all.iter().map(Self::limits).fold((None, None), both),
            _ => (None, None),
        }
    }
}

fn of_schema(schema: &Value) -> Limits {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let only = number("const");
    (
        only.or(number("minimum")).or(number("exclusiveMinimum")),
        only.or(number("maximum")).or(number("exclusiveMaximum")),
    )
}

fn both(left: Limits, right: Limits) -> Limits {
    let pick =
        |left: Option<f64>, right: Option<f64>, better: fn(f64, f64) -> f64| match (left, right) {
            (Some(left), Some(right)) => Some(better(left, right)),
            (one, other) => one.or(other),
        };
    (
        pick(left.0, right.0, f64::max),
        pick(left.1, right.1, f64::min),
    )
}
