//! What every matcher says of itself, in its own file.

use std::fmt::Debug;

use serde_json::Value;

use super::Snapshots;
use super::asks::Asks;
use super::stage::{AsWritten, Prepare, Ready, Stage};
use super::verdict::MatcherVerdict;
use crate::Node;
use crate::load::problems::Problems;

/// What a matcher may be written as, besides `{ key: value }`.
///
/// A closed set: a reader must know each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherForm {
    /// Nothing else.
    Value,
    /// Nothing else; that nothing is there is a value too, and is written as `null`.
    ValueOrNull,
    /// Its key alone, or its key without a value.
    Alone,
    /// Anything: a model would read it, and none is asked.
    Unread,
}

/// A matcher. Nothing here has a default: a matcher that leaves out a part does not compile.
pub(super) trait Declared {
    /// What stands below its key, as it is read. Patterns and schemas are those of the stage.
    type Value<S: Stage>: Debug + Clone;

    /// Its key.
    const KEY: &'static str;
    /// Other words for it that people write.
    const OTHER_WORDS: &'static [&'static str];
    /// What else it may be written as.
    const FORM: MatcherForm;
    /// What it says, for the guide and for editors.
    const DESCRIPTION: &'static str;
    /// A value that it may have, as YAML.
    const EXAMPLE: &'static str;
    /// A value of which the example holds, and one that breaks it, as JSON; nothing where only a model
    /// could tell.
    const JUDGED: Option<[&'static str; 2]>;

    /// What it takes: a JSON Schema of the value, for editors.
    fn takes() -> Value;

    /// Reads the value. Of one that is malformed, or that no run can break, a problem is noted.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self::Value<AsWritten>>;

    /// What it asks. What it reads, how it is checked against a gate's target, its limits and the help
    /// after a failure follow from it.
    fn asks<S: Stage>(value: &Self::Value<S>) -> Asks<'_, S>;

    /// Makes it ready for an assertion. Values that it compares go through `with`, as patterns and schemas do.
    fn prepare<R: Ready>(
        value: &Self::Value<AsWritten>,
        with: &mut dyn Prepare<R>,
    ) -> Option<Self::Value<R>>;

    /// Whether a value is what is wanted.
    fn judge<R: Ready>(
        value: &Self::Value<R>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict;

    /// What is wanted, to be read after "expected `x`".
    fn phrase<R: Ready>(value: &Self::Value<R>) -> String;
}
