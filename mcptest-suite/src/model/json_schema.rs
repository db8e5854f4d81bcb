//! JSON Schemas that stand in suites.

use serde_json::Value;

use crate::Node;

/// A JSON Schema from a suite. Its keywords are known and it refers to nothing outside itself;
/// whether it compiles is seen where schemas are compiled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JsonSchema {
    /// The schema, with `type: number` added where a numeric bound stands without a type.
    pub value: Value,
    /// As it is written, for places.
    pub node: Node,
}
