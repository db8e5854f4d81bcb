//! What a gate computed: the values of its targets.

use serde_json::Value;

/// The value of a target in a gate's metrics.
pub(crate) fn value_at<'m>(metrics: &'m Value, target: &str) -> Option<&'m Value> {
    let mut keys = target.split('.');
    keys.try_fold(metrics, |value, key| value.get(key))
}

/// The value of a target that counts something.
pub(super) fn count_at(metrics: &Value, target: &str) -> Option<usize> {
    let count = value_at(metrics, target)?.as_u64()?;
    usize::try_from(count).ok()
}

/// The values of a gate's targets.
#[derive(Debug, Default)]
pub(crate) enum Scores {
    #[default]
    None,
    EachRun(Vec<Value>),
    Together(Value),
}
