//! What judges thought of a run, as recordings keep it.

use mcptest_trace::trace::Score;
use serde_json::Value;

use crate::verdict;

/// A score as its source has it.
#[derive(Debug, Default)]
pub(crate) struct SourceScore<'v> {
    /// A number, or whether it is good.
    pub(crate) value: Option<&'v Value>,
    /// A word for it.
    pub(crate) label: Option<&'v str>,
    /// Whether the run passed, where the source says that apart.
    pub(crate) passed: Option<bool>,
    /// Why.
    pub(crate) note: Option<String>,
}

impl SourceScore<'_> {
    /// The score of a judge. What passed and has no number is 1, what did not is 0; what is neither a number nor a
    /// verdict is none.
    pub(crate) fn into_score(self, name: &str, by: &str) -> Option<Score> {
        let of_label = self.label.and_then(verdict::parse_word);
        let of_value = self.value.and_then(Value::as_bool);
        let passed = self.passed.or(of_value).or(of_label);
        let number = self.value.and_then(Value::as_f64);
        let value = number.or(passed.map(|passed| f64::from(u8::from(passed))))?;
        let mut score = Score::new(name, value, by);
        (score.passed, score.note) = (passed, self.note);
        (value.is_finite() && !name.trim().is_empty()).then_some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_score_is_a_number_or_a_verdict() {
        let score = |value: Value, label| {
            let told = SourceScore {
                value: Some(&value),
                label,
                ..SourceScore::default()
            };
            let score = told.into_score("helpful", "ann")?;
            Some((score.value, score.passed))
        };
        assert_eq!(score(json!(0.7), None), Some((0.7, None)));
        assert_eq!(score(json!(0.7), Some("pass")), Some((0.7, Some(true))));
        assert_eq!(score(json!(true), None), Some((1.0, Some(true))));
        assert_eq!(score(json!(null), Some("Failed")), Some((0.0, Some(false))));
        assert_eq!(score(json!(null), Some("relevant")), None);
        assert_eq!(score(json!({ "a": 1 }), None), None);
        assert_eq!(SourceScore::default().into_score("helpful", "ann"), None);
    }
}
