//! What judges, people and rubrics thought of a run, as they scored it elsewhere.

use serde::Serialize;
use serde_json::Number;

use super::fields;
use super::json::Object;
use super::reader::Reader;
use crate::setters::setters;

/// A score of a run. Two judges may score by the same name; both scores are kept.
///
/// ```
/// use mcptest_trace::trace::{Score, Trace};
/// use serde_json::json;
///
/// let trace = Trace::from_envelope(&json!({ "tool_calls": [], "scores": [
///     { "name": "helpful", "value": 0.8, "passed": true, "by": "gpt-5" },
///     { "name": "helpful", "value": 2, "by": "ann", "note": "too long" },
/// ] }));
/// assert_eq!(trace.scores[0], Score::new("helpful", 0.8, "gpt-5").with_passed(true));
/// assert_eq!(trace.scores_named("helpful").count(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Score {
    /// What is scored; not empty.
    pub name: String,
    /// The score: finite, of whatever range the judge has.
    pub value: f64,
    /// Whether the judge says that the run passed; `None` where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Who scored: a model, a person, a rubric.
    pub by: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Score {
    /// A score of this name, and who gave it.
    pub fn new(name: impl Into<String>, value: f64, by: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            by: by.into(),
            ..Self::default()
        }
    }
}

setters! {
    Score {
        with_passed(passed: bool) => Some(passed);
    }
}

impl Score {
    /// With why.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        let note = Some(note.into());
        Self { note, ..self }
    }
}

/// Reads an entry of a recording's `scores`.
pub(super) fn score(mut map: Object<'_>, at: &mut Reader<'_>) -> Score {
    at.check_keys(&map, &fields::SCORE);
    let map = &mut map;
    at.require(map, "name");
    let name = at.text(map, "name");
    if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
        at.at("name").problem("is empty; say what is scored");
    }
    at.require(map, "value");
    let value = at.typed_field(map, "value", "a number", |value, _| {
        let number = value.as_number().and_then(Number::as_f64);
        number.filter(|number| number.is_finite()).ok_or(value)
    });
    Score {
        name: name.unwrap_or_default(),
        value: value.unwrap_or_default(),
        passed: at.flag(map, "passed"),
        by: at.required_text(map, "by"),
        note: at.text(map, "note"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;
    use serde_json::{Value, json};

    fn problems(scores: &Value) -> Vec<String> {
        let envelope = json!({ "tool_calls": [], "scores": scores });
        let (_, problems) = Trace::check_envelope(&envelope);
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_score_needs_a_name_a_number_and_a_judge() {
        let good =
            json!([{ "name": "helpful", "value": -3, "by": "ann", "passed": null, "own": 1 }]);
        assert_eq!(problems(&good), Vec::<String>::new());
        assert_eq!(problems(&json!(null)), Vec::<String>::new());
        assert_eq!(
            problems(&json!([{ "name": " ", "value": "4" }])),
            [
                "`scores[0].name`: is empty; say what is scored",
                "`scores[0].value`: expected a number, found a string",
                "`scores[0].by`: missing",
            ]
        );
        assert_eq!(
            problems(&json!([{ "value": null, "passed": "yes", "by": "ann" }])),
            [
                "`scores[0].name`: missing",
                "`scores[0].value`: missing",
                "`scores[0].passed`: expected true or false, found a string",
            ]
        );
        assert_eq!(
            problems(&json!([{ "name": "helpful", "score": 1, "value": null, "by": "ann" }])),
            [
                "`scores[0].score`: not a known key; did you mean `value`?",
                "`scores[0].value`: missing"
            ]
        );
        assert_eq!(
            problems(&json!({ "helpful": 1 })),
            ["`scores`: expected a list, found an object"]
        );
    }

    #[test]
    fn scores_of_one_name_by_several_judges_are_kept_in_their_order() {
        let scores = json!([
            { "name": "helpful", "value": 1, "by": "ann" },
            { "name": "polite", "value": 0.5, "by": "ann", "note": "short" },
            { "name": "helpful", "value": 0, "by": "gpt-5", "passed": false },
        ]);
        let trace = Trace::from_envelope(&json!({ "tool_calls": [], "scores": scores }));
        let judges: Vec<&str> = trace
            .scores_named("helpful")
            .map(|it| it.by.as_str())
            .collect();
        assert_eq!(judges, ["ann", "gpt-5"]);
        assert_eq!(
            trace.scores[1],
            Score::new("polite", 0.5, "ann").with_note("short")
        );
    }
}
