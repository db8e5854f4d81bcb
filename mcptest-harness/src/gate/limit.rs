//! Limits that options set to numbers of a run: data, read off the keys that declare them.

use serde_json::Value;

use super::Breach;
use super::expectation::Cause;
use super::scores::value_at;
use crate::eval::{Measure, Unit};
use mcptest_trace::text::{format_dollars, with_thousands};

/// The most that a target may be.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    /// The option that says so.
    pub(super) key: &'static str,
    pub(super) target: &'static str,
    pub(super) most: Value,
    /// What is found where a run does not have the number.
    pub(super) without: &'static str,
}

impl Limit {
    /// What the metrics of a run break of it. A run without the number breaks it: silence meets no limit.
    pub(super) fn breach(&self, targets: &[Measure], metrics: &Value) -> Option<Breach> {
        let unit = targets.iter().find(|target| target.name == self.target);
        let unit = unit.map(|target| target.unit);
        let found = value_at(metrics, self.target).filter(|found| found.is_number());
        let holds = found.is_some_and(|found| match (found.as_u64(), self.most.as_u64()) {
            (Some(found), Some(most)) => found <= most,
            _ => found.as_f64() <= self.most.as_f64(),
        });
        let asks = Cause::Gate(format!(
            "`{}` allows {}",
            self.key,
            format_stated(&self.most, unit)
        ));
        let found = found.map_or_else(
            || self.without.to_owned(),
            |found| self.format_measured(found, unit),
        );
        (!holds).then(|| Breach::new(asks, &found))
    }

    /// What was found, as exactly as its unit asks for. What is above the limit never reads as within it.
    fn format_measured(&self, found: &Value, unit: Option<Unit>) -> String {
        let number = found.as_f64().unwrap_or_default();
        match (found.as_u64(), unit) {
            (_, Some(Unit::Dollars)) => {
                let short = format_dollars(number);
                let reads_as: Option<f64> = short.parse().ok();
                let exact = || number.to_string();
                format!(
                    "${}",
                    if reads_as > self.most.as_f64() {
                        short
                    } else {
                        exact()
                    }
                )
            }
            (Some(count), _) => with_thousands(count),
            (None, Some(Unit::Fraction)) => format!("{number:.4}"),
            _ => super::short_number(found),
        }
    }
}

/// A number as the suite states it.
fn format_stated(most: &Value, unit: Option<Unit>) -> String {
    match (most.as_u64(), unit) {
        (_, Some(Unit::Dollars)) => format!("${}", most.as_f64().unwrap_or_default()),
        (Some(count), _) => with_thousands(count),
        (None, _) => most.to_string(),
    }
}
