//! `regex`: a regular expression that matches somewhere in a text.

use serde_json::Value;

use super::asks::Asks;
use super::declared::{Declared, MatcherForm};
use super::stage::{Prepare, Ready, Stage};
use super::{MatcherVerdict, Snapshots, takes};
use crate::load::problems::Problems;
use crate::{Node, Spanned};

pub(super) enum Regex {}

impl Declared for Regex {
    type Value<S: Stage> = S::Pattern;

    const KEY: &'static str = "regex";
    const OTHER_WORDS: &'static [&'static str] = &[];
    const FORM: MatcherForm = MatcherForm::Value;
    const DESCRIPTION: &'static str = "The target is a text that matches this regular expression, in the syntax of Rust's `regex`.";
    const EXAMPLE: &'static str = "'^[A-Z]'";
    const JUDGED: Option<[&'static str; 2]> = Some([r#""Sunny""#, r#""sunny""#]);

    fn takes() -> Value {
        takes::some_text()
    }

    fn read(node: &Node, problems: &mut Problems) -> Option<Spanned<String>> {
        let pattern = problems.text(node)?;
        Some(Spanned::new(pattern, node.span))
    }

    fn asks<S: Stage>(_: &S::Pattern) -> Asks<'_, S> {
        Asks::Letters
    }

    fn prepare<R: Ready>(
        pattern: &Spanned<String>,
        with: &mut dyn Prepare<R>,
    ) -> Option<R::Pattern> {
        with.pattern(Self::KEY, pattern)
    }

    fn judge<R: Ready>(pattern: &R::Pattern, found: &Value, _: &Snapshots<'_>) -> MatcherVerdict {
        MatcherVerdict::judge_text(found, |text| {
            MatcherVerdict::from_bool(R::is_found(pattern, text))
        })
    }

    fn phrase<R: Ready>(pattern: &R::Pattern) -> String {
        format!("to match the regex `{}`", R::pattern_text(pattern))
    }
}
