//! `snapshot`: what was accepted.

use serde_json::{Value, json};

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots};
use crate::load::problems::Problems;
use crate::{Node, NodeValue, Spanned};

pub(super) enum Snapshot {}

impl Declared for Snapshot {
    /// The snapshot's own name.
    type Value<S: Stage> = Option<Spanned<String>>;

    const KEY: &'static str = "snapshot";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Alone;
    const DESCRIPTION: &'static str =
        "The target is what you accepted as an insta snapshot. You may give the snapshot a name.";
    const EXAMPLE: &'static str = "closing";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""accepted""#, r#""another""#]);

    fn takes() -> Value {
        json!({ "type": ["string", "object", "null", "boolean"] })
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Option<Spanned<String>>> {
        match &node.value {
            NodeValue::Null | NodeValue::Bool(true) => Some(None),
            NodeValue::Map(entries) if entries.is_empty() => Some(None),
            NodeValue::Text(_) => problems.non_blank_text(node).map(Some),
            _ => {
                problems.expected("a name for the snapshot, or `{}`", node);
                None
            }
        }
    }

    fn asks<S: Stage>(name: &Option<Spanned<String>>) -> Asks<'_, S> {
        Asks::Snapshot(name.as_ref())
    }

    fn prepare<R: Ready>(
        name: &Option<Spanned<String>>,
        _: &mut dyn Prepare<R>,
    ) -> Option<Option<Spanned<String>>> {
        Some(name.clone())
    }

    fn judge<R: Ready>(
        name: &Option<Spanned<String>>,
        found: &Value,
        snapshots: &Snapshots<'_>,
    ) -> MatcherVerdict {
        let name = name.as_ref().map(|name| name.value.as_str());
        match snapshots(name, found) {
            Ok(()) => MatcherVerdict::Holds,
            Err(details) => MatcherVerdict::Fails(details),
        }
    }

    fn phrase<R: Ready>(_: &Option<Spanned<String>>) -> String {
        "to equal its snapshot".to_owned()
    }
}
