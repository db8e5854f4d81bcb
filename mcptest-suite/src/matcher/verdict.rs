//! What a matcher makes of a value.

use mcptest_trace::eval::ArgDiff;
use serde_json::{Number, Value};

use mcptest_trace::text::difference;

/// What a matcher makes of a value.
///
/// A closed set: whoever judges must know what each means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatcherVerdict {
    /// It holds.
    Holds,
    /// It does not, and what is different, a line each.
    Fails(Vec<String>),
    /// The matcher cannot read such a value, so its negation does not hold either.
    NotApplicable(Vec<String>),
    /// A matcher that needs a model, this one, would have the last word.
    Undecided(&'static str),
}

impl MatcherVerdict {
    /// A verdict without details.
    pub(super) fn from_bool(holds: bool) -> Self {
        if holds {
            Self::Holds
        } else {
            Self::Fails(Vec::new())
        }
    }

    /// Differences as lines; a difference of the whole value is left to showing both.
    pub(super) fn from_differences(diffs: Vec<ArgDiff>, expected: &Value) -> Self {
        if diffs.is_empty() {
            return Self::Holds;
        }
        let structured = expected.is_object() || expected.is_array();
        let placed = diffs
            .into_iter()
            .filter(|diff| structured && !diff.path.is_empty());
        Self::Fails(placed.map(|diff| difference(&diff)).collect())
    }

    /// Judges a text with `judge`. A value that is no text is not judged.
    pub(super) fn judge_text(found: &Value, judge: impl FnOnce(&str) -> Self) -> Self {
        match found {
            Value::String(text) => judge(text),
            _ => Self::NotApplicable(vec!["this matcher reads text only".to_owned()]),
        }
    }

    /// Judges a number with `judge`. A value that is no number is not judged.
    pub(super) fn judge_number(found: &Value, judge: impl FnOnce(&Number) -> bool) -> Self {
        match found {
            Value::Number(number) => Self::from_bool(judge(number)),
            _ => Self::NotApplicable(vec!["this matcher reads numbers only".to_owned()]),
        }
    }

    /// What is different.
    #[must_use]
    pub fn details(self) -> Vec<String> {
        match self {
            Self::Holds | Self::Undecided(_) => Vec::new(),
            Self::Fails(details) | Self::NotApplicable(details) => details,
        }
    }

    /// Holds when all hold; what does not is listed with its words.
    pub(super) fn all(judged: impl Iterator<Item = (String, Self)>) -> Self {
        let (mut failed, mut not_applicable, mut undecided) = (Vec::new(), Vec::new(), None);
        for (words, verdict) in judged {
            let line = |details: &[String]| match details {
                [] => words.clone(),
                details => format!("{words} ({})", details.join("; ")),
            };
            match verdict {
                Self::Holds => {}
                Self::Fails(details) => failed.push(line(&details)),
                Self::NotApplicable(details) => not_applicable.push(line(&details)),
                Self::Undecided(name) => undecided = undecided.or(Some(name)),
            }
        }
        match (failed.is_empty(), not_applicable.is_empty(), undecided) {
            (true, true, None) => Self::Holds,
            (true, true, Some(name)) => Self::Undecided(name),
            (true, false, _) => Self::NotApplicable(not_applicable),
            (false, _, _) => Self::Fails(failed.into_iter().chain(not_applicable).collect()),
        }
    }

    /// Holds when one holds.
    pub(super) fn any(judged: impl Iterator<Item = Self>) -> Self {
        let (mut details, mut applicable, mut undecided) = (Vec::new(), true, None);
        for verdict in judged {
            match verdict {
                Self::Holds => return Self::Holds,
                Self::Undecided(name) => undecided = undecided.or(Some(name)),
                Self::Fails(more) => details.extend(more),
                Self::NotApplicable(more) => {
                    applicable = false;
                    details.extend(more);
                }
            }
        }
        match (undecided, applicable) {
            (Some(name), _) => Self::Undecided(name),
            (None, true) => Self::Fails(details),
            (None, false) => Self::NotApplicable(details),
        }
    }
}
