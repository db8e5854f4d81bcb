//! JSON Schemas, compiled when they are first needed.
//!
//! The first compilation in a process is slow, so a schema that judges nothing is never compiled.
//! Nothing outside the schema is read, whatever features another crate of the build switches on,
//! and patterns are matched in linear time, since both sides of a match may come from outside.
//!
//! A keyword says nothing of values of another kind: `required: [id]` alone holds for any text. A
//! schema that demands something and holds for what it cannot judge is no check, so one without
//! `type`, `enum`, `const` or `$ref` implies the type that its keywords are about (any of them, when
//! they are about several). This goes for the schema itself, for what it says of properties and
//! items, for its definitions, and for the parts of `allOf`, `anyOf`, `oneOf`, `then` and `else`;
//! not below `not` and `if`, where a demand more would allow more.

mod draft;
mod implied;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use jsonschema::{Draft, PatternOptions, Validator};
use mcptest_suite::escape_line;
use serde_json::{Value, json};

use mcptest_trace::eval::{ArgDiff, ArgsCheck, MalformedSchema};

/// A JSON Schema.
///
/// ```
/// use mcptest::eval::Schema;
/// use serde_json::json;
///
/// let schema = Schema::new(json!({ "type": "object", "required": ["city"] }));
/// assert_eq!(schema.violations(&json!({})).unwrap(), ["\"city\" is a required property"]);
/// assert!(Schema::new(json!({ "type": "strng" })).malformed().is_some());
/// ```
#[derive(Debug)]
pub struct Schema {
    value: Value,
    compiled: OnceLock<Result<Validator, MalformedSchema>>,
    /// Without the types that it implies; nothing where it implies none.
    as_written: OnceLock<Option<Validator>>,
}

impl Schema {
    /// A schema, not compiled yet.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self {
            value,
            compiled: OnceLock::new(),
            as_written: OnceLock::new(),
        }
    }

    /// The schema as JSON.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What is wrong with the schema itself, if anything is.
    #[must_use]
    pub fn malformed(&self) -> Option<&MalformedSchema> {
        self.compiled().err()
    }

    /// The places where a value breaks the schema, a line each; none when it is valid.
    ///
    /// # Errors
    ///
    /// The schema itself is malformed; then nothing can be said of any value.
    pub fn violations(&self, value: &Value) -> Result<Vec<String>, &MalformedSchema> {
        let lines = self.compiled()?.iter_errors(value).map(|error| {
            let words = match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("at `{path}`: {error}"),
            };
            escape_line(&words).into_owned()
        });
        Ok(lines.collect())
    }

    /// Whether a value is valid; a malformed schema accepts nothing.
    #[must_use]
    pub fn accepts(&self, value: &Value) -> bool {
        self.compiled()
            .is_ok_and(|validator| validator.is_valid(value))
    }

    /// Whether a value that is not valid breaks something that the schema says, and is not only of
    /// a kind of which it says nothing.
    #[must_use]
    pub(crate) fn is_broken_by(&self, value: &Value) -> bool {
        let as_written = self.as_written.get_or_init(|| {
            let implied = implied::with_types(&self.value) != self.value;
            implied.then(|| build(&self.value).ok()).flatten()
        });
        as_written
            .as_ref()
            .is_none_or(|validator| !validator.is_valid(value))
    }

    fn compiled(&self) -> Result<&Validator, &MalformedSchema> {
        let compile = || build(&implied::with_types(&self.value));
        self.compiled.get_or_init(compile).as_ref()
    }
}

fn build(schema: &Value) -> Result<Validator, MalformedSchema> {
    let options = || {
        jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
    };
    // What is wrong is told in the words of the newer draft.
    let as_seven = draft::is_alike_in_draft7(schema)
        .then(|| options().with_draft(Draft::Draft7).build(schema).ok());
    as_seven
        .flatten()
        .map_or_else(|| options().build(schema), Ok)
        .map_err(|error| MalformedSchema::new(error.instance_path().to_string(), error.to_string()))
}

impl ArgsCheck for Schema {
    fn diffs(&self, recorded: &Value) -> Vec<ArgDiff> {
        let violations = self.violations(recorded);
        let lines = violations.unwrap_or_else(|malformed| vec![malformed.to_string()]);
        let diff = |violation| {
            let expected = json!({ "schema": violation });
            ArgDiff::new("", Some(expected), Some(recorded.clone()))
        };
        lines.into_iter().map(diff).collect()
    }

    fn accepts(&self, recorded: &Value) -> bool {
        Schema::accepts(self, recorded)
    }

    fn malformed(&self) -> Option<&MalformedSchema> {
        Schema::malformed(self)
    }
}
