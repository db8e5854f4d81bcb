//! What was asked of targets, with how far their values are from it.

use mcptest_suite::Source;
use serde_json::Value;

use super::Bound;
use crate::check::{Check, resolve};
use crate::gate::{Threshold, ThresholdBound, value_at};

/// What an assertion asks of values, those of each run or the one of all runs. `holds`: what the
/// verdict says of it.
pub(super) fn check_bound(
    check: &Check,
    holds: bool,
    values: &[&Value],
    target: &str,
    source: &Source,
) -> Bound {
    let (minimum, maximum) = check.matcher.limits();
    let numbers = values.iter().map(|metrics| {
        let found = resolve(&check.target, metrics).ok()?;
        number(&found)
    });
    Bound {
        path: (check.target.text != target).then(|| check.target.text.clone()),
        asks: check.matcher.phrase(),
        minimum,
        maximum,
        default: false,
        line: Some(source.line_column(check.target.span.start).0),
        holds,
        margin: margin(minimum, maximum, numbers),
    }
}

/// What a gate's default asks. `holds`: what the verdict says of it.
pub(super) fn threshold_bound(threshold: &Threshold, holds: bool, values: &[&Value]) -> Bound {
    let (minimum, maximum) = match threshold.bound {
        ThresholdBound::AtLeast(least) => (Some(least), None),
        ThresholdBound::AtMost(most) => (None, Some(most)),
    };
    let found = |metrics: &&Value| number(value_at(metrics, threshold.target)?);
    Bound {
        path: None,
        asks: threshold.bound.to_string(),
        minimum,
        maximum,
        default: true,
        line: None,
        holds,
        margin: margin(minimum, maximum, values.iter().map(found)),
    }
}

/// How far the worst of the numbers is from the nearest limit.
fn margin(
    minimum: Option<f64>,
    maximum: Option<f64>,
    numbers: impl Iterator<Item = Option<f64>>,
) -> Option<f64> {
    let of_one = |number: f64| {
        let above = minimum.map(|minimum| number - minimum);
        let below = maximum.map(|maximum| maximum - number);
        above.into_iter().chain(below).reduce(f64::min)
    };
    // Where a run has no number, nothing is far from anything.
    let numbers: Option<Vec<f64>> = numbers.collect();
    numbers?.into_iter().filter_map(of_one).reduce(f64::min)
}

/// A number, also where a flag stands for one.
fn number(value: &Value) -> Option<f64> {
    value
        .as_f64()
        .or_else(|| value.as_bool().map(|flag| f64::from(u8::from(flag))))
}
