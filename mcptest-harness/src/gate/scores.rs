//! What a gate computed: the values of its targets.

use serde_json::Value;

/// The values of a gate's targets.
#[derive(Debug, Default)]
pub(crate) enum Scores {
    #[default]
    None,
    EachRun(Vec<Value>),
    Together(Value),
}
