//! Holding a matcher against what a target led to.

use std::borrow::Cow;

use mcptest_suite::matcher::MatcherVerdict;
use mcptest_suite::model::Segment;
use serde_json::Value;

use super::compile::as_number;
use super::resolve::leads_to_scores;
use super::{Check, Unresolved, resolve};
use mcptest_trace::text::{TextForm, normalised};

/// What a target led to.
#[derive(Debug, Clone)]
pub(crate) enum Found<'v> {
    Value(Cow<'v, Value>),
    Nothing(Unresolved),
}

/// Why an assertion does not hold.
#[derive(Debug)]
pub(crate) struct Mismatch<'v> {
    pub(crate) found: Found<'v>,
    /// What is different, a line each; empty where showing what was found says it all.
    pub(crate) details: Vec<String>,
}

/// What became of an assertion.
#[derive(Debug)]
pub(crate) enum CheckOutcome<'v> {
    Holds,
    /// It holds of the items of lists, and there is none.
    HoldsOfNone,
    Fails(Mismatch<'v>),
    /// Only a matcher that needs a model, this one, could tell.
    Undecided(&'static str),
}

/// Judges a value against the snapshot of a name.
pub(crate) type Snapshots<'a> = dyn Fn(&str, &Value) -> Result<(), Vec<String>> + 'a;

impl Check {
    /// Judges the assertion on a recorded value. A snapshot matcher is judged by `snapshot`.
    pub(crate) fn judge<'v>(&self, root: &'v Value, snapshot: &Snapshots<'_>) -> CheckOutcome<'v> {
        let value = match resolve(&self.target, root) {
            Ok(value) => value,
            Err(_) if self.may_be_absent && self.matcher.requires_value(&Value::Null) => {
                return CheckOutcome::Holds;
            }
            Err(unresolved) => {
                return CheckOutcome::Fails(Mismatch {
                    found: Found::Nothing(unresolved),
                    details: Vec::new(),
                });
            }
        };
        if let Value::Array(scores) = &*value
            && leads_to_scores(&self.target)
            && !self.matcher.has_snapshot()
        {
            return self.judge_each(scores, snapshot);
        }
        let named =
            |own: Option<&str>, value: &_| snapshot(own.unwrap_or(self.snapshot_name()), value);
        let verdict = if self.flag {
            self.matcher.judge(&as_number(&value), &named)
        } else {
            self.matcher.judge(&value, &named)
        };
        match verdict {
            MatcherVerdict::Holds if self.is_vacuous(&value) => CheckOutcome::HoldsOfNone,
            MatcherVerdict::Holds => CheckOutcome::Holds,
            MatcherVerdict::Undecided(name) => CheckOutcome::Undecided(name),
            verdict => CheckOutcome::Fails(Mismatch {
                found: Found::Value(value),
                details: verdict.details(),
            }),
        }
    }

    /// Judges what several scores of one name say: it must hold of each of them.
    fn judge_each<'v>(&self, scores: &[Value], snapshot: &Snapshots<'_>) -> CheckOutcome<'v> {
        for score in scores {
            match self
                .matcher
                .judge(score, &|_, value| snapshot(self.snapshot_name(), value))
            {
                MatcherVerdict::Holds => {}
                MatcherVerdict::Undecided(name) => return CheckOutcome::Undecided(name),
                verdict => {
                    let mut details = verdict.details();
                    let all = Value::from(scores.to_vec());
                    details.push(format!(
                        "the run has the scores {all} of this name, and each score must hold"
                    ));
                    return CheckOutcome::Fails(Mismatch {
                        found: Found::Value(Cow::Owned(score.clone())),
                        details,
                    });
                }
            }
        }
        CheckOutcome::Holds
    }

    /// A snapshot without a name of its own is named after its assertion, else its target.
    fn snapshot_name(&self) -> &str {
        let named = self.name.as_ref().map(|name| &name.value);
        named.unwrap_or(&self.target.text)
    }

    /// Whether it holds of a value of which it does not, once all texts are written in one of these forms.
    pub(crate) fn holds_in(&self, value: &Value, forms: &[TextForm]) -> bool {
        self.matcher.depends_on_normalization()
            && forms.iter().any(|form| {
                let other = normalised(value, *form);
                // A matcher of letters has no snapshot.
                let verdict = self.matcher.judge(&other, &|_, _| Ok(()));
                other != *value && matches!(verdict, MatcherVerdict::Holds)
            })
    }

    /// Whether the target led to each item of lists, there is none, and that is not what is asked.
    fn is_vacuous(&self, value: &Value) -> bool {
        self.target.segments.contains(&Segment::Every)
            && has_no_item(value)
            && !self.matcher.requires_value(value)
            && !self.matcher.has_snapshot()
    }
}

/// Whether a value is lists without an item.
fn has_no_item(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|items| items.iter().all(has_no_item))
}
