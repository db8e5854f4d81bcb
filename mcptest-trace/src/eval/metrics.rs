//! The targets of a metric and their numbers, declared together.

use serde_json::{Map, Value};

use super::measure::{Measure, Unit};

/// The report of a metric: which targets it has, and what each of them is in this report.
///
/// The two are one declaration, so a target without a number, or a number without a target, cannot be
/// written.
///
/// ```
/// use mcptest_trace::eval::{GoldenPath, GoldenPathReport, Metrics, score_golden_path};
/// use serde_json::json;
///
/// let run = json!({ "tool_calls": [{ "name": "search" }] });
/// let report = score_golden_path(&run, &GoldenPath::new(["search"]));
/// assert_eq!(GoldenPathReport::TARGETS[0].name, "golden_path.penalty");
/// assert_eq!(report.metrics()["golden_path"]["penalty"], 1.0);
/// ```
pub trait Metrics {
    /// The targets: name, unit, range and direction of each.
    const TARGETS: &'static [Measure];

    /// The value of each target, as an object nested by the names. A target that this report does not have is
    /// left out.
    fn metrics(&self) -> Value;
}

/// Declares the targets of a report, each beside what its value is:
/// `metrics! { CallCounts as counts { Measure::new(…) => counts.count, } }`. A target of yes or no takes a `bool`;
/// `None` is a target that this report does not have.
macro_rules! metrics {
    ($report:ty as $this:ident { $($measure:expr => $value:expr,)+ }) => {
        impl $crate::eval::Metrics for $report {
            const TARGETS: &'static [$crate::eval::Measure] = &[$($measure),+];

            fn metrics(&self) -> serde_json::Value {
                let $this = self;
                $crate::eval::metrics::by_name(
                    <Self as $crate::eval::Metrics>::TARGETS,
                    [$(serde_json::Value::from($value)),+],
                )
            }
        }
    };
}

pub(crate) use metrics;

/// Values under the names of their targets, those that are there.
pub(crate) fn by_name<const N: usize>(targets: &[Measure], values: [Value; N]) -> Value {
    let mut all = Map::new();
    for (target, value) in targets.iter().zip(values) {
        let value = match (value, target.unit) {
            (Value::Null, _) => continue,
            (Value::Bool(holds), Unit::AllOrNothing) => (u8::from(holds) * 100).into(),
            (Value::Bool(holds), _) => u8::from(holds).into(),
            (value, _) => value,
        };
        insert(&mut all, target.name, value);
    }
    Value::Object(all)
}

/// Puts a value at a path of keys.
fn insert(object: &mut Map<String, Value>, path: &str, value: Value) {
    let Some((key, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value);
        return;
    };
    if let Some(below) = object.get_mut(key) {
        if let Value::Object(below) = below {
            insert(below, rest, value);
        }
        return;
    }
    let mut below = Map::new();
    insert(&mut below, rest, value);
    object.insert(key.to_owned(), below.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_stand_below_the_parts_of_their_names_and_absent_ones_are_left_out() {
        let targets = [
            Measure::new("a.flag", Unit::Flag),
            Measure::new("a.all", Unit::AllOrNothing),
            Measure::new("a.b.mean", Unit::Fraction),
            Measure::new("a.absent", Unit::Count),
        ];
        let values = [true.into(), true.into(), 0.5.into(), Value::Null];
        assert_eq!(
            by_name(&targets, values),
            json!({ "a": { "flag": 1, "all": 100, "b": { "mean": 0.5 } } })
        );
    }
}
